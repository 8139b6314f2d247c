/*
 * files.c: what lies about a shopper in files beside the log
 *
 * Promises:  reads only. A file that cannot be read is told: what is in it is not known.
 * Read next: person.c
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
};

const char *files_word(enum files_of kind)
{
	switch (kind) {
	case FILES_REJECTED:
		return "rejected webhook";
	case FILES_MAILS:
		return "mail in the maildir";
	case FILES_EXPORTS:
		return "export";
	}
	return "file";
}

static bool names_cart(const struct person *person, struct bytes text)
{
	const char *at = text.data, *end = at + text.len;

	while (at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at)), *comma;

		line = line ? line : end;
		comma = memchr(at, ',', (size_t)(line - at));
		if (comma && person_has_cart(person, BYTES(at, (size_t)(comma - at))))
			return true;
		at = line + 1;
	}
	return false;
}

static void look_at(const struct looking *looking, enum files_of kind, const char *path)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	int r = file_read(path, FILE_MOST, &text);

	if (r < 0 && r != -ENOENT)
		complain(looking->command, "%s could not be read, and may hold something: %s", path, strerror(-r));
	else if (r >= 0 &&
		(person_holds(looking->person, buffer_bytes(&text)) ||
			(kind == FILES_EXPORTS && names_cart(looking->person, buffer_bytes(&text)))))
		looking->each(kind, path, looking->context);
}

/* All plain files below a folder. */
static void look_below(const struct looking *looking, enum files_of kind, const char *folder)
{
	_cleanup_(closedirp) DIR *listing = opendir(folder);
	struct dirent *entry;

	if (!listing && errno != ENOENT && errno != ENOTDIR)
		complain(looking->command, "%s could not be looked into: %s", folder, strerror(errno));
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
static void look_at_rejected(const struct looking *looking, const char *state)
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
	const struct looking *looking, enum files_of kind, const char *section, const char *key, const char *otherwise)
{
	const char *folder = config_get(looking->command->config, section, NULL, key);
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", config_get(looking->command->config, "paths", NULL, "state"), otherwise);
	look_below(looking, kind, folder && *folder ? folder : path);
}

void files_each(const struct command *command, const struct person *person, file_fn *each, void *context)
{
	struct looking looking = { .command = command, .person = person, .each = each, .context = context };

	look_at_rejected(&looking, config_get(command->config, "paths", NULL, "state"));
	look_at_setting(&looking, FILES_MAILS, "mail", "maildir", "mail");
	look_at_setting(&looking, FILES_EXPORTS, "export", "folder", "export");
}
