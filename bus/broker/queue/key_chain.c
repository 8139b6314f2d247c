/*
 * key_chain.c: a hash table of chains that are their own entries
 *
 * Every message makes a chain and ends one: so it is found without hashing anew, and comes from a pool.
 *
 * Owns:      the chains.
 * Read next: queue.c
 */
#include "bus/broker/queue/key_chain.h"
#include "bus/base/memory.h"
#include "bus/base/pool.h"
#include <stdlib.h>

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
