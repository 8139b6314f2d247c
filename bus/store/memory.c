/*
 * memory.c: a store in memory, for tests and the simulator
 *
 * Owns:      one sorted map per family.
 * Promises:  the same answers as rocks.c, with one difference: a cursor sees commits made after it.
 * Fails by:  nothing; store_checkpoint says -ENOTSUP.
 */
#include "bus/base/memory.h"
#include "bus/base/sorted_map.h"
#include "bus/store/engine.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct memory_store {
	struct store store;
	int owners;       /* store_share_memory */
	uint64_t changes; /* number of changes so far: a cursor that has seen them all stands on a live entry */
	struct sorted_map *families[STORE_FAMILIES_MAX];
};

/* A change in `changes`: family, kind, length of key and value, key, value. */
enum { CHANGE_DELETE, CHANGE_PUT, CHANGE_HEADER_BYTES = 12 };

struct memory_batch {
	struct store_batch batch;
	struct buffer changes;
};

struct memory_cursor {
	struct store_cursor cursor;
	struct sorted_map *family;
	const struct sorted_map_entry *entry;
	uint64_t changes;  /* of the store when the cursor came to this entry */
	struct buffer key; /* copies: the entry may go while the cursor stands on it */
	struct buffer value;
};

static struct memory_store *memory_of(struct store *store)
{
	return (struct memory_store *)store;
}

static void memory_close(struct store *store)
{
	struct memory_store *memory = memory_of(store);
	if (--memory->owners > 0)
		return;
	for (int i = 0; i < store->family_count; i++)
		sorted_map_free(memory->families[i]);
	free(memory);
}

/* Nothing to do: a deleted row is gone here at once. */
static int memory_purge(struct store *store, const struct store_range *ranges, size_t count)
{
	(void)store;
	(void)ranges;
	(void)count;
	return 0;
}

static int memory_reopen(struct store *store)
{
	(void)store;
	return 0;
}

static int memory_get(struct store *store, int family, struct bytes key, struct buffer *ret)
{
	struct sorted_map_entry *entry = sorted_map_find(memory_of(store)->families[family], key);
	if (!entry)
		return -ENOENT;
	struct bytes value = sorted_map_value(entry);
	buffer_add(ret, value.data, value.len);
	return 0;
}

static struct store_batch *memory_batch_new(struct store *store)
{
	struct memory_batch *batch = memory_new(sizeof(*batch));
	batch->batch.store = store;
	return &batch->batch;
}

static void add_change(struct store_batch *batch, int what, int family, struct bytes key, struct bytes value)
{
	struct buffer *changes = &((struct memory_batch *)batch)->changes;
	buffer_add_u16(changes, (uint16_t)family);
	buffer_add_u16(changes, (uint16_t)what);
	buffer_add_u32(changes, (uint32_t)key.len);
	buffer_add_u32(changes, (uint32_t)value.len);
	buffer_add(changes, key.data, key.len);
	buffer_add(changes, value.data, value.len);
}

static void memory_batch_put(struct store_batch *batch, int family, struct bytes key, struct bytes value)
{
	add_change(batch, CHANGE_PUT, family, key, value);
}

static void memory_batch_delete(struct store_batch *batch, int family, struct bytes key)
{
	add_change(batch, CHANGE_DELETE, family, key, BYTES(NULL, 0));
}

static void memory_batch_clear(struct store_batch *batch)
{
	buffer_clear(&((struct memory_batch *)batch)->changes);
}

static void memory_batch_free(struct store_batch *batch)
{
	buffer_free(&((struct memory_batch *)batch)->changes);
	free(batch);
}

static int memory_commit(struct store *store, struct store_batch *batch, bool sync)
{
	(void)sync;
	const struct buffer *changes = &((struct memory_batch *)batch)->changes;
	memory_of(store)->changes++;
	for (size_t at = 0; at < changes->len;) {
		const uint8_t *change = changes->data + at;
		struct sorted_map *family = memory_of(store)->families[get_u16(change)];
		struct bytes key = BYTES(change + CHANGE_HEADER_BYTES, get_u32(change + 4));
		struct bytes value = BYTES(change + CHANGE_HEADER_BYTES + key.len, get_u32(change + 8));
		if (get_u16(change + 2) == CHANGE_PUT)
			sorted_map_put(family, key, value, 0);
		else
			sorted_map_remove(family, key);
		at += CHANGE_HEADER_BYTES + key.len + value.len;
	}
	return 0;
}

static int memory_flush(struct store *store)
{
	(void)store;
	return 0;
}

static int memory_delete_range(struct store *store, int family, struct bytes from, struct bytes to)
{
	struct sorted_map *map = memory_of(store)->families[family];
	memory_of(store)->changes++;
	for (struct sorted_map_entry *entry = sorted_map_at_or_after(map, from), *next; entry; entry = next) {
		if (bytes_compare(sorted_map_key(entry), to) >= 0)
			break;
		next = sorted_map_next(entry);
		sorted_map_remove(map, sorted_map_key(entry));
	}
	return 0;
}

