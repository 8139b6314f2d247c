/*
 * backup_scheduled.c: `cartbus backup` without a folder, each night, and `cartbus backup --verify` without one, each week
 *
 * Owns:      what lies in [backup] folder under names of its own.
 * Promises:  an older copy goes when a newer one was made and checked, and not before. One that failed leaves nothing behind; what a
 *            power cut left is removed by the next. The monitor is told by the record, either way.
 * Fails by:  the record `backup_failed` or `backup_damaged`, which alarms, and an exit. Without a broker there is nobody to tell: the
 *            monitor alarms when no backup was made for two days.
 * Read next: backup.c, backup_shelf.c, systemd/cartbus-backup.timer, services/platform/monitor/backups.c
 */
#include "services/cartbus/backup/backup_scheduled.h"
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/backup/backup_shelf.h"
#include "services/cartbus/core/home.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/people/erase_copy.h"

#include "bus/actor/client.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 400 };

/* What is complained about is for the journal as well as for the record, which takes the first of it. */
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

/* backups.json would name one more each day. */
static void forget(const char *folder, enum backup_found found, void *context)
{
	(void)folder, (void)found, (void)context;
}

static void make_place(const struct command *command, size_t keep)
{
	struct shelf shelf;

	if (shelf_read(command, &shelf) == 0) {
		shelf_choose(shelf.copies, shelf.count, keep);
		remove_those_that_go(command, &shelf);
		backup_each_known(command, forget, NULL);
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

/* path: the copy's, if it was made */
static int make_next(struct command *command, size_t keep, char path[PATH_ROOM + SHELF_NAME])
{
	struct shelf shelf;
	char name[SHELF_NAME];
	int r = shelf_read(command, &shelf), ended;

	if (r < 0)
		complain(command, "%s: %s", shelf.folder, strerror(-r));
	for (size_t i = 0; i < shelf.count; i++)
		shelf.copies[i].goes = !shelf.copies[i].is_whole; /* it takes the room that this one needs */
	remove_those_that_go(command, &shelf);
	shelf_name(clock_wall_us(&command->clock), name);
	shelf_path(&shelf, name, path);
	ended = r < 0 ? EXIT_NO : open_folder(command, &shelf, path);
	if (ended == EXIT_FINE) {
		ended = backup_make(command, path, ROOM_HEADROOMS);
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
	client_free(command_connect(command)); /* or nothing is begun */
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

/* ---- the newest, read as a whole ---- */

/* As `cartbus verify` does; what it found goes where this command's words go. */
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
	ended = backup_lock(command, &lock); /* an erasure exchanges the files of a copy */
	if (ended == EXIT_FINE)
		ended = verify_newest(command, path);
	if (path[0])
		note_down(command, ended ? "backup_damaged" : "backup_verified", heard.words, path);
	if (lock >= 0)
		close(lock);
	return ended;
}
