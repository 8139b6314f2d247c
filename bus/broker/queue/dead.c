/*
 * dead.c: the dead letters
 *
 * Owns:      family dead: (queue, number) -> the failure, and a copy of the message: the log may drop the
 *            original.
 * Promises:  dead-lettering frees the key, is itself a message (topic dead.letter), and loses nothing, and so
 *            is giving a letter up; a redriven letter stays here until it has ended well. So does a replayed
 *            message, which comes here from the log.
 * Read next: redrive.c (many at once)
 */
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/queue/queue.h"
#include <errno.h>
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>

static const char TOPIC[] = TOPIC_DEAD_LETTER;
static const int64_t TOLD_EVERY_US = 1 * US_PER_S;
enum { TOLD_BURST = 100 };

void dead_key(const struct queue *queue, uint64_t seq, struct buffer *ret)
{
	buffer_clear(ret);
	buffer_add(ret, queue->peer->name, strlen(queue->peer->name) + 1);
	buffer_add_be64(ret, seq);
}

static void write_row(
	struct broker *broker, struct queue *queue, uint64_t seq, const Trouble *retry, struct bytes message)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer encoded = { 0 };
	_cleanup_(buffer_free) struct buffer value = { 0 };

	dead_key(queue, seq, &key);
	retry_encode(retry, &encoded);
	buffer_add_u32(&value, (uint32_t)encoded.len);
	buffer_add(&value, encoded.data, encoded.len);
	buffer_add(&value, message.data, message.len);
	store_batch_put(broker->batch, FAMILY_DEAD, buffer_bytes(&key), buffer_bytes(&value));
}

int dead_read(
	struct broker *broker, const struct queue *queue, uint64_t seq, Trouble *ret_retry, struct buffer *ret_message)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer value = { 0 };
	size_t len;
	int r;

	if (map_get(queue->dropped, map_number(&seq)))
		return -ENOENT;
	dead_key(queue, seq, &key);
	r = store_get(broker->store, FAMILY_DEAD, buffer_bytes(&key), &value);
	if (r < 0)
		return r;
	len = value.len >= 4 ? get_u32(value.data) : SIZE_MAX;
	if (len > value.len - 4 || !retry_decode(BYTES(value.data + 4, len), ret_retry))
		return -EUCLEAN;
	buffer_add(ret_message, value.data + 4 + len, value.len - 4 - len);
	return 0;
}

/* Says dead.letter. `dropped`: why the letter was given up; "": the message has just died. */
static void say_dead_letter(struct broker *broker, const struct queue *queue, uint64_t seq, const Trouble *retry,
	const Envelope *of, const char *dropped)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	DeadLetter fact = { .seq = seq, .failures = retry->failures, .died_us = retry->died_us };
	Envelope envelope = { .cause = seq, .said_us = broker_wall_us(broker) };
	uint8_t payload[DeadLetter_size];
	pb_ostream_t stream = pb_ostream_from_buffer(payload, sizeof(payload));

	if (strcmp(of->topic, TOPIC) == 0)
		return; /* a dead letter about a dead letter brings no news */
	TEXT_COPY(fact.queue, queue->peer->name);
	TEXT_COPY(fact.topic, of->topic);
	TEXT_COPY(fact.reason, retry->reason);
	TEXT_COPY(fact.dropped, dropped);
	TEXT_COPY(envelope.topic, TOPIC);
	TEXT_COPY(envelope.shop, of->shop);
	TEXT_COPY(envelope.key, of->key);
	TEXT_COPY(envelope.trace, of->trace);
	if (pb_encode(&stream, DeadLetter_fields, &fact) &&
		message_write(&envelope, BYTES(payload, stream.bytes_written), &message) == 0)
		stage_message(
			broker, topology_topic(&broker->topology, TOPIC), &envelope, "broker", buffer_bytes(&message));
}

/* Reads the message: a redriven one from its old row, any other from the log. */
static int read_original(
	struct broker *broker, struct queue *queue, struct queue_item *item, Trouble *retry, struct buffer *ret_message)
{
	struct logged logged;
	int r;

