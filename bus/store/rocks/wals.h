/*
 * wals.h: are all write-ahead logs there? Only rocks_open.c and witness.c include it
 *
 * RocksDB replays the logs that it finds. One that is not there, or lost its end between two records, it does not miss: what was
 * in it and not yet in a sorted file is gone without a word.
 */
#ifndef STORE_ROCKS_WALS_H
#define STORE_ROCKS_WALS_H

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

#endif
