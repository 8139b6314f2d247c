/* test_stops.c: the raw messages that forbid a send: as any service folds them */
#include "bus/actor/sim/harness.h"
#include "services/carts/policy/change.h"
#include "services/carts/policy/stops.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

static const struct service remembers_stops = { .name = "remembers-stops", .remembers = REMEMBERING(STOPS_REMEMBERED) };

#define NOON (12 * US_PER_HOUR)

/* Left at 1000, nothing folded in since. */
static CartState left_cart(void)
{
	return (CartState){ .ids = { .cart_id = "t1", .cart_token = "t1", .email = "a@b.example", .email_hash = "h" },
		.abandoned_us = 1000,
		.changed_us = 1000,
		.items_count = 1,
		.items = { { .variant_id = "v1", .quantity = 1 } },
		.total_minor = 4500,
		.currency = "EUR" };
}

static struct harness *fresh(void)
{
	return harness_new(&remembers_stops, 5000);
}

static enum stop holds(const struct harness *h)
{
	CartState cart = left_cart();

	return stops_for(harness_state(h), "demo", &cart).stop;
}

#define CHANGED(h, ...)                                                                                                \
	GIVEN((h), cart_changed, &((CartChanged){ .has_ids = true, .heard_us = 9000, __VA_ARGS__ }), .shop = "demo",   \
		.key = "k")
#define BOUGHT(h, ...)                                                                                                 \
	GIVEN((h), cart_checkout, &((CartCheckout){ .has_ids = true, .heard_us = US_PER_DAY, __VA_ARGS__ }),           \
		.shop = "demo", .key = "k")
#define ACTED(h, ...) GIVEN((h), admin_action, &((AdminAction){ __VA_ARGS__ }), .shop = "demo", .key = "k")

static void nothing_heard_stops_nothing(void **state)
{
	struct harness *h = fresh();

	(void)state;
	assert_int_equal(holds(h), STOP_NONE);
	assert_int_equal(stops_mode(harness_state(h), "demo"), MODE_OBSERVE);
	harness_free(h);
}

/* The row of the decision has a newer change, but its yes is older than the no. */
static void a_no_that_came_late_stops_a_cart_with_an_older_yes(void **state)
{
	static const struct {
		int64_t no_us;
		enum stop stop;
	} cases[] = { { 499, STOP_NONE }, { 500, STOP_CHANGED }, { 800, STOP_CHANGED }, { 1500, STOP_CHANGED } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = fresh();
		CartState cart = left_cart();

		cart.consent = CONSENT_YES;
		cart.consent_us = 500;
		CHANGED(h, .ids = { .cart_token = "t1" }, .changed_us = 1000);
		assert_int_equal(stops_for(harness_state(h), "demo", &cart).stop, STOP_NONE);
		CHANGED(h, .ids = { .cart_token = "t1" }, .changed_us = cases[i].no_us, .consent = CONSENT_NO);
		assert_int_equal(stops_for(harness_state(h), "demo", &cart).stop, cases[i].stop);
		cart.consent = CONSENT_NO; /* intake has taken it in */
		cart.consent_us = cases[i].no_us;
		cart.changed_us = cart.changed_us > cases[i].no_us ? cart.changed_us : cases[i].no_us;
		assert_int_equal(stops_for(harness_state(h), "demo", &cart).stop, STOP_NONE);
		harness_free(h);
	}
}

static void a_checkout_stops_by_any_id_it_shares(void **state)
{
	const CartIds ids[] = { { .cart_id = "t1" }, { .cart_token = "t1" }, { .cart_token = "t1", .order_id = "77" } };

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct harness *h = fresh();

		BOUGHT(h, .ids = ids[i],
			.bought_us = 10); /* even if it was before the cart changed last: the id is the cart's */
		assert_int_equal(holds(h), STOP_BOUGHT);
		harness_free(h);
	}
}

