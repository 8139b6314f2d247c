/*
 * ask.h: what the platforms' APIs have in common
 *
 * Inside this library only.
 */
#ifndef CARTS_ORDERS_ASK_H
#define CARTS_ORDERS_ASK_H

#include "services/carts/orders/orders.h"
#include "services/kit/storefront/api.h"
#include <jansson.h>

enum { STOREFRONT_PAGE = 100 };

struct storefront_question {
	const struct shop *shop;
	const CartState *cart;
	int round;
};

int shopify_ask(const struct storefront_question *question, struct http_request *ret);
int woocommerce_ask(const struct storefront_question *question, struct http_request *ret);
int bigcommerce_ask(const struct storefront_question *question, struct http_request *ret);

enum storefront_word shopify_hear(
	const struct storefront_question *question, const json_t *body, CartCheckout *ret, char ret_why[200]);
enum storefront_word woocommerce_hear(
	const struct storefront_question *question, const json_t *body, CartCheckout *ret, char ret_why[200]);
enum storefront_word bigcommerce_hear(
	const struct storefront_question *question, const json_t *body, CartCheckout *ret, char ret_why[200]);

/* The oldest order that can be this cart's; a minute for clocks that differ. */
int64_t storefront_since_us(const CartState *cart);
/* Is this order the cart's by an id, or by the address since the cart was left? Then ret_order says so much and no more. */
bool storefront_matches(
	const struct storefront_question *question, const CartIds *order, const char *email, CartCheckout *ret);

#endif
