/*
 * breaker.c: when a queue is paused, and when it is tried
 *
 * Promises:  messages of one key never pause a queue; what was in flight when it was paused says nothing, unless it went well.
 * Read next: breaker.h, outage.c (what the queue does with it)
 */
#include "bus/broker/queue/breaker.h"
#include "bus/base/clock.h"

static const int64_t TRY_FIRST_US = 1 * US_PER_S;
static const int64_t TRY_MOST_US = 1 * US_PER_MINUTE;

int64_t breaker_interval_us(const struct breaker *breaker)
{
	int64_t wait_us = TRY_FIRST_US;

	for (uint32_t i = 0; i < breaker->probes && wait_us < TRY_MOST_US; i++)
		wait_us *= 2;
	return wait_us < TRY_MOST_US ? wait_us : TRY_MOST_US;
}

static bool is_known(const struct breaker *breaker, uint64_t key_hash)
{
	for (uint32_t i = 0; i < breaker->count; i++)
		if (breaker->keys[i] == key_hash)
			return true;
	return false;
}

void breaker_failed(struct breaker *breaker, uint64_t key_hash, int64_t boot_us, int64_t wall_us)
{
	if (breaker_is_open(breaker)) {
		if (!breaker->probing)
			return;
		breaker->probing = false;
		breaker->probes++;
		breaker->probe_boot_us = boot_us + breaker_interval_us(breaker);
		return;
	}
	if (!is_known(breaker, key_hash))
		breaker->keys[breaker->count++] = key_hash;
	if (breaker->count == OUTAGE_KEYS)
		breaker_resume(breaker, wall_us, boot_us);
}

void breaker_worked(struct breaker *breaker)
{
	*breaker = (struct breaker){ 0 };
}

void breaker_resume(struct breaker *breaker, int64_t since_us, int64_t boot_us)
{
	*breaker = (struct breaker){ .since_us = since_us, .probe_boot_us = boot_us + TRY_FIRST_US };
}

bool breaker_may_try(const struct breaker *breaker, uint64_t leased, int64_t boot_us)
{
	return leased == 0 && boot_us >= breaker->probe_boot_us;
}
