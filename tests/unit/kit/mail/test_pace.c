/* test_pace.c: so many mails a minute, so many a day, whoever sends them */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/mail/pace.h"
#include "services/kit/time/zone.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

static const struct service remembers = { .name = "remembers-pace",
	.remembers = REMEMBERING(
		REMEMBERS(send_claim, pace_remember_claim), REMEMBERS(reminder_released, pace_remember_released)) };

static struct harness *h;

static int fresh(void **state)
{
	(void)state;
	h = harness_new(&remembers, 5000);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static int64_t at(const char *zone, int year, int month, int day, int hour, int minute)
{
	int64_t us = 0;

	assert_int_equal(zone_moment(zone,
				 &(struct local_time){
					 .year = year, .month = month, .day = day, .hour = hour, .minute = minute },
				 &us),
		0);
	return us;
}

static void given_claim(const char *shop, int number, int64_t at_us)
{
	SendClaim claim = { .step = 1, .attempt = 1, .claimed_us = at_us };

	snprintf(claim.cart_id, sizeof(claim.cart_id), "c%d", number);
	harness_given(h, &topic_send_claim,
		&(struct publish_options){ .shop = shop, .key = claim.cart_id, .version = 1 }, &claim);
}

static void given_released(const char *shop, int number)
{
	ReminderOutcome released = { .step = 1, .attempt = 1 };

	snprintf(released.cart_id, sizeof(released.cart_id), "c%d", number);
	harness_given(h, &topic_reminder_released,
		&(struct publish_options){ .shop = shop, .key = released.cart_id, .version = 1 }, &released);
}

static enum pace_answer ask(const struct pace *pace, int64_t now_us, int64_t *ret_until_us)
{
	*ret_until_us = 0;
	return pace_ask(harness_state(h), pace, now_us, ret_until_us);
}

static bool holds(const struct pace *pace, const char *shop, int number)
{
	char cart_id[20];

	snprintf(cart_id, sizeof(cart_id), "c%d", number);
	return pace_holds(harness_state(h), pace,
		&(struct pace_claim){ .shop = shop, .cart_id = cart_id, .step = 1, .attempt = 1 });
}

#define NOON at("Europe/Berlin", 2026, 11, 20, 12, 0)

static void over_the_rate_a_mail_waits_for_the_next_minute(void **state)
{
	const struct pace pace = { .shop = "demo", .zone = "Europe/Berlin", .a_minute = 3 };
	int64_t until_us;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ask(&pace, NOON + i, &until_us), PACE_GO);
		given_claim("demo", i, NOON + i);
	}
	assert_int_equal(ask(&pace, NOON + 59 * US_PER_S, &until_us), PACE_WAIT);
	assert_int_equal(until_us, NOON + US_PER_MINUTE);
	assert_int_equal(ask(&pace, until_us, &until_us), PACE_GO);
}

static void mails_on_their_way_to_a_claim_count_before_they_are_facts(void **state)
{
	struct pace pace = { .shop = "demo", .zone = "Europe/Berlin", .a_minute = 3, .under_way = 2 };
	int64_t until_us;

	(void)state;
	assert_int_equal(ask(&pace, NOON, &until_us), PACE_GO);
	given_claim("demo", 1, NOON);
	assert_int_equal(ask(&pace, NOON, &until_us), PACE_WAIT);
	assert_in_range(until_us, NOON + 1, NOON + 5 * US_PER_S);
	pace = (struct pace){ .shop = "demo", .zone = "Europe/Berlin", .a_day = 3, .under_way = 2 };
	assert_int_equal(ask(&pace, NOON, &until_us), PACE_WAIT);
}

static void the_days_mails_are_counted_by_the_shops_calendar(void **state)
{
	static const struct {
		const char *zone;
		int month, day, first_hour, last_hour, hours;
	} table[] = { { "Europe/Berlin", 11, 20, 0, 23, 24 }, { "Europe/Berlin", 3, 29, 0, 23, 23 },
		{ "Europe/Berlin", 10, 25, 0, 23, 25 }, { "America/New_York", 3, 8, 0, 23, 23 },
		{ "America/New_York", 11, 1, 0, 23, 25 }, { "Asia/Kolkata", 6, 1, 0, 23, 24 },
		{ "Australia/Lord_Howe", 10, 4, 0, 23, 24 }, { "America/Santiago", 9, 6, 1, 23, 23 } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct pace pace = { .shop = "demo", .zone = table[i].zone, .a_day = 2 };
		int64_t from_us = at(table[i].zone, 2026, table[i].month, table[i].day, table[i].first_hour, 0);
		int64_t last_us = at(table[i].zone, 2026, table[i].month, table[i].day, table[i].last_hour, 59);
		int64_t until_us;

		gone(NULL);
		fresh(NULL);
		given_claim("demo", 1, from_us - 1);
		given_claim("demo", 2, from_us);
		assert_int_equal(ask(&pace, last_us, &until_us), PACE_GO);
		given_claim("demo", 3, last_us);
		assert_int_equal(ask(&pace, last_us, &until_us), PACE_DAY);
		assert_int_equal(until_us, at(table[i].zone, 2026, table[i].month, table[i].day + 1, 0, 0));
		int64_t hours = (until_us - from_us + 30 * US_PER_MINUTE) / US_PER_HOUR;
		if (hours != table[i].hours && strcmp(table[i].zone, "Australia/Lord_Howe") != 0)
			fail_msg("%s: %d hours", table[i].zone, (int)hours);
		assert_int_equal(ask(&pace, until_us, &until_us), PACE_GO);
	}
}

