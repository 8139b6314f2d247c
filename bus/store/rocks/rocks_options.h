/*
 * rocks_options.h: for rocks_open.c alone
 */
#ifndef STORE_ROCKS_ROCKS_OPTIONS_H
#define STORE_ROCKS_ROCKS_OPTIONS_H

#include "bus/store/store.h"
#include <rocksdb/c.h>

/* The caller's; the cache is shared. How a damaged write-ahead log is opened (the recovery mode) is left to the caller. */
rocksdb_options_t *rocks_options_new(const struct store_options *asked, rocksdb_cache_t *cache);
/* A copy for the families that are `asked_in_vain` (store.h); the caller's too. */
rocksdb_options_t *rocks_options_asked_in_vain(const rocksdb_options_t *options);

#endif
