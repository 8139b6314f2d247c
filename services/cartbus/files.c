/*
 * files.c: what lies about a shopper in files beside the log
 *
 * Promises:  reads only.
 * Fails by:  EXIT_NO when a file cannot be read, and telling which: what is in it is not known.
 * Read next: person.c
 */
#include "services/cartbus/files.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <csv.h>
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
	case FILES_EXPORTS:
		return "export";
	}
	return "file";
}

/* A day's CSV begins each row with the cart's id, with a ' in front if it looked like a formula. */
struct table {
	const struct person *person;
	bool in_row, found;
};

static void on_cell(void *cell, size_t len, void *context)
{
	struct table *table = context;
	const char *id = cell;
	size_t mark = len > 0 && id[0] == '\'';

	if (!table->in_row && len > 0 &&
		(person_has_cart(table->person, BYTES(id, len)) ||
			person_has_cart(table->person, BYTES(id + mark, len - mark))))
		table->found = true;
	table->in_row = true;
}

static void on_row(int end, void *context)
{
	(void)end;
	((struct table *)context)->in_row = false;
}

static bool names_cart(const struct person *person, struct bytes text)
{
	struct table table = { .person = person };
	struct csv_parser parser;

	csv_init(&parser, CSV_APPEND_NULL);
	csv_parse(&parser, text.data, text.len, on_cell, on_row, &table);
	csv_fini(&parser, on_cell, on_row, &table);
	csv_free(&parser);
	return table.found;
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
	else if (r >= 0 &&
		(person_holds(looking->person, buffer_bytes(&text)) ||
			(kind == FILES_EXPORTS && names_cart(looking->person, buffer_bytes(&text)))))
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

int files_each(const struct command *command, const struct person *person, file_fn *each, void *context)
{
	struct looking looking = { .command = command, .person = person, .each = each, .context = context };

	look_at_rejected(&looking, config_get(command->config, "paths", NULL, "state"));
	look_at_setting(&looking, FILES_MAILS, "mail", "maildir", "mail");
	look_at_setting(&looking, FILES_EXPORTS, "export", "folder", "export");
	return looking.ended;
}
