/*
 * timer.c: named timers, one-off and cron
 *
 * Hears:     nothing
 * Remembers: timer.set, timer.cancel, timer.fired, document, alarm
 * Says:      timer.set, timer.fired, tick.nightly, tick.monthly, tick.weekly, alarm, audit; and what systems register
 * Owns:      the answer to "what is due next?"
 * Promises:  firing publishes the requested message and the timer's tombstone in one turn, so a timer fires
 *            once; a set or cancel of an older version changes nothing; an overdue timer fires late, and a
 *            cron timer fires once for all the times that it missed. A timer whose setter has no right to its
 *            topic is not set, does not fire, and raises an alarm.
 * Fails by:  raising an alarm for a timer whose message it cannot read, and dropping that timer.
 * Read next: rows.c (timers ordered by due time), rights.h (the rights to set timers), ticks.c (every shop's
 *            nightly, weekly and monthly ticks)
 */
#include "services/platform/timer/timer.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/platform/timer/rights.h"
#include "services/platform/timer/rows.h"
#include "services/platform/timer/ticks.h"
#include <inttypes.h>
#include <pb_decode.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The hold: no timer fires while wall and boot time disagree
 *
 * Promises:  while they are more than a minute apart, no timer is due and none fires; timers that become due
 *            meanwhile fire when both agree again.
 */

#define PARTED_US US_PER_MINUTE

struct clock_hold clock_hold_from(const struct clock *clock)
{
	return (struct clock_hold){
		.clock = clock, .wall_at_start_us = clock_wall_us(clock), .boot_at_start_us = clock_boot_us(clock)
	};
}

int64_t clock_hold_jump_us(const struct clock_hold *hold)
{
	const struct clock *clock = hold ? hold->clock : NULL;

	if (!clock)
		return 0;
	double boot_gone_us = (double)(clock_boot_us(clock) - hold->boot_at_start_us);
	int64_t expected_us = hold->wall_at_start_us + (int64_t)(boot_gone_us * clock->rate);
	int64_t apart_us = clock_wall_us(clock) - expected_us;

	return llabs(apart_us) > (int64_t)((double)PARTED_US * clock->rate) ? apart_us : 0;
}

/* ---- firing ---- */

/* One search and one turn take so many timers: new work still comes in when a million are overdue. */
enum { FIRED_AT_ONCE = 16 };
/*
 * While older timers are overdue, younger ones fire in between: those of the last hour (this process may need
 * an hour to fold a million timers that came while it was away), of the last minute, and of the last second.
 */
static const int64_t since_us[] = { US_PER_HOUR, US_PER_MINUTE, US_PER_S };
enum { SHARES = 1 + sizeof(since_us) / sizeof(since_us[0]) };

/*
 * The payload must be a message of the topic, so no service can have nonsense published in this service's
 * name. A topic that no system had registered when the timer was set may have been registered since, so the
 * right is judged once more. Timers that v0.2.0 took name no setter.
 */
static bool say_what_was_asked(struct turn *turn, const char *shop, const TimerSet *set)
{
	const struct topic *topic =
		!*set->said_by || rights_allow(set->said_by, set->topic) ? rights_topic(set->topic) : NULL;
	pb_istream_t stream = pb_istream_from_buffer(set->payload.bytes, set->payload.size);
	_cleanup_free_ void *asked = topic ? memory_new(topic->size) : NULL;

	if (!topic || !pb_decode(&stream, topic->message, asked))
		return false;
	if (topic->message == &Tick_msg)
		((Tick *)asked)->due_us = set->due_us; /* only the timer knows when a cron timer was due */
	turn_publish(turn, topic,
		&(struct publish_options){ .shop = shop, .key = set->key, .trace = set->trace, .cause = set->cause },
		asked);
	return true;
}

static void say_unreadable(struct turn *turn, const char *shop, const TimerSet *set)
{
	Alarm alarm = { .raised = true, .at_us = turn_now_us(turn) };

	TEXT_COPY(alarm.kind, "timer-unreadable");
	snprintf(alarm.text, sizeof(alarm.text),
		"the timer %s of shop %s asks for a message that cannot be said: topic \"%s\"", set->name, shop,
		set->topic);
	TEXT_COPY(alarm.remedy,
		"the process that set this timer is of another version: update it, then set the timer again");
	SAY(turn, alarm, &alarm, .shop = shop, .key = alarm.kind);
}

