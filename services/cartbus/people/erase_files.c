/*
 * erase_files.c: erases a shopper from files beside the log and from blobs, and tells what only the owner can
 * do
 *
 * Promises:  files of cartbus are removed; nightly exports lose only the person's rows. A thing that cartbus
 *            may not change is named, with what to do about it. A blob that a message of another person also
 *            names stays, and goes with that message. The references are released before the messages are
 *            erased: an erasure that is cut short finds the messages again, and by them the rest.
 * Fails by:  naming what could not be done, and failing at the end. If a blob cannot be removed, no message
 *            is erased, so that the blob can be found again.
 * Read next: files.c, erase.c, services/kit/blobs/blob_places.h
 */
#include "services/cartbus/people/erase.h"

#include "bus/actor/runtime/sidelog.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/people/files.h"
#include "services/kit/blobs/blob_places.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the blobs that only a shopper's messages name ---- */

void erase_note_blobs(struct erasure *erasure, const struct topic *topic, const char *idem, const void *message)
{
	char owner[BLOB_OWNER_MAX + 1];
	const char *name;

	if (!topic || !message || !topic->blobs)
		return;
	if (blob_owner_text(topic->name, idem, owner) < 0)
		*owner = '\0'; /* a message without a key has no reference to release */
	for (size_t i = 0; *owner && (name = topic_blob(topic, message, i)); i++)
		json_array_append_new(erasure->blobs, json_pack("{s:s,s:s}", "name", name, "owner", owner));
}

int erase_blobs(struct erasure *erasure)
{
	const char *state = config_get(erasure->command->config, "paths", NULL, "state");
	char root[PATH_MAX];
	const json_t *blob;
	size_t i;

	if (json_array_size(erasure->blobs) == 0)
		return EXIT_FINE;
	blob_places_root(erasure->blobs_root ? erasure->blobs_root : state, root);
	json_array_foreach(erasure->blobs, i, blob)
	{
		const char *name = json_string_value(json_object_get(blob, "name"));
		const char *owner = json_string_value(json_object_get(blob, "owner"));
		uint64_t removed, kept;
		int r = blob_places_release(root, erasure->shop, name, owner, &removed, &kept);

		if (r < 0) {
			complain(erasure->command,
				"the blob %s could not be removed: %s. Run it as root, on the host of the process "
				"that wrote it",
				name, strerror(-r));
			return EXIT_NO;
		}
		erasure->blobs_removed += removed;
		erasure->blobs_kept += kept;
	}
	return EXIT_FINE;
}

/* ---- files ---- */

enum { CSV_MOST = 64 << 20, WORDS_ROOM = 4000 };

DEFINE_CLEANUP(DIR *, closedir)

void reached_init(struct reached *reached)
{
	*reached = (struct reached){ .files = json_array(), .backups = json_array(), .by_hand = json_array() };
}

void reached_free(struct reached *reached)
{
	json_decref(reached->files);
	json_decref(reached->backups);
	json_decref(reached->by_hand);
}

void reached_add_by_hand(struct reached *reached, const char *what, const char *where, const char *words)
{
	json_array_append_new(reached->by_hand, json_pack("{s:s,s:s,s:s}", "what", what, "where", where, "do", words));
}

/* --- files --- */

/*
 * Removes the person's rows from a table, which keeps its owner and mode. Returns the number of rows;
 * -ENOENT: the file is no table, or no row has the name by which the file was found.
 */
static int rewrite(const struct data_subject *data_subject, const struct found_file *file)
{
	_cleanup_(buffer_free) struct buffer text = { 0 }, rest = { 0 };
	const char *dot = strrchr(file->name, '.');
	struct stat found;
	int r = dot && strcmp(dot, ".csv") == 0 ? file_read_in(file->folder, file->name, CSV_MOST, &text) : -ENOENT;
	int rows;

	if (r < 0 || fstatat(file->folder, file->name, &found, AT_SYMLINK_NOFOLLOW) < 0)
		return r < 0 ? r : -errno;
	rows = files_csv_without(data_subject, buffer_bytes(&text), &rest);
	if (rows == 0)
		return -ENOENT;
	r = file_write_durably_in(file->folder, file->name, buffer_bytes(&rest), found.st_mode & 0777,
		geteuid() == 0 ? &(struct file_owner){ .uid = found.st_uid, .gid = found.st_gid } : NULL);
	return r < 0 ? r : rows;
}

struct erasing_files {
	const struct erasure *erasure;
	struct reached *reached;
};

/* The files are gone through twice. */
static bool is_left_already(const struct reached *reached, const char *path)
{
	const json_t *one;
	size_t i;

	json_array_foreach(reached->files, i, one)
	{
		if (!json_is_true(json_object_get(one, "removed")) && strcmp(member_text(one, "path"), path) == 0)
			return true;
	}
	return false;
}

