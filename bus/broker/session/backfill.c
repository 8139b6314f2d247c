/*
 * backfill.c: hands the standing rows to a new peer, in order of their numbers
 *
 * Owns:      an index of rows: number and key. The store has them by key: so a round goes through all keys
 *            and gathers the rows with the smallest numbers that fit into the index; when they were handed
 *            out, the next round gathers the following ones.
 * Promises:  a bounded piece of work per call, and bounded memory, however many rows there are. A row that is
 *            replaced meanwhile is beyond the limit, and the log has it.
 * Read next: project.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/log/latest.h"
#include <errno.h>
#include <stdlib.h>

enum {
	GATHER_AT_ONCE = 1024, /* rows looked at per call: a millisecond or so */
	READ_AT_ONCE = 256,    /* rows read per call without finding one to hand out */
	FOLD_AT_FIRST = 1024,  /* messages that `latest` folds for a newcomer; it reads the rest from the log */
};

struct standing {
	uint64_t seq;
	size_t key_at;
	uint32_t key_len;
};

struct backfill {
	int peer;
	uint64_t limit;
	/* the round: picks rows from `from` to `most`, which sinks when the index is full */
	uint64_t from, most;
	int topic;        /* the topic whose group this round is in; -1: it has been through all */
	struct buffer at; /* the key to go on with */
	struct standing *rows;
	size_t count, room, next;
	struct buffer keys;
	struct logged found; /* rows[next], when it has been read; seq 0: not yet */
	struct buffer row;
	char said_by[32];
};

/*
 * Topics that end each other's rows share a group: a round goes through it once, for its first topic. -1: no
 * more groups.
 */
static int next_group(const struct broker *broker, int peer, int topic)
{
	const struct topology *topology = &broker->topology;
	const struct topic_set *remembers = &topology->peers[peer].remembers;

	for (; topic < topology->topic_count; topic++) {
		int first = 0;

		if (!topic_set_has(remembers, topic) || topology->topics[topic].group[0] == '\0')
			continue;
		while (!topic_set_has(remembers, first) ||
			strcmp(topology->topics[first].group, topology->topics[topic].group) != 0)
			first++;
		if (first == topic)
			return topic;
	}
	return -1;
}

static void begin_round(struct broker *broker, struct backfill *backfill, uint64_t from)
{
	backfill->from = from;
	backfill->most = backfill->limit;
	backfill->count = backfill->next = 0;
	backfill->found.seq = 0;
	buffer_clear(&backfill->keys);
	buffer_clear(&backfill->at);
	backfill->topic = next_group(broker, backfill->peer, 0);
}

struct backfill *backfill_new(struct broker *broker, int peer)
{
	struct backfill *backfill;

	if (next_group(broker, peer, 0) < 0)
		return NULL;
	latest_fold(broker, FOLD_AT_FIRST);
	backfill = memory_new(sizeof(*backfill));
	backfill->peer = peer;
	backfill->limit = latest_folded(broker);
	begin_round(broker, backfill, 1);
	return backfill;
}

void backfill_free(struct backfill *backfill)
{
	if (!backfill)
		return;
	buffer_free(&backfill->at);
	buffer_free(&backfill->keys);
	buffer_free(&backfill->row);
	free(backfill->rows);
	free(backfill);
}

uint64_t backfill_limit(const struct backfill *backfill)
{
	return backfill->limit;
}

/* --- a round gathers the index --- */

static int by_seq(const void *a, const void *b)
{
	const struct standing *one = a, *other = b;

	return (one->seq > other->seq) - (one->seq < other->seq);
}

static void sort(struct backfill *backfill)
{
	if (backfill->count > 0)
		qsort(backfill->rows, backfill->count, sizeof(*backfill->rows), by_seq);
}

static size_t index_bytes(const struct backfill *backfill)
{
	return backfill->count * sizeof(*backfill->rows) + backfill->keys.len;
}

/* Leaves the later half of the index to another round. */
static void halve(struct backfill *backfill)
{
	struct buffer keys = { 0 };

	sort(backfill);
	backfill->count = (backfill->count + 1) / 2;
	backfill->most = backfill->rows[backfill->count - 1].seq;
	buffer_grow(&keys, backfill->keys.len);
	for (size_t i = 0; i < backfill->count; i++) {
		struct standing *row = &backfill->rows[i];
		size_t at = keys.len;

		buffer_add(&keys, backfill->keys.data + row->key_at, row->key_len);
		row->key_at = at;
	}
	buffer_free(&backfill->keys);
	backfill->keys = keys;
}

