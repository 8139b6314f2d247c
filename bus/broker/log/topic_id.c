/*
 * topic_id.c: the small numbers that stand for topics in the log
 *
 * Owns:      the rows topic/<id> of family meta. A number is given once and never used for another name.
 * Fails by:  -EUCLEAN, -ENOSPC when a log has seen more than TOPICS_MOST names.
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/log/log_state.h"
#include <errno.h>

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
