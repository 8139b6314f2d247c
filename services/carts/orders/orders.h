/*
 * orders.h: asks a storefront's API if a cart has an order
 *
 * These functions are pure: they make a request from a shop and a cart, and read the answer; http.h sends it.
 * The question: does this cart have an order, or did this shopper order since the cart was left?
 *
 * Shopify: GraphQL Admin API, `orders` filtered by checkout_token, cart_token, and email with created_at; a
 * filter that the API warns about is no answer. WooCommerce: REST v3 orders since the cart was left; our
 * plugin wrote the cart's id into them. A second round asks for the address only if a page of orders is full.
 * BigCommerce: REST v2 orders by email since then.
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
	STOREFRONT_ASK_ON, /* this round does not tell; ask the next round */
	STOREFRONT_SILENT  /* no answer, or no valid one */
};

/*
 * Makes the request, which the caller must clear. -ENOTSUP: the shop has no storefront to ask. `round` counts
 * from 0.
 */
int storefront_ask(const struct shop *shop, const CartState *cart, int round, struct http_request *ret);
/*
 * Reads the answer; NULL: none came within the deadline. ORDER: ret_order has the order (the caller sets
 * heard_us). SILENT: ret_why gives the reason.
 */
enum storefront_word storefront_hear(const struct shop *shop, const CartState *cart, int round,
	const struct http_answer *answer, CartCheckout *ret_order, char ret_why[200]);

#endif
