/*
 * backup.c: `cartbus backup`: makes a verified copy of the log, while everything runs
 *
 * Promises: the copy is one moment of the log: all messages that were confirmed before the request, and the
 *           blobs that they name. The broker is held up for moments only: it makes a snapshot that shares its
 *           files, and the command copies that. No erasure runs meanwhile. An unfinished copy is removed.
 * Read next: backup_folder.c, backup_shelf.c (each night), erase_copy.c (erases persons from it),
 *            bus/broker/admin/answer_admin.c
 */
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/backup/backup_shelf.h"
#include "services/cartbus/backup/blobs.h"
#include "services/cartbus/backup/subcommands.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/people/erase_copy.h"
#include "services/cartbus/people/erasures.h"
#include "services/kit/blobs/blob_places.h"

#include "bus/actor/runtime/sidelog.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PATH_BYTES = 900 };

DEFINE_CLEANUP(DIR *, closedir)

static json_t *take_snapshot(const struct command *command)
{
	struct client *client = command_connect(command);
	json_t *snapshot = command_ask(command, client, "snapshot", NULL);

	client_free(client);
	return snapshot;
}

/*
 * The copy holds no person whose erasure is complete. The list goes along for copies that still hold an
 * erased person.
 */
static int write_note(const struct command *command, const char *folder, json_t *snapshot, json_t *files, json_t *list,
	const struct backup_sum *blobs)
{
	char path[PATH_BYTES];
	json_t *note = json_pack("{s:s,s:O,s:O*,s:O,s:O,s:O,s:o}", "made_by", "cartbus " CARTBUS_VERSION, "log",
		json_object_get(snapshot, "log"), "origin", json_object_get(snapshot, "origin"), "head",
		json_object_get(snapshot, "head"), "at_us", json_object_get(snapshot, "at_us"), "files", files,
		"erased", erasures_ids(list, true));
	int ended;

	backup_blobs_note(note, blobs);
	snprintf(path, sizeof(path), "%s/erasures.json", folder);
	ended = erasures_write(command, path, list);
	ended = ended ? ended : backup_note_beside(command, folder, note);
	ended = ended ? ended : backup_write_note(command, folder, note);
	json_decref(note);
	return ended;
}

