/*
 * witness.h: how far a store was synced, kept beside it; only rocks.c and rocks_open.c include it
 */
#ifndef STORE_ROCKS_WITNESS_H
#define STORE_ROCKS_WITNESS_H

#include "bus/store/rocks/wals.h"

struct witness;

/* Which write-ahead logs held something after the last synced commit. None: it does not say. */
void witness_read(const char *folder, struct wals *ret);
/* Before anything opens it: the MANIFEST that counts is not shorter than it was. -EUCLEAN: it is; ret_why names it. */
int witness_check_manifest(const char *folder, char ret_why[512]);
/*
 * `found`: up to which operation the store goes. -EUCLEAN: more than that was synced. why: of a failure; of a witness that was
 * damaged, behind what it says already.
 */
int witness_check(const char *folder, uint64_t found, char why[512]);

int witness_open(const char *folder, struct witness **ret, char ret_why[512]);    /* a negative errno */
int witness_write(struct witness *witness, uint64_t sequence, char ret_why[512]); /* after a synced commit. -EIO */
void witness_close(struct witness *witness);                                      /* takes NULL */

#endif
