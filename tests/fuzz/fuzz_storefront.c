/*
 * fuzz_storefront.c: whatever a storefront's API answers, an order is told only when it names this cart or shopper
 *
 * The first byte chooses the platform and what was asked, the rest is the answer.
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/carts/orders/orders.h"
#include "services/platform/storefront/pages.h"
#include "tests/fuzz/fuzz.h"

enum { PLATFORMS = 3, ASKED_ROUNDS = STOREFRONT_ROUNDS };

static void make_cart(CartState *ret)
{
	*ret = (CartState){
		.has_ids = true, .abandoned_us = 1763650800 * US_PER_S, .first_seen_us = 1763650000 * US_PER_S
	};
	TEXT_COPY(ret->ids.cart_id, "c-1");
	TEXT_COPY(ret->ids.cart_token, "t-1");
	TEXT_COPY(ret->ids.checkout_token, "k-1");
	TEXT_COPY(ret->ids.email, "ada@example.com");
	TEXT_COPY(ret->ids.email_hash, "hash");
}

static void try_order(const struct shop *shop, int round, struct bytes body)
{
	static CartState cart; /* large, as is the next */
	static CartCheckout order;
	const struct http_answer answer = { .end = HTTP_ANSWERED, .status = 200, .went = true, .body = body };
	char why[200];

	make_cart(&cart);
	switch (storefront_hear(shop, &cart, round, &answer, &order, why)) {
	case STOREFRONT_ORDER:
		MUST(order.has_ids && !order.ids.email[0]);
		MUST(strcmp(order.ids.email_hash, "hash") == 0 || order.ids.cart_token[0] ||
			order.ids.checkout_token[0] || order.ids.checkout_id[0] || order.ids.cart_id[0]);
		break;
	case STOREFRONT_SILENT:
		MUST(why[0] && memchr(why, 0, sizeof(why)) && text_is_utf8(bytes_of(why)));
		break;
	case STOREFRONT_NO_ORDER:
	case STOREFRONT_ASK_ON:
		break;
	}
}

static void on_event(const struct event *event, enum reading reading, void *context)
{
	int *count = context;

	MUST(event && (reading == READ_CHANGED || reading == READ_CHECKOUT));
	(*count)++;
}

static void try_page(const struct shop *shop, TaskKind kind, struct bytes body)
{
	StorefrontTask task = { .kind = kind, .id = "t-1", .after = 3 };
	struct event_source source = { .shop = "demo",
		.topic = "",
		.webhook_id = "",
		.address_key = bytes_of("0123456789abcdef0123456789abcdef"),
		.heard_us = 1763650900 * US_PER_S };
	struct page page;
	char why[200] = "";
	int count = 0;

	if (pages_read(shop, &task, &source, body, on_event, &count, &page, why) < 0)
		MUST(why[0]);
	else
		MUST(page.count >= 0 && count <= page.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct shop shop; /* large */
	struct bytes body = BYTES(data + 1, size - 1);
	int asked;

	if (size < 2)
		return 0;
	shop = (struct shop){ .name = "demo", .currency = "EUR" };
	shop.storefront.platform = STOREFRONT_SHOPIFY + data[0] % PLATFORMS;
	TEXT_COPY(shop.storefront.api, "https://shop.example");
	asked = data[0] / PLATFORMS % (ASKED_ROUNDS + 4);
	if (asked < ASKED_ROUNDS)
		try_order(&shop, asked, body);
	else
		try_page(&shop, (TaskKind)(asked - ASKED_ROUNDS), body);
	return 0;
}
