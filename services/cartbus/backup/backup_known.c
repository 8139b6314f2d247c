/*
 * backup_known.c: lets one of backup, restore and erase run at a time, and remembers which backups were made
 * here
 *
 * Owns:      <state>/.backup.lock, and <state>/backups.json: an array of {"folder", "inode", "disk"} (the
 *            inode of the folder above, and the id of its file system; releases before 0.3.0 wrote no "disk").
 * Promises:  a backup is on the list before it holds anything. A backup whose folder is missing counts as
 *            deleted if the folder above is there, the same one on the same file system; else it may come back,
 *            as on a disk that is not mounted now, and stays on the list. So does a backup that cannot be
 *            looked for.
 * Read next: backup.c, erase_copy.c
 */
#include "services/cartbus/backup/backup_folder.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/cartbus/core/json_file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char SNAPSHOT[] = "snapshot-";

DEFINE_CLEANUP(DIR *, closedir)

int backup_lock(const struct command *command, int *ret_lock)
{
	char path[PATH_ROOM];
	int r;

	snprintf(path, sizeof(path), "%s/.backup.lock", config_get(command->config, "paths", NULL, "state"));
	r = file_lock(path, ret_lock);
	if (r < 0)
		complain(command, "%s: %s", path, r == -EBUSY ? "another backup or erasure is running" : strerror(-r));
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

void backup_remove_snapshots(const struct command *command)
{
	char folder[PATH_ROOM + 8];

	snprintf(folder, sizeof(folder), "%s/broker", config_get(command->config, "paths", NULL, "state"));

	_cleanup_(closedirp) DIR *listing = opendir(folder);
	struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		char path[PATH_ROOM + 300];

		if (!text_starts(entry->d_name, SNAPSHOT))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		backup_remove_folder(path);
	}
}

static void list_path(const struct command *command, char ret[PATH_ROOM])
{
	snprintf(ret, PATH_ROOM, "%s/backups.json", config_get(command->config, "paths", NULL, "state"));
}

/* NULL: it complained. */
static json_t *read_list(const struct command *command)
{
	char path[PATH_ROOM];
	json_t *list;
	int r;

	list_path(command, path);
	r = json_file_read(path, &list);
	if (r == -ENOENT)
		return json_array();
	if (json_is_array(list))
		return list;
	json_decref(list);
	complain(command, "%s: %s", path, r < 0 ? json_file_words(r) : "it is no list of backups");
	return NULL;
}

static int write_list(const struct command *command, const json_t *list)
{
	char path[PATH_ROOM];
	int r;

	list_path(command, path);
	r = json_file_write(path, list);
	if (r < 0)
		complain(command, "%s: %s", path, json_file_words(r));
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

/* The folder above a backup. Two disks that are mounted in turn at one path may give it the same inode. */
struct above {
	json_int_t inode, disk; /* inode 0: there is no such folder, or it cannot be looked at */
};

static struct above look_above(const char *folder)
{
	char path[PATH_MAX];
	struct stat found;
	struct statvfs disk;
	char *slash;

	snprintf(path, sizeof(path), "%s", folder);
	slash = strrchr(path, '/');
	if (!slash)
		return (struct above){ 0 };
	slash[slash == path] = '\0';
	if (stat(path, &found) < 0 || statvfs(path, &disk) < 0)
		return (struct above){ 0 };
	return (struct above){ .inode = (json_int_t)found.st_ino, .disk = (json_int_t)disk.f_fsid };
}

static const char *folder_of(const json_t *one)
{
	const char *folder = json_string_value(json_object_get(one, "folder"));

	return folder ? folder : "";
}

static void note_above(json_t *one)
{
	const struct above above = look_above(folder_of(one));

	json_object_set_new(one, "inode", json_integer(above.inode));
	json_object_set_new(one, "disk", json_integer(above.disk));
}

static bool is_as_noted(const json_t *one, const struct above *above)
{
	const json_t *disk = json_object_get(one, "disk");

	return above->inode && above->inode == json_integer_value(json_object_get(one, "inode")) &&
		(!disk || json_integer_value(disk) == above->disk);
}

int backup_remember(const struct command *command, const char *folder)
{
	_cleanup_free_ char *whole = realpath(folder, NULL);
	json_t *list = read_list(command), *one;
	int ended = EXIT_NO;
	size_t i;

	if (!whole)
		complain(command, "%s: %s", folder, strerror(errno));
	for (i = json_array_size(list); i-- > 0 && whole;) {
		one = json_array_get(list, i);
		if (strcmp(folder_of(one), whole) == 0)
			json_array_remove(list, i);
	}
	if (list && whole) {
		one = json_pack("{s:s}", "folder", whole);
		note_above(one);
		json_array_append_new(list, one);
		ended = write_list(command, list);
	}
	json_decref(list);
	return ended;
}

static enum backup_found look_for(const json_t *one)
{
	const struct above above = look_above(folder_of(one));

	if (access(folder_of(one), F_OK) == 0)
		return BACKUP_THERE;
	return errno == ENOENT && is_as_noted(one, &above) ? BACKUP_GONE : BACKUP_AWAY;
}

int backup_each_known(const struct command *command, backup_fn *each, void *context)
{
	json_t *list = read_list(command), *one;
	int ended = list ? EXIT_FINE : EXIT_NO;
	size_t i;

	json_array_foreach(list, i, one) each(folder_of(one), look_for(one), context);
	json_decref(list);
	return ended;
}

/*
 * What is noted of a backup that is there is brought up to date: the id of some file systems changes when the
 * machine names its disks anew.
 */
int backup_forget_gone(const struct command *command)
{
	json_t *list = read_list(command), *before = json_deep_copy(list);
	int ended = list ? EXIT_FINE : EXIT_NO;

	for (size_t i = json_array_size(list); i-- > 0;) {
		json_t *one = json_array_get(list, i);
		enum backup_found found = look_for(one);

		if (found == BACKUP_GONE)
			json_array_remove(list, i);
		else if (found == BACKUP_THERE)
			note_above(one);
	}
	if (list && !json_equal(list, before))
		ended = write_list(command, list);
	json_decref(before);
	json_decref(list);
	return ended;
}
