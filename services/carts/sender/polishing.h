/*
 * polishing.h: before a reminder is mailed, a model may say its opening line better
 */
#ifndef CARTS_SENDER_POLISHING_H
#define CARTS_SENDER_POLISHING_H

#include "bus/actor/turn.h"
#include "services/carts/letter/polish.h"
#include "services/carts/sender/asking.h"
#include "services/carts/sender/may_send.h"
#include "services/kit/model/spend.h"

struct polishing {                  /* the request of the effect "model" */
	struct model_request model; /* first: the driver takes the request for it */
	struct asked asked;         /* what the storefront said before */
};

/* What came of asking, until it can be said. */
struct polished {
	bool was_asked;
	char line[POLISHED_MAX]; /* "": the owner's own goes */
	ModelUsed used;
};

/* NULL: it is not asked: no model, not wanted by this shop, no line to polish, or the month's budget is used up. */
struct polishing *polishing_new(const struct state *state, const struct finding *finding, const ReminderDue *due,
	const struct asked *asked, int64_t now_us);
void polishing_free(struct polishing *polishing);
void polishing_hear(const struct state *state, const struct finding *finding, const ReminderDue *due,
	const struct model_answer *answer, int64_t now_us, struct polished *ret);
/* In a turn that ends: what it cost, and whether its line went. Nothing if it was not asked. */
void polishing_say(struct turn *turn, const struct polished *polished);

#endif
