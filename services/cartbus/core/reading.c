/*
 * reading.c: asking the broker, and reading its log page by page
 *
 * Fails by:  EXIT_AWAY when nobody answers, with what to do.
 */
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/json_file.h"

#include "bus/base/cleanup.h"
#include "services/cartbus/core/cartbus.h"
#include "services/cartbus/core/print.h"
#include "services/carts/words/describe.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PATIENCE_US (5 * US_PER_S)           /* for the first answer of a broker that may be busy starting */
#define NOBODY_PATIENCE_US (600 * US_PER_MS) /* where nobody listens: one that is being restarted may come */
enum { PAGE_MESSAGES = 500, BREAKS_MOST = 20 /* of a session, each after a silence: half a minute in all */ };

/*
 * Only a local broker is looked for: of a distant one the connection itself tells. A socket for datagrams cannot be connected to the
 * broker's, and the kernel says so only while that one is bound (unix(7): EPROTOTYPE, else ECONNREFUSED): the broker sees nothing of it.
 */
bool command_broker_listens(const struct command *command)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *run = config_get(command->config, "paths", NULL, "run");

	if (command_is_far(command) || fd < 0)
		return true;
	if (snprintf(address.sun_path, sizeof(address.sun_path), "%s/control", run) >= (int)sizeof(address.sun_path))
		return true;
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 || errno == EPROTOTYPE;
}

int64_t command_patience_us(const struct command *command)
{
	return command_broker_listens(command) ? PATIENCE_US : NOBODY_PATIENCE_US;
}

struct client *command_connect(const struct command *command)
{
	int64_t patience_us = command_patience_us(command);
	struct client *client = NULL;
	char why[256];

	if (client_open(&cartbus, command->config, &command->clock, patience_us, &client, why)) {
		complain(command, "cannot reach the broker: %s%s", why,
			command_is_far(command) ? "" : "; is `cartbus up` running?");
		exit(EXIT_AWAY);
	}
	return client;
}

static json_t *parsed(const struct command *command, const char *verb, const struct buffer *answer)
{
	json_error_t error;
	json_t *parsed = json_loadb((const char *)answer->data, answer->len, 0, &error);

	if (!parsed)
		complain(command, "the broker's answer to \"%s\" is not JSON: %s", verb, error.text);
	return parsed;
}

