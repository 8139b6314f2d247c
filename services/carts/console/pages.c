/*
 * pages.c: the rows of cart recovery's pages, and how their addresses are read
 *
 * Owns:      what a query or a form of these pages may say.
 * Promises:  a filter that cannot be understood is refused in words, and never ignored.
 * Read next: today.h, list.h; services/kit/console/page.h
 */
#include "services/carts/console/pages.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/carts/console/list.h"
#include "services/carts/console/one_cart.h"
#include "services/carts/console/today.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/money/money.h"
#include "services/kit/shop/shop.h"
#include "services/kit/time/zone.h"
#include <stdio.h>
#include <stdlib.h>

extern const struct markup today_markup, carts_markup, cart_markup;

static struct page_asked asked_of(const struct page_call *call)
{
	return (struct page_asked){
		.state = call->state, .shop = call->shop, .zone = call->zone, .now_us = call->now_us
	};
}

/* ---- today ---- */

static unsigned query_today(struct page_call *call, json_t *ret)
{
	struct page_asked asked = asked_of(call);

	today_show(&asked, call->conf->title, ret);
	return 0;
}

/* ---- the list of carts ---- */

static unsigned read_amount(
	struct page_call *call, const char *name, const char *currency, int64_t otherwise, int64_t *ret)
{
	const char *text = page_field(call, name);

	*ret = otherwise;
	if (!*text || money_parse(text, currency, ret) == 0)
		return 0;
	return page_refuse(call, 422, "\"%.40s\" is no amount of %s", text, currency);
}

static unsigned read_amounts(struct page_call *call, struct list_filter *ret)
{
	const char *currency = *page_field(call, "currency") ? page_field(call, "currency") : call->conf->currency;
	unsigned status;

	if (!*page_field(call, "least") && !*page_field(call, "most"))
		return 0;
	if (!TEXT_COPY(ret->currency, currency))
		return page_refuse(call, 422, "\"%.20s\" is no currency", currency);
	status = read_amount(call, "least", currency, 0, &ret->least_minor);
	return status ? status : read_amount(call, "most", currency, INT64_MAX, &ret->most_minor);
}

/* The first moment of a day of the shop, "2026-11-20", and `later` days on. */
static unsigned read_day(struct page_call *call, const char *name, int later, int64_t otherwise, int64_t *ret)
{
	const char *text = page_field(call, name);
	struct local_time day = { 0 };
	char rest;

	*ret = otherwise;
	if (!*text)
		return 0;
	if (sscanf(text, "%4d-%2d-%2d%c", &day.year, &day.month, &day.day, &rest) != 3 || day.month < 1 ||
		day.month > 12 || day.day < 1 || day.day > 31 || day.year < 1970)
		return page_refuse(call, 422, "\"%.40s\" is no day, as 2026-11-20", text);
	day.day += later;
	return zone_moment(call->zone, &day, ret) == 0 ? 0
						       : page_refuse(call, 422, "there is no such day: %.40s", text);
}

static unsigned read_filter(struct page_call *call, struct list_filter *ret)
{
	const char *word = page_field(call, "state");
	unsigned status;

	*ret = (struct list_filter){ .word = CART_WORDS, .most_minor = INT64_MAX, .to_us = INT64_MAX };
	if (*word && (ret->word = cart_word_named(word)) == CART_WORDS)
		return page_refuse(call, 422, "\"%.40s\" is no state of a cart", word);
	status = read_amounts(call, ret);
	status = status ? status : read_day(call, "from", 0, 0, &ret->from_us);
	return status ? status : read_day(call, "to", 1, INT64_MAX, &ret->to_us);
}

static json_t *filter_as_typed(const struct page_call *call)
{
	static const char *const names[] = { "state", "from", "to", "currency", "least", "most" };
	json_t *filter = json_object();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		json_object_set_new(filter, names[i], json_string(page_field(call, names[i])));
	return filter;
}

