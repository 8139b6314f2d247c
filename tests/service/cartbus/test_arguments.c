/* test_arguments.c: numbers, moments and rates as an admin types them: all of it understood, or refused */
#include "bus/base/bytes.h"
#include "services/cartbus/core/command.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void a_sequence_number_is_digits_and_nothing_else(void **state)
{
	static const char *const bad[] = { "", "0", "-1", "+1", " 1", "1 ", "1x", "0x10", "01", "1.5",
		"9223372036854775808", "99999999999999999999" };
	int64_t seq;

	(void)state;
	assert_int_equal(range_seq("4711", &seq), 0);
	assert_int_equal(seq, 4711);
	assert_int_equal(range_seq("9223372036854775807", &seq), 0);
	assert_int_equal(seq, INT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (range_seq(bad[i], &seq) != -EINVAL)
			fail_msg("\"%s\" is taken for %lld", bad[i], (long long)seq);
}

static void a_rate_is_so_many_a_second(void **state)
{
	static const char *const bad[] = { "", "0", "0/s", "-5/s", "5/m", "5/", "/s", "fast", "100001/s" };
	int64_t rate;

	(void)state;
	assert_int_equal(range_rate("5/s", &rate), 0);
	assert_int_equal(rate, 5);
	assert_int_equal(range_rate("100000", &rate), 0);
	assert_int_equal(rate, 100000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(range_rate(bad[i], &rate), -EINVAL);
}

static void an_end_of_a_range_is_a_number_or_a_moment(void **state)
{
	static const struct {
		const char *text;
		int64_t seq, time_us;
	} rows[] = {
		{ "17", 17, 0 },
		{ "2h", 0, INT64_C(20000) * US_PER_DAY - 2 * US_PER_HOUR },
		{ "30min", 0, INT64_C(20000) * US_PER_DAY - 30 * US_PER_MINUTE },
		{ "1970-01-02T00:00Z", 0, US_PER_DAY },
		{ "1970-01-02T00:00:07Z", 0, US_PER_DAY + 7 * US_PER_S },
		{ "2024-02-29T12:00Z", 0, INT64_C(1709208000) * US_PER_S },
	};
	static const char *const bad[] = { "", "0", "now", "2026-13-01T00:00Z", "2026-04-31T00:00Z", "2026-04-30",
		"2026-04-30T00:00", "2026-04-30T00:00Zx", "2026-04-30T25:00Z", "17x", "-2h", "1960-01-01T00:00Z" };
	struct clock clock = clock_virtual(INT64_C(20000) * US_PER_DAY);
	struct range_end end;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(range_end_parse(rows[i].text, &clock, &end), 0);
		assert_int_equal(end.seq, rows[i].seq);
		assert_int_equal(end.time_us, rows[i].time_us);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (range_end_parse(bad[i], &clock, &end) != -EINVAL)
			fail_msg(
				"\"%s\" is taken for %lld or %lld", bad[i], (long long)end.seq, (long long)end.time_us);
}

static char heard[2000];

static void hear(const char *words, void *context)
{
	(void)context;
	snprintf(heard, sizeof(heard), "%s", words);
}

/* Strangers name some of the files that it may be about. */
static void a_complaint_is_text_that_no_terminal_obeys(void **state)
{
	const struct command command = { .name = "mailin retry", .hear = hear };
	char name[3000] = "x", *at = name + 1;

	(void)state;
	complain(&command, "%s: %s",
		"\033[2J\xc2\x9b"
		"2Ja\nb\xe2\x80\xae",
		"\xc3\xa4");
	assert_string_equal(heard, " [2J  2Ja b   : \xc3\xa4");
	complain(&command, "%s", "\xff\033x");
	assert_string_equal(heard, "? x");
	for (; at < name + sizeof(name) - 2; at += 2)
		memcpy(at, "\xc3\xa4", 3);
	complain(&command, "%s", name);
	assert_int_equal(strlen(heard), 1023);
	assert_memory_equal(heard, name, 1023); /* cut between two characters, or all would be question marks */
	*at = '\0';
	complain(&command, "%s", name + 1);
	assert_int_equal(strlen(heard), 1022);
	assert_memory_equal(heard, name + 1, 1022);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sequence_number_is_digits_and_nothing_else),
		cmocka_unit_test(a_rate_is_so_many_a_second),
		cmocka_unit_test(a_complaint_is_text_that_no_terminal_obeys),
		cmocka_unit_test(an_end_of_a_range_is_a_number_or_a_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
