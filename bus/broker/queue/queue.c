/*
 * queue.c: the window of pending items, and their chains by key
 *
 * Owns:      items, the chains that keep a key's items in order, the list of ready items, the index of
 *            delayed items.
 * Promises:  of one key, one item at a time is out of the chain; memory is bounded, however long the backlog.
 * Read next: ack_bitmap.c (settled messages), lease.c (items held), retry.c (failures), deliver.c
 */
#include "bus/broker/queue/queue.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/sorted_map.h"
#include "bus/broker/queue/redrive.h"
#include <errno.h>
#include <stdlib.h>

enum { LOADS_AT_ONCE = 64 }; /* blocks read from the disk: other peers wait for the same thread */

int queue_open(struct broker *broker, int peer, struct queue **ret)
{
	struct queue *queue = memory_new(sizeof(*queue));
	int r;

	queue->peer = &broker->topology.peers[peer];
	queue->index = peer;
	list_init(&queue->items);
	list_init(&queue->redriven);
	list_init(&queue->ready);
	queue->by_seq = u64map_new();
	queue->since_topic = memory_new((size_t)broker->topology.topic_count * sizeof(uint64_t));
	queue->key_chains = key_chain_new();
	queue->spare.size = sizeof(struct queue_item);
	queue->retries = map_new();
	queue->ack_bitmaps = map_new();
	queue->dropped = map_new();
	queue->due = sorted_map_new();
	*ret = queue;
	r = ack_bitmap_open(broker, queue);
	if (r == 0)
		r = retries_open(broker, queue);
	if (r == 0)
		r = queue_pause_open(broker, queue);
	if (r == 0)
		r = redrive_open(broker, queue);
	queue->scanned = queue->floor;
	return r;
}

static void free_value(struct bytes key, void *value, void *context)
{
	(void)key;
	(void)context;
	free(value);
}

static void free_items(struct list *items)
{
	LIST_EACH_SAFE (hook, items) {
		struct queue_item *item = LIST_ENTRY(hook, struct queue_item, in_queue);

		free(item->retry);
		free(item);
	}
}

void queue_free(struct queue *queue)
{
	if (!queue)
		return;
	free_items(&queue->items);
	free_items(&queue->redriven);
	map_each(queue->retries, free_value, NULL);
	ack_bitmap_free(queue);
	redrive_free(queue->redrive);
	u64map_free(queue->by_seq);
	key_chain_free(queue->key_chains);
	pool_free(&queue->spare);
	map_free(queue->retries);
	map_free(queue->dropped);
	sorted_map_free(queue->due);
	free(queue->since_topic);
	free(queue);
}

struct queue_item *queue_find(const struct queue *queue, uint64_t seq)
{
	return u64map_get(queue->by_seq, seq);
}

static void make_ready(struct queue *queue, struct queue_item *item)
{
	struct list *at = &queue->ready;

	item->state = ITEM_READY;
	queue->ready_count++;
	if (item->suspect) /* behind the other suspects: those have not had their turn alone yet */
		for (at = queue->ready.next;
			at != &queue->ready && LIST_ENTRY(at, struct queue_item, in_state)->suspect;)
			at = at->next;
	list_insert_before(at, &item->in_state);
}

static bool goes_before(const struct queue_item *item, const struct queue_item *other)
{
	if (item->suspect != other->suspect)
		return item->suspect;
	return item->seq < other->seq;
}

/* Orders suspects first, then by number: so an item that was out already goes before those that were not. */
static void make_ready_in_order(struct queue *queue, struct queue_item *item)
{
	struct list *at = queue->ready.next;

	item->state = ITEM_READY;
	queue->ready_count++;
	while (at != &queue->ready && !goes_before(item, LIST_ENTRY(at, struct queue_item, in_state)))
		at = at->next;
	list_insert_before(at, &item->in_state);
}

static void due_key(const struct queue_item *item, uint8_t key[16])
{
	put_be64(key, (uint64_t)item->retry->due_us);
	put_be64(key + 8, item->seq);
}

