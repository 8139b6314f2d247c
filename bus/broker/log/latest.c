/*
 * latest.c: the row that still stands, per key of compacted topics
 *
 * Owns:      family latest: (group, shop, key) -> the message with the highest version, of equals the newest;
 *            and its cursor, with the last log.forgotten up to there.
 * Promises:  a row and the cursor move together, behind the head, now and then; over messages of other topics
 *            the cursor moves with the next commit of others, which costs no sync. Its batches are synced
 *            like every commit of this store: a record that is begun before the one before it is on the disk
 *            could not be told from corruption after a power cut. A tombstone is a row too: it keeps an older
 *            version from coming back, until the log says that it is forgotten (retain.c). A row that stands
 *            never goes.
 * Read next: backfill.c (reads the rows)
 */
#include "bus/broker/log/latest.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/sorted_map.h"
#include "bus/base/text.h"
#include "bus/broker/commit.h"
#include <errno.h>
#include <pb_decode.h>
#include <stdlib.h>

static const char CURSOR[] = "folded";
static const int64_t FOLD_EVERY_US = 200 * US_PER_MS; /* a sync each time: seldom, and no peer waits for the rows */
static const uint64_t FOLD_SOON = 4096;               /* ... but not when so many messages have come */
static const int64_t SWEEP_EVERY_US = 1 * US_PER_S;
enum { SWEEP_ROWS = 1024 /* a few at a time: no peer waits for it */, FORGOTTEN_LEN = 16 };

struct latest {
	uint64_t folded;        /* the last message folded ... */
	uint64_t written;       /* ... and the last one whose folding is written */
	int64_t looked_boot_us; /* when `latest` was last looked at */
	Forgotten forgotten;    /* as the log said up to `folded` */
	int64_t swept_boot_us;
	bool sweeping;
	struct buffer sweep_at;
};

/* The last log.forgotten up to the cursor: rows_before, ends_from. */
static int read_forgotten(struct broker *broker)
{
	_cleanup_(buffer_free) struct buffer row = { 0 };
	int r = store_get(broker->store, FAMILY_META, bytes_of(LATEST_FORGOTTEN), &row);

	if (r == -ENOENT)
		return 0;
	if (r == 0 && row.len != FORGOTTEN_LEN)
		r = -EUCLEAN;
	if (r < 0)
		return r;
	broker->latest->forgotten.rows_before = get_be64(row.data);
	broker->latest->forgotten.ends_from = get_be64(row.data + 8);
	return 0;
}

int latest_open(struct broker *broker)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };
	int r = store_get(broker->store, FAMILY_META, bytes_of(CURSOR), &value);

	broker->latest = memory_new(sizeof(*broker->latest));
	if (r == 0 && value.len >= 8)
		broker->latest->folded = broker->latest->written = get_be64(value.data);
	return r < 0 && r != -ENOENT ? r : read_forgotten(broker);
}

void latest_close(struct broker *broker)
{
	if (!broker->latest)
		return;
	buffer_free(&broker->latest->sweep_at);
	free(broker->latest);
}

uint64_t latest_folded(const struct broker *broker)
{
	return broker->latest->folded;
}

uint64_t latest_written(const struct broker *broker)
{
	return broker->latest->written;
}

void latest_write_cursor(struct broker *broker, struct store_batch *batch)
{
	uint8_t cursor[8], row[FORGOTTEN_LEN];

	if (broker->latest->written == broker->latest->folded)
		return;
	broker->latest->written = broker->latest->folded;
	put_be64(cursor, broker->latest->folded);
	put_be64(row, broker->latest->forgotten.rows_before);
	put_be64(row + 8, broker->latest->forgotten.ends_from);
	store_batch_put(batch, FAMILY_META, bytes_of(CURSOR), BYTES(cursor, sizeof(cursor)));
	store_batch_put(batch, FAMILY_META, bytes_of(LATEST_FORGOTTEN), BYTES(row, sizeof(row)));
}

void latest_key(const char *group, const Envelope *envelope, struct buffer *ret)
{
	buffer_clear(ret);
	buffer_add(ret, group, strlen(group) + 1);
	if (!envelope)
		return;
	buffer_add(ret, envelope->shop, strlen(envelope->shop) + 1);
	buffer_add_text(ret, envelope->key);
}

