/*
 * folders.c: can the folders that cartbus.conf names be used?
 *
 * Promises: writes nothing: what is missing is made by the process that needs it.
 */
#include "services/kit/settings/folders.h"
#include "bus/base/text.h"
#include "services/kit/mail/transport.h"
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

/* The folder at `path`, or the first above it that is there. */
static int try_to_write_below(const char *path)
{
	char room[FOLDER_ROOM], *folder = room;
	struct stat there;

	TEXT_COPY(room, path);
	while (stat(folder, &there) < 0) {
		if (errno != ENOENT)
			return -errno;
		folder = dirname(folder); /* ends at "/" */
	}
	if (!S_ISDIR(there.st_mode))
		return -ENOTDIR;
	return access(folder, W_OK | X_OK) < 0 ? -errno : 0;
}

int settings_export_try(const struct config *config, char ret_why[512])
{
	const char *path = config_get(config, "export", NULL, "folder");
	int r = path && *path ? try_to_write_below(path) : 0;

	if (r < 0)
		snprintf(ret_why, 512,
			"[export] folder = %s: %s: expected a folder that this user may write in, or one that it may "
			"make",
			path, strerror(-r));
	return r;
}

int settings_mails_try(const struct config *config, char ret_why[512])
{
	const char *path = config_get(config, "mail", NULL, "maildir");
	bool is_given = path && *path;
	char whole[FOLDER_ROOM];
	int r;

	path = is_given ? path : config_get(config, "paths", NULL, "state");
	if (config_word(config, "mail", NULL, "transport") != TRANSPORT_MAILDIR)
		return 0;
	snprintf(whole, sizeof(whole), "%s%s/tmp", path, is_given ? "" : "/mail");
	r = try_to_write_below(whole);
	if (r < 0)
		snprintf(ret_why, 512, "%s: %s: make the folder writable for this user, or set [mail] maildir", whole,
			strerror(-r));
	return r;
}
