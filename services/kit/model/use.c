/* use.c: may a model be asked now, and what did it cost */
#include "services/kit/model/use.h"
#include "bus/base/text.h"

struct model_use model_use_of(const struct models *models, const char *name, const struct config *config)
{
	const struct model_settings *settings = models_find(models, name);
	struct model_use use = { .is_on = settings->provider != MODEL_NONE,
		.nano_usd_per_token_in = settings->nano_usd_per_token_in,
		.nano_usd_per_token_out = settings->nano_usd_per_token_out,
		.budget = budget_of(config) };

	TEXT_COPY(use.model, settings->name);
	return use;
}

bool model_use_allows(const struct model_use *use, const struct state *state, int64_t now_us)
{
	struct spend spend;

	if (!use->is_on)
		return false;
	spend = spend_of_month(state, now_us);
	return budget_used_percent(&use->budget, &spend) < 100;
}

ModelUsed model_use_told(
	const struct model_use *use, const struct model_answer *answer, const char *purpose, const char *fault)
{
	ModelUsed used = { .end = MODEL_SILENT };

	if (answer) {
		used.end = answer->answered ? MODEL_ANSWERED : answer->end;
		used.tokens_in = answer->tokens_in;
		used.tokens_out = answer->tokens_out;
		used.cost_nano_usd = answer->tokens_in * use->nano_usd_per_token_in +
			answer->tokens_out * use->nano_usd_per_token_out;
	}
	TEXT_COPY(used.purpose, purpose);
	TEXT_COPY(used.model, use->model);
	TEXT_COPY(used.outcome, fault ? fault : "used");
	return used;
}
