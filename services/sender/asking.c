/*
 * asking.c: before a reminder is mailed, the storefront is asked whether there is an order that nobody told us of
 *
 * Owns:      the table silent (shop -> nothing) of the service's state: whose alarm is raised.
 * Promises:  asked only about what would be mailed now; an order that is found is said as one, so that intake, waiter and every
 *            sender learn of it, and what its own webhook says later changes nothing; silence decides nothing, the log does, and
 *            the mail's record says which of them it was.
 * Read next: services/kit/storefront.h, sender.c
 */
#include "services/sender/asking.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/event.h"
#include <stdio.h>
#include <stdlib.h>

static const char KIND[] = "storefront";

bool asking_new(const struct shop *shop, const CartState *cart, int round, struct asking **ret)
{
	*ret = NULL;
	if (!shop || shop->storefront.platform == STOREFRONT_NONE)
		return false;
	struct asking *asking = memory_new(sizeof(*asking));
	asking->round = round;
	if (storefront_ask(shop, cart, round, &asking->http) == 0)
		*ret = asking;
	else
		asking_free(asking);
	return true;
}

void asking_free(struct asking *asking)
{
	if (asking)
		http_request_clear(&asking->http);
	free(asking);
}

void asking_hear(
	const struct shop *shop, const CartState *cart, int round, const struct http_answer *answer, struct asked *ret)
{
	*ret = (struct asked){ .nobody = !shop || shop->storefront.platform == STOREFRONT_NONE };
	if (!ret->nobody)
		ret->word = storefront_hear(shop, cart, round, answer, &ret->order, ret->why);
}

void asking_say_order(struct turn *turn, const CartCheckout *order)
{
	CartCheckout said = *order;
	const char *token = event_key(&said.ids);
	said.heard_us = turn_now_us(turn);
	if (said.bought_us > said.heard_us)
		said.bought_us = said.heard_us;
	SAY(turn, cart_checkout, &said, .shop = turn_message(turn)->shop, .key = *token ? token : said.ids.email_hash);
}

void asking_note(const struct asked *asked, char ret[240])
{
	ret[0] = 0;
	if (asked->nobody)
		return;
	if (asked->word == STOREFRONT_SILENT)
		snprintf(ret, 240, "; the storefront gave no answer, the log decided: %.150s", asked->why);
	else
		snprintf(ret, 240, "; the storefront knows no order of it");
}

/* ---- the alarm ---- */

void asking_remember_alarm(struct state *state, const struct said *said, const Alarm *alarm)
{
	if (strcmp(alarm->kind, KIND) != 0)
		return;
	if (alarm->raised)
		state_put_bytes(state, "silent", said->shop, KIND, bytes_of("raised"));
	else
		state_delete(state, "silent", said->shop, KIND);
}

void asking_say_alarm(const struct state *state, struct turn *turn, bool is_silent, const char *why)
{
	const char *shop = turn_message(turn)->shop;
	Alarm alarm = { .raised = is_silent, .at_us = turn_now_us(turn) };
	struct buffer unused = { 0 };
	bool was_silent = state_get_bytes(state, "silent", shop, KIND, &unused);
	buffer_free(&unused);
	if (was_silent == is_silent)
		return;
	TEXT_COPY(alarm.kind, KIND);
	if (is_silent)
		snprintf(alarm.text, sizeof(alarm.text), "the storefront of %s does not answer: %s", shop, why);
	else
		snprintf(alarm.text, sizeof(alarm.text), "the storefront of %s answers again", shop);
	if (is_silent)
		snprintf(alarm.remedy, sizeof(alarm.remedy),
			"look at [storefront] in its shop.conf and at the secret %s/api; until then mails go by what "
			"webhooks said",
			shop);
	SAY(turn, alarm, &alarm, .shop = shop, .key = alarm.kind, .version = (uint64_t)alarm.at_us);
}
