/*
 * doctor_files.c: checks owners and modes of an installation's files, and whether each service's user may
 * read and reach what it needs
 *
 * If every service has its own user ([user NAME] in cartbus.conf), a file that root reads may be closed to
 * one of them. The rights of a user are computed from owners, groups and modes, all the way down the path, as
 * the kernel does it; the command never runs as that user.
 *
 * Promises: looks at every file below the folders of the secrets, the keys and the state, which belong to one
 *           user alone; follows no link, unless such a folder itself is a link. Of files that services read
 *           it reports one finding per file, or one per folder that closes the way to many files.
 * Fails by: reporting that this user may not look.
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/actor/runtime/sidelog.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PUT_ASIDE[] = "before-restore-", AREA[] = "files",
		  AS_WHOM[] = "run this as root, or as the user whose it is";
enum { FOLDERS_OPEN_MOST = 16, OTHERS_WRITE = S_IWGRP | S_IWOTH, OWNER_USES = S_IRUSR | S_IWUSR };

/* A global, because nftw passes no context. */
static struct walk {
	struct doctor *doctor;
	const struct stat *top; /* of the folder that is walked */
	int wrong;
	bool hides; /* this user may not look at something */
} walk;

static const char *path_of(const struct doctor *doctor, const char *key)
{
	return config_get(doctor->command->config, "paths", NULL, key);
}

/* Reported once: a user who may not look into one folder may not look into its neighbours either. */
static bool is_hidden(const char *path, int kind)
{
	if (kind != FTW_DNR && kind != FTW_NS)
		return false;
	if (!walk.hides)
		found(walk.doctor, FINDING_DOUBTFUL, AREA, AS_WHOM, "%s may not be looked at", path);
	walk.hides = true;
	return true;
}

static int look_at_secret(const char *path, const struct stat *stat, int kind, struct FTW *at)
{
	bool is_folder = kind == FTW_D;

	if (is_hidden(path, kind) || kind == FTW_SL || at->level == 0)
		return 0;
	if (stat->st_mode & (OTHERS_WRITE | S_IROTH))
		found(walk.doctor, FINDING_WRONG, AREA,
			is_folder ? "chmod 700 it" : "chmod 600 it; if others could read it until now, make a new one",
			"%s: others may read or write this %s (mode %04o)", path,
			is_folder ? "folder of secrets" : "secret", stat->st_mode & 07777);
	else if (stat->st_uid != walk.top->st_uid)
		found(walk.doctor, FINDING_WRONG, AREA, "chown it to the owner of its folder",
			"%s belongs to uid %u, its folder to uid %u: who needs it cannot read it", path, stat->st_uid,
			walk.top->st_uid);
	else
		return 0;
	walk.wrong++;
	return 0;
}

/*
 * Any user may read a public key and the list of peers. A user who may write them decides which peers may
 * connect.
 */
static int look_at_key(const char *path, const struct stat *stat, int kind, struct FTW *at)
{
	const char *dot = strrchr(path, '.');

	if (dot && strcmp(dot, ".key") == 0)
		return look_at_secret(path, stat, kind, at);
	if (is_hidden(path, kind) || kind != FTW_F)
		return 0;
	if (stat->st_mode & OTHERS_WRITE)
		found(walk.doctor, FINDING_WRONG, AREA, "chmod go-w it", "%s: others may write it (mode %04o)", path,
			stat->st_mode & 07777);
	else if (stat->st_uid != walk.top->st_uid)
		found(walk.doctor, FINDING_WRONG, AREA, "chown it to the owner of its folder",
			"%s belongs to uid %u, who may change it", path, stat->st_uid);
	else
		return 0;
	walk.wrong++;
	return 0;
}

/*
 * A state that a restore put aside belongs to no service any more. Until the restore is released, it may be
 * needed once more.
 */
static void tell_put_aside(const char *path)
{
	char note[PATH_MAX];
	bool is_needed;

	snprintf(note, sizeof(note), "%s/restore.json", path_of(walk.doctor, "state"));
	is_needed = access(note, F_OK) == 0;
	found(walk.doctor, FINDING_FINE, AREA, "",
		is_needed ? "%s was put aside by a restore that is not released yet: keep it"
			  : "%s was put aside by a restore: it holds what was there before; remove it when it is not "
			    "needed",
		path);
}

