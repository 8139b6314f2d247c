/*
 * effect_stand_in.h: the runtime's side of an effect that sends a mail, for the tests of a transport: it counts, and says yes or no
 *
 * It defines what bus/actor/runtime/effects.c does, so one file of a program includes it.
 */
#ifndef UNIT_EFFECT_STAND_IN_H
#define UNIT_EFFECT_STAND_IN_H

#include "bus/actor/effect.h"
#include "bus/base/clock.h"
#include "services/kit/mail/message.h"

struct effect {
	int claims, ends; /* how often it was asked to be claimed, and was done */
	bool outdated;    /* its claim has ended */
	struct mail_result result;
};

void effect_claim(struct effect *effect)
{
	effect->claims++;
}

int64_t effect_until_us(const struct effect *effect)
{
	const struct clock clock = clock_system();

	return clock_boot_us(&clock) + (effect->outdated ? 0 : US_PER_S);
}

bool effect_may_go(const struct effect *effect)
{
	return !effect->outdated;
}

void effect_done(struct effect *effect, const void *result)
{
	effect->ends++;
	effect->result = *(const struct mail_result *)result;
}

#endif
