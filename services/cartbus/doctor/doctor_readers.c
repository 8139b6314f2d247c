/*
 * doctor_readers.c: may each service's user read and reach what it needs, and may nobody else change it?
 *
 * Where every service has a user of its own ([user NAME] in cartbus.conf) a file that root reads may be closed to one of them. What
 * a user may is reckoned from owners, groups and modes, all the way down the path, as the kernel does it; nobody's identity is taken.
 *
 * Promises: one finding per file, or per folder that closes the way to many.
 * Read next: doctor_files.c (secrets, keys, states: what belongs to one user alone)
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USERS_MOST = 32, GROUPS_MOST = 32, READ = 4, WRITE = 2, ENTER = 1 };
static const char AREA[] = "files";

struct user {
	char name[64];
	uid_t uid;
	gid_t groups[GROUPS_MOST];
	int group_count;
};

struct readers {
	struct doctor *doctor;
	const char *remedy; /* of what is looked at now */
	int wrong;          /* of it */
	int count;
	struct user users[USERS_MOST];
	char blocked[PATH_ROOM]; /* the last that was told: a folder closes the way to many */
};

/* ---- who reads ---- */

static int add_user(const char *name, void *context)
{
	struct readers *readers = context;
	const char *service = config_get(readers->doctor->command->config, "user", name, "service");
	const struct passwd *known = getpwnam(name);
	struct user *user = &readers->users[readers->count];

	if (!known || known->pw_uid == 0 || !service || readers->count == USERS_MOST)
		return 0; /* who is not there is the configuration's finding */
	TEXT_COPY(user->name, name);
	user->uid = known->pw_uid;
	user->group_count = GROUPS_MOST;
	if (getgrouplist(name, known->pw_gid, user->groups, &user->group_count) >= 0)
		readers->count++;
	return 0;
}

static bool is_in(const struct user *user, gid_t group)
{
	for (int i = 0; i < user->group_count; i++)
		if (user->groups[i] == group)
			return true;
	return false;
}

static bool may(const struct user *user, const struct stat *what, unsigned bits)
{
	unsigned shift = what->st_uid == user->uid ? 6 : is_in(user, what->st_gid) ? 3 : 0;

	return (what->st_mode >> shift & bits) == bits;
}

/* ---- one file ---- */

static void say_wrong(struct readers *readers, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say_wrong(struct readers *readers, const char *path, const char *format, ...)
{
	char words[700];
	va_list values;

	readers->wrong++;
	if (strcmp(readers->blocked, path) == 0)
		return;
	TEXT_COPY(readers->blocked, path);
	va_start(values, format);
	vsnprintf(words, sizeof(words), format, values);
	va_end(values);
	found(readers->doctor, FINDING_WRONG, AREA, readers->remedy, "%s", words);
}

static bool check_users(struct readers *readers, const char *path, const struct stat *there, unsigned bits)
{
	for (int i = 0; i < readers->count; i++) {
		if (may(&readers->users[i], there, bits))
			continue;
		say_wrong(readers, path, "%s: the user %s may not %s it (mode %04o, uid %u, gid %u)", path,
			readers->users[i].name,
			bits & WRITE           ? "use"
				: bits & ENTER ? "look into"
					       : "read",
			there->st_mode & 07777, there->st_uid, there->st_gid);
		return false;
	}
	return true;
}

static bool check_owner(struct readers *readers, const char *path, const struct stat *there)
{
	enum file_trust trust = file_trust(there);

	if (trust == FILE_OPEN_TO_ALL)
		say_wrong(readers, path, "%s: everybody may change it (mode %04o)", path, there->st_mode & 07777);
	else if (trust == FILE_OF_ANOTHER)
		say_wrong(readers, path, "%s belongs to uid %u, who may change it", path, there->st_uid);
	return trust == FILE_TRUSTED;
}

/* Every folder on the way has to be open as well; and a user who may write in one of them may put another file in the place of ours. */
static bool check_way(struct readers *readers, const char *path, unsigned bits)
{
	struct stat there;
	char folder[PATH_ROOM];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		if (stat(folder, &there) < 0)
			continue;
		if (!check_users(readers, folder, &there, ENTER) ||
			(!(bits & WRITE) && !check_owner(readers, folder, &there)))
			return false;
	}
	return true;
}

