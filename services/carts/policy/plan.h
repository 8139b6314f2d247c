/*
 * plan.h: when the next mail of a cart goes, as far as it can be known now
 *
 * decision_make, asked at the cart's next look, and at the look that it names then, until a mail goes: after the wait, the window and
 * the quiet hours. What may still happen (an order, an opt-out, another mail to the shopper, a limit on how many go) it cannot know.
 */
#ifndef CARTS_POLICY_PLAN_H
#define CARTS_POLICY_PLAN_H

#include "services/carts/policy/decision.h"

enum { PLAN_WORDS_MAX = 200 };

struct plan {
	int step;                                /* 1, 2: the reminder that is next; 0: none is, `why` says why */
	bool would;                              /* in a shop that is only observed: it would go then, and does not */
	int64_t send_us;                         /* when it goes; of step 0: 0 */
	int64_t window_us;                       /* at most one mail to the shopper in this time */
	int64_t window_until_us, quiet_until_us; /* what held it back longest, and until when; 0: nothing did */
	bool is_capped;                          /* window_until_us: by "at most so many in so long" */
	bool is_long;                            /* quiet_until_us: more than a day off */
	enum decision_why why;
	struct stopped stopped;       /* of WHY_STOPPED */
	enum eligibility eligibility; /* of WHY_NOT_CHASED */
	const char
		*unmailable; /* of step 0: a reminder would be due, and this is why it cannot be written; else NULL */
};

/* `facts` as they are now; `look_us`: when the cart is looked at next. */
struct plan plan_next(const struct decision_facts *facts, int64_t look_us);
/* A reminder that is next cannot be written, for this reason (a constant); NULL: it can. Without one that is next nothing changes. */
void plan_refuse(struct plan *plan, const char *unmailable);
/* No mail goes while the shop is paused; what is to come is decided when it is resumed. */
bool plan_is_held(const struct plan *plan);
/* "quiet hours until 08:00", "one mail per 24 h to this address, until 2026-11-22 14:05", "the wait is over then"; why there is none. */
const char *plan_words(const struct plan *plan, const char *zone, char ret[PLAN_WORDS_MAX]);

#endif