static void make_row(const struct logged *logged, uint64_t version, struct buffer *ret)
{
	uint8_t marks[2] = { logged->flags, (uint8_t)strlen(logged->said_by) };

	buffer_clear(ret);
	buffer_add_be64(ret, logged->seq);
	buffer_add_be64(ret, version);
	buffer_add_be64(ret, (uint64_t)logged->time_us);
	buffer_add(ret, marks, sizeof(marks));
	buffer_add(ret, logged->said_by, marks[1]);
	buffer_add(ret, logged->message.data, logged->message.len);
}

bool latest_parse(struct bytes row, char said_by[32], struct logged *ret)
{
	const uint8_t *at = row.data;
	size_t said_len;

	if (row.len < LATEST_ROW_HEAD || at[LATEST_ROW_SAID] >= 32 || row.len - LATEST_ROW_HEAD < at[LATEST_ROW_SAID])
		return false;
	said_len = at[LATEST_ROW_SAID];
	memcpy(said_by, at + LATEST_ROW_HEAD, said_len);
	said_by[said_len] = '\0';
	*ret = (struct logged){
		.seq = get_be64(at),
		.time_us = (int64_t)get_be64(at + LATEST_ROW_TIME),
		.flags = at[LATEST_ROW_FLAGS],
		.said_by = said_by,
		.message = BYTES(at + LATEST_ROW_HEAD + said_len, row.len - LATEST_ROW_HEAD - said_len),
	};
	return true;
}

/*
 * The row is ended, and the log has said since that it no longer counts. Services judge alike
 * (bus/actor/runtime/retention.c).
 */
static bool is_forgotten(const struct broker *broker, struct bytes row)
{
	const Forgotten *forgotten = &broker->latest->forgotten;
	struct logged logged;
	Envelope envelope;
	struct bytes payload;
	char said_by[32];
	int topic;

	if (!latest_parse(row, said_by, &logged) || logged.seq >= forgotten->rows_before)
		return false;
	if (!(logged.flags & FLAG_TOMBSTONE) && logged.seq >= forgotten->ends_from)
		return false;
	if (message_read(logged.message, &envelope, &payload) < 0)
		return false;
	topic = topology_topic(&broker->topology, envelope.topic);
	return topic >= 0 && broker->topology.topics[topic].retention != RETENTION_KEEP;
}

struct folding {
	struct broker *broker;
	struct store_batch *batch;
	struct sorted_map *rows; /* written by this batch and not in the store yet */
	struct buffer key, row, before;
	bool found; /* the batch holds a message of a topic that is folded */
};

/*
 * Lower versions than the row's do not count; at the same version the newer message wins. A forgotten row
 * outranks nothing.
 */
static bool is_newer(struct folding *folding, uint64_t version)
{
	struct sorted_map_entry *entry = sorted_map_find(folding->rows, buffer_bytes(&folding->key));
	struct bytes before;

	buffer_clear(&folding->before);
	if (entry)
		before = sorted_map_value(entry);
	else {
		int r = store_get(folding->broker->store, FAMILY_LATEST, buffer_bytes(&folding->key), &folding->before);

		if (r < 0 && r != -ENOENT)
			folding->broker->broken = r;
		if (r < 0)
			return r == -ENOENT;
		before = buffer_bytes(&folding->before);
	}
	return before.len < LATEST_ROW_HEAD || version >= get_be64((const uint8_t *)before.data + LATEST_ROW_VERSION) ||
		is_forgotten(folding->broker, before);
}

static void note_forgotten(struct broker *broker, struct bytes payload)
{
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);
	Forgotten forgotten;

	if (!pb_decode(&stream, Forgotten_fields, &forgotten))
		return;
	broker->latest->forgotten = forgotten;
	broker->latest->sweeping = true;
	buffer_clear(&broker->latest->sweep_at);
}

static void fold_one(struct folding *folding, const struct logged *logged)
{
	const char *group = folding->broker->topology.topics[logged->topic].group;
	Envelope envelope;
	struct bytes payload;

	if (message_read(logged->message, &envelope, &payload) < 0)
		return;
	if (group[0] == '\0') {
		note_forgotten(folding->broker, payload);
		return;
	}
	latest_key(group, &envelope, &folding->key);
	if (!is_newer(folding, envelope.version))
		return;
	make_row(logged, envelope.version, &folding->row);
	sorted_map_put(folding->rows, buffer_bytes(&folding->key), buffer_bytes(&folding->row), 0);
	store_batch_put(folding->batch, FAMILY_LATEST, buffer_bytes(&folding->key), buffer_bytes(&folding->row));
}

