/*
 * map.h: a hash map from bytes to a pointer, or from a number to a pointer; u64map is for numbers that lie close together
 *
 * Keys are copied; values are borrowed. The order of iteration is not that of the keys (sorted_map.h sorts).
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "bus/base/bytes.h"
#include <stddef.h>
#include <stdint.h>

struct map;

struct map *map_new(void);
void map_free(struct map *map);                                /* takes NULL; values are not touched */
void *map_get(const struct map *map, struct bytes key);        /* NULL: none */
void *map_put(struct map *map, struct bytes key, void *value); /* the value that was there before, or NULL */
void *map_remove(struct map *map, struct bytes key);           /* the value removed, or NULL */
size_t map_count(const struct map *map);

/* Calls each(key, value, context) once per entry; each() may remove entries but not add any. */
void map_each(struct map *map, void (*each)(struct bytes key, void *value, void *context), void *context);

static inline struct bytes map_number(const uint64_t *number)
{
	return BYTES(number, sizeof(*number));
}

/*
 * A map from numbers to pointers, for numbers that are close together
 *
 * It stores pages of 256 neighbouring numbers instead of one entry per number.
 */

struct u64map;

struct u64map *u64map_new(void);
void u64map_free(struct u64map *map);                  /* takes NULL; values are not touched */
void *u64map_get(struct u64map *map, uint64_t number); /* NULL: none */
/* `value` is not NULL; returns the previous value, or NULL */
void *u64map_put(struct u64map *map, uint64_t number, void *value);
void *u64map_remove(struct u64map *map, uint64_t number); /* returns the removed value, or NULL */
size_t u64map_count(const struct u64map *map);

#endif