static int memory_size(struct store *store, int family, struct bytes from, struct bytes to, uint64_t *ret_bytes)
{
	struct sorted_map *map = memory_of(store)->families[family];
	*ret_bytes = 0;
	for (struct sorted_map_entry *entry = sorted_map_at_or_after(map, from); entry;
		entry = sorted_map_next(entry)) {
		if (bytes_compare(sorted_map_key(entry), to) >= 0)
			break;
		*ret_bytes += sorted_map_key(entry).len + sorted_map_value(entry).len;
	}
	return 0;
}

static int memory_disk_space(const struct store *store, uint64_t *ret_free, uint64_t *ret_total)
{
	(void)store;
	(void)ret_free;
	(void)ret_total;
	return -ENOTSUP;
}

static int memory_checkpoint(struct store *store, const char *path)
{
	(void)path;
	memcpy(store->why, "a store in memory has no copy on disk", sizeof("a store in memory has no copy on disk"));
	return -ENOTSUP;
}

static struct store_cursor *memory_cursor_new(struct store *store, int family, struct bytes prefix)
{
	(void)prefix; /* deleted rows are gone here: there are none to skip */
	struct memory_cursor *cursor = memory_new(sizeof(*cursor));
	cursor->cursor.store = store;
	cursor->family = memory_of(store)->families[family];
	return &cursor->cursor;
}

static void memory_cursor_confine(struct store_cursor *cursor, struct bytes prefix)
{
	(void)cursor, (void)prefix;
}

static void memory_cursor_free(struct store_cursor *cursor)
{
	struct memory_cursor *memory = (struct memory_cursor *)cursor;
	buffer_free(&memory->key);
	buffer_free(&memory->value);
	free(memory);
}

static bool stand_on(struct memory_cursor *cursor, const struct sorted_map_entry *entry)
{
	if (!entry)
		return false;
	struct bytes key = sorted_map_key(entry), value = sorted_map_value(entry);
	cursor->entry = entry;
	cursor->changes = memory_of(cursor->cursor.store)->changes;
	buffer_clear(&cursor->key);
	buffer_clear(&cursor->value);
	buffer_add(&cursor->key, key.data, key.len);
	buffer_add(&cursor->value, value.data, value.len);
	return true;
}

static bool memory_cursor_seek(struct store_cursor *cursor, struct bytes key)
{
	struct memory_cursor *memory = (struct memory_cursor *)cursor;
	return stand_on(memory, sorted_map_at_or_after(memory->family, key));
}

static bool memory_cursor_seek_before(struct store_cursor *cursor, struct bytes key)
{
	struct memory_cursor *memory = (struct memory_cursor *)cursor;
	const struct sorted_map_entry *exact = sorted_map_find(memory->family, key);
	return stand_on(memory, exact ? exact : sorted_map_before(memory->family, key));
}

static bool memory_cursor_last(struct store_cursor *cursor)
{
	struct memory_cursor *memory = (struct memory_cursor *)cursor;
	return stand_on(memory, sorted_map_last(memory->family));
}

static bool memory_cursor_next(struct store_cursor *cursor)
{
	struct memory_cursor *memory = (struct memory_cursor *)cursor;
	if (memory->changes == memory_of(cursor->store)->changes)
		return stand_on(memory, sorted_map_next(memory->entry));
	buffer_text(&memory->key); /* the key with a NUL behind is the next possible key */
	return stand_on(memory, sorted_map_at_or_after(memory->family, BYTES(memory->key.data, memory->key.len + 1)));
}

static struct bytes memory_cursor_key(const struct store_cursor *cursor)
{
	return buffer_bytes(&((const struct memory_cursor *)cursor)->key);
}

static struct bytes memory_cursor_value(const struct store_cursor *cursor)
{
	return buffer_bytes(&((const struct memory_cursor *)cursor)->value);
}

static int memory_cursor_status(const struct store_cursor *cursor)
{
	(void)cursor;
	return 0;
}

static const struct store_engine memory_engine = {
	.close = memory_close,
	.get = memory_get,
	.commit = memory_commit,
	.flush = memory_flush,
	.delete_range = memory_delete_range,
	.purge = memory_purge,
	.reopen = memory_reopen,
	.size = memory_size,
	.disk_space = memory_disk_space,
	.checkpoint = memory_checkpoint,
	.batch_new = memory_batch_new,
	.batch_put = memory_batch_put,
	.batch_delete = memory_batch_delete,
	.batch_clear = memory_batch_clear,
	.batch_free = memory_batch_free,
	.cursor_new = memory_cursor_new,
	.cursor_confine = memory_cursor_confine,
	.cursor_free = memory_cursor_free,
	.cursor_seek = memory_cursor_seek,
	.cursor_seek_before = memory_cursor_seek_before,
	.cursor_last = memory_cursor_last,
	.cursor_next = memory_cursor_next,
	.cursor_key = memory_cursor_key,
	.cursor_value = memory_cursor_value,
	.cursor_status = memory_cursor_status,
};

int store_open_memory(const struct store_options *options, struct store **ret)
{
	struct memory_store *memory = memory_new(sizeof(*memory));
	memory->store.engine = &memory_engine;
	memory->owners = 1;
	memory->store.family_count = store_count_families(options);
	for (int i = 0; i < memory->store.family_count; i++)
		memory->families[i] = sorted_map_new();
	*ret = &memory->store;
	return 0;
}

struct store *store_share_memory(struct store *store)
{
	assert(store->engine == &memory_engine);
	memory_of(store)->owners++;
	return store;
}
