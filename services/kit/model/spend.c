/*
 * spend.c: adds up the cost of models and mails in each month
 *
 * Owns:      the table spend (month -> struct spend) of a service's state, for the whole installation.
 * Promises:  each fact is counted once, in the month of its own time. A release takes back one mail in its own
 *            month, because it does not say when its claim was made. So a claim of a month's last moments that
 *            is released in the next month stays counted, and the next month counts one mail less if it has any.
 * Read next: spend.h, model.h
 */
#include "services/kit/model/spend.h"
#include "bus/base/clock.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

STATE_STRUCTS(spend, "spend", struct spend);

#define NANO 1e9

enum { MONTH_ROOM = 16 };

static void month_of(int64_t at_us, char ret[MONTH_ROOM])
{
	time_t seconds = at_us / US_PER_S;
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(ret, MONTH_ROOM, "%Y-%m", &utc);
}

static void add(struct state *state, int64_t at_us, const struct spend *more, int mails)
{
	struct spend row;
	char month[MONTH_ROOM];

	month_of(at_us, month);
	STATE_GET(state, spend, SHOP_OF_ALL, month, &row);
	row.tokens += more->tokens;
	row.models_nano_usd += more->models_nano_usd;
	if (mails > 0 || row.mails > 0)
		row.mails += (uint64_t)(int64_t)mails;
	STATE_PUT(state, spend, SHOP_OF_ALL, month, &row);
}

void spend_remember_model(struct state *state, const struct message_meta *said, const ModelUsed *used)
{
	(void)said;
	add(state, used->at_us,
		&(struct spend){ .tokens = (uint64_t)used->tokens_in + used->tokens_out,
			.models_nano_usd = used->cost_nano_usd },
		0);
}

void spend_remember_claim(struct state *state, const struct message_meta *said, const SendClaim *claim)
{
	(void)said;
	add(state, claim->claimed_us, &(struct spend){ 0 }, 1);
}

void spend_remember_released(struct state *state, const struct message_meta *said, const ReminderOutcome *released)
{
	(void)said;
	add(state, released->at_us, &(struct spend){ 0 }, -1);
}

struct spend spend_of_month(const struct state *state, int64_t now_us)
{
	struct spend row;
	char month[MONTH_ROOM];

	month_of(now_us, month);
	STATE_GET(state, spend, SHOP_OF_ALL, month, &row);
	return row;
}

static int64_t nano_usd(const struct config *config, const char *key)
{
	return llround(config_real(config, "budget", NULL, key) * NANO);
}

struct budget budget_of(const struct config *config)
{
	return (struct budget){ .nano_usd = nano_usd(config, "usd"),
		.nano_usd_per_mail = nano_usd(config, "usd-per-thousand-mails") / 1000,
		.tokens = (uint64_t)config_number(config, "budget", NULL, "tokens") };
}

int64_t spend_nano_usd(const struct budget *budget, const struct spend *spend)
{
	return spend->models_nano_usd + (int64_t)spend->mails * budget->nano_usd_per_mail;
}

static int percent(double used, double of)
{
	return of <= 0 ? 100 : (int)fmin(used * 100 / of, 1e6);
}

int budget_used_percent(const struct budget *budget, const struct spend *spend)
{
	int money = percent((double)spend_nano_usd(budget, spend), (double)budget->nano_usd);
	int tokens = percent((double)spend->tokens, (double)budget->tokens);

	return money > tokens ? money : tokens;
}

/* --- whether a model may be asked now, and the cost of an answer --- */

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
