/*
 * fuzz_webhook.c: any body that a storefront could sign is read, or refused with a reason; what is read can be said
 *
 * The first byte chooses the platform and its topic, the rest is the body.
 */
#include "bus/base/text.h"
#include "services/kit/storefront/event.h"
#include "tests/fuzz/fuzz.h"
#include <pb_encode.h>

typedef enum reading read_fn(const struct event_source *source, struct bytes body, struct event *ret);

static const struct door {
	read_fn *read;
	const char *topic;
} doors[] = {
	{ shopify_read, "checkouts/create" },
	{ shopify_read, "checkouts/update" },
	{ shopify_read, "checkouts/delete" },
	{ shopify_read, "carts/create" },
	{ shopify_read, "carts/update" },
	{ shopify_read, "orders/create" },
	{ shopify_read, "orders/paid" },
	{ shopify_read, "orders/cancelled" },
	{ shopify_read, "no/such" },
	{ woocommerce_read, "order.created" },
	{ woocommerce_read, "order.updated" },
	{ woocommerce_read, "order.deleted" },
	{ generic_read, "" },
	{ bigcommerce_read, "" },
};

static void must_be_sayable(const pb_msgdesc_t *fields, const void *message)
{
	size_t size = 0;
	MUST(pb_get_encoded_size(&size, fields, message));
}

static void must_be_clean(const char *text)
{
	MUST(text_is_utf8(bytes_of(text)) && !text_has_control(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct event event;
	if (len == 0)
		return 0;
	const struct door *door = &doors[*data % (sizeof(doors) / sizeof(doors[0]))];
	struct event_source source = {
		.shop = "demo",
		.topic = door->topic,
		.webhook_id = "w1",
		.address_key = bytes_of("0123456789abcdef0123456789abcdef"),
		.heard_us = INT64_C(1700000000000000),
	};
	memset(&event, 0x5a, sizeof(event));
	switch (door->read(&source, BYTES(data + 1, len - 1), &event)) {
	case READ_CHANGED:
		must_be_sayable(CartChanged_fields, &event.changed);
		must_be_clean(event.changed.first_name);
		must_be_clean(event.changed.ids.email);
		break;
	case READ_CHECKOUT:
		must_be_sayable(CartCheckout_fields, &event.checkout);
		must_be_clean(event.checkout.ids.email);
		break;
	case READ_TASK:
		must_be_sayable(StorefrontTask_fields, &event.task);
		MUST(*event.task.id);
		break;
	case READ_PRIVACY:
		must_be_sayable(PrivacyRequest_fields, &event.privacy);
		MUST(*event.privacy.request_id);
		break;
	case READ_NOTHING:
	case READ_UNREADABLE:
		MUST(*event.why);
		must_be_clean(event.why);
		break;
	}
	return 0;
}
