/*
 * pool.h: structs of one size that come and go by the thousand
 *
 * What was given back is taken again, without a way through the allocator. Under the address sanitizer each is an allocation of
 * its own, so that a use after the end is still found.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stddef.h>

struct pool {
	size_t size; /* of one: at least that of a pointer */
	size_t room; /* behind it, for what goes with it: as it was left */
	size_t spare_count;
	void *spare;
};

void *pool_take(struct pool *pool);            /* zeroed, but for the room behind it */
void pool_give(struct pool *pool, void *item); /* takes NULL */
void pool_free(struct pool *pool);             /* the spare ones: those that are out are not its */

#endif
