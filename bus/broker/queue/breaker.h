/*
 * breaker.h: decides whether single messages fail, or the service that handles them
 *
 * A poison message fails while others succeed. If everything fails, the service is broken. The breaker tells
 * these apart: it counts different keys that failed since the last success. When there are PAUSE_KEYS of
 * them, the queue is paused. During a pause no failure counts against a message. One message at a time is
 * tried, at growing intervals, and the first success ends the pause.
 *
 * It has no side effects: the caller passes events and times in and gets decisions.
 */
#ifndef BROKER_QUEUE_BREAKER_H
#define BROKER_QUEUE_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The number of different failed keys that pauses a queue. A needless pause costs a second; an undetected
 * breakdown costs up to PAUSE_KEYS - 1 dead letters.
 */
enum { PAUSE_KEYS = 5 };

struct breaker {
	uint64_t keys[PAUSE_KEYS]; /* the different keys that failed since the last success */
	uint32_t count;
	int64_t since_us;      /* log time at which the pause began; 0: the queue is not paused */
	int64_t probe_boot_us; /* no try before this boot time */
	uint32_t probes;       /* how many tries failed */
	bool probing;          /* the message that is delivered now is a try */
};

void breaker_failed(struct breaker *breaker, uint64_t key_hash, int64_t boot_us, int64_t wall_us);
void breaker_worked(struct breaker *breaker);
/* Pauses a queue again that was paused before the broker restarted; the first try comes soon. */
void breaker_resume(struct breaker *breaker, int64_t since_us, int64_t boot_us);

static inline bool breaker_is_open(const struct breaker *breaker)
{
	return breaker->since_us != 0;
}

/* The time between the last try and the next one. */
int64_t breaker_interval_us(const struct breaker *breaker);
/* May a message be tried now? `leased`: the number of leased items of the queue. */
bool breaker_may_try(const struct breaker *breaker, uint64_t leased, int64_t boot_us);

#endif
