/* test_rows.c: what the monitor remembers: reminders that wait, mails of a day, timers */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/platform/monitor/monitor.h"
#include "services/platform/monitor/rows.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

#define NOW_US (INT64_C(1795176000) * US_PER_S) /* the beginning of an hour */

static struct harness *h;

static int fresh(void **state)
{
	(void)state;
	h = harness_new(&monitor, NOW_US);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static void given_due(const char *shop, const char *cart_id, uint32_t step, int64_t decided_us)
{
	static ReminderDue due; /* large */

	due = (ReminderDue){ .has_cart = true, .step = step, .decided_us = decided_us };
	due.cart.has_ids = true;
	TEXT_COPY(due.cart.ids.cart_id, cart_id);
	GIVEN(h, reminder_due, &due, .shop = shop, .key = cart_id);
}

static void given_outcome(const struct topic *topic, const char *cart_id, uint32_t step, int64_t at_us)
{
	ReminderOutcome outcome = { .step = step, .at_us = at_us };
	struct publish_options how = { .shop = "demo", .key = cart_id };

	TEXT_COPY(outcome.cart_id, cart_id);
	harness_given(h, topic, &how, &outcome);
}

static void given_mode(const char *shop, ShopMode mode)
{
	static uint64_t version;
	ShopStatus status = { .mode = mode, .version = ++version };

	GIVEN(h, shop_status, &status, .shop = shop, .key = shop, .version = version);
}

static uint32_t waiting(int64_t before_us)
{
	return rows_waiting(harness_state(h), before_us).count;
}

static void a_reminder_waits_until_any_outcome(void **state)
{
	const struct topic *const outcomes[] = { &topic_reminder_sent, &topic_reminder_refused,
		&topic_reminder_ambiguous, &topic_reminder_skipped };

	(void)state;
	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
		given_due("demo", "c1", 1, NOW_US);
		assert_int_equal(waiting(NOW_US), 0);
		assert_int_equal(waiting(NOW_US + 1), 1);
		given_outcome(outcomes[i], "c1", 2, NOW_US); /* of another step, of another cart */
		given_outcome(outcomes[i], "c2", 1, NOW_US);
		assert_int_equal(waiting(NOW_US + 1), 1);
		given_outcome(outcomes[i], "c1", 1, NOW_US);
		assert_int_equal(waiting(NOW_US + 1), 0);
	}
}

static void a_reminder_that_was_put_off_does_not_wait(void **state)
{
	Audit audit = { .action = "deferred", .cart_id = "c1" };

	(void)state;
	given_due("demo", "c1", 1, NOW_US);
	given_due("demo", "c1", 2, NOW_US);
	given_due("demo", "c2", 1, NOW_US);
	given_due("other", "c1", 1, NOW_US);
	GIVEN(h, audit, &audit, .shop = "demo", .key = "c1");
	assert_int_equal(waiting(NOW_US + 1), 2);
	strcpy(audit.action, "first_reminder");
	strcpy(audit.cart_id, "c2");
	GIVEN(h, audit, &audit, .shop = "demo", .key = "c2");
	assert_int_equal(waiting(NOW_US + 1), 2);
}

static void the_oldest_of_them_is_the_example(void **state)
{
	(void)state;
	given_due("demo", "c1", 2, NOW_US - 5);
	given_due("demo", "c2", 1, NOW_US - 9);
	given_due("other", "c3", 1, NOW_US - 7);
	struct rows_count count = rows_waiting(harness_state(h), NOW_US);
	assert_int_equal(count.count, 3);
	assert_int_equal(count.oldest_us, NOW_US - 9);
	assert_string_equal(count.example, "shop demo, cart/reminder c2/1");
	count = rows_waiting(harness_state(h), NOW_US - 9);
	assert_int_equal(count.count, 0);
	assert_int_equal(count.oldest_us, 0);
	assert_string_equal(count.example, "");
}

static void in_a_shop_that_is_paused_nothing_is_late(void **state)
{
	(void)state;
	given_due("demo", "c1", 1, NOW_US);
	given_due("other", "c1", 1, NOW_US);
	given_mode("demo", MODE_PAUSED);
	assert_int_equal(waiting(NOW_US + 1), 1);
	given_mode("demo", MODE_LIVE);
	assert_int_equal(waiting(NOW_US + 1), 2);
	given_mode(SHOP_OF_ALL, MODE_PAUSED);
	assert_int_equal(waiting(NOW_US + 1), 0);
	given_mode(SHOP_OF_ALL, MODE_LIVE);
	assert_int_equal(waiting(NOW_US + 1), 2);
}

