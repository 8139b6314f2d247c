/*
 * row_cache.h: rows that were read from the store, or found not to be there, until the store changes
 *
 * It stands for the store alone, below what is folded and below the turns: what it says is what store_get would say.
 */
#ifndef ACTOR_RUNTIME_ROW_CACHE_H
#define ACTOR_RUNTIME_ROW_CACHE_H

#include "bus/base/bytes.h"

struct row_cache;

/* `bytes_most`: about what it takes in memory, at most. */
struct row_cache *row_cache_new(size_t bytes_most);
void row_cache_free(struct row_cache *cache); /* takes NULL */

/* What the store has under this key; data NULL: it has no such row. */
void row_cache_put(struct row_cache *cache, struct bytes key, struct bytes value);
/* true: known, and then *ret is as it was put, borrowed until the cache is asked or told again. */
bool row_cache_get(struct row_cache *cache, struct bytes key, struct bytes *ret);
/* The store has this now: as row_cache_put, but what nobody asked for is not kept. */
void row_cache_renew(struct row_cache *cache, struct bytes key, struct bytes value);
void row_cache_clear(struct row_cache *cache);

#endif
