/*
 * answer_read.c: the operator reads the log
 *
 * Promises:  a question never holds the broker up for long: it reads a limited number of messages and says
 *            where to go on. For topics asked for by name, the columns tell where their messages lie: nothing
 *            else is read.
 */
#include "bus/base/cleanup.h"
#include "bus/broker/admin/question.h"
#include <errno.h>
#include <stdio.h>

enum {
	MESSAGES_USUAL = 100,
	MESSAGES_MOST = 1000,
	LOOK_AT_MOST = 20000, /* messages per question */
	LOADS_MOST = 1024,    /* blocks that a question may read from the disk: a few milliseconds */
	BYTES_MOST = 1 << 20,
};

struct reading {
	const char *topic, *shop, *or_shop, *key;
	uint64_t hash;           /* of shop and key, when both are given */
	struct topic_set topics; /* the topics asked for, all of them declared; none: every topic */
	uint64_t limit;
	size_t bytes;
	bool masked; /* payloads are masked, except the fields that their topics show */
	json_t *messages;
};

static json_t *describe_payload(
	const struct broker *broker, const struct reading *reading, const char *topic, struct bytes payload)
{
	_cleanup_(buffer_free) struct buffer shown = { 0 };
	int index = topology_topic(&broker->topology, topic);

	if (!reading->masked)
		return json_base64(payload);
	buffer_add(&shown, payload.data, payload.len);
	if (index < 0 || mask_payload(&broker->topology.topics[index].mask, shown.data, shown.len) < 0)
		buffer_clear(&shown);
	return json_base64(buffer_bytes(&shown));
}

static json_t *describe(const struct logged *logged, const Envelope *envelope)
{
	json_t *object = json_pack("{s:I,s:I,s:s,s:s,s:s,s:s,s:I,s:b,s:I,s:s,s:s}", "seq", (json_int_t)logged->seq,
		"time_us", (json_int_t)logged->time_us, "topic", envelope->topic, "shop", envelope->shop, "key",
		envelope->key, "idem", envelope->idem, "version", (json_int_t)envelope->version, "tombstone",
		(int)envelope->tombstone, "cause", (json_int_t)envelope->cause, "trace", envelope->trace, "said_by",
		logged->said_by);

	return object;
}

static bool is_of_shop(const struct reading *reading, const char *shop)
{
	return !reading->shop || strcmp(reading->shop, shop) == 0 ||
		(reading->or_shop && strcmp(reading->or_shop, shop) == 0);
}

static bool matches(const struct reading *reading, const Envelope *envelope)
{
	return (!reading->topic || strcmp(reading->topic, envelope->topic) == 0) &&
		is_of_shop(reading, envelope->shop) && (!reading->key || strcmp(reading->key, envelope->key) == 0);
}

static int look_at(struct broker *broker, struct reading *reading, uint64_t seq)
{
	struct logged logged;
	Envelope envelope;
	struct bytes payload;
	json_t *object;
	int r = log_read(broker->log, seq, &logged);

	if (r == -ENOENT)
		return 0; /* dropped: its retention has ended */
	if (r < 0)
		return r;
	if ((reading->hash && logged.key_hash != reading->hash) || logged.flags & FLAG_ERASED)
		return 0;
	if (message_read(logged.message, &envelope, &payload) < 0 || !matches(reading, &envelope))
		return 0;
	reading->bytes += logged.message.len;
	object = describe(&logged, &envelope);
	json_object_set_new(object, "payload", describe_payload(broker, reading, envelope.topic, payload));
	json_array_append_new(reading->messages, object);
	return 0;
}

static void set_hash(struct reading *reading)
{
	Envelope envelope = { 0 };

	if (!reading->shop || reading->or_shop || !reading->key)
		return;
	snprintf(envelope.shop, sizeof(envelope.shop), "%s", reading->shop);
	snprintf(envelope.key, sizeof(envelope.key), "%s", reading->key);
	reading->hash = key_hash(&envelope);
}

/*
 * Reads "topic" or "topics". A topic that is not declared any more is found by its name, by a look at every
 * message.
 */
static bool set_topics(const struct broker *broker, json_t *argument, struct reading *reading, char ret_error[256])
{
	const json_t *name;
	size_t i;
	int topic = reading->topic ? topology_topic(&broker->topology, reading->topic) : -ENOENT;

	if (topic >= 0)
		topic_set_add(&reading->topics, topic);
	json_array_foreach(json_object_get(argument, "topics"), i, name)
	{
		const char *text = json_string_value(name);

		topic = text ? topology_topic(&broker->topology, text) : -ENOENT;
		if (topic < 0) {
			snprintf(ret_error, 256, "there is no topic \"%.32s\"", text ? text : "");
			return false;
		}
		topic_set_add(&reading->topics, topic);
	}
	return true;
}

/* Goes on to the next message of a topic asked for; -EAGAIN: none so far, and this has taken long enough. */
static int skip(struct broker *broker, const struct reading *reading, uint64_t loads, uint64_t *seq)
{
	struct logged found;
	int r = 0;

	if (!topic_set_any(&reading->topics))
		return 0;
	do {
		uint64_t looked = *seq - 1;

		r = log_find_soon(broker->log, *seq, &reading->topics, &looked, &found);
		*seq = r == 0 ? found.seq : looked + 1;
	} while (r == -EAGAIN && log_loads(broker->log) - loads < LOADS_MOST);
	return r == -ENOENT ? 0 : r;
}

static bool is_full(const struct reading *reading)
{
	return json_array_size(reading->messages) >= reading->limit || reading->bytes >= BYTES_MOST;
}

/* Reads on until the answer is full, or the question has taken long enough. */
static int read_on(struct broker *broker, struct reading *reading, uint64_t *seq)
{
	uint64_t head = log_head(broker->log), loads = log_loads(broker->log);
	int r = 0;

	for (int looked = 0; r == 0 && *seq <= head && looked < LOOK_AT_MOST && !is_full(reading); looked++) {
		r = skip(broker, reading, loads, seq);
		if (r == 0 && *seq <= head)
			r = look_at(broker, reading, (*seq)++);
	}
	return r == -EAGAIN ? 0 : r;
}

static void end_reading(struct reading *reading)
{
	topic_set_clear(&reading->topics);
}

json_t *answer_read(struct broker *broker, json_t *argument, char ret_error[256])
{
	_cleanup_(end_reading) struct reading reading = {
		.topic = argument_text(argument, "topic"),
		.shop = argument_text(argument, "shop"),
		.or_shop = argument_text(argument, "or_shop"),
		.key = argument_text(argument, "key"),
		.limit = argument_number(argument, "limit", MESSAGES_USUAL),
		.masked = json_is_true(json_object_get(argument, "masked")),
	};
	uint64_t head = log_head(broker->log), seq = argument_number(argument, "from", 1);
	int r;

	if (!set_topics(broker, argument, &reading, ret_error))
		return NULL;
	if (reading.limit == 0 || reading.limit > MESSAGES_MOST)
		reading.limit = MESSAGES_MOST;
	if (seq == 0)
		seq = 1;
	set_hash(&reading);
	reading.messages = json_array();
	r = read_on(broker, &reading, &seq);
	if (r < 0) {
		json_decref(reading.messages);
		snprintf(ret_error, 256, "message %llu cannot be read: it is not what was written",
			(unsigned long long)seq - 1);
		return NULL;
	}
	return json_pack("{s:o,s:o}", "messages", reading.messages, "next",
		seq <= head ? json_integer((json_int_t)seq) : json_null());
}
