/* reading.h: reads the log through the broker, message by message */
#ifndef CARTBUS_CORE_READING_H
#define CARTBUS_CORE_READING_H

#include "bus/actor/client.h"
#include "services/cartbus/core/command.h"
#include "services/kit/words/message_json.h"
#include <jansson.h>

struct entry { /* borrowed for the call */
	uint64_t seq, version, cause;
	int64_t time_us;
	const char *topic, *shop, *key, *idem, *said_by, *trace; /* idem: "" none */
	bool tombstone;
	struct bytes payload;
};

struct reading_filter {
	uint64_t from;
	const char *topic, *shop, *key; /* NULL: any */
	const char *or_shop;            /* a second one; NULL: none */
	const char *const *topics;      /* several, ending with NULL; NULL: any */
	/*
	 * shows masked payloads to a user without the right to see them; set it if no masked field is needed
	 */
	bool masked;
};

/*
 * Calls each() in log order until it returns false or the log ends. Returns an exit code; complains on
 * failure.
 */
typedef bool entry_fn(const struct entry *entry, void *context);
int reading_each(const struct command *command, struct client *client, const struct reading_filter *filter,
	entry_fn *each, void *context);

/*
 * Finds the first message at or after this log time, and its time; the number after the last one and 0: there
 * is none. Returns an exit code.
 */
int reading_find(
	const struct command *command, struct client *client, int64_t time_us, uint64_t *ret_seq, int64_t *ret_us);

/*
 * Prints how far back the log goes: a line for each class of which old messages were dropped. `kept`: from
 * "status".
 */
void print_reach(const json_t *kept, const char *zone);
/* The same, after asking the broker; prints nothing if the broker does not answer. */
void command_print_reach(const struct command *command, struct client *client, const char *zone);

/* the metadata for a service; borrows from the entry */
struct message_meta entry_said(const struct entry *entry);
json_t *entry_json(const struct entry *entry); /* with the payload decoded */

/* A client for a subcommand; complains and exits with EXIT_AWAY if the broker cannot be reached. */
struct client *command_connect(const struct command *command);
/*
 * Does a broker listen at the socket here? Also true if it is on another host, because only a connection can
 * tell then.
 */
bool command_broker_listens(const struct command *command);
/* How long to wait for the broker's answer, in microseconds; short if nobody listens at the socket. */
int64_t command_patience_us(const struct command *command);
/*
 * Asks and parses the answer; complains and returns NULL if the broker refuses. Takes ownership of `what`,
 * the argument.
 */
json_t *command_ask(const struct command *command, struct client *client, const char *verb, json_t *what);
/*
 * The same for questions that change nothing: it asks again in a new session if the session broke, for
 * example because the broker was busy with its disk.
 */
json_t *command_look(const struct command *command, struct client *client, const char *verb, json_t *what);

#endif
