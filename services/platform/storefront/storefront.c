/*
 * storefront.c: fetches from storefronts the data that their webhooks do not have
 *
 * Hears:     storefront.task, gateway.away
 * Remembers: document, alarm
 * Says:      cart.changed, cart.checkout, storefront.task, audit, alarm
 * Promises:  its messages are those that the webhook would have caused, in the same form: an order or a cart
 *            that comes twice changes nothing. A page and the task for the next page are one turn: when the
 *            process dies, no page is left out.
 * Fails by:  asking again later while the storefront does not answer or asks for a pause, with an alarm if it
 *            refuses our key; a dead letter for a request that it will never answer, or if shop.conf gives no
 *            API.
 * Read next: pages.c, services/kit/storefront/api.h
 */
#include "services/platform/storefront/storefront.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/documents/docs.h"
#include "services/kit/storefront/alarm.h"
#include "services/platform/storefront/pages.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ASK_DEADLINE_US US_PER_MINUTE /* above the request's own */
#define SILENT_US (30 * US_PER_S)     /* until it is asked again */
#define NO_SHOP_US (5 * US_PER_S)
#define FORBIDDEN_US (10 * US_PER_MINUTE)
#define RETRY_MOST_US US_PER_HOUR
#define OLD_NEWS_US US_PER_DAY              /* an absence that ended longer ago needs no request any more */
#define BEFORE_AWAY_US (15 * US_PER_MINUTE) /* for events that were under way when the gateway went away */

struct storefront storefront_of(struct bytes address_key)
{
	struct storefront context = { .address_key_len = address_key.len };

	if (context.address_key_len > sizeof(context.address_key))
		context.address_key_len = sizeof(context.address_key);
	memcpy(context.address_key, address_key.data, context.address_key_len);
	return context;
}

struct fetch {
	struct http_request http; /* first, because the driver takes it */
};

static void fetch_free(void *request)
{
	struct fetch *fetch = request;
	http_request_clear(&fetch->http);
	free(fetch);
}

static const struct effect_kind fetch_effect;

static enum verdict hear_task(const struct state *state, const StorefrontTask *task, struct turn *turn)
{
	const struct shop *shop = docs_shop(state, turn_message(turn)->shop);
	if (!shop)
		return turn_wait(turn, NO_SHOP_US, "the shop's configuration has not come yet");
	struct fetch *fetch = memory_new(sizeof(*fetch));
	int r = pages_ask(shop, task, &fetch->http);
	if (r == 0)
		return turn_effect(turn, &fetch_effect, (void **)&fetch);
	fetch_free(fetch);
	return turn_dead_letter(turn, "nothing can be fetched: [storefront] in shop.conf names no API that has it");
}

/* ---- answers ---- */

struct telling {
	struct turn *turn;
	uint32_t orders, carts;
};

static void say_event(const struct event *event, enum reading reading, void *context)
{
	struct telling *telling = context;
	const char *shop = turn_message(telling->turn)->shop;
	bool bought = reading == READ_CHECKOUT;
	const CartIds *ids = bought ? &event->checkout.ids : &event->changed.ids;
	const char *token = event_key(ids), *key = *token ? token : ids->email_hash;
	if (!bought) {
		SAY(telling->turn, cart_changed, &event->changed, .shop = shop, .key = key);
		telling->carts++;
		return;
	}
	CartCheckout order = event->checkout;
	order.ids.email[0] = 0; /* kept for ever, so it names the buyer by the keyed hash alone */
	SAY(telling->turn, cart_checkout, &order, .shop = shop, .key = key);
	telling->orders++;
}

static void say_next(struct turn *turn, const StorefrontTask *next)
{
	SAY(turn, storefront_task, next, .shop = turn_message(turn)->shop, .key = "reconcile");
}

static void say_reconciled(struct turn *turn, const StorefrontTask *task)
{
	const char *shop = turn_message(turn)->shop;
	Audit audit = { .action = "reconciled", .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };
	TEXT_COPY(audit.who, *task->who ? task->who : "system");
	snprintf(audit.grounds, sizeof(audit.grounds),
		"asked the storefront for what changed in the %lld minutes before: orders %u, open checkouts %u",
		(long long)((audit.at_us - task->from_us) / US_PER_MINUTE), (unsigned)task->found_orders,
		(unsigned)task->found_carts);
	SAY(turn, audit, &audit, .shop = shop, .key = shop);
}

/* Orders come first, because they stop reminders. Then the open checkouts come. */
static void go_on(const struct shop *shop, const StorefrontTask *task, const struct page *page, struct telling *telling)
{
	StorefrontTask next = *task;
	next.found_orders += telling->orders;
	next.found_carts += telling->carts;
	next.after = page->more ? page->after : 0;
	next.last_id = page->more ? page->last_id : 0;
	if (task->kind != TASK_ORDERS && task->kind != TASK_CHECKOUTS)
		return;
	if (!page->more && (task->kind == TASK_CHECKOUTS || shop->storefront.platform != STOREFRONT_SHOPIFY)) {
		say_reconciled(telling->turn, &next);
		return;
	}
	if (!page->more)
		next.kind = TASK_CHECKOUTS;
	say_next(telling->turn, &next);
}