static void a_checkout_stops_through_ids_that_others_tied_together(void **state)
{
	struct harness *h = fresh();

	(void)state;
	CHANGED(h, .ids = { .cart_token = "t1", .checkout_token = "k1" }, .changed_us = 900);
	CHANGED(h, .ids = { .checkout_token = "k1", .checkout_id = "9" }, .changed_us = 901);
	BOUGHT(h, .ids = { .checkout_id = "8", .order_id = "78" }, .bought_us = 2000);
	assert_int_equal(holds(h), STOP_NONE);
	BOUGHT(h, .ids = { .checkout_id = "9", .order_id = "77" }, .bought_us = 2000);
	assert_int_equal(holds(h), STOP_BOUGHT);
	harness_free(h);
}

static void the_tie_may_come_after_the_checkout(void **state)
{
	struct harness *h = fresh();

	(void)state;
	BOUGHT(h, .ids = { .checkout_token = "k1" }, .bought_us = 2000);
	assert_int_equal(holds(h), STOP_NONE);
	CHANGED(h, .ids = { .cart_token = "t1", .checkout_token = "k1" }, .changed_us = 900);
	assert_int_equal(holds(h), STOP_BOUGHT);
	harness_free(h);
}

static void a_purchase_by_the_same_address_or_customer_stops_what_was_left_before_it(void **state)
{
	const struct {
		int64_t bought_us; /* the cart was left at noon, by a clock that may differ by five minutes */
		enum stop stop;
	} table[] = { { NOON - 5 * US_PER_MINUTE - 1, STOP_NONE }, { NOON - 5 * US_PER_MINUTE, STOP_BOUGHT },
		{ NOON - 9 * US_PER_S, STOP_BOUGHT }, { NOON, STOP_BOUGHT }, { NOON + 1, STOP_BOUGHT } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = fresh();
		CartState cart = left_cart(), of_customer = { .ids = { .cart_id = "t2", .customer_id = "44" } };

		cart.abandoned_us = cart.changed_us = of_customer.abandoned_us = NOON;
		BOUGHT(h, .ids = { .order_id = "77", .email_hash = "h" }, .bought_us = table[i].bought_us);
		assert_int_equal(stops_for(harness_state(h), "demo", &cart).stop, table[i].stop);
		BOUGHT(h, .ids = { .customer_id = "44" }, .bought_us = table[i].bought_us);
		assert_int_equal(stops_for(harness_state(h), "demo", &of_customer).stop, table[i].stop);
		harness_free(h);
	}
}

