/* test_breaker.c: which host is left alone after failures, and what ends that */
#include "bus/base/clock.h"
#include "services/kit/http/breaker.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

#define PAUSE_US (60 * US_PER_S)
#define A "https://a.example/orders"

static struct http_breaker *breaker;

static int fresh(void **state)
{
	(void)state;
	breaker = http_breaker_new(3, PAUSE_US);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	http_breaker_free(breaker);
	return 0;
}

static void note(const char *url, enum http_end end, long status, int64_t now_us)
{
	http_breaker_note(
		breaker, url, &(struct http_answer){ .end = end, .status = status, .words = "words" }, now_us);
}

static bool lets(const char *url, int64_t now_us)
{
	char why[160] = "";
	bool let = http_breaker_lets(breaker, url, now_us, why);

	assert_int_equal(*why == '\0', let);
	return let;
}

static void given_open(int64_t now_us)
{
	for (int i = 0; i < 3; i++) {
		assert_true(lets(A, now_us));
		note(A, HTTP_NOT_SENT, 0, now_us);
	}
	assert_false(lets(A, now_us));
}

static void a_host_is_left_alone_after_so_many_failures_in_a_row(void **state)
{
	char why[160];

	(void)state;
	note(A, HTTP_UNKNOWN, 0, 0);
	note(A, HTTP_ANSWERED, 500, 0);
	assert_true(lets(A, 0));
	note(A, HTTP_ANSWERED, 200, 0); /* in a row */
	note(A, HTTP_NOT_SENT, 0, 0);
	note(A, HTTP_ANSWERED, 429, 0);
	assert_true(lets(A, 0));
	note(A, HTTP_ANSWERED, 503, 0);
	assert_false(http_breaker_lets(breaker, A, 0, why));
	assert_string_equal(why, "not asked: it failed 3 times in a row and is left alone for a while");
}

static void every_answer_but_429_and_5xx_ends_it(void **state)
{
	static const struct {
		long status;
		bool good;
	} cases[] = { { 200, true }, { 302, true }, { 401, true }, { 404, true }, { 428, true }, { 429, false },
		{ 430, true }, { 499, true }, { 500, false }, { 503, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		gone(NULL);
		fresh(NULL);
		given_open(0);
		note(A, HTTP_ANSWERED, cases[i].status, 1);
		assert_int_equal(lets(A, 1), cases[i].good);
	}
}

static void during_a_pause_one_request_is_let_through_to_try(void **state)
{
	(void)state;
	given_open(0);
	assert_false(lets(A, PAUSE_US - 1));
	assert_true(lets(A, PAUSE_US));
	assert_false(lets(A, PAUSE_US));
	assert_false(lets(A, 2 * PAUSE_US - 1));
	assert_true(lets(A, 2 * PAUSE_US)); /* nobody heard the end of the first */
	note(A, HTTP_UNKNOWN, 0, 2 * PAUSE_US + 5);
	assert_false(lets(A, 3 * PAUSE_US + 4));
	assert_true(lets(A, 3 * PAUSE_US + 5)); /* the pause does not grow */
	note(A, HTTP_ANSWERED, 200, 3 * PAUSE_US + 6);
	for (int i = 0; i < 3; i++)
		assert_true(lets(A, 3 * PAUSE_US + 6));
}

/* The host is the scheme, the name and the port, whatever is asked of it. */
static void each_host_is_counted_by_itself(void **state)
{
	static const struct {
		const char *url;
		bool same;
	} cases[] = { { "https://a.example", true }, { "https://a.example/", true }, { "https://a.example?x=/", true },
		{ "https://a.example#x", true }, { "https://a.example/other?u=https://b.example", true },
		{ "https://a.example:8443/orders", false }, { "http://a.example/orders", false },
		{ "https://b.example/orders", false }, { "https://a.example.net/orders", false },
		{ "https://a.exampl/orders", false } };

	(void)state;
	given_open(0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(lets(cases[i].url, 1), !cases[i].same);
	for (int i = 0; i < 3; i++)
		note("https://b.example/", HTTP_NOT_SENT, 0, 1);
	assert_false(lets("https://b.example/", 2));
	note("https://b.example/", HTTP_ANSWERED, 200, 2);
	assert_true(lets("https://b.example/", 2));
	assert_false(lets(A, 2)); /* and another's answer ends nothing */
}

/* It was never tried: its secret is missing, or it may not be reached. */
static void what_was_barred_is_no_failure_of_the_host(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		note(A, HTTP_BARRED, 0, 0);
	assert_true(lets(A, 0));
	given_open(0);
	note(A, HTTP_BARRED, 0, 0);
	assert_false(lets(A, 1));
}

static void without_a_bound_all_are_let_through(void **state)
{
	(void)state;
	gone(NULL);
	breaker = http_breaker_new(0, PAUSE_US);
	for (int i = 0; i < 10; i++)
		note(A, HTTP_NOT_SENT, 0, 0);
	assert_true(lets(A, 0));
	http_breaker_free(NULL);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, fresh, gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_host_is_left_alone_after_so_many_failures_in_a_row),
		SCENE(every_answer_but_429_and_5xx_ends_it),
		SCENE(during_a_pause_one_request_is_let_through_to_try),
		SCENE(each_host_is_counted_by_itself),
		SCENE(what_was_barred_is_no_failure_of_the_host),
		SCENE(without_a_bound_all_are_let_through),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
