/*
 * memory.h: memory that is there, pools of it, and no dumps of it
 *
 * None of these returns NULL: a process that gets no memory says so and exits, and what it had confirmed is on the disk.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "bus/base/bytes.h"
#include <stddef.h>

void *memory_new(size_t size); /* zeroed; free() gives it back */
void *memory_resize(void *memory, size_t size);
void *memory_copy(struct bytes from); /* a NUL follows, so that text stays text */
char *memory_copy_text(const char *text);

/* That the process takes now, of the machine's; 0: not known. */
uint64_t memory_resident_bytes(void);

/*
 * Structs of one size that come and go by the thousand
 *
 * What was given back is taken again, without a way through the allocator. Under the address sanitizer each is an allocation of
 * its own, so that a use after the end is still found.
 */

struct pool {
	size_t size; /* of one: at least that of a pointer */
	size_t room; /* behind it, for what goes with it: as it was left */
	size_t spare_count;
	void *spare;
};

void *pool_take(struct pool *pool);            /* zeroed, but for the room behind it */
void pool_give(struct pool *pool, void *item); /* takes NULL */
void pool_free(struct pool *pool);             /* the spare ones: those that are out are not its */

/*
 * What a process holds in memory stays there
 *
 * Names, addresses and keys lie in it: a core file would keep them on a disk, and another process of the same user could read them.
 */

/* No core file, and no debugger of the same user; unless $CARTBUS_DUMPS is set, which helps to find a fault. */
void dumps_forbid(void);

#endif
