/*
 * plan.c: predicts when the next mail of a cart is sent, as far as this can be known now
 *
 * Promises:  pure. It calls decision_make itself, with the times at which the waiter will call it.
 * Read next: decision.c
 */
#include "services/carts/policy/plan.h"
#include "services/kit/time/timestamp.h"
#include "services/kit/time/zone.h"
#include <stdio.h>

enum { LOOKS_MOST = 32 };

/* true: the cart waits only for time to pass. */
static bool passes(const struct decision *decision)
{
	return decision->kind == DECISION_STILL_SHOPPING &&
		(decision->why == WHY_TOO_EARLY || decision->why == WHY_WINDOW || decision->why == WHY_QUIET);
}

static void note_hold(struct plan *plan, const struct decision *decision, int64_t now_us)
{
	if (decision->window_until_us) {
		plan->window_until_us = decision->window_until_us;
		plan->is_capped = decision->is_capped;
	}
	if (decision->quiet_until_us) {
		plan->quiet_until_us = decision->quiet_until_us;
		plan->is_long =
			decision->quiet_until_us - (decision->window_until_us ? decision->window_until_us : now_us) >
			US_PER_DAY;
	}
}

/*
 * A cart that is held back has its next look at the end of the hold, when the decision no longer shows that
 * hold. So the hold is taken from a decision made now.
 */
static void note_standing_hold(struct plan *plan, const struct decision_facts *facts, int64_t look_us)
{
	struct decision decision = decision_make(facts);

	if (passes(&decision) && decision.next_us <= look_us)
		note_hold(plan, &decision, facts->now_us);
}

struct plan plan_next(const struct decision_facts *given, int64_t look_us)
{
	struct plan plan = { .window_us = given->window_us };
	struct decision_facts facts = *given;
	struct decision decision;

	note_standing_hold(&plan, given, look_us);
	if (look_us > facts.now_us)
		facts.now_us = look_us;
	for (int i = 0; i < LOOKS_MOST; i++) {
		decision = decision_make(&facts);
		if (!passes(&decision) || decision.next_us <= facts.now_us)
			break;
		note_hold(&plan, &decision, facts.now_us);
		facts.now_us = decision.next_us;
	}
	plan.why = decision.why;
	plan.stopped = facts.stopped;
	plan.eligibility = facts.eligibility.eligibility;
	if (decision.kind == DECISION_FIRST_REMINDER || decision.kind == DECISION_SECOND_REMINDER) {
		plan.step = decision.kind == DECISION_FIRST_REMINDER ? 1 : 2;
		plan.would = !decision.say;
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
	return plan->why == WHY_NOT_CHASED ? eligibility_text(plan->eligibility) : decision_why_text(plan->why);
}

/* Prints the length of a window as owners write it: "24 h". */
static const char *window_words(int64_t us, char ret[DURATION_WORDS_MAX])
{
	if (us % US_PER_HOUR || us > 3 * US_PER_DAY)
		return duration_words(us, ret);
	snprintf(ret, DURATION_WORDS_MAX, "%d h", (int)(us / US_PER_HOUR));
	return ret;
}

const char *plan_words(const struct plan *plan, const char *zone, char ret[PLAN_WORDS_MAX])
{
	struct local_time until = { 0 };
	char span[DURATION_WORDS_MAX];
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
