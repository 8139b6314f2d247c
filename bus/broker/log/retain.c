/*
 * retain.c: decides which messages the log drops, by age and size, and which must stay
 *
 * Owns:      the row "retain" of family meta: the last log.forgotten.
 * Promises:  a class of topics with limited retention is dropped in whole ranges, a few times a day; never a
 *            message that a queue has not settled, that a live session has not been shown, or that `latest`
 *            has not folded. (A dead letter has a copy of its own.) The log first says what is forgotten
 *            (topic log.forgotten): every service that folds it forgets the same, at the same place in the
 *            log, whether it was there all the time or comes when it is dropped. Ended rows of `latest` leave
 *            by the age of the facts; standing rows stay, however old. Nothing is dropped while the clock is
 *            not trusted (clocks.c).
 * Read next: drop.c (how), latest.c, bus/actor/runtime/retention.c (the other side), bus/base/retention.h
 *            (the numbers)
 */
#include "bus/broker/log/retain.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/log/latest.h"
#include "bus/broker/session/session.h"
#include <errno.h>
#include <pb_encode.h>
#include <stdlib.h>

static const int64_t LOOK_EVERY_US = 4 * US_PER_HOUR;
static const char SAID[] = "retain", SHOP_OF_ALL[] = "cartbus";

enum { CLASS_RAW, CLASS_FACT, SAID_LEN = 24 };

struct retention {
	int64_t due_us;      /* log time of the next look for messages to drop */
	uint64_t said;       /* number of the message that announces the next drop; 0: none */
	Forgotten forgotten; /* as last said */
};

static void add_topics_of(const struct broker *broker, uint8_t class, struct topic_set *ret)
{
	for (int i = 0; i < broker->topology.topic_count; i++)
		if (broker->topology.topics[i].retention == class)
			topic_set_add(ret, i);
}

static void lower(uint64_t *limit, uint64_t other)
{
	if (other < *limit)
		*limit = other;
}

/* The first message of a class that a queue, a session or `latest` still needs. */
static uint64_t needed_from(const struct broker *broker, uint8_t class)
{
	_cleanup_(topic_set_clear) struct topic_set topics = { 0 };
	uint64_t limit = latest_written(broker) + 1;

	add_topics_of(broker, class, &topics);
	for (int i = 0; i < broker->topology.peer_count; i++)
		if (broker->queues[i] && topic_set_meet(&broker->topology.peers[i].hears, &topics))
			lower(&limit, broker->queues[i]->floor + 1);
	LIST_EACH (hook, &broker->sessions->all) {
		const struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (topic_set_meet(&broker->topology.peers[session->peer].remembers, &topics))
			lower(&limit, session->cursor + 1);
	}
	return limit;
}

struct rule {
	int64_t age_us, least_us;
	uint64_t bytes;
};

static struct rule rule_of(const struct broker *broker, uint8_t class)
{
	const struct retention_limits *retention = &broker->settings.retention;

	if (class == CLASS_RAW) /* a look too early, not too late: persons were promised this age */
		return (struct rule){ retention->raw_us - LOOK_EVERY_US, RETENTION_RAW_LEAST_US, retention->raw_bytes };
	return (struct rule){ retention->facts_us, RETENTION_FACTS_LEAST_US, retention->facts_bytes };
}

/* For one class: the message before which all may go, and the one before which all are of that age. */
static int find_ends(struct broker *broker, uint8_t class, uint64_t *ret_before, uint64_t *ret_aged)
{
	struct rule rule = rule_of(broker, class);
	int64_t now_us = broker_wall_us(broker);
	uint64_t limit = needed_from(broker, class), by_size = 0, least = 0;
	int r = log_seek_time(broker->log, now_us - rule.age_us, ret_aged);

	if (r == 0 && rule.bytes > 0) {
		r = log_seek_size(broker->log, class, rule.bytes, &by_size);
		if (r == 0)
			r = log_seek_time(broker->log, now_us - rule.least_us, &least);
		lower(&by_size, least);
	}
	*ret_before = by_size > *ret_aged ? by_size : *ret_aged;
	lower(ret_before, limit);
	lower(ret_aged, limit);
	return r;
}

static void raise(uint64_t *number, uint64_t other)
{
	if (other > *number)
		*number = other;
}

/* The limits only move forward: a message that was said to be forgotten stays forgotten. */
static int find_forgotten(struct broker *broker, Forgotten *ret)
{
	uint64_t raw = 0, raw_aged = 0, facts = 0, facts_aged = 0;
	int r = find_ends(broker, CLASS_RAW, &raw, &raw_aged);

	if (r == 0)
		r = find_ends(broker, CLASS_FACT, &facts, &facts_aged);
	*ret = broker->retention->forgotten;
	ret->ends_from = log_ends_from(broker->log);
	raise(&ret->raw_before, raw);
	raise(&ret->facts_before, facts);
	raise(&ret->rows_before, facts_aged);
	return r;
}

