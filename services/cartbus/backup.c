/*
 * backup.c: `cartbus backup`: a verified copy of the log, while everything runs
 *
 * Promises: what the copy holds is a moment of the log: everything that was confirmed before it was asked for. The broker is held up
 *           for moments only: it makes a snapshot that shares its files, and they are copied from there.
 * Read next: backup_folder.c, bus/broker/answer_care.c
 */
#include "services/cartbus/backup_folder.h"
#include "services/cartbus/print.h"
#include "services/cartbus/reading.h"

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 900 };
static const char SNAPSHOT[] = "snapshot-";

DEFINE_CLEANUP(DIR *, closedir)

/* What a backup that was killed left behind. Only one runs at a time: the lock is held. */
static void remove_leftovers(const char *state)
{
	_cleanup_(closedirp) DIR *listing = opendir(state);
	struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		char path[PATH_BYTES];

		if (!text_starts(entry->d_name, SNAPSHOT))
			continue;
		snprintf(path, sizeof(path), "%s/%s", state, entry->d_name);
		backup_remove_folder(path);
	}
}

static json_t *take_snapshot(const struct command *command)
{
	struct client *client = command_connect(command);
	json_t *snapshot = command_ask(command, client, "snapshot", NULL);

	client_free(client);
	return snapshot;
}

static int write_note(const struct command *command, const char *folder, json_t *snapshot, json_t *files)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_BYTES];
	json_t *note = json_pack("{s:s,s:O,s:O,s:O,s:O}", "made_by", "cartbus " CARTBUS_VERSION, "log",
		json_object_get(snapshot, "log"), "head", json_object_get(snapshot, "head"), "at_us",
		json_object_get(snapshot, "at_us"), "files", files);
	int r;

	text = json_dumps(note, JSON_INDENT(1));
	json_decref(note);
	snprintf(path, sizeof(path), "%s/backup.json", folder);
	r = file_write_new(path, bytes_of(text ? text : ""), 0600);
	if (r == 0)
		r = file_sync_folder(folder);
	if (r < 0)
		complain(command, "%s: %s", path, strerror(-r));
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

static void tell(const struct command *command, const char *what, const char *folder, const json_t *of,
	const struct backup_sum *sum)
{
	long long head = json_integer_value(json_object_get(of, "head"));
	json_t *whole = json_pack("{s:s,s:s,s:O,s:I,s:I,s:I}", "folder", folder, "done", what, "log",
		json_object_get(of, "log"), "head", (json_int_t)head, "files", (json_int_t)sum->files, "bytes",
		(json_int_t)sum->bytes);

	if (command->json)
		json_print(whole);
	else
		printf("%s %s: the log up to message %lld, %llu files, %.1f MiB\n", what, folder, head,
			(unsigned long long)sum->files, (double)sum->bytes / (1 << 20));
	json_decref(whole);
}

static int copy_snapshot(const struct command *command, json_t *snapshot, const char *folder)
{
	const char *path = json_string_value(json_object_get(snapshot, "path"));
	json_t *files = json_array();
	struct backup_sum sum;
	char to[PATH_BYTES];
	int ended;

	snprintf(to, sizeof(to), "%s/broker", folder);
	ended = backup_copy(command, path, to, files, &sum);
	if (ended == EXIT_FINE)
		ended = write_note(command, folder, snapshot, files);
	if (ended == EXIT_FINE)
		ended = backup_verify(command, folder, &sum, NULL);
	if (ended == EXIT_FINE)
		tell(command, "backed up to", folder, snapshot, &sum);
	if (ended == EXIT_FINE && !command->json)
		puts("Keep the secrets beside it (address.key, link.key, the shops'): they are not in it.");
	json_decref(files);
	return ended;
}

static int backup(const struct command *command, const char *folder)
{
	const char *state = config_get(command->config, "paths", NULL, "state");
	char lock_path[PATH_BYTES];
	int lock = -1, ended = EXIT_NO, r;
	json_t *snapshot;

	snprintf(lock_path, sizeof(lock_path), "%s/.backup.lock", state);
	r = file_lock(lock_path, &lock);
	if (r < 0) {
		complain(command, "%s: %s", lock_path, r == -EBUSY ? "another backup is running" : strerror(-r));
		return EXIT_NO;
	}
	r = backup_folder_make(folder);
	if (r < 0) {
		complain(command, "%s: %s", folder,
			r == -ENOTEMPTY ? "it is not empty: name a new folder" : strerror(-r));
		close(lock);
		return EXIT_NO;
	}
	remove_leftovers(state);
	snapshot = take_snapshot(command);
	if (snapshot)
		ended = copy_snapshot(command, snapshot, folder);
	remove_leftovers(state);
	json_decref(snapshot);
	close(lock);
	return ended;
}

static int verify(const struct command *command, const char *folder)
{
	struct backup_sum sum;
	json_t *note = NULL;
	int ended = backup_verify(command, folder, &sum, &note);

	if (ended == EXIT_FINE)
		tell(command, "verified", folder, note, &sum);
	json_decref(note);
	return ended;
}

int command_backup(struct command *command, int argc, char **argv)
{
	bool only_verify = false;
	const char *folder;
	const struct take takes[] = { { "verify", NULL, "check a backup that was made before: every file, byte by byte",
					      NULL, &only_verify },
		{ 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "DIR",
			.words = &folder,
			.words_least = 1,
			.words_most = 1,
			.help = "Copies the log, as it is at this moment, into the new or empty folder DIR, while "
				"everything "
				"runs, and checks the copy. It runs on the broker's machine, as a user that may read "
				"its "
				"state. The services' own state is not in it: it is folded from the log.\v"
				"Examples:\n  cartbus backup /srv/backup/$(date +%F)\n  cartbus backup --verify "
				"/srv/backup/2026-11-21" });
	return only_verify ? verify(command, folder) : backup(command, folder);
}
