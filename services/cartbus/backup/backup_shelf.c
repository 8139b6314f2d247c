/*
 * backup_shelf.c: makes the scheduled copies: `cartbus backup` without a folder, each night, and `cartbus
 * backup --verify` without a folder, each week
 *
 * Owns:      the entries of [backup] folder that have the name of a scheduled copy. It touches no other
 *            entries.
 * Promises:  an older copy is removed only after a newer one was made and checked. The copy that was last
 *            proved sound stays until another one is proved, however many are made meanwhile, because a
 *            damaged log is copied damaged. A failed copy leaves nothing behind; the next run removes what a
 *            power cut left. The record tells the monitor of each success and failure.
 * Fails by:  the record `backup_failed` or `backup_damaged`, which raises an alarm, and an exit code. Without
 *            a broker it tells nobody; the monitor raises an alarm when no backup was made for two days.
 * Read next: backup.c, systemd/cartbus-backup.timer, services/platform/monitor/backups.c
 */
#include "services/cartbus/backup/backup_shelf.h"

#include "bus/actor/client.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/core/home.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/people/erase_copy.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

DEFINE_CLEANUP(DIR *, closedir)

static const char NAME_FORMAT[] = "%Y-%m-%dT%H%M%SZ";

void shelf_name(int64_t wall_us, char ret[SHELF_NAME])
{
	time_t at = (time_t)(wall_us / US_PER_S);
	struct tm parts;

	strftime(ret, SHELF_NAME, NAME_FORMAT, gmtime_r(&at, &parts));
}

static bool is_name(const char *name)
{
	struct tm parts = { 0 };
	char again[SHELF_NAME] = "";
	const char *end = strptime(name, NAME_FORMAT, &parts);

	return end && !*end && strftime(again, sizeof(again), NAME_FORMAT, &parts) && strcmp(again, name) == 0;
}

void shelf_path(const struct shelf *shelf, const char *name, char ret[PATH_ROOM + SHELF_NAME])
{
	snprintf(ret, PATH_ROOM + SHELF_NAME, "%s/%s", shelf->folder, name);
}

static int64_t number(const json_t *note, const char *name)
{
	return json_integer_value(json_object_get(note, name));
}

static void add(struct shelf *shelf, const char *name)
{
	char path[PATH_ROOM + SHELF_NAME];
	struct shelf_copy *copy;
	json_t *note;

	shelf_path(shelf, name, path);
	note = backup_note_if_any(path);
	shelf->copies = memory_resize(shelf->copies, (shelf->count + 1) * sizeof(*shelf->copies));
	copy = &shelf->copies[shelf->count++];
	*copy = (struct shelf_copy){
		.is_whole = note, .at_us = number(note, "at_us"), .proved_us = number(note, "proved_us")
	};
	TEXT_COPY(copy->name, name);
	json_decref(note);
}

static int by_name_backwards(const void *a, const void *b)
{
	return -strcmp(((const struct shelf_copy *)a)->name, ((const struct shelf_copy *)b)->name);
}

int shelf_read(const struct command *command, struct shelf *ret)
{
	_cleanup_(closedirp) DIR *listing = NULL;
	struct dirent *entry;

	*ret = (struct shelf){ 0 };
	snprintf(ret->folder, sizeof(ret->folder), "%s", config_get(command->config, "backup", NULL, "folder"));
	listing = opendir(ret->folder);
	if (!listing)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(listing)))
		if (is_name(entry->d_name))
			add(ret, entry->d_name);
	if (ret->count)
		qsort(ret->copies, ret->count, sizeof(*ret->copies), by_name_backwards);
	return 0;
}

void shelf_free(struct shelf *shelf)
{
	free(shelf->copies);
	*shelf = (struct shelf){ 0 };
}

size_t shelf_keep(const struct command *command)
{
	return (size_t)config_number(command->config, "backup", NULL, "keep");
}

