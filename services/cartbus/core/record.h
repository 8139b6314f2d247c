/* record.h: records an operator's action as an audit before it is done */
#ifndef CARTBUS_CORE_RECORD_H
#define CARTBUS_CORE_RECORD_H

#include "services/cartbus/core/command.h"
#include <jansson.h>

struct client;

/*
 * Says an audit of `verb` with its argument and the user. On failure complains and returns EXIT_NO; then the
 * action must not be done.
 */
int record_act(const struct command *command, struct client *client, const char *verb, const json_t *what);
/*
 * The same, and then asks the broker the same question. Takes ownership of `what`. NULL: it failed and
 * complained.
 */
json_t *record_and_ask(const struct command *command, struct client *client, const char *verb, json_t *what);

struct record {
	const char *shop, *action, *grounds;
	const char *before, *after; /* each may be NULL */
	const char *who;            /* NULL: the user of the command */
	bool done_all_the_same;     /* do it even if it cannot be recorded, with a note about that */
};
/*
 * Says an audit of a change, with the user and both values. Like record_act, except for actions that are done
 * all the same.
 */
int record_change(const struct command *command, struct client *client, const struct record *record);

/*
 * Records a change of files, which is allowed while no broker runs. Without a broker it prints that the
 * change is not recorded; the change stays.
 */
void record_file(const struct command *command, const struct record *record);
bool record_can(const struct command *command); /* does not wait for a broker that is not running */
void record_not(const struct command *command);

const char *operator_name(void); /* the name of the user; with sudo, of its caller */

#endif