static void an_order_that_has_one_of_a_buyers_names_is_enough(void **state)
{
	const struct {
		CartIds ids, also, order;
	} table[] = {
		{ { .email_hash = "h", .customer_id = "44" }, { .cart_id = "t1" },
			{ .order_id = "77", .email_hash = "h" } },
		{ { .email_hash = "h", .customer_id = "44" }, { .cart_id = "t1" }, { .customer_id = "44" } },
		{ { .email_hash = "h" }, { .cart_id = "t1", .customer_id = "44" }, { .customer_id = "44" } },
		{ { .customer_id = "44" }, { .cart_id = "t1", .email_hash = "h" },
			{ .order_id = "77", .email_hash = "h" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct harness *h = fresh();
		CartState cart = { .ids = table[i].ids, .also = { table[i].also }, .also_count = 1 };

		cart.abandoned_us = cart.changed_us = NOON;
		assert_int_equal(stops_for(harness_state(h), "demo", &cart).stop, STOP_NONE);
		BOUGHT(h, .ids = table[i].order, .bought_us = NOON + 1);
		assert_int_equal(stops_for(harness_state(h), "demo", &cart).stop, STOP_BOUGHT);
		harness_free(h);
	}
}

static void money_that_went_back_proves_that_something_was_bought(void **state)
{
	const struct {
		CheckoutKind kind;
		bool was_bought;
		int64_t ordered_us;
		CartIds ids;
		enum stop stop;
	} table[] = {
		{ CHECKOUT_REFUNDED, true, NOON, { .cart_token = "t1" }, STOP_BOUGHT },
		{ CHECKOUT_CANCELLED, true, NOON, { .cart_token = "t1" }, STOP_BOUGHT },
		{ CHECKOUT_REFUNDED, true, 0, { .cart_token = "t1" }, STOP_BOUGHT },
		{ CHECKOUT_REFUNDED, true, NOON, { .order_id = "77", .email_hash = "h" }, STOP_BOUGHT },
		/* ordered long before this cart was left, or nobody knows when: it is another cart's */
		{ CHECKOUT_REFUNDED, true, NOON - US_PER_DAY, { .order_id = "77", .email_hash = "h" }, STOP_NONE },
		{ CHECKOUT_REFUNDED, true, 0, { .order_id = "77", .email_hash = "h" }, STOP_NONE },
		{ CHECKOUT_CANCELLED, false, NOON, { .cart_token = "t1" }, STOP_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = fresh();
		CartState cart = left_cart();

		cart.abandoned_us = cart.changed_us = NOON;
		BOUGHT(h, .ids = table[i].ids, .kind = table[i].kind, .was_bought = table[i].was_bought,
			.ordered_us = table[i].ordered_us, .bought_us = NOON + US_PER_HOUR);
		assert_int_equal(stops_for(harness_state(h), "demo", &cart).stop, table[i].stop);
		harness_free(h);
	}
}

static void the_latest_purchase_of_an_address_counts_in_whatever_order_they_come(void **state)
{
	struct harness *h = fresh();

	(void)state;
	BOUGHT(h, .ids = { .order_id = "77", .email_hash = "h" }, .bought_us = 2000);
	BOUGHT(h, .ids = { .order_id = "66", .email_hash = "h" }, .bought_us = 500);
	assert_int_equal(holds(h), STOP_BOUGHT);
	harness_free(h);
}

static void a_former_address_of_the_cart_still_tells_the_purchase(void **state)
{
	struct harness *h = fresh();
	CartState cart = left_cart();

	(void)state;
	cart.also_count = 1;
	strcpy(cart.also[0].email_hash, "former");
	BOUGHT(h, .ids = { .order_id = "77", .email_hash = "former" }, .bought_us = 2000);
	assert_int_equal(stops_for(harness_state(h), "demo", &cart).stop, STOP_BOUGHT);
	assert_int_equal(holds(h), STOP_NONE);
	harness_free(h);
}

static void a_test_order_stops_and_a_cancelled_one_neither_stops_nor_takes_back(void **state)
{
	struct harness *h = fresh();

	(void)state;
	BOUGHT(h, .ids = { .cart_token = "t1", .email_hash = "h" }, .bought_us = 2000, .kind = CHECKOUT_CANCELLED);
	assert_int_equal(holds(h), STOP_NONE);
	BOUGHT(h, .ids = { .cart_token = "t1" }, .bought_us = 2000, .test = true);
	assert_int_equal(holds(h), STOP_BOUGHT);
	BOUGHT(h, .ids = { .cart_token = "t1" }, .bought_us = 3000, .kind = CHECKOUT_CANCELLED);
	assert_int_equal(holds(h), STOP_BOUGHT);
	harness_free(h);
}

static void two_shops_share_every_id_and_no_stop(void **state)
{
	struct harness *h = fresh();

	(void)state;
	GIVEN(h, cart_checkout, &((CartCheckout){ .has_ids = true, .ids = { .cart_token = "t1", .email_hash = "h" } }),
		.shop = "other", .key = "k");
	GIVEN(h, optout_request, &((OptoutRequest){ .address_hash = "h" }), .shop = "other", .key = "h");
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_PAUSED }), .shop = "other", .key = "other");
	GIVEN(h, suppression, &((Suppression){ .address_hash = "h" }), .shop = "other", .key = "h");
	assert_int_equal(holds(h), STOP_NONE);
	harness_free(h);
}

static void whoever_said_no_is_stopped_with_the_first_reason(void **state)
{
	struct harness *h = fresh();

	(void)state;
	GIVEN(h, mail_feedback, &((MailFeedback){ .address_hash = "h", .kind = FEEDBACK_BOUNCE_TRANSIENT }),
		.shop = "demo", .key = "h");
	assert_int_equal(holds(h), STOP_NONE);
	GIVEN(h, mail_feedback, &((MailFeedback){ .address_hash = "h", .kind = FEEDBACK_COMPLAINT }), .shop = "demo",
		.key = "h");
	assert_int_equal(holds(h), STOP_COMPLAINED);
	GIVEN(h, optout_request, &((OptoutRequest){ .address_hash = "h" }), .shop = "demo", .key = "h");
	assert_int_equal(holds(h), STOP_COMPLAINED);
	harness_free(h);
}