static void a_claim_that_was_released_is_not_counted(void **state)
{
	const struct pace pace = { .shop = "demo", .zone = "Europe/Berlin", .a_minute = 2, .a_day = 2 };
	int64_t until_us;

	(void)state;
	given_claim("demo", 1, NOON);
	given_claim("demo", 2, NOON);
	assert_int_equal(ask(&pace, NOON, &until_us), PACE_DAY);
	given_released("demo", 1);
	given_released("demo", 1);
	given_released("demo", 9);
	assert_int_equal(ask(&pace, NOON, &until_us), PACE_GO);
	given_claim("demo", 3, NOON);
	assert_int_equal(ask(&pace, NOON, &until_us), PACE_DAY);
}

static void of_claims_at_once_the_first_in_the_log_go(void **state)
{
	const struct pace minute = { .shop = "demo", .zone = "Europe/Berlin", .a_minute = 3 };
	const struct pace day = { .shop = "demo", .zone = "Europe/Berlin", .a_day = 3 };

	(void)state;
	for (int i = 0; i < 8; i++)
		given_claim("demo", i, NOON + i);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(holds(&minute, "demo", i), i < 3);
		assert_int_equal(holds(&day, "demo", i), i < 3);
	}
	given_released("demo",
		1); /* one that went no further makes room for no other claim that was refused, but takes none */
	assert_true(holds(&minute, "demo", 2));
	assert_int_equal(holds(&day, "demo", 9), false);
}

static void every_shop_has_its_own_count_and_the_installation_one_of_all(void **state)
{
	const struct pace demo = { .shop = "demo", .zone = "UTC", .a_day = 2 }, other = { "other", "UTC", 0, 2, 0 };
	const struct pace all = { .shop = SHOP_OF_ALL, .zone = "UTC", .a_day = 3 };
	int64_t until_us;

	(void)state;
	given_claim("demo", 1, NOON);
	given_claim("demo", 2, NOON);
	assert_int_equal(ask(&demo, NOON, &until_us), PACE_DAY);
	assert_int_equal(ask(&other, NOON, &until_us), PACE_GO);
	given_claim("other", 1, NOON);
	assert_int_equal(ask(&other, NOON, &until_us), PACE_GO);
	assert_int_equal(ask(&all, NOON, &until_us), PACE_DAY);
	given_claim("other", 2, NOON);
	assert_true(holds(&other, "other", 2));
	assert_true(holds(&all, "other", 1));
	assert_false(holds(&all, "other", 2));
}

static void counts_are_right_after_days_without_a_mail_and_for_a_clock_that_is_behind(void **state)
{
	const struct pace pace = { .shop = "demo", .zone = "UTC", .a_minute = 2, .a_day = 3 };
	int64_t until_us;

	(void)state;
	given_claim("demo", 1, NOON - 40 * US_PER_DAY);
	given_claim("demo", 2, NOON - 40 * US_PER_DAY + US_PER_HOUR);
	assert_int_equal(ask(&pace, NOON, &until_us), PACE_GO);
	given_claim("demo", 3, NOON);
	given_claim("demo", 4, NOON - 90 * US_PER_S); /* another host's clock */
	given_claim("demo", 5, NOON - 2 * US_PER_DAY);
	assert_int_equal(ask(&pace, NOON, &until_us), PACE_GO);
	given_claim("demo", 6, NOON);
	assert_int_equal(ask(&pace, NOON, &until_us), PACE_DAY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(over_the_rate_a_mail_waits_for_the_next_minute, fresh, gone),
		cmocka_unit_test_setup_teardown(mails_on_their_way_to_a_claim_count_before_they_are_facts, fresh, gone),
		cmocka_unit_test_setup_teardown(the_days_mails_are_counted_by_the_shops_calendar, fresh, gone),
		cmocka_unit_test_setup_teardown(a_claim_that_was_released_is_not_counted, fresh, gone),
		cmocka_unit_test_setup_teardown(of_claims_at_once_the_first_in_the_log_go, fresh, gone),
		cmocka_unit_test_setup_teardown(
			every_shop_has_its_own_count_and_the_installation_one_of_all, fresh, gone),
		cmocka_unit_test_setup_teardown(
			counts_are_right_after_days_without_a_mail_and_for_a_clock_that_is_behind, fresh, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
