/*
 * row_cache.c: remembers rows read from the store, and the tables of which the store has no row
 *
 * Owns:      copies of keys and values, in two generations.
 * Promises:  a row larger than a generation is not kept. Any other row is still there at its next read if the
 *            other rows read meanwhile fill less than half of the cache. The cache never holds more than its
 *            limit. Dropping a generation costs one walk over it, and no row needs a place in a list.
 * Read next: state.c
 */
#include "bus/actor/runtime/state_rows.h"
#include "bus/base/log.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include <stdlib.h>

enum { ROW_OVERHEAD = 112 }; /* the map's entry, the row's head, and the overhead of malloc for both */

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
	add(cache, key, row); /* a copy in the old generation is not found any more, and goes first */
}

/* A row that is read again counts as young. */
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

/*
 * Which tables the store has no row of
 *
 * Owns:      for each (table, shop) that was asked for, and for each table over all shops, whether the store
 *            has a row of it.
 * Promises:  a table that is called empty has no row in the store: it was looked for once, and state_flush,
 *            which alone puts rows there, tells the tables it puts into. A table whose rows were all deleted
 *            since is not called empty until the next start. Most decisions ask for a dozen tables that hold
 *            a few rows, or none: a get or a seek each.
 */

enum { TABLES_MOST = 4096 }; /* with more (many shops), all are looked up anew */

static const char EMPTY[] = "empty", HAS_ROWS[] = "has rows";

/* table NUL: the key of the table over all shops. */
static struct bytes of_any_shop(struct bytes key)
{
	const uint8_t *end = memchr(key.data, '\0', key.len);

	return BYTES(key.data, end ? (size_t)(end - (const uint8_t *)key.data) + 1 : key.len);
}

/* table NUL shop NUL, or the whole key if it is shorter. */
static struct bytes of_one_shop(struct bytes key)
{
	size_t table_len = of_any_shop(key).len;
	const uint8_t *shop = (const uint8_t *)key.data + table_len, *end = memchr(shop, '\0', key.len - table_len);

	return BYTES(key.data, end ? (size_t)(end - shop) + table_len + 1 : key.len);
}

static void forget_all(struct state *state)
{
	map_free(state->tables);
	state->tables = map_new();
}

static void set(const struct state *state, struct bytes table, const char *known)
{
	if (map_count(state->tables) >= TABLES_MOST && !map_get(state->tables, table))
		forget_all((struct state *)state);
	map_put(state->tables, table, (void *)known);
}

static const char *look(const struct state *state, struct bytes table)
{
	struct store_cursor *cursor = state_take_cursor(state, table);
	bool has = store_cursor_seek(cursor, table);
	int r = store_cursor_status(cursor);

	state_rest_cursor(state, table, cursor);
	if (r < 0)
		die("the folded state cannot be read (error %d): " FOLDED_ANEW(
			    "this service's state folder") ": they are folded again",
			-r);
	set(state, table, has ? HAS_ROWS : EMPTY);
	return has ? HAS_ROWS : EMPTY;
}

bool state_store_lacks(const struct state *state, struct bytes key)
{
	struct bytes table = of_one_shop(key);
	const char *known;

	if (table.len == 0)
		return false;
	known = map_get(state->tables, table);
	return (known ? known : look(state, table)) == EMPTY;
}

void state_put_into(struct state *state, struct bytes key, struct bytes key_before)
{
	struct bytes table = of_one_shop(key);

	if (key_before.len >= table.len && memcmp(key_before.data, table.data, table.len) == 0)
		return;
	set(state, table, HAS_ROWS);
	set(state, of_any_shop(key), HAS_ROWS);
}
