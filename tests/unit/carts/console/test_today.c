/* test_today.c: the first page: its figures are those of the report, and what comes next is what the waiter plans */
#include "services/carts/console/days.h"
#include "services/carts/console/today.h"
#include "services/carts/report/report.h"
#include "services/kit/documents/docs.h"
#include "world.h"
#include <stdio.h>
#include <string.h>

static json_t *today(const struct harness *h)
{
	struct page_asked asked = asked_of(h);
	json_t *page = json_object();

	today_show(&asked, "Demo", page);
	return page;
}

static json_int_t figure(const json_t *page, const char *name, const char *when)
{
	return number_at(json_object_get(json_object_get(page, "figures"), name), when);
}

static void given_bought(struct harness *h, const char *id, int64_t left_us, int64_t bought_us, int64_t minor)
{
	given_cart(h,
		&(struct a_cart){ .id = id,
			.left_us = left_us,
			.status = CART_BOUGHT,
			.bought_us = bought_us,
			.order_minor = minor });
}

/* Orders of all classes, in both periods. */
static void given_orders(struct harness *h)
{
	given_sent(h, "clicked", 1, NOON_US(5));
	given_bought(h, "clicked", NOON_US(6), NOON_US(4), 5000);
	GIVEN(h, link_clicked, (&(LinkClicked){ .cart_id = "clicked", .step = 1, .at_us = NOON_US(5) + US_PER_HOUR }),
		.shop = DEMO, .key = "clicked");
	given_bought(h, "mailed", NOON_US(10), NOON_US(8), 700);
	given_sent(h, "mailed", 1, NOON_US(9));
	given_bought(h, "anyway", NOON_US(3), NOON_US(2), 900);
	given_cart(h,
		&(struct a_cart){ .id = "back",
			.left_us = NOON_US(3),
			.status = CART_BOUGHT,
			.bought_us = NOON_US(2),
			.order_minor = 400,
			.cancelled_us = NOON_US(1) });
	given_sent(h, "before", 1, NOON_US(31));
	given_bought(h, "before", NOON_US(32), NOON_US(30), 1000);
	given_cart(h, &(struct a_cart){ .id = "test", .left_us = NOON_US(1), .test = true });
	given_cart(h, &(struct a_cart){ .id = "open", .left_us = NOON_US(1) });
}

static void the_figures_are_those_of_the_report_for_these_days(void **context)
{
	struct harness *h = pages_new();
	struct period period = { .kind = PERIOD_SPAN };
	struct report_figures report;
	struct report_figures_sum won[REPORT_CURRENCIES_MAX];
	json_t *page, *dollars;

	(void)context;
	given_shop(h, "");
	given_orders(h);
	page = today(h);
	assert_int_equal(period_span(ZONE, "2026-10-28", "2026-11-24", &period), 0);
	report_figures_count(harness_state(h), docs_shop(harness_state(h), DEMO), &period, &report);
	assert_int_equal(figure(page, "left", "now"), report.seen);
	assert_int_equal(figure(page, "mailed", "now"), report.mailed);
	assert_int_equal(
		figure(page, "bought", "now"), report.orders[ATTRIBUTION_CLICKED] + report.orders[ATTRIBUTION_MAILED]);
	assert_int_equal(figure(page, "bought_anyway", "now"), report.orders[ATTRIBUTION_ANYWAY]);
	assert_int_equal(figure(page, "left", "now"), 5);
	assert_int_equal(figure(page, "bought", "now"), 2);
	assert_int_equal(figure(page, "bought", "before"), 1);
	assert_int_equal(report_figures_won(&report, won), 1);
	dollars = json_array_get(json_object_get(page, "won"), 0);
	assert_int_equal(number_at(dollars, "minor"), won[0].total_minor - won[0].back_minor);
	assert_int_equal(number_at(dollars, "clicked_minor"), 5000);
	assert_int_equal(number_at(dollars, "mailed_minor"), 700);
	assert_int_equal(number_at(dollars, "before_minor"), 1000);
	assert_int_equal(json_array_size(json_object_get(dollars, "days")), TODAY_DAYS);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(dollars, "days"), TODAY_DAYS - 5)), 5000);
	json_decref(page);
	harness_free(h);
}

static void an_order_that_is_refunded_later_is_taken_out_again(void **context)
{
	struct harness *h = pages_new();
	json_t *page;

	(void)context;
	given_shop(h, "");
	given_orders(h);
	given_cart(h,
		&(struct a_cart){ .id = "clicked",
			.left_us = NOON_US(6),
			.status = CART_BOUGHT,
			.bought_us = NOON_US(4),
			.order_minor = 5000,
			.cancelled_us = NOON_US(1) });
	page = today(h);
	assert_int_equal(figure(page, "bought", "now"), 1);
	assert_int_equal(number_at(json_array_get(json_object_get(page, "won"), 0), "minor"), 700);
	json_decref(page);
	harness_free(h);
}

static void another_zone_or_window_moves_what_was_summed_before(void **context)
{
	struct harness *late = pages_new(), *early = pages_new();
	json_t *one, *other;

	(void)context;
	given_shop(early, "[report]\nclicked-within = 1h\nmailed-within = 1d\n");
	given_orders(early);
	given_orders(late);
	given_shop(late, "");
	given_shop(late, "[report]\nclicked-within = 1h\nmailed-within = 1d\n");
	one = today(early);
	other = today(late);
	assert_int_equal(number_at(json_array_get(json_object_get(one, "won"), 0), "clicked_minor"), 0);
	assert_true(json_equal(json_object_get(one, "won"), json_object_get(other, "won")));
	assert_true(json_equal(json_object_get(one, "figures"), json_object_get(other, "figures")));
	json_decref(one);
	json_decref(other);
	harness_free(late);
	harness_free(early);
}

