/* rocks.h: the store on disk, shared by rocks.c (reads and writes) and rocks_open.c (opens it) */
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
	struct witness *witness; /* NULL for a store that may fall back, and for a read-only store */
	rocksdb_t *db;
	rocksdb_column_family_handle_t *families[STORE_FAMILIES_MAX + 1]; /* the last one is RocksDB's "default" */
	rocksdb_cache_t *cache;
	rocksdb_options_t *options;               /* for the store and most families ... */
	rocksdb_options_t *options_asked_in_vain; /* ... and for the families of asked_in_vain */
	rocksdb_readoptions_t *reading;
	rocksdb_writeoptions_t *writing;
	rocksdb_writeoptions_t *writing_synced;
	pthread_mutex_t telling; /* protects store.why, because a read may fail during a commit */
};

/* Takes RocksDB's error text, if there is one, frees it and returns its errno; 0 for no error. */
int rocks_take_error(struct store *store, char *words);
void rocks_close(struct store *store);
void rocks_close_database(struct rocks_store *rocks); /* closes the database only */
int rocks_reopen(struct store *store);                /* rocks_open.c */
/* Removes overwritten and deleted values from the files (store_purge). */
int rocks_purge(struct store *store, const struct store_range *ranges, size_t count);

extern const struct store_engine rocks_engine;

#endif
