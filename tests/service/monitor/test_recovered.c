/* test_recovered.c: which carts count as bought after a reminder */
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/platform/monitor/monitor.h"
#include "services/platform/monitor/recovered.h"
#include "services/platform/monitor/rows.h"
#include "tests/unit/cmocka_all.h"
#include <limits.h>
#include <stdio.h>

#define NOW_US (INT64_C(20000) * US_PER_DAY)

static void mailed(struct harness *h, const char *cart, uint32_t step, int64_t at_us, bool to_owner)
{
	ReminderOutcome sent = { .step = step, .at_us = at_us, .to_owner = to_owner };

	TEXT_COPY(sent.cart_id, cart);
	GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = cart);
}

static void bought(struct harness *h, const char *cart, int64_t at_us)
{
	Audit audit = { .at_us = at_us, .action = "bought" };

	TEXT_COPY(audit.cart_id, cart);
	GIVEN(h, audit, &audit, .shop = "demo", .key = cart);
}

static void assert_recovered(const struct harness *h, int64_t now_us, unsigned today, unsigned ever)
{
	struct recovered recovered = recovered_carts(harness_state(h), now_us);

	assert_int_equal(recovered.today, today);
	assert_int_equal(recovered.ever, ever);
}

static void a_cart_that_was_bought_after_a_reminder_counts_once(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);

	(void)state;
	mailed(h, "c1", 1, NOW_US, false);
	mailed(h, "c1", 2, NOW_US + US_PER_HOUR, false);
	assert_recovered(h, NOW_US, 0, 0);
	bought(h, "c1", NOW_US + 2 * US_PER_HOUR);
	bought(h, "c1", NOW_US + 3 * US_PER_HOUR);
	assert_recovered(h, NOW_US + 3 * US_PER_HOUR, 1, 1);
	assert_recovered(h, NOW_US + 2 * US_PER_DAY, 0, 1);
	harness_free(h);
}

static void what_nobody_was_reminded_of_does_not_count(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);

	(void)state;
	bought(h, "unmailed", NOW_US);
	mailed(h, "owners", 1, NOW_US, true);
	bought(h, "owners", NOW_US + 1);
	mailed(h, "late", 1, NOW_US, false);
	mailed(h, "just in time", 1, NOW_US, false);
	bought(h, "late", NOW_US + 30 * US_PER_DAY + 1);
	assert_recovered(h, NOW_US + 31 * US_PER_DAY, 0, 0);
	bought(h, "just in time", NOW_US + 30 * US_PER_DAY);
	assert_recovered(h, NOW_US + 30 * US_PER_DAY, 1, 1);
	harness_free(h);
}

static bool count_row(const char *shop, const char *key, struct bytes value, void *context)
{
	(void)shop, (void)key, (void)value;
	++*(int *)context;
	return true;
}

static void reminders_are_remembered_for_a_month(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	int rows = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		char cart[20];

		snprintf(cart, sizeof(cart), "c%d", i);
		mailed(h, cart, 1, NOW_US + i * US_PER_DAY, false);
	}
	state_each(harness_state(h), "reminded", NULL, NULL, count_row, &rows);
	assert_int_equal(rows, 31);
	rows = 0;
	state_each(harness_state(h), "reminded.at", NULL, NULL, count_row, &rows);
	assert_int_equal(rows, 31);
	harness_free(h);
}

static int count_reminded(const struct harness *h)
{
	int rows = 0;

	state_each(harness_state(h), "reminded", NULL, NULL, count_row, &rows);
	return rows;
}

/* The list is not asked while nothing in it can be so old: what comes late into it must be known to lie before the rest. */
static void a_reminder_that_is_said_late_is_forgotten_in_time(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);

	(void)state;
	mailed(h, "first", 1, NOW_US + 40 * US_PER_DAY, false);
	mailed(h, "late", 1, NOW_US + 12 * US_PER_DAY, false);
	mailed(h, "second", 1, NOW_US + 41 * US_PER_DAY, false);
	assert_int_equal(count_reminded(h), 3);
	mailed(h, "third", 1, NOW_US + 60 * US_PER_DAY, false);
	assert_int_equal(count_reminded(h), 3);
	mailed(h, "fourth", 1, NOW_US + 71 * US_PER_DAY, false);
	assert_int_equal(count_reminded(h), 3);
	harness_free(h);
}

static void set_timer(struct harness *h, const char *name, int64_t due_us)
{
	TimerSet set = { .due_us = due_us, .version = 1 };

	TEXT_COPY(set.name, name);
	GIVEN(h, timer_set, &set, .shop = "demo", .key = name, .version = 1);
}

static void the_first_carts_turn_is_no_other_timers(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);

	(void)state;
	assert_int_equal(rows_first_cart_us(harness_state(h)), INT64_MAX);
	set_timer(h, "sheet/1", NOW_US + 1);
	set_timer(h, "cart/b", NOW_US + 3);
	set_timer(h, "cart/a", NOW_US + 2);
	assert_int_equal(rows_first_cart_us(harness_state(h)), NOW_US + 2);
	assert_int_equal(rows_first_timer_us(harness_state(h)), NOW_US + 1);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cart_that_was_bought_after_a_reminder_counts_once),
		cmocka_unit_test(what_nobody_was_reminded_of_does_not_count),
		cmocka_unit_test(reminders_are_remembered_for_a_month),
		cmocka_unit_test(a_reminder_that_is_said_late_is_forgotten_in_time),
		cmocka_unit_test(the_first_carts_turn_is_no_other_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