static void tell_damaged_sidelog(const char *path)
{
	found(walk.doctor, FINDING_WRONG, AREA, "check the disk, make a backup (cartbus backup), then remove the file",
		"%s: the side log was damaged; the broker put this file aside and wrote a new one from the log", path);
	walk.wrong++;
}

/*
 * A service that was run by hand as another user leaves files that the service itself cannot open. One
 * finding per service is enough. A folder that its group may write in, or that passes on its group (setgid),
 * belongs to several users: the maildir, the blobs.
 */
static int look_at_state(const char *path, const struct stat *stat, int kind, struct FTW *at)
{
	static struct stat service;
	static bool is_told;

	if (is_hidden(path, kind))
		return 0;
	if (at->level == 1 && text_starts(path + at->base, PUT_ASIDE))
		tell_put_aside(path);
	if (at->level == 2 && text_starts(path + at->base, SIDELOG_FILE SIDELOG_DAMAGED) && !is_told)
		tell_damaged_sidelog(path);
	if (at->level == 1) {
		service = *stat;
		is_told = text_starts(path + at->base, PUT_ASIDE); /* its files keep their several owners */
	}
	if (is_told || at->level < 1 || kind == FTW_SL || service.st_mode & (S_IWGRP | S_ISGID) ||
		(at->level == 1 && kind == FTW_F))
		return 0;
	if (stat->st_uid != service.st_uid)
		found(walk.doctor, FINDING_WRONG, AREA,
			"stop the service, and chown -R its folder to the folder's owner",
			"%s belongs to uid %u, the folder of its service to uid %u", path, stat->st_uid,
			service.st_uid);
	else if (stat->st_mode & (S_IRWXG | S_IRWXO) || (stat->st_mode & OWNER_USES) != OWNER_USES)
		found(walk.doctor, FINDING_WRONG, AREA, "chmod -R u=rwX,go= the folder of the service",
			"%s: %s (mode %04o)", path,
			stat->st_mode & (S_IRWXG | S_IRWXO) ? "it is open to others" : "its own service may not use it",
			stat->st_mode & 07777);
	else
		return 0;
	walk.wrong++;
	is_told = true;
	return 0;
}

/*
 * Without keys, no process can connect over TCP. If the broker is on another host, only that host has the
 * sockets, the shops and perhaps the secrets.
 */
static bool is_needed(const struct doctor *doctor, const char *key)
{
	bool is_keys = strcmp(key, "keys") == 0;

	return doctor->is_far ? is_keys || strcmp(key, "state") == 0 : !is_keys;
}

static void say_missing(struct doctor *doctor, const char *key, const char *remedy)
{
	bool is_wrong = errno != ENOENT || is_needed(doctor, key);
	const char *none = doctor->is_far ? "none, which is the broker's host's" : "none, and nothing comes over TCP";

	found(doctor, is_wrong ? FINDING_WRONG : FINDING_FINE, AREA, is_wrong ? remedy : "", "%s ([paths] %s): %s",
		path_of(doctor, key), key, is_wrong ? strerror(errno) : none);
}

static bool stat_folder(struct doctor *doctor, const char *key, mode_t forbidden, const char *remedy, struct stat *ret)
{
	const char *path = path_of(doctor, key);

	if (stat(path, ret) < 0) {
		say_missing(doctor, key, remedy);
		return false;
	}
	if (!S_ISDIR(ret->st_mode)) {
		found(doctor, FINDING_WRONG, AREA, remedy, "%s ([paths] %s) is no folder", path, key);
		return false;
	}
	if (ret->st_mode & forbidden) {
		found(doctor, FINDING_WRONG, AREA, "chmod go-w it; of secrets and keys: chmod 700",
			"%s ([paths] %s): others may %s (mode %04o)", path, key,
			ret->st_mode & forbidden & OTHERS_WRITE ? "write there" : "look into it", ret->st_mode & 07777);
		walk.wrong++;
	}
	return true;
}

