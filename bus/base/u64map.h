/*
 * u64map.h: from a number to a pointer, for numbers that lie close together
 *
 * As a map (map.h), but neighbours lie beside each other: one page of 256 after the other instead of an entry each.
 */
#ifndef BASE_U64MAP_H
#define BASE_U64MAP_H

#include <stddef.h>
#include <stdint.h>

struct u64map;

struct u64map *u64map_new(void);
void u64map_free(struct u64map *numbered);                               /* takes NULL; values are not touched */
void *u64map_get(struct u64map *numbered, uint64_t number);              /* NULL: none */
void *u64map_put(struct u64map *numbered, uint64_t number, void *value); /* not NULL; what was there before, or NULL */
void *u64map_remove(struct u64map *numbered, uint64_t number);           /* what was removed, or NULL */
size_t u64map_count(const struct u64map *numbered);

#endif
