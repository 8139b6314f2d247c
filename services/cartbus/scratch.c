/* scratch.c: a folder for what a rehearsal folds */
#include "services/cartbus/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDERS_OPEN = 16 };

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

int scratch_make(const struct command *command, const char *below, struct scratch *ret)
{
	const struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	snprintf(ret->folder, sizeof(ret->folder), "%s/cartbus-try-XXXXXX", below);
	if (mkdtemp(ret->folder))
		return EXIT_FINE;
	complain(command, "%s: %s; --scratch names another folder", below, strerror(errno));
	return EXIT_NO;
}

void scratch_remove(const struct scratch *scratch)
{
	nftw(scratch->folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}
