/*
 * scratch.c: makes the folder for the state that a rehearsal folds
 *
 * A command that was killed leaves its folder, with shoppers' data in it: the next command removes it. A
 * running command locks its own folder.
 */
#include "services/cartbus/texts/scratch.h"

#include "bus/base/cleanup.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FOLDERS_OPEN = 16, UNLOCKED_MOST_S = 60 /* between being made and being locked */ };

static const char NAME[] = "cartbus-try-";

DEFINE_CLEANUP(DIR *, closedir)

static volatile sig_atomic_t interrupted;

const char *scratch_usual(void)
{
	const char *temporary = getenv("TMPDIR");

	return temporary && *temporary ? temporary : "/var/tmp";
}

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

bool scratch_interrupted(void)
{
	return interrupted;
}

static int remove_one(const char *path, const struct stat *found, int what, struct FTW *where)
{
	(void)found, (void)what, (void)where;
	return remove(path);
}

static void remove_all(const char *folder)
{
	nftw(folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* true: ours, not a moment old, and nobody is at work in it. */
static bool is_left_behind(const char *folder)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat about;

	return fd >= 0 && fstat(fd, &about) == 0 && about.st_uid == geteuid() &&
		about.st_mtime < time(NULL) - UNLOCKED_MOST_S && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void remove_left_behind(const char *below)
{
	_cleanup_(closedirp) DIR *listing = opendir(below);
	struct dirent *entry;

	while (listing && (entry = readdir(listing))) {
		char folder[PATH_ROOM];

		snprintf(folder, sizeof(folder), "%s/%.100s", below, entry->d_name);
		if (strncmp(entry->d_name, NAME, strlen(NAME)) == 0 && is_left_behind(folder))
			remove_all(folder);
	}
}

int scratch_make(const struct command *command, const char *below, struct scratch *ret)
{
	const struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	remove_left_behind(below);
	snprintf(ret->folder, sizeof(ret->folder), "%s/%sXXXXXX", below, NAME);
	ret->lock = mkdtemp(ret->folder) ? open(ret->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (ret->lock >= 0 && flock(ret->lock, LOCK_EX | LOCK_NB) == 0)
		return EXIT_FINE;
	complain(command, "%s: %s; --scratch names another folder", below, strerror(errno));
	return EXIT_NO;
}

void scratch_remove(const struct scratch *scratch)
{
	remove_all(scratch->folder);
	close(scratch->lock);
}
