/*
 * erase.c: removes the content of messages, wherever it lies
 *
 * Owns:      struct erasing: the messages to erase, and the progress.
 * Promises:  the request is on the disk before anything is touched, so after a kill at any point the erasure
 *            goes on, and a step that is done twice changes nothing. First every queue settles the messages,
 *            and that is on the disk (leased items are waited for); then log, compacted rows and idempotency
 *            keys lose them, block by block, each in one batch; then every service that folded one of the
 *            topics is told to fold anew; at last a thread rewrites the files, beside all other work.
 *            Numbers, times and topics stay: the log is not shorter, and every message is still counted.
 * Fails by:  breaking the broker.
 * Read next: erase_rows.c (its rows on the disk), drop.c (a block without the messages), answer_erase.c (the
 *            questions), hello.c (tells services to fold anew), bus/store/rocks/rocks.c
 */
#include "bus/broker/admin/erase.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/commit.h"
#include "bus/broker/log/block.h"
#include "bus/broker/log/idem.h"
#include "bus/broker/log/latest.h"
#include "bus/broker/log/retain.h"
#include "bus/broker/log/sidelog.h"
#include "bus/broker/queue/queue.h"
#include "bus/broker/session/session.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * A thread that has the store rewrite its files, so that the broker goes on meanwhile
 *
 * Owns:      the thread, and copies of the list of files to rewrite.
 * Fails by:  die() when the system gives no thread.
 */

struct eraser {
	struct store *store;
	pthread_t thread;
	struct store_range ranges[ERASE_FAMILIES];
	size_t count;
	struct buffer keys[2 * ERASE_FAMILIES];
	int result;
	atomic_bool done;
};

static void *run(void *context)
{
	struct eraser *eraser = context;

	eraser->result = store_purge(eraser->store, eraser->ranges, eraser->count);
	eraser->done = true;
	return NULL;
}

static struct bytes copy(struct buffer *to, const struct buffer *from)
{
	buffer_add(to, from->data, from->len);
	return buffer_bytes(to);
}

static void add(struct eraser *eraser, int family, const struct erase_span *span)
{
	struct buffer *keys = &eraser->keys[2 * eraser->count];
	struct store_range *range = &eraser->ranges[eraser->count++];

	range->family = family;
	if (span) {
		range->from = copy(&keys[0], &span->from);
		range->to = copy(&keys[1], &span->to);
	}
}

static struct eraser *eraser_new(struct store *store, const struct erase_span *spans, bool exactly)
{
	struct eraser *eraser = memory_new(sizeof(*eraser));
	sigset_t all, before;

	eraser->store = store;
	for (int family = 0; family < ERASE_FAMILIES; family++) {
		bool is_small = family == FAMILY_DEAD || family == FAMILY_QUEUE;
		bool may_hold_more = !exactly && (family == FAMILY_IDEM || family == FAMILY_LATEST);

		if (is_small || may_hold_more)
			add(eraser, family, NULL);
		else if (spans[family].is_set)
			add(eraser, family, &spans[family]);
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&eraser->thread, NULL, run, eraser) != 0)
		die("no thread can be started that erases: see the limits of this user");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return eraser;
}

static bool eraser_is_done(struct eraser *eraser, int *ret_result)
{
	if (!eraser->done)
		return false;
	*ret_result = eraser->result;
	return true;
}

static void eraser_free(struct eraser *eraser)
{
	if (!eraser)
		return;
	pthread_join(eraser->thread, NULL);
	for (size_t i = 0; i < 2 * ERASE_FAMILIES; i++)
		buffer_free(&eraser->keys[i]);
	free(eraser);
}

enum {
	SETTLE_AT_ONCE = 256, /* messages per tick */
	BLOCKS_AT_ONCE = 8,   /* one sync each */
};

static const int64_t AGAIN_US = 100 * US_PER_MS; /* leased items are looked at again after this time */

struct erasure *erasure_new(int topic_count)
{
	struct erasure *erasure = memory_new(sizeof(*erasure));

	erasure->before = memory_new((size_t)topic_count * sizeof(uint64_t));
	return erasure;
}

void erasure_free(struct erasure *erasure)
{
	erasing_free(erasure->erasing);
	free(erasure->before);
	free(erasure);
}

