/*
 * unsubscribe.c: the link at the foot of each mail
 *
 * Promises:  a GET changes nothing; a POST by a mailbox or by the page's button is an opt-out, and the page that then comes takes
 *            back what was said on it, and nothing that stands on the list for another reason. In the reader's language: the
 *            browser says which, else it is the shop's.
 * Fails by:  a page that says so: 404 for a link that is none, 400 for a form that is none, 503 when nothing was recorded.
 * Read next: page.c, services/platform/unsub/list.c (what becomes of it)
 */
#include "services/platform/gateway/unsubscribe.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/base/text.h"
#include "services/kit/web/signed_link.h"
#include "services/platform/gateway/hook.h"
#include "services/platform/gateway/shop_face.h"
#include "services/platform/gateway/traceparent.h"
#include <stdio.h>

static void answer_view(enum page page, unsigned status, const struct page_view *view, struct answer *answer)
{
	answer->status = status;
	answer->content_type = "text/html; charset=utf-8";
	page_write(page, view, &answer->body);
}

void unsubscribe_show(
	const struct reception *reception, enum page page, const struct request *request, struct answer *answer)
{
	const char *accept = request_header(request, "Accept-Language");

	(void)reception;
	answer_view(page, 404, &(struct page_view){ .texts = page_texts_for(accept, NULL), .shop = "" }, answer);
}

/* What the list says of this shopper, as far as we have heard. */
static bool listed(const struct reception *reception, const struct signed_link *link, Suppression *ret)
{
	const struct state *state = reception->runtime ? runtime_state(reception->runtime) : NULL;

	return state && state_get(state, "suppressed", link->shop, link->address_hash, &Suppression_msg, ret) &&
		!ret->lifted;
}

static int encode_optout(
	struct reception *reception, const struct signed_link *link, OptoutSource source, struct wish *wish)
{
	OptoutRequest asked = { .source = source, .heard_us = clock_wall_us(reception->clock) };
	char random[33], idem[64], trace[TRACEPARENT_ROOM];
	struct publish_options how = { .shop = link->shop, .key = link->address_hash, .idem = idem };

	/* A key per request, not per link: after a suppression was lifted the same link must work again. */
	traceparent_new(trace);
	text_random_name(random);
	snprintf(idem, sizeof(idem), "optout:%s", random);
	TEXT_COPY(asked.address_hash, link->address_hash);
	TEXT_COPY(asked.cart_id, link->cart_id);
	wish->stop = true;
	wish->of = WISH_OPTOUT;
	wish->undo_us = source == OPTOUT_PAGE ? asked.heard_us : 0;
	return message_encode(&topic_optout_request, &how, trace, asked.heard_us, &asked, &wish->message);
}

static int encode_take_back(
	struct reception *reception, const struct signed_link *link, int64_t undo_us, struct wish *wish)
{
	int64_t now_us = clock_wall_us(reception->clock);
	AdminAction action = { .verb = ADMIN_TAKE_BACK,
		.who = "shopper",
		.reason = "the shopper took it back",
		.at_us = now_us,
		.listed_by_us = undo_us < now_us ? undo_us : now_us };
	char random[33], idem[64], trace[TRACEPARENT_ROOM];
	struct publish_options how = { .shop = link->shop, .key = link->address_hash, .idem = idem };

	traceparent_new(trace);
	text_random_name(random);
	snprintf(idem, sizeof(idem), "undo:%s", random);
	TEXT_COPY(action.address_hash, link->address_hash);
	TEXT_COPY(action.cart_id, link->cart_id);
	wish->of = WISH_TAKE_BACK;
	wish->undo_us = undo_us;
	return message_encode(&topic_admin_action, &how, trace, now_us, &action, &wish->message);
}

static bool bad_form(struct reception *reception, const struct page_view *view, struct answer *answer)
{
	reception->counters->malformed++;
	answer_view(PAGE_ASK, 400, view, answer);
	return false;
}

static bool post(struct reception *reception, const struct signed_link *link, const struct request *request,
	const struct page_view *view, struct answer *answer, struct wish *wish)
{
	Suppression row;
	int64_t undo_us;

	switch (page_posted(request_header(request, "Content-Type"), request->body, &undo_us)) {
	case POST_NOTHING:
		break;
	case POST_BUTTON:
		if (encode_optout(reception, link, OPTOUT_PAGE, wish) == 0)
			return true;
		break;
	case POST_ONE_CLICK:
		if (encode_optout(reception, link, OPTOUT_ONE_CLICK, wish) == 0)
			return true;
		break;
	case POST_UNDO:
		if (listed(reception, link, &row) && row.source != OPTOUT_PAGE) {
			answer_view(PAGE_FIXED, 409, view, answer);
			return false;
		}
		if (encode_take_back(reception, link, undo_us, wish) == 0)
			return true;
		break;
	}
	return bad_form(reception, view, answer);
}

/* Who is on the list already sees so, and may take back what was said here. */
static void show(const struct reception *reception, const struct signed_link *link, struct page_view *view,
	struct answer *answer)
{
	Suppression row;
	bool done = listed(reception, link, &row);

	if (done && row.source == OPTOUT_PAGE)
		view->undo_us = clock_wall_us(reception->clock);
	answer_view(done ? PAGE_DONE : PAGE_ASK, 200, view, answer);
}

bool unsubscribe_receive(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish)
{
	struct signed_link link;
	struct shop_face face;
	struct page_view view = { .shop = face.title, .accent = face.accent };

	if (signed_link_read_with(secrets_link_keys(reception->secrets), clock_wall_us(reception->clock), route->name,
		    LINK_UNSUBSCRIBE, &link) < 0) {
		reception->counters->malformed++;
		unsubscribe_show(reception, PAGE_BAD_LINK, request, answer);
		return false;
	}
	answer->proven = true;
	shop_face_read(reception->shops_folder, link.shop, &face);
	view.texts = page_texts_for(request_header(request, "Accept-Language"), face.locale);
	if (route->entrance == ENTRANCE_PAGE) {
		show(reception, &link, &view, answer);
		return false;
	}
	wish->texts = view.texts;
	TEXT_COPY(wish->shop, link.shop);
	TEXT_COPY(wish->address_hash, link.address_hash);
	return post(reception, &link, request, &view, answer, wish);
}

void unsubscribe_finish(struct reception *reception, const struct wish *wish, enum door_end end, struct answer *answer)
{
	struct signed_link link = { 0 };
	struct shop_face face;
	struct page_view view = {
		.texts = wish->texts, .shop = face.title, .accent = face.accent, .undo_us = wish->undo_us
	};
	Suppression row;

	shop_face_read(reception->shops_folder, wish->shop, &face);
	if (end == DOOR_REFUSED) {
		view.undo_us = wish->of == WISH_TAKE_BACK ? wish->undo_us : 0;
		answer_view(PAGE_NOT_NOW, 503, &view, answer);
		return;
	}
	if (wish->of == WISH_TAKE_BACK) {
		reception->counters->taken_back++;
		answer_view(PAGE_BACK, 200, &view, answer);
		return;
	}
	reception->counters->optouts++;
	TEXT_COPY(link.shop, wish->shop);
	TEXT_COPY(link.address_hash, wish->address_hash);
	if (listed(reception, &link, &row) && row.source != OPTOUT_PAGE)
		view.undo_us = 0; /* it was on the list before, and stays there */
	answer_view(PAGE_DONE, 200, &view, answer);
}