static void print_backup(const struct command *command, const char *what, const char *folder, const json_t *of,
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

/* Copies the side log beside the log: it tells what forbids a mail even if the copy of the log is damaged. */
static int copy_sidelog(const struct command *command, const char *folder)
{
	_cleanup_(buffer_free) struct buffer content = { 0 };
	char from[PATH_BYTES], to[PATH_BYTES];
	int r;

	snprintf(from, sizeof(from), "%.500s/" SIDELOG_FOLDER "/" SIDELOG_FILE,
		config_get(command->config, "paths", NULL, "state"));
	snprintf(to, sizeof(to), "%.500s/" SIDELOG_FILE, folder);
	r = file_read(from, SIDELOG_MOST, &content);
	if (r == -ENOENT)
		return EXIT_FINE;
	if (r == 0)
		r = file_write_durably(to, buffer_bytes(&content), 0600);
	if (r < 0)
		complain(command, "%s could not be copied to %s: %s", from, to, strerror(-r));
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

static int copy_snapshot(const struct command *command, json_t *snapshot, const char *folder, json_t *list)
{
	const char *path = json_string_value(json_object_get(snapshot, "path"));
	json_t *files = json_array();
	struct backup_sum sum, blobs;
	char to[PATH_BYTES];
	int ended;

	snprintf(to, sizeof(to), "%s/broker", folder);
	ended = backup_copy(command, path, to, files, &sum);
	if (ended == EXIT_FINE)
		ended = copy_sidelog(command, folder);
	if (ended == EXIT_FINE)
		ended = backup_blobs_copy(command, folder, &blobs); /* after the log, which may name them */
	if (ended == EXIT_FINE)
		ended = write_note(command, folder, snapshot, files, list, &blobs);
	if (ended == EXIT_FINE)
		ended = backup_verify(command, folder, &sum, NULL);
	if (ended == EXIT_FINE)
		print_backup(command, "backed up to", folder, snapshot, &sum);
	if (ended == EXIT_FINE && !command->json)
		puts("Keep the secrets beside it (address.key, link.key, bounce.key, the shops'): they are not in it.");
	json_decref(files);
	return ended;
}

static json_t *read_erasures(const struct command *command)
{
	char path[PATH_ROOM];

	erasures_path(command, path);
	return erasures_read(command, path);
}

static uint64_t bytes_in(const char *folder)
{
	_cleanup_(closedirp) DIR *listing = opendir(folder);
	struct dirent *entry;
	uint64_t bytes = 0;

	while (listing && (entry = readdir(listing))) {
		struct stat about;

		if (fstatat(dirfd(listing), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode))
			bytes += (uint64_t)about.st_size;
	}
	return bytes;
}

/*
 * On the log's own disk, `headrooms` headrooms must stay free; with less than one the broker takes nothing
 * new.
 */
static int look_for_disk_space(const struct command *command, const char *log, const char *folder, unsigned headrooms)
{
	struct stat of_log, of_copy;
	struct statvfs disk;
	char blobs[PATH_MAX];
	uint64_t free_bytes, needed = bytes_in(log);

	blob_places_root(config_get(command->config, "paths", NULL, "state"), blobs);
	needed += backup_blobs_bytes(blobs);

	if (stat(log, &of_log) < 0 || stat(folder, &of_copy) < 0 || statvfs(folder, &disk) < 0) {
		complain(command, "%s: %s", folder, strerror(errno));
		return EXIT_NO;
	}
	free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	if (of_log.st_dev == of_copy.st_dev)
		needed += headrooms * disk_headroom(command->config, (uint64_t)disk.f_blocks * disk.f_frsize);
	if (free_bytes >= needed)
		return EXIT_FINE;
	complain(command,
		"%s: %llu MiB are free, and %llu are needed: for the copy%s. Make room, keep fewer, or name a folder "
		"on another disk",
		folder, (unsigned long long)(free_bytes >> 20), (unsigned long long)(needed >> 20) + 1,
		of_log.st_dev == of_copy.st_dev ? ", and for the log beside it to go on growing" : "");
	return EXIT_NO;
}

int backup_make(const struct command *command, const char *folder, unsigned headrooms)
{
	json_t *list = read_erasures(command), *snapshot = NULL;
	int ended = list ? backup_remember(command, folder) : EXIT_NO;

	backup_remove_snapshots(command);
	if (!ended)
		snapshot = take_snapshot(command);
	ended = snapshot
		? look_for_disk_space(command, json_string_value(json_object_get(snapshot, "path")), folder, headrooms)
		: EXIT_NO;
	if (!ended)
		ended = copy_snapshot(command, snapshot, folder, list);
	backup_remove_snapshots(command);
	json_decref(snapshot);
	json_decref(list);
	return ended;
}

static int backup(const struct command *command, const char *folder)
{
	int lock = -1, ended, r;

	client_free(command_connect(command)); /* without a broker the command ends here, and leaves no folder */
	ended = backup_lock(command, &lock);
	if (ended)
		return ended;
	r = backup_folder_make(folder);
	if (r < 0)
		complain(command, "%s: %s", folder,
			r == -ENOTEMPTY ? "it is not empty: name a new folder" : strerror(-r));
	ended = r < 0 ? EXIT_NO : backup_make(command, folder, 1);
	if (r == 0 && ended)
		backup_remove_tree(folder); /* an incomplete copy is no backup */
	if (!ended)
		ended = erase_copies_again(command, NULL);
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
		print_backup(command, "verified", folder, note, &sum);
	json_decref(note);
	return ended;
}

int command_backup(struct command *command, int argc, char **argv)
{
	bool only_verify = false, erases = false;
	const char *folder = NULL, *more = NULL;
	const struct take takes[] = { { "verify", NULL, "check a backup that was made before: every file, byte by byte",
					      NULL, &only_verify },
		{ "erase", NULL, "persons who were erased since it was made leave it, too", NULL, &erases },
		{ "erasures", "FILE", "with --erase: a list of who was erased, or a backup that has one", &more, NULL },
		{ 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "[DIR]",
			.words = &folder,
			.words_least = 0,
			.words_most = 1,
			.no_config_with = &only_verify,
			.help = "Copies the log, as it is at this moment, into the new or empty folder DIR, while "
				"everything runs, and checks the copy. It runs on the broker's machine, as a user that "
				"may read its state. The services' own state is not in it: it is folded from the log. "
				"Without DIR, as a timer has it each night: into a folder of its own in [backup] "
				"folder, and older ones there go, but for [backup] keep of them and the newest that "
				"was verified. --verify without DIR, each week: the newest of these, and its log is "
				"read as a whole. With DIR it needs nothing but that folder, on any machine.\v"
				"Examples:\n  cartbus backup /srv/backup/$(date +%F)\n  cartbus backup --verify "
				"/srv/backup/2026-11-21\n  cartbus backup --erase /mnt/copy/2026-11-21\n  cartbus "
				"backup" });
	if (erases && only_verify) {
		complain(command, "--verify or --erase, not both");
		return EXIT_USAGE;
	}
	if (erases && !folder) {
		complain(command, "say which backup: cartbus backup --erase DIR");
		return EXIT_USAGE;
	}
	if (erases)
		return erase(command, folder, more);
	if (!folder)
		return only_verify ? backup_verify_newest(command) : backup_scheduled(command);
	return only_verify ? verify(command, folder) : backup(command, folder);
}
