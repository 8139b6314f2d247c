/* given.c: a cart with a mug in it, and what was said about it */
#include "given.h"
#include "bus/base/text.h"

CartChanged mug_at(int minute)
{
	return (CartChanged){ .has_ids = true,
		.ids = { .cart_token = "t1" },
		.platform = PLATFORM_SHOPIFY,
		.platform_topic = "carts/update",
		.changed_us = MINUTE(minute),
		.heard_us = MINUTE(minute) + US_PER_S,
		.has_items = true,
		.items_count = 1,
		.items = { { .title = "Mug", .variant_id = "v1", .sku = "mug", .quantity = 1, .price_minor = 3500 } },
		.has_total = true,
		.total_minor = 3500,
		.currency = "EUR" };
}

CartChanged mug_of_ann_at(int minute)
{
	CartChanged changed = mug_at(minute);

	TEXT_COPY(changed.ids.email, "ann@buyer.example");
	TEXT_COPY(changed.ids.email_hash, "ann");
	return changed;
}

CartCheckout order_at(int minute)
{
	return (CartCheckout){ .has_ids = true,
		.ids = { .cart_token = "t1", .order_id = "1001" },
		.bought_us = MINUTE(minute),
		.heard_us = MINUTE(minute) + US_PER_S,
		.total_minor = 3500,
		.currency = "EUR" };
}

enum verdict when_changed(struct harness *h, const CartChanged *changed)
{
	harness_now(h, changed->heard_us + US_PER_S);
	return WHEN(h, cart_changed, changed, .shop = "demo", .key = "t1");
}

enum verdict when_bought(struct harness *h, const CartCheckout *checkout)
{
	harness_now(h, checkout->heard_us + US_PER_S);
	return WHEN(h, cart_checkout, checkout, .shop = "demo", .key = "t1");
}

const CartState *said_rows(const struct harness *h, size_t nth)
{
	static CartState rows[4];
	struct message_meta said;

	assert_true(nth < 4);
	assert_true(harness_said(h, &topic_cart_state, nth, &rows[nth], &said));
	assert_string_equal(said.key, rows[nth].ids.cart_id);
	assert_int_equal(said.version, rows[nth].state_version);
	assert_string_equal(said.shop, "demo");
	return &rows[nth];
}

const CartState *said_row(const struct harness *h)
{
	assert_int_equal(harness_count(h, &topic_cart_state), 1);
	return said_rows(h, 0);
}

const TimerSet *said_timer(const struct harness *h)
{
	static TimerSet set;
	struct message_meta said;

	assert_int_equal(harness_count(h, &topic_timer_set), 1);
	assert_true(harness_said(h, &topic_timer_set, 0, &set, &said));
	assert_string_equal(said.key, set.name);
	assert_int_equal(said.version, set.version);
	assert_string_equal(set.topic, "cart.wake");
	return &set;
}

const TimerCancel *said_cancel(const struct harness *h)
{
	static TimerCancel cancel;
	struct message_meta said;

	assert_int_equal(harness_count(h, &topic_timer_cancel), 1);
	assert_true(harness_said(h, &topic_timer_cancel, 0, &cancel, &said));
	assert_true(said.tombstone);
	assert_string_equal(said.key, cancel.name);
	return &cancel;
}

const Audit *said_audit(const struct harness *h, size_t nth)
{
	static Audit audit;

	assert_true(harness_said(h, &topic_audit, nth, &audit, NULL));
	assert_true(*audit.grounds);
	assert_true(*audit.after);
	return &audit;
}

void said_nothing(const struct harness *h)
{
	assert_int_equal(harness_count(h, NULL), 0);
}
