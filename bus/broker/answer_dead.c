/*
 * answer_dead.c: the dead letters, as the operator lists, redrives and drops them
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/broker/question.h"
#include <stdio.h>
#include <stdlib.h>

enum { LETTERS_USUAL = 100, LETTERS_MOST = 1000 };

/* One dead letter, read. */
struct obituary {
	struct queue *queue;
	uint64_t seq;
	Trouble trouble;
	Envelope envelope;
	struct bytes payload;
	struct buffer message;
};

static void obituary_free(struct obituary *obituary)
{
	buffer_free(&obituary->message);
	free(obituary);
}

DEFINE_CLEANUP(struct obituary *, obituary_free)

static bool read_obituary(struct broker *broker, struct obituary *obituary)
{
	buffer_clear(&obituary->message);
	return dead_read(broker, obituary->queue, obituary->seq, &obituary->trouble, &obituary->message) == 0 &&
		message_read(buffer_bytes(&obituary->message), &obituary->envelope, &obituary->payload) == 0 &&
		!obituary->trouble.redriven;
}

static json_t *describe_history(const Trouble *trouble)
{
	json_t *array = json_array();

	for (pb_size_t i = 0; i < trouble->history_count; i++)
		json_array_append_new(array,
			json_pack("{s:I,s:s,s:s}", "at_us", (json_int_t)trouble->history[i].at_us, "reason",
				trouble->history[i].reason, "by", trouble->history[i].by));
	return array;
}

static json_t *describe(const struct obituary *obituary)
{
	const Trouble *trouble = &obituary->trouble;

	return json_pack("{s:s,s:I,s:s,s:s,s:s,s:I,s:I,s:s,s:I,s:o}", "queue", obituary->queue->peer->name, "seq",
		(json_int_t)obituary->seq, "topic", obituary->envelope.topic, "shop", obituary->envelope.shop, "key",
		obituary->envelope.key, "time_us", (json_int_t)trouble->time_us, "died_us",
		(json_int_t)trouble->died_us, "reason", trouble->reason, "failures", (json_int_t)trouble->failures,
		"history", describe_history(trouble));
}

static bool matches(const struct obituary *obituary, json_t *argument)
{
	const char *shop = argument_text(argument, "shop"), *topic = argument_text(argument, "topic");

	return (!shop || strcmp(shop, obituary->envelope.shop) == 0) &&
		(!topic || strcmp(topic, obituary->envelope.topic) == 0);
}

/* Calls each() for every dead letter of the queue (NULL: of all) that the argument asks for, until it returns false. */
typedef bool dead_fn(struct broker *broker, struct obituary *obituary, void *context);

static bool visit_row(struct broker *broker, json_t *argument, struct bytes key, dead_fn *each, void *context)
{
	_cleanup_(obituary_freep) struct obituary *obituary = memory_new(sizeof(*obituary));
	const char *name = key.data;
	size_t len = strnlen(name, key.len);

	if (key.len != len + 1 + 8)
		return true;
	obituary->queue = queue_by_name(broker, name);
	obituary->seq = get_be64(name + len + 1);
	if (!obituary->queue || !read_obituary(broker, obituary) || !matches(obituary, argument))
		return true;
	return each(broker, obituary, context);
}

static void each_dead(struct broker *broker, json_t *argument, dead_fn *each, void *context)
{
	struct store_cursor *cursor = store_cursor_new(broker->store, FAMILY_DEAD);
	const char *queue = argument_text(argument, "queue");
	size_t len = queue ? strlen(queue) + 1 : 0;

	for (bool more = store_cursor_seek(cursor, BYTES(queue, len)); more; more = store_cursor_next(cursor)) {
		struct bytes key = store_cursor_key(cursor);

		if (key.len < len || (len > 0 && memcmp(key.data, queue, len) != 0))
			break;
		if (!visit_row(broker, argument, key, each, context))
			break;
	}
	store_cursor_free(cursor);
}

struct listing {
	json_t *array;
	uint64_t limit;
};

static bool list_one(struct broker *broker, struct obituary *obituary, void *context)
{
	struct listing *listing = context;

	(void)broker;
	json_array_append_new(listing->array, describe(obituary));
	return json_array_size(listing->array) < listing->limit;
}

json_t *answer_dead_list(struct broker *broker, json_t *argument, char ret_error[256])
{
	struct listing listing = { .limit = argument_number(argument, "limit", LETTERS_USUAL) };

	(void)ret_error;
	if (listing.limit == 0 || listing.limit > LETTERS_MOST)
		listing.limit = LETTERS_MOST;
	listing.array = json_array();
	each_dead(broker, argument, list_one, &listing);
	return json_pack("{s:o}", "dead", listing.array);
}

/* The letter that the argument names by queue and seq; NULL: there is none, ret_error says so. */
static struct obituary *find_letter(struct broker *broker, json_t *argument, char ret_error[256])
{
	_cleanup_(obituary_freep) struct obituary *obituary = memory_new(sizeof(*obituary));

	obituary->queue = queue_by_name(broker, argument_text(argument, "queue"));
	obituary->seq = argument_number(argument, "seq", 0);
	if (!obituary->queue) {
		snprintf(ret_error, 256, "there is no queue \"%.32s\"; `cartbus queues` names them",
			argument_text(argument, "queue") ? argument_text(argument, "queue") : "");
		return NULL;
	}
	if (obituary->seq == 0) {
		snprintf(ret_error, 256, "which dead letter? `cartbus dlq list` names their sequence numbers");
		return NULL;
	}
	if (!read_obituary(broker, obituary)) {
		snprintf(ret_error, 256, "queue %s has no dead letter %llu", obituary->queue->peer->name,
			(unsigned long long)obituary->seq);
		return NULL;
	}
	return TAKE(obituary);
}

json_t *answer_dead_show(struct broker *broker, json_t *argument, char ret_error[256])
{
	_cleanup_(obituary_freep) struct obituary *obituary = find_letter(broker, argument, ret_error);
	json_t *object;

	if (!obituary)
		return NULL;
	object = describe(obituary);
	json_object_set_new(object, "payload", json_base64(obituary->payload));
	return object;
}

static bool redrive_one(struct broker *broker, struct obituary *obituary, void *context)
{
	uint64_t *redriven = context;

	if (dead_redrive(broker, obituary->queue, obituary->seq))
		(*redriven)++;
	return true;
}

json_t *answer_dead_redrive(struct broker *broker, json_t *argument, char ret_error[256])
{
	_cleanup_(obituary_freep) struct obituary *obituary = NULL;
	uint64_t redriven = 0;

	if (json_is_true(json_object_get(argument, "all"))) {
		each_dead(broker, argument, redrive_one, &redriven);
	} else {
		obituary = find_letter(broker, argument, ret_error);
		if (!obituary)
			return NULL;
		redrive_one(broker, obituary, &redriven);
	}
	return json_pack("{s:I}", "redriven", (json_int_t)redriven);
}

json_t *answer_dead_drop(struct broker *broker, json_t *argument, char ret_error[256])
{
	_cleanup_(obituary_freep) struct obituary *obituary = NULL;

	if (!argument_text(argument, "why")) {
		snprintf(ret_error, 256, "say why: {\"queue\":\"sender\",\"seq\":17,\"why\":\"...\"}");
		return NULL;
	}
	obituary = find_letter(broker, argument, ret_error);
	if (!obituary)
		return NULL;
	return json_pack("{s:I}", "dropped", (json_int_t)dead_drop(broker, obituary->queue, obituary->seq));
}