static void each_kind_of_no_stops(void **state)
{
	struct harness *h = fresh();

	(void)state;
	GIVEN(h, mail_feedback, &((MailFeedback){ .address_hash = "h", .kind = FEEDBACK_BOUNCE_PERMANENT }),
		.shop = "demo", .key = "h");
	assert_int_equal(holds(h), STOP_BOUNCED);
	harness_free(h);
	h = fresh();
	GIVEN(h, optout_request, &((OptoutRequest){ .address_hash = "h", .source = OPTOUT_ONE_CLICK }), .shop = "demo",
		.key = "h");
	assert_int_equal(holds(h), STOP_OPTED_OUT);
	harness_free(h);
	h = fresh();
	GIVEN(h, suppression, &((Suppression){ .address_hash = "h" }), .shop = "demo", .key = "h", .version = 1);
	assert_int_equal(holds(h), STOP_SUPPRESSED);
	harness_free(h);
	h = fresh();
	ACTED(h, .verb = ADMIN_UNSUBSCRIBE, .address_hash = "h");
	assert_int_equal(holds(h), STOP_OPTED_OUT);
	harness_free(h);
}

static void lifting_takes_back_what_came_before_it_and_nothing_after(void **state)
{
	struct harness *h = fresh();

	(void)state;
	GIVEN(h, optout_request, &((OptoutRequest){ .address_hash = "h" }), .shop = "demo", .key = "h");
	GIVEN(h, suppression, &((Suppression){ .address_hash = "h" }), .shop = "demo", .key = "h", .version = 1);
	ACTED(h, .verb = ADMIN_LIFT_SUPPRESSION, .address_hash = "h");
	assert_int_equal(holds(h), STOP_SUPPRESSED); /* until unsub says so too */
	GIVEN(h, optout_request, &((OptoutRequest){ .address_hash = "h" }), .shop = "demo", .key = "h");
	GIVEN(h, suppression, &((Suppression){ .address_hash = "h", .lifted = true }), .shop = "demo", .key = "h",
		.version = 2);
	assert_int_equal(holds(h), STOP_OPTED_OUT); /* the one that came after the lift */
	ACTED(h, .verb = ADMIN_LIFT_SUPPRESSION, .address_hash = "h");
	assert_int_equal(holds(h), STOP_NONE);
	GIVEN(h, suppression, &((Suppression){ .address_hash = "h" }), .shop = "demo", .key = "h", .version = 1);
	assert_int_equal(holds(h), STOP_NONE); /* a late row is older than the lift */
	harness_free(h);
}

/* The page's own word alone: a complaint, a bounce, a privacy request, an import and the owner stand, whichever came first. */
static void the_shopper_takes_back_what_was_said_on_the_page_and_nothing_else(void **state)
{
	const OptoutSource others[] = { OPTOUT_ONE_CLICK, OPTOUT_OWNER, OPTOUT_COMPLAINT, OPTOUT_BOUNCE, OPTOUT_PRIVACY,
		OPTOUT_IMPORT };
	struct harness *h = fresh();

	(void)state;
	GIVEN(h, optout_request, &((OptoutRequest){ .address_hash = "h", .heard_us = 700 }), .shop = "demo",
		.key = "h");
	ACTED(h, .verb = ADMIN_TAKE_BACK, .address_hash = "h", .listed_by_us = 699);
	assert_int_equal(holds(h), STOP_OPTED_OUT); /* a form from before it */
	ACTED(h, .verb = ADMIN_TAKE_BACK, .address_hash = "h", .listed_by_us = 700);
	assert_int_equal(holds(h), STOP_NONE);
	harness_free(h);
	for (size_t i = 0; i < 2 * sizeof(others) / sizeof(*others); i++) {
		OptoutRequest page = { .address_hash = "h", .heard_us = 700 }, other = page;

		other.source = others[i / 2];
		h = fresh();
		GIVEN(h, optout_request, i % 2 ? &page : &other, .shop = "demo", .key = "h");
		GIVEN(h, optout_request, i % 2 ? &other : &page, .shop = "demo", .key = "h");
		ACTED(h, .verb = ADMIN_TAKE_BACK, .address_hash = "h", .listed_by_us = 5000);
		assert_int_not_equal(holds(h), STOP_NONE);
		ACTED(h, .verb = ADMIN_LIFT_SUPPRESSION, .address_hash = "h");
		assert_int_equal(holds(h), STOP_NONE);
		harness_free(h);
	}
}