/* Gives up `what`. */
static json_t *ask(
	const struct command *command, struct client *client, const char *verb, json_t *what, int breaks_most)
{
	_cleanup_free_ char *argument = what ? json_dumps(what, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	_cleanup_(buffer_free) struct buffer answer = { 0 };
	int failed = -ECONNRESET;
	char why[256];

	json_decref(what);
	for (int breaks = 0; failed == -ECONNRESET && breaks <= breaks_most; breaks++)
		failed = client_ask(client, verb, argument ? argument : "{}", &answer, why);
	if (!failed)
		return parsed(command, verb, &answer);
	complain(command, "%s", why);
	return NULL;
}

json_t *command_ask(const struct command *command, struct client *client, const char *verb, json_t *what)
{
	return ask(command, client, verb, what, 0);
}

json_t *command_look(const struct command *command, struct client *client, const char *verb, json_t *what)
{
	return ask(command, client, verb, what, BREAKS_MOST);
}

static void entry_of(const json_t *message, struct buffer *payload, struct entry *ret)
{
	payload_from_base64(member_text(message, "payload"), payload);
	*ret = (struct entry){ .seq = (uint64_t)json_integer_value(json_object_get(message, "seq")),
		.version = (uint64_t)json_integer_value(json_object_get(message, "version")),
		.cause = (uint64_t)json_integer_value(json_object_get(message, "cause")),
		.time_us = json_integer_value(json_object_get(message, "time_us")),
		.topic = member_text(message, "topic"),
		.shop = member_text(message, "shop"),
		.key = member_text(message, "key"),
		.idem = member_text(message, "idem"),
		.said_by = member_text(message, "said_by"),
		.trace = member_text(message, "trace"),
		.tombstone = json_is_true(json_object_get(message, "tombstone")),
		.payload = buffer_bytes(payload) };
}

static json_t *question(const struct reading_filter *filter, uint64_t from)
{
	json_t *what = json_pack("{s:I,s:i}", "from", (json_int_t)from, "limit", PAGE_MESSAGES);

	if (filter->masked)
		json_object_set_new(what, "masked", json_true());
	if (filter->topic)
		json_object_set_new(what, "topic", json_string(filter->topic));
	if (filter->shop)
		json_object_set_new(what, "shop", json_string(filter->shop));
	if (filter->or_shop)
		json_object_set_new(what, "or_shop", json_string(filter->or_shop));
	if (filter->topics)
		json_object_set_new(what, "topics", json_array());
	for (const char *const *topic = filter->topics; topic && *topic; topic++)
		json_array_append_new(json_object_get(what, "topics"), json_string(*topic));
	if (filter->key)
		json_object_set_new(what, "key", json_string(filter->key));
	return what;
}

/* false: each() has had enough */
static bool read_page(const json_t *page, entry_fn *each, void *context)
{
	_cleanup_(buffer_free) struct buffer payload = { 0 };
	struct entry entry;
	const json_t *message;
	size_t i;

	json_array_foreach(json_object_get(page, "messages"), i, message)
	{
		entry_of(message, &payload, &entry);
		if (!each(&entry, context))
			return false;
	}
	return true;
}

int reading_each(const struct command *command, struct client *client, const struct reading_filter *filter,
	entry_fn *each, void *context)
{
	json_int_t from = (json_int_t)filter->from;

	for (;;) {
		json_t *page = command_look(command, client, "read", question(filter, (uint64_t)from));
		const json_t *next = json_object_get(page, "next");
		bool more;

		if (!page)
			return EXIT_NO;
		more = read_page(page, each, context) && json_is_integer(next) && json_integer_value(next) > from;
		from = json_integer_value(next);
		json_decref(page);
		if (!more)
			return EXIT_FINE;
	}
}

/* The first message that is not before `seq`: its number and time. false: there is none, or nobody answers. */
static bool message_from(const struct command *command, struct client *client, uint64_t *seq, int64_t *ret_us)
{
	bool found = false;

	for (json_int_t from = (json_int_t)*seq; from > 0 && !found;) {
		json_t *page = command_look(command, client, "read", json_pack("{s:I,s:i}", "from", from, "limit", 1));
		const json_t *first = json_array_get(json_object_get(page, "messages"), 0);

		found = first != NULL;
		if (found) {
			*seq = (uint64_t)json_integer_value(json_object_get(first, "seq"));
			*ret_us = json_integer_value(json_object_get(first, "time_us"));
		}
		from = json_integer_value(json_object_get(page, "next"));
		json_decref(page);
	}
	return found;
}

int reading_find(
	const struct command *command, struct client *client, int64_t time_us, uint64_t *ret_seq, int64_t *ret_us)
{
	json_t *status = command_look(command, client, "status", NULL);
	uint64_t low = 1, high = (uint64_t)json_integer_value(json_object_get(status, "head")) + 1;

	if (!status)
		return EXIT_NO;
	json_decref(status);
	*ret_us = 0;
	while (low < high) { /* log time never goes backwards */
		uint64_t middle = low + (high - low) / 2, at = middle;
		int64_t at_us;

		if (!message_from(command, client, &at, &at_us) || at_us >= time_us)
			high = middle;
		else
			low = at + 1;
	}
	*ret_seq = low;
	message_from(command, client, ret_seq, ret_us);
	return EXIT_FINE;
}

struct message_meta entry_said(const struct entry *entry)
{
	return (struct message_meta){ .topic = entry->topic,
		.shop = entry->shop,
		.key = entry->key,
		.idem = "",
		.trace = entry->trace,
		.said_by = entry->said_by,
		.seq = entry->seq,
		.version = entry->version,
		.tombstone = entry->tombstone,
		.cause = entry->cause,
		.time_us = entry->time_us };
}

json_t *entry_json(const struct entry *entry)
{
	const struct topic *topic = topic_of(entry->topic);
	json_t *object = json_pack("{s:I,s:I,s:s,s:s,s:s,s:s,s:I}", "seq", (json_int_t)entry->seq, "time_us",
		(json_int_t)entry->time_us, "topic", entry->topic, "shop", entry->shop, "key", entry->key, "said_by",
		entry->said_by, "version", (json_int_t)entry->version);

	if (entry->tombstone)
		json_object_set_new(object, "tombstone", json_true());
	if (entry->cause)
		json_object_set_new(object, "cause", json_integer((json_int_t)entry->cause));
	if (*entry->trace)
		json_object_set_new(object, "trace", json_string(entry->trace));
	if (topic)
		json_object_set_new(object, "payload", payload_json(topic, entry->payload));
	return object;
}

static void print_class(const json_t *kept, const char *name, const char *words, const char *zone)
{
	int64_t from_us = json_integer_value(json_object_get(json_object_get(kept, name), "from_us"));
	char at[40];

	if (from_us <= 0)
		return;
	describe_time(zone, from_us, at);
	printf("%s the log goes back to %s; see [retention]\n", words, at);
}

void print_reach(const json_t *kept, const char *zone)
{
	print_class(kept, "raw", "of what storefronts and shoppers sent", zone);
	print_class(kept, "facts", "of what was decided", zone);
}

void command_print_reach(const struct command *command, struct client *client, const char *zone)
{
	json_t *status = command_look(command, client, "status", NULL);

	if (status)
		print_reach(json_object_get(status, "kept"), zone);
	json_decref(status);
}
