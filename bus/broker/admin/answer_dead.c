/*
 * answer_dead.c: the dead letters, as the operator lists, redrives and drops them
 *
 * Promises:  listing changes nothing, and no question holds the broker up for long: a list comes in pages,
 *            redrive.c redrives many letters in small steps, and the operator's command drops many letters
 *            one after the other.
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/admin/question.h"
#include "bus/broker/queue/queue.h"
#include "bus/broker/queue/redrive.h"
#include <stdio.h>
#include <stdlib.h>

enum { DEAD_LETTERS_USUAL = 100, DEAD_LETTERS_MOST = 1000, LOOK_AT_MOST = 5000 };

/* One dead letter, read. */
struct obituary {
	struct queue *queue;
	uint64_t seq;
	Trouble retry;
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
	return dead_read(broker, obituary->queue, obituary->seq, &obituary->retry, &obituary->message) == 0 &&
		message_read(buffer_bytes(&obituary->message), &obituary->envelope, &obituary->payload) == 0 &&
		!obituary->retry.redriven;
}

static json_t *describe_history(const Trouble *retry)
{
	json_t *array = json_array();

	for (pb_size_t i = 0; i < retry->history_count; i++)
		json_array_append_new(array,
			json_pack("{s:I,s:s,s:s}", "at_us", (json_int_t)retry->history[i].at_us, "reason",
				retry->history[i].reason, "by", retry->history[i].by));
	return array;
}

static json_t *describe(const struct obituary *obituary)
{
	const Trouble *retry = &obituary->retry;

	return json_pack("{s:s,s:I,s:s,s:s,s:s,s:s,s:I,s:I,s:s,s:I,s:b,s:o}", "queue", obituary->queue->peer->name,
		"seq", (json_int_t)obituary->seq, "topic", obituary->envelope.topic, "shop", obituary->envelope.shop,
		"key", obituary->envelope.key, "idem", obituary->envelope.idem, "time_us", (json_int_t)retry->time_us,
		"died_us", (json_int_t)retry->died_us, "reason", retry->reason, "failures", (json_int_t)retry->failures,
		"replayed", (int)retry->replayed, "history", describe_history(retry));
}

void argument_filter(json_t *argument, Feed *ret)
{
	const char *topic = argument_text(argument, "topic"), *shop = argument_text(argument, "shop");
	const char *reason = argument_text(argument, "reason");

	TEXT_COPY(ret->topic, topic ? topic : "");
	TEXT_COPY(ret->shop, shop ? shop : "");
	TEXT_COPY(ret->reason, reason ? reason : "");
	ret->died_after_us = (int64_t)argument_number(argument, "died_after_us", 0);
	ret->died_before_us = (int64_t)argument_number(argument, "died_before_us", 0);
}

/* One page of the list, and where the next one begins. */
struct listing {
	Feed filter;
	const char *queue; /* NULL: of all queues */
	uint64_t limit;
	int looked;
	json_t *array, *next;
};

/* false: the row is not of this queue, or not a row of a queue. */
static bool read_row(struct broker *broker, const struct listing *listing, struct bytes key, struct obituary *ret)
{
	const char *name = key.data;
	size_t len = strnlen(name, key.len);

	if (key.len != len + 1 + 8)
		return false;
	ret->queue = queue_by_name(broker, name);
	ret->seq = get_be64(name + len + 1);
	return ret->queue && (!listing->queue || strcmp(listing->queue, name) == 0);
}

static bool is_page_full(const struct listing *listing)
{
	return json_array_size(listing->array) >= listing->limit || listing->looked >= LOOK_AT_MOST;
}

static void list_page(struct broker *broker, struct listing *listing, struct bytes from)
{
	_cleanup_(obituary_freep) struct obituary *obituary = memory_new(sizeof(*obituary));
	struct store_cursor *cursor = store_cursor_new(broker->store, FAMILY_DEAD);

	for (bool more = store_cursor_seek(cursor, from); more; more = store_cursor_next(cursor)) {
		if (!read_row(broker, listing, store_cursor_key(cursor), obituary)) {
			if (listing->queue)
				break;
			continue; /* the row's queue is not declared any more */
		}
		if (is_page_full(listing)) {
			listing->next = json_pack(
				"{s:s,s:I}", "queue", obituary->queue->peer->name, "seq", (json_int_t)obituary->seq);
			break;
		}
		listing->looked++;
		if (read_obituary(broker, obituary) &&
			redrive_wants_dead(&listing->filter, &obituary->envelope, &obituary->retry))
			json_array_append_new(listing->array, describe(obituary));
	}
	store_cursor_free(cursor);
}