const struct shelf_copy *shelf_newest(const struct shelf *shelf)
{
	for (size_t i = 0; i < shelf->count; i++)
		if (shelf->copies[i].is_whole)
			return &shelf->copies[i];
	return NULL;
}

const struct shelf_copy *shelf_newest_proved(const struct shelf *shelf)
{
	for (size_t i = 0; i < shelf->count; i++)
		if (shelf->copies[i].is_whole && shelf->copies[i].proved_us)
			return &shelf->copies[i];
	return NULL;
}

void shelf_choose(struct shelf_copy *copies, size_t count, size_t keep)
{
	size_t whole = 0;
	bool has_proved = false;

	for (size_t i = 0; i < count; i++) {
		struct shelf_copy *copy = &copies[i];
		bool is_proof = copy->is_whole && copy->proved_us && !has_proved;

		copy->goes = !copy->is_whole || (whole >= keep && !is_proof);
		has_proved = has_proved || is_proof;
		whole += copy->is_whole;
	}
}

/* ---- for the timers of systemd ---- */

enum { WORDS_MAX = 400 };

/* Complaints go to the journal, and the first one also goes to the record. */
struct heard {
	const char *name;
	char words[WORDS_MAX];
};

static void hear(const char *words, void *context)
{
	struct heard *heard = context;

	fprintf(stderr, "cartbus %s: %s\n", heard->name, words);
	if (!heard->words[0])
		TEXT_COPY(heard->words, words);
}

static void note_down(struct command *command, const char *action, const char *grounds, const char *path)
{
	command->hear = NULL;
	record_file(command,
		&(struct record){
			.shop = SHOP_OF_ALL, .action = action, .grounds = grounds, .after = path, .who = "system" });
}

static void remove_those_that_go(const struct command *command, struct shelf *shelf)
{
	char path[PATH_ROOM + SHELF_NAME];

	for (size_t i = 0; i < shelf->count; i++) {
		if (!shelf->copies[i].goes)
			continue;
		shelf_path(shelf, shelf->copies[i].name, path);
		backup_remove_tree(path);
		if (!command->json)
			printf("removed %s%s\n", path, shelf->copies[i].is_whole ? "" : ", which was not whole");
	}
}

static void make_place(const struct command *command, size_t keep)
{
	struct shelf shelf;

	if (shelf_read(command, &shelf) == 0) {
		shelf_choose(shelf.copies, shelf.count, keep);
		remove_those_that_go(command, &shelf);
		backup_forget_gone(command); /* or backups.json would grow by one each day */
	}
	shelf_free(&shelf);
}

