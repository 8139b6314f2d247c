/*
 * newcomer.c: a newcomer's way through the rows that stand, in order of their numbers
 *
 * Owns:      an index of rows: number and key. The store has them by key: so a round goes through all keys and picks the rows with
 *            the smallest numbers that fit into the index; when they were handed out, the next round picks the following ones.
 * Promises:  a bounded piece of work per call, and bounded memory, however many rows there are. A row that is replaced meanwhile is
 *            beyond the limit, and the log has it.
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
	FOLD_AT_FIRST = 1024,  /* how much `latest` is brought on for a newcomer; the rest it reads from the log */
};

struct standing {
	uint64_t seq;
	size_t key_at;
	uint32_t key_len;
};

struct newcomer {
	int peer;
	uint64_t limit;
	/* the round: picks rows from `from` to `most`, which sinks when the index is full */
	uint64_t from, most;
	int topic;        /* whose group is gone through now; -1: all were */
	struct buffer at; /* the key to go on with */
	struct standing *rows;
	size_t count, room, next;
	struct buffer keys;
	struct logged found; /* rows[next], once it was read; seq 0: not yet */
	struct buffer row;
	char said_by[32];
};

/* Topics that end each other's rows share a group: it is gone through once, for the first topic of it. -1: no more. */
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

static void begin_round(struct broker *broker, struct newcomer *newcomer, uint64_t from)
{
	newcomer->from = from;
	newcomer->most = newcomer->limit;
	newcomer->count = newcomer->next = 0;
	newcomer->found.seq = 0;
	buffer_clear(&newcomer->keys);
	buffer_clear(&newcomer->at);
	newcomer->topic = next_group(broker, newcomer->peer, 0);
}

struct newcomer *newcomer_new(struct broker *broker, int peer)
{
	struct newcomer *newcomer;

	if (next_group(broker, peer, 0) < 0)
		return NULL;
	latest_fold(broker, FOLD_AT_FIRST);
	newcomer = memory_new(sizeof(*newcomer));
	newcomer->peer = peer;
	newcomer->limit = latest_folded(broker);
	begin_round(broker, newcomer, 1);
	return newcomer;
}

void newcomer_free(struct newcomer *newcomer)
{
	if (!newcomer)
		return;
	buffer_free(&newcomer->at);
	buffer_free(&newcomer->keys);
	buffer_free(&newcomer->row);
	free(newcomer->rows);
	free(newcomer);
}

uint64_t newcomer_limit(const struct newcomer *newcomer)
{
	return newcomer->limit;
}

/* --- a round: the index is gathered --- */

static int by_seq(const void *a, const void *b)
{
	const struct standing *one = a, *other = b;

	return (one->seq > other->seq) - (one->seq < other->seq);
}

static void sort(struct newcomer *newcomer)
{
	if (newcomer->count > 0)
		qsort(newcomer->rows, newcomer->count, sizeof(*newcomer->rows), by_seq);
}

static size_t index_bytes(const struct newcomer *newcomer)
{
	return newcomer->count * sizeof(*newcomer->rows) + newcomer->keys.len;
}

/* The later half waits for another round. */
static void halve(struct newcomer *newcomer)
{
	struct buffer keys = { 0 };

	sort(newcomer);
	newcomer->count = (newcomer->count + 1) / 2;
	newcomer->most = newcomer->rows[newcomer->count - 1].seq;
	buffer_grow(&keys, newcomer->keys.len);
	for (size_t i = 0; i < newcomer->count; i++) {
		struct standing *row = &newcomer->rows[i];
		size_t at = keys.len;

		buffer_add(&keys, newcomer->keys.data + row->key_at, row->key_len);
		row->key_at = at;
	}
	buffer_free(&newcomer->keys);
	newcomer->keys = keys;
}

/* A group may hold rows of topics that this peer does not remember. */
static bool is_remembered(const struct broker *broker, const struct newcomer *newcomer, struct bytes message)
{
	Envelope envelope;
	struct bytes payload;
	int topic;

	if (message_read(message, &envelope, &payload) < 0)
		return false;
	topic = topology_topic(&broker->topology, envelope.topic);
	return topic >= 0 && topic_set_has(&broker->topology.peers[newcomer->peer].remembers, topic);
}

