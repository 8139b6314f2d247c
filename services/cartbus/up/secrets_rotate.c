/*
 * secrets_rotate.c: a new key in place of one that signs; the one before verifies for a while
 *
 * Promises: the key before is on the disk among those that verify before the new one signs anything: when it is cut short, a link that is
 *           out is never left without its key, those of earlier rotations included. After it has ended well, a power cut does not
 *           bring the key before back.
 * Fails by: complaining; what was there is there.
 * Read next: services/kit/keys/keyring.h
 */
#include "services/cartbus/up/prepare.h"
#include "services/cartbus/up/subcommands.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/keys/keyring.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/time/moment.h"
#include "services/kit/web/admin_link.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINKS_VERIFY_US (400 * US_PER_DAY)
#define BOUNCES_VERIFY_US (PREPARE_BOUNCES_OUT_DAYS * US_PER_DAY)
#define KEEP_MOST_US (3650 * US_PER_DAY)

/* The services that verify are restarted before the service that signs. */
static const struct rotated {
	const char *name, *file;
	int64_t keep_us;            /* 0: the one before ends at once */
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

/* Whole days: the file tells days. */
static int64_t verifies_until_us(const struct command *command, int64_t keep_us)
{
	int64_t until_us = clock_wall_us(&command->clock) + keep_us;

	return until_us - until_us % US_PER_DAY + US_PER_DAY;
}

static bool is_kept(const struct keyring *keys)
{
	for (int i = 0; i < keys->count; i++)
		if (bytes_equal(buffer_bytes(&keys->before[i].key), buffer_bytes(&keys->current)))
			return true; /* of a rotation that was cut short */
	return false;
}

int prepare_keep_before(const struct command *command, const char *file, struct keyring *keys, int64_t keep_us)
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
	if (failed && failed != -ERANGE) { /* one that is too short is made another */
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
	if (keep && span_parse(keep, KEEP_MOST_US, &keep_us) < 0) {
		complain(command, "--keep %s: expected a time like 30d, of ten years at most", keep);
		return EXIT_USAGE;
	}
	return rotate(command, one, keep_us);
}
