/*
 * action.c: the owner's links of the nightly export
 *
 * Promises:  a GET shows what a link will do, and does nothing; a POST does it once: the link's id is the message's idempotency
 *            key, which the broker knows for days, and past that we know it from the actions that were said. What is done is
 *            audited as by "owner by link". A page names no address.
 * Fails by:  a page and a counter for each: 404 forged, cut or of a shop that is not here; 410 expired; 409 used; 503 when it
 *            cannot be known now whether it was used, or nothing could be recorded.
 * Read next: services/kit/web/admin_link.h, action_page.c
 */
#include "services/platform/gateway/action.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/base/text.h"
#include "services/platform/gateway/action_page.h"
#include "services/platform/gateway/hook.h"
#include "services/platform/gateway/page.h"
#include "services/platform/gateway/shop_face.h"
#include "services/platform/gateway/traceparent.h"
#include <stdio.h>

static void answer_view(const struct reception *reception, enum action_page page, unsigned status,
	const struct admin_link *link, int64_t used_us, struct answer *answer)
{
	struct shop_face face = { 0 };
	struct action_view view = { .link = link,
		.shop = face.title,
		.zone = face.zone,
		.locale = face.locale,
		.accent = face.accent,
		.used_us = used_us };

	if (page != ACTION_BAD_LINK)
		shop_face_read(reception->shops_folder, link->shop, &face);
	answer->status = status;
	answer->content_type = "text/html; charset=utf-8";
	action_page_write(page, &view, &answer->body);
}

/* When it was used, as far as we have heard; 0: not. */
static int64_t used_us(const struct reception *reception, const struct admin_link *link, const char *id)
{
	const struct state *state = reception->runtime ? runtime_state(reception->runtime) : NULL;

	return state ? (int64_t)state_number(state, "used", link->shop, id) : 0;
}

/* All that was ever said up to now has been heard. */
static bool has_heard_all(const struct reception *reception)
{
	return reception->runtime && runtime_phase(reception->runtime) == RUNTIME_READY;
}

/* One line without an address: it is kept for ever. */
static bool reason_fits(const char *reason)
{
	return reason[strspn(reason, " \t")] && !text_has_control(reason) && text_is_utf8(bytes_of(reason)) &&
		!strchr(reason, '@');
}

static int encode(struct reception *reception, const struct admin_link *link, const char *id, const char *reason,
	struct wish *wish)
{
	AdminAction action = { .verb = link->verb, .who = "owner by link", .at_us = clock_wall_us(reception->clock) };
	const char *target = link->cart_id[0] ? link->cart_id : link->address_hash;
	char idem[64], trace[TRACEPARENT_ROOM];
	struct publish_options how = { .shop = link->shop, .key = target, .idem = idem };

	traceparent_new(trace);
	snprintf(idem, sizeof(idem), "link:%s", id);
	TEXT_COPY(action.cart_id, link->cart_id);
	TEXT_COPY(action.address_hash, link->address_hash);
	TEXT_COPY(action.reason, reason);
	TEXT_COPY(action.link_id, id);
	TEXT_COPY(wish->shop, link->shop);
	wish->of = WISH_ACTION;
	wish->link = *link;
	wish->stop = link->verb != ADMIN_LIFT_SUPPRESSION;
	return message_encode(&topic_admin_action, &how, trace, action.at_us, &action, &wish->message);
}

/* true: `wish` is to be let in. */
static bool act(struct reception *reception, const struct admin_link *link, const char *id,
	const struct request *request, struct answer *answer, struct wish *wish)
{
	char yes[8], reason[ACTION_REASON_MAX] = "";
	bool needs_reason = link->verb == ADMIN_LIFT_SUPPRESSION;

	if (!form_value(request->body, "act", yes, sizeof(yes)) || strcmp(yes, "yes") != 0) {
		reception->counters->malformed++;
		answer_view(reception, ACTION_ASK, 400, link, 0, answer);
		return false;
	}
	if (needs_reason && (!form_value(request->body, "reason", reason, sizeof(reason)) || !reason_fits(reason))) {
		reception->counters->malformed++;
		answer_view(reception, ACTION_ASK_REASON, 400, link, 0, answer);
		return false;
	}
	if (has_heard_all(reception) && encode(reception, link, id, reason, wish) == 0)
		return true;
	reception->counters->refused++;
	answer_view(reception, ACTION_NOT_NOW, 503, link, 0, answer);
	return false;
}

bool action_receive(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish)
{
	struct bytes key = secrets_admin_key(reception->secrets);
	struct admin_link link;
	char id[ADMIN_LINK_ID + 1];
	int64_t at_us;

	if (key.len == 0 || admin_link_read(key, route->name, &link, id) < 0 ||
		!secrets_shop_is_there(reception->secrets, link.shop)) {
		reception->counters->links_forged++;
		answer_view(reception, ACTION_BAD_LINK, 404, NULL, 0, answer);
		return false;
	}
	answer->proven = true;
	at_us = used_us(reception, &link, id);
	if (at_us) {
		reception->counters->links_used++;
		answer_view(
			reception, ACTION_USED, route->entrance == ENTRANCE_ACTION ? 409 : 200, &link, at_us, answer);
		return false;
	}
	if (admin_link_expired(&link, clock_wall_us(reception->clock))) {
		reception->counters->links_expired++;
		answer_view(reception, ACTION_EXPIRED, 410, &link, 0, answer);
		return false;
	}
	if (route->entrance == ENTRANCE_ACTION)
		return act(reception, &link, id, request, answer, wish);
	answer_view(reception, ACTION_ASK, 200, &link, 0, answer);
	return false;
}

void action_finish(struct reception *reception, const struct wish *wish, enum door_end end, struct answer *answer)
{
	switch (end) {
	case DOOR_ACCEPTED:
	case DOOR_SPOOLED:
		reception->counters->actions++;
		answer_view(reception, ACTION_DONE, 200, &wish->link, 0, answer);
		break;
	case DOOR_DUPLICATE:
		reception->counters->links_used++;
		answer_view(reception, ACTION_USED, 409, &wish->link, 0, answer);
		break;
	case DOOR_REFUSED:
		answer_view(reception, ACTION_NOT_NOW, 503, &wish->link, 0, answer);
		break;
	}
}