static void a_mail_is_ambiguous_until_it_turns_out_to_be_sent(void **state)
{
	(void)state;
	given_outcome(&topic_reminder_ambiguous, "c1", 1, NOW_US);
	given_outcome(&topic_reminder_ambiguous, "c2", 1, NOW_US - 1);
	given_mode("demo", MODE_PAUSED); /* a pause makes nothing of it */
	assert_int_equal(rows_ambiguous(harness_state(h), NOW_US).count, 1);
	assert_int_equal(rows_ambiguous(harness_state(h), NOW_US - 1).count, 2);
	given_outcome(&topic_reminder_sent, "c1", 2, NOW_US);
	given_outcome(&topic_reminder_refused, "c1", 1, NOW_US);
	assert_int_equal(rows_ambiguous(harness_state(h), NOW_US).count, 1);
	given_outcome(&topic_reminder_sent, "c1", 1, NOW_US);
	assert_int_equal(rows_ambiguous(harness_state(h), NOW_US).count, 0);
}

/* A mail that was skipped was never tried. */
static void a_days_mails_are_those_that_went_to_a_server(void **state)
{
	static const struct {
		const struct topic *topic;
		uint32_t tried, failed;
	} cases[] = { { &topic_reminder_sent, 1, 0 }, { &topic_reminder_skipped, 1, 0 },
		{ &topic_reminder_refused, 2, 1 }, { &topic_reminder_ambiguous, 3, 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given_outcome(cases[i].topic, "c1", 1, NOW_US);
		assert_int_equal(rows_mailing(harness_state(h), NOW_US).tried, cases[i].tried);
		assert_int_equal(rows_mailing(harness_state(h), NOW_US).failed, cases[i].failed);
	}
	given_outcome(&topic_reminder_sent, "c1", 1, NOW_US + US_PER_DAY); /* takes the place of the day before */
	assert_int_equal(rows_mailing(harness_state(h), NOW_US + US_PER_DAY).tried, 1);
	given_outcome(&topic_reminder_refused, "c1", 1, NOW_US); /* so late that its hour is gone */
	assert_int_equal(rows_mailing(harness_state(h), NOW_US + US_PER_DAY).tried, 1);
	assert_int_equal(rows_mailing(harness_state(h), NOW_US + US_PER_DAY).failed, 0);
}

static void given_timer(const char *name, uint64_t version, int64_t due_us, const char *cron)
{
	TimerSet set = { .version = version, .due_us = due_us };

	TEXT_COPY(set.name, name);
	TEXT_COPY(set.cron, cron);
	GIVEN(h, timer_set, &set, .shop = "demo", .key = set.name, .version = version);
}

static int64_t first_us(void)
{
	return rows_first_timer_us(harness_state(h));
}

static void a_timer_is_as_its_newest_version_says(void **state)
{
	TimerCancel cancel = { .name = "cart/c1", .version = 3 };
	TimerFired fired = { .name = "cart/c1", .version = 5 };

	(void)state;
	given_timer("cart/c2", 1, NOW_US + 900, "");
	given_timer("cart/c1", 2, NOW_US + 100, "");
	assert_int_equal(first_us(), NOW_US + 100);
	given_timer("cart/c1", 1, NOW_US + 50, "");
	assert_int_equal(first_us(), NOW_US + 100);
	given_timer("cart/c1", 3, NOW_US + 200, "");
	assert_int_equal(first_us(), NOW_US + 200);
	cancel.version = 2;
	GIVEN(h, timer_cancel, &cancel, .shop = "demo", .key = cancel.name, .version = 2);
	assert_int_equal(first_us(), NOW_US + 200);
	cancel.version = 3;
	GIVEN(h, timer_cancel, &cancel, .shop = "demo", .key = cancel.name, .version = 3);
	assert_int_equal(first_us(), NOW_US + 900);
	given_timer("cart/c1", 5, NOW_US + 300, "");
	assert_int_equal(first_us(), NOW_US + 300);
	GIVEN(h, timer_fired, &fired, .shop = "demo", .key = fired.name, .version = 5, .tombstone = true);
	assert_int_equal(first_us(), NOW_US + 900);
	given_timer("cart/c2", 2, NOW_US + 5, "0 2 * * *"); /* when that is due, only the timer knows */
	assert_int_equal(first_us(), INT64_MAX);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, fresh, gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_reminder_waits_until_any_outcome),
		SCENE(a_reminder_that_was_put_off_does_not_wait),
		SCENE(the_oldest_of_them_is_the_example),
		SCENE(in_a_shop_that_is_paused_nothing_is_late),
		SCENE(a_mail_is_ambiguous_until_it_turns_out_to_be_sent),
		SCENE(a_days_mails_are_those_that_went_to_a_server),
		SCENE(a_timer_is_as_its_newest_version_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
