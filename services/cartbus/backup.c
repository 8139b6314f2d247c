/*
 * backup.c: `cartbus backup`: a verified copy of the log, while everything runs
 *
 * Promises: what the copy holds is a moment of the log: everything that was confirmed before it was asked for. The broker is held up
 *           for moments only: it makes a snapshot that shares its files, and they are copied from there. No erasure is under
 *           way meanwhile.
 * Read next: backup_folder.c, erase_copy.c (who was erased leaves it), bus/broker/answer_care.c
 */
#include "services/cartbus/backup_folder.h"
#include "services/cartbus/erase_copy.h"
#include "services/cartbus/erasures.h"
#include "services/cartbus/print.h"
#include "services/cartbus/reading.h"

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 900 };

static json_t *take_snapshot(const struct command *command)
{
	struct client *client = command_connect(command);
	json_t *snapshot = command_ask(command, client, "snapshot", NULL);

	client_free(client);
	return snapshot;
}

/* Whoever was erased to the end by now is not in the copy; the list goes along, for those copies that hold somebody yet. */
static int write_note(const struct command *command, const char *folder, json_t *snapshot, json_t *files, json_t *list)
{
	char path[PATH_BYTES];
	json_t *note = json_pack("{s:s,s:O,s:O,s:O,s:O,s:o}", "made_by", "cartbus " CARTBUS_VERSION, "log",
		json_object_get(snapshot, "log"), "head", json_object_get(snapshot, "head"), "at_us",
		json_object_get(snapshot, "at_us"), "files", files, "erased", erasures_ids(list, true));
	int ended;

	snprintf(path, sizeof(path), "%s/erasures.json", folder);
	ended = erasures_write(command, path, list);
	ended = ended ? ended : backup_write_note(command, folder, note);
	json_decref(note);
	return ended;
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

static int copy_snapshot(const struct command *command, json_t *snapshot, const char *folder, json_t *list)
{
	const char *path = json_string_value(json_object_get(snapshot, "path"));
	json_t *files = json_array();
	struct backup_sum sum;
	char to[PATH_BYTES];
	int ended;

	snprintf(to, sizeof(to), "%s/broker", folder);
	ended = backup_copy(command, path, to, files, &sum);
	if (ended == EXIT_FINE)
		ended = write_note(command, folder, snapshot, files, list);
	if (ended == EXIT_FINE)
		ended = backup_verify(command, folder, &sum, NULL);
	if (ended == EXIT_FINE)
		tell(command, "backed up to", folder, snapshot, &sum);
	if (ended == EXIT_FINE && !command->json)
		puts("Keep the secrets beside it (address.key, link.key, the shops'): they are not in it.");
	json_decref(files);
	return ended;
}

static json_t *read_erasures(const struct command *command)
{
	char path[PATH_ROOM];

	erasures_path(command, path);
	return erasures_read(command, path);
}

static int make(const struct command *command, const char *folder)
{
	json_t *list = read_erasures(command), *snapshot = NULL;
	int ended = list ? backup_remember(command, folder) : EXIT_NO;

	backup_remove_snapshots(command);
	if (!ended)
		snapshot = take_snapshot(command);
	ended = snapshot ? copy_snapshot(command, snapshot, folder, list) : EXIT_NO;
	backup_remove_snapshots(command);
	json_decref(snapshot);
	json_decref(list);
	return ended;
}

static int backup(const struct command *command, const char *folder)
{
	int lock = -1, ended = backup_lock(command, &lock), r;

	if (ended)
		return ended;
	r = backup_folder_make(folder);
	if (r < 0)
		complain(command, "%s: %s", folder,
			r == -ENOTEMPTY ? "it is not empty: name a new folder" : strerror(-r));
	ended = r < 0 ? EXIT_NO : make(command, folder);
	close(lock);
	return ended;
}

static int erase(const struct command *command, const char *folder, const char *more)
{
	int lock = -1, ended = backup_lock(command, &lock);
	json_t *list = ended ? NULL : erase_copy_list(command, folder, more);
	size_t erased = 0;

	ended = list ? erase_copy(command, folder, list, &erased) : EXIT_NO;
	if (!ended && command->json) {
		json_t *whole = json_pack("{s:s,s:I,s:I}", "folder", folder, "persons",
			(json_int_t)json_array_size(list), "messages", (json_int_t)erased);

		json_print(whole);
		json_decref(whole);
	} else if (!ended)
		printf("%s holds none of the %zu who were erased; %zu messages went\n", folder, json_array_size(list),
			erased);
	json_decref(list);
	if (lock >= 0)
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
	bool only_verify = false, erases = false;
	const char *folder, *more = NULL;
	const struct take takes[] = { { "verify", NULL, "check a backup that was made before: every file, byte by byte",
					      NULL, &only_verify },
		{ "erase", NULL, "whoever was erased since it was made leaves it, too", NULL, &erases },
		{ "erasures", "FILE", "with --erase: a list of who was erased, or a backup that has one", &more, NULL },
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
				"/srv/backup/2026-11-21\n  cartbus backup --erase /mnt/copy/2026-11-21" });
	if (erases)
		return erase(command, folder, more);
	return only_verify ? verify(command, folder) : backup(command, folder);
}
