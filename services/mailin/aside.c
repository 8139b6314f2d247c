/*
 * aside.c: the folder of mails that say nothing to us
 *
 * Promises:  never more than ASIDE_MOST, none older than ASIDE_S.
 */
#include "services/mailin/aside.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ASIDE_MOST = 200, ASIDE_S = 30 * 24 * 3600 };

struct oldest {
	char name[NAME_MAX + 1];
	time_t at;
	int count;
};

static struct oldest find_oldest(const char *folder)
{
	struct oldest oldest = { .at = 0 };
	struct stat found;
	DIR *dir = opendir(folder);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		if (entry->d_name[0] == '.' || fstatat(dirfd(dir), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (oldest.count++ == 0 || found.st_mtime < oldest.at) {
			oldest.at = found.st_mtime;
			TEXT_COPY(oldest.name, entry->d_name);
		}
	}
	if (dir)
		closedir(dir);
	return oldest;
}

void aside_make_room(const char *folder)
{
	for (;;) {
		char path[PATH_MAX + NAME_MAX];
		struct oldest oldest = find_oldest(folder);
		if (oldest.count <= ASIDE_MOST && (oldest.count == 0 || oldest.at > time(NULL) - ASIDE_S))
			return;
		snprintf(path, sizeof(path), "%s/%s", folder, oldest.name);
		if (unlink(path) < 0)
			return;
	}
}

int aside_write(const char *folder, struct bytes mail)
{
	char path[PATH_MAX], name[33];
	text_random_name(name);
	int r = file_make_folders(folder, 0750);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (r == 0)
		r = file_write_new(path, mail, 0640);
	if (r < 0)
		return r;
	aside_make_room(folder);
	return 0;
}
