/*
 * log.c: staging, committing and reading messages; the stored numbers of topics
 *
 * Owns:      the block being staged, the one being committed, the ring of recent blocks, a few blocks read
 *            back from the store.
 * Promises:  only committed messages are read; numbers are unbroken; log time never goes backwards.
 * Fails by:  -EUCLEAN when the store does not hold what the log wrote.
 * Read next: block.c, recover.c
 */
#include "bus/broker/log/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/log/log_state.h"
#include <errno.h>
#include <stdlib.h>

enum { LOADS_AT_ONCE = 64 }; /* blocks: a millisecond or so */

int log_start(struct store *store, const struct topology *topology, struct log **ret, char ret_why[512])
{
	struct log *log = memory_new(sizeof(*log));
	int r;

	log->store = store;
	log->topology = topology;
	r = log_recover(log, ret_why);
	if (r < 0) {
		log_free(log);
		return r;
	}
	*ret = log;
	return 0;
}

void log_free(struct log *log)
{
	if (!log)
		return;
	block_free(log->staged);
	block_free(log->sealed);
	for (uint32_t i = 0; i < log->ring_count; i++)
		block_free(log->ring[(log->ring_first + i) % RING_BLOCKS]);
	for (uint32_t i = 0; i < LOADED_BLOCKS; i++)
		block_free(log->loaded[i]);
	free(log->names);
	free(log->ids);
	free(log);
}

uint64_t log_head(const struct log *log)
{
	return log->head;
}

const char *log_id(const struct log *log)
{
	return log->id;
}

uint64_t log_opening(const struct log *log)
{
	return log->opening;
}

static void begin_block(struct log *log)
{
	log->staged = block_new((log->sealed ? block_last(log->sealed) : log->head) + 1);
	if (log->ring_count > 0)
		block_expect(log->staged, log->ring[(log->ring_first + log->ring_count - 1) % RING_BLOCKS]);
}

uint64_t log_ends_from(const struct log *log)
{
	return log->ends_from;
}

uint64_t log_loads(const struct log *log)
{
	return log->loads;
}

uint64_t log_stage(
	struct log *log, int topic, uint8_t flags, uint64_t key_hash, const char *said_by, struct bytes message)
{
	struct block_entry entry = {
		.key_hash = key_hash,
		.topic_id = log->ids[topic],
		.retention = log->topology->topics[topic].retention,
		.flags = flags,
	};

	TEXT_COPY(entry.said_by, said_by);
	if (!log->staged)
		begin_block(log);
	block_add(log->staged, &entry, message);
	return block_last(log->staged);
}

uint32_t log_staged(const struct log *log)
{
	return log->staged ? log->staged->count : 0;
}

int64_t log_time_us(const struct log *log, int64_t wall_us)
{
	return wall_us > log->time_us ? wall_us : log->time_us;
}

void log_seal(struct log *log, struct store_batch *batch, int64_t wall_us)
{
	uint8_t head[8];

	if (!log->staged)
		return;
	log->sealed = log->staged;
	log->staged = NULL;
	log->sealed->time_us = log_time_us(log, wall_us);
	block_write(log->sealed, batch);
	put_be64(head, block_last(log->sealed));
	store_batch_put(batch, FAMILY_META, bytes_of("head"), BYTES(head, sizeof(head)));
}

static void forget_oldest(struct log *log)
{
	struct block *oldest = log->ring[log->ring_first];

	log->ring_first = (log->ring_first + 1) % RING_BLOCKS;
	log->ring_count--;
	log->ring_bytes -= block_bytes(oldest);
	block_free(oldest);
}

void log_committed(struct log *log)
{
	struct block *block = log->sealed;

	if (!block)
		return;
	log->sealed = NULL;
	log->head = block_last(block);
	log->time_us = block->time_us;
	while (log->ring_count > 0 && (log->ring_count == RING_BLOCKS || log->ring_bytes > RING_BYTES))
		forget_oldest(log);
	log->ring[(log->ring_first + log->ring_count++) % RING_BLOCKS] = block;
	log->ring_bytes += block_bytes(block);
}

