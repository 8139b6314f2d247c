/*
 * prepare.c: makes the folders and keys that all processes expect (`cartbus secrets make`), and replaces a
 * signing key while the old key still verifies for a time (`cartbus secrets rotate`)
 *
 * Promises: making changes nothing that is there; a key is whole on the disk or not there at all. An empty
 *           file, as a full disk leaves one, is no key. If there is a log, no new address.key is made,
 *           because with another key no person who opted out is known. Rotating: the old key is on the disk
 *           as a verifying key before the new key signs anything. So a rotation that is cut short leaves no
 *           sent link without its key, also no link of earlier rotations. After a rotation has ended well, a
 *           power cut does not bring the old key back.
 * Fails by: complaining; everything that was there stays.
 * Read next: services/kit/keys/keyring.h
 */
#include "services/cartbus/up/prepare.h"

#include "bus/actor/process/keys.h"
#include "bus/actor/runtime/sidelog.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/cartbus/up/subcommands.h"
#include "services/kit/keys/keyring.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/time/timestamp.h"
#include "services/kit/web/admin_link.h"
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long sent mails may come back: mail servers try for five days, people complain for weeks. */
enum { PREPARE_BOUNCES_OUT_DAYS = 60 };

/* ---- rotating ---- */

#define LINKS_VERIFY_US (400 * US_PER_DAY)
#define BOUNCES_VERIFY_US (PREPARE_BOUNCES_OUT_DAYS * US_PER_DAY)
#define KEEP_MOST_US (3650 * US_PER_DAY)

/* The services that verify are restarted before the service that signs. */
static const struct rotated {
	const char *name, *file;
	int64_t keep_us;            /* 0: the old key ends at once */
	const char *restart, *what; /* what it signs */
} rotated[] = {
	{ "link", LINK_KEY, LINKS_VERIFY_US, "cartbus-gateway 'cartbus-sender@*'", "links in mails" },
	{ "bounce", BOUNCE_KEY, BOUNCES_VERIFY_US, "cartbus-mailin 'cartbus-sender@*'",
		"addresses that mails come back to" },
	{ "admin", ADMIN_LINK_KEY, 0, "cartbus-gateway cartbus-exporter", "the owner's links in exports" },
};
enum { ROTATED = sizeof(rotated) / sizeof(*rotated) };

static const struct rotated *find(const char *name)
{
	for (int i = 0; i < ROTATED; i++)
		if (strcmp(rotated[i].name, name) == 0)
			return &rotated[i];
	return NULL;
}

static int say_failed(const struct command *command, const char *path, int error)
{
	complain(command, "cannot rotate %s: %s", path, strerror(-error));
	return EXIT_NO;
}

/* Rounds up to whole days, because the file has dates. */
static int64_t verifies_until_us(const struct command *command, int64_t keep_us)
{
	int64_t until_us = clock_wall_us(&command->clock) + keep_us;

	return until_us - until_us % US_PER_DAY + US_PER_DAY;
}

static bool is_kept(const struct keyring *keys)
{
	for (int i = 0; i < keys->count; i++)
		if (bytes_equal(buffer_bytes(&keys->before[i].key), buffer_bytes(&keys->current)))
			return true; /* kept by a rotation that was cut short */
	return false;
}

/* Puts the signing key of `keys` into <file>.previous, where it verifies for `keep_us`. */
static int prepare_keep_before(const struct command *command, const char *file, struct keyring *keys, int64_t keep_us)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char name[80], path[PATH_ROOM];

	if (keys->before_error)
		return keys->before_error;
	if (!is_kept(keys) &&
		keyring_add_before(keys, buffer_bytes(&keys->current), verifies_until_us(command, keep_us)) < 0)
		return -ENOSPC;
	keyring_print_before(keys, clock_wall_us(&command->clock), &text);
	snprintf(name, sizeof(name), "%s" KEY_BEFORE, file);
	command_secret_path(command, name, path);
	return file_write_durably(path, buffer_bytes(&text), 0600);
}

static int replace(const char *path)
{
	char fresh[PATH_ROOM + 8];
	int failed;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	unlink(fresh);
	failed = prepare_secret(fresh);
	return failed ? failed : file_rename_durably(fresh, path);
}

static void say_rotated(const struct command *command, const struct rotated *one, const char *path, int64_t keep_us)
{
	long long days = (keep_us + US_PER_DAY - 1) / US_PER_DAY;

	printf("%s is new. The one before signed %s: they ", path, one->what);
	if (keep_us)
		printf("still count for %lld day%s.\n", days, days == 1 ? "" : "s");
	else
		puts("end at once.");
	if (command_has_units(command))
		printf("Units are handed their secrets at their start, who verifies first: systemctl restart %s\n",
			one->restart);
	else
		puts("The services read their keys at their start: stop `cartbus up` and start it again.");
	if (keep_us)
		printf("On other hosts: copy %s and %s" KEY_BEFORE " there.\n", one->file, one->file);
	else
		printf("On other hosts: copy %s there.\n", one->file);
}

