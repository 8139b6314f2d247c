/*
 * doctor_files.c: owners and modes of what an installation consists of
 *
 * Promises: looks at every file below the folders of the secrets, the keys and the state; follows no link but where such a folder is
 *           one itself.
 * Fails by: saying that it may not look.
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/actor/runtime/sidelog.h"
#include "bus/base/text.h"
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PUT_ASIDE[] = "before-restore-", AREA[] = "files",
		  AS_WHOM[] = "run this as root, or as the user whose it is";
enum { FOLDERS_OPEN_MOST = 16, OTHERS_WRITE = S_IWGRP | S_IWOTH, OWNER_USES = S_IRUSR | S_IWUSR };

/* nftw has no context. */
static struct walk {
	struct doctor *doctor;
	const struct stat *top; /* of the folder that is walked */
	int wrong;
	bool hides; /* something that may not be looked at */
} walk;

static const char *path_of(const struct doctor *doctor, const char *key)
{
	return config_get(doctor->command->config, "paths", NULL, key);
}

/* Told once: who may not look into one folder may not look into its neighbours either. */
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

/* A public key and the list of peers may be read; who writes them decides who may come. */
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

/* What a restore put aside is nobody's state any more. While it is not released, it may be needed once more. */
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

/* A person who ran a service by hand as another user leaves files that the service itself cannot open. One per service is enough to tell.
 * A folder that its group may write in, or that hands its group on, is several users' own: the maildir, the blobs. */
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
		is_told = text_starts(path + at->base, PUT_ASIDE); /* of several users, as they were */
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

/* Without keys nothing comes over TCP. Where the broker is on another host, sockets, shops and perhaps the secrets are there alone. */
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

/* Of a broker that does not run nobody else tells it: it judges its side log when it starts. */
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
	else if (r < 0 && r != -ENOENT && r != -EACCES) /* of what may not be looked at the walk tells */
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
