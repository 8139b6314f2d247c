/* asking.h: asks the storefront for an unreported order before a reminder is mailed */
#ifndef CARTS_SENDER_ASKING_H
#define CARTS_SENDER_ASKING_H

#include "bus/actor/turn.h"
#include "proto/cart_topics.h"
#include "services/carts/orders/orders.h"
#include "services/kit/http/http.h"
#include "services/kit/storefront/alarm.h"

struct asking {
	struct http_request http; /* must be first, because the driver uses the request as this struct */
	int round;
};

/*
 * false: this shop's storefront is not asked. true with *ret NULL: it should be asked, but no question can be
 * made for this cart.
 */
bool asking_new(const struct shop *shop, const CartState *cart, int round, struct asking **ret);
void asking_free(struct asking *asking);

struct asked {
	enum storefront_word word;
	enum storefront_end end; /* for the alarm */
	bool nobody;             /* no storefront is configured, and `word` is invalid */
	CartCheckout order;
	char why[200]; /* the reason of SILENT */
};
void asking_hear(
	const struct shop *shop, const CartState *cart, int round, const struct http_answer *answer, struct asked *ret);

/* Publishes the order as a webhook would have done, for all services that hear purchases. */
void asking_say_order(struct turn *turn, const CartCheckout *order);
/* A note for the mail's record; "" if the storefront was not asked. */
void asking_note(const struct asked *asked, char ret[240]);

#endif