static int rotate(const struct command *command, const struct rotated *one, int64_t keep_us)
{
	_cleanup_(keyring_clear) struct keyring keys = { 0 };
	char path[PATH_ROOM];
	int failed;

	command_secret_path(command, one->file, path);
	failed = keyring_read(secrets_folder(command->config), one->file, &keys);
	if (failed && failed != -ERANGE) { /* a key that is too short may be replaced */
		complain(command, "%s cannot be read: %s; `cartbus secrets make` makes it", path, strerror(-failed));
		return EXIT_NO;
	}
	if (keep_us && !keyring_can_keep(buffer_bytes(&keys.current))) {
		complain(command,
			"%s: what it signed would end at once: a key has at least 32 characters and no space; if it "
			"may end, remove the file, and `cartbus secrets make` makes another",
			path);
		return EXIT_NO;
	}
	failed = keep_us ? prepare_keep_before(command, one->file, &keys, keep_us) : 0;
	if (failed == -ENOSPC) {
		complain(command, "%d keys before this one still verify: remove lines of %s" KEY_BEFORE " first",
			(int)KEYRING_BEFORE_MOST, path);
		return EXIT_NO;
	}
	if (failed && failed == keys.before_error) {
		complain(command, "%s" KEY_BEFORE ": mend it first, or the keys in it are lost: %s", path,
			failed == -EBADMSG ? "there is a line that is not \"KEY until 2027-01-31\", or a ninth one"
				: failed == -EPERM ? "others may read or write it (chmod 600)"
						   : strerror(-failed));
		return EXIT_NO;
	}
	failed = failed ? failed : replace(path);
	if (failed)
		return say_failed(command, path, failed);
	if (command->json)
		printf("{\"rotated\":\"%s\",\"kept_days\":%lld}\n", one->file, (long long)(keep_us / US_PER_DAY));
	else
		say_rotated(command, one, path, keep_us);
	return EXIT_FINE;
}

int command_secrets_rotate(struct command *command, int argc, char **argv)
{
	const char *name, *keep = NULL;
	const struct take takes[] = { { "keep", "TIME",
					      "how long the one before still verifies: 30d; of link 400d, of bounce "
					      "60d",
					      &keep, NULL },
		{ 0 } };
	const struct rotated *one;
	int64_t keep_us;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "link|bounce|admin",
			.help = "Makes a new key: link.key (unsubscribe and return links in mails), bounce.key (where "
				"mails come "
				"back to, and their names), admin.key (the owner's links in exports). What was signed "
				"with the "
				"one before still counts for the time of --keep; of admin.key it ends at once.\v"
				"Examples:\n  cartbus secrets rotate link\n  cartbus secrets rotate bounce --keep 30d",
			.takes = takes,
			.words = &name,
			.words_least = 1,
			.words_most = 1 });
	one = find(name);
	if (!one || (keep && !one->keep_us)) {
		complain(command,
			one ? "what admin.key signed ends with it: there is no --keep"
			    : "one of link, bounce and admin");
		return EXIT_USAGE;
	}
	keep_us = one->keep_us;
	if (keep && duration_parse(keep, KEEP_MOST_US, &keep_us) < 0) {
		complain(command, "--keep %s: expected a time like 30d, of ten years at most", keep);
		return EXIT_USAGE;
	}
	return rotate(command, one, keep_us);
}

/* ---- making ---- */

enum { SECRET_BYTES = 32 };

static bool is_written(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && about.st_size > 0;
}

int prepare_secret(const char *path)
{
	return prepare_secret_after(path, "");
}

int prepare_secret_after(const char *path, const char *prefix)
{
	uint8_t random[SECRET_BYTES];
	char hex[2 * SECRET_BYTES + 1], line[2 * SECRET_BYTES + 20], copy[PATH_ROOM];
	int failed;

	if (is_written(path))
		return -EEXIST;
	if (!TEXT_COPY(copy, path))
		return -ENAMETOOLONG;
	failed = file_make_folders(dirname(copy), 0700);
	if (failed)
		return failed;
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	text_hex(random, sizeof(random), hex);
	snprintf(line, sizeof(line), "%s%s\n", prefix, hex);
	return file_write_durably(path, bytes_of(line), 0600);
}

static int make_folder(const struct command *command, const char *key, mode_t mode)
{
	const char *path = config_get(command->config, "paths", NULL, key);
	int failed = file_make_folders(path, mode);

	if (!failed)
		return EXIT_FINE;
	complain(command, "cannot make the folder %s ([paths] %s): %s", path, key, strerror(-failed));
	return EXIT_NO;
}

static int make_key_after(const struct command *command, const char *name, const char *prefix)
{
	char path[PATH_ROOM];
	int failed;

	command_secret_path(command, name, path);
	failed = prepare_secret_after(path, prefix);
	if (!failed || failed == -EEXIST)
		return EXIT_FINE;
	complain(command, "cannot write the key %s: %s", path, strerror(-failed));
	return EXIT_NO;
}

static int make_key(const struct command *command, const char *name)
{
	return make_key_after(command, name, "");
}

