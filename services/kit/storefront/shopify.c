/*
 * shopify.c: reads Shopify's webhooks (REST shapes of carts, checkouts and orders)
 *
 * Promises:  an order is a stop under every topic, even if the rest of it is wrong, because the webhook of
 *            its creation may be late or lost. Amounts are in the currency that the shopper saw.
 * Joins:     order.checkout_token = checkout.token, order.cart_token = checkout.cart_token,
 *            order.checkout_id = checkout.id, and a cart's `token` is the cart_token.
 */
#include "bus/base/text.h"
#include "services/kit/money/money.h"
#include "services/kit/storefront/fields.h"
#include "services/kit/storefront/payload_parts.h"
#include "services/kit/time/timestamp.h"
#include <errno.h>
#include <strings.h>

static const struct item_names line_items = {
	.title = "title",
	.seen_title = "presentment_title",
	.seen_variant_title = "presentment_variant_title",
	.variant_title = "variant_title",
	.sku = "sku",
	.product_id = "product_id",
	.variant_id = "variant_id",
	.quantity = "quantity",
	.price = "price",
	.vendor = "vendor",
	.link = "url",
	.pictures = { "image_url", "image", "featured_image" },
};

static const char *first_text(const json_t *const *objects, const char *name)
{
	for (; *objects; objects++) {
		const char *text = field_word(*objects, name);

		if (text && *text)
			return text;
	}
	return NULL;
}

/* Reads the customer of a checkout or order. The address may be in three places, any maybe null or a list. */
static void read_person(const struct event_source *source, const json_t *body, CartIds *ids)
{
	const json_t *customer = field_object(body, "customer");
	const char *email = field_word(body, "email");

	field_id(customer, "id", ids->customer_id, sizeof(ids->customer_id));
	if (!email || !*email)
		email = field_word(body, "contact_email");
	if (!email || !*email)
		email = field_word(customer, "email");
	read_address(source, email, ids);
}

static void read_first_name(const json_t *body, CartChanged *changed)
{
	static const char *const places[] = { "customer", "shipping_address", "billing_address" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (field_text(field_object(body, places[i]), "first_name", changed->first_name,
			    sizeof(changed->first_name)))
			return;
}

static Consent consent_of_state(const char *state)
{
	static const struct {
		const char *state;
		Consent consent;
	} states[] = { { "subscribed", CONSENT_YES }, { "unsubscribed", CONSENT_NO }, { "redacted", CONSENT_NO },
		{ "not_subscribed", CONSENT_UNKNOWN }, { "pending", CONSENT_UNKNOWN }, { "invalid", CONSENT_UNKNOWN } };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strcasecmp(state, states[i].state) == 0)
			return states[i].consent;
	return CONSENT_NO; /* an unknown state may mean no */
}

/*
 * If buyer_accepts_marketing is false, the shopper only left a box unticked; the customer's state tells
 * whether the customer unsubscribed. A customer who ticks the box at this checkout agrees again.
 */
static void read_consent(const json_t *body, struct event *event)
{
	const json_t *customer = field_object(body, "customer");
	const json_t *state = json_object_get(field_object(customer, "email_marketing_consent"), "state");
	int accepts = field_yes_no(body, "buyer_accepts_marketing");

	if (accepts == -EINVAL)
		doubt_consent(event,
			"the field buyer_accepts_marketing is neither true nor false, so the cart is not mailed");
	else if (accepts == 1)
		event->changed.consent = CONSENT_YES;
	else if (state && !json_is_null(state))
		event->changed.consent = consent_of_state(json_is_string(state) ? json_string_value(state) : "");
}

/* The first of these timestamps that the body has; 0: none. */
static int64_t first_timestamp(const json_t *body, const char *const *names)
{
	int64_t us = 0;

	for (; *names && us == 0; names++)
		if (!field_timestamp(body, *names, &us))
			us = 0;
	return us;
}

/* The time of the event by the platform's clock (the body, or else the header), or else by ours. */
static int64_t timestamp_of(const struct event_source *source, const json_t *body, const char *const *names)
{
	int64_t us = first_timestamp(body, names);

	if (us == 0)
		us = source->triggered_us ? source->triggered_us : source->heard_us;
	return timestamp_not_ahead(us, source->heard_us);
}

