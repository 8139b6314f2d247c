/* test_circuit.c: what fails in a row is left alone, and tried by one at a time; of hosts each by itself */
#include "bus/base/clock.h"
#include "services/kit/effect/circuit.h"
#include "services/kit/http/breaker.h"
#include "tests/unit/cmocka_all.h"

static void it_opens_with_the_last_of_so_many_failures_in_a_row(void **state)
{
	struct circuit circuit = { .failures = 3, .first_us = US_PER_S, .most_us = US_PER_S };

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_false(circuit_failed(&circuit, 0));
		assert_false(circuit_failed(&circuit, 0));
		assert_true(circuit_may_try(&circuit, 0));
		circuit_worked(&circuit);
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(circuit_failed(&circuit, 0), i == 2);
	assert_true(circuit_is_open(&circuit));
	assert_false(circuit_may_try(&circuit, US_PER_S - 1));
	assert_true(circuit_may_try(&circuit, US_PER_S));
}

static void the_pauses_double_with_each_try_up_to_the_longest_and_end_when_one_works(void **state)
{
	static const int seconds[] = { 1, 2, 4, 8, 16, 32, 60, 60, 60 };
	struct circuit circuit = { .failures = 1, .first_us = US_PER_S, .most_us = US_PER_MINUTE };
	int64_t now_us = 5 * US_PER_HOUR;

	(void)state;
	for (int again = 0; again < 2; again++) {
		assert_true(circuit_may_try(&circuit, now_us));
		for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
			circuit_tried(&circuit, now_us);
			assert_true(circuit_failed(&circuit, now_us));
			assert_false(circuit_may_try(&circuit, now_us + seconds[i] * US_PER_S - 1));
			now_us += seconds[i] * US_PER_S;
			assert_true(circuit_may_try(&circuit, now_us));
		}
		circuit_worked(&circuit);
	}
}

static void those_that_were_under_way_when_it_opened_make_no_pause_longer(void **state)
{
	struct circuit circuit = { .failures = 1, .first_us = US_PER_S, .most_us = US_PER_HOUR };

	(void)state;
	assert_true(circuit_failed(&circuit, 0));
	for (int i = 0; i < 7; i++)
		assert_false(circuit_failed(&circuit, US_PER_S / 2));
	assert_true(circuit_may_try(&circuit, US_PER_S));
	assert_int_equal(circuit.failed, 1);
}

static void one_at_a_time_tries_and_one_that_is_never_heard_of_again_holds_up_nobody(void **state)
{
	struct circuit circuit = { .failures = 1, .first_us = US_PER_S, .most_us = US_PER_HOUR };

	(void)state;
	circuit_failed(&circuit, 0);
	circuit_tried(&circuit, US_PER_S);
	assert_false(circuit_may_try(&circuit, 2 * US_PER_S - 1));
	assert_true(circuit_may_try(&circuit, 2 * US_PER_S));
}

/* ---- hosts ---- */

static const struct http_answer good = { .end = HTTP_ANSWERED, .status = 404 };
static const struct http_answer busy = { .end = HTTP_ANSWERED, .status = 429 };
static const struct http_answer broken = { .end = HTTP_ANSWERED, .status = 503 };
static const struct http_answer silent = { .end = HTTP_UNKNOWN };
static const struct http_answer barred = { .end = HTTP_BARRED };

static void a_host_that_fails_is_left_alone_whatever_is_asked_of_it_and_others_are_not(void **state)
{
	struct http_breaker *breaker = http_breaker_new(3, US_PER_MINUTE);
	char why[160];

	(void)state;
	http_breaker_note(breaker, "https://a.example/x", &busy, 0);
	http_breaker_note(breaker, "https://a.example?y", &silent, 0);
	http_breaker_note(breaker, "https://a.example/x", &barred, 0); /* says nothing of the host */
	assert_true(http_breaker_lets(breaker, "https://a.example/x", 0, why));
	http_breaker_note(breaker, "https://a.example/z", &broken, 0);
	assert_false(http_breaker_lets(breaker, "https://a.example/other", US_PER_MINUTE - 1, why));
	assert_string_equal(why, "not asked: it failed 3 times in a row and is left alone for a while");
	assert_true(http_breaker_lets(breaker, "https://a.example:8443/x", 0, why));
	assert_true(http_breaker_lets(breaker, "https://a.example.org/x", 0, why));
	http_breaker_free(breaker);
}

static void the_first_answer_ends_the_pause_of_its_host(void **state)
{
	struct http_breaker *breaker = http_breaker_new(1, US_PER_MINUTE);
	char why[160];

	(void)state;
	http_breaker_note(breaker, "https://a.example/", &silent, 0);
	assert_true(http_breaker_lets(breaker, "https://a.example/", US_PER_MINUTE, why));
	assert_false(http_breaker_lets(breaker, "https://a.example/", US_PER_MINUTE, why)); /* one tries already */
	http_breaker_note(breaker, "https://a.example/", &silent, US_PER_MINUTE);
	assert_false(http_breaker_lets(
		breaker, "https://a.example/", 2 * US_PER_MINUTE - 1, why)); /* no longer than before */
	assert_true(http_breaker_lets(breaker, "https://a.example/", 2 * US_PER_MINUTE, why));
	http_breaker_note(breaker, "https://a.example/", &good, 2 * US_PER_MINUTE);
	assert_true(http_breaker_lets(breaker, "https://a.example/", 2 * US_PER_MINUTE, why));
	assert_true(http_breaker_lets(breaker, "https://a.example/", 2 * US_PER_MINUTE, why));
	http_breaker_free(breaker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_opens_with_the_last_of_so_many_failures_in_a_row),
		cmocka_unit_test(the_pauses_double_with_each_try_up_to_the_longest_and_end_when_one_works),
		cmocka_unit_test(those_that_were_under_way_when_it_opened_make_no_pause_longer),
		cmocka_unit_test(one_at_a_time_tries_and_one_that_is_never_heard_of_again_holds_up_nobody),
		cmocka_unit_test(a_host_that_fails_is_left_alone_whatever_is_asked_of_it_and_others_are_not),
		cmocka_unit_test(the_first_answer_ends_the_pause_of_its_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