/* The block of the ring that holds seq: a binary search, blocks are in order and unbroken. */
static struct block *ring_find(const struct log *log, uint64_t seq)
{
	uint32_t low = 0, high = log->ring_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		struct block *block = log->ring[(log->ring_first + middle) % RING_BLOCKS];

		if (seq < block->first)
			high = middle;
		else if (seq > block_last(block))
			low = middle + 1;
		else
			return block;
	}
	return NULL;
}

static int load_block(struct log *log, uint64_t seq, struct block **ret)
{
	struct store_cursor *cursor = store_cursor_new(log->store, FAMILY_COLUMN);
	struct block *block = NULL;
	uint8_t key[8];
	int r = -ENOENT;

	put_be64(key, seq);
	if (store_cursor_seek_before(cursor, BYTES(key, sizeof(key))))
		r = block_parse(store_cursor_key(cursor), store_cursor_value(cursor), &block);
	else if (store_cursor_status(cursor) < 0)
		r = store_cursor_status(cursor);
	store_cursor_free(cursor);
	if (r < 0)
		return r;
	if (seq > block_last(block)) {
		block_free(block);
		return -EUCLEAN;
	}
	log->loads++;
	block_free(log->loaded[log->loaded_next]);
	log->loaded[log->loaded_next] = block;
	log->loaded_next = (log->loaded_next + 1) % LOADED_BLOCKS;
	*ret = block;
	return 0;
}

int log_find_block(struct log *log, uint64_t seq, struct block **ret)
{
	if (seq == 0 || seq > log->head)
		return -ENOENT;
	*ret = ring_find(log, seq);
	if (*ret)
		return 0;
	for (uint32_t i = 0; i < LOADED_BLOCKS; i++) {
		struct block *block = log->loaded[i];

		if (block && seq >= block->first && seq <= block_last(block)) {
			*ret = block;
			return 0;
		}
	}
	return load_block(log, seq, ret);
}

void log_describe(const struct log *log, const struct block *block, uint32_t i, struct logged *ret)
{
	const struct block_entry *entry = &block->entries[i];

	*ret = (struct logged){
		.seq = block->first + i,
		.time_us = block->time_us,
		.topic = log_topic(log, entry->topic_id),
		.retention = entry->retention,
		.flags = entry->flags,
		.key_hash = entry->key_hash,
		.said_by = entry->said_by,
	};
	if (entry->offset != BLOCK_ABSENT)
		ret->message = block_message(block, entry);
}

int log_read(struct log *log, uint64_t seq, struct logged *ret)
{
	struct block *block;
	int r = log_find_block(log, seq, &block);

	if (r < 0)
		return r;
	if (seq < log->kept_from[block->entries[seq - block->first].retention])
		return -ENOENT;
	r = block_load(block, log->store, block->entries[seq - block->first].retention);
	if (r < 0)
		return r;
	log_describe(log, block, (uint32_t)(seq - block->first), ret);
	return 0;
}

/* Finds the first message of the topics in this block, at or after `from`; false: none. */
static bool find_in_block(const struct log *log, const struct block *block, uint64_t from,
	const struct topic_set *topics, struct logged *ret)
{
	for (uint64_t at = from; at <= block_last(block); at++) {
		const struct block_entry *entry = &block->entries[at - block->first];
		int topic = entry->topic_id < log->name_count ? log->names[entry->topic_id].topic : -1;

		if (topic >= 0 && at >= log->kept_from[entry->retention] && topic_set_has(topics, topic) &&
			!(entry->flags & FLAG_ERASED)) {
			log_describe(log, block, (uint32_t)(at - block->first), ret);
			return true;
		}
	}
	return false;
}

int log_find_soon(
	struct log *log, uint64_t from, const struct topic_set *topics, uint64_t *ret_looked, struct logged *ret)
{
	uint64_t loads = log->loads;

	if (!topic_set_any(topics)) {
		*ret_looked = log->head;
		return -ENOENT;
	}
	for (uint64_t at = from; at <= log->head;) {
		struct block *block;
		int r = log_find_block(log, at, &block);

		if (r < 0)
			return r;
		if (find_in_block(log, block, at, topics, ret))
			return 0;
		at = block_last(block) + 1;
		*ret_looked = at - 1;
		if (log->loads - loads >= LOADS_AT_ONCE && at <= log->head)
			return -EAGAIN;
	}
	return -ENOENT;
}