static void begin_changed(const struct event_source *source, const json_t *body, CartChanged *changed)
{
	static const char *const moments[] = { "updated_at", NULL };

	changed->has_ids = true;
	changed->platform = PLATFORM_SHOPIFY;
	TEXT_COPY(changed->platform_topic, source->topic);
	TEXT_COPY(changed->webhook_id, source->webhook_id);
	changed->heard_us = source->heard_us;
	changed->changed_us = timestamp_of(source, body, moments);
}

/* The cart topics have no total and no currency of their own, so both come from the lines. */
static bool read_cart_total(const json_t *body, struct event *event)
{
	CartChanged *changed = &event->changed;
	const json_t *lines = field_list(body, "line_items");
	int64_t line_minor;

	for (size_t i = 0; i < json_array_size(lines); i++) {
		const json_t *line = json_array_get(lines, i);
		const json_t *set = field_object(line, "line_price_set");
		const json_t *money = field_object(set ? set : field_object(line, "price_set"), "shop_money");

		if (!changed->currency[0] && field_currency(money, "currency_code", changed->currency) < 0) {
			unreadable(event, "the field currency_code of an item's price is not a currency");
			return false;
		}
		if (!changed->currency[0])
			return true;
		if (field_money(line, "line_price", changed->currency, &line_minor) < 0) {
			unreadable(event, "the field line_price of an item is not an amount");
			return false;
		}
	}
	return true;
}

static void add_up(const json_t *body, CartChanged *changed)
{
	const json_t *lines = field_list(body, "line_items");
	int64_t line_minor;

	changed->has_total = json_array_size(lines) > 0 && changed->currency[0];
	for (size_t i = 0; changed->has_total && i < json_array_size(lines); i++) {
		const json_t *line = json_array_get(lines, i);

		changed->has_total = field_money(line, "line_price", changed->currency, &line_minor) == 1 &&
			money_add(&changed->total_minor, line_minor);
	}
	if (!changed->has_total)
		changed->total_minor = 0;
}

static enum reading read_cart(const struct event_source *source, const json_t *body, struct event *event)
{
	CartChanged *changed = &event->changed;

	begin_changed(source, body, changed);
	if (!field_id(body, "token", changed->ids.cart_token, sizeof(changed->ids.cart_token)))
		field_id(body, "id", changed->ids.cart_token, sizeof(changed->ids.cart_token));
	if (!read_cart_total(body, event))
		return READ_UNREADABLE;
	add_up(body, changed);
	read_items(body, "line_items", &line_items, changed);
	read_attributes(body, "note_attributes", changed);
	return READ_CHANGED;
}

static void read_checkout_ids(const json_t *body, CartIds *ids)
{
	field_id(body, "token", ids->checkout_token, sizeof(ids->checkout_token));
	field_id(body, "cart_token", ids->cart_token, sizeof(ids->cart_token));
	field_id(body, "id", ids->checkout_id, sizeof(ids->checkout_id));
}

/* The field of the currency that the shopper saw, if the body has it; else that of the shop's currency. */
static const char *checkout_currency_field(const json_t *body)
{
	const json_t *seen = json_object_get(body, "presentment_currency");
	bool given = seen && !json_is_null(seen) && !(json_is_string(seen) && json_string_length(seen) == 0);

	return given ? "presentment_currency" : "currency";
}

static enum reading read_checkout(const struct event_source *source, const json_t *body, struct event *event)
{
	CartChanged *changed = &event->changed;
	const json_t *people[] = { body, NULL };
	const char *locale = first_text(people, "customer_locale");

	begin_changed(source, body, changed);
	read_checkout_ids(body, &changed->ids);
	read_person(source, body, &changed->ids);
	read_consent(body, event);
	if (!read_total(body, "total_price", checkout_currency_field(body), event))
		return READ_UNREADABLE;
	read_items(body, "line_items", &line_items, changed);
	read_codes(body, "discount_codes", changed);
	read_attributes(body, "note_attributes", changed);
	read_first_name(body, changed);
	read_tags(body, "tags", changed);
	read_tags(field_object(body, "customer"), "tags", changed);
	if (locale && !text_has_control(locale))
		TEXT_COPY(changed->locale, locale);
	field_url(body, "abandoned_checkout_url", changed->recovery_url, sizeof(changed->recovery_url));
	changed->test = field_true(body, "test");
	return READ_CHANGED;
}

