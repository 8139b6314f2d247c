/*
 * restore.c: `cartbus restore`: a backup becomes the log again, and no mail goes twice for it
 *
 * Owns:      <state>/restore.json between a restore and its release: what the services knew to be mailed.
 * Promises:  nothing is deleted: what was there is put aside. The log gets another identity, so nobody takes it for the one it
 *            was copied from, and the broker claims no mail until --release. What was mailed after the backup is learnt from the
 *            states of senders and waiter before they are put aside, and said again before the first claim. Whatever ends it
 *            half way, the broker does not start until it was run again, and what was learnt by then is kept. Who was
 *            erased after the backup was made has left it, too, before it becomes the log.
 * Fails by:  stopping before anything was moved when something runs, or the backup is not what it was.
 * Read next: recall.c, backup_folder.c, bus/broker/claim.c (why nothing is claimed)
 */
#include "services/cartbus/backup_folder.h"
#include "services/cartbus/erase_copy.h"
#include "services/cartbus/erasures.h"
#include "services/cartbus/json_file.h"
#include "services/cartbus/print.h"
#include "services/cartbus/programs.h"
#include "services/cartbus/reading.h"
#include "services/cartbus/recall.h"

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/restoring.h"
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

static const int64_t OVERLAP_US = 1 * US_PER_HOUR; /* clocks of several machines */

DEFINE_CLEANUP(DIR *, closedir)

struct restoring {
	const struct command *command;
	const char *state, *folder,
		*erasures; /* erasures: a list, or a backup that has one; NULL: those that lie about */
	char aside[PATH_BYTES];
	size_t erased;        /* messages */
	json_t *note, *sends; /* backup.json; what was mailed */
	int stores;           /* that knew what was mailed */
};

/* A name of a folder in the state that holds a store: the broker's log, whole or not, or a service's fold. */
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

/* Who was never to mail anything knows that, too: its state says which log it was folded from. */
static bool keeps_account(const char *name)
{
	return text_starts(name, "sender") || text_starts(name, "waiter");
}

/* One that is damaged knows nothing; one that cannot be read today may know much. */
static int learn_from(struct restoring *restoring, const char *name, const char *path)
{
	struct recall recall = { .log_id = json_string_value(json_object_get(restoring->note, "log")),
		.from_us = json_integer_value(json_object_get(restoring->note, "at_us")) - OVERLAP_US,
		.sends = restoring->sends,
		.keeps_account = keeps_account(name) };
	int r = recall.log_id ? recall_folder(restoring->command, path, &recall) : 0;

	restoring->stores += r > 0;
	return r == -EUCLEAN || r > 0 ? 0 : r;
}

/* The broker's log cannot be opened as a service's state; its lock says whether it runs. */
static int learn(struct restoring *restoring, const char *name)
{
	char path[PATH_BYTES];
	int lock = -1, r;

	if (strcmp(name, "broker") != 0) {
		snprintf(path, sizeof(path), "%s/%s", restoring->state, name);
		return learn_from(restoring, name, path);
	}
	snprintf(path, sizeof(path), "%s/broker/.lock", restoring->state);
	r = file_lock(path, &lock);
	if (r == -EBUSY)
		complain(restoring->command, "the broker runs: stop everything first");
	if (lock >= 0)
		close(lock);
	return r == -EBUSY ? r : 0;
}

static int put_file_aside(const struct restoring *restoring, const char *name, const char *file)
{
	char from[PATH_BYTES], to[PATH_BYTES];

	snprintf(from, sizeof(from), "%s/%s/%s", restoring->state, name, file);
	snprintf(to, sizeof(to), "%s/%s/%s", restoring->aside, name, file);
	return rename(from, to) < 0 ? -errno : 0;
}

