/* test_astray.c: the admin is told of carts whose mails would lead nowhere, how many, and what to write into shop.conf */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/platform/monitor/astray.h"
#include "services/platform/monitor/check.h"
#include "services/platform/monitor/monitor.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

#define NOW_US (INT64_C(20000) * US_PER_DAY)

static void given_shop(struct harness *h, const char *hosts)
{
	static Document document;
	static uint32_t version;

	document = (Document){ .version = ++version, .kind = "shop" };
	snprintf(document.digest, sizeof(document.digest), "d%u", (unsigned)version); /* a parse is kept by it */
	snprintf(document.text, sizeof(document.text),
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\n"
		"url = https://demo.example\n%s[mail]\nfrom = Demo <shop@demo.example>\n",
		hosts);
	GIVEN(h, document, &document, .shop = "demo", .key = "shop", .version = version);
}

static struct harness *shop_with(const char *hosts)
{
	struct harness *h = harness_new(&monitor, NOW_US);

	given_shop(h, hosts);
	return h;
}

static CartState cart_of(const char *id, const char *url)
{
	CartState cart = { .has_ids = true, .revision = 1, .abandoned_us = NOW_US, .first_seen_us = NOW_US };

	TEXT_COPY(cart.ids.cart_id, id);
	TEXT_COPY(cart.ids.email, "a@b.example");
	TEXT_COPY(cart.ids.email_hash, "hash");
	TEXT_COPY(cart.recovery_url, url);
	return cart;
}

static void given(struct harness *h, const CartState *cart)
{
	static uint64_t version;

	GIVEN(h, cart_state, cart, .shop = "demo", .key = cart->ids.cart_id, .version = ++version);
}

static void given_cart(struct harness *h, const char *id, const char *url)
{
	CartState cart = cart_of(id, url);

	given(h, &cart);
}

/* Of which shop's carts something is to be told now; NULL: nothing is. */
static const char *alarm_text(struct harness *h, int64_t now_us)
{
	static Alarm alarm;

	if (!check_shop(harness_state(h), "demo", SHOP_LINKS, now_us, &alarm))
		return NULL;
	assert_string_equal(alarm.kind, "return-links");
	assert_non_null(strstr(alarm.remedy, "[shop] of its shop.conf: host = "));
	return alarm.text;
}

static void carts_that_lead_to_a_foreign_host_are_counted_and_the_host_is_named(void **state)
{
	struct harness *h = shop_with("");

	(void)state;
	given_cart(h, "good", "https://www.demo.example/r/1");
	assert_null(alarm_text(h, NOW_US));
	given_cart(h, "bad1", "https://Checkout.elsewhere.example/r/secret-token");
	const char *text = alarm_text(h, NOW_US);
	assert_non_null(strstr(text, "1 open cart is not mailed"));
	assert_non_null(strstr(text, "(checkout.elsewhere.example, cart bad1)"));
	assert_null(strstr(text, "secret-token"));
	given_cart(h, "bad2", "https://checkout.elsewhere.example/r/2");
	given_cart(h, "bad3", "https://anna:pw@demo.example/r/3");
	assert_non_null(strstr(alarm_text(h, NOW_US), "3 open carts are not mailed"));
	harness_free(h);
}

static void a_host_that_is_named_in_shop_conf_ends_it(void **state)
{
	struct harness *h = shop_with("");

	(void)state;
	given_cart(h, "c", "https://checkout.elsewhere.example/r/1");
	assert_non_null(alarm_text(h, NOW_US));
	given_shop(h, "host = elsewhere.example\n");
	assert_null(alarm_text(h, NOW_US));
	harness_free(h);
}

static void a_cart_without_a_link_counts_when_it_still_has_none_after_half_an_hour(void **state)
{
	struct harness *h = shop_with("");

	(void)state;
	given_cart(h, "none", "");
	given_cart(h, "plain", "http://demo.example/r/1");
	assert_null(alarm_text(h, NOW_US + 29 * US_PER_MINUTE));
	assert_non_null(strstr(alarm_text(h, NOW_US + 30 * US_PER_MINUTE), "2 open carts are not mailed"));
	given_cart(h, "none", "https://demo.example/r/2");
	assert_non_null(strstr(alarm_text(h, NOW_US + 30 * US_PER_MINUTE), "1 open cart is not mailed"));
	harness_free(h);
}

static void carts_that_nobody_would_mail_anyway_are_not_counted(void **state)
{
	static const char url[] = "https://elsewhere.example/r/1";
	struct harness *h = shop_with("");
	CartState cart = cart_of("bought", url);

	(void)state;
	cart.status = CART_BOUGHT;
	given(h, &cart);
	cart = cart_of("test", url);
	cart.test = true;
	given(h, &cart);
	cart = cart_of("nobody", url);
	cart.ids.email_hash[0] = '\0';
	given(h, &cart);
	cart = cart_of("merged", url);
	TEXT_COPY(cart.merged_into, "other");
	given(h, &cart);
	assert_null(alarm_text(h, NOW_US + US_PER_HOUR));
	cart = cart_of("left", url);
	given(h, &cart);
	assert_non_null(alarm_text(h, NOW_US));
	cart.status = CART_CLOSED;
	given(h, &cart);
	assert_null(alarm_text(h, NOW_US));
	harness_free(h);
}

static void carts_that_came_before_the_shop_was_known_are_judged_when_it_is(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);

	(void)state;
	given_cart(h, "good", "https://demo.example/r/1");
	given_cart(h, "bad", "https://elsewhere.example/r/1");
	assert_null(alarm_text(h, NOW_US));
	given_shop(h, "");
	assert_non_null(strstr(alarm_text(h, NOW_US), "1 open cart is"));
	harness_free(h);
}

static void note_shop(const char *shop, void *context)
{
	char *shops = context;

	strcat(strcat(shops, shop), " ");
}

/* A shop that the monitor does not look at any more would keep its alarm for ever. */
static void a_shop_that_had_such_a_cart_is_looked_at_when_it_has_none_any_more(void **state)
{
	struct harness *h = shop_with("");
	char shops[60] = "";

	(void)state;
	given_cart(h, "good", "https://demo.example/r/1");
	astray_each_shop(harness_state(h), note_shop, shops);
	assert_string_equal(shops, "");
	given_cart(h, "bad", "https://elsewhere.example/r/1");
	given_cart(h, "worse", "https://elsewhere.example/r/2");
	given_cart(h, "bad", "https://demo.example/r/1");
	given_cart(h, "worse", "https://demo.example/r/2");
	assert_null(alarm_text(h, NOW_US));
	astray_each_shop(harness_state(h), note_shop, shops);
	assert_string_equal(shops, "demo ");
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carts_that_lead_to_a_foreign_host_are_counted_and_the_host_is_named),
		cmocka_unit_test(a_host_that_is_named_in_shop_conf_ends_it),
		cmocka_unit_test(a_cart_without_a_link_counts_when_it_still_has_none_after_half_an_hour),
		cmocka_unit_test(carts_that_nobody_would_mail_anyway_are_not_counted),
		cmocka_unit_test(carts_that_came_before_the_shop_was_known_are_judged_when_it_is),
		cmocka_unit_test(a_shop_that_had_such_a_cart_is_looked_at_when_it_has_none_any_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
