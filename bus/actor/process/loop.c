/*
 * loop.c: one thread that waits on all descriptors and timers of a process
 *
 * Owns:      the watches of descriptors, the callbacks that are asked before a wait.
 * Promises:  a callback may watch, unwatch and stop; a watch that was removed meanwhile is not called.
 * Fails by:  die() when there are more descriptors than one loop should have.
 */
#include "bus/actor/process/loop.h"
#include "bus/actor/process/watchdog.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/wire/zmq_link.h"
#include <errno.h>
#include <stdlib.h>

/*
 * The program's own code decides how many there are, not a shop: a program that needs more dies at its start.
 */
enum { WATCHES_MOST = 512, BEFORE_MOST = 8, DRIVERS_MOST = 16 };

struct watch {
	int fd; /* -1: free */
	bool for_writing;
	loop_fn *call;
	void *context;
};

struct loop {
	struct link *link;
	struct effect_driver *const *drivers;
	struct activity *activity;
	struct watch watches[WATCHES_MOST];
	struct before {
		loop_before_fn *call;
		void *context;
	} before[BEFORE_MOST];
	int before_count;
	struct pollfd polled[WATCHES_MOST + DRIVERS_MOST];
	int watch_of[WATCHES_MOST + DRIVERS_MOST]; /* -1: a driver's: the runtime calls its work() */
	bool stopped;
};

static int count_drivers(struct effect_driver *const *drivers)
{
	int count = 0;

	while (drivers[count])
		count++;
	return count;
}

struct loop *loop_new(struct link *link, struct effect_driver *const *drivers, struct activity *activity)
{
	struct loop *loop = memory_new(sizeof(*loop));

	loop->link = link;
	loop->drivers = drivers;
	loop->activity = activity;
	if (drivers && count_drivers(drivers) > DRIVERS_MOST)
		die("more than %d drivers in this process", DRIVERS_MOST);
	for (int i = 0; i < WATCHES_MOST; i++)
		loop->watches[i].fd = -1;
	return loop;
}

void loop_free(struct loop *loop)
{
	free(loop);
}

int loop_watch(struct loop *loop, int fd, bool for_writing, loop_fn *call, void *context)
{
	for (int i = 0; i < WATCHES_MOST; i++) {
		if (loop->watches[i].fd >= 0)
			continue;
		loop->watches[i] =
			(struct watch){ .fd = fd, .for_writing = for_writing, .call = call, .context = context };
		return 0;
	}
	return -ENFILE;
}

void loop_before_wait(struct loop *loop, loop_before_fn *call, void *context)
{
	if (loop->before_count == BEFORE_MOST)
		die("more than %d parts of this process want to be asked before every wait", BEFORE_MOST);
	loop->before[loop->before_count++] = (struct before){ .call = call, .context = context };
}

void loop_stop(struct loop *loop)
{
	loop->stopped = true;
}

bool loop_stopped(const struct loop *loop)
{
	return loop->stopped;
}

int64_t loop_prepare(struct loop *loop)
{
	int64_t least_us = -1;

	for (int i = 0; i < loop->before_count; i++) {
		int64_t wait_us = loop->before[i].call(loop->before[i].context);

		if (wait_us >= 0 && (least_us < 0 || wait_us < least_us))
			least_us = wait_us;
	}
	return least_us;
}

static size_t gather(struct loop *loop)
{
	size_t count = 0;

	for (int i = 0; i < WATCHES_MOST; i++) {
		const struct watch *watch = &loop->watches[i];

		if (watch->fd < 0)
			continue;
		loop->watch_of[count] = i;
		loop->polled[count++] =
			(struct pollfd){ .fd = watch->fd, .events = watch->for_writing ? POLLOUT : POLLIN };
	}
	for (int i = 0; loop->drivers && loop->drivers[i] && i < DRIVERS_MOST; i++) {
		const struct effect_driver *driver = loop->drivers[i];
		int fd = driver->fd ? driver->fd(driver->self) : -1;

		if (fd < 0)
			continue;
		loop->watch_of[count] = -1;
		loop->polled[count++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	return count;
}

void loop_wait(struct loop *loop, int64_t timeout_us)
{
	size_t count = gather(loop);
	int r;

	activity_begin(loop->activity, TASK_WAITING, 0);
	r = zmq_link_wait(loop->link, loop->polled, count, timeout_us);
	activity_begin(loop->activity, TASK_LOOP, 0);
	if (r < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct watch *watch = loop->watch_of[i] < 0 ? NULL : &loop->watches[loop->watch_of[i]];

		if (watch && loop->polled[i].revents && watch->fd == loop->polled[i].fd)
			watch->call(watch->context);
	}
}