/* Plain files only: a spool, and what was rejected, lie in folders and stay. CURRENT last: it says that there is still a store. */
static int put_aside(struct restoring *restoring, const char *name)
{
	char from[PATH_BYTES], to[PATH_BYTES];
	_cleanup_(closedirp) DIR *listing = NULL;
	bool has_current = false;
	struct dirent *entry;
	int r = 0;

	snprintf(to, sizeof(to), "%s/%s", restoring->aside, name);
	snprintf(from, sizeof(from), "%s/%s", restoring->state, name);
	listing = opendir(from);
	if (!listing || file_make_folders(to, 0700) < 0)
		return -errno;
	while (r >= 0 && (entry = readdir(listing))) {
		struct stat about;

		if (fstatat(dirfd(listing), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(about.st_mode))
			continue;
		if (strcmp(entry->d_name, "CURRENT") == 0)
			has_current = true;
		else
			r = put_file_aside(restoring, name, entry->d_name);
	}
	return r >= 0 && has_current ? put_file_aside(restoring, name, "CURRENT") : r;
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

/* *ret: NULL when there is none. One that cannot be read is not the same as none: it complains. */
static int read_note(const struct command *command, const char *state, json_t **ret)
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
 * A restore that was cut short, or not released, knew what nobody may know any more: it had put the states aside. It learnt what
 * was mailed after its own backup only: with an earlier one, what went between the two would go again. false: so it is.
 */
static bool add_older_note(struct restoring *restoring)
{
	json_t *older;

	if (read_note(restoring->command, restoring->state, &older))
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
	json_object_update_missing(restoring->sends, json_object_get(older, "sends"));
	restoring->stores += (int)json_integer_value(json_object_get(older, "stores"));
	json_decref(older);
	return true;
}

static int write_note(const struct restoring *restoring)
{
	char path[PATH_BYTES];
	json_t *note = json_pack("{s:O,s:i,s:I}", "sends", restoring->sends, "stores", restoring->stores, "at_us",
		backup_time(restoring->note));
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

/* Only when the disk holds all of it: a state that a power cut brings back would be of the log that went. */
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

/* From here on things move. The note first: it is what cannot be learnt again. */
static int put_in_place(struct restoring *restoring)
{
	char from[PATH_BYTES], to[PATH_BYTES];
	json_t *files;
	struct backup_sum sum;
	int r, ended;

	if (!add_older_note(restoring))
		return EXIT_NO;
	files = json_array();
	r = write_note(restoring);
	if (r >= 0)
		r = set_mark(restoring);
	if (r >= 0)
		r = each_store(restoring, put_aside);
	if (r < 0) {
		complain(restoring->command, "the state could not be put aside: %s", strerror(-r));
		json_decref(files);
		return EXIT_NO;
	}
	backup_log_path(restoring->folder, restoring->note, from);
	snprintf(to, sizeof(to), "%s/broker", restoring->state);
	snprintf(restoring->aside, sizeof(restoring->aside), "%s/.lock", to);
	unlink(restoring->aside);
	rmdir(to);
	ended = backup_copy(restoring->command, from, to, files, &sum);
	json_decref(files);
	if (ended == EXIT_FINE && (give_identity(restoring) < 0 || lift_mark(restoring) < 0)) {
		complain(restoring->command,
			"the log is in place but could not get an identity of its own: run it again");
		ended = EXIT_NO;
	}
	return ended;
}

static void tell(const struct restoring *restoring)
{
	long long head = json_integer_value(json_object_get(restoring->note, "head"));
	size_t sends = json_object_size(restoring->sends);
	json_t *whole = json_pack("{s:I,s:I,s:i,s:I}", "head", (json_int_t)head, "learnt", (json_int_t)sends, "stores",
		restoring->stores, "erased", (json_int_t)restoring->erased);

	if (restoring->command->json)
		json_print(whole);
	else
		printf("The log is back as it was at message %lld. %zu mails were learnt from the states of %d "
		       "services; what "
		       "was there lies in %s/before-restore-*.\nStart everything, then: cartbus restore --release. "
		       "Until "
		       "then no mail is sent.\n",
			head, sends, restoring->stores, restoring->state);
	if (restoring->erased > 0 && !restoring->command->json)
		printf("Who was erased after the backup was made has left it: %zu messages.\n", restoring->erased);
	json_decref(whole);
}

/* The list lies in this state from now on, whatever else was lost. */
static int erase_again(struct restoring *restoring)
{
	json_t *list = erase_copy_list(restoring->command, restoring->folder, restoring->erasures);
	char path[PATH_ROOM];
	int ended;

	if (!list)
		return EXIT_NO;
	erasures_path(restoring->command, path);
	ended = json_array_size(list) ? erasures_write(restoring->command, path, list) : EXIT_FINE;
	ended = ended ? ended : erase_copy(restoring->command, restoring->folder, list, &restoring->erased);
	json_decref(list);
	json_decref(restoring->note);
	restoring->note = ended ? NULL : backup_note(restoring->command, restoring->folder);
	return restoring->note ? EXIT_FINE : EXIT_NO;
}

static int restore_locked(struct restoring *restoring)
{
	struct backup_sum sum;
	int ended = backup_verify(restoring->command, restoring->folder, &sum, &restoring->note);

	if (ended == EXIT_FINE && each_store(restoring, learn) < 0)
		ended = EXIT_NO;
	if (ended == EXIT_FINE)
		ended = erase_again(restoring);
	if (ended == EXIT_FINE)
		ended = put_in_place(restoring);
	if (ended == EXIT_FINE)
		tell(restoring);
	return ended;
}

static int restore(const struct command *command, const char *folder, const char *erasures)
{
	struct restoring restoring = { .command = command,
		.state = config_get(command->config, "paths", NULL, "state"),
		.folder = folder,
		.erasures = erasures,
		.sends = json_object() };
	int lock = -1, ended, r = file_make_folders(restoring.state, 0750);

	snprintf(restoring.aside, sizeof(restoring.aside), "%s/before-restore-%lld", restoring.state,
		(long long)clock_wall_us(&command->clock));
	if (r < 0)
		complain(command, "%s: %s", restoring.state, strerror(-r));
	ended = r < 0 ? EXIT_NO : backup_lock(command, &lock);
	if (ended == EXIT_FINE)
		ended = restore_locked(&restoring);
	if (lock >= 0)
		close(lock);
	json_decref(restoring.note);
	json_decref(restoring.sends);
	return ended;
}

static int release(const struct command *command, bool unlearnt)
{
	const char *state = config_get(command->config, "paths", NULL, "state");
	struct client *client;
	char path[PATH_BYTES];
	json_t *note, *answer;
	int ended = read_note(command, state, &note);

	if (ended)
		return ended;
	if (json_integer_value(json_object_get(note, "stores")) == 0 && !unlearnt) {
		complain(command,
			"no sender's or waiter's state was found beside the log: what was mailed after the backup is "
			"not known, and may be mailed again. --unlearnt accepts that");
		json_decref(note);
		return EXIT_NO;
	}
	ended = recall_say(command, json_object_get(note, "sends"));
	json_decref(note);
	if (ended)
		return ended;
	client = command_connect(command);
	answer = command_ask(command, client, "claims.release", NULL);
	client_free(client);
	if (!answer)
		return EXIT_NO;
	if (command->json)
		json_print(answer);
	else
		puts("Mails are claimed again.");
	json_decref(answer);
	snprintf(path, sizeof(path), "%s/restore.json", state);
	unlink(path);
	return EXIT_FINE;
}

int command_restore(struct command *command, int argc, char **argv)
{
	bool releases = false, unlearnt = false;
	const char *folder = NULL, *erasures = NULL;
	const struct take takes[] = { { "release", NULL, "what was mailed is said again, then mails go on", NULL,
					      &releases },
		{ "unlearnt", NULL, "release although nobody knew what was mailed after the backup", NULL, &unlearnt },
		{ "erasures", "FILE", "who was erased, or a later backup that knows it, where this state does not",
			&erasures, NULL },
		{ 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "[DIR]",
			.words = &folder,
			.words_least = 0,
			.words_most = 1,
			.help = "Puts a backup in the place of the log while nothing runs, and the services' states "
				"aside; they "
				"are folded anew. What was mailed after the backup is learnt from those states. Mails "
				"wait until "
				"--release. Who was erased after the backup was made leaves it first.\v"
				"Examples:\n  cartbus restore /srv/backup/2026-11-21\n  cartbus restore --release" });
	if (releases)
		return release(command, unlearnt);
	if (!folder) {
		complain(command, "say which backup: cartbus restore DIR");
		return EXIT_USAGE;
	}
	return restore(command, folder, erasures);
}
