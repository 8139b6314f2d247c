/*
 * spend.h: the cost of models and mails this month, of all shops together, and the rest of the budget
 *
 * Folded from model.used and send.claim. A month is a calendar month in UTC. The budget limits only questions
 * to models; mails are sent at any cost and are only counted. Processes that ask at the same moment do not
 * see each other's questions, so these may exceed the budget.
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
struct budget budget_of(const struct config *config); /* die()s on an invalid configuration */
int64_t spend_nano_usd(const struct budget *budget, const struct spend *spend);
/* How much of the budget is used, in percent: the higher of money and tokens. A budget of 0 gives 100. */
int budget_used_percent(const struct budget *budget, const struct spend *spend);

/*
 * May a model be asked now, and what did an answer cost?
 *
 * The installation has one budget for all models and questions together. Each question is reported as
 * model.used, even if its words were not used.
 */

struct model_use {
	bool is_on;                     /* a model is configured for these questions */
	char model[MODEL_NAME_MAX + 1]; /* the name of [model NAME]; "": [model] */
	int64_t nano_usd_per_token_in, nano_usd_per_token_out;
	struct budget budget;
};
/* For questions of this name (struct model_request). */
struct model_use model_use_of(const struct models *models, const char *name, const struct config *config);
bool model_use_allows(const struct model_use *use, const struct state *state, int64_t now_us);

/*
 * Makes the report of one question. `answer` NULL: none came in time. `fault`: why its words are not used;
 * NULL: they are. The caller sets its time.
 */
ModelUsed model_use_told(
	const struct model_use *use, const struct model_answer *answer, const char *purpose, const char *fault);

#endif