/* The recovery link of a deleted checkout is dead, so the checkout counts as emptied. */
static enum reading read_deleted(const struct event_source *source, const json_t *body, struct event *event)
{
	begin_changed(source, body, &event->changed);
	read_checkout_ids(body, &event->changed.ids);
	event->changed.has_items = true;
	return READ_CHANGED;
}

/* Amount and currency of a stop are only for the record: if they are invalid, it is still a stop. */
static void read_order_total(const json_t *body, CartCheckout *checkout)
{
	const json_t *seen = field_object(field_object(body, "total_price_set"), "presentment_money");

	if (field_currency(seen, "currency_code", checkout->currency) == 1 &&
		field_money(seen, "amount", checkout->currency, &checkout->total_minor) == 1)
		return;
	if (field_currency(body, "currency", checkout->currency) != 1 ||
		field_money(body, "total_price", checkout->currency, &checkout->total_minor) != 1)
		checkout->total_minor = 0;
}

static void begin_bought(const struct event_source *source, const json_t *body, CartCheckout *checkout)
{
	checkout->has_ids = true;
	checkout->platform = PLATFORM_SHOPIFY;
	TEXT_COPY(checkout->platform_topic, source->topic);
	TEXT_COPY(checkout->webhook_id, source->webhook_id);
	checkout->heard_us = source->heard_us;
	checkout->test = field_true(body, "test");
	read_order_total(body, checkout);
	read_person(source, body, &checkout->ids);
}

/*
 * Asks the body and not the topic, because the topic is in a header that the signature does not cover. In
 * doubt an order is a stop.
 */
