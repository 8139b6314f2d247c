/*
 * restore.c: `cartbus restore`: puts a backup in the place of the log, and sends no mail twice because of it
 *
 * Owns:      <state>/restore.json between a restore and its release: what the services knew to be mailed.
 * Promises:  nothing is deleted but a snapshot that a killed backup left: the old files are put aside. The log
 *            gets a new identity, so that no process takes it for the log that it was copied from, and the
 *            broker claims no mail until --release.
 *            What was mailed after the backup is learnt from the states of senders and waiter before they are
 *            put aside, and published again before the first claim. After a restore that was cut short the
 *            broker does not start until the restore is run again; what was learnt by then is kept. Persons
 *            who were erased after the backup was made are erased from the copy before it becomes the log.
 * Fails by:  stopping before any file moves if a process runs, or if the backup is damaged.
 * Read next: recover_sends.c, backup_folder.c, bus/broker/queue/claim.c (why nothing is claimed)
 */
#include "services/cartbus/backup/restore.h"
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/backup/blobs.h"
#include "services/cartbus/backup/recover_sends.h"
#include "services/cartbus/backup/subcommands.h"
#include "services/cartbus/core/home.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/people/erase_copy.h"
#include "services/cartbus/people/erasures.h"

#include "bus/actor/runtime/sidelog.h"
#include "bus/actor/state.h"
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
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 900 };

static const int64_t OVERLAP_US = 1 * US_PER_HOUR; /* the clocks of several machines may differ */

DEFINE_CLEANUP(DIR *, closedir)

struct restoring {
	const struct command *command;
	const char *state, *folder,
		*erasures; /* erasures: a list, or a backup that has one; NULL: only the lists found here */
	char aside[PATH_BYTES];
	const char *sidelog; /* a copy of the side log; NULL: none was given */
	size_t erased;       /* messages */
	struct backup_sum blobs;
	json_t *note, *list; /* backup.json; who was erased */
	struct recover_sends recovery;
	int stores;            /* of an older restore: the states that knew what was mailed */
	bool was_covered;      /* the older restore knew all that forbids a mail */
	uint64_t was_known_to; /* it knew up to this message, if it was of the same backup */
	bool has_older, is_same_backup;
	int log_lock;     /* the broker's, held by this restore; -1: none */
	bool made_folder; /* the log's folder was not there before */
};

/*
 * true: the folder of this name in the state holds a store: the broker's log, complete or not, or a service's
 * fold.
 */
static bool is_store(const char *state, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s/CURRENT", state, name);
	return name[0] != '.' && strncmp(name, "before-restore-", 15) != 0 &&
		(strcmp(name, "broker") == 0 || access(path, F_OK) == 0);
}

typedef int store_fn(struct restoring *restoring, const char *name);

static int each_store(struct restoring *restoring, store_fn *each)
{
	_cleanup_(closedirp) DIR *listing = opendir(restoring->state);
	struct dirent *entry;
	int r = listing ? 0 : -errno;

	while (r >= 0 && (entry = readdir(listing)))
		if (is_store(restoring->state, entry->d_name))
			r = each(restoring, entry->d_name);
	return r;
}

static void remove_log_folder(const struct restoring *restoring)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/broker/.lock", restoring->state);
	unlink(path);
	snprintf(path, sizeof(path), "%s/broker", restoring->state);
	rmdir(path);
}

/* A restore that failed leaves no empty folder: it may be of another user than the broker's. */
/*
 * Takes the lock that a broker takes before it opens its log, so that none starts until the mark is set: the
 * erasures before that may take minutes. Where no broker ran yet, its folder is made for that.
 */
static int keep_broker_away(struct restoring *restoring)
{
	char path[PATH_BYTES];
	int r;

	snprintf(path, sizeof(path), "%s/broker", restoring->state);
	restoring->made_folder = mkdir(path, 0700) == 0;
	snprintf(path, sizeof(path), "%s/broker/.lock", restoring->state);
	r = file_lock(path, &restoring->log_lock);
	if (r == 0)
		return EXIT_FINE;
	if (r == -EBUSY)
		complain(restoring->command, "the broker runs: stop everything first");
	else
		complain(restoring->command, "%s: %s", path, strerror(-r));
	if (restoring->made_folder)
		remove_log_folder(restoring);
	return EXIT_NO;
}

