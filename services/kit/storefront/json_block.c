/*
 * json_block.c: memory for jansson that is given back at once
 *
 * Owns:     the blocks between begin and end; jansson's choice of malloc and free in the whole process.
 * Promises: outside of begin and end jansson uses malloc and free, and so it does for every other thread (one may log meanwhile).
 * Fails by: die() when there is no memory.
 */
#include "services/kit/storefront/json_block.h"
#include "bus/base/memory.h"
#include <assert.h>
#include <jansson.h>
#include <stdalign.h>
#include <stdlib.h>

enum { BLOCK_LEAST = 4096, BLOCK_PER_BYTE = 12 }; /* storefronts' bodies take about ten times their length */

struct block {
	struct block *before; /* full */
	size_t used, room;
	alignas(max_align_t) unsigned char bytes[];
};

static _Thread_local struct block *newest;

static void add_block(size_t room)
{
	struct block *block = memory_resize(NULL, sizeof(*block) + room);

	block->before = newest;
	block->used = 0;
	block->room = room;
	newest = block;
}

static void *take(size_t size)
{
	const size_t step = alignof(max_align_t);
	size_t rounded = size <= SIZE_MAX - step ? (size + step - 1) / step * step : SIZE_MAX;
	void *taken;

	if (!newest)
		return malloc(size);
	if (rounded > newest->room - newest->used)
		add_block(rounded > 2 * newest->room ? rounded : 2 * newest->room);
	taken = newest->bytes + newest->used;
	newest->used += rounded;
	return taken;
}

static void leave(void *taken)
{
	if (!newest)
		free(taken);
}

void json_block_begin(size_t text_len)
{
	assert(!newest);
	add_block(BLOCK_LEAST + BLOCK_PER_BYTE * text_len);
	json_set_alloc_funcs(take, leave);
}

void json_block_end(void)
{
	json_set_alloc_funcs(malloc, free);
	while (newest) {
		struct block *before = newest->before;

		free(newest);
		newest = before;
	}
}
