/*
 * shop.c: which shops there are, and what a shop may do: the switch of its mode, and Stop
 *
 * Promises:  the next version of a mode is said under a key of that version, as `cartbus shop mode` does it, so two people cannot both win. A
 *            pause of a higher priority is not lifted here. Stop needs no proof; everything that lets mails go again does.
 * Read next: services/kit/shop/mode.h
 */
#include "services/kit/shop/shop.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/console/frame.h"
#include "services/console/pages/pages.h"
#include "services/console/status.h"
#include "services/kit/shop/mode.h"
#include <stdio.h>

extern const struct markup shops_markup;

/* ---- the chooser ---- */

static unsigned query_shops(struct page_call *call, json_t *ret)
{
	json_t *shops = frame_shops(call->visitor), *shop;
	size_t i;

	json_array_foreach(shops, i, shop)
	{
		ShopStatus status;

		status_mode(call->state, json_string_value(json_object_get(shop, "shop")), &status);
		json_object_set_new(shop, "mode", json_string(mode_name(status.mode)));
	}
	json_object_set_new(ret, "shops", shops);
	return 0;
}

/* ---- the mode ---- */

/* `now` all zero: nothing was said yet. */
static void say_mode(struct page_call *call, const ShopStatus *now, ShopStatus *wanted)
{
	const ShopStatus *before = now->version > 0 ? now : NULL;
	Audit audit = { .at_us = call->now_us };
	char was[MODE_LINE_ROOM], is[MODE_LINE_ROOM], key[MODE_KEY_ROOM];

	wanted->at_us = call->now_us;
	wanted->resumes_to = mode_resumed(before);
	mode_follow(before, wanted);
	TEXT_COPY(wanted->who, call->person);
	TEXT_COPY(wanted->reason, page_field(call, "reason"));
	TEXT_COPY(audit.action, "shop_mode");
	TEXT_COPY(audit.who, call->person);
	TEXT_COPY(audit.grounds, wanted->reason);
	TEXT_COPY(audit.before, mode_line(before, was));
	TEXT_COPY(audit.after, mode_line(wanted, is));
	PAGE_SAY(call, audit, &audit, .shop = call->shop, .key = call->shop);
	PAGE_SAY(call, shop_status, wanted, .shop = call->shop, .key = call->shop, .version = wanted->version,
		.idem = mode_key(wanted, key));
	page_then(call, "/s/%s/", call->shop);
}

static unsigned judge_pause(struct page_call *call, const ShopStatus *now)
{
	if (now->mode == MODE_PAUSED && now->priority > STOP_PRIORITY)
		return page_refuse(call, 409,
			"%s was paused with priority %u by %s: cartbus shop mode with --priority %u lifts it",
			call->shop, now->priority, now->who, now->priority);
	return 0;
}

static unsigned act_mode(struct page_call *call)
{
	ShopStatus now, wanted = { .priority = 0 };
	unsigned status;

	status_mode(call->state, call->shop, &now);
	if (mode_named(page_field(call, "mode"), &wanted.mode) < 0 || wanted.mode == MODE_PAUSED)
		return page_refuse(call, 422, "a mode is one of observe, mail-me, live; Stop pauses a shop");
	if (wanted.mode == MODE_MAIL_ME && !*call->conf->owner)
		return page_refuse(call, 422, "mail-me needs `owner = ADDRESS` in [mail] of the shop's shop.conf");
	status = judge_pause(call, &now);
	if (!status)
		say_mode(call, &now, &wanted);
	return status;
}

static unsigned act_stop(struct page_call *call)
{
	ShopStatus now, wanted = { .mode = MODE_PAUSED, .priority = STOP_PRIORITY };

	status_mode(call->state, call->shop, &now);
	if (now.mode == MODE_PAUSED && now.priority >= STOP_PRIORITY) {
		page_then(call, "/s/%s/", call->shop); /* it is stopped already */
		return 0;
	}
	say_mode(call, &now, &wanted);
	return 0;
}

static unsigned act_resume(struct page_call *call)
{
	ShopStatus now, wanted = { .priority = STOP_PRIORITY };
	unsigned status;

	status_mode(call->state, call->shop, &now);
	if (now.mode != MODE_PAUSED)
		return page_refuse(call, 409, "%s is not stopped", call->shop);
	status = judge_pause(call, &now);
	wanted.mode = mode_resumed(&now);
	if (!status)
		say_mode(call, &now, &wanted);
	return status;
}

const struct page shop_pages[] = {
	{ "/", PAGE_READS, RIGHT_SIGNED_IN, .markup = &shops_markup, .query = query_shops, .title = "Shops" },
	{ "/s/<shop>/mode", PAGE_ACTS, RIGHT_MODE, .again = true, .act = act_mode },
	{ "/s/<shop>/stop", PAGE_ACTS, RIGHT_MODE, .act = act_stop },
	{ "/s/<shop>/resume", PAGE_ACTS, RIGHT_MODE, .again = true, .act = act_resume },
	{ .path = NULL },
};
