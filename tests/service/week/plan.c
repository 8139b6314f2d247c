/*
 * plan.c: a week at two storefronts, made from a seed
 *
 * Stops come half an hour beside any moment at which a mail could be due, so that a process that is killed and back within seconds
 * changes nothing about which mails are right.
 */
#include "plan.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>

enum { LEAVING_MINUTES = 3 * 24 * 60 };

static const char *const shop_names[] = { "north", "south" };

static uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static enum fate fate_of(uint64_t percent)
{
	static const struct {
		uint64_t below;
		enum fate fate;
	} shares[] = { { 40, FATE_LEFT }, { 46, FATE_BOUGHT }, { 51, FATE_BOUGHT_BY_TIE }, { 56, FATE_BOUGHT_BY_MAIL },
		{ 65, FATE_OPTED_OUT }, { 74, FATE_CHANGED }, { 79, FATE_EMPTIED }, { 84, FATE_LATE_ADDRESS },
		{ 88, FATE_NO_ADDRESS }, { 95, FATE_DISORDERED }, { 100, FATE_BY_OWNER } };

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		if (percent < shares[i].below)
			return shares[i].fate;
	}
	return FATE_LEFT;
}

static void plan_cart(struct planned_cart *cart, int number, uint64_t *seed)
{
	static const int64_t totals[] = { 2000, 8000, 20000 };
	static const int half_hours[] = { 1, 3, 5, 7, 13, 25, 43, 45, 47, 49, 51, 61 };
	int pair = number / 2, shopper = pair;

	*cart = (struct planned_cart){ .fate = fate_of(next_random(seed) % 100),
		.left_us = WEEK_START_US + (int64_t)(next_random(seed) % LEAVING_MINUTES) * US_PER_MINUTE,
		.total_minor = totals[next_random(seed) % 3] };
	if (pair % 10 < 2) { /* every tenth shopper leaves two carts */
		shopper = pair - pair % 10;
		cart->shares_address = true;
	}
	cart->stop_us = cart->left_us +
		half_hours[next_random(seed) % (sizeof(half_hours) / sizeof(half_hours[0]))] * 30 * US_PER_MINUTE;
	TEXT_COPY(cart->shop, shop_names[number % 2]);
	snprintf(cart->token, sizeof(cart->token), "c%d", pair);
	snprintf(cart->email, sizeof(cart->email), "s%d@buyer.example", shopper);
	snprintf(cart->hash, sizeof(cart->hash), "h%d", shopper);
}

static int steps_of(enum fate fate)
{
	switch (fate) {
	case FATE_LEFT:
	case FATE_NO_ADDRESS:
		return 1;
	case FATE_BOUGHT:
	case FATE_BOUGHT_BY_MAIL:
	case FATE_OPTED_OUT:
	case FATE_CHANGED:
	case FATE_EMPTIED:
	case FATE_LATE_ADDRESS:
	case FATE_BY_OWNER:
		return 2;
	case FATE_BOUGHT_BY_TIE:
	case FATE_DISORDERED:
		return 3;
	case FATES:
		break;
	}
	return 0;
}

static int64_t when(const struct planned_cart *cart, int step)
{
	if (step == 0)
		return cart->left_us + US_PER_S;
	if (cart->fate == FATE_BOUGHT_BY_TIE && step == 1)
		return cart->left_us + 5 * US_PER_S;
	if (cart->fate == FATE_DISORDERED)
		return cart->left_us + step * 7 * US_PER_S;
	return cart->stop_us;
}

static int earlier_event(const void *a, const void *b)
{
	const struct planned_event *first = a, *second = b;

	if (first->at_us != second->at_us)
		return first->at_us < second->at_us ? -1 : 1;
	if (first->cart != second->cart)
		return first->cart - second->cart;
	return first->step - second->step;
}

struct plan *plan_new(int carts, uint64_t seed)
{
	struct plan *plan = memory_new(sizeof(*plan));

	plan->cart_count = carts;
	plan->carts = memory_new((size_t)carts * sizeof(*plan->carts));
	plan->events = memory_new((size_t)carts * 3 * sizeof(*plan->events));
	for (int i = 0; i < carts; i++) {
		plan_cart(&plan->carts[i], i, &seed);
		for (int step = 0; step < steps_of(plan->carts[i].fate); step++)
			plan->events[plan->event_count++] =
				(struct planned_event){ when(&plan->carts[i], step), i, step };
	}
	qsort(plan->events, plan->event_count, sizeof(*plan->events), earlier_event);
	return plan;
}

