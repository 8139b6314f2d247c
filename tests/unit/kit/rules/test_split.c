/* test_split.c: where a sentence of the rules begins and ends, and which sentences are two limits in one */
#include "bus/base/cleanup.h"
#include "services/kit/rules/text.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>
#include <string.h>

static const struct token *tokens_of(const char *text, struct buffer *tokens)
{
	struct rules_error error = { 0 };

	assert_int_equal(rules_tokens(text, tokens, &error), 0);
	return (const struct token *)(const void *)tokens->data;
}

/* --- list marks --- */

static void check_mark(const char *text, int wanted)
{
	_cleanup_(buffer_free) struct buffer tokens = { 0 };

	if (list_mark(tokens_of(text, &tokens)) != wanted)
		fail_msg("\"%s\": %d tokens of a list mark are wanted", text, wanted);
}

static void a_mark_of_a_list_is_no_part_of_the_sentence(void **unused)
{
	(void)unused;
	check_mark("- Small carts: never.", 1);
	check_mark("* Small carts: never.", 1);
	check_mark("• Small carts: never.", 1);
	check_mark("1. Small carts: never.", 2);
	check_mark("2) Small carts: never.", 2);
}

static void what_a_sentence_begins_with_is_no_mark(void **unused)
{
	(void)unused;
	check_mark("Small carts: never.", 0);
	check_mark("1 EUR is 1.08 USD.", 0);
	check_mark("1.5 hours", 0);
	check_mark("-5 hours", 0);
	check_mark("9:00 to 17:00 only.", 0);
	check_mark("1. small", 0);
	check_mark("1 . Small", 0);
	check_mark("", 0);
}

/* --- ends --- */

/* `wanted`: what the sentence may be, up to each of its ends; NULL ends it. */
static void check_ends(const char *text, const char *const *wanted)
{
	_cleanup_(buffer_free) struct buffer buffer = { 0 };
	const struct token *tokens = tokens_of(text, &buffer);
	struct sentence_ends ends = sentence_ends(tokens);
	int count = 0;

	for (; wanted[count]; count++) {
		if (count >= ends.count)
			fail_msg("\"%s\" may end in %d places only", text, ends.count);
		const struct token *point = &tokens[ends.list[count]];
		size_t len = (size_t)((const char *)point->source.data - text);
		if (len != strlen(wanted[count]) || strncmp(text, wanted[count], len) != 0)
			fail_msg("\"%.*s\" is an end; wanted: \"%s\"", (int)len, text, wanted[count]);
	}
	assert_int_equal(ends.count, count);
}

#define CHECK_ENDS(text, ...) check_ends((text), (const char *const[]){ __VA_ARGS__, NULL })

static void a_sentence_ends_at_its_first_point(void **unused)
{
	(void)unused;
	CHECK_ENDS("Small carts: never. Big carts: 4 hours.", "Small carts: never");
	CHECK_ENDS("small carts: never. big carts: 4 hours.", "small carts: never");
	CHECK_ENDS("Under 10.50 EUR: never. All.", "Under 10.50 EUR: never");
}

static void a_point_behind_a_short_word_may_be_an_abbreviations(void **unused)
{
	(void)unused;
	CHECK_ENDS("Quiet from 9 p.m. to 8 a.m. Small carts: never.", "Quiet from 9 p.m", "Quiet from 9 p.m. to 8 a.m");
	CHECK_ENDS("Nach 4 Std. und 2 Tagen.", "Nach 4 Std", "Nach 4 Std. und 2 Tagen");
	CHECK_ENDS("Nach 4 Std. Dann nie.", "Nach 4 Std");
	CHECK_ENDS("Nach 4 Std . und 2 Tagen.", "Nach 4 Std ");
}

static void a_text_that_stops_within_a_sentence_has_no_end(void **unused)
{
	(void)unused;
	check_ends("", (const char *const[]){ NULL });
	check_ends("Small carts: never", (const char *const[]){ NULL });
	check_ends(". ", (const char *const[]){ NULL });
}

static void no_more_ends_are_looked_for_than_there_is_room_for(void **unused)
{
	_cleanup_(buffer_free) struct buffer buffer = { 0 };

	(void)unused;
	assert_int_equal(sentence_ends(tokens_of("a a.b.c.d.e.f.g.h.i.j.k.l.m.", &buffer)).count, SENTENCE_ENDS_MAX);
}