static unsigned query_carts(struct page_call *call, json_t *ret)
{
	struct page_asked asked = asked_of(call);
	struct list_filter filter;
	unsigned status = read_filter(call, &filter);

	if (status)
		return status;
	if (list_carts(&asked, &filter, call->key, page_field(call, "after"), ret) < 0)
		return page_refuse(call, 400, "this address belongs to another list: begin at its first page");
	json_object_set_new(ret, "shop", json_string(call->shop));
	json_object_set_new(ret, "filter", filter_as_typed(call));
	return 0;
}

/* ---- one cart ---- */

static unsigned query_cart(struct page_call *call, json_t *ret)
{
	struct page_asked asked = asked_of(call);
	json_t *acts = json_array();

	if (!one_cart_show(&asked, page_name(call, "cart"), ret)) {
		json_decref(acts);
		return page_refuse(call, 404, "there is no such cart, or the log has forgotten it");
	}
	if (page_may(call, RIGHT_ACT_CART)) {
		json_array_append_new(acts, json_string("write_off"));
		json_array_append_new(acts, json_string("suppress"));
	}
	json_object_set_new(ret, "shop", json_string(call->shop));
	json_object_set_new(ret, "acts", acts);
	return 0;
}

/* As `cartbus cart suppress` and `write-off` say it; intake records who asked, and what came of it. */
static unsigned act_on_cart(struct page_call *call, AdminVerb verb)
{
	const char *cart_id = page_name(call, "cart");
	AdminAction action = { .verb = verb, .at_us = call->now_us };
	struct cart_line line;

	if (!STATE_GET(call->state, cart_lines, call->shop, cart_id, &line))
		return page_refuse(call, 404, "there is no such cart, or the log has forgotten it");
	TEXT_COPY(action.cart_id, cart_id);
	TEXT_COPY(action.address_hash, line.email_hash);
	TEXT_COPY(action.who, call->person);
	TEXT_COPY(action.reason, page_field(call, "reason"));
	PAGE_SAY(call, admin_action, &action, .shop = call->shop, .key = cart_id);
	page_then(call, "/s/%s/carts/%s", call->shop, cart_id);
	return 0;
}

static unsigned act_write_off(struct page_call *call)
{
	return act_on_cart(call, ADMIN_WRITE_OFF);
}

static unsigned act_suppress(struct page_call *call)
{
	return act_on_cart(call, ADMIN_SUPPRESS_CART);
}

/* ---- the search ---- */

static unsigned act_find(struct page_call *call)
{
	_cleanup_(buffer_free_secret) struct buffer key = { 0 };
	char path[256], cart_id[LINE_ID_MAX];

	secret_path(call->config, "address.key", path);
	file_read_secret(path, &key); /* without it an address is not found, and everything else is */
	if (one_cart_find(call->state, call->shop, buffer_bytes(&key), page_field(call, "q"), cart_id) == 0)
		return page_refuse(call, 404,
			"nothing is called so: an address, a cart, a token, an order's or a customer's number is looked for");
	page_then(call, "/s/%s/carts/%s", call->shop, cart_id);
	return 0;
}

const struct page carts_pages[] = {
	{ "/s/<shop>/", PAGE_READS, RIGHT_SEE, .markup = &today_markup, .query = query_today, .menu = PAGE_MENU_SHOP,
		.title = "Today", .help = "owner.md" },
	{ "/s/<shop>/carts", PAGE_READS, RIGHT_SEE, .markup = &carts_markup, .query = query_carts,
		.menu = PAGE_MENU_SHOP, .title = "Carts", .help = "owner.md" },
	{ "/s/<shop>/carts/<cart>", PAGE_READS, RIGHT_SEE, .markup = &cart_markup, .query = query_cart, .title = "Cart",
		.help = "owner.md" },
	{ "/s/<shop>/carts/<cart>/write-off", PAGE_ACTS, RIGHT_ACT_CART, .act = act_write_off },
	{ "/s/<shop>/carts/<cart>/suppress", PAGE_ACTS, RIGHT_ACT_CART, .act = act_suppress },
	{ "/s/<shop>/find", PAGE_ACTS, RIGHT_SEE, .act = act_find },
	{ .path = NULL },
};
