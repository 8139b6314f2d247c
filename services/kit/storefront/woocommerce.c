/*
 * woocommerce.c: reads WooCommerce's order webhooks
 *
 * WooCommerce has no webhook for carts. A snippet on the store posts them to the generic endpoint
 * (generic.c), and writes the cart's id into the order's meta field `_cartbus_cart`, which joins the order to
 * its cart. Without this field the address joins them. `cart_hash` is not used: two shoppers with the same
 * basket have the same one.
 */
#include "bus/base/text.h"
#include "services/kit/money/money.h"
#include "services/kit/storefront/fields.h"
#include "services/kit/storefront/payload_parts.h"
#include "services/kit/time/timestamp.h"

/* The shop configures the meaning of all other statuses (services/carts/policy/purchases.h). */
static bool is_cancelled(const char *status)
{
	return strcmp(status, "cancelled") == 0 || strcmp(status, "refunded") == 0;
}

static void read_cart_id(const json_t *order, CartIds *ids)
{
	const json_t *meta = field_list(order, "meta_data");

	for (size_t i = 0; i < json_array_size(meta); i++) {
		const json_t *entry = json_array_get(meta, i);
		const char *key = field_word(entry, "key");

		if (key && strcmp(key, "_cartbus_cart") == 0)
			field_id(entry, "value", ids->cart_id, sizeof(ids->cart_id));
	}
}

static int64_t bought_at(const struct event_source *source, const json_t *order)
{
	static const char *const names[] = { "date_paid_gmt", "date_created_gmt", "date_modified_gmt", "created_at",
		"updated_at" };
	int64_t us;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (field_timestamp(order, names[i], &us))
			return timestamp_not_ahead(us, source->heard_us);
	return source->heard_us;
}

/* WooCommerce itself cancels unpaid orders. A cancelled order was a purchase if it was paid or refunded. */
static void note_former_purchase(const json_t *order, const char *status, CartCheckout *checkout)
{
	int64_t paid_us;

	if (checkout->kind != CHECKOUT_CANCELLED)
		return;
	checkout->was_bought = strcmp(status, "refunded") == 0 || field_timestamp(order, "date_paid_gmt", &paid_us);
	if (!field_timestamp(order, "date_created_gmt", &checkout->ordered_us))
		checkout->ordered_us = 0;
}

/* Partial refunds are listed with the order, each with a negative total. */
static void read_refunds(const json_t *order, CartCheckout *checkout)
{
	const json_t *refunds = field_list(order, "refunds");
	int64_t minor;

	for (size_t i = 0; i < json_array_size(refunds); i++)
		if (field_refund(json_array_get(refunds, i), "total", checkout->currency, &minor))
			money_add(&checkout->refunded_minor, minor);
}

/* Webhooks of the legacy API put the order into "order", and the address into "billing_address" or "customer". */
static const json_t *order_of(const json_t *body)
{
	const json_t *legacy = field_object(body, "order");

	return legacy && !json_object_get(body, "status") ? legacy : body;
}

static const char *email_of(const json_t *order)
{
	static const char *const places[] = { "billing", "billing_address", "customer" };
	const char *email = NULL;

	for (size_t i = 0; !email && i < sizeof(places) / sizeof(places[0]); i++)
		email = field_word(field_object(order, places[i]), "email");
	return email;
}

static enum reading read_order(const struct event_source *source, const json_t *body, struct event *event)
{
	CartCheckout *checkout = &event->checkout;
	const json_t *order = order_of(body);
	const char *status = field_word(order, "status"), *email = email_of(order);

	if (!status)
		return nothing(event, "an order without a status says nothing");
	checkout->kind = is_cancelled(status) ? CHECKOUT_CANCELLED : CHECKOUT_BOUGHT;
	checkout->has_ids = true;
	checkout->platform = PLATFORM_WOOCOMMERCE;
	TEXT_COPY(checkout->platform_topic, source->topic);
	TEXT_COPY(checkout->webhook_id, source->webhook_id);
	TEXT_COPY(checkout->payment_status, status);
	checkout->heard_us = source->heard_us;
	checkout->bought_us = bought_at(source, order);
	note_former_purchase(order, status, checkout);
	field_id(order, "id", checkout->ids.order_id, sizeof(checkout->ids.order_id));
	read_customer(order, &checkout->ids);
	read_cart_id(order, &checkout->ids);
	read_address(source, email, &checkout->ids);
	if (field_currency(order, "currency", checkout->currency) != 1 ||
		field_money(order, "total", checkout->currency, &checkout->total_minor) != 1)
		checkout->total_minor = 0; /* the order is a stop even without an amount */
	read_refunds(order, checkout);
	return READ_CHECKOUT;
}

enum reading woocommerce_read_order(const struct event_source *source, const json_t *order, struct event *ret)
{
	event_clear(ret);
	TEXT_COPY(ret->webhook_id, source->webhook_id);
	enum reading reading = read_order(source, order, ret);
	if (reading == READ_CHECKOUT && !ret->checkout.ids.order_id[0])
		return unreadable(ret, "the body names no order: the field id is not given");
	return reading;
}

enum reading woocommerce_read(const struct event_source *source, struct bytes body, struct event *ret)
{
	enum reading reading;
	const json_t *json;

	event_clear(ret);
	TEXT_COPY(ret->webhook_id, source->webhook_id);
	if (strcmp(source->topic, "order.created") != 0 && strcmp(source->topic, "order.updated") != 0)
		return nothing(ret, "this topic is not one that cartbus uses");
	json = fields_parse(body, ret->why);
	if (!json)
		return READ_UNREADABLE;
	reading = woocommerce_read_order(source, json, ret);
	fields_done();
	return reading;
}