#define ASKED(h, ...)                                                                                                  \
	GIVEN((h), privacy_request, &((PrivacyRequest){ .request_id = "p1", __VA_ARGS__ }), .shop = "demo", .key = "p1")

static void whoever_is_to_be_erased_is_stopped_at_once(void **state)
{
	struct harness *h = fresh();

	(void)state;
	ASKED(h, .kind = PRIVACY_DATA_REQUEST, .address_hash = "h");
	assert_int_equal(holds(h), STOP_NONE);
	ASKED(h, .kind = PRIVACY_REDACT_CUSTOMER, .address_hash = "");
	assert_int_equal(holds(h), STOP_NONE); /* it names nobody that we could know */
	ASKED(h, .kind = PRIVACY_REDACT_CUSTOMER, .address_hash = "h");
	assert_int_equal(holds(h), STOP_OPTED_OUT);
	ACTED(h, .verb = ADMIN_SETTLE_PRIVACY, .request_id = "p1");
	assert_int_equal(holds(h), STOP_OPTED_OUT); /* erased, and not to be mailed again */
	harness_free(h);
}

static void a_shop_that_is_to_be_erased_is_paused_until_that_is_settled(void **state)
{
	struct harness *h = fresh();

	(void)state;
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_LIVE, .version = 1 }), .shop = "demo", .key = "demo",
		.version = 1);
	ASKED(h, .kind = PRIVACY_REDACT_SHOP);
	assert_int_equal(holds(h), STOP_PAUSED);
	assert_int_equal(stops_mode(harness_state(h), "demo"), MODE_PAUSED);
	assert_int_equal(stops_mode(harness_state(h), "other"), MODE_OBSERVE);
	ACTED(h, .verb = ADMIN_SETTLE_PRIVACY, .request_id = "p2");
	assert_int_equal(holds(h), STOP_PAUSED);
	ACTED(h, .verb = ADMIN_SETTLE_PRIVACY, .request_id = "p1");
	assert_int_equal(holds(h), STOP_NONE);
	assert_int_equal(stops_mode(harness_state(h), "demo"), MODE_LIVE);
	harness_free(h);
}

static void a_stop_of_all_holds_for_every_shop_whatever_its_own_mode_says(void **state)
{
	struct harness *h = fresh();

	(void)state;
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_PAUSED, .version = 1, .priority = 100 }),
		.shop = SHOP_OF_ALL, .key = SHOP_OF_ALL, .version = 1);
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_LIVE, .version = 7, .priority = 1000 }), .shop = "demo",
		.key = "demo", .version = 7);
	assert_int_equal(holds(h), STOP_PAUSED);
	assert_int_equal(stops_mode(harness_state(h), "demo"), MODE_PAUSED);
	assert_int_equal(stops_mode(harness_state(h), "added-later"), MODE_PAUSED);
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_LIVE, .version = 2, .priority = 100 }), .shop = SHOP_OF_ALL,
		.key = SHOP_OF_ALL, .version = 2);
	assert_int_equal(holds(h), STOP_NONE);
	assert_int_equal(stops_mode(harness_state(h), "demo"), MODE_LIVE);
	assert_int_equal(stops_mode(harness_state(h), "added-later"), MODE_OBSERVE);
	harness_free(h);
}

static void the_owner_stops_one_cart_and_what_it_was_merged_into(void **state)
{
	struct harness *h = fresh();
	CartState winner = left_cart();

	(void)state;
	ACTED(h, .verb = ADMIN_OVERRIDE_WAIT, .cart_id = "t1");
	assert_int_equal(holds(h), STOP_NONE);
	ACTED(h, .verb = ADMIN_SUPPRESS_CART, .cart_id = "t1");
	assert_int_equal(holds(h), STOP_BY_OWNER);
	strcpy(winner.ids.cart_id, "t0");
	strcpy(winner.ids.cart_token, "t0");
	assert_int_equal(stops_for(harness_state(h), "demo", &winner).stop, STOP_NONE);
	winner.merged_from_count = 1;
	strcpy(winner.merged_from[0], "t1");
	assert_int_equal(stops_for(harness_state(h), "demo", &winner).stop, STOP_BY_OWNER);
	harness_free(h);
}

