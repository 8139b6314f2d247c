/*
 * pages.c: makes the requests of a task to the storefront's API, and reads the answers
 *
 * Orders and checkouts that changed since a given time come in pages, oldest first, so that changes meanwhile
 * shift nothing: Shopify's by since_id, WooCommerce's by page number, ordered by id. Shopify's REST API is
 * used because its bodies are those of the webhooks and hold the tokens by which carts are joined; GraphQL's
 * AbandonedCheckout has none. BigCommerce is asked for one cart or order. Sources: shopify.dev (Admin REST,
 * Orders and Abandoned checkouts), woocommerce.github.io (REST v3), developer.bigcommerce.com.
 * Sources: shopify.dev (Admin REST, Orders and Abandoned checkouts), woocommerce.github.io (REST v3), developer.bigcommerce.com.
 */
#include "services/platform/storefront/pages.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/storefront/api.h"
#include "services/kit/storefront/event.h"
#include "services/kit/storefront/fields.h"
#include "services/kit/storefront/payload_parts.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAGE = 20, PAGE_BYTES = 8 * 1024 * 1024 };
#define DEADLINE_US (20 * US_PER_S) /* no person waits for the answer */

static int ask_shopify(const struct shop *shop, const StorefrontTask *task, struct http_request *ret)
{
	char since[STOREFRONT_TIME_MAX];
	storefront_time(task->from_us, since);
	return storefront_request(shop, "GET", ret,
		"/admin/api/%s/%s.json?status=%s&updated_at_min=%sZ&limit=%d&since_id=%" PRIu64,
		shop->storefront.api_version, task->kind == TASK_ORDERS ? "orders" : "checkouts",
		task->kind == TASK_ORDERS ? "any" : "open", since, PAGE, task->after);
}

static int ask_woocommerce(const struct shop *shop, const StorefrontTask *task, struct http_request *ret)
{
	char since[STOREFRONT_TIME_MAX];
	storefront_time(task->from_us, since);
	return storefront_request(shop, "GET", ret,
		"/wp-json/wc/v3/"
		"orders?modified_after=%s&dates_are_gmt=true&orderby=id&order=asc&per_page=%d&page=%" PRIu64,
		since, PAGE, task->after + 1);
}

static int ask_bigcommerce(const struct shop *shop, const StorefrontTask *task, struct http_request *ret)
{
	char id[3 * sizeof(task->id) + 4];
	if (!storefront_encode(task->id, id, sizeof(id)))
		return -EINVAL;
	if (task->kind == TASK_ORDER)
		return storefront_request(shop, "GET", ret, "/v2/orders/%s", id);
	return storefront_request(shop, "GET", ret, "/v3/carts/%s?include=redirect_urls", id);
}

static bool is_known(enum storefront_platform platform, TaskKind kind)
{
	switch (platform) {
	case STOREFRONT_NONE:
		return false;
	case STOREFRONT_SHOPIFY:
		return kind == TASK_ORDERS || kind == TASK_CHECKOUTS;
	case STOREFRONT_WOOCOMMERCE:
		return kind == TASK_ORDERS;
	case STOREFRONT_BIGCOMMERCE:
		return kind == TASK_CART || kind == TASK_ORDER;
	}
	return false;
}

int pages_ask(const struct shop *shop, const StorefrontTask *task, struct http_request *ret)
{
	enum storefront_platform platform = shop->storefront.platform;
	*ret = (struct http_request){ 0 };
	if (!is_known(platform, task->kind))
		return -ENOTSUP;
	int r = platform == STOREFRONT_SHOPIFY       ? ask_shopify(shop, task, ret)
		: platform == STOREFRONT_WOOCOMMERCE ? ask_woocommerce(shop, task, ret)
						     : ask_bigcommerce(shop, task, ret);
	ret->deadline_us = DEADLINE_US;
	ret->most_bytes = PAGE_BYTES;
	return r;
}

/* ---- answers ---- */

struct reader {
	struct event_source *source;
	struct event *event;
	page_fn *each;
	void *context;
};

