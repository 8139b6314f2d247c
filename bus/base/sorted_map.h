/*
 * sorted_map.h: a sorted map from bytes to bytes
 *
 * Keys and values are copied. The in-memory store and the runtime's overlay of unconfirmed facts use it. It
 * is a skip list: simple, and O(log n).
 */
#ifndef BASE_SORTED_MAP_H
#define BASE_SORTED_MAP_H

#include "bus/base/bytes.h"

struct sorted_map;
struct sorted_map_entry;

struct sorted_map *sorted_map_new(void);
void sorted_map_free(struct sorted_map *map);
/* `tag` is any number of the caller's */
void sorted_map_put(struct sorted_map *map, struct bytes key, struct bytes value, uint64_t tag);
bool sorted_map_remove(struct sorted_map *map, struct bytes key);
void sorted_map_clear(struct sorted_map *map);
size_t sorted_map_count(const struct sorted_map *map);

/* Entries stay valid until they are removed or put again. NULL: none. */
struct sorted_map_entry *sorted_map_find(const struct sorted_map *map, struct bytes key);
struct sorted_map_entry *sorted_map_at_or_after(const struct sorted_map *map, struct bytes key);
struct sorted_map_entry *sorted_map_before(const struct sorted_map *map, struct bytes key); /* the last one < key */
struct sorted_map_entry *sorted_map_first(const struct sorted_map *map);
struct sorted_map_entry *sorted_map_last(const struct sorted_map *map);
struct sorted_map_entry *sorted_map_next(const struct sorted_map_entry *entry);

struct bytes sorted_map_key(const struct sorted_map_entry *entry);
struct bytes sorted_map_value(const struct sorted_map_entry *entry);
uint64_t sorted_map_tag(const struct sorted_map_entry *entry);

#endif
