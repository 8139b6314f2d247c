/*
 * numbered.h: from a number to a pointer, for numbers that lie close together
 *
 * As a map (map.h), but neighbours lie beside each other: one page of 256 after the other instead of an entry each.
 */
#ifndef BASE_NUMBERED_H
#define BASE_NUMBERED_H

#include <stddef.h>
#include <stdint.h>

struct numbered;

struct numbered *numbered_new(void);
void numbered_free(struct numbered *numbered);                  /* takes NULL; values are not touched */
void *numbered_get(struct numbered *numbered, uint64_t number); /* NULL: none */
void *numbered_put(
	struct numbered *numbered, uint64_t number, void *value);  /* not NULL; what was there before, or NULL */
void *numbered_remove(struct numbered *numbered, uint64_t number); /* what was removed, or NULL */
size_t numbered_count(const struct numbered *numbered);

#endif