/* It takes a place in the index only if it is for this peer: else millions of others' rows would take many rounds. */
static bool is_wanted(const struct broker *broker, const struct newcomer *newcomer, struct bytes value)
{
	uint64_t seq = value.len >= LATEST_ROW_HEAD ? get_be64(value.data) : 0;
	struct logged logged;
	char said_by[32];

	return seq >= newcomer->from && seq <= newcomer->most && latest_parse(value, said_by, &logged) &&
		is_remembered(broker, newcomer, logged.message);
}

static void pick(const struct broker *broker, struct newcomer *newcomer, struct bytes key, struct bytes value)
{
	if (!is_wanted(broker, newcomer, value))
		return;
	if (newcomer->count == newcomer->room) {
		newcomer->room = newcomer->room ? 2 * newcomer->room : 64;
		newcomer->rows = memory_resize(newcomer->rows, newcomer->room * sizeof(*newcomer->rows));
	}
	newcomer->rows[newcomer->count++] = (struct standing){
		.seq = get_be64(value.data), .key_at = newcomer->keys.len, .key_len = (uint32_t)key.len
	};
	buffer_add(&newcomer->keys, key.data, key.len);
	if (index_bytes(newcomer) > broker->settings.newcomer_bytes)
		halve(newcomer);
}

static bool starts_with(struct bytes key, const struct buffer *prefix)
{
	return key.len >= prefix->len && memcmp(key.data, prefix->data, prefix->len) == 0;
}

/* A piece of one group. */
static int gather(struct broker *broker, struct newcomer *newcomer)
{
	_cleanup_(buffer_free) struct buffer prefix = { 0 };
	struct store_cursor *cursor;
	bool more;
	int r;

	latest_key(broker->topology.topics[newcomer->topic].group, NULL, &prefix);
	cursor = store_cursor_new_within(broker->store, FAMILY_LATEST, buffer_bytes(&prefix));
	more = store_cursor_seek(cursor, buffer_bytes(newcomer->at.len > 0 ? &newcomer->at : &prefix));
	for (int i = 0; i < GATHER_AT_ONCE && more && starts_with(store_cursor_key(cursor), &prefix); i++) {
		pick(broker, newcomer, store_cursor_key(cursor), store_cursor_value(cursor));
		more = store_cursor_next(cursor);
	}
	buffer_clear(&newcomer->at);
	if (more && starts_with(store_cursor_key(cursor), &prefix))
		buffer_add(&newcomer->at, store_cursor_key(cursor).data, store_cursor_key(cursor).len);
	else
		newcomer->topic = next_group(broker, newcomer->peer, newcomer->topic + 1);
	r = store_cursor_status(cursor);
	store_cursor_free(cursor);
	if (newcomer->topic < 0)
		sort(newcomer);
	return r < 0 ? r : -EAGAIN;
}

/* --- what it found is handed out --- */

/* 0: this one is to be handed out, it is `found`; -ENOENT: not this one, or it has gone by its age. */
static int read_standing(struct broker *broker, struct newcomer *newcomer)
{
	const struct standing *row = &newcomer->rows[newcomer->next];
	struct bytes key = BYTES(newcomer->keys.data + row->key_at, row->key_len);
	int r;

	buffer_clear(&newcomer->row);
	r = store_get(broker->store, FAMILY_LATEST, key, &newcomer->row);
	if (r < 0)
		return r;
	if (latest_parse(buffer_bytes(&newcomer->row), newcomer->said_by, &newcomer->found) &&
		newcomer->found.seq == row->seq)
		return 0;
	newcomer->found.seq = 0;
	return -ENOENT;
}

static int read_next(struct broker *broker, struct newcomer *newcomer, uint64_t from)
{
	int r;

	for (int i = 0; newcomer->next < newcomer->count; newcomer->next++) {
		if (newcomer->rows[newcomer->next].seq < from) {
			newcomer->found.seq = 0;
			continue;
		}
		if (newcomer->found.seq > 0)
			return 0;
		if (++i > READ_AT_ONCE)
			return -EAGAIN;
		r = read_standing(broker, newcomer);
		if (r != -ENOENT)
			return r;
	}
	return -ENOENT;
}

int newcomer_next(struct broker *broker, struct newcomer *newcomer, uint64_t from, struct logged *ret)
{
	int r;

	if (newcomer->topic >= 0)
		return gather(broker, newcomer);
	r = read_next(broker, newcomer, from);
	*ret = newcomer->found;
	if (r != -ENOENT || newcomer->most == newcomer->limit)
		return r;
	begin_round(broker, newcomer, newcomer->most + 1);
	return -EAGAIN;
}
