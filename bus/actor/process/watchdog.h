/*
 * watchdog.h: notes the current task of a process and ends the process when a task takes too long
 *
 * A process has one working thread, which notes each task that it begins. A second thread looks four times
 * within a deadline whether the task is still the same. It counts looks and not time, so a stopped process or
 * a sleeping machine is not ended.
 */
#ifndef ACTOR_PROCESS_WATCHDOG_H
#define ACTOR_PROCESS_WATCHDOG_H

#include <stdatomic.h>
#include <stdint.h>

enum task {
	TASK_WAITING, /* waiting for work, without a limit */
	TASK_LOOP,    /* working between turns: sockets, files, drivers */
	TASK_DECIDE,  /* deciding on a message */
	TASK_RESULT,  /* deciding on the result of a message's effect */
	TASK_FOLD,    /* a message */
	TASK_CLOCK,   /* deciding on a turn of the clock, without a message */
};

struct activity {
	atomic_uint_least64_t begun; /* the number of tasks begun */
	atomic_uint_least64_t seq;   /* the message's sequence number */
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
 * Ends the process, with one log line, when a turn takes longer than turn_us, or the work between turns takes
 * six times as long. It runs until the process ends; `activity` and `service` must live as long. Returns a
 * negative errno if no thread can be started.
 */
int watchdog_start(const struct activity *activity, const char *service, int64_t turn_us);

#endif
