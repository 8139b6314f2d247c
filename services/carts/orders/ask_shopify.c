/*
 * ask_shopify.c: asks Shopify's GraphQL Admin API for orders of a cart
 *
 * One request with up to three named searches, so that no precedence of AND and OR has to be trusted. Tokens go in only if they are
 * plain; an address is quoted (kit/mail/address.h lets no quote or backslash through). Sources: shopify.dev, "orders" query and "API
 * search syntax".
 */
#include "bus/base/text.h"
#include "services/carts/orders/ask.h"
#include "services/kit/storefront/fields.h"
#include <errno.h>
#include <stdio.h>

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

int shopify_ask(const struct storefront_question *question, struct http_request *ret)
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

/* ---- the answer ---- */

/* A filter that it does not know, it leaves out, and says so: then any order would come. */
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

/* Found by one of its tokens, it is the cart's; by the address, if that and the time say so. */
static bool read_node(const struct storefront_question *question, int search, const json_t *node, CartCheckout *ret)
{
	CartIds ids = { 0 };
	*ret = (CartCheckout){ .platform = PLATFORM_SHOPIFY, .test = field_true(node, "test") };
	ret->kind = field_word(node, "cancelledAt") ? CHECKOUT_CANCELLED : CHECKOUT_BOUGHT;
	if (!field_id(node, "legacyResourceId", ids.order_id, sizeof(ids.order_id)) ||
		!field_moment(node, "createdAt", &ret->bought_us))
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

enum storefront_word shopify_hear(
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
