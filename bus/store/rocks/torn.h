/*
 * torn.h: is the damage in a write-ahead log what a power cut leaves behind?
 *
 * A store whose commits are all synced never begins a record before the one before it is on the disk. So after a power cut only the
 * very last record may be damaged, and its damage is of one kind: sectors of it were never written, and read as zeros or end the
 * file. It was never confirmed. Anything else (a whole record behind the damage, a record that has all its sectors and the wrong
 * checksum) is corruption of what was confirmed.
 */
#ifndef STORE_ROCKS_TORN_H
#define STORE_ROCKS_TORN_H

#include <stdbool.h>

/* Looks at the write-ahead logs of the closed database in `path`. ret_where: file and place of the first damage, if there is any. */
bool torn_tail(const char *path, char ret_where[128]);

#endif
