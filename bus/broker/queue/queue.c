/*
 * queue.c: the window of pending letters, and their chains by key
 *
 * Owns:      letters, the chains that keep a key's letters in order, the list of what is ready, the index of what is delayed.
 * Promises:  of one key, one letter at a time is out of the chain; memory is bounded, however long the backlog.
 * Read next: ack_bitmap.c (what is done), lease.c (who has it), trouble.c (what went wrong), deliver.c
 */
#include "bus/broker/queue/queue.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/sorted_map.h"
#include "bus/broker/queue/feed.h"
#include <errno.h>
#include <stdlib.h>

enum { LOADS_AT_ONCE = 64 }; /* blocks read from the disk: others wait for the same thread */

int queue_open(struct broker *broker, int peer, struct queue **ret)
{
	struct queue *queue = memory_new(sizeof(*queue));
	int r;

	queue->peer = &broker->topology.peers[peer];
	queue->index = peer;
	list_init(&queue->letters);
	list_init(&queue->redriven);
	list_init(&queue->ready);
	queue->by_seq = u64map_new();
	queue->since_topic = memory_new((size_t)broker->topology.topic_count * sizeof(uint64_t));
	queue->chains = key_chain_new();
	queue->spare.size = sizeof(struct letter);
	queue->troubles = map_new();
	queue->acks = map_new();
	queue->dropped = map_new();
	queue->due = sorted_map_new();
	*ret = queue;
	r = ack_bitmap_open(broker, queue);
	if (r == 0)
		r = troubles_open(broker, queue);
	if (r == 0)
		r = outage_open(broker, queue);
	if (r == 0)
		r = feed_open(broker, queue);
	queue->scanned = queue->floor;
	return r;
}

static void free_value(struct bytes key, void *value, void *context)
{
	(void)key;
	(void)context;
	free(value);
}

static void free_letters(struct list *letters)
{
	LIST_EACH_SAFE (hook, letters) {
		struct letter *letter = LIST_ENTRY(hook, struct letter, in_queue);

		free(letter->trouble);
		free(letter);
	}
}

void queue_free(struct queue *queue)
{
	if (!queue)
		return;
	free_letters(&queue->letters);
	free_letters(&queue->redriven);
	map_each(queue->troubles, free_value, NULL);
	ack_bitmap_free(queue);
	feed_free(queue->feed);
	u64map_free(queue->by_seq);
	key_chain_free(queue->chains);
	pool_free(&queue->spare);
	map_free(queue->troubles);
	map_free(queue->dropped);
	sorted_map_free(queue->due);
	free(queue->since_topic);
	free(queue);
}

struct letter *queue_find(const struct queue *queue, uint64_t seq)
{
	return u64map_get(queue->by_seq, seq);
}

static void make_ready(struct queue *queue, struct letter *letter)
{
	struct list *at = &queue->ready;

	letter->state = LETTER_READY;
	queue->ready_count++;
	if (letter->suspect) /* behind the others: those have not had their turn alone yet */
		for (at = queue->ready.next; at != &queue->ready && LIST_ENTRY(at, struct letter, in_state)->suspect;)
			at = at->next;
	list_insert_before(at, &letter->in_state);
}

static bool goes_before(const struct letter *letter, const struct letter *other)
{
	if (letter->suspect != other->suspect)
		return letter->suspect;
	return letter->seq < other->seq;
}

/* A letter that was out already goes before those that were not. */
static void make_ready_in_order(struct queue *queue, struct letter *letter)
{
	struct list *at = queue->ready.next;

	letter->state = LETTER_READY;
	queue->ready_count++;
	while (at != &queue->ready && !goes_before(letter, LIST_ENTRY(at, struct letter, in_state)))
		at = at->next;
	list_insert_before(at, &letter->in_state);
}

static void due_key(const struct letter *letter, uint8_t key[16])
{
	put_be64(key, (uint64_t)letter->trouble->due_us);
	put_be64(key + 8, letter->seq);
}

static void make_delayed(struct queue *queue, struct letter *letter)
{
	uint8_t key[16];

	due_key(letter, key);
	letter->state = LETTER_DELAYED;
	queue->delayed_count++;
	sorted_map_put(queue->due, BYTES(key, sizeof(key)), BYTES(NULL, 0), (uint64_t)(uintptr_t)letter);
}

/* The first of its chain comes out: ready, or delayed when its time has not come. */
static void come_out(struct queue *queue, struct letter *letter)
{
	if (letter->trouble && letter->trouble->due_us > 0)
		make_delayed(queue, letter);
	else
		make_ready(queue, letter);
}

