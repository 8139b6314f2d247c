/*
 * prepare.c: the folders and keys that everything else expects
 *
 * Promises: nothing that is there is changed; a key is whole on the disk or not there at all. An empty file, as a full disk leaves one, is
 *           no key. Where there is a log, no new address.key is made: with another one nobody who opted out is known.
 */
#include "services/cartbus/up/prepare.h"
#include "services/cartbus/up/subcommands.h"

#include "bus/actor/process/keys.h"
#include "bus/actor/runtime/sidelog.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/keys/keyring.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/web/admin_link.h"
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

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

/* What webhooks are signed with, as receivers' libraries take it: hex digits are base64 as well. */
static int make_webhook_key(const struct command *command)
{
	if (!config_each_value(command->config, "monitor", NULL, "webhook", is_given, NULL))
		return EXIT_FINE;
	return make_key_after(command, "alarm.webhook", "whsec_");
}

/* Only what listens to other hosts needs one. */
static int make_broker_key(const struct command *command)
{
	char why[512];

	if (!*config_get(command->config, "broker", NULL, "listen") || keys_prepare(command->config, why) == 0)
		return EXIT_FINE;
	complain(command, "%s", why);
	return EXIT_NO;
}

/* Which of the two folders a unit is handed has to be there when it starts, whether a shop has such a secret or not. */
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
 * It follows from link.key, so that hosts which have the same one have the same other. In an installation of 0.1.0, which signed both with
 * link.key, that key verifies for as long as its mails may come back.
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