void erasing_free(struct erasing *erasing)
{
	if (!erasing)
		return;
	eraser_free(erasing->eraser);
	for (int i = 0; i < ERASE_FAMILIES; i++) {
		buffer_free(&erasing->spans[i].from);
		buffer_free(&erasing->spans[i].to);
	}
	topic_set_clear(&erasing->topics);
	free(erasing->entries);
	free(erasing);
}

/* --- the messages to erase --- */

static int by_seq(const void *a, const void *b)
{
	const struct erase_entry *one = a, *other = b;

	return (one->seq > other->seq) - (one->seq < other->seq);
}

void erase_add_entry(struct erasing *erasing, uint64_t seq, bool with_idem)
{
	if (erasing->count == erasing->room) {
		erasing->room = erasing->room ? 2 * erasing->room : 64;
		erasing->entries = memory_resize(erasing->entries, erasing->room * sizeof(*erasing->entries));
	}
	erasing->entries[erasing->count++] = (struct erase_entry){ .seq = seq, .with_idem = with_idem };
}

bool erase_is_running(const struct broker *broker)
{
	return broker->erasure->erasing && broker->erasure->erasing->phase > ERASE_ASKED &&
		broker->erasure->erasing->phase < ERASE_DONE;
}

bool erase_begin(struct broker *broker)
{
	if (erase_is_running(broker))
		return false;
	erasing_free(broker->erasure->erasing);
	broker->erasure->erasing = memory_new(sizeof(struct erasing));
	return true;
}

void erase_add(struct broker *broker, uint64_t seq, bool with_idem)
{
	if (seq > 0 && seq <= log_head(broker->log))
		erase_add_entry(broker->erasure->erasing, seq, with_idem);
}

void erase_run(struct broker *broker)
{
	struct erasing *erasing = broker->erasure->erasing;
	size_t kept = 0;

	qsort(erasing->entries, erasing->count, sizeof(*erasing->entries), by_seq);
	for (size_t i = 0; i < erasing->count; i++) { /* each number once */
		if (kept > 0 && erasing->entries[kept - 1].seq == erasing->entries[i].seq)
			erasing->entries[kept - 1].with_idem |= erasing->entries[i].with_idem;
		else
			erasing->entries[kept++] = erasing->entries[i];
	}
	erasing->count = kept;
	erasing->phase = ERASE_SETTLING;
	erase_rows_write(broker, erasing);
	erasing->wait_commits = broker->commit->over + 1;
	broker->needs_dispatch = true;
}

/* --- the queues settle the messages --- */

static void forget_retry(struct broker *broker, struct queue *queue, uint64_t seq)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	Trouble *retry = map_remove(queue->retries, map_number(&seq));

	if (!retry)
		return;
	free(retry);
	queue_row_key(queue, 'x', seq, &key);
	store_batch_delete(broker->batch, FAMILY_QUEUE, buffer_bytes(&key));
}

/* false: a session holds a lease on it. */
static bool settle_in(struct broker *broker, struct queue *queue, const struct logged *logged, bool *ret_changed)
{
	struct queue_item *item = queue_find(queue, logged->seq);

	if (item && item->state == ITEM_LEASED)
		return false;
	if (item) {
		queue_settle(broker, queue, item);
		*ret_changed = true;
	} else if (logged->topic >= 0 && topic_set_has(&queue->peer->hears, logged->topic) &&
		logged->seq >= queue->since_topic[logged->topic] && !ack_bitmap_has(queue, logged->seq)) {
		ack_bitmap_set(queue, logged->seq); /* the queue's window has not come there yet */
		forget_retry(broker, queue, logged->seq);
		*ret_changed = true;
	}
	if (dead_erase(broker, queue, logged->seq))
		*ret_changed = true;
	return true;
}

static bool settle(struct broker *broker, uint64_t seq, bool *ret_changed)
{
	struct logged logged = { .seq = seq, .topic = -1 };
	bool free = true;
	int r = log_look(broker->log, seq, &logged);

	if (r < 0 && r != -ENOENT)
		broker->broken = r;
	if (logged.topic >= 0)
		topic_set_add(&broker->erasure->erasing->topics, logged.topic);
	for (int i = 0; i < broker->topology.peer_count && broker->broken == 0; i++)
		if (broker->queues[i] && !settle_in(broker, broker->queues[i], &logged, ret_changed))
			free = false;
	return free;
}