static void hand_event(const struct reader *reader, enum reading reading)
{
	if (reading == READ_CHANGED || reading == READ_CHECKOUT)
		reader->each(reader->event, reading, reader->context);
}

/*
 * -EINVAL: the page has more entries than were requested, or no new ones: a storefront that ignores paging
 * would be asked for ever.
 */
static int read_length(const json_t *list, uint64_t last_id, struct page *ret)
{
	ret->count = (int)json_array_size(list);
	ret->more = ret->count >= PAGE;
	ret->last_id = last_id;
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_int_t id = json_integer_value(json_object_get(json_array_get(list, i), "id"));
		if (id > 0 && (uint64_t)id > ret->last_id)
			ret->last_id = (uint64_t)id;
	}
	return ret->count > PAGE || (ret->more && ret->last_id <= last_id) ? -EINVAL : 0;
}

static int read_shopify(const struct reader *reader, const StorefrontTask *task, const json_t *body, struct page *ret)
{
	bool orders = task->kind == TASK_ORDERS;
	const json_t *list = field_list(body, orders ? "orders" : "checkouts");
	if (!list)
		return -EINVAL;
	int r = read_length(list, task->after, ret);
	if (r < 0)
		return r;
	ret->after = ret->last_id;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		reader->source->topic = !orders           ? "checkouts/update"
			: field_word(one, "cancelled_at") ? "orders/cancelled"
							  : "orders/create";
		hand_event(reader, shopify_read_resource(reader->source, one, reader->event));
	}
	return 0;
}

static int read_woocommerce(
	const struct reader *reader, const StorefrontTask *task, const json_t *body, struct page *ret)
{
	if (!json_is_array(body))
		return -EINVAL;
	int r = read_length(body, task->last_id, ret);
	if (r < 0)
		return r;
	ret->after = task->after + 1;
	reader->source->topic = "order.updated";
	for (size_t i = 0; i < json_array_size(body); i++)
		hand_event(reader, woocommerce_read_order(reader->source, json_array_get(body, i), reader->event));
	return 0;
}

static int read_bigcommerce(
	const struct reader *reader, const StorefrontTask *task, const json_t *body, struct page *ret)
{
	enum reading reading = READ_CHECKOUT;
	ret->count = 1;
	reader->source->topic = task->platform_topic;
	if (task->kind == TASK_CART) {
		reading = bigcommerce_read_cart(reader->source, body, reader->event);
	} else if (!bigcommerce_read_order(body, &reader->event->checkout)) {
		reading = READ_NOTHING;
	} else {
		CartCheckout *order = &reader->event->checkout;
		order->heard_us = reader->source->heard_us;
		read_address(reader->source, field_word(field_object(body, "billing_address"), "email"), &order->ids);
	}
	hand_event(reader, reading);
	return reading == READ_UNREADABLE ? -EINVAL : 0;
}

static int read_body(const struct reader *reader, const struct shop *shop, const StorefrontTask *task,
	const json_t *body, struct page *ret)
{
	switch (shop->storefront.platform) {
	case STOREFRONT_NONE:
		break;
	case STOREFRONT_SHOPIFY:
		return read_shopify(reader, task, body, ret);
	case STOREFRONT_WOOCOMMERCE:
		return read_woocommerce(reader, task, body, ret);
	case STOREFRONT_BIGCOMMERCE:
		return read_bigcommerce(reader, task, body, ret);
	}
	return -EINVAL;
}

int pages_read(const struct shop *shop, const StorefrontTask *task, struct event_source *source, struct bytes body,
	page_fn *each, void *context, struct page *ret, char ret_why[200])
{
	json_error_t error;
	json_t *json = json_loadb(body.len ? body.data : "", body.len, JSON_REJECT_DUPLICATES, &error);
	struct reader reader = { source, memory_new(sizeof(struct event)), each, context };
	*ret = (struct page){ .after = task->after };
	int r = json ? read_body(&reader, shop, task, json, ret) : -EINVAL;
	if (r < 0)
		snprintf(ret_why, 200, "the storefront's answer is not what it was asked for");
	free(reader.event);
	json_decref(json);
	return r;
}
