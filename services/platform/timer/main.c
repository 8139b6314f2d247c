/*
 * main.c: the process cartbus-timer, and its alarm when the clock jumps
 *
 * Promises:  while wall and boot time disagree, no timer fires (timer.c). The process logs that, raises the
 *            alarm "clock", and goes on when both agree again, or when it is restarted.
 */
#include "bus/actor/process.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/settings/settings.h"
#include "services/platform/timer/timer.h"

static struct clock_hold hold_here;
static struct runtime *runtime_in_use;
static bool logged, asked, asked_raised; /* asked: the alarm is on its way; asked_raised: what it says */
static bool told = true;                 /* what was confirmed last; an earlier run may have left it raised */

static void log_jump(int64_t jump_us)
{
	if (logged == (jump_us != 0))
		return;
	logged = jump_us != 0;
	if (logged)
		log_event(LOG_CRITICAL,
			"the clock jumped by %lld s against the time since boot: no timer fires. Set the clock right, "
			"or restart all of cartbus if it is right now",
			(long long)(jump_us / US_PER_S));
	else
		log_event(LOG_NOTICE, "wall and boot time agree again: timers fire");
}

static void alarm_answered(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)context, (void)seq;
	asked = false;
	if (result == SAID_REFUSED) /* for good, so it is not tried again */
		log_event(LOG_ERROR, "the broker refuses the alarm of the clock: %s", reason);
	if (result != SAID_UNKNOWN)
		told = asked_raised;
}

/* Publishes the alarm until it is confirmed, because the broker may be away while the clock jumps. */
static int64_t publish_jump(void *context)
{
	int64_t jump_us = clock_hold_jump_us(&hold_here);
	Alarm alarm = { .raised = jump_us != 0, .at_us = clock_wall_us(hold_here.clock) };

	(void)context;
	log_jump(jump_us);
	if (asked || told == alarm.raised)
		return US_PER_S;
	TEXT_COPY(alarm.kind, "clock");
	TEXT_COPY(alarm.text, alarm.raised ? "the clock jumped: no timer fires" : "the clock is right");
	TEXT_COPY(alarm.remedy, "set the clock right, or restart all of cartbus if it is right now");
	asked_raised = alarm.raised;
	asked = runtime_publish(runtime_in_use, &topic_alarm,
			&(struct publish_options){ .shop = SHOP_OF_ALL, .key = alarm.kind }, NULL, &alarm,
			alarm_answered, NULL) == 0;
	return US_PER_S;
}

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	(void)config;
	runtime_in_use = runtime;
	hold_here = clock_hold_from(clock);
	loop_before_wait(loop, publish_jump, NULL);
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &timer,
			.context = timer_in(&hold_here),
			.help = "Wakes the others up when they asked to be: named one-offs, and cron in each shop's "
				"time zone.",
			.keys = settings_keys,
			.start = start });
}
