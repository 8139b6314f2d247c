/*
 * generic.c: reads cartbus's own webhook, for storefronts that have none for carts
 *
 * The body is one JSON object. `id` names this event (repeating it is harmless), `event` tells what happened,
 * `cart` names the cart; everything else may be left out or null:
 *
 *   { "id": "e-1", "event": "changed", "cart": "c-1", "at": "2026-11-21T02:00:00Z",
 *     "email": "...", "customer_id": "7", "first_name": "Ada", "locale": "de-DE", "consent": true,
 *     "currency": "EUR", "total": "12.50", "recovery_url": "https://...",
 *     "items": [ { "title": "...", "variant": "...", "sku": "...", "product_id": "...", "variant_id": "...",
 *                  "quantity": 1, "price": "12.50", "vendor": "...", "picture": "https://...", "link": "https://..." } ],
 *     "tags": ["..."], "discount_codes": ["WELCOME"], "note_attributes": [ { "name": "...", "value": "..." } ] }
 *
 *   event "changed"       the cart as it is now; "items": [] empties it
 *   event "saved_link"    the shopper saved the cart or asked for the link
 *   event "wait_override" with "first_wait" and "second_wait": "90min", "4h", "2d"
 *   "customer_id": 0 or "0" is a guest, the same as leaving it out
 *   "consent": true is a yes, false a no; null (or left out): the shopper was not asked. 1, "1", "true",
 *   "yes" and 0, "0", "false", "no", "denied", "" mean the same; anything else may be a no: the cart is
 *   taken, but not mailed
 *   event "checked_out"   with "order_id", "total", "currency", "payment_status"; "email" or "customer_id"
 *                         may stand in place of a cart
 *   event "cancelled"     of an order
 *   event "refunded"      of an order: "refunded" is the sum of all its refunds, in its "currency"
 *
 * Promises:  a checkout is a stop even if its amounts are wrong.
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/storefront/fields.h"
#include "services/kit/storefront/payload_parts.h"
#include "services/kit/time/timestamp.h"
#include <errno.h>

#define WAIT_MOST_US (60 * US_PER_DAY)
#define CART_FIELDS "cart, cart_token, checkout_token, checkout_id, order_id"

static const struct item_names item_fields = {
	.title = "title",
	.variant_title = "variant",
	.sku = "sku",
	.product_id = "product_id",
	.variant_id = "variant_id",
	.quantity = "quantity",
	.price = "price",
	.vendor = "vendor",
	.link = "link",
	.pictures = { "picture" },
};

static void read_ids(const struct event_source *source, const json_t *body, CartIds *ids)
{
	field_id(body, "cart", ids->cart_id, sizeof(ids->cart_id));
	field_id(body, "cart_token", ids->cart_token, sizeof(ids->cart_token));
	field_id(body, "checkout_token", ids->checkout_token, sizeof(ids->checkout_token));
	field_id(body, "checkout_id", ids->checkout_id, sizeof(ids->checkout_id));
	field_id(body, "order_id", ids->order_id, sizeof(ids->order_id));
	read_customer(body, ids);
	read_address(source, field_word(body, "email"), ids);
}

static int64_t timestamp_of(const struct event_source *source, const json_t *body)
{
	int64_t us;

	if (!field_timestamp(body, "at", &us))
		us = source->triggered_us ? source->triggered_us : source->heard_us;
	return timestamp_not_ahead(us, source->heard_us);
}

static bool read_override(const json_t *body, struct event *event)
{
	WaitOverride *waits = &event->changed.wait_override;
	const char *first = field_word(body, "first_wait");
	const char *second = field_word(body, "second_wait");

	if (!first || !second || duration_parse(first, WAIT_MOST_US, &waits->first_us) < 0 ||
		duration_parse(second, WAIT_MOST_US, &waits->second_us) < 0 || waits->second_us <= waits->first_us) {
		unreadable(
			event, "a wait_override needs first_wait and a longer second_wait, like \"90min\" and \"1d\"");
		return false;
	}
	event->changed.has_wait_override = true;
	return true;
}

static void read_consent(const json_t *body, struct event *event)
{
	int said = field_yes_no(body, "consent");

	if (said == -EINVAL)
		doubt_consent(event,
			"the field consent is neither true nor false, so the cart is not mailed; leave it out when "
			"nobody asked");
	else if (said >= 0)
		event->changed.consent = said ? CONSENT_YES : CONSENT_NO;
}

static void read_cart(const json_t *body, CartChanged *changed)
{
	read_items(body, "items", &item_fields, changed);
	read_codes(body, "discount_codes", changed);
	read_attributes(body, "note_attributes", changed);
	read_tags(body, "tags", changed);
	field_text(body, "first_name", changed->first_name, sizeof(changed->first_name));
	field_text(body, "locale", changed->locale, sizeof(changed->locale));
	field_url(body, "recovery_url", changed->recovery_url, sizeof(changed->recovery_url));
}

static enum reading read_changed(
	const struct event_source *source, const json_t *body, const char *what, struct event *event)
{
	CartChanged *changed = &event->changed;

	changed->platform = PLATFORM_GENERIC;
	TEXT_COPY(changed->platform_topic, what);
	TEXT_COPY(changed->webhook_id, event->webhook_id);
	changed->heard_us = source->heard_us;
	changed->changed_us = timestamp_of(source, body);
	changed->test = field_true(body, "test");
	changed->saved_link = strcmp(what, "saved_link") == 0;
	changed->has_ids = true;
	read_ids(source, body, &changed->ids);
	read_consent(body, event);
	if (!read_total(body, "total", "currency", event))
		return READ_UNREADABLE;
	if (strcmp(what, "wait_override") == 0 && !read_override(body, event))
		return READ_UNREADABLE;
	read_cart(body, changed);
	return READ_CHANGED;
}

static const struct {
	const char *what;
	CheckoutKind kind;
} of_orders[] = { { "checked_out", CHECKOUT_BOUGHT }, { "cancelled", CHECKOUT_CANCELLED },
	{ "refunded", CHECKOUT_REFUNDED } };

/* The kind of an event of an order; -1: it is none. */
static int order_kind(const char *what)
{
	for (size_t i = 0; i < sizeof(of_orders) / sizeof(*of_orders); i++)
		if (strcmp(what, of_orders[i].what) == 0)
			return (int)of_orders[i].kind;
	return -1;
}