struct letter *queue_add(struct queue *queue, uint64_t seq, uint64_t hash, int topic, bool redriven)
{
	struct letter *letter = pool_take(&queue->spare);
	struct chain *chain = key_chain_get(queue->chains, hash);
	bool first = list_empty(&chain->letters);

	letter->seq = seq;
	letter->key_hash = hash;
	letter->chain = chain;
	letter->topic = topic;
	letter->redriven = redriven;
	queue->redriven_count += redriven;
	letter->state = LETTER_BEHIND;
	if (map_count(queue->troubles) > 0)
		letter->trouble = map_remove(queue->troubles, map_number(&seq));
	list_init(&letter->in_state);
	list_append(redriven ? &queue->redriven : &queue->letters, &letter->in_queue);
	list_append(&chain->letters, &letter->in_chain);
	u64map_put(queue->by_seq, letter->seq, letter);
	if (first)
		come_out(queue, letter);
	return letter;
}

static bool has_room(const struct queue *queue)
{
	return queue->ready_count + queue->leased_count < WINDOW_READY && u64map_count(queue->by_seq) < WINDOW_LETTERS;
}

bool queue_refill(struct broker *broker, struct queue *queue)
{
	uint64_t loads = log_loads(broker->log);
	struct logged logged;
	int r = 0;

	while (r == 0 && queue->scanned < log_head(broker->log) && has_room(queue)) {
		if (log_loads(broker->log) - loads >= LOADS_AT_ONCE)
			return true;
		r = log_find_soon(broker->log, queue->scanned + 1, &queue->peer->hears, &queue->scanned, &logged);
		if (r < 0)
			break;
		queue->scanned = logged.seq;
		if (logged.seq >= queue->since_topic[logged.topic] && !ack_bitmap_has(queue, logged.seq))
			queue_add(queue, logged.seq, logged.key_hash, logged.topic, false);
	}
	if (r == -ENOENT)
		queue->scanned = log_head(broker->log);
	else if (r < 0 && r != -EAGAIN)
		broker->broken = r;
	return r == -EAGAIN;
}

/* Takes the letter out of the list or index that its state has put it in. */
static void leave_state(struct queue *queue, struct letter *letter)
{
	uint8_t key[16];

	switch (letter->state) {
	case LETTER_BEHIND:
		break;
	case LETTER_READY:
		queue->ready_count--;
		break;
	case LETTER_LEASED:
		lease_end(queue, letter);
		break;
	case LETTER_DELAYED:
		due_key(letter, key);
		sorted_map_remove(queue->due, BYTES(key, sizeof(key)));
		queue->delayed_count--;
		break;
	}
	list_remove(&letter->in_state);
}

static void advance_chain(struct queue *queue, struct letter *letter)
{
	struct chain *chain = letter->chain;

	list_remove(&letter->in_chain);
	if (list_empty(&chain->letters)) {
		key_chain_drop(queue->chains, chain);
	} else if (letter->state != LETTER_BEHIND) {
		come_out(queue, LIST_ENTRY(chain->letters.next, struct letter, in_chain));
	}
}

void queue_bring_forward(struct queue *queue, struct letter *letter)
{
	struct chain *chain = letter->chain;
	struct letter *first = LIST_ENTRY(chain->letters.next, struct letter, in_chain);

	if (letter->state != LETTER_BEHIND || first->state == LETTER_LEASED)
		return;
	leave_state(queue, first);
	first->state = LETTER_BEHIND;
	list_remove(&letter->in_chain);
	list_prepend(&chain->letters, &letter->in_chain);
	come_out(queue, letter);
}

static void advance_floor(struct queue *queue)
{
	if (list_empty(&queue->letters))
		queue->floor = queue->scanned;
	else
		queue->floor = LIST_ENTRY(queue->letters.next, struct letter, in_queue)->seq - 1;
}

void queue_settle(struct broker *broker, struct queue *queue, struct letter *letter)
{
	leave_state(queue, letter);
	advance_chain(queue, letter);
	list_remove(&letter->in_queue);
	queue->redriven_count -= letter->redriven;
	u64map_remove(queue->by_seq, letter->seq);
	if (!letter->redriven)
		ack_bitmap_set(queue, letter->seq);
	else if (!letter->died)
		dead_settled(broker, queue, letter->seq);
	trouble_forget(broker, queue, letter);
	advance_floor(queue);
	pool_give(&queue->spare, letter);
}

