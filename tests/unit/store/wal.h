/*
 * wal.h: write-ahead logs as RocksDB writes them, made fragment by fragment
 */
#ifndef TESTS_UNIT_STORE_WAL_H
#define TESTS_UNIT_STORE_WAL_H

#include "bus/base/bytes.h"
#include "tests/unit/folder.h"

enum { WAL_BLOCK = 32 * 1024, WAL_SECTOR = 512, WAL_HEADER = 7 };
enum wal_type { WAL_FULL = 1, WAL_FIRST, WAL_MIDDLE, WAL_LAST };

/* Appends a fragment: masked sum of type and body, length, type, body. It must fit into its block. Returns where it begins. */
size_t wal_add(struct buffer *log, enum wal_type type, struct bytes body);
size_t wal_add_body(struct buffer *log, enum wal_type type, size_t len); /* with a body of which no byte is zero */
void wal_add_zeros(struct buffer *log, size_t count);
/* The file of this name in the folder holds these bytes from now on. */
void wal_put(const struct folder *folder, const char *name, struct bytes bytes);

#endif