void plan_free(struct plan *plan)
{
	free(plan->carts);
	free(plan->events);
	free(plan);
}

/* ---- the shops ---- */

static void say_document(struct sim *sim, const char *shop, const char *kind, const char *text)
{
	static Document document;

	document = (Document){ .version = 1, .at_us = WEEK_START_US };
	TEXT_COPY(document.kind, kind);
	TEXT_COPY(document.text, text);
	snprintf(document.digest, sizeof(document.digest), "%016llx", (unsigned long long)text_hash(bytes_of(text)));
	assert_int_equal(SIM_SAY(sim, document, &document, .shop = shop, .key = kind, .version = 1), SAID_FRESH);
}

void plan_open_shops(struct sim *sim)
{
	const ShopStatus live = { .mode = MODE_LIVE, .version = 1 };

	say_document(sim, "north", "shop",
		"[shop]\ntime-zone = America/New_York\ncurrency = USD\nlocale = en-US\ntitle = North\n"
		"url = https://north.example\n[mail]\nfrom = North <shop@north.example>\nbounce = "
		"bounce@north.example\n"
		"reply-to = North <shop@north.example>\nowner = owner@north.example\npostal-address = 1 Main Street\n");
	say_document(sim, "north", "rules",
		"Small carts (under $40): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. Big "
		"carts (over $150): 1 hour, then 20. No mail between 10 pm and 8 am.");
	say_document(sim, "south", "shop",
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = South\n"
		"url = https://south.example\n[mail]\nfrom = South <shop@south.example>\nbounce = "
		"bounce@south.example\n"
		"reply-to = South <shop@south.example>\nowner = owner@south.example\npostal-address = Gasse 1\n");
	say_document(sim, "south", "rules",
		"Small carts (under €40): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. Big "
		"carts (over €150): 1 hour, then 20.");
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			SIM_SAY(sim, shop_status, &live, .shop = shop_names[i], .key = shop_names[i], .version = 1),
			SAID_FRESH);
}

/* ---- what shoppers do ---- */

static CartChanged change_of(const struct planned_cart *cart, int64_t changed_us, int64_t heard_us)
{
	CartChanged changed = { .has_ids = true,
		.platform = PLATFORM_SHOPIFY,
		.platform_topic = "carts/update",
		.changed_us = changed_us,
		.heard_us = heard_us,
		.has_items = true,
		.items_count = 1,
		.items = { { .title = "Thing", .variant_id = "v1", .quantity = 1 } },
		.has_total = true,
		.total_minor = cart->total_minor };

	changed.items[0].price_minor = cart->total_minor;
	TEXT_COPY(changed.currency, cart->shop[0] == 'n' ? "USD" : "EUR");
	snprintf(changed.recovery_url, sizeof(changed.recovery_url), "https://%s.example/cart/%s", cart->shop,
		cart->token);
	TEXT_COPY(changed.ids.cart_token, cart->token);
	if (cart->fate != FATE_NO_ADDRESS) {
		TEXT_COPY(changed.ids.email, cart->email);
		TEXT_COPY(changed.ids.email_hash, cart->hash);
	}
	return changed;
}

/* As a gateway does: until it is confirmed, under the same key, so that it is there once. */
static void say_until_confirmed(
	struct sim *sim, const struct topic *topic, const struct publish_options *how, const void *message)
{
	enum said_result result = SAID_UNKNOWN;

	for (int tries = 0; tries < 10 && result == SAID_UNKNOWN; tries++)
		result = sim_publish(sim, topic, how, message, NULL);
	assert_true(result == SAID_FRESH || result == SAID_DUPLICATE);
}

static const char *webhook_id(const struct planned_cart *cart, const struct planned_event *event, char ret[48])
{
	snprintf(ret, 48, "%s/%d", cart->token, event->step);
	return ret;
}

static void say_change(
	struct sim *sim, const struct planned_cart *cart, const struct planned_event *event, const CartChanged *changed)
{
	char idem[48];
	struct publish_options how = { .shop = cart->shop, .key = cart->token, .idem = webhook_id(cart, event, idem) };

	say_until_confirmed(sim, &topic_cart_changed, &how, changed);
}

static void play_first(struct sim *sim, const struct planned_cart *cart, const struct planned_event *event)
{
	CartChanged changed = change_of(cart, cart->left_us, event->at_us);

	if (cart->fate == FATE_LATE_ADDRESS)
		changed.ids.email[0] = changed.ids.email_hash[0] = '\0';
	say_change(sim, cart, event, &changed);
}

