/*
 * u64map.c: pages of pointers
 *
 * Owns:      its pages; an empty one is given back.
 * Read next: map.h (where the pages are found)
 */
#include "bus/base/u64map.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include <stdlib.h>

enum { PAGE = 256 };

struct page {
	uint64_t at; /* numbers / PAGE */
	size_t count;
	void *values[PAGE];
};

struct u64map {
	struct map *pages; /* struct page, by `at` */
	struct page *last; /* looked at; NULL: none */
	size_t count;
};

struct u64map *u64map_new(void)
{
	struct u64map *numbered = memory_new(sizeof(*numbered));

	numbered->pages = map_new();
	return numbered;
}

static void free_page(struct bytes key, void *page, void *context)
{
	(void)key;
	(void)context;
	free(page);
}

void u64map_free(struct u64map *numbered)
{
	if (!numbered)
		return;
	map_each(numbered->pages, free_page, NULL);
	map_free(numbered->pages);
	free(numbered);
}

static struct page *find(struct u64map *numbered, uint64_t number)
{
	uint64_t at = number / PAGE;

	if (!numbered->last || numbered->last->at != at)
		numbered->last = map_get(numbered->pages, map_number(&at));
	return numbered->last;
}

void *u64map_get(struct u64map *numbered, uint64_t number)
{
	const struct page *page = find(numbered, number);

	return page ? page->values[number % PAGE] : NULL;
}

static struct page *add_page(struct u64map *numbered, uint64_t number)
{
	struct page *page = memory_new(sizeof(*page));

	page->at = number / PAGE;
	map_put(numbered->pages, map_number(&page->at), page);
	return numbered->last = page;
}

void *u64map_put(struct u64map *numbered, uint64_t number, void *value)
{
	struct page *page = find(numbered, number);
	void *before;

	if (!page)
		page = add_page(numbered, number);
	before = page->values[number % PAGE];
	page->values[number % PAGE] = value;
	page->count += !before;
	numbered->count += !before;
	return before;
}

void *u64map_remove(struct u64map *numbered, uint64_t number)
{
	struct page *page = find(numbered, number);
	void *before = page ? page->values[number % PAGE] : NULL;

	if (!before)
		return NULL;
	page->values[number % PAGE] = NULL;
	numbered->count--;
	if (--page->count == 0) {
		map_remove(numbered->pages, map_number(&page->at));
		numbered->last = NULL;
		free(page);
	}
	return before;
}

size_t u64map_count(const struct u64map *numbered)
{
	return numbered->count;
}
