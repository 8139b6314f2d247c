/*
 * wals.h: are all write-ahead logs there, and is their end torn or damaged? Only rocks_open.c and witness.c include it
 *
 * RocksDB replays the logs that it finds. One that is not there, or lost its end between two records, it does not miss: what was
 * in it and not yet in a sorted file is gone without a word.
 */
#ifndef STORE_ROCKS_WALS_H
#define STORE_ROCKS_WALS_H

#include <stdbool.h>
#include <stdint.h>

enum { WALS_MAX = 32 };

/* Those that hold something, by their numbers, in order; the newest, if there are more. */
struct wals {
	uint32_t count;
	uint64_t numbers[WALS_MAX];
};

void wals_list(const char *folder, struct wals *ret); /* of what cannot be read: none */

/*
 * Of a closed database: those that are `known` to have held something, from number `needed_from` on, are there and hold something,
 * and the operations in them follow each other without a gap. -EUCLEAN: ret_why names the file.
 */
int wals_check(const char *folder, const struct wals *known, uint64_t needed_from, char ret_why[512]);

/*
 * Of a database that was just opened with its last record left out, and into which nothing was written yet: empties each log that
 * holds no whole record. RocksDB keeps such a log, because it recovered nothing from it, and writes its next records into a newer
 * one. Then the cut record would no longer be the last one, and the next start would take it for corruption.
 * 0, or -EIO with the file and the reason in ret_why.
 */
int wals_empty_unfinished(const char *folder, char ret_why[512]);

/*
 * Is the damage in a write-ahead log what a power cut leaves behind?
 *
 * A store whose commits are all synced never begins a record before the one before it is on the disk. So after a power cut only the
 * very last record may be damaged, and its damage is of one kind: sectors of it were never written, and read as zeros or end the
 * file. It was never confirmed. Anything else (a whole record behind the damage, a record that has all its sectors and the wrong
 * checksum) is corruption of what was confirmed.
 */

/* Looks at the write-ahead logs of the closed database in `path`. ret_where: file and place of the first damage, if there is any. */
bool torn_tail(const char *path, char ret_where[128]);

#endif
