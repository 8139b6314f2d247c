/*
 * asking.c: asks the storefront for an order that no webhook reported, before a reminder is mailed
 *
 * Promises:  only a reminder that would be mailed now is asked about. An order that is found is published as
 *            a cart.checkout, so that intake, waiter and every sender learn of it; its own webhook changes
 *            nothing later. If the storefront is silent, the log alone decides. The mail's record says which
 *            of the two decided.
 * Read next: services/carts/orders/orders.h, sender.c
 */
#include "services/carts/sender/asking.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/storefront/event.h"
#include <stdio.h>
#include <stdlib.h>

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
	if (ret->nobody)
		return;
	ret->word = storefront_hear(shop, cart, round, answer, &ret->order, ret->why);
	ret->end = storefront_refuses(answer)    ? STOREFRONT_END_REFUSED
		: ret->word == STOREFRONT_SILENT ? STOREFRONT_END_SILENT
						 : STOREFRONT_END_ANSWERED;
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
	char note[300];
	ret[0] = 0;
	if (asked->nobody)
		return;
	if (asked->word == STOREFRONT_SILENT)
		snprintf(note, sizeof(note), "; the storefront gave no answer, the log decided: %s", asked->why);
	else
		snprintf(note, sizeof(note), "; the storefront knows no order of it");
	text_copy(ret, 240, note); /* cuts it at a character */
}
