/*
 * eraser.c: a thread that has the store rewrite its files, so that the broker goes on meanwhile
 *
 * Owns:      the thread, and copies of what it is to rewrite.
 * Fails by:  die() when there is no thread to be had.
 * Read next: erase.c
 */
#include "bus/broker/admin/eraser.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

struct eraser {
	struct store *store;
	pthread_t thread;
	struct store_range ranges[ERASE_FAMILIES];
	size_t count;
	struct buffer keys[2 * ERASE_FAMILIES];
	int result;
	atomic_bool done;
};

static void *run(void *context)
{
	struct eraser *eraser = context;

	eraser->result = store_purge(eraser->store, eraser->ranges, eraser->count);
	eraser->done = true;
	return NULL;
}

static struct bytes copy(struct buffer *to, const struct buffer *from)
{
	buffer_add(to, from->data, from->len);
	return buffer_bytes(to);
}

static void add(struct eraser *eraser, int family, const struct erase_span *span)
{
	struct buffer *keys = &eraser->keys[2 * eraser->count];
	struct store_range *range = &eraser->ranges[eraser->count++];

	range->family = family;
	if (span) {
		range->from = copy(&keys[0], &span->from);
		range->to = copy(&keys[1], &span->to);
	}
}

struct eraser *eraser_new(struct store *store, const struct erase_span *spans, bool exactly)
{
	struct eraser *eraser = memory_new(sizeof(*eraser));
	sigset_t all, before;

	eraser->store = store;
	for (int family = 0; family < ERASE_FAMILIES; family++) {
		bool is_small = family == FAMILY_DEAD || family == FAMILY_QUEUE;
		bool may_hold_more = !exactly && (family == FAMILY_IDEM || family == FAMILY_LATEST);

		if (is_small || may_hold_more)
			add(eraser, family, NULL);
		else if (spans[family].is_set)
			add(eraser, family, &spans[family]);
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&eraser->thread, NULL, run, eraser) != 0)
		die("no thread can be started that erases: see the limits of this user");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return eraser;
}

bool eraser_is_done(struct eraser *eraser, int *ret_result)
{
	if (!eraser->done)
		return false;
	*ret_result = eraser->result;
	return true;
}

void eraser_free(struct eraser *eraser)
{
	if (!eraser)
		return;
	pthread_join(eraser->thread, NULL);
	for (size_t i = 0; i < 2 * ERASE_FAMILIES; i++)
		buffer_free(&eraser->keys[i]);
	free(eraser);
}