static bool is_cancelled(const json_t *body)
{
	const char *cancelled_at = field_word(body, "cancelled_at");

	return cancelled_at && *cancelled_at;
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; word && *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

/* Was the order paid, even if the money went back later? */
static bool was_paid(const json_t *body)
{
	static const char *const paid[] = { "paid", "partially_paid", "partially_refunded", "refunded", NULL };

	return is_one_of(field_word(body, "financial_status"), paid);
}

static enum reading read_order(const struct event_source *source, const json_t *body, struct event *event)
{
	static const char *const cancelled[] = { "cancelled_at", "updated_at", NULL };
	static const char *const bought[] = { "processed_at", "created_at", "updated_at", NULL };
	static const char *const ordered[] = { "processed_at", "created_at", NULL };
	CartCheckout *checkout = &event->checkout;
	bool gone = is_cancelled(body);

	begin_bought(source, body, checkout);
	field_id(body, "id", checkout->ids.order_id, sizeof(checkout->ids.order_id));
	field_id(body, "checkout_token", checkout->ids.checkout_token, sizeof(checkout->ids.checkout_token));
	field_id(body, "checkout_id", checkout->ids.checkout_id, sizeof(checkout->ids.checkout_id));
	field_id(body, "cart_token", checkout->ids.cart_token, sizeof(checkout->ids.cart_token));
	field_text(body, "financial_status", checkout->payment_status, sizeof(checkout->payment_status));
	checkout->kind = gone ? CHECKOUT_CANCELLED : CHECKOUT_BOUGHT;
	checkout->bought_us = timestamp_of(source, body, gone ? cancelled : bought);
	checkout->ordered_us = first_timestamp(body, ordered);
	checkout->was_bought = gone && was_paid(body);
	return READ_CHECKOUT;
}

/* A checkout with completed_at is bought, even if the webhook of its order never comes. */
static enum reading read_completed(const struct event_source *source, const json_t *body, struct event *event)
{
	static const char *const moments[] = { "completed_at", "updated_at", NULL };
	CartCheckout *checkout = &event->checkout;

	begin_bought(source, body, checkout);
	read_checkout_ids(body, &checkout->ids);
	checkout->kind = CHECKOUT_BOUGHT;
	checkout->bought_us = timestamp_of(source, body, moments);
	return READ_CHECKOUT;
}

/* Reads the rest of an order's total, after all refunds and removed items. */
static bool read_left(const json_t *body, const CartCheckout *checkout, int64_t *ret_minor)
{
	const json_t *seen = field_object(field_object(body, "current_total_price_set"), "presentment_money");
	char currency[4] = "";

	if (field_currency(seen, "currency_code", currency) == 1 && strcmp(currency, checkout->currency) == 0)
		return field_money(seen, "amount", currency, ret_minor) == 1;
	return field_currency(body, "currency", currency) == 1 && strcmp(currency, checkout->currency) == 0 &&
		field_money(body, "current_total_price", currency, ret_minor) == 1;
}

/*
 * orders/updated comes with every edit. If money went back, or the payment was voided, it is a refund.
 * Otherwise it is an order, also if a partial refund does not tell the rest of the total.
 */
static enum reading read_updated(const struct event_source *source, const json_t *body, struct event *event)
{
	static const char *const moments[] = { "updated_at", NULL };
	static const char *const back[] = { "refunded", "voided", NULL };
	CartCheckout *checkout = &event->checkout;
	const char *status = field_word(body, "financial_status");
	bool all = is_one_of(status, back);
	int64_t left_minor = 0;

	read_order(source, body, event);
	if (checkout->kind == CHECKOUT_CANCELLED)
		return READ_CHECKOUT;
	if (!all && (!status || strcmp(status, "partially_refunded") != 0 || !read_left(body, checkout, &left_minor)))
		return READ_CHECKOUT;
	checkout->kind = CHECKOUT_REFUNDED;
	checkout->bought_us = timestamp_of(source, body, moments);
	checkout->was_bought = true; /* there is an order only when the checkout was completed */
	checkout->refunded_minor = checkout->total_minor > left_minor ? checkout->total_minor - left_minor : 0;
	return READ_CHECKOUT;
}

/* Is the body an order? The signature does not cover the topic's header, so the body's fields decide. */
static bool is_order(const json_t *body)
{
	return field_list(body, "line_items") && field_word(body, "financial_status") &&
		json_object_get(body, "order_number");
}

static enum reading read_topic(const struct event_source *source, const json_t *body, struct event *event)
{
	const char *topic = source->topic;
	const char *completed = field_word(body, "completed_at");

	if (is_order(body) && strcmp(topic, "orders/updated") != 0)
		return read_order(source, body, event);
	if (strcmp(topic, "carts/create") == 0 || strcmp(topic, "carts/update") == 0)
		return read_cart(source, body, event);
	if (strcmp(topic, "checkouts/delete") == 0 && !field_list(body, "line_items"))
		return read_deleted(source, body, event);
	if (strcmp(topic, "checkouts/create") == 0 || strcmp(topic, "checkouts/update") == 0 ||
		strcmp(topic, "checkouts/delete") == 0)
		return completed && *completed ? read_completed(source, body, event)
					       : read_checkout(source, body, event);
	if (strcmp(topic, "orders/updated") == 0)
		return read_updated(source, body, event);
	return read_order(source, body, event);
}

static bool topic_is_ours(const char *topic)
{
	static const char *const ours[] = { "carts/create", "carts/update", "checkouts/create", "checkouts/update",
		"checkouts/delete", "orders/create", "orders/paid", "orders/cancelled", "orders/updated",
		"orders/fulfilled", "orders/partially_fulfilled", NULL };

	return is_one_of(topic, ours);
}

static enum reading judge_ids(enum reading reading, struct event *ret)
{
	if (reading == READ_CHANGED && !event_key(&ret->changed.ids)[0])
		return unreadable(ret, "the body names no cart: none of the fields token, cart_token, id is given");
	if (reading == READ_CHECKOUT && !event_key(&ret->checkout.ids)[0])
		return unreadable(
			ret, "the body names no order: none of the fields id, checkout_token, cart_token is given");
	return reading;
}

enum reading shopify_read_resource(const struct event_source *source, const json_t *body, struct event *ret)
{
	event_clear(ret);
	TEXT_COPY(ret->webhook_id, source->webhook_id);
	return judge_ids(read_topic(source, body, ret), ret);
}

enum reading shopify_read(const struct event_source *source, struct bytes body, struct event *ret)
{
	enum reading reading;
	const json_t *json;

	event_clear(ret);
	TEXT_COPY(ret->webhook_id, source->webhook_id);
	if (shopify_is_privacy(source->topic))
		return shopify_read_privacy(source, body, ret);
	if (!topic_is_ours(source->topic))
		return nothing(ret, "this topic is not one that cartbus uses");
	json = fields_parse(body, ret->why);
	if (!json)
		return READ_UNREADABLE;
	reading = read_topic(source, json, ret);
	fields_done();
	return judge_ids(reading, ret);
}