static void make_delayed(struct queue *queue, struct queue_item *item)
{
	uint8_t key[16];

	due_key(item, key);
	item->state = ITEM_DELAYED;
	queue->delayed_count++;
	sorted_map_put(queue->due, BYTES(key, sizeof(key)), BYTES(NULL, 0), (uint64_t)(uintptr_t)item);
}

/* The first item of the chain comes out: it is ready, or delayed if its time has not come. */
static void come_out(struct queue *queue, struct queue_item *item)
{
	if (item->retry && item->retry->due_us > 0)
		make_delayed(queue, item);
	else
		make_ready(queue, item);
}

struct queue_item *queue_add(struct queue *queue, uint64_t seq, uint64_t hash, int topic, bool redriven)
{
	struct queue_item *item = pool_take(&queue->spare);
	struct chain *chain = key_chain_get(queue->key_chains, hash);
	bool first = list_empty(&chain->items);

	item->seq = seq;
	item->key_hash = hash;
	item->chain = chain;
	item->topic = topic;
	item->redriven = redriven;
	queue->redriven_count += redriven;
	item->state = ITEM_BEHIND;
	if (map_count(queue->retries) > 0)
		item->retry = map_remove(queue->retries, map_number(&seq));
	list_init(&item->in_state);
	list_append(redriven ? &queue->redriven : &queue->items, &item->in_queue);
	list_append(&chain->items, &item->in_chain);
	u64map_put(queue->by_seq, item->seq, item);
	if (first)
		come_out(queue, item);
	return item;
}