/* --- announcing a drop --- */

static void write_said(struct broker *broker)
{
	uint8_t row[SAID_LEN];

	put_be64(row, broker->retention->forgotten.raw_before);
	put_be64(row + 8, broker->retention->forgotten.facts_before);
	put_be64(row + 16, broker->retention->forgotten.rows_before);
	store_batch_put(broker->batch, FAMILY_META, bytes_of(SAID), BYTES(row, sizeof(row)));
}

static int read_said(struct broker *broker)
{
	_cleanup_(buffer_free) struct buffer row = { 0 };
	int r = store_get(broker->store, FAMILY_META, bytes_of(SAID), &row);

	broker->retention->forgotten =
		(Forgotten){ .raw_before = 1, .facts_before = 1, .rows_before = 1 }; /* nothing */
	if (r == -ENOENT)
		return 0;
	if (r == 0 && row.len != SAID_LEN)
		r = -EUCLEAN;
	if (r < 0)
		return r;
	broker->retention->forgotten.raw_before = get_be64(row.data);
	broker->retention->forgotten.facts_before = get_be64(row.data + 8);
	broker->retention->forgotten.rows_before = get_be64(row.data + 16);
	return 0;
}

static void publish_forgotten(struct broker *broker)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	Envelope envelope = { .said_us = broker_wall_us(broker) };
	uint8_t payload[Forgotten_size];
	pb_ostream_t stream = pb_ostream_from_buffer(payload, sizeof(payload));
	int topic = topology_topic(&broker->topology, TOPIC_FORGOTTEN);

	TEXT_COPY(envelope.topic, TOPIC_FORGOTTEN);
	TEXT_COPY(envelope.shop, SHOP_OF_ALL);
	if (!pb_encode(&stream, Forgotten_fields, &broker->retention->forgotten) ||
		message_write(&envelope, BYTES(payload, stream.bytes_written), &message) < 0)
		return;
	broker->retention->said = stage_message(broker, topic, &envelope, "broker", buffer_bytes(&message));
	write_said(broker);
}

uint64_t retain_publish_again(struct broker *broker)
{
	uint64_t said = broker->retention->said, number;

	publish_forgotten(broker);
	number = broker->retention->said;
	broker->retention->said = said;
	return number;
}

/* If there is anything new to forget, says so; it goes when that message is on the disk. */
static bool say_forgotten(struct broker *broker)
{
	Forgotten now;

	broker->broken = find_forgotten(broker, &now);
	if (broker->broken < 0 ||
		(now.raw_before == broker->retention->forgotten.raw_before &&
			now.facts_before == broker->retention->forgotten.facts_before &&
			now.rows_before == broker->retention->forgotten.rows_before))
		return false;
	broker->retention->forgotten = now;
	publish_forgotten(broker);
	return true;
}

/* --- dropping --- */

/* A session that has come since may need messages that were said to be forgotten: it is shown them first. */
static int drop(struct broker *broker, uint8_t class)
{
	uint64_t before = class == CLASS_RAW ? broker->retention->forgotten.raw_before
					     : broker->retention->forgotten.facts_before;

	lower(&before, needed_from(broker, class));
	return log_drop(broker->log, class, before);
}

void retain_open(struct broker *broker)
{
	broker->retention = memory_new(sizeof(*broker->retention));
	broker->broken = read_said(broker);
}

void retain_close(struct broker *broker)
{
	free(broker->retention);
}

void retain(struct broker *broker)
{
	if (broker->broken < 0 || broker->retention->said > log_head(broker->log))
		return;
	if (broker->retention->said == 0) {
		if (!clocks_are_trusted(broker) || broker_wall_us(broker) < broker->retention->due_us)
			return;
		latest_keep_cursor(broker);
		if (broker->broken < 0 || say_forgotten(broker))
			return;
	}
	broker->retention->said = 0;
	broker->retention->due_us = broker_wall_us(broker) + LOOK_EVERY_US;
	for (uint8_t class = CLASS_RAW; class <= CLASS_FACT && broker->broken == 0; class ++)
		broker->broken = drop(broker, class);
}

/*
 * A service's store that stopped before messages dropped since cannot be brought up to date: it is folded
 * anew.
 */
bool retain_is_too_old(const struct broker *broker, int peer, uint64_t cursor)
{
	for (uint8_t class = CLASS_RAW; cursor > 0 && class <= CLASS_FACT; class ++) {
		_cleanup_(topic_set_clear) struct topic_set topics = { 0 };

		add_topics_of(broker, class, &topics);
		if (topic_set_meet(&broker->topology.peers[peer].remembers, &topics) &&
			cursor + 1 < log_kept_from(broker->log, class))
			return true;
	}
	return false;
}
