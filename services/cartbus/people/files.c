/*
 * files.c: finds a shopper's data in files beside the log
 *
 * Promises:  reads only, and only below the configured folders: links that the users of the services placed
 *            there lead nowhere else, though root reads them. A row of a table is removed if its first cell
 *            is the id of one of the person's carts, or any cell has one of the person's names; all other
 *            rows stay as they are, byte by byte, even if the owner's spreadsheet changed how they are
 *            written. GMime decodes a mail, and mails within the mail; a mail that it cannot decode is
 *            searched as it is.
 * Fails by:  EXIT_NO when a file cannot be read, and naming the file, because its content is not known. die()
 *            when there is no memory.
 * Read next: data_subject.c, services/carts/exporter/day_csv.c (writes the tables)
 */
#include "services/cartbus/people/files.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <csv.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gmime/gmime.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a table without the rows about a shopper ---- */

struct row {
	const struct data_subject *data_subject;
	bool is_his, has_cells, is_over;
};

static void on_cell(void *text, size_t len, void *context)
{
	struct row *row = context;
	const char *cell = text;

	if (!row->has_cells && len > 0 && *cell == '\'') /* a spreadsheet must not take it for a formula */
		row->is_his |= data_subject_has_cart(row->data_subject, BYTES(cell + 1, len - 1));
	if (len > 0)
		row->is_his |= (!row->has_cells && data_subject_has_cart(row->data_subject, BYTES(cell, len))) ||
			data_subject_holds(row->data_subject, BYTES(cell, len));
	row->has_cells = true;
}

static void on_row(int end, void *context)
{
	struct row *row = context;

	(void)end;
	row->is_over = true;
}

/* A row ends with CR, LF or both. */
static size_t end_of_line(struct bytes csv, size_t at)
{
	const char *text = csv.data;

	return at < csv.len && at > 0 && text[at - 1] == '\r' && text[at] == '\n' ? at + 1 : at;
}

static int keep(struct row *row, struct bytes csv, size_t from, size_t to, struct buffer *ret)
{
	bool goes = row->is_his;

	if (!goes)
		buffer_add(ret, (const char *)csv.data + from, to - from);
	*row = (struct row){ .data_subject = row->data_subject };
	return goes;
}

int files_csv_without(const struct data_subject *data_subject, struct bytes csv, struct buffer *ret)
{
	struct row row = { .data_subject = data_subject };
	struct csv_parser parser;
	size_t from = 0, at = 0;
	int gone = 0;

	if (csv_init(&parser, 0) != 0)
		die("libcsv cannot begin");
	while (at < csv.len && csv_parse(&parser, (const char *)csv.data + at, 1, on_cell, on_row, &row) == 1) {
		at++;
		if (row.is_over) {
			at = end_of_line(csv, at);
			gone += keep(&row, csv, from, at, ret);
			from = at;
		}
	}
	csv_fini(&parser, on_cell, on_row, &row);
	csv_free(&parser);
	return gone + keep(&row, csv, from, csv.len, ret);
}

/* ---- does a mail name the shopper, however it is encoded? ---- */

enum { PARTS_MOST = 100 };

static bool headers_hold(const struct data_subject *data_subject, GMimeObject *part)
{
	GMimeHeaderList *headers = g_mime_object_get_header_list(part);

	for (int i = 0; headers && i < g_mime_header_list_get_count(headers); i++) {
		const char *value = g_mime_header_get_value(g_mime_header_list_get_header_at(headers, i));

		if (value && data_subject_holds(data_subject, bytes_of(value)))
			return true;
	}
	return false;
}

static bool content_holds(const struct data_subject *data_subject, GMimeObject *part)
{
	GMimeDataWrapper *content = GMIME_IS_PART(part) ? g_mime_part_get_content(GMIME_PART(part)) : NULL;
	GMimeStream *stream;
	const GByteArray *decoded;
	bool found;

	if (!content)
		return false;
	stream = g_mime_stream_mem_new();
	g_mime_data_wrapper_write_to_stream(content, stream);
	decoded = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream));
	found = data_subject_holds(data_subject, BYTES(decoded->data, decoded->len));
	g_object_unref(stream);
	return found;
}