static void an_emptied_cart_stops_until_goods_are_back(void **state)
{
	struct harness *h = fresh();

	(void)state;
	CHANGED(h, .ids = { .cart_token = "t1" }, .changed_us = 2000, .has_items = true);
	assert_int_equal(holds(h), STOP_EMPTIED);
	CHANGED(h, .ids = { .cart_token = "t1" }, .changed_us = 1500, .has_items = true, .items_count = 1);
	assert_int_equal(holds(h), STOP_EMPTIED); /* late: older than the emptying */
	CHANGED(h, .ids = { .cart_token = "t1" }, .changed_us = 2500, .has_items = true, .items_count = 1);
	assert_int_equal(holds(h), STOP_CHANGED);
	harness_free(h);
}

/* What intake would not restart the clock for must not hold a mail back either: nobody would decide on it anew. */
static void only_what_the_shopper_did_holds_a_mail_back(void **state)
{
	const Item same = { .variant_id = "v1", .quantity = 1, .price_minor = 99 };
	struct {
		CartChanged changed;
		enum stop stop;
	} table[] = {
		{ { .changed_us = 2000, .first_name = "Ann" }, STOP_NONE },
		{ { .changed_us = 2000, .has_items = true, .items_count = 1, .items = { same } }, STOP_NONE },
		{ { .changed_us = 2000, .has_total = true, .total_minor = 4500, .currency = "EUR" }, STOP_NONE },
		{ { .changed_us = 2000, .has_total = true, .total_minor = 4600, .currency = "EUR" }, STOP_CHANGED },
		{ { .changed_us = 2000, .has_total = true, .total_minor = 4500, .currency = "USD" }, STOP_CHANGED },
		{ { .changed_us = 1000, .has_total = true, .total_minor = 4600, .currency = "EUR" }, STOP_NONE },
		{ { .changed_us = 2000, .saved_link = true }, STOP_CHANGED },
		{ { .changed_us = 2000, .ids = { .email_hash = "h" } }, STOP_NONE },
		{ { .changed_us = 2000, .ids = { .email_hash = "other" } }, STOP_CHANGED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = fresh();

		table[i].changed.has_ids = true;
		table[i].changed.heard_us = 9000;
		strcpy(table[i].changed.ids.cart_token, "t1");
		GIVEN(h, cart_changed, &table[i].changed, .shop = "demo", .key = "t1");
		assert_int_equal(holds(h), table[i].stop);
		harness_free(h);
	}
}

static void a_later_word_about_something_else_does_not_hide_a_change(void **state)
{
	struct harness *h = fresh();

	(void)state;
	CHANGED(h, .ids = { .cart_token = "t1" }, .changed_us = 2000, .has_items = true, .items_count = 1);
	CHANGED(h, .ids = { .cart_token = "t1" }, .changed_us = 3000, .first_name = "Ann");
	assert_int_equal(holds(h), STOP_CHANGED);
	harness_free(h);
}

static void a_pause_holds_until_something_as_strong_lifts_it(void **state)
{
	struct harness *h = fresh();

	(void)state;
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_PAUSED, .version = 1, .priority = 5 }), .shop = "demo",
		.key = "demo", .version = 1);
	assert_int_equal(holds(h), STOP_PAUSED);
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_LIVE, .version = 2, .priority = 1 }), .shop = "demo",
		.key = "demo", .version = 2);
	assert_int_equal(stops_mode(harness_state(h), "demo"), MODE_PAUSED);
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_LIVE, .version = 3, .priority = 5 }), .shop = "demo",
		.key = "demo", .version = 3);
	assert_int_equal(stops_mode(harness_state(h), "demo"), MODE_LIVE);
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_OBSERVE, .version = 2, .priority = 5 }), .shop = "demo",
		.key = "demo", .version = 2);
	assert_int_equal(stops_mode(harness_state(h), "demo"), MODE_LIVE);
	harness_free(h);
}

