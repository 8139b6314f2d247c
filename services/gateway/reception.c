/*
 * reception.c: from a request to what it means
 *
 * Promises:  every request gets an answer that says in words what happened; a GET changes nothing; pages carry no address.
 * Read next: route.c, hook.c (webhooks), page.c (unsubscribe)
 */
#include "services/gateway/reception.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/gateway/hook.h"
#include "services/gateway/page.h"
#include "services/kit/return_link.h"
#include "services/kit/shop.h"
#include "services/kit/signed_link.h"
#include <inttypes.h>
#include <stdio.h>

enum { SHOP_CONF_MOST = 64 * 1024 };

/* How the shop calls itself; its plain name while its configuration cannot be read. */
static void find_title(const struct reception *reception, const char *shop, char ret[100])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	static struct shop parsed; /* large */
	char path[512];

	text_copy(ret, 100, shop);
	snprintf(path, sizeof(path), "%s/%s/shop.conf", reception->shops_folder, shop);
	if (!shop_name_valid(shop) || file_read(path, SHOP_CONF_MOST, &text) < 0)
		return;
	if (shop_parse(buffer_text(&text), shop, path, &parsed, &error) == 0 && parsed.title[0])
		text_copy(ret, 100, parsed.title);
}

static void answer_page(
	const struct reception *reception, enum page page, unsigned status, const char *shop, struct answer *answer)
{
	char title[100];

	find_title(reception, shop, title);
	answer->status = status;
	answer->content_type = "text/html; charset=utf-8";
	page_write(page, title, &answer->body);
}

static int encode_optout(
	struct reception *reception, const struct signed_link *link, OptoutSource source, struct wish *wish)
{
	OptoutRequest asked = { .source = source, .heard_us = clock_wall_us(reception->clock) };
	char random[33], idem[64], trace[56];
	struct say how = { .shop = link->shop, .key = link->address_hash, .idem = idem };

	/* A key per request, not per link: after a suppression was lifted the same link must work again. */
	hook_trace(trace);
	text_random_name(random);
	snprintf(idem, sizeof(idem), "optout:%s", random);
	TEXT_COPY(asked.address_hash, link->address_hash);
	TEXT_COPY(asked.cart_id, link->cart_id);
	TEXT_COPY(wish->shop, link->shop);
	wish->stop = true;
	wish->page = true;
	return message_encode(
		&topic_optout_request, &how, trace, clock_wall_us(reception->clock), &asked, &wish->message);
}

static bool receive_link(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish)
{
	struct signed_link link;
	enum page_post posted;

	if (signed_link_read(secrets_link_key(reception->secrets), route->name, LINK_UNSUBSCRIBE, &link) < 0) {
		reception->counters->malformed++;
		answer_page(reception, PAGE_BAD_LINK, 404, "", answer);
		return false;
	}
	if (route->entrance == ENTRANCE_PAGE) {
		answer_page(reception, PAGE_ASK, 200, link.shop, answer);
		return false;
	}
	posted = page_posted(request_header(request, "Content-Type"), request->body);
	if (posted != POST_NOTHING &&
		encode_optout(reception, &link, posted == POST_ONE_CLICK ? OPTOUT_ONE_CLICK : OPTOUT_PAGE, wish) == 0)
		return true;
	reception->counters->malformed++;
	answer_page(reception, PAGE_ASK, 400, link.shop, answer);
	return false;
}

/* ---- the way back to the basket ---- */

/* A browser or mail program that looks ahead for somebody who may never come. */
static bool is_looking_ahead(const struct request *request)
{
	static const char *const names[] = { "Sec-Purpose", "Purpose", "X-Purpose", "X-Moz" };

	if (strcmp(request->method, "HEAD") == 0)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (request_header(request, names[i]))
			return true;
	return false;
}

