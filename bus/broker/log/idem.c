/*
 * idem.c: finds out whether a message was said before
 *
 * Owns:      family idem: (topic, shop, key) -> number, time, hash of the message, whether it is a claim; and
 *            the keys that are staged but not committed.
 * Promises:  keys of claims are kept for ever, also after the claimed work has ended; others for the window.
 *            A repeat of a staged message is known too, and its answer leaves with the sync that covers the
 *            first.
 * Fails by:  breaking the broker: a key that cannot be read is neither known nor new.
 */
#include "bus/broker/log/idem.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdlib.h>

/* A row: number, time, hash, 1 for a claim. An older program left the last byte out. */
enum { VALUE_TIME = 8, VALUE_HASH = 16, VALUE_CLAIM = 24, VALUE_LEN = 25, VALUE_LEN_OLDER = 24, SWEEP_ROWS = 256 };

static const int64_t SWEEP_EVERY_US = 1 * US_PER_S;
static const int64_t SWEEP_AGAIN_US = 6 * US_PER_HOUR; /* after a sweep has looked at all keys: the windows are days */

struct staged_key {
	uint64_t seq, hash;
};

struct idem {
	struct map *staged;    /* key -> struct staged_key: staged, not committed yet */
	int64_t sweep_boot_us; /* when the next sweep for old keys begins, and at which key */
	struct buffer sweep_at;
};

struct idem *idem_new(void)
{
	struct idem *idem = memory_new(sizeof(*idem));

	idem->staged = map_new();
	return idem;
}

static void free_staged(struct bytes key, void *staged, void *context)
{
	(void)key;
	(void)context;
	free(staged);
}

void idem_free(struct idem *idem)
{
	map_each(idem->staged, free_staged, NULL);
	map_free(idem->staged);
	buffer_free(&idem->sweep_at);
	free(idem);
}

void idem_key(struct broker *broker, int topic, const Envelope *envelope, struct buffer *ret)
{
	buffer_add_u16(ret, log_topic_id(broker->log, topic));
	buffer_add(ret, envelope->shop, strlen(envelope->shop) + 1);
	buffer_add_text(ret, envelope->idem);
}

static bool is_row(struct bytes value)
{
	return value.len == VALUE_LEN || value.len == VALUE_LEN_OLDER;
}

/* A row that does not say whether its key is a claim's counts as a claim's if its topic is kept for ever. */
static bool is_for_ever(const struct broker *broker, int topic, struct bytes value)
{
	if (value.len == VALUE_LEN)
		return ((const uint8_t *)value.data)[VALUE_CLAIM];
	return broker->topology.topics[topic].retention == RETENTION_KEEP;
}

static bool window_is_over(const struct broker *broker, int topic, struct bytes value)
{
	int64_t said_us = (int64_t)get_be64((const uint8_t *)value.data + VALUE_TIME);

	return !is_for_ever(broker, topic, value) &&
		broker_wall_us(broker) - said_us > broker->settings.idem_window_us && clocks_are_trusted(broker);
}

uint64_t idem_find(struct broker *broker, int topic, const Envelope *envelope, struct bytes message, bool *ret_same)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer value = { 0 };
	const struct staged_key *staged;
	int r;

	idem_key(broker, topic, envelope, &key);
	staged = map_get(broker->idem->staged, buffer_bytes(&key));
	if (staged) {
		*ret_same = staged->hash == text_hash(message);
		return staged->seq;
	}
	r = store_get(broker->store, FAMILY_IDEM, buffer_bytes(&key), &value);
	if (r == 0 && !is_row(buffer_bytes(&value)))
		r = -EUCLEAN;
	if (r < 0 && r != -ENOENT)
		broker->broken = r; /* it may be a repeat or new: nothing of this commit may be written */
	if (r < 0)
		return 0;
	if (window_is_over(broker, topic, buffer_bytes(&value)))
		return 0;
	*ret_same = get_be64(value.data + VALUE_HASH) == text_hash(message);
	return get_be64(value.data);
}

void idem_stage(struct broker *broker, int topic, const Envelope *envelope, struct bytes message, uint64_t seq)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	struct staged_key *staged = memory_new(sizeof(*staged));
	uint8_t value[VALUE_LEN];

	staged->seq = seq;
	staged->hash = text_hash(message);
	idem_key(broker, topic, envelope, &key);
	free(map_put(broker->idem->staged, buffer_bytes(&key), staged));
	put_be64(value, seq);
	put_be64(value + VALUE_TIME, (uint64_t)broker_wall_us(broker));
	put_be64(value + VALUE_HASH, staged->hash);
	value[VALUE_CLAIM] = envelope->claim;
	store_batch_put(broker->batch, FAMILY_IDEM, buffer_bytes(&key), BYTES(value, sizeof(value)));
}

void idem_renew(struct broker *broker, struct store_batch *batch, const struct logged *logged, const Envelope *envelope,
	struct bytes message)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer value = { 0 };
	int r;

	idem_key(broker, logged->topic, envelope, &key);
	r = store_get(broker->store, FAMILY_IDEM, buffer_bytes(&key), &value);
	if (r < 0 && r != -ENOENT)
		broker->broken = r;
	if (r < 0 || !is_row(buffer_bytes(&value)) || get_be64(value.data) != logged->seq)
		return;
	put_be64(value.data + VALUE_HASH, text_hash(message));
	store_batch_put(batch, FAMILY_IDEM, buffer_bytes(&key), buffer_bytes(&value));
}

static void forget(struct bytes key, void *value, void *context)
{
	struct broker *broker = context;
	struct staged_key *staged = value;

	if (staged->seq > log_head(broker->log))
		return;
	free(staged);
	map_remove(broker->idem->staged, key);
}

void idem_committed(struct broker *broker)
{
	if (map_count(broker->idem->staged) > 0)
		map_each(broker->idem->staged, forget, broker);
}

static bool row_is_old(struct broker *broker, struct bytes key, struct bytes value)
{
	int topic;

	if (key.len < 2 || !is_row(value))
		return false;
	topic = log_topic(broker->log, get_u16(key.data));
	return topic >= 0 && window_is_over(broker, topic, value);
}

/* Looks at a few rows at a time, then at none for hours: old keys go, and no peer waits for that. */
void idem_sweep(struct broker *broker)
{
	struct store_cursor *cursor;
	bool more;

	if (broker_boot_us(broker) < broker->idem->sweep_boot_us)
		return;
	cursor = store_cursor_new(broker->store, FAMILY_IDEM);
	more = store_cursor_seek(cursor, buffer_bytes(&broker->idem->sweep_at));
	for (int i = 0; more && i < SWEEP_ROWS; i++) {
		if (row_is_old(broker, store_cursor_key(cursor), store_cursor_value(cursor)) &&
			!map_get(broker->idem->staged, store_cursor_key(cursor)))
			store_batch_delete(broker->batch, FAMILY_IDEM, store_cursor_key(cursor));
		more = store_cursor_next(cursor);
	}
	buffer_clear(&broker->idem->sweep_at);
	if (more)
		buffer_add(&broker->idem->sweep_at, store_cursor_key(cursor).data, store_cursor_key(cursor).len);
	broker->idem->sweep_boot_us = broker_boot_us(broker) + (more ? SWEEP_EVERY_US : SWEEP_AGAIN_US);
	store_cursor_free(cursor);
}
