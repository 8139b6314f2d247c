/*
 * sorted_map.c: a skip list
 *
 * Owns:      its entries, with copies of keys and values; a bit for each hash that a key had since the map
 *            was last empty: most lookups find no key, and the bits show that without a descent.
 * Promises:  the heights come from a generator that starts the same in every map, so two runs build the same
 *            list.
 * Read next: W. Pugh, "Skip Lists: A Probabilistic Alternative to Balanced Trees", CACM 33(6), 1990
 */
#include "bus/base/sorted_map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <limits.h>
#include <stdlib.h>

enum { LEVELS_MAX = 16 }; /* every fourth entry rises a level: good for 4^16 entries */
enum {
	SEEN_FROM = 32,       /* entries: a descent past fewer is as quick */
	SEEN_BITS = 64 << 10, /* a power of two; 10,000 entries leave five of six absent keys to the bits alone */
	SEEN_WORD_BITS = 64
};

/*
 * Behind the links lie the key, a NUL, room for the value, a NUL: one allocation, as rows are put by the
 * million.
 */
struct sorted_map_entry {
	struct bytes key;
	struct bytes value;
	size_t room;
	void *large; /* a later value that needs more room */
	uint64_t tag;
	struct sorted_map_entry *next[];
};

struct sorted_map {
	struct sorted_map_entry *head; /* not an entry: only its LEVELS_MAX links */
	int levels;                    /* in use */
	size_t count;
	uint64_t random;
	uint64_t *seen; /* SEEN_BITS bits; NULL: the map never had SEEN_FROM entries */
};

struct sorted_map *sorted_map_new(void)
{
	struct sorted_map *map = memory_new(sizeof(*map));
	map->head = memory_new(sizeof(*map->head) + LEVELS_MAX * sizeof(struct sorted_map_entry *));
	map->levels = 1;
	map->random = UINT64_C(0x9e3779b97f4a7c15);
	return map;
}

static void free_entry(struct sorted_map_entry *entry)
{
	free(entry->large);
	free(entry);
}

/* ---- the hashes that keys had ---- */

static uint64_t *seen_word(const struct sorted_map *map, struct bytes key, uint64_t *ret_bit)
{
	uint64_t at = text_hash(key) & (SEEN_BITS - 1);
	*ret_bit = UINT64_C(1) << (at % SEEN_WORD_BITS);
	return &map->seen[at / SEEN_WORD_BITS];
}

static void note_seen(const struct sorted_map *map, struct bytes key)
{
	uint64_t bit, *word = seen_word(map, key, &bit);
	*word |= bit;
}

static void note_new(struct sorted_map *map, struct bytes key)
{
	if (map->seen) {
		note_seen(map, key);
	} else if (map->count == SEEN_FROM) {
		map->seen = memory_new(SEEN_BITS / CHAR_BIT);
		for (struct sorted_map_entry *entry = map->head->next[0]; entry; entry = entry->next[0])
			note_seen(map, entry->key);
	}
}

static bool was_never_put(const struct sorted_map *map, struct bytes key)
{
	uint64_t bit;
	return map->seen && !(*seen_word(map, key, &bit) & bit);
}

static void forget_seen(struct sorted_map *map)
{
	if (map->seen)
		memset(map->seen, 0, SEEN_BITS / CHAR_BIT);
}

/* ---- entries ---- */

void sorted_map_clear(struct sorted_map *map)
{
	if (map->count == 0)
		return;
	for (struct sorted_map_entry *entry = map->head->next[0], *next; entry; entry = next) {
		next = entry->next[0];
		free_entry(entry);
	}
	memset(map->head->next, 0, LEVELS_MAX * sizeof(struct sorted_map_entry *));
	map->levels = 1;
	map->count = 0;
	forget_seen(map);
}

void sorted_map_free(struct sorted_map *map)
{
	if (!map)
		return;
	sorted_map_clear(map);
	free(map->seen);
	free(map->head);
	free(map);
}

/* The last entry before `key`, or the head; `ret_path` (may be NULL) gets the one before it on every level. */
static struct sorted_map_entry *descend(
	const struct sorted_map *map, struct bytes key, struct sorted_map_entry **ret_path)
{
	struct sorted_map_entry *at = map->head;
	for (int level = map->levels - 1; level >= 0; level--) {
		while (at->next[level] && bytes_compare(at->next[level]->key, key) < 0)
			at = at->next[level];
		if (ret_path)
			ret_path[level] = at;
	}
	return at;
}

