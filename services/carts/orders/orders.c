/*
 * orders.c: has this cart an order? What a storefront's API is asked, for every platform
 *
 * Promises:  pure; what is not a whole, well formed answer of the kind that was asked for is silence, never "no order".
 * Read next: ask_shopify.c, ask_woocommerce.c, ask_bigcommerce.c; services/carts/sender/asking.c (who asks)
 */
#include "services/carts/orders/orders.h"
#include "bus/base/text.h"
#include "services/carts/orders/ask.h"
#include "services/carts/policy/change.h"
#include "services/carts/policy/join.h"
#include "services/carts/policy/purchases.h"
#include <errno.h>
#include <stdio.h>

int64_t storefront_since_us(const CartState *cart)
{
	int64_t first_us = cart->first_seen_us && cart->first_seen_us < cart->abandoned_us ? cart->first_seen_us
											   : cart->abandoned_us;
	return first_us > CLOCKS_DIFFER_US ? first_us - CLOCKS_DIFFER_US : 0;
}

static bool is_by_id(const CartState *cart, const CartIds *order)
{
	bool shares = join_same_cart(&cart->ids, order);
	for (int i = 0; !shares && i < cart->also_count; i++)
		shares = join_same_cart(&cart->also[i], order);
	for (int i = 0; !shares && i < cart->merged_from_count; i++)
		shares = strcmp(cart->merged_from[i], order->cart_id) == 0;
	return shares;
}

bool storefront_matches(
	const struct storefront_question *question, const CartIds *order, const char *email, CartCheckout *ret)
{
	const CartState *cart = question->cart;
	char normalised[ADDRESS_MAX + 1];
	bool same_person =
		email && address_normalise(email, normalised) == 0 && strcmp(normalised, cart->ids.email) == 0;
	bool by_id = is_by_id(cart, order);
	if (!by_id && (!same_person || ret->bought_us + CLOCKS_DIFFER_US < cart->abandoned_us))
		return false;
	ret->has_ids = true;
	ret->ids = by_id ? *order : (CartIds){ 0 };
	TEXT_COPY(ret->ids.order_id, order->order_id);
	ret->ids.email[0] = 0;
	TEXT_COPY(ret->ids.email_hash, same_person ? cart->ids.email_hash : "");
	return payment_of(question->shop, ret).meaning == PAYMENT_BOUGHT;
}

int storefront_ask(const struct shop *shop, const CartState *cart, int round, struct http_request *ret)
{
	const struct storefront_question question = { shop, cart, round };
	*ret = (struct http_request){ 0 };
	switch (shop->storefront.platform) {
	case STOREFRONT_NONE:
		return -ENOTSUP;
	case STOREFRONT_SHOPIFY:
		return shopify_ask(&question, ret);
	case STOREFRONT_WOOCOMMERCE:
		return woocommerce_ask(&question, ret);
	case STOREFRONT_BIGCOMMERCE:
		return bigcommerce_ask(&question, ret);
	}
	return -ENOTSUP;
}

static enum storefront_word hear_body(
	const struct storefront_question *question, const json_t *body, CartCheckout *ret, char ret_why[200])
{
	switch (question->shop->storefront.platform) {
	case STOREFRONT_NONE:
		break;
	case STOREFRONT_SHOPIFY:
		return shopify_hear(question, body, ret, ret_why);
	case STOREFRONT_WOOCOMMERCE:
		return woocommerce_hear(question, body, ret, ret_why);
	case STOREFRONT_BIGCOMMERCE:
		return bigcommerce_hear(question, body, ret, ret_why);
	}
	return STOREFRONT_SILENT;
}

static json_t *parse(const struct shop *shop, const struct http_answer *answer, json_error_t *ret_error)
{
	if (answer->status == 204 && shop->storefront.platform == STOREFRONT_BIGCOMMERCE)
		return json_array(); /* its empty list */
	return json_loadb(
		answer->body.len ? answer->body.data : "", answer->body.len, JSON_REJECT_DUPLICATES, ret_error);
}

enum storefront_word storefront_hear(const struct shop *shop, const CartState *cart, int round,
	const struct http_answer *answer, CartCheckout *ret_order, char ret_why[200])
{
	const struct storefront_question question = { shop, cart, round };
	json_error_t error;
	ret_why[0] = 0;
	*ret_order = (CartCheckout){ 0 };
	if (!answer || answer->end != HTTP_ANSWERED || (answer->status != 200 && answer->status != 204)) {
		snprintf(ret_why, 200, "%s", answer ? answer->words : "no answer within the deadline");
		return STOREFRONT_SILENT;
	}
	json_t *body = parse(shop, answer, &error);
	if (!body) {
		snprintf(ret_why, 200, "its answer is not JSON (line %d)", error.line);
		return STOREFRONT_SILENT;
	}
	enum storefront_word word = hear_body(&question, body, ret_order, ret_why);
	json_decref(body);
	return word;
}
