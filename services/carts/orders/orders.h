/*
 * orders.h: has this cart an order? What a storefront's API is asked, and what its answer means
 *
 * Pure: a request is made from a shop and a cart, an answer is read against them; who sends it is http.h. What is asked is less than
 * a webhook can say: has this cart, or since it was left this shopper, an order?
 *
 * Shopify: GraphQL Admin API, `orders` filtered by checkout_token, cart_token, and email with created_at; a filter that the API
 * warns about is no answer. WooCommerce: REST v3 orders since the cart was left; our plugin wrote the cart's id into them. Only when
 * a page of them is full, a second round asks for the address. BigCommerce: REST v2 orders by email since then.
 */
#ifndef CARTS_ORDERS_ORDERS_H
#define CARTS_ORDERS_ORDERS_H

#include "proto/cart_topics.h"
#include "services/kit/http/http.h"
#include "services/kit/shop/shop.h"

enum { STOREFRONT_ROUNDS = 2 };

enum storefront_word {
	STOREFRONT_NO_ORDER,
	STOREFRONT_ORDER,
	STOREFRONT_ASK_ON, /* this round alone does not tell */
	STOREFRONT_SILENT  /* no answer, or none that can be believed */
};

/* -ENOTSUP: nobody is to be asked. The request is the caller's to clear. `round` counts from 0. */
int storefront_ask(const struct shop *shop, const CartState *cart, int round, struct http_request *ret);
/* `answer` NULL: none within the deadline. ORDER: ret_order is what it bought (heard_us is the caller's); SILENT: ret_why. */
enum storefront_word storefront_hear(const struct shop *shop, const CartState *cart, int round,
	const struct http_answer *answer, CartCheckout *ret_order, char ret_why[200]);

#endif