	if (item->redriven) {
		Trouble *before = memory_new(sizeof(*before));

		r = dead_read(broker, queue, item->seq, before, ret_message);
		retry->time_us = before->time_us;
		TEXT_COPY(retry->said_by, before->said_by);
		free(before);
		return r;
	}
	r = log_read(broker->log, item->seq, &logged);
	if (r < 0)
		return r;
	retry->time_us = logged.time_us;
	TEXT_COPY(retry->said_by, logged.said_by);
	buffer_add(ret_message, logged.message.data, logged.message.len);
	return 0;
}

/*
 * Writes one line to the journal for each dead letter. A flood of them pauses the queue; `dlq list` has all
 * of them.
 */
static void log_dead(struct broker *broker, const struct queue *queue, uint64_t seq, const Envelope *of,
	struct bytes payload, const char *reason)
{
	int topic = topology_topic(&broker->topology, of->topic);
	uint32_t path = topic < 0 ? 0 : broker->topology.topics[topic].subject;
	char words[300], subject[100] = "";
	struct log_about about = { .event = event_given_up,
		.shop = of->shop,
		.subject = subject,
		.topic = of->topic,
		.trace = of->trace,
		.seq = seq };

	if (!rate_limit_take(&broker->of_dead_letters, broker_boot_us(broker), TOLD_EVERY_US, TOLD_BURST))
		return;
	if (path > 0)
		text_copy_bytes(subject, sizeof(subject), mask_find(payload, path));
	TEXT_COPY(words, reason);
	text_hide_addresses(words);
	log_event_about(LOG_ERROR, &about, "a dead letter of %s: %s shop=%s seq=%llu: %s", queue->peer->name, of->topic,
		of->shop, (unsigned long long)seq, words);
}

void dead_letter(
	struct broker *broker, struct queue *queue, struct queue_item *item, const char *reason, const char *by)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	_cleanup_free_ Trouble *retry = memory_new(sizeof(*retry));
	Envelope envelope;
	struct bytes payload;
	int r;

	if (item->retry)
		*retry = *item->retry;
	retry->due_us = 0;
	retry->redriven = false;
	retry->died_us = broker_wall_us(broker);
	snprintf(retry->reason, sizeof(retry->reason), "%s (%s)", reason[0] ? reason : "no reason given", by);
	r = read_original(broker, queue, item, retry, &message);
	if (r < 0) {
		broker->broken = r;
		return;
	}
	write_row(broker, queue, item->seq, retry, buffer_bytes(&message));
	queue->dead_count++;
	if (message_read(buffer_bytes(&message), &envelope, &payload) == 0) {
		say_dead_letter(broker, queue, item->seq, retry, &envelope, "");
		log_dead(broker, queue, item->seq, &envelope, payload, retry->reason);
	}
	item->died = true;
	queue_settle(broker, queue, item);
}

void dead_settled(struct broker *broker, struct queue *queue, uint64_t seq)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };

	dead_key(queue, seq, &key);
	store_batch_delete(broker->batch, FAMILY_DEAD, buffer_bytes(&key));
}

/* A letter that is not there is the asker's mistake; one that cannot be read ends the process. */
static bool find_dead(
	struct broker *broker, const struct queue *queue, uint64_t seq, Trouble *ret_retry, struct buffer *ret_message)
{
	int r = dead_read(broker, queue, seq, ret_retry, ret_message);

	if (r < 0 && r != -ENOENT)
		broker->broken = r;
	return r == 0;
}

bool dead_redrive(struct broker *broker, struct queue *queue, uint64_t seq)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	_cleanup_free_ Trouble *retry = memory_new(sizeof(*retry));
	Envelope envelope;
	struct bytes payload;
	struct queue_item *item;

	if (queue_find(queue, seq) || !find_dead(broker, queue, seq, retry, &message) || retry->redriven)
		return false;
	if (message_read(buffer_bytes(&message), &envelope, &payload) < 0)
		return false;
	retry->redriven = true;
	retry->failures = 0;
	write_row(broker, queue, seq, retry, buffer_bytes(&message));
	queue->dead_count--;
	item = queue_add(queue, seq, key_hash(&envelope), topology_topic(&broker->topology, envelope.topic), true);
	item->retry = TAKE(retry);
	broker->needs_dispatch = true;
	return true;
}

