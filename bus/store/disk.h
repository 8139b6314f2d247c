/* disk.h: the free space of a file system; rocks.c and blob_write.c include it */
#ifndef STORE_DISK_H
#define STORE_DISK_H

#include <stdint.h>

int disk_space(const char *path, uint64_t *ret_free, uint64_t *ret_total); /* bytes */
/*
 * RocksDB may abort when the disk is full, while it opens or after a commit, before anybody can report the
 * reason. So the free space is checked first. That is one system call; a sync costs a hundred times as much.
 * `in_memory` is the number of bytes that RocksDB may have to write out at any time. -ENOSPC: ret_why tells
 * how much space is needed, and where.
 */
int disk_check(const char *path, uint64_t in_memory, char ret_why[512]);

#endif
