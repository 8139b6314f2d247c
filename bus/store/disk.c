/*
 * disk.c: the free space of a file system
 *
 * Read next: rocks.c
 */
#include "bus/store/disk.h"
#include <errno.h>
#include <stdio.h>
#include <sys/statvfs.h>

enum { ROOM_LEAST_BYTES = 4 * 1024 * 1024 }; /* for a manifest, options and the end of a log */

int disk_space(const char *path, uint64_t *ret_free, uint64_t *ret_total)
{
	struct statvfs room;

	if (statvfs(path, &room) < 0)
		return -errno;
	*ret_free = (uint64_t)room.f_bavail * room.f_frsize;
	*ret_total = (uint64_t)room.f_blocks * room.f_frsize;
	return 0;
}

int disk_check(const char *path, uint64_t in_memory, char ret_why[512])
{
	uint64_t free_bytes = 0, total, least = ROOM_LEAST_BYTES + in_memory;

	if (disk_space(path, &free_bytes, &total) < 0 || free_bytes >= least)
		return 0;
	snprintf(ret_why, 512, "%.300s: No space left on device: make room, %llu MiB at least", path,
		(unsigned long long)(least >> 20));
	return -ENOSPC;
}
