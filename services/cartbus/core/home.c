/*
 * home.c: which configuration a command uses, an installation that is one folder, and where the other programs lie
 *
 * A home is for trying out: no root, nothing outside of the folder; deleting it deletes everything.
 *
 * Promises:  what is there is never written over; what is made is for its user alone, and is whole or not there. Nothing is read
 *            from a home that another user (but root) made, may write to or leads to by a link, and nothing is made in one.
 * Fails by:  complaining of the folder that cannot be made, or of what another user may change.
 * Read next: arguments.c (who asks), prepare.c (the folders and keys that `cartbus up` makes)
 */
#include "services/cartbus/core/home.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include <dirent.h>
#include <errno.h>
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

static int check_part(const struct command *command, const char *part, const struct stat *there, mode_t closed)
{
	enum file_trust trust = file_trust(there);

	if (trust == FILE_OF_ANOTHER && S_ISLNK(there->st_mode))
		complain(command,
			"%s is a link of uid %u, who could lead this home elsewhere: give --home the folder itself, or "
			"run this as that user",
			part, there->st_uid);
	else if (trust == FILE_OF_ANOTHER)
		complain(command,
			"%s belongs to uid %u, who could change what is done in this home: give --home a folder of "
			"your own, or run this as that user",
			part, there->st_uid);
	else if (trust == FILE_OPEN_TO_ALL || there->st_mode & closed)
		complain(command,
			"others may write to %s (mode %04o), and could change what is done in this home: look at what "
			"is in it, then chmod go-w it; or give --home another folder",
			part, there->st_mode & 07777);
	else
		return EXIT_FINE;
	return EXIT_NO;
}

static int cannot_look(const struct command *command, const char *path)
{
	complain(command, "cannot look at %s: %s", path, strerror(errno));
	return EXIT_NO;
}

enum { LINKS_MOST = 40 }; /* as the kernel has it */

struct way {
	const struct command *command;
	char at[PATH_MAX]; /* so far: judged, and without a link; "": the root */
	int links;         /* that were followed */
};

static int check_steps(struct way *way, const char *path);

static int follow(struct way *way, size_t folder_len)
{
	char target[PATH_MAX];
	ssize_t len = readlink(way->at, target, sizeof(target) - 1);

	if (len >= 0 && way->links++ == LINKS_MOST) {
		errno = ELOOP;
		len = -1;
	}
	if (len < 0)
		return cannot_look(way->command, way->at);
	target[len] = '\0';
	way->at[target[0] == '/' ? 0 : folder_len] = '\0';
	return check_steps(way, target);
}

/* The end of the way so far; what is not there is fine. */
static int check_end(const struct way *way, mode_t closed, bool *ret_is_link)
{
	const char *end = *way->at ? way->at : "/";
	struct stat there;

	*ret_is_link = false;
	if (lstat(end, &there) < 0)
		return errno == ENOENT ? EXIT_FINE : cannot_look(way->command, end);
	*ret_is_link = S_ISLNK(there.st_mode);
	return check_part(way->command, end, &there, closed);
}

static int check_step(struct way *way, const char *name, int len)
{
	size_t folder_len = strlen(way->at);
	bool is_link;

	if (len == 1 && name[0] == '.')
		return EXIT_FINE;
	if (len == 2 && name[0] == '.' && name[1] == '.') {
		way->at[folder_len ? strrchr(way->at, '/') - way->at : 0] = '\0';
		return EXIT_FINE;
	}
	if (folder_len + 1 + (size_t)len >= sizeof(way->at)) {
		errno = ENAMETOOLONG;
		return cannot_look(way->command, name);
	}
	snprintf(way->at + folder_len, sizeof(way->at) - folder_len, "/%.*s", len, name);
	if (check_end(way, 0, &is_link))
		return EXIT_NO;
	return is_link ? follow(way, folder_len) : EXIT_FINE;
}

static int check_steps(struct way *way, const char *path)
{
	int failed = EXIT_FINE, len;

	for (const char *name = path + strspn(path, "/"); *name && !failed;
		name += len + (int)strspn(name + len, "/")) {
		len = (int)strcspn(name, "/");
		failed = check_step(way, name, len);
	}
	return failed;
}

/*
 * It, every folder above it and every link on the way, each before it is followed; what is not there is fine. The folders above may be
 * their group's; it may not be written to by `closed`.
 */
static int check_whose(const struct command *command, const char *path, mode_t closed)
{
	struct way way = { .command = command };
	char here[PATH_MAX] = "/";
	bool is_link;

	if (path[0] != '/' && !getcwd(here, sizeof(here)))
		return cannot_look(command, ".");
	if (check_end(&way, 0, &is_link) || check_steps(&way, here) || check_steps(&way, path))
		return EXIT_NO;
	return check_end(&way, closed, &is_link);
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

static int make_home(const struct command *command, const char *home, char ret[PATH_ROOM])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	_cleanup_free_ char *folder = NULL;
	int r;

	if (check_whose(command, home, 0))
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
	_cleanup_free_ char *folder = NULL;

	if (check_whose(command, home, 0))
		return EXIT_NO;
	folder = realpath(home, NULL);
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

/* ---- the other programs ---- */

static const char INSTALLED[] = "/usr/sbin", BESIDE[] = "/sbin";

const char *programs_folder(void)
{
	static char folder[PATH_MAX + sizeof(BESIDE)];
	char program[PATH_MAX + 30];
	ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	folder[len > 0 ? len : 0] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return INSTALLED;
	*slash = '\0';
	snprintf(program, sizeof(program), "%s/cartbus-broker", folder);
	if (access(program, X_OK) == 0)
		return folder;
	slash = strrchr(folder, '/');
	if (!slash)
		return INSTALLED;
	memcpy(slash, BESIDE, sizeof(BESIDE));
	return folder;
}
