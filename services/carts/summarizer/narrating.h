/*
 * narrating.h: a model is asked for a summary's paragraph
 */
#ifndef CARTS_SUMMARIZER_NARRATING_H
#define CARTS_SUMMARIZER_NARRATING_H

#include "bus/actor/turn.h"
#include "services/carts/report/figures.h"
#include "services/kit/model/spend.h"

struct narrating {                  /* the request of the effect "model" */
	struct model_request model; /* first: the driver takes the request for it */
	struct period period;       /* of the summary that it is for */
	bool more;                  /* others were missed as well */
};

/*
 * NULL: it is not asked: no model, not wanted by this shop, the month's budget is used up, or this summary failed once already, so
 * that a full disk costs one question and no more.
 */
struct narrating *narrating_new(const struct model_use *use, const struct state *state, const struct report *report,
	bool more, const struct turn *turn);
void narrating_free(void *request); /* takes NULL */

/* What came of asking, until it can be said. */
struct narrated {
	bool was_asked;
	char paragraph[MODEL_TEXT_MAX]; /* "": the template's goes */
	ModelUsed used;
};
void narrating_hear(const struct model_use *use, const struct report *report, const struct model_answer *answer,
	struct narrated *ret);
/* In a turn that ends: what it cost, and whether its words went. Nothing if it was not asked. */
void narrating_say(struct turn *turn, const struct narrated *narrated, const char *period);

#endif
