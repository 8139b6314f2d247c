/*
 * folder.h: a folder of a test's own, gone when the test is
 */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include "bus/base/log.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct folder {
	char path[64];
};

static inline struct folder folder_new(void)
{
	struct folder folder = { "/tmp/cartbus-test-XXXXXX" };
	if (!mkdtemp(folder.path))
		die("no folder for the test: %s", folder.path);
	return folder;
}

static inline int folder_remove_entry(const char *path, const struct stat *what, int type, struct FTW *where)
{
	(void)what;
	(void)type;
	(void)where;
	return remove(path);
}

static inline void folder_remove(struct folder *folder)
{
	nftw(folder->path, folder_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* `to` gets the path of `name` inside. */
#define FOLDER_PATH(to, folder, name) snprintf((to), sizeof(to), "%s/%s", (folder).path, (name))

#endif
