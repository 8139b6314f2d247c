/*
 * row_cache.c: rows that were read from the store
 *
 * Owns:      copies of keys and values, in two generations.
 * Promises:  a row larger than a generation is not kept. Any other row is still there when it is asked for again before so many
 *            other rows were asked for as fill half of it. It never holds more than its limit. To give a generation up costs one
 *            walk over it, and no row needs a place in a list.
 * Read next: state.c
 */
#include "bus/actor/runtime/row_cache.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include <stdlib.h>

enum { ROW_OVERHEAD = 112 }; /* the entry of the map, the row's head, and what malloc adds to both */

struct row {
	size_t len;
	bool is_there;
	uint8_t value[];
};

struct row_cache {
	struct map *young, *old;
	size_t young_bytes, young_most;
};

struct row_cache *row_cache_new(size_t bytes_most)
{
	struct row_cache *cache = memory_new(sizeof(*cache));

	cache->young = map_new();
	cache->old = map_new();
	cache->young_most = bytes_most / 2;
	return cache;
}

static void free_row(struct bytes key, void *row, void *context)
{
	(void)key, (void)context;
	free(row);
}

static void free_generation(struct map *generation)
{
	map_each(generation, free_row, NULL);
	map_free(generation);
}

void row_cache_free(struct row_cache *cache)
{
	if (!cache)
		return;
	free_generation(cache->young);
	free_generation(cache->old);
	free(cache);
}

void row_cache_clear(struct row_cache *cache)
{
	if (map_count(cache->young) + map_count(cache->old) == 0)
		return;
	free_generation(cache->young);
	free_generation(cache->old);
	cache->young = map_new();
	cache->old = map_new();
	cache->young_bytes = 0;
}

static void make_room(struct row_cache *cache, size_t bytes)
{
	cache->young_bytes += bytes;
	if (cache->young_bytes <= cache->young_most)
		return;
	free_generation(cache->old);
	cache->old = cache->young;
	cache->young = map_new();
	cache->young_bytes = bytes;
}

static void add(struct row_cache *cache, struct bytes key, struct row *row)
{
	make_room(cache, ROW_OVERHEAD + key.len + row->len);
	free(map_put(cache->young, key, row));
}

void row_cache_put(struct row_cache *cache, struct bytes key, struct bytes value)
{
	struct row *row;

	if (ROW_OVERHEAD + key.len + value.len > cache->young_most) {
		free(map_remove(cache->young, key));
		free(map_remove(cache->old, key));
		return;
	}
	row = memory_new(sizeof(*row) + value.len);
	row->len = value.len;
	row->is_there = value.data != NULL;
	if (value.len > 0)
		memcpy(row->value, value.data, value.len);
	add(cache, key, row); /* what the old generation has is not found any more, and goes first */
}

/* Asked for again, it counts as young. */
static struct row *find(struct row_cache *cache, struct bytes key)
{
	struct row *row = map_get(cache->young, key);

	if (row)
		return row;
	row = map_remove(cache->old, key);
	if (row)
		add(cache, key, row);
	return row;
}

bool row_cache_get(struct row_cache *cache, struct bytes key, struct bytes *ret)
{
	const struct row *row = find(cache, key);

	if (!row)
		return false;
	*ret = BYTES(row->is_there ? row->value : NULL, row->len);
	return true;
}

void row_cache_renew(struct row_cache *cache, struct bytes key, struct bytes value)
{
	if (map_get(cache->young, key) || map_get(cache->old, key))
		row_cache_put(cache, key, value);
}
