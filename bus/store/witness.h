/*
 * witness.h: how far a store was synced, kept beside it; only rocks.c includes it
 */
#ifndef BUS_STORE_WITNESS_H
#define BUS_STORE_WITNESS_H

#include <stdint.h>

/*
 * A descriptor, or a negative errno. `found`: up to which operation the store goes. -EUCLEAN: more than that was synced. why: of
 * a failure; of a witness that was damaged, if it was empty.
 */
int witness_open(const char *folder, uint64_t found, char why[512]);
int witness_write(int fd, uint64_t sequence, const char *folder, char why[512]); /* -EIO */

#endif
