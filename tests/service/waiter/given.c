/* given.c: a live shop with the seed's rules, and one small cart in it */
#include "given.h"
#include "bus/base/text.h"
#include <pb_decode.h>
#include <stdio.h>
#include <string.h>

const char RULES[] = "Small carts (under $40): remind after 4 hours, then after 24. Medium carts: 2 hours, then "
		     "22. Big carts (over $150): 1 "
		     "hour, then 20.";
const char SHOP[] = "[shop]\ntime-zone = America/New_York\ncurrency = USD\nlocale = en-US\ntitle = Demo\n"
		    "url = https://demo.example\n[mail]\nfrom = Demo <shop@demo.example>\nowner = owner@demo.example\n"
		    "bounce = bounce@demo.example\nreply-to = Demo <shop@demo.example>\n"
		    "postal-address = 1 Main Street\nnever = @rival.example\nconsent = ";

/* Each one is newer than the one before. */
uint32_t given_document(struct harness *h, const char *kind, const char *text, const char *more)
{
	static uint32_t version = 6;
	static Document document;

	document = (Document){ .version = ++version };
	TEXT_COPY(document.kind, kind);
	snprintf(document.text, sizeof(document.text), "%s%s", text, more);
	snprintf(document.digest, sizeof(document.digest), "%016llx",
		(unsigned long long)text_hash(bytes_of(document.text)));
	GIVEN(h, document, &document, .shop = "demo", .key = kind, .version = version);
	return version;
}

void given_mode(struct harness *h, ShopMode mode)
{
	GIVEN(h, shop_status, &((ShopStatus){ .mode = mode }), .shop = "demo", .key = "demo");
}

CartState small_cart(void)
{
	return (CartState){ .has_ids = true,
		.ids = { .cart_id = "c1", .cart_token = "c1", .email = "ann@buyer.example", .email_hash = "h" },
		.revision = 3,
		.state_version = 48,
		.abandoned_us = LEFT_US,
		.changed_us = LEFT_US,
		.items_count = 1,
		.items = { { .title = "Mug", .variant_id = "v", .quantity = 1, .price_minor = 3599 } },
		.total_minor = 3599,
		.currency = "USD" };
}

void given_cart(struct harness *h, const CartState *cart)
{
	GIVEN(h, cart_state, cart, .shop = "demo", .key = cart->ids.cart_id, .version = cart->state_version);
}

/* A live shop with the seed's rules, and one small cart: waits 4 h, then 24 h. */
struct harness *given_all(ShopMode mode)
{
	struct harness *h = harness_new(&waiter, LEFT_US);
	CartState cart = small_cart();

	given_document(h, "rules", RULES, "");
	given_document(h, "shop", SHOP, "any\n");
	given_mode(h, mode);
	given_cart(h, &cart);
	return h;
}

void when_woken(struct harness *h, int64_t now_us, uint64_t revision)
{
	CartWake wake = { .cart_id = "c1", .revision = revision, .due_us = now_us };

	harness_now(h, now_us);
	assert_int_equal(WHEN(h, cart_wake, &wake, .shop = "demo", .key = "c1"), TURN_DONE);
}

Audit audited(const struct harness *h)
{
	Audit audit;

	assert_int_equal(harness_count(h, &topic_audit), 1);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	return audit;
}

CartWake next_wake(const struct harness *h, int64_t *ret_due_us)
{
	CartWake wake;
	TimerSet set;
	pb_istream_t stream;
	struct message_meta said;

	assert_int_equal(harness_count(h, &topic_timer_set), 1);
	assert_true(harness_said(h, &topic_timer_set, 0, &set, &said));
	assert_string_equal(set.name, "cart/c1");
	assert_string_equal(said.key, "cart/c1");
	assert_string_equal(set.topic, "cart.wake");
	assert_string_equal(set.key, "c1");
	assert_int_equal(set.version, 3);
	stream = pb_istream_from_buffer(set.payload.bytes, set.payload.size);
	assert_true(pb_decode(&stream, &CartWake_msg, &wake));
	assert_string_equal(wake.cart_id, "c1");
	assert_int_equal(wake.revision, 3);
	assert_int_equal(wake.due_us, set.due_us);
	*ret_due_us = set.due_us;
	return wake;
}

int64_t next_us(const struct harness *h)
{
	int64_t due_us;

	next_wake(h, &due_us);
	return due_us;
}

ClosedReason closed(const struct harness *h)
{
	CartClosed closed_cart = { 0 };

	if (harness_said(h, &topic_cart_closed, 0, &closed_cart, NULL)) {
		assert_string_equal(closed_cart.cart_id, "c1");
		assert_int_equal(closed_cart.revision, 3);
	}
	return closed_cart.reason;
}

void given_sent(struct harness *h, uint32_t step, int64_t at_us)
{
	SendClaim claim = { .cart_id = "c1", .step = step, .attempt = 1, .address_hash = "h", .claimed_us = at_us };
	ReminderOutcome sent = { .cart_id = "c1", .step = step, .attempt = 1, .address_hash = "h", .at_us = at_us };

	GIVEN(h, send_claim, &claim, .shop = "demo", .key = "c1/1");
	GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = "c1/1");
}