/* --- two in one --- */

static bool read_in_english(const struct token *tokens, struct items *ret)
{
	int count = 0;

	while (tokens[count].kind != TOKEN_END)
		count++;
	for (int i = 0; i < languages_count(); i++) {
		items_read(language_at(i), READ_CLOCK, "EUR", tokens, count, ret);
		if (ret->unknown == 0)
			return true; /* no other language knows all these words */
	}
	return false;
}

/* Which word the seam stands before; "": there is none. */
static void check_seam(const char *text, const char *wanted)
{
	_cleanup_(buffer_free) struct buffer buffer = { 0 };
	_cleanup_free_ struct items *items = calloc(1, sizeof(*items));
	int seams = 0;

	assert_non_null(items);
	if (!read_in_english(tokens_of(text, &buffer), items))
		fail_msg("\"%s\" has a word that English has not", text);
	for (int at = 0; at + 1 < items->count; at++) {
		if (!is_seam(items, at))
			continue;
		seams++;
		struct bytes next = items->list[at + 1].source;
		if (strlen(wanted) > next.len || memcmp(next.data, wanted, strlen(wanted)) != 0 || !*wanted)
			fail_msg("\"%s\": a seam before \"%.*s\"", text, (int)next.len, (const char *)next.data);
	}
	assert_int_equal(seams, *wanted ? 1 : 0);
}

static void a_sentence_that_limits_twice_has_a_seam(void **unused)
{
	(void)unused;
	check_seam("No mail from 21:00 to 8:00 and never on Sundays", "never");
	check_seam("Nobody gets more than 2 mails per week; not on Sundays", "not");
	check_seam("At most 1 mail per day and at most 3 mails per week", "at most");
}

static void a_sentence_that_limits_once_has_none(void **unused)
{
	(void)unused;
	check_seam("Small carts: after 4 hours and 24 hours", "");
	check_seam("No mail on Saturdays and Sundays", "");
	check_seam("Small carts: after 4 hours and never on Sundays", "");
	check_seam("never on Sundays", "");
}

static struct sentence hours(int days, int from_minute, int to_minute)
{
	return (struct sentence){ .kind = KIND_HOURS,
		.quiet_count = 1,
		.quiets = { { .days = days, .from_minute = from_minute, .to_minute = to_minute } } };
}

static void limits_stand_together_where_each_means_the_same_alone(void **unused)
{
	const int sunday = 1;
	struct sentence nights = hours(RULES_EVERY_DAY, 21 * 60, 8 * 60), sundays = hours(sunday, 0, 24 * 60),
			sunday_nights = hours(sunday, 0, 10 * 60), often = { .kind = KIND_OFTEN },
			sizes = { .kind = KIND_SIZES }, rates = { .kind = KIND_RATES };

	(void)unused;
	assert_true(may_stand_together(&nights, &sundays));
	assert_true(may_stand_together(&often, &sundays));
	assert_true(may_stand_together(&sundays, &often));
	assert_true(may_stand_together(&often, &often));
	assert_false(may_stand_together(&sundays, &nights)); /* on Sundays, or on every day? */
	assert_false(may_stand_together(&nights, &nights));
	assert_false(may_stand_together(&nights, &sunday_nights));
	assert_false(may_stand_together(&sizes, &often));
	assert_false(may_stand_together(&often, &sizes));
	assert_false(may_stand_together(&nights, &rates));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mark_of_a_list_is_no_part_of_the_sentence),
		cmocka_unit_test(what_a_sentence_begins_with_is_no_mark),
		cmocka_unit_test(a_sentence_ends_at_its_first_point),
		cmocka_unit_test(a_point_behind_a_short_word_may_be_an_abbreviations),
		cmocka_unit_test(a_text_that_stops_within_a_sentence_has_no_end),
		cmocka_unit_test(no_more_ends_are_looked_for_than_there_is_room_for),
		cmocka_unit_test(a_sentence_that_limits_twice_has_a_seam),
		cmocka_unit_test(a_sentence_that_limits_once_has_none),
		cmocka_unit_test(limits_stand_together_where_each_means_the_same_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