bool dead_replay(struct broker *broker, struct queue *queue, const struct logged *logged)
{
	_cleanup_(buffer_free) struct buffer before = { 0 };
	_cleanup_free_ Trouble *retry = memory_new(sizeof(*retry));
	struct queue_item *item;

	if (queue_find(queue, logged->seq) || !ack_bitmap_has(queue, logged->seq) ||
		dead_read(broker, queue, logged->seq, retry, &before) != -ENOENT)
		return false;
	*retry = (Trouble){ .time_us = logged->time_us, .redriven = true, .replayed = true };
	TEXT_COPY(retry->said_by, logged->said_by);
	write_row(broker, queue, logged->seq, retry, logged->message);
	item = queue_add(queue, logged->seq, logged->key_hash, logged->topic, true);
	item->retry = TAKE(retry);
	broker->needs_dispatch = true;
	return true;
}

bool dead_drop(struct broker *broker, struct queue *queue, uint64_t seq, const char *why)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	_cleanup_free_ Trouble *retry = memory_new(sizeof(*retry));
	Envelope envelope;
	struct bytes payload;

	if (queue_find(queue, seq) || !find_dead(broker, queue, seq, retry, &message))
		return false;
	if (message_read(buffer_bytes(&message), &envelope, &payload) == 0)
		say_dead_letter(broker, queue, seq, retry, &envelope, why);
	dead_settled(broker, queue, seq);
	map_put(queue->dropped, map_number(&seq), queue);
	queue->dead_count--;
	return true;
}

bool dead_erase(struct broker *broker, struct queue *queue, uint64_t seq)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	_cleanup_free_ Trouble *retry = memory_new(sizeof(*retry));
	Envelope envelope;
	struct bytes payload;

	if (queue_find(queue, seq) || !find_dead(broker, queue, seq, retry, &message) || retry->redriven)
		return false;
	retry->reason[0] = '\0';
	if (message_read(buffer_bytes(&message), &envelope, &payload) == 0) {
		envelope.key[0] = envelope.trace[0] = '\0';
		say_dead_letter(broker, queue, seq, retry, &envelope, "erased");
	}
	dead_settled(broker, queue, seq);
	map_put(queue->dropped, map_number(&seq), queue);
	queue->dead_count--;
	return true;
}

static void forget(struct bytes key, void *value, void *context)
{
	(void)value;
	map_remove(context, key);
}

void dead_committed(struct broker *broker)
{
	for (int i = 0; i < broker->topology.peer_count; i++)
		if (broker->queues[i] && map_count(broker->queues[i]->dropped) > 0)
			map_each(broker->queues[i]->dropped, forget, broker->queues[i]->dropped);
}

static void open_row(struct broker *broker, struct queue *queue, uint64_t seq, Trouble *retry)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	Envelope envelope;
	struct bytes payload;
	struct queue_item *item;

	if (!find_dead(broker, queue, seq, retry, &message))
		return;
	if (!retry->redriven) {
		queue->dead_count++;
		return;
	}
	if (message_read(buffer_bytes(&message), &envelope, &payload) < 0)
		return;
	item = queue_add(queue, seq, key_hash(&envelope), topology_topic(&broker->topology, envelope.topic), true);
	if (item->retry)
		return; /* it has failed again since */
	item->retry = memory_new(sizeof(*retry));
	*item->retry = *retry;
}

static int open_queue(struct broker *broker, struct queue *queue)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_free_ Trouble *retry = memory_new(sizeof(*retry));
	struct store_cursor *cursor = store_cursor_new(broker->store, FAMILY_DEAD);
	int r;

	dead_key(queue, 0, &key);
	for (bool more = store_cursor_seek(cursor, buffer_bytes(&key)); more; more = store_cursor_next(cursor)) {
		struct bytes found = store_cursor_key(cursor);

		if (found.len != key.len || memcmp(found.data, key.data, key.len - 8) != 0)
			break;
		open_row(broker, queue, get_be64((const uint8_t *)found.data + key.len - 8), retry);
	}
	r = store_cursor_status(cursor);
	store_cursor_free(cursor);
	return r;
}

int dead_open(struct broker *broker)
{
	int r = 0;

	for (int i = 0; r == 0 && i < broker->topology.peer_count; i++)
		if (broker->queues[i])
			r = open_queue(broker, broker->queues[i]);
	return r;
}
