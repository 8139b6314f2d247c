/*
 * store.c: the rules common to all engines
 *
 * Promises:  after one commit, flush or range deletion has failed, every later call answers -EIO until the
 *            process has exited: the failed write may or may not be on the disk (it was, in our
 *            measurements), and only a restart finds out.
 * Read next: rocks.c, memory.c
 */
#include "bus/store/engine.h"
#include <assert.h>
#include <errno.h>

int store_count_families(const struct store_options *options)
{
	int count = 0;
	while (options->families[count])
		count++;
	assert(count > 0 && count <= STORE_FAMILIES_MAX);
	return count;
}

void store_close(struct store *store)
{
	if (store)
		store->engine->close(store);
}

static int refuse_from_now_on(struct store *store, int error)
{
	if (error == 0 || error == -ENOTSUP)
		return error;
	store->refuses = true;
	return error == -ENOSPC ? -ENOSPC : -EIO; /* -ENOSPC has a remedy of its own */
}

int store_get(struct store *store, int family, struct bytes key, struct buffer *ret)
{
	assert(family >= 0 && family < store->family_count);
	return store->refuses ? -EIO : store->engine->get(store, family, key, ret);
}

struct store_batch *store_batch_new(struct store *store)
{
	return store->engine->batch_new(store);
}

void store_batch_put(struct store_batch *batch, int family, struct bytes key, struct bytes value)
{
	assert(family >= 0 && family < batch->store->family_count);
	batch->store->engine->batch_put(batch, family, key, value);
	batch->count++;
}

void store_batch_delete(struct store_batch *batch, int family, struct bytes key)
{
	assert(family >= 0 && family < batch->store->family_count);
	batch->store->engine->batch_delete(batch, family, key);
	batch->count++;
}

void store_batch_clear(struct store_batch *batch)
{
	batch->store->engine->batch_clear(batch);
	batch->count = 0;
}

size_t store_batch_count(const struct store_batch *batch)
{
	return batch->count;
}

void store_batch_free(struct store_batch *batch)
{
	if (batch)
		batch->store->engine->batch_free(batch);
}

int store_commit(struct store *store, struct store_batch *batch, bool sync)
{
	assert(batch->store == store);
	if (store->refuses)
		return -EIO;
	int r = refuse_from_now_on(store, store->engine->commit(store, batch, sync));
	if (r == 0)
		store_batch_clear(batch);
	return r;
}

int store_flush(struct store *store)
{
	return store->refuses ? -EIO : refuse_from_now_on(store, store->engine->flush(store));
}

int store_delete_range(struct store *store, int family, struct bytes from, struct bytes to)
{
	assert(family >= 0 && family < store->family_count);
	if (store->refuses)
		return -EIO;
	if (bytes_compare(from, to) >= 0)
		return 0;
	return refuse_from_now_on(store, store->engine->delete_range(store, family, from, to));
}

int store_purge(struct store *store, const struct store_range *ranges, size_t count)
{
	return store->refuses ? -EIO : refuse_from_now_on(store, store->engine->purge(store, ranges, count));
}

int store_reopen(struct store *store)
{
	return store->refuses ? -EIO : refuse_from_now_on(store, store->engine->reopen(store));
}

int store_size(struct store *store, int family, struct bytes from, struct bytes to, uint64_t *ret_bytes)
{
	assert(family >= 0 && family < store->family_count);
	return store->refuses ? -EIO : store->engine->size(store, family, from, to, ret_bytes);
}

/* A failed copy leaves the store itself as it was. */
int store_checkpoint(struct store *store, const char *path)
{
	return store->refuses ? -EIO : store->engine->checkpoint(store, path);
}

int store_disk_space(const struct store *store, uint64_t *ret_free, uint64_t *ret_total)
{
	return store->engine->disk_space(store, ret_free, ret_total);
}

const char *store_why(const struct store *store)
{
	return store->why;
}

struct store_cursor *store_cursor_new(struct store *store, int family)
{
	assert(family >= 0 && family < store->family_count);
	return store->engine->cursor_new(store, family, BYTES("", 0));
}

struct store_cursor *store_cursor_new_within(struct store *store, int family, struct bytes prefix)
{
	assert(family >= 0 && family < store->family_count);
	return store->engine->cursor_new(store, family, prefix);
}

void store_cursor_confine(struct store_cursor *cursor, struct bytes prefix)
{
	cursor->valid = false;
	cursor->store->engine->cursor_confine(cursor, prefix);
}

void store_cursor_free(struct store_cursor *cursor)
{
	if (cursor)
		cursor->store->engine->cursor_free(cursor);
}

bool store_cursor_seek(struct store_cursor *cursor, struct bytes key)
{
	return cursor->valid = !cursor->store->refuses && cursor->store->engine->cursor_seek(cursor, key);
}

bool store_cursor_seek_before(struct store_cursor *cursor, struct bytes key)
{
	return cursor->valid = !cursor->store->refuses && cursor->store->engine->cursor_seek_before(cursor, key);
}

bool store_cursor_last(struct store_cursor *cursor)
{
	return cursor->valid = !cursor->store->refuses && cursor->store->engine->cursor_last(cursor);
}

bool store_cursor_next(struct store_cursor *cursor)
{
	return cursor->valid = cursor->valid && !cursor->store->refuses && cursor->store->engine->cursor_next(cursor);
}

struct bytes store_cursor_key(const struct store_cursor *cursor)
{
	assert(cursor->valid);
	return cursor->store->engine->cursor_key(cursor);
}

struct bytes store_cursor_value(const struct store_cursor *cursor)
{
	assert(cursor->valid);
	return cursor->store->engine->cursor_value(cursor);
}

int store_cursor_status(const struct store_cursor *cursor)
{
	return cursor->store->refuses ? -EIO : cursor->store->engine->cursor_status(cursor);
}
