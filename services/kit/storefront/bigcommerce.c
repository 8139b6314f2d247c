/*
 * bigcommerce.c: reads BigCommerce's webhooks, and its API's carts (v3) and orders (v2)
 *
 * The webhooks have only ids, so carts and orders are fetched from the API. An order has its cart's id in
 * cart_id.
 * Sources:   developer.bigcommerce.com, "Carts", "Orders V2" and "Order status".
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/storefront/event.h"
#include "services/kit/storefront/fields.h"
#include "services/kit/storefront/payload_parts.h"
#include "services/kit/time/timestamp.h"
#include <curl/curl.h>

/* Statuses of an order that was not bought, or not any more; an order of any other status was bought. */
enum { STATUS_INCOMPLETE = 0, STATUS_REFUNDED = 4, STATUS_CANCELLED = 5, STATUS_DECLINED = 6 };

static const struct item_names line_items = {
	.title = "name",
	.sku = "sku",
	.product_id = "product_id",
	.variant_id = "variant_id",
	.quantity = "quantity",
	.price = "sale_price",
	.link = "url",
	.pictures = { "image_url" },
};

/* "Tue, 20 Nov 2012 00:00:00 +0000" */
static int64_t timestamp_of(const json_t *order, const char *name)
{
	const char *text = field_word(order, name);
	time_t seconds = text ? curl_getdate(text, NULL) : -1;
	return seconds > 0 ? seconds * US_PER_S : 0;
}

bool bigcommerce_read_order(const json_t *order, CartCheckout *ret)
{
	const json_t *status = json_object_get(order, "status_id");
	json_int_t number = json_integer_value(status);
	*ret = (CartCheckout){ .has_ids = true, .platform = PLATFORM_BIGCOMMERCE };
	if (!json_is_integer(status) || number == STATUS_INCOMPLETE ||
		!field_id(order, "id", ret->ids.order_id, sizeof(ret->ids.order_id)))
		return false;
	ret->kind = number == STATUS_CANCELLED || number == STATUS_DECLINED || number == STATUS_REFUNDED
		? CHECKOUT_CANCELLED
		: CHECKOUT_BOUGHT;
	TEXT_COPY(ret->platform_topic, "api/orders");
	field_id(order, "cart_id", ret->ids.cart_token, sizeof(ret->ids.cart_token));
	read_customer(order, &ret->ids);
	ret->bought_us = timestamp_of(order, "date_created");
	ret->ordered_us = ret->bought_us;
	ret->was_bought = number == STATUS_REFUNDED;
	field_text(order, "status", ret->payment_status, sizeof(ret->payment_status));
	if (field_currency(order, "currency_code", ret->currency) != 1 ||
		field_money(order, "total_inc_tax", ret->currency, &ret->total_minor) != 1)
		ret->total_minor = 0; /* the order is a stop even without an amount */
	return true;
}

static void read_all_items(const json_t *cart, CartChanged *changed)
{
	static const char *const kinds[] = { "physical_items", "digital_items", "custom_items" };
	const json_t *lines = field_object(cart, "line_items");
	json_t *all = json_array(), *body;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		json_t *some = json_object_get(lines, kinds[i]);
		if (json_is_array(some))
			json_array_extend(all, some);
	}
	body = json_pack("{s:o}", "items", all);
	if (lines)
		read_items(body, "items", &line_items, changed);
	json_decref(body);
}

static void read_timestamp(const struct event_source *source, const json_t *cart, CartChanged *changed)
{
	if (!field_timestamp(cart, "updated_time", &changed->changed_us) &&
		!field_timestamp(cart, "created_time", &changed->changed_us))
		changed->changed_us = source->triggered_us ? source->triggered_us : source->heard_us;
	changed->changed_us = timestamp_not_ahead(changed->changed_us, source->heard_us);
}

enum reading bigcommerce_read_cart(const struct event_source *source, const json_t *body, struct event *ret)
{
	const json_t *cart = field_object(body, "data"), *urls = field_object(cart, "redirect_urls");
	CartChanged *changed = &ret->changed;
	event_clear(ret);
	if (!field_id(cart, "id", changed->ids.cart_token, sizeof(changed->ids.cart_token)))
		return unreadable(ret, "the answer names no cart: the field id is not given");
	changed->has_ids = true;
	changed->platform = PLATFORM_BIGCOMMERCE;
	TEXT_COPY(changed->platform_topic, source->topic);
	TEXT_COPY(changed->webhook_id, source->webhook_id);
	changed->heard_us = source->heard_us;
	read_timestamp(source, cart, changed);
	read_customer(cart, &changed->ids);
	read_address(source, field_word(cart, "email"), &changed->ids);
	if (field_currency(field_object(cart, "currency"), "code", changed->currency) == 1)
		changed->has_total = field_money(cart, "cart_amount", changed->currency, &changed->total_minor) == 1;
	read_all_items(cart, changed);
	const char *locale = field_word(cart, "locale");
	if (locale && !text_has_control(locale))
		TEXT_COPY(changed->locale, locale);
	if (!field_url(urls, "cart_url", changed->recovery_url, sizeof(changed->recovery_url)))
		field_url(urls, "checkout_url", changed->recovery_url, sizeof(changed->recovery_url));
	return READ_CHANGED;
}

