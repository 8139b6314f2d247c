/*
 * breaker.h: do the messages fail, or the service that works on them?
 *
 * Poison is one message that fails while others go well; an outage is when everything fails. The difference is seen by counting
 * different keys that failed since the last time that anything went well. A queue in an outage is paused: nothing that fails
 * then counts against a message, one at a time is tried, at growing intervals, and the first that goes well ends it.
 *
 * Pure: what happened and when goes in, what is to be done comes out.
 */
#ifndef BROKER_QUEUE_BREAKER_H
#define BROKER_QUEUE_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

/* So many different keys in a row. A false alarm costs a second; an outage that is not seen costs so many dead letters less one. */
enum { PAUSE_KEYS = 5 };

struct breaker {
	uint64_t keys[PAUSE_KEYS]; /* different ones that failed since anything went well */
	uint32_t count;
	int64_t since_us;      /* log time since when the queue is paused; 0: it is not */
	int64_t probe_boot_us; /* the next try, not before this */
	uint32_t probes;       /* that failed */
	bool probing;          /* what is handed out now is a try */
};

void breaker_failed(struct breaker *breaker, uint64_t key_hash, int64_t boot_us, int64_t wall_us);
void breaker_worked(struct breaker *breaker);
/* It was paused when its broker was started anew: it is again, and tries soon. */
void breaker_resume(struct breaker *breaker, int64_t since_us, int64_t boot_us);

static inline bool breaker_is_open(const struct breaker *breaker)
{
	return breaker->since_us != 0;
}

/* How long after the last try the next one comes. */
int64_t breaker_interval_us(const struct breaker *breaker);
/* May one be tried now? `leased`: of the queue, items that are with somebody. */
bool breaker_may_try(const struct breaker *breaker, uint64_t leased, int64_t boot_us);

#endif
