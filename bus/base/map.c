/*
 * map.c: a hash map with chains, and a map from numbers in pages
 *
 * Owns:      its entries and their copies of the keys.
 * Promises:  the same calls give the same order of iteration in every run (the simulator's traces rest on it);
 *            entries may be removed while map_each runs, also the next one or one already seen.
 */
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <assert.h>
#include <stdlib.h>

enum { FIRST_BUCKETS = 16 }; /* a power of two, as is every later size */

struct entry {
	struct entry *next;
	uint64_t hash;
	void *value;
	bool removed; /* while map_each runs; swept when it ends */
	size_t len;
	uint8_t key[];
};

struct map {
	struct entry **buckets;
	size_t bucket_count;
	size_t count;
	unsigned walks; /* map_each running, maybe nested */
	bool swept_later;
};

struct map *map_new(void)
{
	struct map *map = memory_new(sizeof(*map));
	map->bucket_count = FIRST_BUCKETS;
	map->buckets = memory_new(FIRST_BUCKETS * sizeof(struct entry *));
	return map;
}

void map_free(struct map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->bucket_count; i++)
		for (struct entry *entry = map->buckets[i], *next; entry; entry = next) {
			next = entry->next;
			free(entry);
		}
	free(map->buckets);
	free(map);
}

/* The place of the pointer to the entry, or of the NULL at the end of its chain. */
static struct entry **find(const struct map *map, struct bytes key, uint64_t hash)
{
	struct entry **at = &map->buckets[hash & (map->bucket_count - 1)];
	for (; *at; at = &(*at)->next)
		if ((*at)->hash == hash && !(*at)->removed && bytes_equal(BYTES((*at)->key, (*at)->len), key))
			break;
	return at;
}

void *map_get(const struct map *map, struct bytes key)
{
	struct entry *entry = *find(map, key, text_hash(key));
	return entry ? entry->value : NULL;
}

static void double_buckets(struct map *map)
{
	size_t bucket_count = map->bucket_count * 2;
	struct entry **buckets = memory_new(bucket_count * sizeof(struct entry *));
	for (size_t i = 0; i < map->bucket_count; i++)
		for (struct entry *entry = map->buckets[i], *next; entry; entry = next) {
			struct entry **head = &buckets[entry->hash & (bucket_count - 1)];
			next = entry->next;
			entry->next = *head;
			*head = entry;
		}
	free(map->buckets);
	map->buckets = buckets;
	map->bucket_count = bucket_count;
}

void *map_put(struct map *map, struct bytes key, void *value)
{
	uint64_t hash = text_hash(key);
	struct entry **at = find(map, key, hash);
	if (*at) {
		void *before = (*at)->value;
		(*at)->value = value;
		return before;
	}

	assert(!map->walks);
	struct entry *entry = memory_new(sizeof(*entry) + key.len);
	entry->hash = hash;
	entry->value = value;
	entry->len = key.len;
	if (key.len)
		memcpy(entry->key, key.data, key.len);
	*at = entry;
	if (++map->count > map->bucket_count)
		double_buckets(map);
	return NULL;
}

void *map_remove(struct map *map, struct bytes key)
{
	struct entry **at = find(map, key, text_hash(key)), *entry = *at;
	if (!entry)
		return NULL;

	void *value = entry->value;
	map->count--;
	if (map->walks) {
		entry->removed = map->swept_later = true;
		return value;
	}
	*at = entry->next;
	free(entry);
	return value;
}

size_t map_count(const struct map *map)
{
	return map->count;
}

static void sweep(struct map *map)
{
	for (size_t i = 0; i < map->bucket_count; i++)
		for (struct entry **at = &map->buckets[i]; *at;) {
			struct entry *entry = *at;
			if (!entry->removed) {
				at = &entry->next;
				continue;
			}
			*at = entry->next;
			free(entry);
		}
	map->swept_later = false;
}

void map_each(struct map *map, void (*each)(struct bytes key, void *value, void *context), void *context)
{
	map->walks++;
	for (size_t i = 0; i < map->bucket_count; i++)
		for (struct entry *entry = map->buckets[i]; entry; entry = entry->next)
			if (!entry->removed)
				each(BYTES(entry->key, entry->len), entry->value, context);
	if (--map->walks == 0 && map->swept_later)
		sweep(map);
}

/* A map from numbers: pages of pointers, found through a map. An empty page is given back. */

enum { PAGE = 256 };

struct page {
	uint64_t at; /* numbers / PAGE */
	size_t count;
	void *values[PAGE];
};

struct u64map {
	struct map *pages; /* struct page, by `at` */
	struct page *last; /* the page of the last lookup; NULL: none */
	size_t count;
};

struct u64map *u64map_new(void)
{
	struct u64map *map = memory_new(sizeof(*map));

	map->pages = map_new();
	return map;
}

static void free_page(struct bytes key, void *page, void *context)
{
	(void)key;
	(void)context;
	free(page);
}

void u64map_free(struct u64map *map)
{
	if (!map)
		return;
	map_each(map->pages, free_page, NULL);
	map_free(map->pages);
	free(map);
}

static struct page *find_page(struct u64map *map, uint64_t number)
{
	uint64_t at = number / PAGE;

	if (!map->last || map->last->at != at)
		map->last = map_get(map->pages, map_number(&at));
	return map->last;
}

void *u64map_get(struct u64map *map, uint64_t number)
{
	const struct page *page = find_page(map, number);

	return page ? page->values[number % PAGE] : NULL;
}

static struct page *add_page(struct u64map *map, uint64_t number)
{
	struct page *page = memory_new(sizeof(*page));

	page->at = number / PAGE;
	map_put(map->pages, map_number(&page->at), page);
	return map->last = page;
}

void *u64map_put(struct u64map *map, uint64_t number, void *value)
{
	struct page *page = find_page(map, number);
	void *before;

	if (!page)
		page = add_page(map, number);
	before = page->values[number % PAGE];
	page->values[number % PAGE] = value;
	page->count += !before;
	map->count += !before;
	return before;
}

void *u64map_remove(struct u64map *map, uint64_t number)
{
	struct page *page = find_page(map, number);
	void *before = page ? page->values[number % PAGE] : NULL;

	if (!before)
		return NULL;
	page->values[number % PAGE] = NULL;
	map->count--;
	if (--page->count == 0) {
		map_remove(map->pages, map_number(&page->at));
		map->last = NULL;
		free(page);
	}
	return before;
}

size_t u64map_count(const struct u64map *map)
{
	return map->count;
}