static void say_fired(struct turn *turn, const char *shop, const TimerSet *set)
{
	TimerFired fired = { .version = set->version, .due_us = set->due_us, .fired_us = turn_now_us(turn) };

	TEXT_COPY(fired.name, set->name);
	TEXT_COPY(fired.topic, set->topic);
	SAY(turn, timer_fired, &fired, .shop = shop, .key = set->name, .version = set->version, .tombstone = true,
		.trace = set->trace, .cause = set->cause);
}

static void remember_set(struct state *state, const struct message_meta *said, const TimerSet *set)
{
	timers_remember_set(state, said, set);
	ticks_remember_set(state, said->shop, set);
}

static int64_t next_due_us(const struct state *state)
{
	struct timer_due again;
	int64_t refusals_us, timers_us;

	if (clock_hold_jump_us(timer_context(state)))
		return INT64_MAX;
	if (ticks_wanted(state) || timers_again(state, &again))
		return 0;
	refusals_us = refusals_due_us(state);
	timers_us = timers_next_due_us(state);
	return refusals_us < timers_us ? refusals_us : timers_us;
}

static void set_again(struct turn *turn, const char *shop, const TimerSet *set)
{
	TimerSet again = *set;

	again.trace[0] = '\0';
	again.cause = 0;
	SAY(turn, timer_set, &again, .shop = shop, .key = set->name, .version = set->version, .trace = set->trace,
		.cause = set->cause);
}

void timer_fire(struct turn *turn, const char *shop, const TimerSet *set)
{
	if (!say_what_was_asked(turn, shop, set))
		say_unreadable(turn, shop, set);
	say_fired(turn, shop, set);
	if (*set->cron) /* set it for its next time, since the tombstone ends its row */
		set_again(turn, shop, set);
}

/*
 * Gathers a share of the timers that are overdue longest, and one of each younger period that the shares
 * before did not reach.
 */
static int gather_due(const struct state *state, int64_t now_us, struct timer_due ret[SHARES * FIRED_AT_ONCE])
{
	int share = timers_due(state, 0, now_us, ret, FIRED_AT_ONCE), count = share;

	for (int i = 0; i < SHARES - 1 && share == FIRED_AT_ONCE; i++) {
		if (ret[count - 1].due_us >= now_us - since_us[i])
			continue;
		share = timers_due(state, now_us - since_us[i], now_us, ret + count, FIRED_AT_ONCE);
		count += share;
	}
	return count;
}

static void fire_due(const struct state *state, struct turn *turn)
{
	struct timer_due due[SHARES * FIRED_AT_ONCE];
	TimerSet set;
	int count;

	if (clock_hold_jump_us(timer_context(state)))
		return;
	if (ticks_wanted(state)) {
		ticks_say(state, turn);
		return;
	}
	if (timers_again(state, &due[0]) && timers_get(state, due[0].shop, due[0].name, &set)) {
		set_again(turn, due[0].shop, &set);
		return;
	}
	if (refusals_due_us(state) <= turn_now_us(turn)) {
		refusals_say(state, turn);
		return;
	}
	count = gather_due(state, turn_now_us(turn), due);
	for (int i = 0; i < count; i++) {
		if (timers_get(state, due[i].shop, due[i].name, &set))
			timer_fire(turn, due[i].shop, &set);
	}
}

const struct topic *const platform_timers[] = { &topic_tick_nightly, &topic_tick_monthly, &topic_tick_weekly, NULL };

const struct service timer = {
	.name = "timer",
	.exclusive = true,
	.remembers = REMEMBERING(REMEMBERS(timer_set, remember_set), REMEMBERS(timer_cancel, timers_remember_cancel),
		REMEMBERS(timer_fired, timers_remember_fired), REMEMBERS(document, ticks_remember_document),
		REMEMBERS(alarm, refusals_remember_alarm)),
	.says = SAYING(SAYS(timer_set), SAYS(timer_fired), SAYS(alarm), SAYS(audit)),
	.says_also = registered_timers,
	.next_due_us = next_due_us,
	.due = fire_due,
};
