/*
 * asking.h: before a reminder is mailed, the storefront is asked whether there is an order that nobody told us of
 */
#ifndef CARTS_SENDER_ASKING_H
#define CARTS_SENDER_ASKING_H

#include "bus/actor/turn.h"
#include "proto/cart_topics.h"
#include "services/carts/orders/orders.h"
#include "services/kit/http/http.h"
#include "services/kit/storefront/alarm.h"

struct asking {
	struct http_request http; /* first: the driver takes the request for it */
	int round;
};

/* false: this shop's storefront is not to be asked. ret NULL and true: it is, and no question can be made of this cart. */
bool asking_new(const struct shop *shop, const CartState *cart, int round, struct asking **ret);
void asking_free(struct asking *asking);

struct asked {
	enum storefront_word word;
	enum storefront_end end; /* for the alarm */
	bool nobody;             /* no storefront is configured: word means nothing */
	CartCheckout order;
	char why[200]; /* of SILENT */
};
void asking_hear(
	const struct shop *shop, const CartState *cart, int round, const struct http_answer *answer, struct asked *ret);

/* The order, as a webhook would have said it: who hears of purchases hears of this one. */
void asking_say_order(struct turn *turn, const CartCheckout *order);
/* What the mail's record says of it; "" when nobody was asked. */
void asking_note(const struct asked *asked, char ret[240]);

#endif
