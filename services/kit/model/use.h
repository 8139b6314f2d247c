/*
 * use.h: may a model be asked now, and what did it cost
 *
 * The budget is one, of this installation, for all models and questions together. What was asked is told as model.used, whether or not
 * its words were.
 */
#ifndef KIT_MODEL_USE_H
#define KIT_MODEL_USE_H

#include "services/kit/model/model.h"
#include "services/kit/model/spend.h"

struct model_use {
	bool is_on;                     /* one is configured for these questions */
	char model[MODEL_NAME_MAX + 1]; /* which: [model NAME]; "": [model] */
	int64_t nano_usd_per_token_in, nano_usd_per_token_out;
	struct budget budget;
};
/* Of the questions of this name (struct model_request). */
struct model_use model_use_of(const struct models *models, const char *name, const struct config *config);
bool model_use_allows(const struct model_use *use, const struct state *state, int64_t now_us);

/* `answer`: NULL: none came in time. `fault`: why its words are not used; NULL: they are. Without a time yet. */
ModelUsed model_use_told(
	const struct model_use *use, const struct model_answer *answer, const char *purpose, const char *fault);

#endif
