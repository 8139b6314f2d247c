#include "bus/base/pool.h"
#include "bus/base/memory.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature /* clang's way to tell */
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
static const size_t SPARE_MOST = 0;
#else
static const size_t SPARE_MOST = 1024;
#endif

/* A spare one begins with a pointer to the next. */
void *pool_take(struct pool *pool)
{
	void *item = pool->spare;

	assert(pool->size >= sizeof(void *));
	if (!item)
		return memset(memory_resize(NULL, pool->size + pool->room), 0, pool->size);
	pool->spare = *(void **)item;
	pool->spare_count--;
	return memset(item, 0, pool->size);
}

void pool_give(struct pool *pool, void *item)
{
	if (!item)
		return;
	if (pool->spare_count >= SPARE_MOST) {
		free(item);
		return;
	}
	*(void **)item = pool->spare;
	pool->spare = item;
	pool->spare_count++;
}

void pool_free(struct pool *pool)
{
	while (pool->spare) {
		void *item = pool->spare;

		pool->spare = *(void **)item;
		free(item);
	}
	pool->spare_count = 0;
}
