#include "bus/base/memory.h"
#include "bus/base/log.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

void *memory_new(size_t size)
{
	void *memory = calloc(1, size ? size : 1);
	if (!memory)
		die("out of memory: %zu bytes asked for; give the service a larger limit", size);
	return memory;
}

void *memory_resize(void *memory, size_t size)
{
	void *resized = realloc(memory, size ? size : 1);
	if (!resized)
		die("out of memory: %zu bytes asked for; give the service a larger limit", size);
	return resized;
}

void *memory_copy(struct bytes from)
{
	char *copy = memory_resize(NULL, from.len + 1);
	if (from.len)
		memcpy(copy, from.data, from.len);
	copy[from.len] = '\0';
	return copy;
}

char *memory_copy_text(const char *text)
{
	return memory_copy(bytes_of(text));
}

uint64_t memory_resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (file && fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

#ifndef __has_feature /* clang's way to tell */
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
static const size_t SPARE_MOST = 0;
#else
static const size_t SPARE_MOST = 1024;
#endif

/* A spare piece begins with a pointer to the next one. */
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

/*
 * Turns core files off. Under systemd LimitCORE=0 does it as well; processes of `cartbus up`, or started by
 * hand, have only this.
 */

void dumps_forbid(void)
{
	const struct rlimit none = { 0, 0 };

	if (getenv("CARTBUS_DUMPS"))
		return;
	setrlimit(RLIMIT_CORE, &none); /* if either call is refused, going on costs nothing */
	prctl(PR_SET_DUMPABLE, 0);
}
