/*
 * backup_known.c: lets one of backup, restore and erase run at a time, and remembers which backups were made
 * here
 *
 * Owns:      <state>/.backup.lock, and <state>/backups.json: an array of {"folder", "inode"} (the inode is
 *            that of the folder above).
 * Promises:  a backup is on the list before it holds anything. A backup whose folder is missing counts as
 *            deleted if the folder above is there; else it may come back, as on a disk that is not mounted
 *            now, and stays on the list.
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

/* The inode of the folder above; 0: there is no such folder. */
static json_int_t inode_above(const char *folder)
{
	char path[PATH_MAX];
	struct stat found;
	char *slash;

	snprintf(path, sizeof(path), "%s", folder);
	slash = strrchr(path, '/');
	if (!slash)
		return 0;
	slash[slash == path] = '\0';
	return stat(path, &found) < 0 ? 0 : (json_int_t)found.st_ino;
}

static const char *folder_of(const json_t *one)
{
	const char *folder = json_string_value(json_object_get(one, "folder"));

	return folder ? folder : "";
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
		json_array_append_new(list, json_pack("{s:s,s:I}", "folder", whole, "inode", inode_above(whole)));
		ended = write_list(command, list);
	}
	json_decref(list);
	return ended;
}

static enum backup_found look_for(const json_t *one)
{
	json_int_t inode = inode_above(folder_of(one));

	if (access(folder_of(one), F_OK) == 0)
		return BACKUP_THERE;
	return inode && inode == json_integer_value(json_object_get(one, "inode")) ? BACKUP_GONE : BACKUP_AWAY;
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

int backup_forget_gone(const struct command *command)
{
	json_t *list = read_list(command), *left = json_array(), *one;
	int ended = list ? EXIT_FINE : EXIT_NO;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (look_for(one) != BACKUP_GONE)
			json_array_append(left, one);
	}
	if (json_array_size(left) < json_array_size(list))
		ended = write_list(command, left);
	json_decref(list);
	json_decref(left);
	return ended;
}