static void play_order(struct sim *sim, const struct planned_cart *cart, const struct planned_event *event)
{
	CartCheckout order = { .has_ids = true,
		.bought_us = event->at_us - US_PER_S,
		.heard_us = event->at_us,
		.total_minor = cart->total_minor };
	char idem[48];

	snprintf(order.ids.order_id, sizeof(order.ids.order_id), "o-%s", cart->token);
	TEXT_COPY(order.currency, cart->shop[0] == 'n' ? "USD" : "EUR");
	if (cart->fate == FATE_BOUGHT)
		TEXT_COPY(order.ids.cart_token, cart->token);
	else if (cart->fate == FATE_BOUGHT_BY_TIE)
		snprintf(order.ids.checkout_token, sizeof(order.ids.checkout_token), "k-%s", cart->token);
	else
		TEXT_COPY(order.ids.email_hash, cart->hash);
	say_until_confirmed(sim, &topic_cart_checkout,
		&(struct publish_options){
			.shop = cart->shop, .key = order.ids.order_id, .idem = webhook_id(cart, event, idem) },
		&order);
}

/* The checkout that ties the two tokens together; nothing that restarts the clock. */
static void play_tie(struct sim *sim, const struct planned_cart *cart, const struct planned_event *event)
{
	CartChanged changed = change_of(cart, cart->left_us, event->at_us);

	snprintf(changed.ids.checkout_token, sizeof(changed.ids.checkout_token), "k-%s", cart->token);
	say_change(sim, cart, event, &changed);
}

static void play_change(struct sim *sim, const struct planned_cart *cart, const struct planned_event *event)
{
	CartChanged changed = change_of(cart, event->at_us - US_PER_S, event->at_us);

	changed.items[0].quantity = 2;
	if (cart->fate == FATE_EMPTIED)
		changed.items_count = 0;
	if (cart->fate == FATE_LATE_ADDRESS)
		changed.items[0].quantity = 1;
	say_change(sim, cart, event, &changed);
}

/* First a repeat under another webhook id, then an older state of the cart. */
static void play_disorder(struct sim *sim, const struct planned_cart *cart, const struct planned_event *event)
{
	CartChanged changed = change_of(cart, cart->left_us, event->at_us);

	if (event->step == 2) {
		changed.changed_us -= 40 * US_PER_MINUTE;
		changed.items[0].quantity = 7;
		changed.total_minor = 1;
	}
	say_change(sim, cart, event, &changed);
}

static void play_optout(struct sim *sim, const struct planned_cart *cart, const struct planned_event *event)
{
	OptoutRequest asked = { .heard_us = event->at_us, .source = OPTOUT_ONE_CLICK };
	char idem[48];

	TEXT_COPY(asked.address_hash, cart->hash);
	say_until_confirmed(sim, &topic_optout_request,
		&(struct publish_options){
			.shop = cart->shop, .key = cart->hash, .idem = webhook_id(cart, event, idem) },
		&asked);
}

static void play_owner(struct sim *sim, const struct planned_cart *cart, const struct planned_event *event)
{
	AdminAction action = {
		.verb = ADMIN_SUPPRESS_CART, .who = "owner", .reason = "planned", .at_us = event->at_us
	};
	char idem[48];

	TEXT_COPY(action.cart_id, cart->token);
	say_until_confirmed(sim, &topic_admin_action,
		&(struct publish_options){
			.shop = cart->shop, .key = cart->token, .idem = webhook_id(cart, event, idem) },
		&action);
}

void plan_play(struct sim *sim, const struct plan *plan, const struct planned_event *event)
{
	const struct planned_cart *cart = &plan->carts[event->cart];

	if (event->step == 0) {
		play_first(sim, cart, event);
		return;
	}
	switch (cart->fate) {
	case FATE_LEFT:
	case FATE_NO_ADDRESS:
	case FATES:
		break;
	case FATE_BOUGHT:
	case FATE_BOUGHT_BY_MAIL:
		play_order(sim, cart, event);
		break;
	case FATE_BOUGHT_BY_TIE:
		(event->step == 1 ? play_tie : play_order)(sim, cart, event);
		break;
	case FATE_OPTED_OUT:
		play_optout(sim, cart, event);
		break;
	case FATE_CHANGED:
	case FATE_EMPTIED:
	case FATE_LATE_ADDRESS:
		play_change(sim, cart, event);
		break;
	case FATE_DISORDERED:
		play_disorder(sim, cart, event);
		break;
	case FATE_BY_OWNER:
		play_owner(sim, cart, event);
		break;
	}
}
