/* an outage and poison, told apart: given what failed and what worked, is the queue paused, and when is it tried? */
#include "bus/base/clock.h"
#include "bus/broker/queue/breaker.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* A capital letter: that key fails. '.': something works. '!': the next failure is a try's. */
static struct breaker after(const char *story)
{
	struct breaker breaker = { 0 };

	for (int64_t at = 1; *story; story++, at++) {
		if (*story == '.')
			breaker_worked(&breaker);
		else if (*story == '!')
			breaker.probing = true;
		else
			breaker_failed(&breaker, (uint64_t)*story, at, 1000 + at);
	}
	return breaker;
}

static void only_when_everything_fails_it_is_an_outage(void **state)
{
	static const struct {
		const char *story;
		bool open;
	} rows[] = {
		{ "", false },
		{ "A", false },
		{ "AAAAAAAAAAAAAAAAAAAA", false }, /* poison, and nothing else to do */
		{ "ABABABABABAB", false },         /* two of them */
		{ "ABCD", false },
		{ "ABCDABCDABCD", false }, /* each known from the first to the last */
		{ "ABCDDCBA", false },
		{ "ABCDE", true },
		{ "AABBCCDDE", true },    /* with retries between them */
		{ "ABCD.E", false },      /* one that works */
		{ "A.A.A.A.A.", false },  /* poison among good ones */
		{ "AB.CD.EF.GH", false }, /* several of them */
		{ "ABCDE.", false },      /* over */
		{ "ABCDE.ABCD", false },  /* and counted anew */
		{ "ABCDE.ABCDE", true },
		{ "ABCDE!F!G!H", true }, /* tries fail */
		{ "ABCDE!F!G!H.", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct breaker breaker = after(rows[i].story);

		if (breaker_is_open(&breaker) != rows[i].open)
			fail_msg("after \"%s\" it is %s", rows[i].story, rows[i].open ? "closed" : "open");
	}
}

static void what_was_in_flight_when_it_was_paused_makes_no_interval_longer(void **state)
{
	struct breaker many = after("ABCDEFGHIJKLMNOPQRSTUVW"), few = after("ABCDE");

	(void)state;
	assert_int_equal(many.probe_boot_us, few.probe_boot_us);
	assert_int_equal(many.since_us, few.since_us);
	assert_int_equal(many.since_us, 1005);
}

static void it_is_tried_at_growing_intervals_up_to_a_minute(void **state)
{
	static const int64_t seconds[] = { 1, 2, 4, 8, 16, 32, 60, 60 };
	struct breaker breaker = after("ABCDE");
	int64_t at_us = 5;

	(void)state;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		assert_false(breaker_may_try(&breaker, 0, at_us + seconds[i] * US_PER_S - 1));
		at_us += seconds[i] * US_PER_S;
		assert_true(breaker_may_try(&breaker, 0, at_us));
		breaker.probing = true;
		breaker_failed(&breaker, 'Z', at_us, at_us);
		assert_true(breaker_is_open(&breaker));
	}
}

static void nothing_is_tried_while_something_is_out(void **state)
{
	struct breaker breaker = after("ABCDE");

	(void)state;
	assert_true(breaker_may_try(&breaker, 0, US_PER_HOUR));
	assert_false(breaker_may_try(&breaker, 1, US_PER_HOUR));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_when_everything_fails_it_is_an_outage),
		cmocka_unit_test(what_was_in_flight_when_it_was_paused_makes_no_interval_longer),
		cmocka_unit_test(it_is_tried_at_growing_intervals_up_to_a_minute),
		cmocka_unit_test(nothing_is_tried_while_something_is_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
