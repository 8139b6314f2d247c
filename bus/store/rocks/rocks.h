/*
 * rocks.h: the store on disk, shared by rocks.c (what is done with it) and rocks_open.c (how it comes to be open)
 */
#ifndef STORE_ROCKS_ROCKS_H
#define STORE_ROCKS_ROCKS_H

#include "bus/store/engine.h"
#include <pthread.h>
#include <rocksdb/c.h>

struct witness;

struct rocks_store {
	struct store store;
	char *path;
	size_t write_buffer_bytes;
	struct store_options asked;
	bool read_only;
	struct witness *witness; /* NULL: of a store that may fall back, or is only read */
	rocksdb_t *db;
	rocksdb_column_family_handle_t *families[STORE_FAMILIES_MAX + 1]; /* the last one is RocksDB's "default" */
	rocksdb_cache_t *cache;
	rocksdb_options_t *options;               /* of the store, and of most families ... */
	rocksdb_options_t *options_asked_in_vain; /* ... but for these */
	rocksdb_readoptions_t *reading;
	rocksdb_writeoptions_t *writing;
	rocksdb_writeoptions_t *writing_synced;
	pthread_mutex_t telling; /* store.why: a read may fail beside a commit */
};

/* Takes RocksDB's words, if there are any, and finds the errno in them; 0 when there are none. */
int rocks_take_error(struct store *store, char *words);
void rocks_close(struct store *store);
void rocks_close_database(struct rocks_store *rocks); /* the rest stays */
int rocks_reopen(struct store *store);                /* rocks_open.c */
/* What was overwritten or deleted leaves the files. */
int rocks_purge(struct store *store, const struct store_range *ranges, size_t count);

extern const struct store_engine rocks_engine;

#endif
