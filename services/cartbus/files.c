/*
 * files.c: what lies about a shopper in files beside the log
 *
 * Promises:  reads only.
 * Fails by:  EXIT_NO when a file cannot be read, and telling which: what is in it is not known.
 * Read next: person.c, files_mail.c, files_csv.c
 */
#include "services/cartbus/files.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
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

static void look_at(struct looking *looking, enum files_of kind, const char *path)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	int r = file_read(path, FILE_MOST, &text);

	if (r < 0 && r != -ENOENT)
		not_known(looking, path, "read", -r);
	else if (r >= 0 && holds(looking, kind, buffer_bytes(&text)))
		looking->each(kind, path, looking->context);
}

/* All plain files below a folder. */
static void look_below(struct looking *looking, enum files_of kind, const char *folder)
{
	_cleanup_(closedirp) DIR *listing = opendir(folder);
	struct dirent *entry;

	if (!listing && errno != ENOENT && errno != ENOTDIR)
		not_known(looking, folder, "looked into", errno);
	while (listing && (entry = readdir(listing))) {
		char path[PATH_MAX];
		struct stat about;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (lstat(path, &about) < 0)
			continue;
		if (S_ISDIR(about.st_mode))
			look_below(looking, kind, path);
		else if (S_ISREG(about.st_mode))
			look_at(looking, kind, path);
	}
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
		snprintf(path, sizeof(path), "%s/%s/rejected", state, entry->d_name);
		look_below(looking, FILES_REJECTED, path);
	}
}

static void look_at_setting(
	struct looking *looking, enum files_of kind, const char *section, const char *key, const char *otherwise)
{
	const char *folder = config_get(looking->command->config, section, NULL, key);
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", config_get(looking->command->config, "paths", NULL, "state"), otherwise);
	look_below(looking, kind, folder && *folder ? folder : path);
}

static void look_aside(struct looking *looking)
{
	const char *folder = config_get(looking->command->config, "mailin", NULL, "folder");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/mailin/aside", config_get(looking->command->config, "paths", NULL, "state"));
	look_below(looking, FILES_ASIDE, path);
	if (!folder || !*folder)
		return;
	snprintf(path, sizeof(path), "%s/aside", folder);
	look_below(looking, FILES_ASIDE, path);
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
