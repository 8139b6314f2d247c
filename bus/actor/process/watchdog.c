/*
 * watchdog.c: the thread that checks whether the process's main thread makes progress
 *
 * Owns:      its count of looks at the same task.
 * Promises:  a task that ends before its deadline is left alone; for any other the watchdog ends the process
 *            within a quarter of the deadline more, and names service, message and duration. The broker has
 *            noticed the silence long before that, and freed the leases (bus/broker/queue/lease.c): a message
 *            that was being decided on alone has failed.
 * Fails by:  nothing: it takes no lock and no memory, which the stuck thread might hold.
 * Read next: process.c (starts it), runtime.c and delivery.c (note the tasks)
 */
#include "bus/actor/process/watchdog.h"
#include "bus/base/clock.h"
#include "bus/base/log.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
	LOOKS_IN_A_DEADLINE = 4,
	LOOP_DEADLINES = 6, /* a slow disk is no reason to lose data under way */
	STACK_BYTES = 256 << 10,
	EXIT_STUCK = 1,
};

static struct watchdog {
	const struct activity *activity;
	const char *service;
	int64_t turn_us;
} watchdog;

static void say_what(enum task task, uint64_t seq, char ret[128])
{
	unsigned long long number = seq;

	switch (task) {
	case TASK_WAITING:
	case TASK_LOOP:
		snprintf(ret, 128, "work between turns (a socket, a disk, an effect's driver)");
		break;
	case TASK_DECIDE:
		snprintf(ret, 128, "deciding on message %llu of queue %s", number, watchdog.service);
		break;
	case TASK_RESULT:
		snprintf(ret, 128, "deciding on the effect of message %llu of queue %s", number, watchdog.service);
		break;
	case TASK_FOLD:
		snprintf(ret, 128, "folding message %llu", number);
		break;
	case TASK_CLOCK:
		snprintf(ret, 128, "deciding on what is due by the clock");
		break;
	}
}

static _Noreturn void end(enum task task, uint64_t seq, int64_t took_us)
{
	char what[128] = "";

	say_what(task, seq, what);
	log_event(LOG_CRITICAL,
		"stuck: %s has taken %lld s, more than [turn] deadline allows: this process of %s ends, to be "
		"started again. %s",
		what, (long long)(took_us / US_PER_S), watchdog.service,
		task == TASK_DECIDE || task == TASK_RESULT
			? "The message has failed; after its last failure it is a dead letter (cartbus dlq list)"
			: "If it comes again, look at what it names");
	_exit(EXIT_STUCK);
}

static void *look(void *unused)
{
	const struct activity *activity = watchdog.activity;
	const int64_t every_us = watchdog.turn_us / LOOKS_IN_A_DEADLINE;
	const struct timespec every = { every_us / US_PER_S, every_us % US_PER_S * 1000 };
	uint64_t last = 0;
	int same = 0;

	for (;;) {
		uint64_t begun = atomic_load_explicit(&activity->begun, memory_order_acquire);
		enum task task = (enum task)atomic_load_explicit(&activity->task, memory_order_relaxed);

		same = begun == last && task != TASK_WAITING ? same + 1 : 0;
		last = begun;
		if (same >= LOOKS_IN_A_DEADLINE * (task == TASK_LOOP ? LOOP_DEADLINES : 1))
			end(task, atomic_load_explicit(&activity->seq, memory_order_relaxed), same * every_us);
		nanosleep(&every, NULL);
	}
	return unused;
}

int watchdog_start(const struct activity *activity, const char *service, int64_t turn_us)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r;

	watchdog = (struct watchdog){ .activity = activity, .service = service, .turn_us = turn_us };
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attributes, look, NULL);
	pthread_attr_destroy(&attributes);
	return -r;
}