static bool has_room(const struct queue *queue)
{
	return queue->ready_count + queue->leased_count < WINDOW_READY && u64map_count(queue->by_seq) < WINDOW_ITEMS;
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

/* Takes the item out of the list or index that its state has put it in. */
static void leave_state(struct queue *queue, struct queue_item *item)
{
	uint8_t key[16];

	switch (item->state) {
	case ITEM_BEHIND:
		break;
	case ITEM_READY:
		queue->ready_count--;
		break;
	case ITEM_LEASED:
		lease_end(queue, item);
		break;
	case ITEM_DELAYED:
		due_key(item, key);
		sorted_map_remove(queue->due, BYTES(key, sizeof(key)));
		queue->delayed_count--;
		break;
	}
	list_remove(&item->in_state);
}

static void advance_chain(struct queue *queue, struct queue_item *item)
{
	struct chain *chain = item->chain;

	list_remove(&item->in_chain);
	if (list_empty(&chain->items)) {
		key_chain_drop(queue->key_chains, chain);
	} else if (item->state != ITEM_BEHIND) {
		come_out(queue, LIST_ENTRY(chain->items.next, struct queue_item, in_chain));
	}
}

void queue_bring_forward(struct queue *queue, struct queue_item *item)
{
	struct chain *chain = item->chain;
	struct queue_item *first = LIST_ENTRY(chain->items.next, struct queue_item, in_chain);

	if (item->state != ITEM_BEHIND || first->state == ITEM_LEASED)
		return;
	leave_state(queue, first);
	first->state = ITEM_BEHIND;
	list_remove(&item->in_chain);
	list_prepend(&chain->items, &item->in_chain);
	come_out(queue, item);
}

static void advance_floor(struct queue *queue)
{
	if (list_empty(&queue->items))
		queue->floor = queue->scanned;
	else
		queue->floor = LIST_ENTRY(queue->items.next, struct queue_item, in_queue)->seq - 1;
}

void queue_settle(struct broker *broker, struct queue *queue, struct queue_item *item)
{
	leave_state(queue, item);
	advance_chain(queue, item);
	list_remove(&item->in_queue);
	queue->redriven_count -= item->redriven;
	u64map_remove(queue->by_seq, item->seq);
	if (!item->redriven)
		ack_bitmap_set(queue, item->seq);
	else if (!item->died)
		dead_settled(broker, queue, item->seq);
	retry_forget(broker, queue, item);
	advance_floor(queue);
	pool_give(&queue->spare, item);
}

void queue_unlease(struct queue *queue, struct queue_item *item)
{
	leave_state(queue, item);
	make_ready_in_order(queue, item);
}

void queue_delay(struct broker *broker, struct queue *queue, struct queue_item *item, int64_t due_us)
{
	leave_state(queue, item);
	if (!item->retry)
		item->retry = memory_new(sizeof(*item->retry));
	item->retry->due_us = due_us;
	retry_write(broker, queue, item);
	make_delayed(queue, item);
}

int64_t queue_next_due_us(const struct queue *queue)
{
	struct sorted_map_entry *first = sorted_map_first(queue->due);

	return first ? (int64_t)get_be64(sorted_map_key(first).data) : INT64_MAX;
}

void queue_wake(struct queue *queue, int64_t wall_us)
{
	while (queue_next_due_us(queue) <= wall_us) {
		struct queue_item *item = (void *)(uintptr_t)sorted_map_tag(sorted_map_first(queue->due));

		leave_state(queue, item);
		item->retry->due_us = 0;
		make_ready(queue, item);
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

	if (list_empty(&queue->items))
		return 0;
	if (log_read(broker->log, LIST_ENTRY(queue->items.next, struct queue_item, in_queue)->seq, &logged) < 0)
		return 0;
	return logged.time_us;
}

/*
 * A hash table of chains that are their own entries
 *
 * Every message makes a chain and ends one: so a chain is found without a second hash, and comes from a pool.
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
	struct key_chain *key_chains = memory_new(sizeof(*key_chains));

	key_chains->bucket_count = FIRST_BUCKETS;
	key_chains->buckets = memory_new(FIRST_BUCKETS * sizeof(*key_chains->buckets));
	key_chains->pool.size = sizeof(struct chain);
	return key_chains;
}

void key_chain_free(struct key_chain *key_chains)
{
	if (!key_chains)
		return;
	for (size_t i = 0; i < key_chains->bucket_count; i++)
		for (struct chain *chain = key_chains->buckets[i], *next; chain; chain = next) {
			next = chain->next;
			free(chain);
		}
	pool_free(&key_chains->pool);
	free(key_chains->buckets);
	free(key_chains);
}

static struct chain **bucket_of(const struct key_chain *key_chains, uint64_t key_hash)
{
	return &key_chains->buckets[key_hash & (key_chains->bucket_count - 1)];
}

static void double_buckets(struct key_chain *key_chains)
{
	struct chain **before = key_chains->buckets;
	size_t count = key_chains->bucket_count;

	key_chains->bucket_count = 2 * count;
	key_chains->buckets = memory_new(key_chains->bucket_count * sizeof(*key_chains->buckets));
	for (size_t i = 0; i < count; i++)
		for (struct chain *chain = before[i], *next; chain; chain = next) {
			struct chain **bucket = bucket_of(key_chains, chain->key_hash);

			next = chain->next;
			chain->next = *bucket;
			*bucket = chain;
		}
	free(before);
}

static struct chain *add(struct key_chain *key_chains, uint64_t key_hash)
{
	struct chain *chain = pool_take(&key_chains->pool), **bucket;

	if (++key_chains->count > key_chains->bucket_count)
		double_buckets(key_chains);
	bucket = bucket_of(key_chains, key_hash);
	chain->key_hash = key_hash;
	list_init(&chain->items);
	chain->next = *bucket;
	return *bucket = chain;
}

struct chain *key_chain_get(struct key_chain *key_chains, uint64_t key_hash)
{
	for (struct chain *chain = *bucket_of(key_chains, key_hash); chain; chain = chain->next)
		if (chain->key_hash == key_hash)
			return chain;
	return add(key_chains, key_hash);
}

void key_chain_drop(struct key_chain *key_chains, struct chain *chain)
{
	struct chain **at = bucket_of(key_chains, chain->key_hash);

	while (*at != chain)
		at = &(*at)->next;
	*at = chain->next;
	key_chains->count--;
	pool_give(&key_chains->pool, chain);
}