static void tick_settling(struct broker *broker, struct erasing *erasing)
{
	size_t end = erasing->next + SETTLE_AT_ONCE;

	for (; erasing->next < erasing->count && erasing->next < end && broker->broken == 0; erasing->next++) {
		bool changed = false;

		if (!settle(broker, erasing->entries[erasing->next].seq, &changed))
			erasing->is_held = true;
		if (changed)
			erasing->has_settled = true;
	}
	if (erasing->next < erasing->count)
		return;
	erasing->next = 0;
	if (erasing->is_held) {
		erasing->again_boot_us = broker_boot_us(broker) + AGAIN_US;
	} else if (erasing->has_settled) {
		erasing->wait_commits = broker->commit->over + 1; /* and once more: none may have come back since */
	} else {
		erasing->phase = ERASE_REWRITING;
	}
	erasing->is_held = erasing->has_settled = false;
}

/* --- log, rows, keys --- */

struct rewriting {
	struct broker *broker;
	struct erasing *erasing;
	struct store_batch *batch;
	size_t next; /* of the entries */
};

static void widen(struct erase_span *span, struct bytes key)
{
	if (!span->is_set || bytes_compare(key, buffer_bytes(&span->from)) < 0) {
		buffer_clear(&span->from);
		buffer_add(&span->from, key.data, key.len);
	}
	if (!span->is_set || bytes_compare(key, buffer_bytes(&span->to)) > 0) {
		buffer_clear(&span->to);
		buffer_add(&span->to, key.data, key.len);
	}
	span->is_set = true;
}

static void delete_row(struct rewriting *rewriting, int family, struct bytes key)
{
	store_batch_delete(rewriting->batch, family, key);
	widen(&rewriting->erasing->spans[family], key);
}

/*
 * The compacted row goes if it is of this message; if it is of another one, the files still hold the row that
 * was there before.
 */
static void drop_latest(struct rewriting *rewriting, const struct logged *logged, const Envelope *envelope)
{
	_cleanup_(buffer_free) struct buffer key = { 0 }, row = { 0 };
	struct broker *broker = rewriting->broker;
	const char *group = broker->topology.topics[logged->topic].group;
	int r;

	if (group[0] == '\0')
		return;
	latest_key(group, envelope, &key);
	r = store_get(broker->store, FAMILY_LATEST, buffer_bytes(&key), &row);
	if (r < 0 && r != -ENOENT)
		broker->broken = r;
	widen(&rewriting->erasing->spans[FAMILY_LATEST], buffer_bytes(&key));
	if (r == 0 && row.len >= LATEST_ROW_HEAD && get_be64(row.data) == logged->seq)
		delete_row(rewriting, FAMILY_LATEST, buffer_bytes(&key));
}

static void drop_idem(
	struct rewriting *rewriting, const struct logged *logged, const Envelope *envelope, bool with_idem)
{
	_cleanup_(buffer_free) struct buffer key = { 0 }, erased = { 0 };
	struct broker *broker = rewriting->broker;

	if (envelope->idem[0] == '\0')
		return;
	if (!with_idem) {
		if (message_erase(logged->message, false, &erased) == 0)
			idem_renew(broker, rewriting->batch, logged, envelope, buffer_bytes(&erased));
		return;
	}
	idem_key(broker, logged->topic, envelope, &key);
	delete_row(rewriting, FAMILY_IDEM, buffer_bytes(&key));
}

static struct picked pick(const struct logged *logged, void *context)
{
	struct rewriting *rewriting = context;
	const struct erase_entry wanted = { .seq = logged->seq };
	const struct erase_entry *entry =
		bsearch(&wanted, rewriting->erasing->entries, rewriting->erasing->count, sizeof(wanted), by_seq);
	struct bytes payload;
	Envelope envelope;

	if (!entry || logged->topic < 0 || message_read(logged->message, &envelope, &payload) < 0)
		return (struct picked){ .erase = entry != NULL, .with_idem = true };
	drop_latest(rewriting, logged, &envelope);
	drop_idem(rewriting, logged, &envelope, entry->with_idem);
	return (struct picked){ .erase = true, .with_idem = entry->with_idem };
}

static void note_frames(struct erasing *erasing, uint64_t from, uint64_t to)
{
	uint8_t key[8];

	for (int family = FAMILY_RAW; family < FAMILY_RAW + RETENTION_CLASSES; family++) {
		put_be64(key, from);
		widen(&erasing->spans[family], BYTES(key, sizeof(key)));
		put_be64(key, to);
		widen(&erasing->spans[family], BYTES(key, sizeof(key)));
	}
}

