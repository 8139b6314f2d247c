/*
 * home.c: which configuration a command uses, and an installation that is one folder
 *
 * For trying out: no root, nothing outside of the folder; deleting it deletes everything.
 *
 * Promises:  what is there is never written over; what is made is for its user alone, and is whole or not there. Nothing is read
 *            from a home that another user (but root) made or may write to, and nothing is made in one.
 * Fails by:  complaining of the folder that cannot be made, or of the one that another user may change.
 * Read next: arguments.c (who asks), prepare.c (the folders and keys that `cartbus up` makes)
 */
#include "services/cartbus/home.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

DEFINE_CLEANUP(DIR *, closedir)

static const char CONFIG[] = "cartbus.conf";
enum { OTHERS_WRITE = S_IWGRP | S_IWOTH };

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

/* --- whose it is: its configuration says what is read, and where is written --- */

static int check_part(const struct command *command, const char *part, mode_t closed)
{
	enum file_trust trust;
	struct stat there;

	if (stat(part, &there) < 0) {
		complain(command, "cannot look at %s: %s", part, strerror(errno));
		return EXIT_NO;
	}
	trust = file_trust(&there);
	if (trust == FILE_OF_ANOTHER)
		complain(command,
			"%s belongs to uid %u, who could change what is done in this home: give --home a folder of "
			"your own, or run this as that user",
			part, there.st_uid);
	else if (trust == FILE_OPEN_TO_ALL || there.st_mode & closed)
		complain(command,
			"others may write to %s (mode %04o), and could change what is done in this home: look at what "
			"is in it, then chmod go-w it; or give --home another folder",
			part, there.st_mode & 07777);
	else
		return EXIT_FINE;
	return EXIT_NO;
}

/* It and every folder above it; what is not there is fine. Those above may be their group's; it may not be written to by `closed`. */
static int check_whose(const struct command *command, const char *path, mode_t closed)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	int failed = EXIT_FINE;
	char part[PATH_MAX];

	if (!real && errno == ENOENT)
		return EXIT_FINE;
	if (!real) {
		complain(command, "cannot look at %s: %s", path, strerror(errno));
		return EXIT_NO;
	}
	for (const char *end = real; end && !failed; end = strchr(end + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", end == real ? 1 : (int)(end - real), real);
		failed = check_part(command, part, 0);
	}
	return failed ? failed : check_part(command, real, closed);
}

/* The files beside the configuration, which change it. */
static int check_drop_ins(const struct command *command, const char *config)
{
	char folder[PATH_ROOM + 2], path[PATH_ROOM + NAME_MAX + 3];
	_cleanup_(closedirp) DIR *listing = NULL;
	struct dirent *entry;
	int failed;

	snprintf(folder, sizeof(folder), "%s.d", config);
	failed = check_whose(command, folder, OTHERS_WRITE);
	listing = failed ? NULL : opendir(folder);
	while (!failed && listing && (entry = readdir(listing))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		failed = check_whose(command, path, OTHERS_WRITE);
	}
	return failed;
}

static int check_home(const struct command *command, const char *folder, const char *config)
{
	int failed = check_whose(command, folder, OTHERS_WRITE);

	failed = failed ? failed : check_whose(command, config, OTHERS_WRITE);
	return failed ? failed : check_drop_ins(command, config);
}

/* Of a home that may not be there yet: the first folder above it that is. */
static int check_above(const struct command *command, const char *home)
{
	char path[PATH_MAX], *above = path;

	snprintf(path, sizeof(path), "%s", home);
	while (access(above, F_OK) < 0 && errno == ENOENT && strcmp(above, ".") != 0)
		above = dirname(above);
	return check_whose(command, above, 0);
}

static int make_home(const struct command *command, const char *home, char ret[PATH_ROOM])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	_cleanup_free_ char *folder = NULL;
	int r;

	if (check_above(command, home))
		return EXIT_NO;
	r = file_make_folders(home, 0700);
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
	if (check_home(command, folder, ret))
		return EXIT_NO;
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
	if (access(ret, F_OK) == 0)
		return check_home(command, folder ? folder : home, ret);
	if (use == HOME_NAMES)
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
