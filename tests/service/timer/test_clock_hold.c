/* test_clock_hold.c: a clock that jumps fires nothing, and what was due meanwhile is made up for when it is right again */
#include "bus/actor/sim/harness.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/platform/timer/timer.h"
#include "tests/unit/cmocka_all.h"
#include <pb_encode.h>

#define START_US (INT64_C(20000) * US_PER_DAY)

static int64_t wall_us, boot_us; /* moved by hand */

static int64_t read_wall_us(const struct clock *clock)
{
	(void)clock;
	return wall_us;
}

static int64_t read_boot_us(const struct clock *clock)
{
	(void)clock;
	return boot_us;
}

static void pass(int64_t boot_span_us, int64_t wall_span_us)
{
	boot_us += boot_span_us;
	wall_us += wall_span_us;
}

static struct clock_hold hold_under(struct clock *clock, double rate)
{
	wall_us = START_US;
	boot_us = US_PER_HOUR;
	*clock = (struct clock){ .wall_us = read_wall_us, .boot_us = read_boot_us, .rate = rate };
	return clock_hold_from(clock);
}

static void given_wake(struct harness *h, int64_t due_us)
{
	TimerSet set = { .version = 1, .due_us = due_us, .name = "cart/c1", .key = "c1", .topic = "cart.wake" };
	CartWake wake = { .cart_id = "c1", .revision = 1, .due_us = due_us };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	assert_true(pb_encode(&stream, &CartWake_msg, &wake));
	set.payload.size = (pb_size_t)stream.bytes_written;
	harness_said_by(h, "waiter");
	GIVEN(h, timer_set, &set, .shop = "demo", .key = set.name, .version = 1);
}

static void clocks_that_go_together_hold_nothing(void **state)
{
	struct clock clock;
	struct clock_hold hold = hold_under(&clock, 1);
	struct harness *h = harness_new_in(timer_in(&hold), START_US);

	(void)state;
	given_wake(h, START_US + US_PER_DAY);
	pass(US_PER_DAY, US_PER_DAY + US_PER_MINUTE); /* a minute is what a correction may take */
	assert_int_equal(clock_hold_jump_us(&hold), 0);
	harness_tick(h, wall_us);
	assert_int_equal(harness_count(h, &topic_cart_wake), 1);
	harness_free(h);
}

static void a_clock_that_jumps_ahead_fires_nothing_until_it_is_right_again(void **state)
{
	struct clock clock;
	struct clock_hold hold = hold_under(&clock, 1);
	struct harness *h = harness_new_in(timer_in(&hold), START_US);
	TimerFired fired;

	(void)state;
	given_wake(h, START_US + 2 * US_PER_HOUR);
	pass(US_PER_HOUR, 365 * US_PER_DAY);
	assert_int_equal(clock_hold_jump_us(&hold), 365 * US_PER_DAY - US_PER_HOUR);
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	harness_tick(h, wall_us);
	assert_int_equal(harness_count(h, NULL), 0);
	pass(2 * US_PER_HOUR, 3 * US_PER_HOUR - 365 * US_PER_DAY);
	assert_int_equal(clock_hold_jump_us(&hold), 0);
	harness_tick(h, wall_us);
	assert_true(harness_said(h, &topic_timer_fired, 0, &fired, NULL));
	assert_int_equal(fired.due_us, START_US + 2 * US_PER_HOUR);
	harness_free(h);
}

static void a_clock_that_jumps_back_fires_nothing_either(void **state)
{
	struct clock clock;
	struct clock_hold hold = hold_under(&clock, 1);
	struct harness *h = harness_new_in(timer_in(&hold), START_US);

	(void)state;
	given_wake(h, START_US - 2 * US_PER_HOUR); /* overdue, and still so by the wrong clock */
	pass(US_PER_MINUTE, -US_PER_HOUR);
	assert_int_equal(clock_hold_jump_us(&hold), -US_PER_HOUR - US_PER_MINUTE);
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	harness_free(h);
}

static void a_restart_takes_the_clock_as_it_is(void **state)
{
	struct clock clock;
	struct clock_hold hold = hold_under(&clock, 1);

	(void)state;
	pass(0, US_PER_DAY);
	assert_int_equal(clock_hold_jump_us(&hold), US_PER_DAY);
	hold = clock_hold_from(&clock);
	assert_int_equal(clock_hold_jump_us(&hold), 0);
}

static void a_demos_clock_is_held_against_its_own_rate(void **state)
{
	struct clock clock;
	struct clock_hold hold = hold_under(&clock, 3600);

	(void)state;
	pass(US_PER_S, US_PER_HOUR);
	assert_int_equal(clock_hold_jump_us(&hold), 0);
	pass(0, 61 * US_PER_HOUR);
	assert_int_equal(clock_hold_jump_us(&hold), 61 * US_PER_HOUR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_that_go_together_hold_nothing),
		cmocka_unit_test(a_clock_that_jumps_ahead_fires_nothing_until_it_is_right_again),
		cmocka_unit_test(a_clock_that_jumps_back_fires_nothing_either),
		cmocka_unit_test(a_restart_takes_the_clock_as_it_is),
		cmocka_unit_test(a_demos_clock_is_held_against_its_own_rate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