/* ---- webhooks ---- */

static enum reading read_sale(const struct event_source *source, const json_t *data, struct event *ret)
{
	CartCheckout *sale = &ret->checkout;
	if (!field_id(data, "orderId", sale->ids.order_id, sizeof(sale->ids.order_id)))
		return unreadable(ret, "the body names no order: the field orderId is not given");
	sale->has_ids = true;
	sale->platform = PLATFORM_BIGCOMMERCE;
	TEXT_COPY(sale->platform_topic, source->topic);
	sale->bought_us = source->triggered_us ? source->triggered_us : source->heard_us;
	sale->heard_us = source->heard_us;
	field_id(data, "id", sale->ids.cart_token, sizeof(sale->ids.cart_token));
	return READ_CHECKOUT;
}

static enum reading read_end(const struct event_source *source, const json_t *data, struct event *ret)
{
	CartChanged *end = &ret->changed;
	end->has_ids = true;
	end->platform = PLATFORM_BIGCOMMERCE;
	end->has_items = true;
	TEXT_COPY(end->platform_topic, source->topic);
	end->heard_us = source->heard_us;
	end->changed_us = source->triggered_us ? source->triggered_us : source->heard_us;
	field_id(data, "id", end->ids.cart_token, sizeof(end->ids.cart_token));
	return READ_CHANGED;
}

static enum reading read_task(const struct event_source *source, const json_t *data, TaskKind kind, struct event *ret)
{
	StorefrontTask *task = &ret->task;
	*task = (StorefrontTask){ .kind = kind, .heard_us = source->heard_us, .triggered_us = source->triggered_us };
	TEXT_COPY(task->platform_topic, source->topic);
	TEXT_COPY(task->who, "system");
	field_id(data, "id", task->id, sizeof(task->id));
	return READ_TASK;
}

static enum reading read_scope(const struct event_source *source, const json_t *data, struct event *ret)
{
	static const char *const carts[] = { "store/cart/created", "store/cart/updated", "store/cart/abandoned" };
	const char *scope = source->topic;
	for (size_t i = 0; i < sizeof(carts) / sizeof(carts[0]); i++)
		if (strcmp(scope, carts[i]) == 0)
			return read_task(source, data, TASK_CART, ret);
	if (strcmp(scope, "store/order/created") == 0 || strcmp(scope, "store/order/statusUpdated") == 0)
		return read_task(source, data, TASK_ORDER, ret);
	if (strcmp(scope, "store/cart/converted") == 0)
		return read_sale(source, data, ret);
	if (strcmp(scope, "store/cart/deleted") == 0)
		return read_end(source, data, ret);
	return nothing(ret, "this scope is not one that cartbus uses");
}

/* `created_at` has seconds since 1970. Returns microseconds; 0: it has none, or a time in the future. */
static int64_t triggered_us(const json_t *created_at, int64_t heard_us)
{
	json_int_t seconds = json_integer_value(created_at);

	return seconds > 0 && seconds <= heard_us / US_PER_S ? seconds * US_PER_S : 0;
}

enum reading bigcommerce_read(const struct event_source *source, struct bytes body, struct event *ret)
{
	struct event_source known = *source;
	char id[sizeof(ret->task.id)], scope[sizeof(ret->task.platform_topic)];
	event_clear(ret);
	ret->webhook_id[0] = 0; /* BigCommerce gives no id: the content identifies the delivery */
	const json_t *json = fields_parse(body, ret->why);
	if (!json)
		return READ_UNREADABLE;
	const json_t *data = field_object(json, "data");
	field_text(json, "scope", scope, sizeof(scope));
	known.topic = scope;
	known.triggered_us = triggered_us(json_object_get(json, "created_at"), source->heard_us);
	enum reading reading = field_id(data, "id", id, sizeof(id))
		? read_scope(&known, data, ret)
		: unreadable(ret, "the body names nothing: data.id is not given");
	fields_done();
	return reading;
}
