/*
 * disk.h: how much room a file system has; rocks.c and blob_write.c include it
 */
#ifndef STORE_DISK_H
#define STORE_DISK_H

#include <stdint.h>

int disk_space(const char *path, uint64_t *ret_free, uint64_t *ret_total); /* bytes */
/*
 * RocksDB may abort when it meets a full disk, while it opens or behind a commit, before anybody can say why. So room is looked
 * for first: one system call, where a sync costs a hundred times as much. `in_memory` bytes may have to be written out at any time.
 * -ENOSPC: ret_why says how much is needed, and where.
 */
int disk_check(const char *path, uint64_t in_memory, char ret_why[512]);

#endif
