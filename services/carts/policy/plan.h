/*
 * plan.h: predicts when the next mail of a cart is sent
 *
 * It asks decision_make at the cart's next look, then at the look that this names, and so on until a mail is
 * sent: after the wait, the window and the quiet hours. It cannot know later events: an order, an opt-out,
 * another mail to the shopper, a limit on the number of mails.
 */
#ifndef CARTS_POLICY_PLAN_H
#define CARTS_POLICY_PLAN_H

#include "services/carts/policy/decision.h"

enum { PLAN_WORDS_MAX = 200 };

struct plan {
	/* 1, 2: the next reminder; 0: there is none, and `why` tells why */
	int step;
	/* in a shop that is only observed: it would be sent then, but is not */
	bool would;
	int64_t send_us;   /* when it is sent; 0 if step is 0 */
	int64_t window_us; /* at most one mail to the shopper in this time */
	/* until when the window and the quiet hours delay it; 0: they do not */
	int64_t window_until_us, quiet_until_us;
	/* window_until_us comes from a limit "at most N mails in a period" */
	bool is_capped;
	bool is_long; /* quiet_until_us is more than a day away */
	enum decision_why why;
	struct stopped stopped;       /* of WHY_STOPPED */
	enum eligibility eligibility; /* of WHY_NOT_CHASED */
	const char *unmailable;       /* of step 0: why a due reminder cannot be written; else NULL */
};

/* `facts`: the present facts; `look_us`: the time of the cart's next look. */
struct plan plan_next(const struct decision_facts *facts, int64_t look_us);
/*
 * Notes that the next reminder cannot be written, with the reason (a constant); NULL: it can. Without a next
 * reminder nothing changes.
 */
void plan_refuse(struct plan *plan, const char *unmailable);
/* true: the shop is paused, so no mail is sent; the rest is decided when it is resumed. */
bool plan_is_held(const struct plan *plan);
/*
 * Describes the delay, such as "quiet hours until 08:00", "one mail per 24 h to this address, until
 * 2026-11-22 14:05" or "the wait is over then", or why there is no reminder.
 */
const char *plan_words(const struct plan *plan, const char *zone, char ret[PLAN_WORDS_MAX]);

#endif
