/*
 * reception.c: from a request to what it means
 *
 * Promises:  every request gets an answer that says in words what happened; a GET changes nothing; pages carry no address.
 * Read next: route.c, hook.c (webhooks), unsubscribe.c, action.c (the owner's links)
 */
#include "services/platform/gateway/reception.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/kit/web/return_link.h"
#include "services/kit/web/signed_link.h"
#include "services/platform/gateway/action.h"
#include "services/platform/gateway/feedback.h"
#include "services/platform/gateway/hook.h"
#include "services/platform/gateway/traceparent.h"
#include "services/platform/gateway/unsubscribe.h"
#include <inttypes.h>
#include <stdio.h>

enum { FORM_MOST = 16 * 1024, FEEDBACK_MOST = 256 * 1024 }; /* SNS sends no more than 256 KB */

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
	char idem[120], trace[TRACEPARENT_ROOM];
	struct publish_options how = { .shop = link->shop, .key = link->cart_id, .idem = idem };

	traceparent_new(trace);
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

/* A shopper gets back to the basket, also when the click cannot be counted. */
static bool receive_return(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish)
{
	const struct keyring *keys = secrets_link_keys(reception->secrets);
	struct signed_link link;

	if (!request->to ||
		return_link_read_with(keys, clock_wall_us(reception->clock), route->name, request->to, &link) < 0) {
		reception->counters->malformed++;
		unsubscribe_show(reception, PAGE_BAD_RETURN, request, answer);
		return false;
	}
	answer->proven = true;
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

static bool refuse_unknown(struct reception *reception, const struct route *route, struct answer *answer)
{
	if (route->entrance == ENTRANCE_WRONG_METHOD) {
		answer->allow = route->allow;
		return refuse(reception, 405, "this address does not understand that method", answer);
	}
	return refuse(reception, 404,
		"nothing is here; webhooks go to /hooks/SHOP/shopify, /hooks/SHOP/woocommerce or "
		"/hooks/SHOP/cart",
		answer);
}

bool reception_judge_head(
	struct reception *reception, const struct request *request, struct answer *answer, size_t *body_most)
{
	struct route route = route_find(request->method, request->path);

	switch (route.entrance) {
	case ENTRANCE_SHOPIFY:
	case ENTRANCE_WOOCOMMERCE:
	case ENTRANCE_GENERIC:
	case ENTRANCE_BIGCOMMERCE:
		return hook_judge_head(reception, &route, request, answer);
	case ENTRANCE_FEEDBACK:
		*body_most = FEEDBACK_MOST;
		return feedback_judge_head(reception, &route, request, answer);
	case ENTRANCE_WRONG_METHOD:
	case ENTRANCE_UNKNOWN:
		return refuse_unknown(reception, &route, answer);
	case ENTRANCE_PAGE:
	case ENTRANCE_OPTOUT:
	case ENTRANCE_ACTION_PAGE:
	case ENTRANCE_ACTION:
	case ENTRANCE_RETURN:
	case ENTRANCE_HEALTH:
		*body_most = FORM_MOST;
		return true;
	}
	return true;
}

bool reception_receive(
	struct reception *reception, const struct request *request, struct answer *answer, struct wish *wish)
{
	struct route route = route_find(request->method, request->path);

	switch (route.entrance) {
	case ENTRANCE_SHOPIFY:
	case ENTRANCE_WOOCOMMERCE:
	case ENTRANCE_GENERIC:
	case ENTRANCE_BIGCOMMERCE:
		return hook_receive(reception, &route, request, answer, wish);
	case ENTRANCE_PAGE:
	case ENTRANCE_OPTOUT:
		return unsubscribe_receive(reception, &route, request, answer, wish);
	case ENTRANCE_ACTION_PAGE:
	case ENTRANCE_ACTION:
		return action_receive(reception, &route, request, answer, wish);
	case ENTRANCE_FEEDBACK:
		return feedback_receive(reception, &route, request, answer, wish);
	case ENTRANCE_RETURN:
		return receive_return(reception, &route, request, answer, wish);
	case ENTRANCE_WRONG_METHOD:
	case ENTRANCE_UNKNOWN:
	case ENTRANCE_HEALTH: /* http.c knows how we are */
		break;
	}
	return refuse_unknown(reception, &route, answer);
}

static void finish_webhook(
	const struct wish *wish, enum door_end end, uint64_t seq, const char *why, struct answer *answer)
{
	char warning[300] = "";

	if (wish->is_answered && end != DOOR_REFUSED)
		return;
	buffer_clear(&answer->body);
	if (wish->doubt) /* a constant of ours, without a character that JSON would escape */
		snprintf(warning, sizeof(warning), ",\"warning\":\"%s\"", wish->doubt);
	answer->status = 200;
	answer->content_type = "application/json";
	switch (end) {
	case DOOR_ACCEPTED:
		buffer_printf(&answer->body, "{\"accepted\":%" PRIu64 "%s}\n", seq, warning);
		break;
	case DOOR_DUPLICATE:
		buffer_printf(&answer->body, "{\"duplicate_of\":%" PRIu64 "%s}\n", seq, warning);
		break;
	case DOOR_SPOOLED:
		buffer_printf(&answer->body, "{\"spooled\":true%s}\n", warning);
		break;
	case DOOR_REFUSED:
		answer_json_error(answer, 503, why);
		break;
	}
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
	if (wish->come_again) {
		answer_json_error(answer, 503, wish->come_again);
		return;
	}
	switch (wish->of) {
	case WISH_OPTOUT:
	case WISH_TAKE_BACK:
		unsubscribe_finish(reception, wish, end, answer);
		break;
	case WISH_ACTION:
		action_finish(reception, wish, end, answer);
		break;
	case WISH_WEBHOOK:
		finish_webhook(wish, end, seq, why, answer);
		break;
	}
}
