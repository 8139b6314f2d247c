/*
 * use.h: may a model be asked now, and what did it cost
 *
 * Of this installation, for all questions together. What was asked is told as model.used, whether or not its words were.
 */
#ifndef KIT_MODEL_USE_H
#define KIT_MODEL_USE_H

#include "services/kit/model/model.h"
#include "services/kit/model/spend.h"

struct model_use {
	bool is_on; /* one is configured */
	int64_t nano_usd_per_token_in, nano_usd_per_token_out;
	struct budget budget;
};
struct model_use model_use_of(const struct model_settings *settings, const struct config *config);
bool model_use_allows(const struct model_use *use, const struct state *state, int64_t now_us);

/* `answer`: NULL: none came in time. `fault`: why its words are not used; NULL: they are. Without a time yet. */
ModelUsed model_use_told(
	const struct model_use *use, const struct model_answer *answer, const char *purpose, const char *fault);

#endif
