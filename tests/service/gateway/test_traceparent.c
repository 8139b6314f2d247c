#include "services/kit/endpoint/traceparent.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

static void of(const char *first, const char *second, char ret[TRACEPARENT_ROOM])
{
	struct request request = { .headers = { { "TraceParent", first }, { "traceparent", second } },
		.header_count = (first != NULL) + (second != NULL) };

	traceparent_of(&request, ret);
}

static void is_taken(const char *given, const char *as)
{
	char trace[TRACEPARENT_ROOM];

	of(given, NULL, trace);
	assert_string_equal(trace, as);
}

static void is_new(const char *trace)
{
	assert_int_equal(strlen(trace), 55);
	assert_memory_equal(trace, "00-", 3);
	assert_memory_equal(trace + 3, trace + 36, 16); /* no such parent */
	assert_string_equal(trace + 52, "-01");
	assert_null(strstr(trace, TRACE));
}

static void a_storefronts_own_trace_is_gone_on_with(void **state)
{
	(void)state;
	is_taken("00-" TRACE "-" PARENT "-01", "00-" TRACE "-" PARENT "-01");
	is_taken("00-" TRACE "-" PARENT "-00", "00-" TRACE "-" PARENT "-00");
}

static void of_a_newer_version_only_what_is_known_is_passed_on(void **state)
{
	(void)state;
	is_taken("00-" TRACE "-" PARENT "-ff", "00-" TRACE "-" PARENT "-01");
	is_taken("cc-" TRACE "-" PARENT "-01", "00-" TRACE "-" PARENT "-01");
	is_taken("cc-" TRACE "-" PARENT "-01-what-the-future-will-be-like", "00-" TRACE "-" PARENT "-01");
}

static void what_is_not_valid_begins_a_new_trace(void **state)
{
	static const char *const wrong[] = { "", "00", "ff-" TRACE "-" PARENT "-01", "00-" TRACE "-" PARENT "-01-more",
		"cc-" TRACE "-" PARENT "-01.more", "00-" TRACE "-" PARENT "-0", "00-" TRACE "-" PARENT "-0x",
		"00-00000000000000000000000000000000-" PARENT "-01", "00-" TRACE "-0000000000000000-01",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01", "00_" TRACE "-" PARENT "-01",
		"00-" TRACE "+" PARENT "-01", "00-" TRACE "-" PARENT " 01", "-" TRACE "-" PARENT "-01",
		"00-4bf92f3577b34da6a3ce929d0e0e473g-" PARENT "-01" };
	char trace[TRACEPARENT_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		of(wrong[i], NULL, trace);
		is_new(trace);
	}
	of(NULL, NULL, trace);
	is_new(trace);
}

static void two_that_contradict_each_other_are_none(void **state)
{
	char trace[TRACEPARENT_ROOM];

	(void)state;
	of("00-" TRACE "-" PARENT "-01", "00-" TRACE "-" PARENT "-01", trace);
	is_new(trace);
}

static void each_request_begins_a_trace_of_its_own(void **state)
{
	char one[TRACEPARENT_ROOM], other[TRACEPARENT_ROOM];

	(void)state;
	for (int i = 0; i < 200; i++) {
		traceparent_new(one);
		traceparent_new(other);
		is_new(one);
		assert_string_not_equal(one, other);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storefronts_own_trace_is_gone_on_with),
		cmocka_unit_test(of_a_newer_version_only_what_is_known_is_passed_on),
		cmocka_unit_test(what_is_not_valid_begins_a_new_trace),
		cmocka_unit_test(two_that_contradict_each_other_are_none),
		cmocka_unit_test(each_request_begins_a_trace_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
