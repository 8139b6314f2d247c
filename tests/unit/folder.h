/*
 * folder.h: a folder of a test's own, gone when the test is; also where the test fails, and does not come to removing it
 */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include "bus/base/log.h"
#include "bus/base/memory.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
	char path[64];
};

struct folder_made {
	struct folder folder;
	pid_t maker; /* a child of its leaves it alone */
	struct folder_made *next;
};

static struct folder_made *folders_made;

static inline int folder_remove_entry(const char *path, const struct stat *what, int type, struct FTW *where)
{
	(void)type;
	(void)where;
	if (S_ISREG(what->st_mode) && (what->st_mode & 07011)) {
		fprintf(stderr, "%s has the mode %o: it is no program that others may run\n", path,
			what->st_mode & 07777);
		_exit(EXIT_FAILURE); /* this may be in exit() already */
	}
	return remove(path);
}

static inline void folder_remove(struct folder *folder)
{
	nftw(folder->path, folder_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void folders_remove(void)
{
	for (struct folder_made *made = folders_made; made; made = made->next)
		if (made->maker == getpid())
			folder_remove(&made->folder);
}

/* mkdtemp(3), for a test that has a name of its own for it. */
static inline void folder_make(char *path)
{
	struct folder_made *made = memory_new(sizeof(*made));
	if (!mkdtemp(path))
		die("no folder for the test: %s", path);
	if (!folders_made)
		atexit(folders_remove);
	snprintf(made->folder.path, sizeof(made->folder.path), "%s", path);
	made->maker = getpid();
	made->next = folders_made;
	folders_made = made;
}

static inline struct folder folder_new(void)
{
	struct folder folder = { "/tmp/cartbus-test-XXXXXX" };
	folder_make(folder.path);
	return folder;
}

/* `to` gets the path of `name` inside. */
#define FOLDER_PATH(to, folder, name) snprintf((to), sizeof(to), "%s/%s", (folder).path, (name))

#endif
