/* test_trace.c: a timer does not end the trace of what set it */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include "services/platform/timer/timer.h"
#include "tests/unit/cmocka_all.h"
#include <pb_encode.h>

static void given(struct harness *h, TimerSet *set, const pb_msgdesc_t *asked, const void *message, const char *trace)
{
	pb_ostream_t stream = pb_ostream_from_buffer(set->payload.bytes, sizeof(set->payload.bytes));

	assert_true(pb_encode(&stream, asked, message));
	set->payload.size = (pb_size_t)stream.bytes_written;
	harness_said_by(h, asked == &CartWake_msg ? "waiter" : "timer");
	GIVEN(h, timer_set, set, .shop = "demo", .key = set->name, .version = set->version, .trace = trace);
}

static void what_fires_goes_on_with_the_trace_of_what_set_it(void **state)
{
	static const char trace[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
	struct harness *h = harness_new(&timer, 1000);
	TimerSet set = { .name = "cart/c1", .version = 3, .due_us = 5000, .topic = "cart.wake", .key = "c1" };
	struct message_meta woken, fired;

	(void)state;
	given(h, &set, &CartWake_msg, &(CartWake){ .cart_id = "c1" }, trace);
	harness_tick(h, 5001);
	assert_true(harness_said(h, &topic_cart_wake, 0, &(CartWake){ 0 }, &woken));
	assert_string_equal(woken.trace, trace);
	assert_int_equal(woken.cause, 1);
	assert_true(harness_said(h, &topic_timer_fired, 0, &(TimerFired){ 0 }, &fired));
	assert_string_equal(fired.trace, trace);
	assert_int_equal(fired.cause, 1);
	harness_free(h);
}

static void each_tick_begins_by_itself(void **state)
{
	struct harness *h = harness_new(&timer, 1000);
	TimerSet set = { .name = "nightly",
		.version = 1,
		.topic = "tick.nightly",
		.key = "demo",
		.cron = "0 2 * * *",
		.zone = "Europe/Berlin" };
	struct message_meta ticked;

	(void)state;
	given(h, &set, &Tick_msg, &(Tick){ .name = "nightly" },
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
	harness_tick(h, 48 * US_PER_HOUR);
	assert_true(harness_said(h, &topic_tick_nightly, 0, &(Tick){ 0 }, &ticked));
	assert_string_equal(ticked.trace, "");
	assert_int_equal(ticked.cause, 0);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fires_goes_on_with_the_trace_of_what_set_it),
		cmocka_unit_test(each_tick_begins_by_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
