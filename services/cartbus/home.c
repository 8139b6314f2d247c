/*
 * home.c: which configuration a command uses, and an installation that is one folder
 *
 * For trying out: no root, nothing outside of the folder; deleting it deletes everything.
 *
 * Promises:  what is there is never written over; what is made is for its user alone, and is whole or not there.
 * Fails by:  complaining of the folder that cannot be made.
 * Read next: arguments.c (who asks), prepare.c (the folders and keys that `cartbus up` makes)
 */
#include "services/cartbus/home.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char CONFIG[] = "cartbus.conf";

static const char *in_environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static void add_section(struct buffer *to, const char *section, const char *const *keys, const char *folder)
{
	buffer_printf(to, "\n[%s]\n", section);
	for (; *keys; keys += 2)
		buffer_printf(to, "%s = %s/%s\n", keys[0], folder, keys[1]);
}

static void write_text(struct buffer *to, const char *folder)
{
	static const char *const paths[] = { "state", "state", "run", "run", "shops", "shops", "secrets", "secrets",
		"keys", "keys", NULL };
	static const char *const mail[] = { "maildir", "mail", NULL }, *const export[] = { "folder", "export", NULL },
				 *const backup[] = { "folder", "backups", NULL };

	buffer_printf(to,
		"# An installation in one folder, made by `cartbus --home`; `man cartbus.conf` tells what may stand "
		"here.\n");
	add_section(to, "paths", paths, folder);
	add_section(to, "mail", mail, folder);
	add_section(to, "export", export, folder);
	add_section(to, "backup", backup, folder);
}

static int make_home(const struct command *command, const char *home, char ret[PATH_ROOM])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	_cleanup_free_ char *folder = NULL;
	int r = file_make_folders(home, 0700);

	if (r == 0 && !(folder = realpath(home, NULL)))
		r = -errno;
	if (r < 0) {
		complain(command, "cannot make the folder %s of --home: %s", home, strerror(-r));
		return EXIT_NO;
	}
	if (strpbrk(folder, "\n\r;#")) {
		complain(command, "%s cannot stand in a configuration: give --home a name without ; and #", folder);
		return EXIT_NO;
	}
	if (snprintf(ret, PATH_ROOM, "%s/%s", folder, CONFIG) >= PATH_ROOM) {
		complain(command, "%s is too long for --home", folder);
		return EXIT_NO;
	}
	if (access(ret, F_OK) == 0)
		return EXIT_FINE;
	write_text(&text, folder);
	r = file_write_durably(ret, buffer_bytes(&text), 0600);
	if (r == 0)
		return EXIT_FINE;
	complain(command, "cannot write %s: %s", ret, strerror(-r));
	return EXIT_NO;
}

static int find_home(const struct command *command, const char *home, enum home_use use, char ret[PATH_ROOM])
{
	_cleanup_free_ char *folder = realpath(home, NULL);

	if (snprintf(ret, PATH_ROOM, "%s/%s", folder ? folder : home, CONFIG) >= PATH_ROOM) {
		complain(command, "%s is too long for --home", home);
		return EXIT_NO;
	}
	if (use == HOME_NAMES || access(ret, F_OK) == 0)
		return EXIT_FINE;
	complain(command,
		"there is no home in %s: it has no %s (%s); `cartbus shop add NAME ... --home %s` or `cartbus up "
		"--home %s` makes one",
		home, CONFIG, strerror(errno), home, home);
	return EXIT_NO;
}

int home_config(const struct command *command, enum home_use use, char ret[PATH_ROOM])
{
	const char *config = command->config_given, *home = command->home_given;

	if (!config && !home && !(config = in_environment("CARTBUS_CONFIG")))
		home = in_environment("CARTBUS_HOME");
	if (!config && home)
		return use == HOME_MAKES ? make_home(command, home, ret) : find_home(command, home, use, ret);
	if (snprintf(ret, PATH_ROOM, "%s", config ? config : CONFIG_PATH_DEFAULT) < PATH_ROOM)
		return EXIT_FINE;
	complain(command, "the path of the configuration is too long");
	return EXIT_NO;
}

void home_words(const struct command *command, char ret[HOME_WORDS])
{
	if (command->config_given)
		snprintf(ret, HOME_WORDS, " --config %s", command->config_given);
	else if (command->home_given)
		snprintf(ret, HOME_WORDS, " --home %s", command->home_given);
	else
		ret[0] = '\0';
}
