/* next_mail.c: when the next mail of a cart is sent, and why then */
#include "services/carts/words/next_mail.h"
#include "services/carts/words/describe.h"
#include <stdio.h>

static const char *step_name(int step)
{
	return step == 1 ? "first reminder" : "second reminder";
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

void next_mail_line(const struct foreseen *foreseen, const char *zone, struct next_mail_line *ret)
{
	char why[PLAN_WORDS_MAX];

	why_of(foreseen, zone, why);
	ret->comes = foreseen->with_sender || foreseen->plan.step || plan_is_held(&foreseen->plan);
	if (foreseen->with_sender) {
		snprintf(ret->at, sizeof(ret->at), "now");
		snprintf(ret->words, sizeof(ret->words), "%s (%s)", step_name(foreseen->with_sender), why);
	} else if (plan_is_held(&foreseen->plan)) {
		snprintf(ret->at, sizeof(ret->at), "when it is resumed");
		snprintf(ret->words, sizeof(ret->words), "no reminder goes meanwhile: the shop is paused");
	} else if (foreseen->plan.step == 0) {
		snprintf(ret->at, sizeof(ret->at), "never");
		snprintf(ret->words, sizeof(ret->words), "no reminder is to come: %s", why);
	} else {
		describe_time(zone, foreseen->plan.send_us, ret->at);
		snprintf(ret->words, sizeof(ret->words), "%s%s (%s)", foreseen->plan.would ? "only observed: " : "",
			step_name(foreseen->plan.step), why);
	}
}

json_t *next_mail_json(const struct foreseen *foreseen, const char *zone)
{
	char why[PLAN_WORDS_MAX], at[40] = "";
	int step = foreseen->with_sender ? foreseen->with_sender : foreseen->plan.step;

	if (!foreseen->with_sender && step)
		describe_time(zone, foreseen->plan.send_us, at);
	return json_pack("{s:i,s:I,s:s,s:b,s:b,s:s}", "step", step, "at_us",
		(json_int_t)(foreseen->with_sender ? foreseen->since_us : foreseen->plan.send_us), "at", at, "observed",
		(int)(!foreseen->with_sender && foreseen->plan.would), "with_sender", (int)(foreseen->with_sender > 0),
		"why", why_of(foreseen, zone, why));
}
