/*
 * files.c: what lies about a shopper in files beside the log
 *
 * Promises:  reads only, and nothing but what lies below the folders that are meant: what the users of the services planted there leads
 *            nowhere else, though root reads it.
 * Fails by:  EXIT_NO when a file cannot be read, and telling which: what is in it is not known.
 * Read next: person.c, files_mail.c, files_csv.c
 */
#include "services/cartbus/people/files.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MOST = 64 << 20 };

DEFINE_CLEANUP(DIR *, closedir)

struct looking {
	const struct command *command;
	const struct person *person;
	file_fn *each;
	void *context;
	int ended;
};

const char *files_word(enum files_of kind)
{
	switch (kind) {
	case FILES_REJECTED:
		return "rejected webhook";
	case FILES_MAILS:
		return "mail in the maildir";
	case FILES_ASIDE:
		return "mail put aside";
	case FILES_EXPORTS:
		return "export";
	}
	return "file";
}

static bool holds(const struct looking *looking, enum files_of kind, struct bytes text)
{
	_cleanup_(buffer_free) struct buffer rest = { 0 };

	if (person_holds(looking->person, text))
		return true;
	switch (kind) {
	case FILES_MAILS:
	case FILES_ASIDE:
		return files_mail_holds(looking->person, text);
	case FILES_EXPORTS: /* its carts are named by ids that may be too short to be looked for anywhere */
		return files_csv_without(looking->person, text, &rest) > 0;
	case FILES_REJECTED:
		break;
	}
	return false;
}

static void not_known(struct looking *looking, const char *path, const char *what, int error)
{
	complain(looking->command, "%s could not be %s, and may hold something: %s", path, what, strerror(error));
	looking->ended = EXIT_NO;
}

static void look_at(struct looking *looking, const struct found_file *file)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	int r = file_read_in(file->folder, file->name, FILE_MOST, &text);

	if (r < 0 && r != -ENOENT)
		not_known(looking, file->path, "read", -r);
	else if (r >= 0 && holds(looking, file->kind, buffer_bytes(&text)))
		looking->each(file, looking->context);
}

static void look_below(struct looking *looking, enum files_of kind, int fd, const char *folder);

static void look_at_entry(struct looking *looking, enum files_of kind, int fd, const char *folder, const char *name)
{
	char path[PATH_MAX];
	struct stat about;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (fstatat(fd, name, &about, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(about.st_mode))
		look_below(looking, kind, file_open_folder_in(fd, name), path);
	else if (S_ISREG(about.st_mode))
		look_at(looking, &(struct found_file){ .kind = kind, .path = path, .folder = fd, .name = name });
}

/* All plain files below a folder, whose descriptor is closed; below 0: the errno of why there is none. */
static void look_below(struct looking *looking, enum files_of kind, int fd, const char *folder)
{
	_cleanup_(closedirp) DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	int error = fd < 0 ? -fd : errno;
	struct dirent *entry;

	if (!listing && error != ENOENT)
		not_known(looking, folder, "looked into", error);
	while (listing && (entry = readdir(listing)))
		if (entry->d_name[0] != '.')
			look_at_entry(looking, kind, dirfd(listing), folder, entry->d_name);
}

/* Of the folder above, root's or the owner's, a link is followed: it is where the configuration says. */
static void look_within(struct looking *looking, enum files_of kind, const char *above, const char *name)
{
	_cleanup_close_ int fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", above, name);
	if (fd >= 0)
		look_below(looking, kind, file_open_folder_in(fd, name), path);
	else if (errno != ENOENT && errno != ENOTDIR)
		not_known(looking, above, "looked into", errno);
}

/* Each gateway has its own. */
static void look_at_rejected(struct looking *looking, const char *state)
{
	_cleanup_(closedirp) DIR *listing = opendir(state);
	struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		char path[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", state, entry->d_name);
		look_within(looking, FILES_REJECTED, path, "rejected");
	}
}

static void look_at_setting(
	struct looking *looking, enum files_of kind, const char *section, const char *key, const char *otherwise)
{
	const char *folder = config_get(looking->command->config, section, NULL, key);
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", config_get(looking->command->config, "paths", NULL, "state"), otherwise);
	folder = folder && *folder ? folder : path;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	look_below(looking, kind, fd < 0 ? -errno : fd, folder);
}

static void look_aside(struct looking *looking)
{
	const char *folder = config_get(looking->command->config, "mailin", NULL, "folder");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/mailin", config_get(looking->command->config, "paths", NULL, "state"));
	look_within(looking, FILES_ASIDE, path, "aside");
	if (folder && *folder)
		look_within(looking, FILES_ASIDE, folder, "aside");
}

int files_each(const struct command *command, const struct person *person, file_fn *each, void *context)
{
	struct looking looking = { .command = command, .person = person, .each = each, .context = context };

	look_at_rejected(&looking, config_get(command->config, "paths", NULL, "state"));
	look_at_setting(&looking, FILES_MAILS, "mail", "maildir", "mail");
	look_aside(&looking);
	look_at_setting(&looking, FILES_EXPORTS, "export", "folder", "export");
	return looking.ended;
}
