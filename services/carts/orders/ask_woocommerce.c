/*
 * ask_woocommerce.c: asks WooCommerce's REST API (v3) for orders of a cart
 *
 * First all orders since the cart was left, newest first, because the order may have another address than the cart and is known by
 * the cart's id that our plugin wrote into it; only when that page is full, those with the address (`search` looks at billing
 * addresses). Source: woocommerce.github.io, REST API "List all orders".
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/orders/ask.h"
#include "services/kit/storefront/event.h"
#include "services/kit/storefront/fields.h"
#include <errno.h>
#include <stdio.h>

static const char FIELDS[] = "id,status,billing,customer_id,currency,total,meta_data,"
			     "date_created_gmt,date_paid_gmt,date_modified_gmt";

int woocommerce_ask(const struct storefront_question *question, struct http_request *ret)
{
	char since[STOREFRONT_TIME_MAX], address[3 * ADDRESS_MAX + 4], search[sizeof(address) + 10] = "";
	storefront_time(storefront_since_us(question->cart), since);
	if (question->round > 0) {
		if (!storefront_encode(question->cart->ids.email, address, sizeof(address)))
			return -EINVAL;
		snprintf(search, sizeof(search), "&search=%s", address);
	}
	return storefront_request(question->shop, "GET", ret,
		"/wp-json/wc/v3/orders?after=%s&dates_are_gmt=true&per_page=%d&orderby=date&order=desc&_fields=%s%s",
		since, STOREFRONT_PAGE, FIELDS, search);
}

static bool read_one(
	const struct storefront_question *question, const json_t *order, struct event *event, CartCheckout *ret)
{
	const struct event_source source = {
		.shop = question->shop->name, .topic = "api/orders", .webhook_id = "", .heard_us = INT64_MAX / 2
	};
	const char *email = field_word(field_object(order, "billing"), "email");
	int64_t created_us;
	if (woocommerce_read_order(&source, order, event) != READ_CHECKOUT ||
		!field_moment(order, "date_created_gmt", &created_us))
		return false;
	CartIds ids = event->checkout.ids;
	*ret = event->checkout;
	ret->bought_us = created_us;
	return storefront_matches(question, &ids, email, ret);
}

enum storefront_word woocommerce_hear(
	const struct storefront_question *question, const json_t *body, CartCheckout *ret, char ret_why[200])
{
	if (!json_is_array(body)) {
		snprintf(ret_why, 200, "its answer is not a list of orders");
		return STOREFRONT_SILENT;
	}
	struct event *event = memory_new(sizeof(*event));
	bool found = false;
	for (size_t i = 0; !found && i < json_array_size(body); i++)
		found = read_one(question, json_array_get(body, i), event, ret);
	free(event);
	if (found)
		return STOREFRONT_ORDER;
	bool is_full = json_array_size(body) >= STOREFRONT_PAGE;
	return is_full && question->round + 1 < STOREFRONT_ROUNDS ? STOREFRONT_ASK_ON : STOREFRONT_NO_ORDER;
}
