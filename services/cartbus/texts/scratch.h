/*
 * scratch.h: a temporary folder for the state that a rehearsal folds
 *
 * It has shoppers' data: only its user can read it, and it is removed at the end of the command, also after
 * an interrupt; after a kill the next command removes it.
 */
#ifndef CARTBUS_TEXTS_SCRATCH_H
#define CARTBUS_TEXTS_SCRATCH_H

#include "services/cartbus/core/command.h"

struct scratch {
	char folder[PATH_ROOM];
	int lock; /* on it: somebody is at work there */
};

const char *scratch_usual(void); /* $TMPDIR, else /var/tmp */
#define SCRATCH_TAKE(where)                                                                                            \
	{                                                                                                              \
		"scratch", "DIR", "where to keep what is folded meanwhile ($TMPDIR, else /var/tmp)", &(where), NULL    \
	}

/* Complains and returns EXIT_NO. From now on SIGINT, SIGTERM and SIGHUP interrupt instead of ending. */
int scratch_make(const struct command *command, const char *below, struct scratch *ret);
void scratch_remove(const struct scratch *scratch);
bool scratch_interrupted(void); /* come to an end */

#endif
