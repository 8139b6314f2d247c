/*
 * ask_bigcommerce.c: asks BigCommerce's REST API (v2) for orders of a cart
 *
 * By the address since the cart was left, and in a second round by the cart's id, since two filters of one request must both hold.
 * No order is a 204 without a body. Source: developer.bigcommerce.com, "Get All Orders".
 */
#include "bus/base/text.h"
#include "services/carts/orders/ask.h"
#include "services/kit/storefront/event.h"
#include "services/kit/storefront/fields.h"
#include <errno.h>
#include <stdio.h>

int bigcommerce_ask(const struct storefront_question *question, struct http_request *ret)
{
	const CartState *cart = question->cart;
	char since[STOREFRONT_TIME_MAX], word[3 * ADDRESS_MAX + 4];
	storefront_time(storefront_since_us(cart), since);
	bool by_cart = question->round > 0;
	if (!storefront_encode(by_cart ? cart->ids.cart_token : cart->ids.email, word, sizeof(word)))
		return -EINVAL;
	if (by_cart)
		return storefront_request(
			question->shop, "GET", ret, "/v2/orders?cart_id=%s&limit=%d", word, STOREFRONT_PAGE);
	return storefront_request(question->shop, "GET", ret,
		"/v2/orders?email=%s&min_date_created=%sZ&sort=date_created:desc&limit=%d", word, since,
		STOREFRONT_PAGE);
}

enum storefront_word bigcommerce_hear(
	const struct storefront_question *question, const json_t *body, CartCheckout *ret, char ret_why[200])
{
	if (!json_is_array(body)) {
		snprintf(ret_why, 200, "its answer is not a list of orders");
		return STOREFRONT_SILENT;
	}
	for (size_t i = 0; i < json_array_size(body); i++) {
		const json_t *order = json_array_get(body, i);
		CartIds ids;
		if (!bigcommerce_read_order(order, ret))
			continue;
		ids = ret->ids;
		if (storefront_matches(
			    question, &ids, field_word(field_object(order, "billing_address"), "email"), ret))
			return STOREFRONT_ORDER;
	}
	bool more = question->round == 0 && question->cart->ids.cart_token[0];
	return more ? STOREFRONT_ASK_ON : STOREFRONT_NO_ORDER;
}