static enum verdict take(const struct storefront *context, const struct shop *shop, const StorefrontTask *task,
	struct bytes body, struct turn *turn)
{
	struct telling telling = { .turn = turn };
	struct event_source source = { .shop = shop->name,
		.topic = "",
		.webhook_id = "",
		.address_key = BYTES(context->address_key, context->address_key_len),
		.heard_us = turn_now_us(turn),
		.triggered_us = task->triggered_us };
	struct page page;
	char why[200];
	if (pages_read(shop, task, &source, body, say_event, &telling, &page, why) < 0)
		return turn_failed(turn, SILENT_US, why);
	go_on(shop, task, &page, &telling);
	return TURN_DONE;
}

/* The cart does not exist any more, so it counts as emptied. (If it was bought, its own webhook says so.) */
static enum verdict take_gone(const StorefrontTask *task, struct turn *turn)
{
	CartChanged gone = { .has_ids = true,
		.platform = PLATFORM_BIGCOMMERCE,
		.has_items = true,
		.heard_us = turn_now_us(turn),
		.changed_us = task->triggered_us ? task->triggered_us : task->heard_us };
	TEXT_COPY(gone.ids.cart_token, task->id);
	TEXT_COPY(gone.platform_topic, task->platform_topic);
	SAY(turn, cart_changed, &gone, .shop = turn_message(turn)->shop, .key = gone.ids.cart_token);
	return TURN_DONE;
}

static enum verdict ask_again(const struct http_answer *answer, struct turn *turn)
{
	char why[200];
	snprintf(why, sizeof(why), "the storefront does not answer: %.150s", answer ? answer->words : "not in time");
	int64_t after_us = answer ? http_answer_retry_us(answer, SILENT_US, RETRY_MOST_US) : SILENT_US;
	return turn_wait(turn, after_us > US_PER_S ? after_us : US_PER_S, why);
}

/* Waits with an alarm, because a person has to mend the key. */
static enum verdict wait_for_key(const struct state *state, const struct http_answer *answer, struct turn *turn)
{
	storefront_alarm_say(state, turn, answer->end == HTTP_BARRED ? STOREFRONT_END_SILENT : STOREFRONT_END_REFUSED,
		answer->words);
	return turn_wait(turn, FORBIDDEN_US, answer->words);
}

static enum verdict fetch_decide(const struct state *state, const void *message, const void *request,
	const void *result, enum claim_answer claimed, struct turn *turn)
{
	const StorefrontTask *task = message;
	const struct http_answer *answer = result;
	const struct shop *shop = docs_shop(state, turn_message(turn)->shop);
	(void)request, (void)claimed;
	if (!shop)
		return turn_wait(turn, NO_SHOP_US, "the shop's configuration has not come yet");
	if (!answer || answer->end == HTTP_NOT_SENT || answer->end == HTTP_UNKNOWN || answer->status >= 500 ||
		answer->status == 429)
		return ask_again(answer, turn);
	if (answer->end == HTTP_BARRED || storefront_refuses(answer))
		return wait_for_key(state, answer, turn);
	storefront_alarm_say(state, turn, STOREFRONT_END_ANSWERED, "");
	if (answer->status == 404 && task->kind == TASK_CART)
		return take_gone(task, turn);
	if (answer->status != 200)
		return turn_failed(turn, SILENT_US, answer->words);
	return take(storefront_context(state), shop, task, answer->body, turn);
}

static const struct effect_kind fetch_effect = {
	.name = "storefront",
	.request_free = fetch_free,
	.deadline_us = ASK_DEADLINE_US,
	.decide = fetch_decide,
};

/* ---- after an outage ---- */

/* Adds the shop's name and a NUL to a buffer. */
static bool note_shop(const char *shop, const char *key, void *context)
{
	if (strcmp(key, "shop") == 0)
		buffer_add(context, shop, strlen(shop) + 1);
	return true;
}

static bool can_reconcile(const struct shop *shop)
{
	return shop &&
		(shop->storefront.platform == STOREFRONT_SHOPIFY ||
			shop->storefront.platform == STOREFRONT_WOOCOMMERCE);
}

static enum verdict hear_away(const struct state *state, const GatewayAway *away, struct turn *turn)
{
	_cleanup_(buffer_free) struct buffer shops = { 0 };
	StorefrontTask task = {
		.kind = TASK_ORDERS, .from_us = away->from_us - BEFORE_AWAY_US, .heard_us = turn_now_us(turn)
	};
	TEXT_COPY(task.who, "system");
	if (turn_now_us(turn) - away->back_us <= OLD_NEWS_US)
		STATE_EACH_KEY(state, documents, NULL, NULL, note_shop, &shops);
	for (const char *shop = buffer_text(&shops), *end = shop + shops.len; shop < end; shop += strlen(shop) + 1)
		if (can_reconcile(docs_shop(state, shop)))
			SAY(turn, storefront_task, &task, .shop = shop, .key = "reconcile");
	return TURN_DONE;
}

const struct service storefront = {
	.name = "storefront",
	.layout = 1,
	.hears = HEARING(HEARS(storefront_task, hear_task), HEARS(gateway_away, hear_away)),
	.remembers = REMEMBERING(REMEMBERS(document, docs_remember), REMEMBERS(alarm, storefront_alarm_remember)),
	.says = SAYING(SAYS(cart_changed), SAYS(cart_checkout), SAYS(storefront_task), SAYS(audit), SAYS(alarm)),
	.effects = RUNNING(&fetch_effect),
};
