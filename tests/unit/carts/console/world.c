/* world.c: the pages' folds in a harness */
#include "world.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/console/folds.h"
#include "services/carts/waiter/waiter.h"
#include "tests/unit/document.h"
#include <pb_encode.h>
#include <stdio.h>
#include <stdlib.h>

static const struct remembers *const folds[] = { carts_page_report, waiter_remembers, carts_page_folds, NULL };
const struct service pages = { .name = "pages", .remembers_also = folds };

static const char rules[] =
	"Small carts (under $40): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. Big carts "
	"(over $150): 1 hour, then 20.";
static const char shop_conf[] =
	"[shop]\ntime-zone = " ZONE
	"\ncurrency = USD\nlocale = en-US\ntitle = Demo\nurl = https://demo.example\n[mail]\nfrom = Demo "
	"<shop@demo.example>\nowner = owner@demo.example\nbounce = bounce@demo.example\nreply-to = Demo <shop@demo.example>\n"
	"postal-address = 1 Main Street\nconsent = all\n";

struct harness *pages_new(void)
{
	return harness_new(&pages, NOW_US);
}

void given_shop(struct harness *h, const char *more)
{
	given_text(h, DEMO, "rules", rules, "");
	given_text(h, DEMO, "shop", shop_conf, more);
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_LIVE, .who = "Anna", .at_us = NOON_US(20) }), .shop = DEMO,
		.key = DEMO);
}

static void set_address(CartState *cart, const char *email)
{
	if (!*email)
		return;
	TEXT_COPY(cart->ids.email, email);
	snprintf(cart->ids.email_hash, sizeof(cart->ids.email_hash), "h-%.20s", email);
}

static void set_merges(CartState *cart, const struct a_cart *from)
{
	if (from->merged_into) {
		TEXT_COPY(cart->merged_into, from->merged_into);
		cart->status = CART_CLOSED;
		cart->closed_reason = CLOSED_MERGED;
	}
	if (from->merged_from) {
		cart->merged_from_count = 1;
		TEXT_COPY(cart->merged_from[0], from->merged_from);
	}
}

CartState *cart_of(const struct a_cart *from)
{
	static uint64_t version = 1000;
	CartState *cart = memory_new(sizeof(*cart));

	cart->has_ids = true;
	TEXT_COPY(cart->ids.cart_id, from->id);
	TEXT_COPY(cart->ids.cart_token, from->token ? from->token : from->id);
	set_address(cart, from->email ? from->email : "ann@buyer.example");
	cart->revision = 3;
	cart->state_version = from->version ? from->version : ++version;
	cart->abandoned_us = cart->changed_us = cart->first_seen_us =
		from->left_us ? from->left_us : NOW_US - US_PER_HOUR;
	cart->status = from->status;
	cart->closed_reason = from->closed_reason;
	cart->closed_us = from->status == CART_CLOSED ? NOW_US : 0;
	cart->items_count = 1;
	TEXT_COPY(cart->items[0].title, from->title ? from->title : "Mug");
	cart->items[0].quantity = 1;
	cart->total_minor = from->total_minor ? from->total_minor : 3599;
	TEXT_COPY(cart->currency, from->currency ? from->currency : "USD");
	TEXT_COPY(cart->recovery_url, "https://demo.example/back");
	cart->bought_us = from->bought_us;
	cart->order_total_minor = from->order_minor;
	TEXT_COPY(cart->order_currency, from->order_minor ? cart->currency : "");
	TEXT_COPY(cart->order_id, from->order ? from->order : "");
	cart->order_refunded_minor = from->refunded_minor;
	cart->order_cancelled_us = from->cancelled_us;
	cart->test = from->test;
	set_merges(cart, from);
	return cart;
}

void given_cart(struct harness *h, const struct a_cart *from)
{
	CartState *cart = cart_of(from);

	GIVEN(h, cart_state, cart, .shop = DEMO, .key = cart->ids.cart_id, .version = cart->state_version,
		.tombstone = cart->status != CART_OPEN);
	free(cart);
}

void given_sent(struct harness *h, const char *cart_id, uint32_t step, int64_t at_us)
{
	ReminderOutcome sent = { .step = step, .attempt = 1, .address_hash = "h-ann@buyer.example", .at_us = at_us };
	char key[96];

	TEXT_COPY(sent.cart_id, cart_id);
	snprintf(key, sizeof(key), "%s/%u", cart_id, (unsigned)step);
	GIVEN(h, reminder_sent, &sent, .shop = DEMO, .key = key);
}

void given_timer(struct harness *h, const char *cart_id, uint64_t revision, int64_t due_us)
{
	CartWake wake = { .revision = revision, .due_us = due_us };
	TimerSet set = { .version = revision, .due_us = due_us, .topic = "cart.wake" };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	TEXT_COPY(wake.cart_id, cart_id);
	snprintf(set.name, sizeof(set.name), "cart/%s", cart_id);
	TEXT_COPY(set.key, cart_id);
	assert_true(pb_encode(&stream, &CartWake_msg, &wake));
	set.payload.size = (pb_size_t)stream.bytes_written;
	GIVEN(h, timer_set, &set, .shop = DEMO, .key = set.name, .version = revision);
}

struct page_asked asked_of(const struct harness *h)
{
	return (struct page_asked){ .state = harness_state(h), .shop = DEMO, .zone = ZONE, .now_us = NOW_US };
}

json_int_t number_at(const json_t *json, const char *name)
{
	const json_t *value = json_object_get(json, name);

	if (!json_is_integer(value))
		fail_msg("\"%s\" is no integer", name);
	return json_integer_value(value);
}

const char *text_at(const json_t *json, const char *name)
{
	const json_t *value = json_object_get(json, name);

	if (!json_is_string(value))
		fail_msg("\"%s\" is no text", name);
	return json_string_value(value);
}