/* One click a minute of one link is enough to know that it was followed. */
static int encode_click(struct reception *reception, const struct signed_link *link, struct wish *wish)
{
	LinkClicked clicked = { .step = (uint32_t)link->step, .at_us = clock_wall_us(reception->clock) };
	char idem[120], trace[56];
	struct say how = { .shop = link->shop, .key = link->cart_id, .idem = idem };

	hook_trace(trace);
	TEXT_COPY(clicked.cart_id, link->cart_id);
	snprintf(idem, sizeof(idem), "click:%s/%d/%" PRId64, link->cart_id, link->step, clicked.at_us / US_PER_MINUTE);
	return message_encode(&topic_link_clicked, &how, trace, clicked.at_us, &clicked, &wish->message);
}

static void answer_redirect(const char *location, struct answer *answer)
{
	answer->status = 302;
	answer->content_type = "text/plain; charset=utf-8";
	answer->location = location;
}

/* Whoever wants back to the basket gets there, whatever becomes of the count. */
static bool receive_return(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish)
{
	struct bytes key = secrets_link_key(reception->secrets);
	struct signed_link link;

	if (!request->to || return_link_read(key, route->name, request->to, &link) < 0) {
		reception->counters->malformed++;
		answer_page(reception, PAGE_BAD_RETURN, 404, "", answer);
		return false;
	}
	wish->location = request->to;
	if (!is_looking_ahead(request) && encode_click(reception, &link, wish) == 0)
		return true;
	answer_redirect(request->to, answer);
	return false;
}

static bool refuse(struct reception *reception, unsigned status, const char *words, struct answer *answer)
{
	reception->counters->malformed++;
	answer_json_error(answer, status, words);
	return false;
}

bool reception_receive(
	struct reception *reception, const struct request *request, struct answer *answer, struct wish *wish)
{
	struct route route = route_find(request->method, request->path);

	switch (route.entrance) {
	case ENTRANCE_SHOPIFY:
	case ENTRANCE_WOOCOMMERCE:
	case ENTRANCE_GENERIC:
		return hook_receive(reception, &route, request, answer, wish);
	case ENTRANCE_PAGE:
	case ENTRANCE_OPTOUT:
		return receive_link(reception, &route, request, answer, wish);
	case ENTRANCE_RETURN:
		return receive_return(reception, &route, request, answer, wish);
	case ENTRANCE_WRONG_METHOD:
		answer->allow = route.allow;
		return refuse(reception, 405, "this address does not understand that method", answer);
	case ENTRANCE_UNKNOWN:
		return refuse(reception, 404,
			"nothing is here; webhooks go to /hooks/SHOP/shopify, /hooks/SHOP/woocommerce or "
			"/hooks/SHOP/cart",
			answer);
	case ENTRANCE_HEALTH: /* http.c knows how we are */
		break;
	}
	return refuse(reception, 404, "nothing is here", answer);
}

static void finish_page(struct reception *reception, const struct wish *wish, enum door_end end, struct answer *answer)
{
	if (end == DOOR_REFUSED) {
		answer_page(reception, PAGE_NOT_NOW, 503, wish->shop, answer);
		return;
	}
	reception->counters->optouts++;
	answer_page(reception, PAGE_DONE, 200, wish->shop, answer);
}

void reception_finish(struct reception *reception, const struct wish *wish, enum door_end end, uint64_t seq,
	const char *why, struct answer *answer)
{
	if (wish->location) {
		reception->counters->clicks += end != DOOR_REFUSED;
		answer_redirect(wish->location, answer);
		return;
	}
	reception->counters->refused += end == DOOR_REFUSED;
	if (wish->page) {
		finish_page(reception, wish, end, answer);
		return;
	}
	answer->status = 200;
	answer->content_type = "application/json";
	switch (end) {
	case DOOR_ACCEPTED:
		buffer_printf(&answer->body, "{\"accepted\":%" PRIu64 "}\n", seq);
		break;
	case DOOR_DUPLICATE:
		buffer_printf(&answer->body, "{\"duplicate_of\":%" PRIu64 "}\n", seq);
		break;
	case DOOR_SPOOLED:
		buffer_add_text(&answer->body, "{\"spooled\":true}\n");
		break;
	case DOOR_REFUSED:
		answer_json_error(answer, 503, why);
		break;
	}
}