static int choose_height(struct sorted_map *map)
{
	map->random ^= map->random << 13; /* xorshift64, G. Marsaglia, 2003 */
	map->random ^= map->random >> 7;
	map->random ^= map->random << 17;
	int height = 1;
	for (uint64_t bits = map->random >> 8; height < LEVELS_MAX && (bits & 3) == 0; bits >>= 2)
		height++;
	return height;
}

static uint8_t *copy_in(uint8_t *to, struct bytes from)
{
	if (from.len > 0)
		memmove(to, from.data, from.len);
	to[from.len] = '\0';
	return to;
}

static uint8_t *room_of(const struct sorted_map_entry *entry)
{
	return (uint8_t *)entry->key.data + entry->key.len + 1;
}

static void set_value(struct sorted_map_entry *entry, struct bytes value, uint64_t tag)
{
	void *large = value.len > entry->room ? memory_copy(value) : NULL;
	void *to = large ? large : copy_in(room_of(entry), value);
	free(entry->large); /* after the copy: the value may be the entry's own */
	entry->large = large;
	entry->value = BYTES(to, value.len);
	entry->tag = tag;
}

static struct sorted_map_entry *new_entry(int height, struct bytes key, size_t room)
{
	size_t links = (size_t)height * sizeof(struct sorted_map_entry *);
	struct sorted_map_entry *entry = memory_new(sizeof(*entry) + links + key.len + 1 + room + 1);
	entry->key = BYTES(copy_in((uint8_t *)entry->next + links, key), key.len);
	entry->room = room;
	return entry;
}

void sorted_map_put(struct sorted_map *map, struct bytes key, struct bytes value, uint64_t tag)
{
	struct sorted_map_entry *path[LEVELS_MAX];
	struct sorted_map_entry *there = descend(map, key, path)->next[0];
	if (there && bytes_equal(there->key, key)) {
		set_value(there, value, tag);
		return;
	}

	int height = choose_height(map);
	while (map->levels < height)
		path[map->levels++] = map->head;
	struct sorted_map_entry *entry = new_entry(height, key, value.len);
	set_value(entry, value, tag);
	for (int level = 0; level < height; level++) {
		entry->next[level] = path[level]->next[level];
		path[level]->next[level] = entry;
	}
	map->count++;
	note_new(map, key);
}

bool sorted_map_remove(struct sorted_map *map, struct bytes key)
{
	struct sorted_map_entry *path[LEVELS_MAX];
	if (was_never_put(map, key))
		return false;
	struct sorted_map_entry *entry = descend(map, key, path)->next[0];
	if (!entry || !bytes_equal(entry->key, key))
		return false;

	for (int level = 0; level < map->levels && path[level]->next[level] == entry; level++)
		path[level]->next[level] = entry->next[level];
	while (map->levels > 1 && !map->head->next[map->levels - 1])
		map->levels--;
	free_entry(entry);
	if (--map->count == 0)
		forget_seen(map);
	return true;
}

size_t sorted_map_count(const struct sorted_map *map)
{
	return map->count;
}

struct sorted_map_entry *sorted_map_find(const struct sorted_map *map, struct bytes key)
{
	if (was_never_put(map, key))
		return NULL;
	struct sorted_map_entry *entry = sorted_map_at_or_after(map, key);
	return entry && bytes_equal(entry->key, key) ? entry : NULL;
}

struct sorted_map_entry *sorted_map_at_or_after(const struct sorted_map *map, struct bytes key)
{
	return descend(map, key, NULL)->next[0];
}

struct sorted_map_entry *sorted_map_before(const struct sorted_map *map, struct bytes key)
{
	struct sorted_map_entry *entry = descend(map, key, NULL);
	return entry == map->head ? NULL : entry;
}

struct sorted_map_entry *sorted_map_first(const struct sorted_map *map)
{
	return map->head->next[0];
}

struct sorted_map_entry *sorted_map_last(const struct sorted_map *map)
{
	struct sorted_map_entry *at = map->head;
	for (int level = map->levels - 1; level >= 0; level--)
		while (at->next[level])
			at = at->next[level];
	return at == map->head ? NULL : at;
}

struct sorted_map_entry *sorted_map_next(const struct sorted_map_entry *entry)
{
	return entry->next[0];
}

struct bytes sorted_map_key(const struct sorted_map_entry *entry)
{
	return entry->key;
}

struct bytes sorted_map_value(const struct sorted_map_entry *entry)
{
	return entry->value;
}

uint64_t sorted_map_tag(const struct sorted_map_entry *entry)
{
	return entry->tag;
}
