/*
 * storefront_inside.h: what the platforms' APIs have in common
 *
 * Inside services/kit/storefront*.c only.
 */
#ifndef KIT_STOREFRONT_INSIDE_H
#define KIT_STOREFRONT_INSIDE_H

#include "services/kit/storefront.h"
#include <jansson.h>

enum { STOREFRONT_TIME_MAX = 32, STOREFRONT_PAGE = 100 };

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

/* A request with the platform's way to show the secret, "Accept: application/json", and its deadline. */
int storefront_request(const struct shop *shop, const char *method, struct http_request *ret, const char *path_format,
	...) __attribute__((format(printf, 4, 5)));
void storefront_time(int64_t us, char ret[STOREFRONT_TIME_MAX]); /* 2026-11-21T02:00:00, UTC, without a zone */
/* A word as it stands in a query: percent-encoded. false: it does not fit. */
bool storefront_encode(const char *word, char *ret, size_t room);
/* The oldest order that can be this cart's; a minute for clocks that differ. */
int64_t storefront_since_us(const CartState *cart);
/* Is this order the cart's by an id, or by the address since the cart was left? Then ret_order says so much and no more. */
bool storefront_matches(
	const struct storefront_question *question, const CartIds *order, const char *email, CartCheckout *ret);
/* Does an order in this state count as bought, by the shop's map? */
bool storefront_counts(const struct shop *shop, const CartCheckout *order);

#endif
