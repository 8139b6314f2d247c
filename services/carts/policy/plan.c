/*
 * plan.c: when the next mail of a cart goes, as far as it can be known now
 *
 * Promises:  pure; it is the decision itself that is asked, at the moments at which it will be asked.
 * Read next: move.c
 */
#include "services/carts/policy/plan.h"
#include "services/kit/time/moment.h"
#include "services/kit/time/zone.h"
#include <stdio.h>

enum { LOOKS_MOST = 32 };

/* The cart waits, and what it waits for comes by itself. */
static bool passes(const struct move *move)
{
	return move->kind == MOVE_STILL_SHOPPING &&
		(move->why == WHY_TOO_EARLY || move->why == WHY_WINDOW || move->why == WHY_QUIET);
}

static void note_hold(struct plan *plan, const struct move *move, int64_t now_us)
{
	if (move->window_until_us) {
		plan->window_until_us = move->window_until_us;
		plan->is_capped = move->is_capped;
	}
	if (move->quiet_until_us) {
		plan->quiet_until_us = move->quiet_until_us;
		plan->is_long =
			move->quiet_until_us - (move->window_until_us ? move->window_until_us : now_us) > US_PER_DAY;
	}
}

/* A cart that was looked at while it was held back is looked at again when that is over, and would then seem never to have been. */
static void note_standing_hold(struct plan *plan, const struct move_facts *facts, int64_t look_us)
{
	struct move move = move_decide(facts);

	if (passes(&move) && move.next_us <= look_us)
		note_hold(plan, &move, facts->now_us);
}

struct plan plan_next(const struct move_facts *given, int64_t look_us)
{
	struct plan plan = { .window_us = given->window_us };
	struct move_facts facts = *given;
	struct move move;

	note_standing_hold(&plan, given, look_us);
	if (look_us > facts.now_us)
		facts.now_us = look_us;
	for (int i = 0; i < LOOKS_MOST; i++) {
		move = move_decide(&facts);
		if (!passes(&move) || move.next_us <= facts.now_us)
			break;
		note_hold(&plan, &move, facts.now_us);
		facts.now_us = move.next_us;
	}
	plan.why = move.why;
	plan.stopped = facts.stopped;
	plan.chase = facts.chase.chase;
	if (move.kind == MOVE_FIRST_REMINDER || move.kind == MOVE_SECOND_REMINDER) {
		plan.step = move.kind == MOVE_FIRST_REMINDER ? 1 : 2;
		plan.would = !move.say;
		plan.send_us = facts.now_us;
	}
	return plan;
}

void plan_refuse(struct plan *plan, const char *unmailable)
{
	if (!plan->step || !unmailable)
		return;
	plan->unmailable = unmailable;
	plan->step = 0;
	plan->send_us = 0;
	plan->would = false;
}

bool plan_is_held(const struct plan *plan)
{
	return plan->step == 0 && plan->why == WHY_STOPPED && plan->stopped.stop == STOP_PAUSED;
}

static const char *none_words(const struct plan *plan)
{
	if (plan->unmailable)
		return plan->unmailable;
	if (plan->why == WHY_STOPPED)
		return stop_name(plan->stopped.stop);
	if (plan->why == WHY_GREW_OLD)
		return "nobody to write to: it is closed if it gets no address in 30 days";
	if (plan->why == WHY_BAD_GREW_OLD)
		return "its address is no mail address: it is closed if it gets no other in 30 days";
	return plan->why == WHY_NOT_CHASED ? chase_text(plan->chase) : move_why_text(plan->why);
}

/* A window is an owner's "every 24 hours". */
static const char *window_words(int64_t us, char ret[SPAN_WORDS_MAX])
{
	if (us % US_PER_HOUR || us > 3 * US_PER_DAY)
		return span_words(us, ret);
	snprintf(ret, SPAN_WORDS_MAX, "%d h", (int)(us / US_PER_HOUR));
	return ret;
}

const char *plan_words(const struct plan *plan, const char *zone, char ret[PLAN_WORDS_MAX])
{
	struct local_time until = { 0 };
	char span[SPAN_WORDS_MAX];
	int len = 0;

	if (plan->step == 0) {
		snprintf(ret, PLAN_WORDS_MAX, "%s", none_words(plan));
		return ret;
	}
	if (plan->window_until_us && zone_local(zone, plan->window_until_us, &until) == 0)
		len = snprintf(ret, PLAN_WORDS_MAX, "%s%s to this address, until %04d-%02d-%02d %02d:%02d",
			plan->is_capped ? "as many mails as the rules allow" : "one mail per ",
			plan->is_capped ? "" : window_words(plan->window_us, span), until.year, until.month, until.day,
			until.hour, until.minute);
	if (plan->quiet_until_us && plan->is_long && zone_local(zone, plan->quiet_until_us, &until) == 0)
		len += snprintf(ret + len, PLAN_WORDS_MAX - (size_t)len, "%squiet until %04d-%02d-%02d %02d:%02d",
			len ? ", then " : "", until.year, until.month, until.day, until.hour, until.minute);
	else if (plan->quiet_until_us && zone_local(zone, plan->quiet_until_us, &until) == 0)
		len += snprintf(ret + len, PLAN_WORDS_MAX - (size_t)len, "%squiet hours until %02d:%02d",
			len ? ", then " : "", until.hour, until.minute);
	if (len == 0)
		snprintf(ret, PLAN_WORDS_MAX, "its wait is over then");
	return ret;
}
