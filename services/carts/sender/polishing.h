/* polishing.h: asks a model to improve the opening line of a reminder before it is mailed */
#ifndef CARTS_SENDER_POLISHING_H
#define CARTS_SENDER_POLISHING_H

#include "bus/actor/turn.h"
#include "services/carts/letter/polish.h"
#include "services/carts/sender/asking.h"
#include "services/carts/sender/may_send.h"
#include "services/kit/model/spend.h"

struct polishing {                  /* the request of the effect "model" */
	struct model_request model; /* must be first, because the driver uses the request as this struct */
	struct asked asked;         /* the storefront's earlier answer */
};

/* The result of the question, until it can be published. */
struct polished {
	bool was_asked;
	char line[POLISHED_MAX]; /* "": the owner's own line is used */
	ModelUsed used;
};

/*
 * NULL: the model is not asked, because there is no model, the shop does not want it, there is no line to
 * improve, or the month's budget is used up.
 */
struct polishing *polishing_new(const struct state *state, const struct finding *finding, const ReminderDue *due,
	const struct asked *asked, int64_t now_us);
void polishing_free(struct polishing *polishing);
void polishing_hear(const struct state *state, const struct finding *finding, const ReminderDue *due,
	const struct model_answer *answer, int64_t now_us, struct polished *ret);
/*
 * In a turn that ends: publishes the cost, and whether the line was used. Nothing if the model was not asked.
 */
void polishing_say(struct turn *turn, const struct polished *polished);

#endif
