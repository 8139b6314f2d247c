/*
 * reading.h: the log, read through the broker, message by message
 */
#ifndef CARTBUS_CORE_READING_H
#define CARTBUS_CORE_READING_H

#include "bus/actor/client.h"
#include "services/cartbus/core/command.h"
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
	bool masked; /* who may not see payloads is to be shown them masked: what is asked for is not in what is masked */
};

/* Calls each() in log order until it returns false or the log ends. An exit; complains when it fails. */
typedef bool entry_fn(const struct entry *entry, void *context);
int reading_each(const struct command *command, struct client *client, const struct reading_filter *filter,
	entry_fn *each, void *context);

/* The first message at or after this log time, and its time; one past the last one, and 0: there is none. An exit. */
int reading_find(
	const struct command *command, struct client *client, int64_t time_us, uint64_t *ret_seq, int64_t *ret_us);

/* How far back the log goes, in words: a line for each class of which something was dropped by its age. `kept`: of "status". */
void print_reach(const json_t *kept, const char *zone);
/* The same, asked for; nothing when the broker has no answer. */
void command_print_reach(const struct command *command, struct client *client, const char *zone);

struct message_meta entry_said(const struct entry *entry); /* as a service is told of it; borrows */
json_t *entry_json(const struct entry *entry);             /* with the payload decoded */

void payload_from_base64(const char *base64, struct buffer *ret); /* replaces the content of ret */

/* A client for a subcommand; complains and exits with EXIT_AWAY when the broker cannot be reached. */
struct client *command_connect(const struct command *command);
/* Does a broker listen at the socket here? true as well where it is on another host: only the connection tells then. */
bool command_broker_listens(const struct command *command);
/* How long to wait for a broker to answer: short where nobody listens at the socket. */
int64_t command_patience_us(const struct command *command);
/* Asks and parses; complains and returns NULL when the answer is no. `what` becomes the argument and is given up. */
json_t *command_ask(const struct command *command, struct client *client, const char *verb, json_t *what);
/* Likewise, of what changes nothing: again in a new session when one broke, as by a broker that is at work on its disk and silent. */
json_t *command_look(const struct command *command, struct client *client, const char *verb, json_t *what);

#endif
