/*
 * verify.c: `cartbus verify`: checks that the log is complete
 *
 * For a backup it first checks that every file is what was backed up, then the log in it. Without DIR it
 * first checks the blobs beside the log.
 *
 * Owns:     nothing: the log belongs to the broker, so the broker's program, which is beside this one, reads
 *           it (bus/broker/verify/verify_command.c).
 * Fails by: exiting as that program does: 0 sound, 1 not, 3 a broker has the log open.
 */
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/backup/blobs.h"
#include "services/cartbus/backup/subcommands.h"
#include "services/cartbus/core/home.h"
#include "services/kit/blobs/blob_places.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool lies_in(const char *folder, const char *name)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%.460s/%s", folder, name);
	return access(path, F_OK) == 0;
}

/* If *folder is a backup, it becomes the folder of the log in it, which is written to `log_path`. */
static int look_into_backup(const struct command *command, const char **folder, char log_path[PATH_ROOM])
{
	struct backup_sum sum;
	json_t *note = NULL;
	int ended;

	if (!*folder || lies_in(*folder, "CURRENT"))
		return EXIT_FINE;
	if (!lies_in(*folder, "backup.json")) {
		if (!lies_in(*folder, "broker"))
			return EXIT_FINE;
		complain(command,
			"%s has no backup.json: a backup that did not come to its end, or something else; the log in "
			"it is read by cartbus verify %s/broker",
			*folder, *folder);
		return EXIT_NO;
	}
	ended = backup_verify(command, *folder, &sum, &note);
	if (!ended)
		backup_log_path(*folder, note, log_path);
	if (!ended && !command->json)
		printf("%s: every file is what was backed up: %llu files, %.1f MiB. Its log:\n", *folder,
			(unsigned long long)sum.files, (double)sum.bytes / (1 << 20));
	fflush(stdout);
	*folder = log_path;
	json_decref(note);
	return ended;
}

static int look_at_blobs(const struct command *command)
{
	struct backup_sum sum;
	char root[PATH_MAX];
	int ended;

	blob_places_root(config_get(command->config, "paths", NULL, "state"), root);
	ended = backup_blobs_verify(command, root, NULL, &sum);
	if (!command->json && (ended || sum.files > 0))
		printf("blobs: %llu, %.1f MiB: %s\n", (unsigned long long)sum.files, (double)sum.bytes / (1 << 20),
			ended ? "NOT ALL SOUND" : "each is what it was");
	fflush(stdout);
	return ended;
}

/*
 * Replaces this process by the broker's program. If the blobs are not sound, it runs that program as a child,
 * and its exit code is no better than 1.
 */
static int read_log(const struct command *command, char *const argv[], int before)
{
	int status = -1;
	pid_t child = before ? fork() : 0;

	if (child > 0 && waitpid(child, &status, 0) == child)
		return WIFEXITED(status) && WEXITSTATUS(status) != EXIT_FINE ? WEXITSTATUS(status) : before;
	if (child == 0)
		execv(argv[0], argv);
	complain(command, "cannot run %s: %s", argv[0], strerror(errno));
	if (before && child == 0)
		_exit(EXIT_NO);
	return EXIT_NO;
}

int command_verify(struct command *command, int argc, char **argv)
{
	const char *folder = NULL;
	char program[PATH_ROOM + 20], log_path[PATH_ROOM] = "";

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "[DIR]",
			.help = "Reads the whole log, of a stopped broker, of a backup or of a copy in DIR, and says "
				"whether it is all there: "
				"every checksum, unbroken numbers, what is derived from it, and of each message in "
				"each queue "
				"what became of it. Without DIR the side log is held against it, and the blobs beside "
				"it are read. It changes nothing. "
				"It exits with 0 when the log is sound, 1 when "
				"it is not, 3 when a broker has it open.\v"
				"Examples:\n  cartbus verify\n  cartbus verify /backup/cartbus/2026-11-21 --json",
			.words = &folder,
			.words_most = 1 });
	if (look_into_backup(command, &folder, log_path) != EXIT_FINE)
		return EXIT_NO;
	int before = folder ? EXIT_FINE : look_at_blobs(command);
	snprintf(program, sizeof(program), "%s/cartbus-broker", programs_folder());
	char *const words[] = { program, "--verify", "--config", (char *)command->config_path,
		command->json ? "--json" : "--verify", folder ? "--folder" : NULL, (char *)folder, NULL };
	return read_log(command, words, before);
}
