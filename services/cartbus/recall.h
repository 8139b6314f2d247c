/*
 * recall.h: what was mailed, as the services that ran beside a log still know it
 */
#ifndef CARTBUS_RECALL_H
#define CARTBUS_RECALL_H

#include "services/cartbus/command.h"
#include <jansson.h>

struct recall {
	const char *log_id; /* the log that a state must be of */
	int64_t from_us;    /* what was mailed before is in the backup */
	json_t *sends;      /* an object: a step each */
	bool keeps_account; /* by its name: then it knows also that nothing was mailed */
};

/*
 * Reads one service's state and appends what was mailed. 1: it keeps account of mails; 0: it does not, or of another log; -EBUSY: it
 * runs; -EUCLEAN: it is damaged; else why it cannot be read now. Complains.
 */
int recall_folder(const struct command *command, const char *path, struct recall *recall);
/* Says them again as facts. An exit; complains. */
int recall_say(const struct command *command, json_t *sends);

#endif
