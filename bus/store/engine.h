/*
 * engine.h: the functions of a store's engine; only store.c, rocks.c, memory.c and a test with its own engine
 * include it
 *
 * Each engine puts these structs first in its own structs. store.c has the rules that all engines share,
 * above all that nothing works after a failed commit.
 */
#ifndef STORE_ENGINE_H
#define STORE_ENGINE_H

#include "bus/store/store.h"
#include <stdatomic.h>

enum { STORE_WHY_BYTES = 512 };

struct store_engine {
	void (*close)(struct store *store);
	int (*get)(struct store *store, int family, struct bytes key, struct buffer *ret);
	int (*commit)(struct store *store, struct store_batch *batch, bool sync); /* does not clear the batch */
	int (*flush)(struct store *store);
	int (*delete_range)(struct store *store, int family, struct bytes from, struct bytes to);
	int (*purge)(struct store *store, const struct store_range *ranges, size_t count);
	int (*reopen)(struct store *store);
	int (*size)(struct store *store, int family, struct bytes from, struct bytes to, uint64_t *ret_bytes);
	int (*disk_space)(const struct store *store, uint64_t *ret_free, uint64_t *ret_total);
	int (*checkpoint)(struct store *store, const char *path);

	struct store_batch *(*batch_new)(struct store *store);
	void (*batch_put)(struct store_batch *batch, int family, struct bytes key, struct bytes value);
	void (*batch_delete)(struct store_batch *batch, int family, struct bytes key);
	void (*batch_clear)(struct store_batch *batch);
	void (*batch_free)(struct store_batch *batch);

	struct store_cursor *(*cursor_new)(struct store *store, int family, struct bytes prefix);
	void (*cursor_confine)(struct store_cursor *cursor, struct bytes prefix);
	void (*cursor_free)(struct store_cursor *cursor);
	bool (*cursor_seek)(struct store_cursor *cursor, struct bytes key);
	bool (*cursor_seek_before)(struct store_cursor *cursor, struct bytes key);
	bool (*cursor_last)(struct store_cursor *cursor);
	bool (*cursor_next)(struct store_cursor *cursor);
	struct bytes (*cursor_key)(const struct store_cursor *cursor);
	struct bytes (*cursor_value)(const struct store_cursor *cursor);
	int (*cursor_status)(const struct store_cursor *cursor);
};

struct store {
	const struct store_engine *engine;
	int family_count;
	atomic_bool refuses; /* a commit failed: the store refuses everything from now on */
	char why[STORE_WHY_BYTES];
};

struct store_batch {
	struct store *store;
	size_t count;
};

struct store_cursor {
	struct store *store;
	bool valid;
};

int store_count_families(const struct store_options *options);

#endif