static void check(struct readers *readers, const char *path, unsigned bits)
{
	struct stat there;

	if (!check_way(readers, path, bits) || stat(path, &there) < 0)
		return; /* the area that needs the file tells that it is missing */
	if (check_users(readers, path, &there, bits) && !(bits & WRITE))
		check_owner(readers, path, &there);
}

/* ---- which files ---- */

static int is_read(const struct dirent *entry)
{
	static const char *const endings[] = { ".conf", ".txt" };
	size_t len = strlen(entry->d_name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (len > strlen(endings[i]) && strcmp(entry->d_name + len - strlen(endings[i]), endings[i]) == 0)
			return 1;
	return 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int each_in(const char *folder, int (*which)(const struct dirent *), struct readers *readers,
	void (*look)(struct readers *readers, const char *path))
{
	struct dirent **entries = NULL;
	char path[PATH_ROOM];
	int count = scandir(folder, &entries, which, alphasort);

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		look(readers, path);
		free(entries[i]);
	}
	free(entries);
	return count;
}

static void look_at_file(struct readers *readers, const char *path)
{
	check(readers, path, READ);
}

static void look_at_shop(struct readers *readers, const char *path)
{
	check(readers, path, READ | ENTER);
	each_in(path, is_read, readers, look_at_file);
}

static void look_at_config(struct readers *readers)
{
	const char *path = readers->doctor->command->config_path;
	char folder[PATH_ROOM];

	readers->remedy = "chown root it, and chmod 644; of a folder 755";
	check(readers, path, READ);
	snprintf(folder, sizeof(folder), "%s.d", path);
	check(readers, folder, READ | ENTER);
	each_in(folder, is_read, readers, look_at_file);
}

static void look_at_shops(struct readers *readers)
{
	const char *path = config_get(readers->doctor->command->config, "paths", NULL, "shops");

	readers->remedy = "chown -R root:cartbus the folder of [paths] shops, and chmod -R u=rwX,g=rX,o=";
	check(readers, path, READ | ENTER);
	each_in(path, is_visible, readers, look_at_shop);
}

static void look_at_sockets(struct readers *readers)
{
	static const char *const names[] = { "control", "ingress", "tap" };
	const char *run = config_get(readers->doctor->command->config, "paths", NULL, "run");
	char path[PATH_ROOM];

	readers->remedy = command_has_units(readers->doctor->command)
		? "systemctl restart cartbus-broker, which makes it anew"
		: "stop cartbus up with Ctrl-C and start it again: it is made anew";
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", run, names[i]);
		check(readers, path, READ | WRITE);
	}
}

/* Root hands out what is in them; what each file in them must be, doctor_files.c knows. */
static void look_at_handed(struct readers *readers)
{
	static const char *const keys[] = { "secrets", "keys" };
	struct stat there;

	readers->remedy = "chown root it";
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *path = config_get(readers->doctor->command->config, "paths", NULL, keys[i]);

		if (stat(path, &there) == 0)
			check_owner(readers, path, &there);
	}
}

void look_at_readers(struct doctor *doctor)
{
	struct readers *readers = memory_new(sizeof(*readers));

	readers->doctor = doctor;
	config_each_section(doctor->command->config, "user", add_user, readers);
	if (readers->count > 0) {
		look_at_config(readers);
		look_at_shops(readers);
		look_at_handed(readers);
		look_at_sockets(readers);
		if (readers->wrong == 0)
			found(doctor, FINDING_FINE, AREA, "", "each of the %d users may read and reach what it needs",
				readers->count);
	}
	free(readers);
}