int log_find(struct log *log, uint64_t from, const struct topic_set *topics, struct logged *ret)
{
	uint64_t looked = from - 1;
	int r;

	do
		r = log_find_soon(log, looked + 1, topics, &looked, ret);
	while (r == -EAGAIN);
	return r;
}

/*
 * The small numbers that stand for topics in the log
 *
 * Owns:      the rows topic/<id> of family meta. A number is given once and never used for another name.
 * Fails by:  -EUCLEAN, -ENOSPC when a log has seen more than TOPICS_MOST names.
 */

static const char PREFIX[] = "topic/";

/* Room for the names up to `id`. */
static void grow(struct log *log, uint16_t id)
{
	if (id < log->name_count)
		return;
	log->names = memory_resize(log->names, (id + 1u) * sizeof(*log->names));
	for (unsigned i = log->name_count; i <= id; i++)
		log->names[i] = (struct topic_name){ .topic = -ENOENT };
	log->name_count = (uint16_t)(id + 1);
}

static int read_name(struct log *log, struct bytes key, struct bytes value)
{
	uint64_t id;

	if (key.len != sizeof(PREFIX) - 1 + 8)
		return -EUCLEAN;
	id = get_be64((const uint8_t *)key.data + sizeof(PREFIX) - 1);
	if (id >= TOPIC_ID_NONE)
		return -EUCLEAN;
	grow(log, (uint16_t)id);
	if (!text_copy_bytes(log->names[id].name, sizeof(log->names[id].name), value))
		return -EUCLEAN;
	log->names[id].topic = topology_topic(log->topology, log->names[id].name);
	if (log->names[id].topic >= 0)
		log->ids[log->names[id].topic] = (uint16_t)id;
	return 0;
}

static int read_names(struct log *log)
{
	struct store_cursor *cursor = store_cursor_new(log->store, FAMILY_META);
	bool more = store_cursor_seek(cursor, bytes_of(PREFIX));
	int r = 0;

	while (more && r == 0) {
		struct bytes key = store_cursor_key(cursor);

		if (key.len < sizeof(PREFIX) - 1 || memcmp(key.data, PREFIX, sizeof(PREFIX) - 1) != 0)
			break;
		r = read_name(log, key, store_cursor_value(cursor));
		more = store_cursor_next(cursor);
	}
	if (r == 0)
		r = store_cursor_status(cursor);
	store_cursor_free(cursor);
	return r;
}

static void write_name(struct log *log, int topic, struct store_batch *batch)
{
	uint8_t key[sizeof(PREFIX) - 1 + 8];
	uint16_t id = log->name_count;

	grow(log, id);
	TEXT_COPY(log->names[id].name, log->topology->topics[topic].name);
	log->names[id].topic = topic;
	log->ids[topic] = id;
	memcpy(key, PREFIX, sizeof(PREFIX) - 1);
	put_be64(key + sizeof(PREFIX) - 1, id);
	store_batch_put(batch, FAMILY_META, BYTES(key, sizeof(key)), bytes_of(log->names[id].name));
}

int topic_ids_open(struct log *log, struct store_batch *batch)
{
	int r;

	log->ids = memory_new((size_t)log->topology->topic_count * sizeof(*log->ids));
	for (int i = 0; i < log->topology->topic_count; i++)
		log->ids[i] = TOPIC_ID_NONE;
	r = read_names(log);
	for (int i = 0; r == 0 && i < log->topology->topic_count; i++) {
		if (log->ids[i] != TOPIC_ID_NONE)
			continue;
		if (log->name_count == TOPIC_ID_NONE)
			return -ENOSPC;
		write_name(log, i, batch);
	}
	return r;
}

int log_topic(const struct log *log, uint16_t id)
{
	return id < log->name_count ? log->names[id].topic : -ENOENT;
}

uint16_t log_topic_id(const struct log *log, int topic)
{
	return log->ids[topic];
}