static bool parts_hold(const struct data_subject *data_subject, GMimeMessage *message)
{
	GMimePartIter *parts = g_mime_part_iter_new(GMIME_OBJECT(message));
	bool found = headers_hold(data_subject, GMIME_OBJECT(message));

	for (int i = 0; !found && i < PARTS_MOST && g_mime_part_iter_is_valid(parts); i++) {
		GMimeObject *part = g_mime_part_iter_get_current(parts);

		if (GMIME_IS_MESSAGE_PART(part))
			part = GMIME_OBJECT(g_mime_message_part_get_message(GMIME_MESSAGE_PART(part)));
		found = part && (headers_hold(data_subject, part) || content_holds(data_subject, part));
		if (!g_mime_part_iter_next(parts))
			break;
	}
	g_mime_part_iter_free(parts);
	return found;
}

/* true: a part of the decoded mail holds a strong name of the person. */
static bool files_mail_holds(const struct data_subject *data_subject, struct bytes mail)
{
	GMimeStream *stream;
	GMimeParser *parser;
	GMimeMessage *message;
	bool found;

	g_mime_init(); /* only the first call does anything */
	stream = g_mime_stream_mem_new_with_buffer(mail.data, mail.len);
	parser = g_mime_parser_new_with_stream(stream);
	message = g_mime_parser_construct_message(parser, NULL);
	found = message && parts_hold(data_subject, message);
	if (message)
		g_object_unref(message);
	g_object_unref(parser);
	g_object_unref(stream);
	return found;
}

/* ---- the files ---- */

enum { FILE_MOST = 64 << 20 };

DEFINE_CLEANUP(DIR *, closedir)

struct looking {
	const struct command *command;
	const struct data_subject *data_subject;
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

	if (data_subject_holds(looking->data_subject, text))
		return true;
	switch (kind) {
	case FILES_MAILS:
	case FILES_ASIDE:
		return files_mail_holds(looking->data_subject, text);
	case FILES_EXPORTS: /* its cart ids may be too short to be searched in the whole text */
		return files_csv_without(looking->data_subject, text, &rest) > 0;
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
	if (fstatat(fd, name, &about, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			not_known(looking, path, "looked at", errno);
		return;
	}
	if (S_ISDIR(about.st_mode))
		look_below(looking, kind, file_open_folder_in(fd, name), path);
	else if (S_ISREG(about.st_mode))
		look_at(looking, &(struct found_file){ .kind = kind, .path = path, .folder = fd, .name = name });
}

/*
 * Looks at all plain files below a folder, and closes its descriptor `fd`. A negative `fd` is the errno of
 * the failed open.
 */
static void look_below(struct looking *looking, enum files_of kind, int fd, const char *folder)
{
	_cleanup_(closedirp) DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	int error = fd < 0 ? -fd : errno;
	struct dirent *entry;

	if (!listing) {
		if (fd >= 0)
			close(fd);
		if (error != ENOENT)
			not_known(looking, folder, "looked into", error);
		return;
	}
	while ((errno = 0, entry = readdir(listing)))
		if (entry->d_name[0] != '.')
			look_at_entry(looking, kind, dirfd(listing), folder, entry->d_name);
	if (errno != 0)
		not_known(looking, folder, "looked into", errno);
}

/*
 * Follows a link at `above`, which is root's or the owner's and comes from the configuration, but not at
 * `name` or below.
 */
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

/* Each gateway has its own folder of rejected webhooks. */
static void look_at_rejected(struct looking *looking, const char *state)
{
	_cleanup_(closedirp) DIR *listing = opendir(state);
	struct dirent *entry;

	while (listing && (errno = 0, entry = readdir(listing))) {
		char path[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", state, entry->d_name);
		look_within(looking, FILES_REJECTED, path, "rejected");
	}
	if (errno != 0 && errno != ENOENT) /* of opendir, or of readdir */
		not_known(looking, state, "looked into", errno);
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

int files_each(const struct command *command, const struct data_subject *data_subject, file_fn *each, void *context)
{
	struct looking looking = { .command = command, .data_subject = data_subject, .each = each, .context = context };

	look_at_rejected(&looking, config_get(command->config, "paths", NULL, "state"));
	look_at_setting(&looking, FILES_MAILS, "mail", "maildir", "mail");
	look_aside(&looking);
	look_at_setting(&looking, FILES_EXPORTS, "export", "folder", "export");
	return looking.ended;
}
