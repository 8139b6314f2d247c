/*
 * outlook.c: when the next mail of a cart goes, and why then
 *
 * Owns:     a folder for what is folded meanwhile.
 * Promises: the waiter's own decision at the moments at which it will decide; quiet hours and windows in the shop's zone.
 * Read next: services/carts/rehearsal/forecast.c
 */
#include "services/cartbus/watch/outlook.h"
#include "services/cartbus/core/describe.h"
#include <stdio.h>

int outlook_begin(const struct command *command, const char *where, struct outlook *ret)
{
	char why[512];
	int ended;

	*ret = (struct outlook){ .command = command };
	ended = scratch_make(command, where, &ret->scratch);
	if (ended)
		return ended;
	ret->forecast = forecast_new(ret->scratch.folder, why);
	if (ret->forecast)
		return EXIT_FINE;
	complain(command, "%s: %s; --scratch names another folder", ret->scratch.folder, why);
	outlook_end(ret);
	return EXIT_NO;
}

void outlook_end(struct outlook *outlook)
{
	forecast_free(outlook->forecast);
	outlook->forecast = NULL;
	if (outlook->scratch.folder[0])
		scratch_remove(&outlook->scratch);
	outlook->scratch.folder[0] = '\0';
}

void outlook_hear(struct outlook *outlook, const struct entry *entry)
{
	const struct message_meta said = entry_said(entry);

	forecast_hear(outlook->forecast, &said, entry->payload);
}

static const char *step_name(int step)
{
	return step == 1 ? "first reminder" : "second reminder";
}

static bool ask(const struct outlook *outlook, const char *shop, const TimerSet *timer, struct foreseen *ret)
{
	return forecast_ask(outlook->forecast, shop, timer, clock_wall_us(&outlook->command->clock), ret);
}

static const char *why_of(const struct foreseen *foreseen, const char *zone, char ret[PLAN_WORDS_MAX])
{
	char since[40];

	if (!foreseen->with_sender)
		return plan_words(&foreseen->plan, zone, ret);
	describe_time(zone, foreseen->since_us, since);
	snprintf(ret, PLAN_WORDS_MAX, "decided at %s, and with the sender since", since);
	return ret;
}

bool outlook_line(const struct outlook *outlook, const char *shop, const char *zone, const TimerSet *timer,
	struct outlook_line *ret)
{
	struct foreseen foreseen;
	char why[PLAN_WORDS_MAX];

	if (!ask(outlook, shop, timer, &foreseen))
		return false;
	why_of(&foreseen, zone, why);
	ret->comes = foreseen.with_sender || foreseen.plan.step || plan_is_held(&foreseen.plan);
	if (foreseen.with_sender) {
		snprintf(ret->at, sizeof(ret->at), "now");
		snprintf(ret->words, sizeof(ret->words), "%s (%s)", step_name(foreseen.with_sender), why);
	} else if (plan_is_held(&foreseen.plan)) {
		snprintf(ret->at, sizeof(ret->at), "when it is resumed");
		snprintf(ret->words, sizeof(ret->words), "no reminder goes meanwhile: the shop is paused");
	} else if (foreseen.plan.step == 0) {
		snprintf(ret->at, sizeof(ret->at), "never");
		snprintf(ret->words, sizeof(ret->words), "no reminder is to come: %s", why);
	} else {
		describe_time(zone, foreseen.plan.send_us, ret->at);
		snprintf(ret->words, sizeof(ret->words), "%s%s (%s)", foreseen.plan.would ? "only observed: " : "",
			step_name(foreseen.plan.step), why);
	}
	return true;
}

json_t *outlook_json(const struct outlook *outlook, const char *shop, const char *zone, const TimerSet *timer)
{
	struct foreseen foreseen;
	char why[PLAN_WORDS_MAX], at[40] = "";
	int step;

	if (!ask(outlook, shop, timer, &foreseen))
		return NULL;
	step = foreseen.with_sender ? foreseen.with_sender : foreseen.plan.step;
	if (!foreseen.with_sender && step)
		describe_time(zone, foreseen.plan.send_us, at);
	return json_pack("{s:i,s:I,s:s,s:b,s:b,s:s}", "step", step, "at_us",
		(json_int_t)(foreseen.with_sender ? foreseen.since_us : foreseen.plan.send_us), "at", at, "observed",
		(int)(!foreseen.with_sender && foreseen.plan.would), "with_sender", (int)(foreseen.with_sender > 0),
		"why", why_of(&foreseen, zone, why));
}