static void let_broker_start(const struct restoring *restoring, bool has_failed)
{
	if (restoring->log_lock < 0)
		return;
	if (restoring->made_folder && has_failed)
		remove_log_folder(restoring);
	close(restoring->log_lock);
}

static int refuse_running(struct restoring *restoring, const char *name)
{
	char path[PATH_BYTES];

	if (strcmp(name, "broker") == 0)
		return 0; /* keep_broker_away */
	snprintf(path, sizeof(path), "%s/%s", restoring->state, name);
	if (!state_folder_is_in_use(path))
		return 0;
	complain(restoring->command, "%s is in use: stop everything first", path);
	return -EBUSY;
}

/* Learns from a service's state. The broker's log is no such state, and is skipped. */
static int learn(struct restoring *restoring, const char *name)
{
	char path[PATH_BYTES];
	int r;

	if (strcmp(name, "broker") == 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", restoring->state, name);
	r = recover_sends_folder(&restoring->recovery, name, path);
	return r == -EUCLEAN ? 0 : r; /* a damaged state tells nothing; an unreadable one may tell much */
}

static int put_file_aside(const struct restoring *restoring, const char *name, const char *file)
{
	char from[PATH_BYTES], to[PATH_BYTES];
	int r;

	snprintf(to, sizeof(to), "%s/%s", restoring->aside, name);
	r = file_make_folders(to, 0700);
	snprintf(from, sizeof(from), "%s/%s/%s", restoring->state, name, file);
	snprintf(to, sizeof(to), "%s/%s/%s", restoring->aside, name, file);
	return r < 0 ? r : rename(from, to) < 0 ? -errno : 0;
}

/*
 * Moves plain files only: spools and rejected webhooks are in folders below, and stay. The broker's lock, which
 * is held, stays too. CURRENT is moved last, because it tells that there is still a store.
 */
static int put_aside(struct restoring *restoring, const char *name)
{
	char from[PATH_BYTES];
	_cleanup_(closedirp) DIR *listing = NULL;
	bool has_current = false;
	struct dirent *entry;
	int r = 0;

	snprintf(from, sizeof(from), "%s/%s", restoring->state, name);
	listing = opendir(from);
	if (!listing)
		return -errno;
	while (r >= 0 && (entry = readdir(listing))) {
		struct stat about;

		if (fstatat(dirfd(listing), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) < 0 ||
			!S_ISREG(about.st_mode) || strcmp(entry->d_name, ".lock") == 0)
			continue;
		if (strcmp(entry->d_name, "CURRENT") == 0)
			has_current = true;
		else
			r = put_file_aside(restoring, name, entry->d_name);
	}
	return r >= 0 && has_current ? put_file_aside(restoring, name, "CURRENT") : r;
}

/*
 * Puts aside the side log, and the earlier ones that were put away beside it: the note holds what they tell.
 */
static int put_sidelogs_aside(const struct restoring *restoring)
{
	char folder[PATH_BYTES];
	_cleanup_(closedirp) DIR *listing = NULL;
	struct dirent *entry;
	int r = 0;

	snprintf(folder, sizeof(folder), "%.500s/" SIDELOG_FOLDER, restoring->state);
	listing = opendir(folder);
	while (listing && r >= 0 && (entry = readdir(listing))) {
		if (!recover_sends_is_sidelog(entry->d_name))
			continue;
		r = put_file_aside(restoring, SIDELOG_FOLDER, entry->d_name);
	}
	return r;
}

static int give_identity(const struct restoring *restoring)
{
	char program[PATH_BYTES];
	int status = -1;
	pid_t child;

	snprintf(program, sizeof(program), "%s/cartbus-broker", programs_folder());
	child = fork();
	if (child == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		execl(program, program, "--config", restoring->command->config_path, "--new-identity", (char *)NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : -EIO;
}

/*
 * Reads the note of a restore. *ret is NULL if there is none. It complains if there is one that cannot be
 * read.
 */
int restore_read_note(const struct command *command, const char *state, json_t **ret)
{
	char path[PATH_BYTES];
	int r;

	snprintf(path, sizeof(path), "%s/restore.json", state);
	r = json_file_read(path, ret);
	if (r == 0 || r == -ENOENT)
		return EXIT_FINE;
	complain(command,
		"%s: %s: it says what was mailed after the backup. Mend it; without it (remove it) nobody knows, and "
		"mails may go again",
		path, json_file_words(r));
	return EXIT_NO;
}

static json_int_t backup_time(const json_t *note)
{
	return json_integer_value(json_object_get(note, "at_us"));
}

/*
 * Adds the note of a restore that was cut short or not released, because the states that it learnt from are
 * put aside. That note tells only what was mailed after its own backup. With an earlier backup, mails sent
 * between the two backups would be sent again: then it complains and returns false.
 */
static bool add_older_note(struct restoring *restoring)
{
	json_t *older;

	if (restore_read_note(restoring->command, restoring->state, &older))
		return false;
	if (backup_time(older) > backup_time(restoring->note)) {
		complain(restoring->command,
			"a restore of a later backup was begun here and is not released: what was mailed between the "
			"two backups is known only to the states that it put aside. Take that backup again, or first "
			"put the files of %s/before-restore-* back and remove %s/restore.json",
			restoring->state, restoring->state);
		json_decref(older);
		return false;
	}
	json_object_update_missing(restoring->recovery.sends, json_object_get(older, "sends"));
	json_object_update_missing(restoring->recovery.said, json_object_get(older, "said"));
	recover_sends_add_modes(&restoring->recovery, json_object_get(older, "modes"));
	json_object_update_missing(restoring->recovery.let_back, json_object_get(older, "let_back"));
	restoring->stores += (int)json_integer_value(json_object_get(older, "stores"));
	restoring->was_covered = json_is_true(json_object_get(older, "covered"));
	restoring->has_older = older != NULL;
	restoring->is_same_backup = backup_time(older) == backup_time(restoring->note);
	if (restoring->is_same_backup)
		restoring->was_known_to = (uint64_t)json_integer_value(json_object_get(older, "known_to"));
	json_decref(older);
	return true;
}

static int stores_of(const struct restoring *restoring)
{
	return restoring->recovery.accounts + restoring->stores;
}

/*
 * true: a survivor is of a log that an older restore made, or the backup is another one than that restore's.
 * It tells nothing that the older restore did not know.
 */
static bool is_of_later_log(const struct restoring *restoring)
{
	return restoring->has_older && (restoring->recovery.has_other_log || !restoring->is_same_backup);
}

/* 0: for some time, no state tells what was mailed. */
static int stores_that_know(const struct restoring *restoring)
{
	return is_of_later_log(restoring) && restoring->stores == 0 ? 0 : stores_of(restoring);
}

/* The knowledge of an older restore does not cover what was heard after it. */
static bool is_covered(const struct restoring *restoring)
{
	const struct recover_sends *recovery = &restoring->recovery;

	if (is_of_later_log(restoring) && !restoring->was_covered)
		return false;
	return recover_sends_is_covered(recovery) || (restoring->was_covered && !recovery->has_other_log);
}

/*
 * The last message up to which it is known what forbids a mail. If nothing is known beyond the backup, it is
 * the backup's last message.
 */
static uint64_t known_to(const struct restoring *restoring)
{
	const struct recover_sends *recovery = &restoring->recovery;
	uint64_t to = restoring->was_known_to;

	to = recovery->head > to ? recovery->head : to;
	to = recovery->stops_to > to ? recovery->stops_to : to;
	return recovery->sidelog_last > to ? recovery->sidelog_last : to;
}

static int write_note(const struct restoring *restoring)
{
	char path[PATH_BYTES];
	const struct recover_sends *recovery = &restoring->recovery;
	json_t *note = json_pack("{s:O,s:O,s:O,s:O,s:i,s:b,s:I,s:I,s:I}", "sends", recovery->sends, "said",
		recovery->said, "modes", recovery->modes, "let_back", recovery->let_back, "stores",
		stores_that_know(restoring), "covered", (int)is_covered(restoring), "head", (json_int_t)recovery->head,
		"known_to", (json_int_t)known_to(restoring), "at_us", backup_time(restoring->note));
	int r;

	snprintf(path, sizeof(path), "%s/restore.json", restoring->state);
	r = json_file_write(path, note);
	json_decref(note);
	return r;
}

static int set_mark(const struct restoring *restoring)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/" RESTORING_MARK, restoring->state);
	return file_write_durably(path, bytes_of("cartbus restore did not come to its end: run it again\n"), 0600);
}

/* Syncs the disk first: otherwise a power cut could bring back a state of the replaced log. */
static int lift_mark(const struct restoring *restoring)
{
	char path[PATH_BYTES];
	int state = open(restoring->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = state < 0 || syncfs(state) < 0 ? -errno : 0;

	snprintf(path, sizeof(path), "%s/" RESTORING_MARK, restoring->state);
	if (r == 0 && (unlink(path) < 0 || fsync(state) < 0))
		r = -errno;
	if (state >= 0)
		close(state);
	return r;
}

/* From here on files move. The note is written first: its content cannot be learnt again. */
static int put_in_place(struct restoring *restoring)
{
	char from[PATH_BYTES], to[PATH_BYTES];
	json_t *files;
	struct backup_sum sum;
	int r, ended;

	/* a service may have been started during the erasures */
	if (each_store(restoring, refuse_running) < 0 || !add_older_note(restoring))
		return EXIT_NO;
	files = json_array();
	r = write_note(restoring);
	if (r >= 0)
		r = set_mark(restoring);
	backup_remove_snapshots(restoring->command);
	if (r >= 0)
		r = each_store(restoring, put_aside);
	if (r >= 0)
		r = put_sidelogs_aside(restoring);
	if (r < 0) {
		complain(restoring->command, "the state could not be put aside: %s", strerror(-r));
		json_decref(files);
		return EXIT_NO;
	}
	backup_log_path(restoring->folder, restoring->note, from);
	snprintf(to, sizeof(to), "%s/broker", restoring->state);
	remove_log_folder(restoring);
	ended = backup_copy(restoring->command, from, to, files, &sum);
	json_decref(files);
	if (ended == EXIT_FINE)
		ended = backup_blobs_put_back(restoring->command, restoring->folder, &restoring->blobs);
	if (ended == EXIT_FINE && (give_identity(restoring) < 0 || lift_mark(restoring) < 0)) {
		complain(restoring->command,
			"the log is in place but could not get an identity of its own: run it again");
		ended = EXIT_NO;
	}
	return ended;
}

static void tell_sidelogs(const json_t *paths)
{
	const json_t *path;
	size_t i;

	json_array_foreach(paths, i, path) printf("%s%s%s", i == 0 ? "The side logs that told of it: " : ", ",
		json_string_value(path), i + 1 == json_array_size(paths) ? ".\n" : "");
}

static void tell_stops(const struct restoring *restoring, const json_t *stops)
{
	printf("What forbids a mail was learnt: %lld opt-outs, bounces and complaints, %lld orders, %lld acts of "
	       "people, %lld privacy requests, the modes of %lld shops.\n",
		json_integer_value(json_object_get(stops, "opt_outs")),
		json_integer_value(json_object_get(stops, "orders")),
		json_integer_value(json_object_get(stops, "actions")),
		json_integer_value(json_object_get(stops, "privacy_requests")),
		json_integer_value(json_object_get(stops, "modes")));
	tell_sidelogs(restoring->recovery.sidelogs);
	if (!is_covered(restoring))
		printf("NOT ALL OF IT: it is known up to message %llu, and nothing that survived tells what came after "
		       "that. Who opted out or bought then would be mailed.\n",
			(unsigned long long)known_to(restoring));
}

static void print_restored(const struct restoring *restoring)
{
	size_t sends = json_object_size(restoring->recovery.sends);
	json_t *stops = recover_sends_count(restoring->recovery.said, restoring->recovery.modes);
	size_t let_back = json_object_size(restoring->recovery.let_back);
	json_t *whole = json_pack("{s:I,s:I,s:i,s:I,s:O,s:I,s:O,s:b,s:I,s:I}", "head",
		(json_int_t)restoring->recovery.head, "learnt", (json_int_t)sends, "stores", stores_of(restoring),
		"erased", (json_int_t)restoring->erased, "stops", stops, "let_back", (json_int_t)let_back, "side_logs",
		restoring->recovery.sidelogs, "covered", (int)is_covered(restoring), "known_to",
		(json_int_t)known_to(restoring), "blobs", (json_int_t)restoring->blobs.files);

	if (restoring->command->json) {
		json_print(whole);
	} else {
		printf("The log is back as it was at message %llu. %zu mails were learnt from the states of %d "
		       "services; what was there lies in %s/before-restore-*.\n",
			(unsigned long long)restoring->recovery.head, sends, stores_of(restoring), restoring->state);
		tell_stops(restoring, stops);
		if (let_back > 0)
			printf("%zu times somebody was let back on the list of who is mailed after the backup. A "
			       "restore does not do that again, because the shopper may have said no since: "
			       "cartbus resubscribe SHOP ADDRESS does it.\n",
				let_back);
		if (restoring->blobs.files > 0)
			printf("%llu blobs that the log names were put back.\n",
				(unsigned long long)restoring->blobs.files);
		if (restoring->erased > 0)
			printf("Who was erased after the backup was made has left it: %zu messages.\n",
				restoring->erased);
		puts("Start everything, then: cartbus restore --release. Until then no mail is sent.");
	}
	json_decref(stops);
	json_decref(whole);
}

/* Keeps the list of erasures in this state, and erases its persons from the backup. */
static int erase_again(struct restoring *restoring)
{
	const json_t *list = restoring->list;
	char path[PATH_ROOM];
	int ended;

	erasures_path(restoring->command, path);
	ended = json_array_size(list) ? erasures_write(restoring->command, path, list) : EXIT_FINE;
	ended = ended ? ended : erase_copy(restoring->command, restoring->folder, list, &restoring->erased);
	json_decref(restoring->note);
	restoring->note = ended ? NULL : backup_note(restoring->command, restoring->folder);
	return restoring->note ? EXIT_FINE : EXIT_NO;
}

/* A later backup in the same folder may hold a later copy of the side log. */
static int learn_from_beside(struct restoring *restoring)
{
	char above[PATH_BYTES], path[PATH_BYTES + 300];
	_cleanup_(closedirp) DIR *listing = NULL;
	struct dirent *entry;
	int ended = EXIT_FINE;

	snprintf(above, sizeof(above), "%.500s/..", restoring->folder);
	listing = opendir(above);
	while (listing && !ended && (entry = readdir(listing))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/" SIDELOG_FILE, above, entry->d_name);
		ended = recover_sends_sidelog_copy(&restoring->recovery, path);
	}
	return ended;
}

static int learn_from_sidelogs(struct restoring *restoring)
{
	char path[PATH_BYTES];
	struct stat found;
	int ended;

	snprintf(path, sizeof(path), "%.500s/" SIDELOG_FOLDER, restoring->state);
	ended = recover_sends_sidelogs(&restoring->recovery, path);
	if (!ended && restoring->sidelog) {
		bool is_folder = stat(restoring->sidelog, &found) == 0 && S_ISDIR(found.st_mode);

		snprintf(path, sizeof(path), "%.500s%s", restoring->sidelog, is_folder ? "/" SIDELOG_FILE : "");
		if (access(path, R_OK) < 0) {
			complain(restoring->command, "%s: %s", path, strerror(errno));
			return EXIT_NO;
		}
		ended = recover_sends_sidelog_copy(&restoring->recovery, path);
	}
	return ended ? ended : learn_from_beside(restoring);
}

static const char *name_in(const json_t *note, const char *name, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(note, name));

	return text ? text : otherwise;
}

static int learn_all(struct restoring *restoring)
{
	struct recover_sends *recovery = &restoring->recovery;

	recovery->log_id = name_in(restoring->note, "log", "");
	recovery->origin = name_in(restoring->note, "origin", recovery->log_id);
	recovery->head = (uint64_t)json_integer_value(json_object_get(restoring->note, "head"));
	recovery->known_to = recovery->head;
	recovery->from_us = backup_time(restoring->note) - OVERLAP_US;
	recovery->erased = restoring->list;
	if (each_store(restoring, refuse_running) < 0 || learn_from_sidelogs(restoring) != EXIT_FINE ||
		each_store(restoring, learn) < 0)
		return EXIT_NO;
	return EXIT_FINE;
}

static int restore_locked(struct restoring *restoring)
{
	struct backup_sum sum;
	json_t *note;
	int ended = backup_verify(restoring->command, restoring->folder, &sum, &restoring->note);

	note = json_incref(restoring->note); /* `recovery` borrows from it, and an erasure replaces it */
	if (ended == EXIT_FINE)
		ended = keep_broker_away(restoring);
	if (ended == EXIT_FINE) {
		restoring->list = erase_copy_list(restoring->command, restoring->folder, restoring->erasures);
		ended = restoring->list ? learn_all(restoring) : EXIT_NO;
	}
	if (ended == EXIT_FINE)
		ended = erase_again(restoring);
	if (ended == EXIT_FINE)
		ended = put_in_place(restoring);
	if (ended == EXIT_FINE)
		print_restored(restoring);
	let_broker_start(restoring, ended != EXIT_FINE);
	json_decref(note);
	return ended;
}

static int restore(struct restoring *restoring)
{
	const struct command *command = restoring->command;
	int lock = -1, ended, r;

	restoring->state = config_get(command->config, "paths", NULL, "state");
	restoring->recovery = (struct recover_sends){ .command = command,
		.sends = json_object(),
		.said = json_object(),
		.modes = json_object(),
		.let_back = json_object(),
		.sidelogs = json_array() };
	r = file_make_folders(restoring->state, 0700);
	snprintf(restoring->aside, sizeof(restoring->aside), "%s/before-restore-%lld", restoring->state,
		(long long)clock_wall_us(&command->clock));
	if (r < 0)
		complain(command, "%s: %s", restoring->state, strerror(-r));
	ended = r < 0 ? EXIT_NO : backup_lock(command, &lock);
	if (ended == EXIT_FINE)
		ended = restore_locked(restoring);
	if (lock >= 0)
		close(lock);
	json_decref(restoring->note);
	json_decref(restoring->list);
	json_decref(restoring->recovery.sends);
	json_decref(restoring->recovery.said);
	json_decref(restoring->recovery.modes);
	json_decref(restoring->recovery.sidelogs);
	json_decref(restoring->recovery.let_back);
	return ended;
}

int command_restore(struct command *command, int argc, char **argv)
{
	bool releases = false, unlearnt = false, key_is_lost = false;
	struct restoring restoring = { .command = command, .log_lock = -1 };
	const struct take takes[] = { { "release", NULL, "what was mailed is said again, then mails go on", NULL,
					      &releases },
		{ "unlearnt", NULL,
			"release although nobody knows all that was mailed, or that forbids a mail, after the backup",
			NULL, &unlearnt },
		{ "key-is-lost", NULL,
			"release although secrets/address.key is another than the log's: nobody who opted out is known",
			NULL, &key_is_lost },
		{ "erasures", "FILE", "who was erased, or a later backup that knows it, where this state does not",
			&restoring.erasures, NULL },
		{ "sidelog", "FILE",
			"a copy of the side log, or a later backup that has one, where this state has none",
			&restoring.sidelog, NULL },
		{ 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "[DIR]",
			.words = &restoring.folder,
			.words_least = 0,
			.words_most = 1,
			.help = "Puts a backup in the place of the log while nothing runs, and the services' states "
				"aside; they "
				"are folded anew. What was mailed after the backup is learnt from those states, and what "
				"forbids a mail (who opted out, bounced or bought, a stop, a pause, an erasure) from "
				"them and the side log. Mails wait until "
				"--release. Who was erased after the backup was made leaves it first.\v"
				"Examples:\n  cartbus restore /srv/backup/2026-11-21\n  cartbus restore --release" });
	if (releases)
		return restore_release(command, unlearnt, key_is_lost);
	if (!restoring.folder) {
		complain(command, "say which backup: cartbus restore DIR");
		return EXIT_USAGE;
	}
	return restore(&restoring);
}
