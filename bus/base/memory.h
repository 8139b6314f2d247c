/*
 * memory.h: allocation that cannot fail, pools, and no dumps of memory
 *
 * None of these returns NULL: a process that gets no memory reports it and exits; all that it had confirmed
 * is on disk.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "bus/base/bytes.h"
#include <stddef.h>

void *memory_new(size_t size); /* zeroed; free() gives it back */
void *memory_resize(void *memory, size_t size);
void *memory_copy(struct bytes from); /* a NUL follows the copy */
char *memory_copy_text(const char *text);

/* The memory that the process uses now, in bytes; 0: unknown. */
uint64_t memory_resident_bytes(void);

/*
 * A pool for structs of one size that are allocated and freed by the thousand
 *
 * A struct that was given back is reused without the allocator. Under the address sanitizer each struct is an
 * allocation of its own, so that a use after free is still found.
 */

struct pool {
	size_t size; /* bytes of one struct; at least those of a pointer */
	size_t room; /* bytes after each struct, which are not zeroed */
	size_t spare_count;
	void *spare;
};

void *pool_take(struct pool *pool);            /* the struct is zeroed, the bytes after it are not */
void pool_give(struct pool *pool, void *item); /* takes NULL */
void pool_free(struct pool *pool);             /* frees the spare structs, not those that are in use */

/*
 * Keeps the memory of a process private
 *
 * The memory has names, addresses and keys. A core file would keep them on a disk, and another process of the
 * same user could read them.
 */

/*
 * Forbids core files and debuggers of the same user, unless $CARTBUS_DUMPS is set, which helps to find a
 * fault.
 */
void dumps_forbid(void);

#endif
