/*
 * ordmap.h: a sorted map from bytes to bytes
 *
 * Both are copied. Serves the in-memory store and the runtime's overlay of unconfirmed facts. A skip list: log n, and simple.
 */
#ifndef BASE_ORDMAP_H
#define BASE_ORDMAP_H

#include "bus/base/bytes.h"

struct ordmap;
struct ordmap_entry;

struct ordmap *ordmap_new(void);
void ordmap_free(struct ordmap *map);
void ordmap_put(
	struct ordmap *map, struct bytes key, struct bytes value, uint64_t tag); /* tag: the caller's, see below */
bool ordmap_remove(struct ordmap *map, struct bytes key);
void ordmap_clear(struct ordmap *map);
size_t ordmap_count(const struct ordmap *map);

/* Entries stay valid until they are removed or put again. NULL: none. */
struct ordmap_entry *ordmap_find(const struct ordmap *map, struct bytes key);
struct ordmap_entry *ordmap_at_or_after(const struct ordmap *map, struct bytes key);
struct ordmap_entry *ordmap_before(const struct ordmap *map, struct bytes key); /* the last one < key */
struct ordmap_entry *ordmap_first(const struct ordmap *map);
struct ordmap_entry *ordmap_last(const struct ordmap *map);
struct ordmap_entry *ordmap_next(const struct ordmap_entry *entry);

struct bytes ordmap_key(const struct ordmap_entry *entry);
struct bytes ordmap_value(const struct ordmap_entry *entry);
uint64_t ordmap_tag(const struct ordmap_entry *entry);

#endif