static void look_into(struct doctor *doctor, const char *key, mode_t forbidden, __nftw_func_t look, const char *remedy)
{
	char whole[PATH_MAX];
	struct stat top;

	walk = (struct walk){ .doctor = doctor, .top = &top };
	if (!stat_folder(doctor, key, forbidden, remedy, &top))
		return;
	if (look && (!realpath(path_of(doctor, key), whole) || nftw(whole, look, FOLDERS_OPEN_MOST, FTW_PHYS) < 0)) {
		found(doctor, FINDING_DOUBTFUL, AREA, AS_WHOM, "%s ([paths] %s): %s", path_of(doctor, key), key,
			strerror(errno));
		return;
	}
	if (!walk.wrong && !walk.hides)
		found(doctor, FINDING_FINE, AREA, "", "%s ([paths] %s)", path_of(doctor, key), key);
}

static bool has_log(const struct doctor *doctor)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/broker/CURRENT", path_of(doctor, "state"));
	return access(path, F_OK) == 0;
}

/*
 * The broker judges its side log only when it starts. While it does not run, only this check tells of a
 * damaged one.
 */
static void look_at_sidelog(struct doctor *doctor)
{
	static const char mends[] = "start the broker, which writes what is missing from the log";
	struct sidelog_read read;
	char path[PATH_MAX];
	int r;

	if (doctor->is_far)
		return;
	snprintf(path, sizeof(path), "%.4000s/" SIDELOG_FOLDER "/" SIDELOG_FILE, path_of(doctor, "state"));
	r = sidelog_each(path, NULL, NULL, &read);
	if (r == -ENOENT && has_log(doctor))
		found(doctor, FINDING_DOUBTFUL, AREA, mends, "%s: there is no side log beside the log", path);
	else if (r == -EBADMSG || (r == 0 && read.damages > 0))
		found(doctor, FINDING_WRONG, AREA,
			"check the disk, and restart the broker, which puts it aside and writes another from the log",
			"%s is damaged", path);
	else if (r < 0 && r != -ENOENT && r != -EACCES) /* the walk reports files that this user may not read */
		found(doctor, FINDING_WRONG, AREA, "check the disk: the broker does not start until it can read it",
			"%s cannot be read: %s", path, strerror(-r));
}

void look_at_files(struct doctor *doctor)
{
	look_at_sidelog(doctor);
	look_into(doctor, "state", S_IWOTH, look_at_state, "start cartbus once, which makes it, or mkdir it");
	look_into(doctor, "run", S_IWOTH, NULL, "start cartbus, which makes it");
	look_into(doctor, "shops", S_IWOTH, NULL, "cartbus shop add makes it");
	look_into(doctor, "secrets", OTHERS_WRITE | S_IROTH, look_at_secret, "cartbus secrets make");
	look_into(doctor, "keys", OTHERS_WRITE, look_at_key, "cartbus keys make");
}

/* ---- what services read ---- */

enum { USERS_MOST = 32, GROUPS_MOST = 32, READ = 4, WRITE = 2, ENTER = 1 };

struct user {
	char name[64];
	uid_t uid;
	gid_t groups[GROUPS_MOST];
	int group_count;
};

struct readers {
	struct doctor *doctor;
	const char *remedy; /* for the files that are checked now */
	int wrong;          /* wrong things found so far */
	int count;
	struct user users[USERS_MOST];
	char blocked[PATH_ROOM]; /* the last path that was reported: one folder closes the way to many */
};

/* ---- the users that read ---- */

static int add_user(const char *name, void *context)
{
	struct readers *readers = context;
	const char *service = config_get(readers->doctor->command->config, "user", name, "service");
	const struct passwd *known = getpwnam(name);
	struct user *user = &readers->users[readers->count];

	if (!known || known->pw_uid == 0 || !service || readers->count == USERS_MOST)
		return 0; /* the check of the configuration reports a user that does not exist */
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

/*
 * Each folder on the way must be open as well. Also, a user who may write in one of them may replace our file
 * by another.
 */
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
		return; /* the area that needs the file reports that it is missing */
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

/* Root hands the files of these folders to the services. look_at_files() checks the files themselves. */
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