static void take_file(const struct found_file *file, void *context)
{
	struct erasing_files *erasing = context;
	bool is_export = file->kind == FILES_EXPORTS, goes = !erasing->erasure->dry_run;
	const char *what = files_word(file->kind);
	char shown[PATH_MAX];
	int r = 0;

	TEXT_COPY(shown, file->path);
	text_make_plain(shown); /* strangers may name a mail's file, and JSON takes no other bytes than UTF-8 */

	if (goes)
		r = is_export                                       ? rewrite(erasing->erasure->data_subject, file)
			: unlinkat(file->folder, file->name, 0) < 0 ? -errno
								    : 0;
	if ((r == -ENOENT && !is_export) || (r < 0 && is_left_already(erasing->reached, shown)))
		return;
	json_array_append_new(erasing->reached->files,
		json_pack("{s:s,s:s,s:b,s:i}", "what", what, "path", shown, "removed", goes && r >= 0, "rows",
			is_export && r > 0 ? r : 0));
	if (r >= 0)
		return;
	erasing->reached->failed = true;
	complain(erasing->erasure->command, "%s could not be removed: %s", shown, strerror(-r));
	reached_add_by_hand(erasing->reached, what, shown, "remove what is about this person, or all of it");
}

void erase_files(const struct erasure *erasure, struct reached *reached)
{
	struct erasing_files erasing = { .erasure = erasure, .reached = reached };

	if (files_each(erasure->command, erasure->data_subject, take_file, &erasing) != EXIT_FINE)
		reached->failed = true;
}

/* --- what only the owner can do --- */

static void add_words(char words[WORDS_ROOM], const char *before, const json_t *names)
{
	const char *name, *comma = "";
	const json_t *value;
	size_t len = strlen(words);

	len += (size_t)snprintf(words + len, WORDS_ROOM - len, "%s", before);
	json_object_foreach((json_t *)names, name, value)
	{
		if (len < WORDS_ROOM)
			len += (size_t)snprintf(words + len, WORDS_ROOM - len, "%s%s", comma, name);
		comma = ", ";
	}
}

static json_t *names_of(const json_t *set)
{
	json_t *names = json_array();
	const char *name;
	const json_t *value;

	json_object_foreach((json_t *)set, name, value) json_array_append_new(names, json_string(name));
	return names;
}

struct sheets {
	const json_t *days;
	json_t *appended;
};

static bool note_sheet(const struct entry *entry, void *context)
{
	struct sheets *sheets = context;
	_cleanup_free_ SheetDone *done = payload_decode(&topic_sheet_done, entry->payload);

	if (done && (done->end == SHEET_APPENDED || done->end == SHEET_UNKNOWN || done->end == SHEET_GIVEN_UP) &&
		json_object_get(sheets->days, done->day))
		json_object_set_new(sheets->appended, done->day, json_true());
	return true;
}

static void name_sheet(const struct erasure *erasure, struct reached *reached, const char *sheet, json_t *appended)
{
	char words[WORDS_ROOM] = "";
	json_t *one;

	add_words(words, "delete the rows, and them from its version history, of these carts: ", erasure->carts);
	if (json_object_size(appended) > 0)
		add_words(words, "; nights that may name them: ", appended);
	reached_add_by_hand(reached, "spreadsheet", *sheet ? sheet : "the one that [export] sheet named then", words);
	one = json_array_get(reached->by_hand, json_array_size(reached->by_hand) - 1);
	json_object_set_new(one, "carts", names_of(erasure->carts));
	json_object_set_new(one, "days", names_of(appended));
}

/* Names the spreadsheet if nights were or are appended to it. */
static void name_sheets(const struct erasure *erasure, struct reached *reached)
{
	struct sheets sheets = { .days = erasure->days, .appended = json_object() };
	struct shop shop = { 0 };
	char path[PATH_ROOM];

	command_shop_path(erasure->command, erasure->shop, "shop.conf", path);
	command_shop_beside(path, &shop); /* a removed shop has no shop.conf, which is no error here */
	if (reading_each(erasure->command, erasure->client,
		    &(struct reading_filter){ .topic = "sheet.done", .shop = erasure->shop }, note_sheet, &sheets))
		reached->failed = true;
	if (json_object_size(erasure->carts) > 0 && (*shop.google.sheet || json_object_size(sheets.appended) > 0))
		name_sheet(erasure, reached, shop.google.sheet, sheets.appended);
	json_decref(sheets.appended);
}

static void name_owners(const struct erasure *erasure, struct reached *reached)
{
	const char *key;
	const json_t *seq;

	json_object_foreach(erasure->owners, key, seq)
	{
		if (json_integer_value(seq) > 0)
			reached_add_by_hand(reached, "what you wrote", key,
				"it names this person: take that out and erase again; older versions go then");
	}
}