static void days_are_the_shops_own_also_where_the_clocks_change(void **context)
{
	char day[DAY_MAX];

	(void)context;
	day_name("America/New_York", NOW_US - 12 * US_PER_HOUR, 0, day); /* 23:00 of the day before */
	assert_string_equal(day, "2026-11-23");
	day_name("Etc/UTC", NOW_US - 12 * US_PER_HOUR, 0, day);
	assert_string_equal(day, "2026-11-24");
	day_name("America/New_York", NOW_US, -23, day); /* 1 November has 25 hours */
	assert_string_equal(day, "2026-11-01");
	day_name("America/New_York", NOW_US, -24, day);
	assert_string_equal(day, "2026-10-31");
}

static void what_comes_next_comes_soonest_first_and_never_more_than_ten(void **context)
{
	struct harness *h = pages_new();
	json_t *page, *first;

	(void)context;
	given_shop(h, "");
	for (int i = 0; i < TODAY_NEXT + 3; i++) {
		char id[8], email[32];

		snprintf(id, sizeof(id), "c%02d", i);
		snprintf(email, sizeof(email), "b%d@buyer.example", i);
		given_cart(
			h, &(struct a_cart){ .id = id, .email = email, .left_us = NOW_US - (i + 1) * US_PER_MINUTE });
		given_timer(h, id, 3, NOW_US - (i + 1) * US_PER_MINUTE + 4 * US_PER_HOUR);
	}
	page = today(h);
	assert_int_equal(json_array_size(json_object_get(page, "next")), TODAY_NEXT);
	assert_int_equal(number_at(page, "next_count"), TODAY_NEXT + 3);
	first = json_array_get(json_object_get(page, "next"), 0);
	assert_string_equal(text_at(first, "cart"), "c12");
	assert_string_equal(text_at(first, "address"), "b***@buyer.example");
	assert_int_equal(number_at(first, "at_us"), NOW_US - 13 * US_PER_MINUTE + 4 * US_PER_HOUR);
	json_decref(page);
	harness_free(h);
}

static void a_stop_of_all_shops_shows_and_holds_what_would_come(void **context)
{
	struct harness *h = pages_new();
	json_t *page, *mode;

	(void)context;
	given_shop(h, "");
	given_cart(h, &(struct a_cart){ .id = "c1" });
	given_timer(h, "c1", 3, NOW_US + US_PER_HOUR);
	GIVEN(h, shop_status, (&(ShopStatus){ .mode = MODE_PAUSED, .who = "Ben", .reason = "fire", .priority = 100 }),
		.shop = SHOP_OF_ALL, .key = SHOP_OF_ALL);
	page = today(h);
	mode = json_object_get(page, "mode");
	assert_string_equal(text_at(mode, "mode"), "paused");
	assert_string_equal(text_at(mode, "who"), "Ben");
	assert_true(json_is_true(json_object_get(mode, "all_stopped")));
	assert_true(json_is_true(json_object_get(json_array_get(json_object_get(page, "next"), 0), "held")));
	json_decref(page);
	harness_free(h);
}

static void a_mail_that_nobody_knows_of_needs_a_hand_until_it_is_known(void **context)
{
	ReminderOutcome unclear = { .cart_id = "c1", .step = 1, .attempt = 1, .at_us = NOON_US(1) };
	struct harness *h = pages_new();
	json_t *page, *hand;

	(void)context;
	given_cart(h, &(struct a_cart){ .id = "c1" });
	GIVEN(h, reminder_ambiguous, &unclear, .shop = DEMO, .key = "c1/1");
	GIVEN(h, alarm, (&(Alarm){ .kind = "rules", .raised = true, .text = "the rules say medium twice" }),
		.shop = DEMO, .key = "rules");
	page = today(h);
	assert_int_equal(json_array_size(json_object_get(page, "hand")), 2);
	hand = json_array_get(json_object_get(page, "hand"), 1);
	assert_string_equal(text_at(hand, "kind"), "unclear");
	assert_string_equal(text_at(hand, "link"), "/s/demo/carts/c1");
	json_decref(page);
	given_sent(h, "c1", 1, NOON_US(1));
	GIVEN(h, alarm, (&(Alarm){ .kind = "rules" }), .shop = DEMO, .key = "rules");
	page = today(h);
	assert_int_equal(json_array_size(json_object_get(page, "hand")), 0);
	json_decref(page);
	harness_free(h);
}

static void an_empty_shop_has_no_shares_and_no_money(void **context)
{
	struct harness *h = pages_new();
	json_t *page = today(h);

	(void)context;
	assert_int_equal(json_array_size(json_object_get(page, "won")), 0);
	assert_true(json_is_null(json_object_get(page, "since_us")));
	assert_true(json_is_null(
		json_object_get(json_object_get(json_object_get(page, "figures"), "mailed_share"), "now")));
	assert_string_equal(text_at(json_object_get(page, "mode"), "mode"), "observe");
	json_decref(page);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_figures_are_those_of_the_report_for_these_days),
		cmocka_unit_test(an_order_that_is_refunded_later_is_taken_out_again),
		cmocka_unit_test(another_zone_or_window_moves_what_was_summed_before),
		cmocka_unit_test(days_are_the_shops_own_also_where_the_clocks_change),
		cmocka_unit_test(what_comes_next_comes_soonest_first_and_never_more_than_ten),
		cmocka_unit_test(a_stop_of_all_shops_shows_and_holds_what_would_come),
		cmocka_unit_test(a_mail_that_nobody_knows_of_needs_a_hand_until_it_is_known),
		cmocka_unit_test(an_empty_shop_has_no_shares_and_no_money),
	};

	return cmocka_run_group_tests_name("carts.console.today", tests, NULL, NULL);
}