static int open_folder(const struct command *command, const struct shelf *shelf, const char *path)
{
	int r = file_make_folders(shelf->folder, 0700);

	r = r < 0 ? r : backup_folder_make(path);
	if (r == -EROFS || r == -EACCES)
		complain(command,
			"%s cannot be written (%s): may the unit? systemctl edit cartbus-backup, [Service] "
			"ReadWritePaths=%s",
			shelf->folder, strerror(-r), shelf->folder);
	else if (r < 0)
		complain(command, "%s: %s", path, strerror(-r));
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

/* `path` gets the path of the new copy, also if the copy fails. */
static int make_next(struct command *command, size_t keep, char path[PATH_ROOM + SHELF_NAME])
{
	struct shelf shelf;
	char name[SHELF_NAME];
	int r = shelf_read(command, &shelf), ended;

	if (r < 0)
		complain(command, "%s: %s", shelf.folder, strerror(-r));
	for (size_t i = 0; i < shelf.count; i++)
		shelf.copies[i].goes = !shelf.copies[i].is_whole; /* it takes the space that the new copy needs */
	remove_those_that_go(command, &shelf);
	shelf_name(clock_wall_us(&command->clock), name);
	shelf_path(&shelf, name, path);
	ended = r < 0 ? EXIT_NO : open_folder(command, &shelf, path);
	if (ended == EXIT_FINE) {
		ended = backup_make(command, path, DISK_HEADROOMS);
		if (ended != EXIT_FINE)
			backup_remove_tree(path);
	}
	shelf_free(&shelf);
	if (ended == EXIT_FINE)
		make_place(command, keep);
	return ended;
}

int backup_scheduled(struct command *command)
{
	struct heard heard = { .name = command->name };
	char path[PATH_ROOM + SHELF_NAME] = "";
	size_t keep = shelf_keep(command);
	int lock = -1, ended, erased = EXIT_FINE;

	if (keep == 0) {
		puts("Nothing to do: [backup] keep is 0. To back up elsewhere: cartbus backup DIR");
		return EXIT_FINE;
	}
	client_free(command_connect(command)); /* without a broker the command ends here */
	command->hear = hear;
	command->hearer = &heard;
	ended = backup_lock(command, &lock);
	if (ended == EXIT_FINE)
		erased = erase_copies_again(command, config_get(command->config, "backup", NULL, "folder"));
	if (ended == EXIT_FINE)
		ended = make_next(command, keep, path);
	ended = ended ? ended : erased;
	note_down(command, ended ? "backup_failed" : "backed_up", heard.words, ended ? NULL : path);
	if (lock >= 0)
		close(lock);
	return ended;
}

/* ---- the newest copy, read as a whole ---- */

/* Reads the log as `cartbus verify` does; the findings go to this command's output. */
static int prove(const struct command *command, const char *path, const json_t *note)
{
	char program[PATH_ROOM + 20], folder[PATH_ROOM];
	int status = -1;
	pid_t child;

	snprintf(program, sizeof(program), "%s/cartbus-broker", programs_folder());
	backup_log_path(path, note, folder);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (command->json && !freopen("/dev/null", "w", stdout))
			_exit(1);
		execl(program, program, "--verify", "--config", command->config_path, "--folder", folder, (char *)NULL);
		_exit(127);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
		return EXIT_FINE;
	complain(command, "the log in %s is not sound: cartbus verify %s says what is wrong", path, folder);
	return EXIT_NO;
}

static int verify_one(const struct command *command, const char *path)
{
	json_t *note = NULL;
	struct backup_sum sum;
	int ended = backup_verify(command, path, &sum, &note);

	if (ended == EXIT_FINE)
		ended = prove(command, path, note);
	if (ended == EXIT_FINE) {
		json_object_set_new(note, "proved_us", json_integer(clock_wall_us(&command->clock)));
		ended = backup_write_note(command, path, note);
	}
	if (ended == EXIT_FINE && command->json)
		json_print(note);
	else if (ended == EXIT_FINE)
		printf("verified %s: every file, and the log in it is sound\n", path);
	json_decref(note);
	return ended;
}

static int verify_newest(const struct command *command, char path[PATH_ROOM + SHELF_NAME])
{
	struct shelf shelf;
	int r = shelf_read(command, &shelf), ended = EXIT_NO;
	const struct shelf_copy *newest = shelf_newest(&shelf);

	if (newest) {
		shelf_path(&shelf, newest->name, path);
		ended = verify_one(command, path);
	} else {
		complain(command, "%s: %s", shelf.folder, r < 0 ? strerror(-r) : "there is no backup yet");
	}
	shelf_free(&shelf);
	return ended;
}

int backup_verify_newest(struct command *command)
{
	struct heard heard = { .name = command->name };
	char path[PATH_ROOM + SHELF_NAME] = "";
	size_t keep = shelf_keep(command);
	int lock = -1, ended;

	if (keep == 0) {
		puts("Nothing to do: [backup] keep is 0. To check another: cartbus backup --verify DIR");
		return EXIT_FINE;
	}
	command->hear = hear;
	command->hearer = &heard;
	ended = backup_lock(command, &lock); /* an erasure replaces the files of a copy */
	if (ended == EXIT_FINE)
		ended = verify_newest(command, path);
	if (path[0])
		note_down(command, ended ? "backup_damaged" : "backup_verified", heard.words, path);
	if (lock >= 0)
		close(lock);
	return ended;
}
