/*
 * orders.c: asks the storefront's API, for every platform, if a cart has an order
 *
 * Promises:  pure. An answer that is incomplete, malformed or of another kind counts as silence, never as "no
 *            order".
 * Read next: services/carts/sender/asking.c (sends the question)
 */
#include "services/carts/orders/orders.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/policy/change.h"
#include "services/carts/policy/purchases.h"
#include "services/kit/storefront/api.h"
#include "services/kit/storefront/event.h"
#include "services/kit/storefront/fields.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

enum { STOREFRONT_PAGE = 100 };

struct storefront_question {
	const struct shop *shop;
	const CartState *cart;
	int round;
};

/* The earliest time of an order that can be this cart's; CLOCKS_DIFFER_US allows for different clocks. */
static int64_t storefront_since_us(const CartState *cart)
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

/*
 * true: the order is a purchase of this cart, by an id, or by the address since the cart was left. `ret` then
 * has only the ids that show this.
 */
static bool storefront_matches(
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

/*
 * BigCommerce's REST API (v2)
 *
 * The first round asks by the address since the cart was left, the second by the cart's id, because two
 * filters of one request must both hold. If there is no order, the answer is a 204 without a body. Source:
 * developer.bigcommerce.com, "Get All Orders".
 */

static int bigcommerce_ask(const struct storefront_question *question, struct http_request *ret)
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

static enum storefront_word bigcommerce_hear(
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

/*
 * Shopify's GraphQL Admin API
 *
 * One request has up to three named searches, so that nothing depends on the precedence of AND and OR. Only
 * plain tokens are inserted; an address is quoted (kit/mail/address.h accepts no quote or backslash).
 * Sources: shopify.dev, "orders" query and "API search syntax".
 */

static const char NODES[] = "nodes { legacyResourceId createdAt cancelledAt test displayFinancialStatus email "
			    "totalPriceSet { presentmentMoney { amount currencyCode } } }";

enum { BY_CHECKOUT, BY_CART, BY_EMAIL, SEARCHES };
static const char *const names[SEARCHES] = { "byCheckout", "byCart", "byEmail" };

static bool is_plain(const char *token)
{
	return *token && !token[strspn(token, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")];
}

static void searches_of(const CartState *cart, char ret[SEARCHES][400])
{
	char since[STOREFRONT_TIME_MAX];
	if (is_plain(cart->ids.checkout_token))
		snprintf(ret[BY_CHECKOUT], sizeof(ret[0]), "checkout_token:%s", cart->ids.checkout_token);
	if (is_plain(cart->ids.cart_token))
		snprintf(ret[BY_CART], sizeof(ret[0]), "cart_token:%s", cart->ids.cart_token);
	storefront_time(storefront_since_us(cart), since);
	if (cart->ids.email[0] && !strpbrk(cart->ids.email, "\"\\"))
		snprintf(ret[BY_EMAIL], sizeof(ret[0]), "email:\"%s\" AND created_at:>='%sZ'", cart->ids.email, since);
}

static int shopify_ask(const struct storefront_question *question, struct http_request *ret)
{
	char searches[SEARCHES][400] = { "" };
	struct buffer declared = { 0 }, asked = { 0 };
	json_t *variables = json_object();
	searches_of(question->cart, searches);
	for (int i = 0; i < SEARCHES; i++) {
		if (!searches[i][0])
			continue;
		buffer_printf(&declared, "%s$%s: String!", declared.len ? ", " : "", names[i]);
		buffer_printf(&asked, " %s: orders(first: 20, sortKey: CREATED_AT, reverse: true, query: $%s) { %s }",
			names[i], names[i], NODES);
		json_object_set_new(variables, names[i], json_string(searches[i]));
	}
	int r = storefront_request(
		question->shop, "POST", ret, "/admin/api/%s/graphql.json", question->shop->storefront.api_version);
	buffer_add(&asked, " }", 2);
	json_t *query = json_sprintf("query Orders(%s) {%s", buffer_text(&declared), buffer_text(&asked));
	json_t *body = json_pack("{s:o, s:o}", "query", query, "variables", variables);
	char *text = json_dumps(body, JSON_COMPACT);
	if (r == 0) {
		http_request_header(ret, "Content-Type", "application/json");
		buffer_add_text(&ret->body, text);
	}
	free(text);
	json_decref(body);
	buffer_free(&declared);
	buffer_free(&asked);
	return r;
}

/* Shopify ignores a filter that it does not know, with a warning. Then the answer may hold any order. */
static bool has_warnings(const json_t *body)
{
	const json_t *searches = field_list(field_object(body, "extensions"), "search");
	for (size_t i = 0; i < json_array_size(searches); i++)
		if (json_array_size(json_object_get(json_array_get(searches, i), "warnings")) > 0)
			return true;
	return false;
}

static void read_money(const json_t *node, CartCheckout *ret)
{
	const json_t *money = field_object(field_object(node, "totalPriceSet"), "presentmentMoney");
	if (field_currency(money, "currencyCode", ret->currency) != 1 ||
		field_money(money, "amount", ret->currency, &ret->total_minor) != 1)
		ret->total_minor = 0;
}

static void read_status(const json_t *node, CartCheckout *ret)
{
	field_text(node, "displayFinancialStatus", ret->payment_status, sizeof(ret->payment_status));
	for (char *at = ret->payment_status; *at; at++) /* as the webhook spells it */
		if (*at >= 'A' && *at <= 'Z')
			*at = (char)(*at - 'A' + 'a');
}

/*
 * An order that was found by a token is the cart's; one that was found by the address must match it and the
 * time.
 */
static bool read_node(const struct storefront_question *question, int search, const json_t *node, CartCheckout *ret)
{
	CartIds ids = { 0 };
	*ret = (CartCheckout){ .platform = PLATFORM_SHOPIFY, .test = field_true(node, "test") };
	ret->kind = field_word(node, "cancelledAt") ? CHECKOUT_CANCELLED : CHECKOUT_BOUGHT;
	if (!field_id(node, "legacyResourceId", ids.order_id, sizeof(ids.order_id)) ||
		!field_timestamp(node, "createdAt", &ret->bought_us))
		return false;
	if (search == BY_CHECKOUT)
		TEXT_COPY(ids.checkout_token, question->cart->ids.checkout_token);
	if (search == BY_CART)
		TEXT_COPY(ids.cart_token, question->cart->ids.cart_token);
	TEXT_COPY(ret->platform_topic, "api/orders");
	read_money(node, ret);
	read_status(node, ret);
	return storefront_matches(question, &ids, field_word(node, "email"), ret);
}

static enum storefront_word shopify_hear(
	const struct storefront_question *question, const json_t *body, CartCheckout *ret, char ret_why[200])
{
	const json_t *data = field_object(body, "data");
	char searches[SEARCHES][400] = { "" };
	if (!data || json_array_size(json_object_get(body, "errors")) > 0 || has_warnings(body)) {
		snprintf(ret_why, 200, "it did not answer what it was asked (errors or warnings in its answer)");
		return STOREFRONT_SILENT;
	}
	searches_of(question->cart, searches);
	for (int i = 0; i < SEARCHES; i++) {
		const json_t *nodes = field_list(field_object(data, names[i]), "nodes");
		if (searches[i][0] && !nodes) {
			snprintf(ret_why, 200, "its answer lacks %s", names[i]);
			return STOREFRONT_SILENT;
		}
		for (size_t n = 0; n < json_array_size(nodes); n++)
			if (read_node(question, i, json_array_get(nodes, n), ret))
				return STOREFRONT_ORDER;
	}
	return STOREFRONT_NO_ORDER;
}

/*
 * WooCommerce's REST API (v3)
 *
 * The first round asks for all orders since the cart was left, newest first: the order may have another
 * address than the cart, and be known only by the cart's id, which our plugin wrote into it. Only if that
 * page is full, the second round asks for orders with the address (`search` looks at billing addresses).
 * Source: woocommerce.github.io, REST API "List all orders".
 */

static const char FIELDS[] = "id,status,billing,customer_id,currency,total,meta_data,"
			     "date_created_gmt,date_paid_gmt,date_modified_gmt";

static int woocommerce_ask(const struct storefront_question *question, struct http_request *ret)
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
		!field_timestamp(order, "date_created_gmt", &created_us))
		return false;
	CartIds ids = event->checkout.ids;
	*ret = event->checkout;
	ret->bought_us = created_us;
	return storefront_matches(question, &ids, email, ret);
}

static enum storefront_word woocommerce_hear(
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

/* ---- the question and its answer, for each platform ---- */

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
		return json_array(); /* BigCommerce's empty list */
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
		text_copy(ret_why, 200, answer ? answer->words : "no answer within the deadline");
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
