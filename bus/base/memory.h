/*
 * memory.h: memory that is there
 *
 * None of these returns NULL: a process that gets no memory says so and exits, and what it had confirmed is on the disk.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "bus/base/bytes.h"

void *memory_new(size_t size); /* zeroed; free() gives it back */
void *memory_resize(void *memory, size_t size);
void *memory_copy(struct bytes from); /* a NUL follows, so that text stays text */
char *memory_copy_text(const char *text);

/* That the process takes now, of the machine's; 0: not known. */
uint64_t memory_resident_bytes(void);

#endif
