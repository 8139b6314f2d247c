/* record.h: what an operator has the broker do is on record before it is done */
#ifndef CARTBUS_CORE_RECORD_H
#define CARTBUS_CORE_RECORD_H

#include "services/cartbus/core/command.h"
#include <jansson.h>

struct client;

/* Says an audit of `verb` with what is asked, by whom; complains and returns EXIT_NO when it cannot: then it must not be done. */
int record_act(const struct command *command, struct client *client, const char *verb, const json_t *what);
/* The same, and then the question with the same words. Takes `what`; NULL: it complained. */
json_t *record_and_ask(const struct command *command, struct client *client, const char *verb, json_t *what);

struct record {
	const char *shop, *action, *grounds;
	const char *before, *after; /* each may be NULL */
	const char *who;            /* NULL: who gives the command */
	bool done_all_the_same;     /* also when it cannot be put on record: then that is said */
};
/* Says an audit by who gives the command: what is changed from what into what. As record_act, but for what is done all the same. */
int record_change(const struct command *command, struct client *client, const struct record *record);

/*
 * What is done to files may be done while no broker runs: then it is said that it is not on record, and it stays done.
 */
void record_file(const struct command *command, const struct record *record);
bool record_can(const struct command *command); /* a broker that is not running is not waited for */
void record_not(const struct command *command);

const char *operator_name(void); /* the name of the user, of sudo's caller where it was used */

#endif
