/* test_eligibility.c: whom the shop's policy lets cartbus chase */
#include "bus/actor/sim/harness.h"
#include "bus/base/text.h"
#include "services/carts/policy/eligibility.h"
#include "services/carts/policy/purchases.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

static const struct service remembers = { .name = "remembers-purchases",
	.remembers = REMEMBERING(REMEMBERS(cart_checkout, purchases_remember)) };

static const char FILE_TEXT[] =
	"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\n"
	"url = https://demo.example\n[mail]\nfrom = shop@demo.example\nnever = bob@rival.example\n";

static struct shop shop_with(const char *more)
{
	struct config_error error;
	struct shop shop;
	char text[2000];

	snprintf(text, sizeof(text), "%s%s", FILE_TEXT, more);
	if (shop_parse(text, "demo", "demo/shop.conf", &shop, &error) < 0)
		fail_msg("%s", error.text);
	return shop;
}

static CartState cart_of(const char *email)
{
	CartState cart = { .abandoned_us = 2000,
		.items_count = 2,
		.items = { { .title = "Mug", .sku = "MUG-1", .product_id = "11", .vendor = "Töpferei Ö" },
			{ .title = "Große GUTSCHEINKARTE", .sku = "GIFT-50", .product_id = "12", .vendor = "Demo" } },
		.tags_count = 2,
		.tags = { "VIP", "Großhandel" } };

	TEXT_COPY(cart.ids.email, email);
	TEXT_COPY(cart.ids.email_hash, "h");
	return cart;
}

static struct eligibility_finding decide(struct harness *h, const char *more, const CartState *cart, ShopMode mode)
{
	static struct shop shop;

	shop = shop_with(more);
	return eligibility_decide(harness_state(h), &shop, cart, mode);
}

static void the_policy_of_consent_decides_and_a_no_is_a_no_in_all_of_them(void **state)
{
	static const struct {
		const char *policy;
		Consent consent;
		bool bought_before, unreadable;
		enum eligibility eligibility;
	} table[] = { { "all", CONSENT_UNKNOWN, false, false, ELIGIBILITY_YES },
		{ "all", CONSENT_NO, false, false, ELIGIBILITY_SAID_NO },
		{ "all", CONSENT_NO, true, false, ELIGIBILITY_SAID_NO },
		{ "all", CONSENT_YES, false, false, ELIGIBILITY_YES },
		{ "any", CONSENT_UNKNOWN, false, false, ELIGIBILITY_YES },
		{ "customers", CONSENT_UNKNOWN, false, false, ELIGIBILITY_NO_CUSTOMER },
		{ "customers", CONSENT_UNKNOWN, true, false, ELIGIBILITY_YES },
		{ "customers", CONSENT_YES, false, false, ELIGIBILITY_YES },
		{ "customers", CONSENT_NO, true, false, ELIGIBILITY_SAID_NO },
		{ "marketing", CONSENT_UNKNOWN, true, false, ELIGIBILITY_NO_CONSENT },
		{ "marketing", CONSENT_YES, false, false, ELIGIBILITY_YES },
		{ "marketing", CONSENT_NO, true, false, ELIGIBILITY_SAID_NO },
		{ "all", CONSENT_NO, false, true, ELIGIBILITY_UNREADABLE_CONSENT },
		{ "customers", CONSENT_NO, true, true, ELIGIBILITY_UNREADABLE_CONSENT } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = harness_new(&remembers, 5000);
		CartState cart = cart_of("ann@buyer.example");
		CartCheckout order = {
			.has_ids = true, .ids = { .order_id = "1", .email_hash = "h" }, .bought_us = 1000
		};
		char more[60];

		if (table[i].bought_before)
			GIVEN(h, cart_checkout, &order, .shop = "demo", .key = "1");
		cart.consent = table[i].consent;
		cart.consent_unreadable = table[i].unreadable;
		snprintf(more, sizeof(more), "consent = %s\n", table[i].policy);
		if (decide(h, more, &cart, MODE_LIVE).eligibility != table[i].eligibility)
			fail_msg("row %zu: %s", i, eligibility_word(decide(h, more, &cart, MODE_LIVE).eligibility));
		harness_free(h);
	}
}

static void an_address_may_be_one_that_is_not_mailed(void **state)
{
	static const struct {
		const char *email;
		enum eligibility eligibility;
	} table[] = { { "ann@buyer.example", ELIGIBILITY_YES }, { "bob@rival.example", ELIGIBILITY_NEVER_MAIL },
		{ "eve@demo.example", ELIGIBILITY_STAFF }, { "eve@it.demo.example", ELIGIBILITY_STAFF },
		{ "eve@notdemo.example", ELIGIBILITY_YES }, { "postmaster@buyer.example", ELIGIBILITY_NOBODYS },
		{ "noreply+x@buyer.example", ELIGIBILITY_NOBODYS },
		{ "mailer-daemon@buyer.example", ELIGIBILITY_NOBODYS }, { "info@buyer.example", ELIGIBILITY_YES },
		{ "sales@buyer.example", ELIGIBILITY_YES }, { "postmasters@buyer.example", ELIGIBILITY_YES } };
	struct harness *h = harness_new(&remembers, 5000);

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		CartState cart = cart_of(table[i].email);

		if (decide(h, "[exclude]\nstaff = @demo.example\n", &cart, MODE_LIVE).eligibility !=
			table[i].eligibility)
			fail_msg("%s", table[i].email);
	}
	harness_free(h);
}

