/*
 * witness.h: a file beside a store that tells how far the store was synced; only rocks.c and rocks_open.c
 * include it
 */
#ifndef STORE_ROCKS_WITNESS_H
#define STORE_ROCKS_WITNESS_H

#include "bus/store/rocks/wals.h"

struct witness;

/*
 * Reads which write-ahead logs were not empty after the last synced commit. None: the witness does not tell.
 */
void witness_read(const char *folder, struct wals *ret);
/*
 * To be called before the database is opened: the current MANIFEST must not be shorter than it was. -EUCLEAN:
 * it is shorter; ret_why names it.
 */
int witness_check_manifest(const char *folder, char ret_why[512]);
/*
 * `found` is the number of the store's last operation. -EUCLEAN: later operations were synced, so they are
 * lost. `why` receives the reason of a failure; a note about a damaged witness is appended to its text.
 */
int witness_check(const char *folder, uint64_t found, char why[512]);

int witness_open(const char *folder, struct witness **ret, char ret_why[512]); /* a negative errno */
/* to be called after a synced commit; -EIO */
int witness_write(struct witness *witness, uint64_t sequence, char ret_why[512]);
void witness_close(struct witness *witness); /* takes NULL */

#endif
