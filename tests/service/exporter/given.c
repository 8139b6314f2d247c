/* given.c: a shop, its carts and its nights */
#include "tests/service/exporter/given.h"

#include "bus/base/text.h"
#include "services/kit/time/zone.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

struct exporter exporter_here;

int64_t berlin(int day, int hour, int minute)
{
	const struct local_time local = { .year = 2026, .month = 10, .day = day, .hour = hour, .minute = minute };
	int64_t us;
	assert_int_equal(zone_moment("Europe/Berlin", &local, &us), 0);
	return us;
}

struct harness *given_shop_with(const char *more)
{
	static Document document = { .version = 1, .kind = "shop", .digest = "d1" };
	struct harness *h = harness_new_in(exporter_in(&exporter_here), berlin(25, 2, 0));
	TEXT_COPY(document.text,
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\nurl = "
		"https://demo.example\n"
		"[mail]\nfrom = Demo <shop@demo.example>\nowner = owner@demo.example\nbounce = bounce@demo.example\n"
		"reply-to = shop@demo.example\npostal-address = 1 Main Street\n");
	TEXT_COPY(document.digest, *more ? more : "d1"); /* a parse is kept by it */
	strncat(document.text, more, sizeof(document.text) - strlen(document.text) - 1);
	exporter_here = exporter_of("/exports", "https://carts.example", (struct bytes){ 0 });
	GIVEN(h, document, &document, .shop = "demo", .key = "shop", .version = 1);
	return h;
}

struct harness *given_shop(void)
{
	return given_shop_with("");
}

CartState cart_of(const char *id, int64_t abandoned_us)
{
	CartState cart = { .has_ids = true,
		.revision = 1,
		.abandoned_us = abandoned_us,
		.first_seen_us = abandoned_us,
		.total_minor = 1250,
		.currency = "EUR" };
	TEXT_COPY(cart.ids.cart_id, id);
	TEXT_COPY(cart.recovery_url, "https://demo.example/cart");
	return cart;
}

void given_cart(struct harness *h, const CartState *cart)
{
	static uint64_t version;
	GIVEN(h, cart_state, cart, .shop = "demo", .key = cart->ids.cart_id, .version = ++version);
}

enum verdict when_night(struct harness *h, int64_t due_us)
{
	Tick tick = { .name = "nightly", .due_us = due_us };
	return WHEN(h, tick_nightly, &tick, .shop = "demo", .key = "demo");
}