static void what_is_in_the_cart_may_exclude_it(void **state)
{
	static const struct {
		const char *exclusion, *what;
		enum eligibility eligibility;
	} table[] = { { "tag = wholesale", "", ELIGIBILITY_YES }, { "tag = vip", "vip", ELIGIBILITY_TAG },
		{ "tag = GROSSHANDEL", "GROSSHANDEL", ELIGIBILITY_TAG }, { "tag = VI", "", ELIGIBILITY_YES },
		{ "product = sku:gift-*", "gift-*", ELIGIBILITY_PRODUCT },
		{ "product = sku:GIFT", "", ELIGIBILITY_YES }, { "product = id:11", "11", ELIGIBILITY_PRODUCT },
		{ "product = id:1", "", ELIGIBILITY_YES },
		{ "product = vendor:TÖPFEREI*", "TÖPFEREI*", ELIGIBILITY_PRODUCT },
		{ "product = title:*gutschein*", "*gutschein*", ELIGIBILITY_PRODUCT },
		{ "product = title:mu?", "mu?", ELIGIBILITY_PRODUCT },
		{ "product = vendor:T?pferei ?", "T?pferei ?", ELIGIBILITY_PRODUCT },
		{ "product = vendor:T??pferei ?", "", ELIGIBILITY_YES },
		{ "product = vendor:töpferei ä", "", ELIGIBILITY_YES },
		{ "product = vendor:t[aö]pferei [öä]", "t[aö]pferei [öä]", ELIGIBILITY_PRODUCT },
		{ "product = vendor:t[!ä]pferei *", "t[!ä]pferei *", ELIGIBILITY_PRODUCT },
		{ "product = title:gutschein", "", ELIGIBILITY_YES },
		{ "product = vendor:nobody", "", ELIGIBILITY_YES } };
	struct harness *h = harness_new(&remembers, 5000);

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		CartState cart = cart_of("ann@buyer.example");
		char more[80];

		snprintf(more, sizeof(more), "[exclude]\n%s\n", table[i].exclusion);
		struct eligibility_finding found = decide(h, more, &cart, MODE_LIVE);
		if (found.eligibility != table[i].eligibility || strcmp(found.what, table[i].what) != 0)
			fail_msg("%s: %s \"%s\"", table[i].exclusion, eligibility_word(found.eligibility), found.what);
	}
	harness_free(h);
}

/* A message's array may hold old entries behind those that its count covers. */
static void what_is_not_counted_is_not_in_the_cart(void **state)
{
	struct harness *h = harness_new(&remembers, 5000);
	CartState cart = cart_of("ann@buyer.example");

	(void)state;
	assert_int_equal(
		decide(h, "[exclude]\nproduct = sku:gift-*\n", &cart, MODE_LIVE).eligibility, ELIGIBILITY_PRODUCT);
	assert_int_equal(decide(h, "[exclude]\ntag = Großhandel\n", &cart, MODE_LIVE).eligibility, ELIGIBILITY_TAG);
	cart.items_count = cart.tags_count = 1;
	assert_int_equal(decide(h, "[exclude]\nproduct = sku:gift-*\n", &cart, MODE_LIVE).eligibility, ELIGIBILITY_YES);
	assert_int_equal(decide(h, "[exclude]\ntag = Großhandel\n", &cart, MODE_LIVE).eligibility, ELIGIBILITY_YES);
	assert_int_equal(
		decide(h, "[exclude]\nproduct = sku:mug-1\n", &cart, MODE_LIVE).eligibility, ELIGIBILITY_PRODUCT);
	assert_int_equal(decide(h, "[exclude]\ntag = vip\n", &cart, MODE_LIVE).eligibility, ELIGIBILITY_TAG);
	harness_free(h);
}

static void tags_that_could_not_be_kept_count_as_excluded(void **state)
{
	struct harness *h = harness_new(&remembers, 5000);
	CartState cart = cart_of("ann@buyer.example");

	(void)state;
	cart.tags_left_out = 1;
	assert_int_equal(decide(h, "", &cart, MODE_LIVE).eligibility, ELIGIBILITY_YES);
	assert_int_equal(decide(h, "[exclude]\ntag = wholesale\n", &cart, MODE_LIVE).eligibility, ELIGIBILITY_TAG);
	harness_free(h);
}

static void test_carts_are_chased_where_nobody_gets_mail_and_where_the_owner_says_so(void **state)
{
	struct harness *h = harness_new(&remembers, 5000);
	CartState cart = cart_of("ann@buyer.example");

	(void)state;
	cart.test = true;
	assert_int_equal(decide(h, "", &cart, MODE_LIVE).eligibility, ELIGIBILITY_TEST);
	assert_int_equal(decide(h, "", &cart, MODE_MAIL_ME).eligibility, ELIGIBILITY_YES);
	assert_int_equal(decide(h, "[exclude]\ntest-orders = no\n", &cart, MODE_LIVE).eligibility, ELIGIBILITY_YES);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_policy_of_consent_decides_and_a_no_is_a_no_in_all_of_them),
		cmocka_unit_test(an_address_may_be_one_that_is_not_mailed),
		cmocka_unit_test(what_is_in_the_cart_may_exclude_it),
		cmocka_unit_test(what_is_not_counted_is_not_in_the_cart),
		cmocka_unit_test(tags_that_could_not_be_kept_count_as_excluded),
		cmocka_unit_test(test_carts_are_chased_where_nobody_gets_mail_and_where_the_owner_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