void queue_unlease(struct queue *queue, struct letter *letter)
{
	leave_state(queue, letter);
	make_ready_in_order(queue, letter);
}

void queue_delay(struct broker *broker, struct queue *queue, struct letter *letter, int64_t due_us)
{
	leave_state(queue, letter);
	if (!letter->trouble)
		letter->trouble = memory_new(sizeof(*letter->trouble));
	letter->trouble->due_us = due_us;
	trouble_write(broker, queue, letter);
	make_delayed(queue, letter);
}

int64_t queue_next_due_us(const struct queue *queue)
{
	struct sorted_map_entry *first = sorted_map_first(queue->due);

	return first ? (int64_t)get_be64(sorted_map_key(first).data) : INT64_MAX;
}

void queue_wake(struct queue *queue, int64_t wall_us)
{
	while (queue_next_due_us(queue) <= wall_us) {
		struct letter *letter = (void *)(uintptr_t)sorted_map_tag(sorted_map_first(queue->due));

		leave_state(queue, letter);
		letter->trouble->due_us = 0;
		make_ready(queue, letter);
	}
}

void queue_write(struct broker *broker, struct queue *queue)
{
	advance_floor(queue);
	ack_bitmap_write(broker, queue);
}

int64_t queue_oldest_us(struct broker *broker, const struct queue *queue)
{
	struct logged logged;

	if (list_empty(&queue->letters))
		return 0;
	if (log_read(broker->log, LIST_ENTRY(queue->letters.next, struct letter, in_queue)->seq, &logged) < 0)
		return 0;
	return logged.time_us;
}

/*
 * A hash table of chains that are their own entries
 *
 * Every message makes a chain and ends one: so it is found without hashing anew, and comes from a pool.
 *
 * Owns:      the chains.
 */

enum { FIRST_BUCKETS = 256 }; /* a power of two, as is every later size */

struct key_chain {
	struct chain **buckets;
	size_t bucket_count, count;
	struct pool pool;
};

struct key_chain *key_chain_new(void)
{
	struct key_chain *chains = memory_new(sizeof(*chains));

	chains->bucket_count = FIRST_BUCKETS;
	chains->buckets = memory_new(FIRST_BUCKETS * sizeof(*chains->buckets));
	chains->pool.size = sizeof(struct chain);
	return chains;
}

void key_chain_free(struct key_chain *chains)
{
	if (!chains)
		return;
	for (size_t i = 0; i < chains->bucket_count; i++)
		for (struct chain *chain = chains->buckets[i], *next; chain; chain = next) {
			next = chain->next;
			free(chain);
		}
	pool_free(&chains->pool);
	free(chains->buckets);
	free(chains);
}

static struct chain **bucket_of(const struct key_chain *chains, uint64_t key_hash)
{
	return &chains->buckets[key_hash & (chains->bucket_count - 1)];
}

static void double_buckets(struct key_chain *chains)
{
	struct chain **before = chains->buckets;
	size_t count = chains->bucket_count;

	chains->bucket_count = 2 * count;
	chains->buckets = memory_new(chains->bucket_count * sizeof(*chains->buckets));
	for (size_t i = 0; i < count; i++)
		for (struct chain *chain = before[i], *next; chain; chain = next) {
			struct chain **bucket = bucket_of(chains, chain->key_hash);

			next = chain->next;
			chain->next = *bucket;
			*bucket = chain;
		}
	free(before);
}

static struct chain *add(struct key_chain *chains, uint64_t key_hash)
{
	struct chain *chain = pool_take(&chains->pool), **bucket;

	if (++chains->count > chains->bucket_count)
		double_buckets(chains);
	bucket = bucket_of(chains, key_hash);
	chain->key_hash = key_hash;
	list_init(&chain->letters);
	chain->next = *bucket;
	return *bucket = chain;
}

struct chain *key_chain_get(struct key_chain *chains, uint64_t key_hash)
{
	for (struct chain *chain = *bucket_of(chains, key_hash); chain; chain = chain->next)
		if (chain->key_hash == key_hash)
			return chain;
	return add(chains, key_hash);
}

void key_chain_drop(struct key_chain *chains, struct chain *chain)
{
	struct chain **at = bucket_of(chains, chain->key_hash);

	while (*at != chain)
		at = &(*at)->next;
	*at = chain->next;
	chains->count--;
	pool_give(&chains->pool, chain);
}