/*
 * Where a page begins: at "from", where the page before ended; else at the first row of its queue, or of all
 * queues.
 */
static void page_begins(const struct listing *listing, json_t *argument, struct buffer *ret)
{
	json_t *from = json_object_get(argument, "from");
	const char *queue = argument_text(from, "queue");

	if (!queue)
		queue = listing->queue;
	if (!queue)
		return;
	buffer_add(ret, queue, strlen(queue) + 1);
	buffer_add_be64(ret, argument_number(from, "seq", 0));
}

json_t *answer_dead_list(struct broker *broker, json_t *argument, char ret_error[256])
{
	_cleanup_(buffer_free) struct buffer from = { 0 };
	struct listing listing = { .limit = argument_number(argument, "limit", DEAD_LETTERS_USUAL),
		.queue = argument_text(argument, "queue") };

	if (listing.queue && !argument_queue(broker, argument, ret_error))
		return NULL;
	if (listing.limit == 0 || listing.limit > DEAD_LETTERS_MOST)
		listing.limit = DEAD_LETTERS_MOST;
	argument_filter(argument, &listing.filter);
	page_begins(&listing, argument, &from);
	listing.array = json_array();
	list_page(broker, &listing, buffer_bytes(&from));
	return json_pack("{s:o,s:o}", "dead", listing.array, "next", listing.next ? listing.next : json_null());
}

/* The dead letter that the argument names by queue and seq; NULL: there is none, and ret_error says so. */
static struct obituary *find_obituary(struct broker *broker, json_t *argument, char ret_error[256])
{
	_cleanup_(obituary_freep) struct obituary *obituary = memory_new(sizeof(*obituary));

	obituary->queue = argument_queue(broker, argument, ret_error);
	obituary->seq = argument_number(argument, "seq", 0);
	if (!obituary->queue)
		return NULL;
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
	_cleanup_(obituary_freep) struct obituary *obituary = find_obituary(broker, argument, ret_error);
	json_t *object;

	if (!obituary)
		return NULL;
	object = describe(obituary);
	json_object_set_new(object, "payload", json_base64(obituary->payload));
	return object;
}

static json_t *redrive_many(struct broker *broker, json_t *argument, char ret_error[256])
{
	struct queue *queue = argument_queue(broker, argument, ret_error);
	Feed what = { .to = UINT64_MAX, .rate = (uint32_t)argument_number(argument, "rate", 0) };

	argument_filter(argument, &what);
	if (what.died_before_us == 0) /* a letter that dies again meanwhile is not redriven for ever */
		what.died_before_us = broker_wall_us(broker);
	return queue ? begin_redrive(broker, queue, &what, ret_error) : NULL;
}

json_t *answer_dead_redrive(struct broker *broker, json_t *argument, char ret_error[256])
{
	_cleanup_(obituary_freep) struct obituary *obituary = NULL;

	if (!json_object_get(argument, "seq") && json_is_true(json_object_get(argument, "all")))
		return redrive_many(broker, argument, ret_error);
	obituary = find_obituary(broker, argument, ret_error);
	if (!obituary)
		return NULL;
	return json_pack("{s:I}", "redriven", (json_int_t)dead_redrive(broker, obituary->queue, obituary->seq));
}

json_t *answer_dead_drop(struct broker *broker, json_t *argument, char ret_error[256])
{
	_cleanup_(obituary_freep) struct obituary *obituary = NULL;

	if (!argument_text(argument, "why")) {
		snprintf(ret_error, 256, "say why: {\"queue\":\"sender\",\"seq\":17,\"why\":\"...\"}");
		return NULL;
	}
	obituary = find_obituary(broker, argument, ret_error);
	if (!obituary)
		return NULL;
	return json_pack("{s:I}", "dropped",
		(json_int_t)dead_drop(broker, obituary->queue, obituary->seq, argument_text(argument, "why")));
}