static bool has_log(const struct command *command)
{
	static const char *const files[] = { "broker/CURRENT", SIDELOG_FOLDER "/" SIDELOG_FILE };
	char path[PATH_ROOM];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", config_get(command->config, "paths", NULL, "state"), files[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static int make_address_key(const struct command *command)
{
	char path[PATH_ROOM];

	command_secret_path(command, "address.key", path);
	if (is_written(path) || !has_log(command))
		return make_key(command, "address.key");
	complain(command,
		"%s is missing or empty, and the log in %s has its shoppers named with it: put its copy back. With a "
		"new one everybody who opted out would be mailed again, so none is made",
		path, config_get(command->config, "paths", NULL, "state"));
	return EXIT_NO;
}

static int is_given(const char *value, void *context)
{
	(void)context;
	return *value != '\0';
}

/*
 * Makes the key that signs webhooks, in the form that receivers' libraries take: hex digits are base64 as
 * well.
 */
static int make_webhook_key(const struct command *command)
{
	if (!config_each_value(command->config, "monitor", NULL, "webhook", is_given, NULL))
		return EXIT_FINE;
	return make_key_after(command, "alarm.webhook", "whsec_");
}

/* Only a broker that listens to other hosts needs a key. */
static int make_broker_key(const struct command *command)
{
	char why[512];

	if (!*config_get(command->config, "broker", NULL, "listen") || keys_prepare(command->config, why) == 0)
		return EXIT_FINE;
	complain(command, "%s", why);
	return EXIT_NO;
}

/*
 * A unit that is handed one of these folders needs the folder at its start, even if no shop has such a
 * secret.
 */
static int make_secrets_folders(const struct command *command)
{
	static const char *const of_shops[] = { "webhook", "api" };
	int failed = make_folder(command, "secrets", 0700);
	char path[PATH_ROOM];

	for (size_t i = 0; i < sizeof(of_shops) / sizeof(*of_shops) && !failed; i++) {
		command_secret_path(command, of_shops[i], path);
		failed = file_make_folders(path, 0700);
		if (failed)
			complain(command, "cannot make the folder %s: %s", path, strerror(-failed));
	}
	return failed ? EXIT_NO : EXIT_FINE;
}

int prepare(const struct command *command)
{
	int failed = make_folder(command, "state", 0700);

	failed = failed ? failed : make_folder(command, "run", 0750);
	failed = failed ? failed : make_folder(command, "shops", 0750);
	return failed ? failed : prepare_secrets(command);
}

/*
 * Derives bounce.key from link.key, so that hosts with the same link.key have the same bounce.key. An
 * installation of 0.1.0 signed both with link.key: there that key verifies for as long as its mails may come
 * back.
 */
static int make_bounce_key(const struct command *command, bool was_there)
{
	_cleanup_(keyring_clear) struct keyring links = { 0 };
	char path[PATH_ROOM], from[PATH_ROOM], line[80], why[512];
	int failed;

	command_secret_path(command, BOUNCE_KEY, path);
	if (is_written(path))
		return EXIT_FINE;
	failed = keyring_read(config_get(command->config, "paths", NULL, "secrets"), LINK_KEY, &links);
	if (failed) {
		command_secret_path(command, LINK_KEY, from);
		secret_why(from, failed, why);
		complain(command, "%s", why);
		return EXIT_NO;
	}
	if (was_there)
		failed = prepare_keep_before(command, BOUNCE_KEY, &links, PREPARE_BOUNCES_OUT_DAYS * US_PER_DAY);
	if (!failed) {
		bounce_key_derive(buffer_bytes(&links.current), line);
		failed = file_write_durably(path, bytes_of(strcat(line, "\n")), 0600);
	}
	if (!failed)
		return EXIT_FINE;
	complain(command, "cannot write the key %s: %s", path, strerror(-failed));
	return EXIT_NO;
}

int prepare_secrets(const struct command *command)
{
	int failed = make_secrets_folders(command);
	char links[PATH_ROOM];

	command_secret_path(command, LINK_KEY, links);
	bool was_there = is_written(links);
	int no_address_key = failed ? failed : make_address_key(command);
	failed = failed ? failed : make_key(command, LINK_KEY);
	failed = failed ? failed : make_bounce_key(command, was_there);
	failed = failed ? failed : make_key(command, ADMIN_LINK_KEY);
	failed = failed ? failed : make_webhook_key(command);
	failed = failed ? failed : make_broker_key(command);
	return failed ? failed : no_address_key;
}

int command_secrets_make(struct command *command, int argc, char **argv)
{
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .makes_home = true,
			.help = "Makes the keys that are not there yet: address.key, link.key, bounce.key, admin.key, "
				"alarm.webhook where alarms are posted, and the broker's where it listens for other "
				"hosts. A key that is there stays as it is. Where there is a log already, address.key "
				"is not made anew: the list of who must not be mailed is kept with the one before. "
				"`cartbus up` does it by itself; units of systemd need it once, before the first "
				"start.\vExample:\n  cartbus secrets make" });
	umask(027);
	failed = prepare_secrets(command);
	if (!failed && !command->json)
		printf("the keys are in %s\n", config_get(command->config, "paths", NULL, "secrets"));
	else if (!failed)
		puts("{\"made\":true}");
	return failed;
}