static enum reading read_checkout(
	const struct event_source *source, const json_t *body, const char *what, CheckoutKind kind, struct event *event)
{
	CartCheckout *checkout = &event->checkout;

	checkout->platform = PLATFORM_GENERIC;
	TEXT_COPY(checkout->platform_topic, what);
	TEXT_COPY(checkout->webhook_id, event->webhook_id);
	checkout->kind = kind;
	checkout->heard_us = source->heard_us;
	checkout->bought_us = timestamp_of(source, body);
	checkout->was_bought = kind == CHECKOUT_REFUNDED; /* only money that was paid can be refunded */
	checkout->test = field_true(body, "test");
	checkout->has_ids = true;
	read_ids(source, body, &checkout->ids);
	field_text(body, "payment_status", checkout->payment_status, sizeof(checkout->payment_status));
	if (field_currency(body, "currency", checkout->currency) != 1 ||
		field_money(body, "total", checkout->currency, &checkout->total_minor) != 1)
		checkout->total_minor = 0;
	if (kind == CHECKOUT_REFUNDED &&
		field_money(body, "refunded", checkout->currency, &checkout->refunded_minor) != 1)
		return unreadable(event, "a refund needs the field refunded, an amount, and its currency");
	return READ_CHECKOUT;
}

static enum reading read_event(const struct event_source *source, const json_t *body, struct event *event)
{
	const char *what = field_word(body, "event");

	if (!field_id(body, "id", event->webhook_id, sizeof(event->webhook_id)))
		return unreadable(
			event, "the field id is missing: a text that names this event, the same when it is repeated");
	if (what && order_kind(what) >= 0)
		return read_checkout(source, body, what, (CheckoutKind)order_kind(what), event);
	if (what &&
		(strcmp(what, "changed") == 0 || strcmp(what, "saved_link") == 0 || strcmp(what, "wait_override") == 0))
		return read_changed(source, body, what, event);
	return unreadable(event,
		"the field event is none of changed, saved_link, wait_override, checked_out, cancelled, "
		"refunded");
}

/* Does the event name a cart, or a shopper? A purchase stops all carts of its shopper. */
static bool names_cart_or_shopper(const CartIds *ids)
{
	return event_key(ids)[0] || ids->email[0] || ids->customer_id[0];
}

enum reading generic_read(const struct event_source *source, struct bytes body, struct event *ret)
{
	enum reading reading;
	const json_t *json;

	event_clear(ret);
	json = fields_parse(body, ret->why);
	if (!json)
		return READ_UNREADABLE;
	reading = read_event(source, json, ret);
	fields_done();
	if (reading == READ_CHANGED && !event_key(&ret->changed.ids)[0])
		return unreadable(ret, "the body names no cart: give one of the fields " CART_FIELDS);
	if (reading == READ_CHECKOUT && !names_cart_or_shopper(&ret->checkout.ids))
		return unreadable(ret,
			"the body names neither a cart nor a shopper: give one of the fields " CART_FIELDS
			", email, customer_id");
	return reading;
}
