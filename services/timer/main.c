/*
 * main.c: the process cartbus-timer; and what it does when the clock jumps
 *
 * Promises:  if wall and boot time part by more than a minute, nothing fires: a jump would fire a year of timers, or none. It says
 *            so, raises the alarm "clock", and goes on when they agree again, or when it is restarted.
 */
#include "bus/actor/process.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/kit/settings.h"
#include "services/timer/timer.h"
#include <stdlib.h>

#define PARTED_US US_PER_MINUTE

static struct service guarded; /* `timer`, asked only while the clocks agree */
static const struct clock *clock_in_use;
static struct runtime *runtime_in_use;
static int64_t wall_at_start_us, boot_at_start_us;
static bool parted;                    /* the clocks, by now */
static bool asked, asked_parted, told; /* the alarm: on its way, with what, and what was confirmed last */

static int64_t gone_apart_us(void)
{
	double boot_gone_us = (double)(clock_boot_us(clock_in_use) - boot_at_start_us);
	int64_t expected_us = wall_at_start_us + (int64_t)(boot_gone_us * clock_in_use->rate);

	return clock_wall_us(clock_in_use) - expected_us;
}

static bool clocks_agree(void)
{
	int64_t apart_us = clock_in_use ? gone_apart_us() : 0;
	bool agree = llabs(apart_us) <= (int64_t)((double)PARTED_US * (clock_in_use ? clock_in_use->rate : 1));

	if (agree == !parted)
		return agree;
	parted = !agree;
	if (parted)
		log_event(LOG_CRITICAL,
			"the clock jumped by %lld s against the time since boot: no timer fires. Set the clock right, "
			"or "
			"restart cartbus-timer if it is right now",
			(long long)(apart_us / US_PER_S));
	else
		log_event(LOG_NOTICE, "wall and boot time agree again: timers fire");
	return agree;
}

static int64_t next_due_us(const struct state *state)
{
	return clocks_agree() ? timer.next_due_us(state) : INT64_MAX;
}

static void due(const struct state *state, struct turn *turn)
{
	if (clocks_agree())
		timer.due(state, turn);
}

static void alarm_answered(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)context, (void)seq, (void)reason;
	asked = false;
	if (result != SAID_UNKNOWN)
		told = asked_parted;
}

/* Says it until it is confirmed: the broker may be away while the clock jumps. */
static int64_t tell(void *context)
{
	Alarm alarm = { .raised = !clocks_agree(), .at_us = clock_wall_us(clock_in_use) };

	(void)context;
	if (asked || told == alarm.raised)
		return US_PER_S;
	TEXT_COPY(alarm.kind, "clock");
	TEXT_COPY(alarm.text, alarm.raised ? "the clock jumped: no timer fires" : "the clock is right again");
	TEXT_COPY(alarm.remedy, "set the clock right, or restart cartbus-timer if it is right now");
	asked_parted = alarm.raised;
	asked = runtime_say(runtime_in_use, &topic_alarm, &(struct say){ .shop = "cartbus", .key = alarm.kind }, NULL,
			&alarm, alarm_answered, NULL) == 0;
	return US_PER_S;
}

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	(void)config;
	runtime_in_use = runtime;
	wall_at_start_us = clock_wall_us(clock);
	boot_at_start_us = clock_boot_us(clock);
	clock_in_use = clock;
	loop_before_wait(loop, tell, NULL);
}

int main(int argc, char **argv)
{
	guarded = timer;
	guarded.next_due_us = next_due_us;
	guarded.due = due;
	return process_main(argc, argv,
		&(struct process){ .service = &guarded,
			.help = "Wakes the others up when they asked to be: named one-offs, and cron in each shop's "
				"time zone.",
			.keys = settings_keys,
			.start = start });
}