/* Rewrites the block of the next entry, with all entries in that block. */
static int rewrite_block(struct rewriting *rewriting, uint64_t *ret_last)
{
	struct broker *broker = rewriting->broker;
	uint64_t seq = rewriting->erasing->entries[rewriting->erasing->next].seq;
	struct block *block;
	int r = log_erase(broker->log, seq, pick, rewriting, rewriting->batch, &block, ret_last);

	if (!block)
		return r;
	r = broker->broken;
	if (r == 0 && (r = store_commit(broker->store, rewriting->batch, true)) < 0)
		commit_failed(broker, r);
	if (r == 0)
		log_erased(broker->log, block);
	else
		block_free(block);
	return r;
}

static void tick_rewriting(struct broker *broker, struct erasing *erasing)
{
	struct rewriting rewriting = { .broker = broker, .erasing = erasing };
	int r = 0;

	rewriting.batch = store_batch_new(broker->store);
	for (int i = 0; i < BLOCKS_AT_ONCE && r == 0 && erasing->next < erasing->count; i++) {
		uint64_t seq = erasing->entries[erasing->next].seq, last = seq;

		r = rewrite_block(&rewriting, &last);
		note_frames(erasing, log_block_first(broker->log, seq), last);
		while (r == 0 && erasing->next < erasing->count && erasing->entries[erasing->next].seq <= last)
			erasing->next++;
	}
	store_batch_free(rewriting.batch);
	if (r < 0)
		broker->broken = r;
	else if (erasing->next == erasing->count)
		erasing->phase = ERASE_TELLING;
}

/* --- services that folded the messages fold anew --- */

bool erase_is_too_old(const struct broker *broker, int peer, uint64_t cursor)
{
	for (TOPIC_SET_EACH(i, &broker->topology.peers[peer].remembers))
		if (cursor > 0 && cursor < broker->erasure->before[i])
			return true;
	return false;
}

/* The services say hello again with their cursors, and the broker tells them to fold anew. */
static void end_sessions(struct broker *broker, const struct erasing *erasing)
{
	LIST_EACH_SAFE (hook, &broker->sessions->all) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (topic_set_meet(&broker->topology.peers[session->peer].remembers, &erasing->topics))
			session_end(broker, session, PARTING_GOODBYE);
	}
}

static void tick_telling(struct broker *broker, struct erasing *erasing)
{
	uint64_t boundary = retain_publish_again(broker);

	for (TOPIC_SET_EACH(i, &erasing->topics))
		erase_rows_bound(broker, i, boundary);
	end_sessions(broker, erasing); /* now: else they would be shown the boundary, and their cursors lie behind it */
	erasing->wait_commits = broker->commit->over + 1;
	erasing->phase = ERASE_PURGING;
	broker->needs_dispatch = true;
}

/* --- the files --- */

static void tick_purging(struct broker *broker, struct erasing *erasing)
{
	int r;

	if (!erasing->eraser) {
		erasing->eraser = eraser_new(broker->store, erasing->spans, !erasing->is_resumed);
		return;
	}
	if (!eraser_is_done(erasing->eraser, &r))
		return;
	eraser_free(TAKE(erasing->eraser));
	r = r ? r : store_reopen(broker->store);
	if (r < 0) {
		broker->broken = commit_failed(broker, r);
		return;
	}
	if (sidelog_erase(broker, erasing) < 0)
		return;
	erase_rows_delete(broker, erasing);
	erasing->wait_commits = broker->commit->over + 1;
	erasing->phase = ERASE_DONE;
	broker->needs_dispatch = true;
}

/* Between commits. */
void erase_tick(struct broker *broker)
{
	struct erasing *erasing = broker->erasure->erasing;

	if (!erase_is_running(broker) || broker->broken < 0 || broker->commit->over < erasing->wait_commits ||
		broker_boot_us(broker) < erasing->again_boot_us)
		return;
	switch (erasing->phase) {
	case ERASE_SETTLING:
		tick_settling(broker, erasing);
		break;
	case ERASE_REWRITING:
		tick_rewriting(broker, erasing);
		break;
	case ERASE_TELLING:
		tick_telling(broker, erasing);
		break;
	case ERASE_PURGING:
		tick_purging(broker, erasing);
		break;
	case ERASE_ASKED:
	case ERASE_DONE:
		break;
	}
	if (!erasing->eraser && erasing->again_boot_us <= broker_boot_us(broker))
		broker->needs_dispatch = true;
}
