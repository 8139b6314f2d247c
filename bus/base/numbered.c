/*
 * numbered.c: pages of pointers
 *
 * Owns:      its pages; an empty one is given back.
 * Read next: map.h (where the pages are found)
 */
#include "bus/base/numbered.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include <stdlib.h>

enum { PAGE = 256 };

struct page {
	uint64_t at; /* numbers / PAGE */
	size_t count;
	void *values[PAGE];
};

struct numbered {
	struct map *pages; /* struct page, by `at` */
	struct page *last; /* looked at; NULL: none */
	size_t count;
};

struct numbered *numbered_new(void)
{
	struct numbered *numbered = memory_new(sizeof(*numbered));

	numbered->pages = map_new();
	return numbered;
}

static void free_page(struct bytes key, void *page, void *context)
{
	(void)key;
	(void)context;
	free(page);
}

void numbered_free(struct numbered *numbered)
{
	if (!numbered)
		return;
	map_each(numbered->pages, free_page, NULL);
	map_free(numbered->pages);
	free(numbered);
}

static struct page *find(struct numbered *numbered, uint64_t number)
{
	uint64_t at = number / PAGE;

	if (!numbered->last || numbered->last->at != at)
		numbered->last = map_get(numbered->pages, map_number(&at));
	return numbered->last;
}

void *numbered_get(struct numbered *numbered, uint64_t number)
{
	const struct page *page = find(numbered, number);

	return page ? page->values[number % PAGE] : NULL;
}

static struct page *add_page(struct numbered *numbered, uint64_t number)
{
	struct page *page = memory_new(sizeof(*page));

	page->at = number / PAGE;
	map_put(numbered->pages, map_number(&page->at), page);
	return numbered->last = page;
}

void *numbered_put(struct numbered *numbered, uint64_t number, void *value)
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

void *numbered_remove(struct numbered *numbered, uint64_t number)
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

size_t numbered_count(const struct numbered *numbered)
{
	return numbered->count;
}
