/*
 * polishing.c: asks a model for a better opening line before a reminder is mailed
 *
 * Promises:  a model is asked only for a reminder that would be mailed now, and before the claim. Its answer
 *            never decides whether a mail is sent. The cost is published when the mail ends, also without an
 *            outcome (no mail server, no claim). It is lost if the process dies or loses its session before.
 * Read next: services/carts/letter/polish.h, sender.c
 */
#include "services/carts/sender/polishing.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/letter/voice.h"
#include "services/carts/sender/sender.h"
#include "services/kit/documents/docs.h"
#include <stdlib.h>

/* The reminder with the fields that its opening line needs. */
static struct reminder reminder_of(
	const struct state *state, const struct finding *finding, const ReminderDue *due, int64_t now_us)
{
	return (struct reminder){ .shop = finding->shop,
		.speech = speech_of(state, finding->shop->name, due->cart.locale),
		.cart = &due->cart,
		.step = (int)due->step,
		.now_us = now_us,
		.to = "" };
}

struct polishing *polishing_new(const struct state *state, const struct finding *finding, const ReminderDue *due,
	const struct asked *asked, int64_t now_us)
{
	struct polishing *polishing;

	if (!finding->shop || !finding->shop->polish ||
		!model_use_allows(&sender_context(state)->polish, state, now_us))
		return NULL;
	polishing = memory_new(sizeof(*polishing));
	struct reminder reminder = reminder_of(state, finding, due, now_us);
	polishing->asked = *asked;
	if (polish_ask(&reminder, &polishing->model))
		return polishing;
	polishing_free(polishing);
	return NULL;
}

void polishing_free(struct polishing *polishing)
{
	if (polishing)
		model_request_clear(&polishing->model);
	free(polishing);
}

void polishing_hear(const struct state *state, const struct finding *finding, const ReminderDue *due,
	const struct model_answer *answer, int64_t now_us, struct polished *ret)
{
	static const struct model_answer none = { .words = "no answer within the deadline" };
	const char *fault = "the shop's configuration is gone";

	*ret = (struct polished){ .was_asked = true };
	if (finding->shop) {
		struct reminder reminder = reminder_of(state, finding, due, now_us);
		fault = polish_take(&reminder, answer ? answer : &none, ret->line);
	}
	ret->used = model_use_told(&sender_context(state)->polish, answer, POLISH_MODEL, fault);
	ret->used.step = due->step;
	TEXT_COPY(ret->used.cart_id, due->cart.ids.cart_id);
	if (fault)
		ret->line[0] = '\0';
}

void polishing_say(struct turn *turn, const struct polished *polished)
{
	ModelUsed used = polished->used;

	if (!polished->was_asked)
		return;
	used.at_us = turn_now_us(turn);
	SAY(turn, model_used, &used, .shop = turn_message(turn)->shop, .key = used.cart_id);
}