/* A group may hold rows of topics that this peer does not remember. */
static bool is_remembered(const struct broker *broker, const struct backfill *backfill, struct bytes message)
{
	Envelope envelope;
	struct bytes payload;
	int topic;

	if (message_read(message, &envelope, &payload) < 0)
		return false;
	topic = topology_topic(&broker->topology, envelope.topic);
	return topic >= 0 && topic_set_has(&broker->topology.peers[backfill->peer].remembers, topic);
}

/*
 * A row takes a place in the index only if it is for this peer: else millions of other rows would take many
 * rounds.
 */
static bool is_wanted(const struct broker *broker, const struct backfill *backfill, struct bytes value)
{
	uint64_t seq = value.len >= LATEST_ROW_HEAD ? get_be64(value.data) : 0;
	struct logged logged;
	char said_by[32];

	return seq >= backfill->from && seq <= backfill->most && latest_parse(value, said_by, &logged) &&
		is_remembered(broker, backfill, logged.message);
}

static void pick(const struct broker *broker, struct backfill *backfill, struct bytes key, struct bytes value)
{
	if (!is_wanted(broker, backfill, value))
		return;
	if (backfill->count == backfill->room) {
		backfill->room = backfill->room ? 2 * backfill->room : 64;
		backfill->rows = memory_resize(backfill->rows, backfill->room * sizeof(*backfill->rows));
	}
	backfill->rows[backfill->count++] = (struct standing){
		.seq = get_be64(value.data), .key_at = backfill->keys.len, .key_len = (uint32_t)key.len
	};
	buffer_add(&backfill->keys, key.data, key.len);
	if (index_bytes(backfill) > broker->settings.backfill_bytes)
		halve(backfill);
}

static bool starts_with(struct bytes key, const struct buffer *prefix)
{
	return key.len >= prefix->len && memcmp(key.data, prefix->data, prefix->len) == 0;
}

/* Gathers a piece of one group. */
static int gather(struct broker *broker, struct backfill *backfill)
{
	_cleanup_(buffer_free) struct buffer prefix = { 0 };
	struct store_cursor *cursor;
	bool more;
	int r;

	latest_key(broker->topology.topics[backfill->topic].group, NULL, &prefix);
	cursor = store_cursor_new_within(broker->store, FAMILY_LATEST, buffer_bytes(&prefix));
	more = store_cursor_seek(cursor, buffer_bytes(backfill->at.len > 0 ? &backfill->at : &prefix));
	for (int i = 0; i < GATHER_AT_ONCE && more && starts_with(store_cursor_key(cursor), &prefix); i++) {
		pick(broker, backfill, store_cursor_key(cursor), store_cursor_value(cursor));
		more = store_cursor_next(cursor);
	}
	buffer_clear(&backfill->at);
	if (more && starts_with(store_cursor_key(cursor), &prefix))
		buffer_add(&backfill->at, store_cursor_key(cursor).data, store_cursor_key(cursor).len);
	else
		backfill->topic = next_group(broker, backfill->peer, backfill->topic + 1);
	r = store_cursor_status(cursor);
	store_cursor_free(cursor);
	if (backfill->topic < 0)
		sort(backfill);
	return r < 0 ? r : -EAGAIN;
}

/* --- handing out the gathered rows --- */

/* 0: hand out `found`; -ENOENT: not this row, or it has gone by its age. */
static int read_standing(struct broker *broker, struct backfill *backfill)
{
	const struct standing *row = &backfill->rows[backfill->next];
	struct bytes key = BYTES(backfill->keys.data + row->key_at, row->key_len);
	int r;

	buffer_clear(&backfill->row);
	r = store_get(broker->store, FAMILY_LATEST, key, &backfill->row);
	if (r < 0)
		return r;
	if (latest_parse(buffer_bytes(&backfill->row), backfill->said_by, &backfill->found) &&
		backfill->found.seq == row->seq)
		return 0;
	backfill->found.seq = 0;
	return -ENOENT;
}

static int read_next(struct broker *broker, struct backfill *backfill, uint64_t from)
{
	int r;

	for (int i = 0; backfill->next < backfill->count; backfill->next++) {
		if (backfill->rows[backfill->next].seq < from) {
			backfill->found.seq = 0;
			continue;
		}
		if (backfill->found.seq > 0)
			return 0;
		if (++i > READ_AT_ONCE)
			return -EAGAIN;
		r = read_standing(broker, backfill);
		if (r != -ENOENT)
			return r;
	}
	return -ENOENT;
}

int backfill_next(struct broker *broker, struct backfill *backfill, uint64_t from, struct logged *ret)
{
	int r;

	if (backfill->topic >= 0)
		return gather(broker, backfill);
	r = read_next(broker, backfill, from);
	*ret = backfill->found;
	if (r != -ENOENT || backfill->most == backfill->limit)
		return r;
	begin_round(broker, backfill, backfill->most + 1);
	return -EAGAIN;
}