/* Adds the compacted topics, and those that end their rows. */
static void add_topics_folded(const struct broker *broker, struct topic_set *ret)
{
	int forgotten = topology_topic(&broker->topology, TOPIC_FORGOTTEN);

	for (int i = 0; i < broker->topology.topic_count; i++)
		if (broker->topology.topics[i].group[0] != '\0' || i == forgotten)
			topic_set_add(ret, i);
}

static int keep(struct broker *broker, struct store_batch *batch)
{
	int r;

	latest_write_cursor(broker, batch);
	r = store_commit(broker->store, batch, true);
	return r < 0 ? commit_failed(broker, r) : 0;
}

void latest_keep_cursor(struct broker *broker)
{
	struct store_batch *batch;

	if (broker->latest->written == broker->latest->folded || broker->broken < 0)
		return;
	batch = store_batch_new(broker->store);
	if (keep(broker, batch) < 0)
		store_batch_clear(batch);
	store_batch_free(batch);
}

static int fold_range(struct folding *folding, uint32_t most)
{
	struct broker *broker = folding->broker;
	_cleanup_(topic_set_clear) struct topic_set topics = { 0 };
	int r = 0;

	add_topics_folded(broker, &topics);
	for (uint32_t i = 0; i < most && r == 0 && broker->broken == 0; i++) {
		struct logged logged;

		r = log_find(broker->log, broker->latest->folded + 1, &topics, &logged);
		if (r == 0)
			r = log_read(broker->log, logged.seq, &logged);
		if (r == 0) {
			fold_one(folding, &logged);
			folding->found = true;
			broker->latest->folded = logged.seq;
		}
	}
	if (broker->broken < 0)
		return broker->broken;
	if (r == -ENOENT)
		broker->latest->folded = log_head(broker->log);
	else if (r < 0)
		return r;
	return folding->found ? keep(broker, folding->batch) : 0;
}

void latest_fold_lazily(struct broker *broker, uint32_t most)
{
	int64_t now_us = broker_boot_us(broker);

	if (now_us - broker->latest->looked_boot_us < FOLD_EVERY_US &&
		log_head(broker->log) - broker->latest->folded < FOLD_SOON)
		return;
	broker->latest->looked_boot_us = now_us;
	latest_fold(broker, most);
}

void latest_fold(struct broker *broker, uint32_t most)
{
	struct folding folding = { .broker = broker };
	int r;

	if (broker->latest->folded == log_head(broker->log) || broker->broken < 0)
		return;
	folding.batch = store_batch_new(broker->store);
	folding.rows = sorted_map_new();
	r = fold_range(&folding, most);
	if (r < 0)
		broker->broken = r;
	store_batch_free(folding.batch);
	sorted_map_free(folding.rows);
	buffer_free(&folding.key);
	buffer_free(&folding.row);
	buffer_free(&folding.before);
}

/* --- rows that leave --- */

void latest_sweep(struct broker *broker)
{
	struct store_batch *batch;
	struct store_cursor *cursor;
	bool more;

	if (!broker->latest->sweeping || broker_boot_us(broker) - broker->latest->swept_boot_us < SWEEP_EVERY_US)
		return;
	broker->latest->swept_boot_us = broker_boot_us(broker);
	batch = store_batch_new(broker->store); /* at once: a row must not be folded anew in between */
	cursor = store_cursor_new(broker->store, FAMILY_LATEST);
	more = store_cursor_seek(cursor, buffer_bytes(&broker->latest->sweep_at));
	for (int i = 0; more && i < SWEEP_ROWS; i++) {
		if (is_forgotten(broker, store_cursor_value(cursor)))
			store_batch_delete(batch, FAMILY_LATEST, store_cursor_key(cursor));
		more = store_cursor_next(cursor);
	}
	buffer_clear(&broker->latest->sweep_at);
	if (more)
		buffer_add(&broker->latest->sweep_at, store_cursor_key(cursor).data, store_cursor_key(cursor).len);
	broker->latest->sweeping = more;
	store_cursor_free(cursor);
	if (store_batch_count(batch) > 0 && store_commit(broker->store, batch, true) < 0)
		broker->broken = -EIO;
	store_batch_free(batch);
}
