/*
 * folders.c: can the folders that cartbus.conf names be used?
 *
 * Promises: writes nothing: what is missing is made by the process that needs it.
 */
#include "services/kit/settings/folders.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_ROOM = 400 }; /* the table of settings allows paths of 300 bytes; a name in the maildir is behind */

int settings_maildir_try(const char *path, const char *in, char ret_why[512])
{
	char whole[FOLDER_ROOM];
	int r;

	snprintf(whole, sizeof(whole), "%s/%s", path, in);
	r = access(whole, R_OK | W_OK | X_OK) < 0 ? -errno : 0;
	if (r < 0)
		snprintf(ret_why, 512,
			"[mailin] folder = %s: %s: expected a maildir (with new/ in it) that this user may read and "
			"write",
			path, strerror(-r));
	return r;
}

int settings_export_try(const struct config *config, char ret_why[512])
{
	const char *path = config_get(config, "export", NULL, "folder");
	int r = path && *path ? file_may_write_below(path) : 0;

	if (r < 0)
		snprintf(ret_why, 512,
			"[export] folder = %s: %s: expected a folder that this user may write in, or one that it may "
			"make",
			path, strerror(-r));
	return r;
}
