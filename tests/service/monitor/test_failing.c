/* test_failing.c: how many decisions failed within the last hour, as the broker's counts say */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/platform/monitor/failing.h"
#include "tests/unit/cmocka_all.h"

#define SLOT_US (5 * US_PER_MINUTE)
#define NOON_US (INT64_C(1795176000) * US_PER_S) /* the beginning of a slot */

static const struct service watcher = { .name = "watcher",
	.remembers = REMEMBERING(REMEMBERS(queue_failed, failing_remember)) };

static struct harness *h;

static int fresh(void **state)
{
	(void)state;
	h = harness_new(&watcher, NOON_US);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

/* The broker's count is this now: what is news of it is folded. Returns how many failures that are. */
static uint32_t when_counted(const char *queue, uint64_t total, int64_t now_us)
{
	QueueFailed failed;

	if (!failing_news(harness_state(h), queue, total, now_us, &failed))
		return 0;
	assert_string_equal(failed.queue, queue);
	assert_int_equal(failed.total, total);
	assert_int_equal(failed.at_us, now_us);
	GIVEN(h, queue_failed, &failed, .shop = SHOP_OF_ALL, .key = queue);
	return failed.failures;
}

static uint32_t count(const char *queue, int64_t now_us)
{
	return failing_count(harness_state(h), queue, now_us, US_PER_HOUR);
}

static void what_was_added_is_news_once(void **state)
{
	(void)state;
	assert_int_equal(when_counted("intake", 0, NOON_US), 0);
	assert_int_equal(when_counted("intake", 7, NOON_US), 7); /* while the monitor was not there */
	assert_int_equal(when_counted("intake", 7, NOON_US), 0);
	assert_int_equal(when_counted("intake", 9, NOON_US), 2);
	assert_int_equal(when_counted("waiter", 9, NOON_US), 9);
	assert_int_equal(count("intake", NOON_US), 9);
}

/* A broker counts from its start: a smaller number is of a new one. */
static void a_broker_that_began_anew_counts_from_nothing(void **state)
{
	(void)state;
	when_counted("intake", 100, NOON_US);
	assert_int_equal(when_counted("intake", 3, NOON_US), 3);
	assert_int_equal(count("intake", NOON_US), 103);
	assert_int_equal(when_counted("intake", 4, NOON_US), 1);
}

static void a_failure_counts_for_an_hour(void **state)
{
	(void)state;
	when_counted("intake", 5, NOON_US);
	assert_int_equal(count("intake", NOON_US + 12 * SLOT_US - 1), 5);
	assert_int_equal(count("intake", NOON_US + 12 * SLOT_US), 0);
	when_counted("intake", 7, NOON_US + SLOT_US);
	when_counted("intake", 8, NOON_US + 11 * SLOT_US);
	assert_int_equal(count("intake", NOON_US + 12 * SLOT_US - 1), 8);
	assert_int_equal(count("intake", NOON_US + 12 * SLOT_US), 3);
	assert_int_equal(count("intake", NOON_US + 13 * SLOT_US), 1);
	assert_int_equal(failing_count(harness_state(h), "intake", NOON_US + 12 * SLOT_US - 1, SLOT_US), 1);
}

/* A place of the hour before is taken anew, not added to. */
static void what_was_an_hour_ago_is_not_counted_again(void **state)
{
	(void)state;
	when_counted("intake", 5, NOON_US);
	when_counted("intake", 6, NOON_US + SLOT_US - 1);
	assert_int_equal(count("intake", NOON_US), 6);
	when_counted("intake", 8, NOON_US + 12 * SLOT_US);
	assert_int_equal(count("intake", NOON_US + 12 * SLOT_US), 2);
}

static void all_queues_are_counted_together_or_each(void **state)
{
	(void)state;
	when_counted("intake", 2, NOON_US);
	when_counted("waiter", 3, NOON_US);
	assert_int_equal(count("intake", NOON_US), 2);
	assert_int_equal(count("waiter", NOON_US), 3);
	assert_int_equal(count("sender", NOON_US), 0);
	assert_int_equal(count(NULL, NOON_US), 5);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, fresh, gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(what_was_added_is_news_once),
		SCENE(a_broker_that_began_anew_counts_from_nothing),
		SCENE(a_failure_counts_for_an_hour),
		SCENE(what_was_an_hour_ago_is_not_counted_again),
		SCENE(all_queues_are_counted_together_or_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