/* A restore puts aside the old states, which only this restore may need once more. */
static void name_put_aside(const struct erasure *erasure, struct reached *reached)
{
	const char *state = config_get(erasure->command->config, "paths", NULL, "state");
	_cleanup_(closedirp) DIR *listing = opendir(state);
	struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		char path[PATH_ROOM + 300];

		if (!text_starts(entry->d_name, "before-restore-"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", state, entry->d_name);
		reached_add_by_hand(reached, "put aside by a restore", path,
			"delete it once the restore is released: it is as it was before");
	}
}

/*
 * The broker puts aside a side log that was damaged or belongs to an earlier log. These files hold messages
 * word for word, and nothing erases from them.
 */
static void name_sidelogs(const struct erasure *erasure, struct reached *reached)
{
	char folder[PATH_ROOM];
	_cleanup_(closedirp) DIR *listing = NULL;
	struct dirent *entry;

	snprintf(folder, sizeof(folder), "%.480s/" SIDELOG_FOLDER,
		config_get(erasure->command->config, "paths", NULL, "state"));
	listing = opendir(folder);
	while (listing && (entry = readdir(listing))) {
		char path[PATH_ROOM + 300];

		if (!text_starts(entry->d_name, SIDELOG_FILE "."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		reached_add_by_hand(reached, "side log put aside", path,
			"make a backup (cartbus backup), then delete it: it is as it was before");
	}
}

static bool has_session(const json_t *status, const char *instance)
{
	const json_t *session;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		if (strcmp(member_text(session, "instance"), instance) == 0 ||
			strcmp(member_text(session, "service"), instance) == 0)
			return true;
	}
	return false;
}

/* A running service folds anew at once; a stopped service does so at its next start. */
static void name_who_is_away(const struct erasure *erasure, struct reached *reached)
{
	const char *state = config_get(erasure->command->config, "paths", NULL, "state");
	json_t *status = command_look(erasure->command, erasure->client, "status", NULL);
	_cleanup_(closedirp) DIR *listing = opendir(state);
	struct dirent *entry;

	while (status && listing && (entry = readdir(listing))) {
		char path[PATH_ROOM + 300], current[PATH_ROOM + 320];

		snprintf(path, sizeof(path), "%s/%s", state, entry->d_name);
		snprintf(current, sizeof(current), "%s/CURRENT", path);
		if (strcmp(entry->d_name, "broker") != 0 && access(current, F_OK) == 0 &&
			!has_session(status, entry->d_name))
			reached_add_by_hand(reached, "state of a service that does not run", path,
				"start it: it folds anew then, without this person; or delete its files");
	}
	json_decref(status);
}

void erase_by_hand(const struct erasure *erasure, struct reached *reached)
{
	name_sheets(erasure, reached);
	name_owners(erasure, reached);
	name_put_aside(erasure, reached);
	name_sidelogs(erasure, reached);
	name_who_is_away(erasure, reached);
}

/* --- printing --- */

static void print_file(const json_t *file, bool dry_run)
{
	json_int_t rows = json_integer_value(json_object_get(file, "rows"));

	if (!json_is_true(json_object_get(file, "removed")))
		printf("%s", dry_run ? "would remove" : "left");
	else if (rows > 0)
		printf("removed %lld row%s of", (long long)rows, rows == 1 ? "" : "s");
	else
		printf("removed");
	printf(" %s: %s\n", member_text(file, "what"), member_text(file, "path"));
}

void reached_print(const struct reached *reached, bool dry_run)
{
	const json_t *one;
	size_t i;

	json_array_foreach(reached->files, i, one) print_file(one, dry_run);
	json_array_foreach(reached->backups, i, one)
	{
		if (json_is_true(json_object_get(one, "done")))
			printf("erased %lld messages in the backup %s\n",
				(long long)json_integer_value(json_object_get(one, "messages")),
				member_text(one, "path"));
		else
			printf("%s the backup %s\n",
				dry_run ? "would erase in" : "left as it was:", member_text(one, "path"));
	}
	reached_print_by_hand(reached, stdout);
	puts("\nThe keyed hash of the address stays on the list of who is not mailed. Not reached, because nobody here "
	     "knows of them: copies of backups elsewhere (`cartbus backup --erase DIR`; a restore of one does it by "
	     "itself), mails that arrived, and what the mail server and the storefront keep.");
}

void reached_print_by_hand(const struct reached *reached, FILE *to)
{
	const json_t *one;
	size_t i;

	if (json_array_size(reached->by_hand) > 0)
		fputs("\nBy hand, because only you can:\n", to);
	json_array_foreach(reached->by_hand, i, one) fprintf(
		to, "- %s %s: %s\n", member_text(one, "what"), member_text(one, "where"), member_text(one, "do"));
	fflush(to);
}
