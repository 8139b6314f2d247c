/*
 * wals.h: checks that all write-ahead logs are there, and whether their end is torn or damaged; only
 * rocks_open.c and witness.c include it
 *
 * RocksDB replays the logs that it finds. It does not notice a missing log, or a log that lost its end
 * between two records. The records of such a log that were not yet in a sorted file are lost silently.
 */
#ifndef STORE_ROCKS_WALS_H
#define STORE_ROCKS_WALS_H

#include <stdbool.h>
#include <stdint.h>

enum { WALS_MAX = 32 };

/*
 * The numbers of the logs that are not empty, in ascending order. If there are more than WALS_MAX, the
 * newest.
 */
struct wals {
	uint32_t count;
	uint64_t numbers[WALS_MAX];
};

void wals_list(const char *folder, struct wals *ret); /* a folder that cannot be read gives none */

/*
 * Checks a closed database: the logs that are `known` to be not empty, from number `needed_from` on, exist
 * and are not empty, and their operations follow each other without a gap. -EUCLEAN: ret_why names the file.
 */
int wals_check(const char *folder, const struct wals *known, uint64_t needed_from, char ret_why[512]);

/*
 * For a database that was just opened without its last record and has not been written since: empties each
 * log that has no whole record. RocksDB keeps such a log, because it recovered nothing from it, and writes
 * its next records into a newer log. Then the cut record would no longer be the last one, and the next start
 * would take it for corruption. Returns 0, or -EIO with the file and the reason in ret_why.
 */
int wals_empty_unfinished(const char *folder, char ret_why[512]);

/*
 * Is the damage in a write-ahead log what a power cut leaves behind?
 *
 * A store that syncs all commits never begins a record before the previous record is on disk. So after a
 * power cut only the very last record may be damaged, and only in one way: some of its sectors were never
 * written, so they read as zeros or end the file. That record was never confirmed. Any other damage (a whole
 * record behind the damage, or a record with all its sectors and a wrong checksum) is corruption of confirmed
 * data.
 */

/*
 * Checks the write-ahead logs of the closed database in `path`. true: the damage is only such a torn record.
 * ret_where names the file and place of the first damage, if there is any.
 */
bool torn_tail(const char *path, char ret_where[128]);

#endif
