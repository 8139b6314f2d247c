/*
 * watchdog.h: what a process is at, and its end when it does not come back from that
 *
 * A process has one thread, which notes what it begins. Another one looks, four times within a deadline, whether that is still the
 * same. It counts looks and not time: while the process is stopped or the machine sleeps, nobody looks.
 */
#ifndef ACTOR_PROCESS_WATCHDOG_H
#define ACTOR_PROCESS_WATCHDOG_H

#include <stdatomic.h>
#include <stdint.h>

enum task {
	TASK_WAITING, /* for something to do: as long as that takes */
	TASK_LOOP,    /* between turns: sockets, files, drivers */
	TASK_DECIDE,  /* on a message */
	TASK_RESULT,  /* on what came of a message's effect */
	TASK_FOLD,    /* a message */
	TASK_CLOCK,   /* a turn without a message */
};

struct activity {
	atomic_uint_least64_t begun; /* counts what was begun */
	atomic_uint_least64_t seq;   /* the message's */
	atomic_int task;
};

static inline void activity_begin(struct activity *activity, enum task task, uint64_t seq)
{
	atomic_store_explicit(&activity->task, (int)task, memory_order_relaxed);
	atomic_store_explicit(&activity->seq, seq, memory_order_relaxed);
	atomic_store_explicit(&activity->begun, atomic_load_explicit(&activity->begun, memory_order_relaxed) + 1,
		memory_order_release);
}

/*
 * Ends the process, with one line, when a turn takes longer than `turn_us`, or what is between turns six times as long. To the end of
 * the process: `activity` and `service` are never let go. A negative errno when there is no thread to be had.
 */
int watchdog_start(const struct activity *activity, const char *service, int64_t turn_us);

#endif
