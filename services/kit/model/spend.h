/*
 * spend.h: what models and mails cost this month, of all shops together, and what is left of the budget
 *
 * Folded from model.used and send.claim. A month is a calendar month in UTC. The budget bounds what may be asked of a model, and
 * nothing else: mails go at any cost, they are only counted. Processes that ask at the same moment do not see one another's
 * questions, so the budget can be passed by what is asked at once.
 */
#ifndef KIT_MODEL_SPEND_H
#define KIT_MODEL_SPEND_H

#include "bus/actor/service.h"
#include "bus/base/config.h"
#include "proto/cart_topics.h"
#include "services/kit/model/model.h"

void spend_remember_model(struct state *state, const struct message_meta *said, const ModelUsed *used);
void spend_remember_claim(struct state *state, const struct message_meta *said, const SendClaim *claim);
void spend_remember_released(struct state *state, const struct message_meta *said, const ReminderOutcome *released);

struct spend {
	uint64_t tokens, mails;
	int64_t models_nano_usd;
};
struct spend spend_of_month(const struct state *state, int64_t now_us);

struct budget { /* [budget] of cartbus.conf */
	int64_t nano_usd, nano_usd_per_mail;
	uint64_t tokens;
};
struct budget budget_of(const struct config *config); /* die()s on what makes no sense */
int64_t spend_nano_usd(const struct budget *budget, const struct spend *spend);
/* The fuller of the two, in percent; of a budget of nothing 100. */
int budget_used_percent(const struct budget *budget, const struct spend *spend);

/*
 * Whether a model may be asked now, and what an answer cost
 *
 * The budget is one, of this installation, for all models and questions together. What was asked is told as model.used, whether or not
 * its words were.
 */

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