static void what_stops_for_good_is_named_before_what_stops_for_now(void **state)
{
	struct harness *h = fresh();

	(void)state;
	CHANGED(h, .ids = { .cart_token = "t1" }, .changed_us = 2000, .has_items = true, .items_count = 1);
	assert_int_equal(holds(h), STOP_CHANGED);
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_PAUSED }), .shop = "demo", .key = "demo");
	assert_int_equal(holds(h), STOP_PAUSED);
	ACTED(h, .verb = ADMIN_WRITE_OFF, .cart_id = "t1");
	assert_int_equal(holds(h), STOP_BY_OWNER);
	GIVEN(h, optout_request, &((OptoutRequest){ .address_hash = "h" }), .shop = "demo", .key = "h");
	assert_int_equal(holds(h), STOP_OPTED_OUT);
	BOUGHT(h, .ids = { .cart_token = "t1" }, .bought_us = 2000);
	assert_int_equal(holds(h), STOP_BOUGHT);
	harness_free(h);
}

static void a_cart_with_a_hundred_ids_is_still_judged(void **state)
{
	struct harness *h = fresh();

	(void)state;
	for (int i = 0; i < 100; i++) {
		CartChanged changed = { .has_ids = true, .ids = { .cart_token = "t1" }, .heard_us = 900 };

		snprintf(changed.ids.checkout_token, sizeof(changed.ids.checkout_token), "k%d", i);
		GIVEN(h, cart_changed, &changed, .shop = "demo", .key = "t1");
	}
	assert_int_equal(holds(h), STOP_NONE);
	BOUGHT(h, .ids = { .cart_token = "t1", .checkout_token = "k99" }, .bought_us = 2000);
	assert_int_equal(holds(h), STOP_BOUGHT);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_heard_stops_nothing),
		cmocka_unit_test(a_checkout_stops_by_any_id_it_shares),
		cmocka_unit_test(a_no_that_came_late_stops_a_cart_with_an_older_yes),
		cmocka_unit_test(a_checkout_stops_through_ids_that_others_tied_together),
		cmocka_unit_test(the_tie_may_come_after_the_checkout),
		cmocka_unit_test(a_purchase_by_the_same_address_or_customer_stops_what_was_left_before_it),
		cmocka_unit_test(an_order_that_has_one_of_a_buyers_names_is_enough),
		cmocka_unit_test(the_latest_purchase_of_an_address_counts_in_whatever_order_they_come),
		cmocka_unit_test(a_former_address_of_the_cart_still_tells_the_purchase),
		cmocka_unit_test(a_test_order_stops_and_a_cancelled_one_neither_stops_nor_takes_back),
		cmocka_unit_test(money_that_went_back_proves_that_something_was_bought),
		cmocka_unit_test(two_shops_share_every_id_and_no_stop),
		cmocka_unit_test(whoever_said_no_is_stopped_with_the_first_reason),
		cmocka_unit_test(each_kind_of_no_stops),
		cmocka_unit_test(lifting_takes_back_what_came_before_it_and_nothing_after),
		cmocka_unit_test(the_shopper_takes_back_what_was_said_on_the_page_and_nothing_else),
		cmocka_unit_test(whoever_is_to_be_erased_is_stopped_at_once),
		cmocka_unit_test(a_shop_that_is_to_be_erased_is_paused_until_that_is_settled),
		cmocka_unit_test(a_stop_of_all_holds_for_every_shop_whatever_its_own_mode_says),
		cmocka_unit_test(the_owner_stops_one_cart_and_what_it_was_merged_into),
		cmocka_unit_test(an_emptied_cart_stops_until_goods_are_back),
		cmocka_unit_test(only_what_the_shopper_did_holds_a_mail_back),
		cmocka_unit_test(a_later_word_about_something_else_does_not_hide_a_change),
		cmocka_unit_test(a_pause_holds_until_something_as_strong_lifts_it),
		cmocka_unit_test(what_stops_for_good_is_named_before_what_stops_for_now),
		cmocka_unit_test(a_cart_with_a_hundred_ids_is_still_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
