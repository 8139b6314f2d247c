/*
 * test_said_back.c: whatever rules are understood, they are said back in each language in sentences that mean the same
 *
 * The rules are made at random, always the same ones: amounts of several currencies and decimals, waits and times in all units.
 */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "services/kit/rules/rules.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
// clang-format off
#include "tests/unit/cmocka_all.h"
// clang-format on

enum { ROUNDS = 120 };

static const char *const languages[] = { "en", "de", "fr", "es", "it", "nl", "pt", "ja", "ar", "hi" };
static uint32_t drawn = 1;

static int draw(int least, int most)
{
	drawn = drawn * 1664525 + 1013904223;
	return least + (int)(drawn >> 8) % (most - least + 1);
}

static void add_span(int least_minutes, int most_minutes, struct buffer *ret)
{
	int minutes = draw(least_minutes, most_minutes);

	if (draw(0, 2) == 0)
		buffer_printf(ret, "%d minutes", minutes);
	else if (draw(0, 1) == 0 || most_minutes < 3 * 1440)
		buffer_printf(ret, "%d hours", minutes / 60 + 1);
	else
		buffer_printf(ret, "%d days", minutes / 1440 + 1);
}

static void add_waits(struct buffer *ret)
{
	int mails = draw(0, 2);

	buffer_add_text(ret, mails == 0 ? ": never.\n" : mails == 1 ? ": one reminder, after " : ": remind after ");
	if (mails == 0)
		return;
	add_span(1, 1440, ret);
	if (mails == 2) {
		buffer_add_text(ret, ", then after ");
		add_span(1440 + 300, 20 * 1440, ret);
	}
	buffer_add_text(ret, ".\n");
}

static void add_amount(int step, struct buffer *ret)
{
	int whole = 20 + step * 1000 + draw(0, 900);
	bool is_round = draw(0, 1);

	buffer_printf(ret, "%d.%02d EUR", whole, is_round ? 0 : draw(1, 99));
	buffer_printf(ret, " or %d JPY", whole * 150);
	buffer_printf(ret, " or %d.%03d KWD", whole, is_round ? 0 : draw(1, 999));
}

/* "Carts under A: ... Carts from A to B: ..." or with names; each end once, so that sizes never overlap. */
static void add_sizes(struct buffer *ret)
{
	_cleanup_(buffer_free) struct buffer low = { 0 }, high = { 0 };
	bool is_named = draw(0, 1);

	if (draw(0, 4) == 0) {
		buffer_add_text(ret, "All carts");
		add_waits(ret);
		return;
	}
	add_amount(0, &low);
	add_amount(1, &high);
	buffer_printf(ret, is_named ? "Small carts (%s %s)" : "Carts %s %s", draw(0, 1) ? "under" : "up to",
		buffer_text(&low));
	add_waits(ret);
	if (is_named) {
		buffer_add_text(ret, "Medium carts");
		add_waits(ret);
	}
	buffer_printf(
		ret, is_named ? "Big carts (%s %s)" : "Carts %s %s", draw(0, 1) ? "over" : "from", buffer_text(&high));
	add_waits(ret);
	if (!is_named && draw(0, 1)) {
		buffer_add_text(ret, "All other carts");
		add_waits(ret);
	}
}

static void add_days(struct buffer *ret)
{
	static const char *const names[] = { "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
		"Sunday" };
	int days = draw(1, 0x3f), said = 0;

	for (int i = 0; i < 7; i++)
		if (days & 1 << i)
			buffer_printf(ret, "%s%s", said++ ? " and " : "", names[i]);
}

static void add_hours(struct buffer *ret)
{
	if (draw(0, 1)) {
		buffer_add_text(ret, "Quiet hours");
		if (draw(0, 1)) {
			buffer_add_text(ret, " on ");
			add_days(ret);
		}
		buffer_printf(ret, ": %02d:%02d to %02d:%02d.\n", draw(12, 23), draw(0, 59), draw(0, 11), draw(0, 59));
	}
	if (draw(0, 2) == 0) {
		buffer_add_text(ret, "No mail on ");
		add_days(ret);
		buffer_add_text(ret, ".\n");
	}
}

static void add_often(struct buffer *ret)
{
	if (draw(0, 1)) {
		buffer_add_text(ret, "At most one mail per shopper every ");
		add_span(1, 29 * 1440, ret);
		buffer_add_text(ret, ".\n");
	}
	for (int mails = draw(2, 10); draw(0, 1) && mails <= 10; mails += 3) {
		buffer_printf(ret, "At most %d mails per shopper every ", mails);
		add_span(60, 29 * 1440, ret);
		buffer_add_text(ret, ".\n");
	}
	if (draw(0, 2) == 0)
		buffer_printf(ret, "1 GBP is %d.%0*d EUR.\n", draw(0, 3), draw(1, 4), draw(1, 9));
}

static bool same_waits(const struct rules_waits *a, const struct rules_waits *b)
{
	return a->mails == b->mails && a->first_us == b->first_us && a->second_us == b->second_us;
}

static bool same_sizes(const struct rules *a, const struct rules *b)
{
	bool is_same = a->size_count == b->size_count && a->edge_count == b->edge_count &&
		same_waits(&a->rest, &b->rest) && a->rest_name == b->rest_name;

	for (int i = 0; is_same && i < a->size_count; i++)
		is_same = a->sizes[i].name == b->sizes[i].name && a->sizes[i].is_rest == b->sizes[i].is_rest &&
			same_waits(&a->sizes[i].waits, &b->sizes[i].waits);
	for (int i = 0; is_same && i < a->edge_count; i++)
		is_same = strcmp(a->edges[i].currency, b->edges[i].currency) == 0 &&
			memcmp(a->edges[i].from, b->edges[i].from, (size_t)a->size_count * sizeof(int64_t)) == 0;
	return is_same;
}

static bool same_often(const struct rules *a, const struct rules *b)
{
	bool is_same = a->rate_count == b->rate_count && a->window_us == b->window_us && a->cap_count == b->cap_count;

	for (int i = 0; is_same && i < a->cap_count; i++)
		is_same = a->caps[i].mails == b->caps[i].mails && a->caps[i].period_us == b->caps[i].period_us;
	for (int i = 0; is_same && i < a->rate_count; i++)
		is_same = a->rates[i].rate == b->rates[i].rate && strcmp(a->rates[i].from, b->rates[i].from) == 0 &&
			strcmp(a->rates[i].to, b->rates[i].to) == 0;
	return is_same;
}

/* All but the warnings: these name places, which are others in another text. */
static void must_be_same(const struct rules *a, const struct rules *b, const char *text)
{
	bool is_same = same_sizes(a, b) && same_often(a, b) && a->quiet_count == b->quiet_count &&
		memcmp(a->quiets, b->quiets, (size_t)a->quiet_count * sizeof(a->quiets[0])) == 0;

	if (!is_same)
		fail_msg("this means something else than what it was said of:\n%s", text);
}

static void must_read_back(const struct rules *rules, const char *language, const char *text)
{
	_cleanup_(buffer_free) struct buffer said = { 0 };
	static struct rules again;
	struct rules_error error;

	rules_print(rules, language, &said);
	if (rules_parse(buffer_text(&said), "USD", &again, &error) < 0)
		fail_msg("%s\nis said in %s as\n%s\nwhich is refused: %s", text, language, buffer_text(&said),
			error.text);
	must_be_same(rules, &again, buffer_text(&said));
}

static void random_rules_read_back_in_every_language(void **state)
{
	int understood = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		_cleanup_(buffer_free) struct buffer text = { 0 };
		static struct rules rules;
		struct rules_error error;

		add_sizes(&text);
		add_hours(&text);
		add_often(&text);
		if (rules_parse(buffer_text(&text), "EUR", &rules, &error) < 0)
			continue; /* two waits too near, or no sending hour left */
		understood++;
		for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
			must_read_back(&rules, languages[i], buffer_text(&text));
	}
	if (understood < ROUNDS / 2)
		fail_msg("only %d of %d texts were rules", understood, ROUNDS);
}

/* A size with a name beside sizes that only amounts tell apart: its name alone would not say where it ends. */
static void a_name_without_its_neighbours_is_said_back_with_its_amounts(void **state)
{
	static const char *const texts[] = {
		"Small carts (under 40 EUR): never. Medium carts (from 40 to 80 EUR): 4 hours. Carts over 100 EUR: 1 "
		"hour.",
		"Small carts (under 40 EUR): never. Medium carts (40 to 80 EUR): 4 hours. All other carts: 1 hour.",
		"Carts under 40 EUR: never. Medium carts (from 40 to 80 EUR): 4 hours. Big carts (over 80 EUR): 1 "
		"hour.",
		"Medium carts (from 40 to 80 EUR): 4 hours. Big carts (over 80 EUR): 1 hour.",
		"Small carts (under 40 EUR): never. Medium carts (from 40 to 80 EUR): 4 hours.",
	};
	struct rules_error error;
	struct rules rules;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (rules_parse(texts[i], "EUR", &rules, &error) < 0)
			fail_msg("%s: %s", texts[i], error.text);
		for (size_t j = 0; j < sizeof(languages) / sizeof(languages[0]); j++)
			must_read_back(&rules, languages[j], texts[i]);
	}
}

static void must_read_back_with_rate(const char *rate)
{
	struct rules_error error;
	struct rules rules;
	char text[200];

	snprintf(text, sizeof(text),
		"Small carts (under 40 USD): remind after 4 hours. Big carts (over 80 USD): never. %s", rate);
	if (rules_parse(text, "USD", &rules, &error) < 0)
		fail_msg("%s: %s", rate, error.text);
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
		must_read_back(&rules, languages[i], text);
}

/* Small coins: a rate with four zeros behind the point, and one with seven. */
static void a_tiny_rate_is_said_back_without_an_exponent(void **state)
{
	(void)state;
	must_read_back_with_rate("1 IDR is 0.000062 USD.");
	must_read_back_with_rate("1 VND is 0.0000004 USD.");
	must_read_back_with_rate("1 USD is 16129.03 IDR.");
}

/* In another language, 1.085 is one thousand and eighty-five. "1 EUR is ... USD" is English and Dutch. */
static void a_rate_with_three_decimals_is_said_back_in_one_way_only(void **state)
{
	static const char *const rates[] = { "Count 1 EUR as 1.0850 USD.", "Count 1 EUR as 1.085 USD.",
		"Count 1 USD as 123.456 JPY.", "Count 1 USD as 12.3450 JPY.", "Count 1 USD as 1234.567 JPY.",
		"Count 1 JPY as 0.007 USD.", "Count 1 USD as 1,000 JPY." };

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		must_read_back_with_rate(rates[i]);
}

static void a_rate_of_many_digits_is_said_back_as_the_same_rate(void **state)
{
	(void)state;
	must_read_back_with_rate("1 EUR is 1.08512345678901 USD.");
	must_read_back_with_rate("1 EUR is 1.085123456789012345678 USD.");
	must_read_back_with_rate("Count 3 GBP as 4 USD.");
	must_read_back_with_rate("Count 100 JPY as 0.58 USD.");
}

static void a_rate_of_a_hundred_coins_is_said_back_without_stray_digits(void **state)
{
	_cleanup_(buffer_free) struct buffer said = { 0 };
	struct rules_error error;
	struct rules rules;

	(void)state;
	assert_int_equal(
		rules_parse("Carts under 40 USD: 4 hours. Count 100 JPY as 0.58 USD.", "USD", &rules, &error), 0);
	rules_print(&rules, "en", &said);
	assert_non_null(strstr(buffer_text(&said), "1 JPY is 0.0058 USD.\n"));
}

static void each_language_has_sentences_of_its_own(void **state)
{
	static struct rules rules;
	struct rules_error error;
	struct buffer english = { 0 }, other = { 0 };

	(void)state;
	assert_int_equal(
		rules_parse("Small carts (under 40 EUR): never. All other carts: 4 hours.", "EUR", &rules, &error), 0);
	rules_print(&rules, "en-GB", &english);
	for (size_t i = 1; i < sizeof(languages) / sizeof(languages[0]); i++) {
		buffer_clear(&other);
		rules_print(&rules, languages[i], &other);
		assert_string_not_equal(buffer_text(&english), buffer_text(&other));
	}
	buffer_clear(&other);
	rules_print(&rules, "sv-SE", &other);
	assert_string_equal(buffer_text(&english), buffer_text(&other));
	buffer_free(&english);
	buffer_free(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_rules_read_back_in_every_language),
		cmocka_unit_test(each_language_has_sentences_of_its_own),
		cmocka_unit_test(a_name_without_its_neighbours_is_said_back_with_its_amounts),
		cmocka_unit_test(a_tiny_rate_is_said_back_without_an_exponent),
		cmocka_unit_test(a_rate_with_three_decimals_is_said_back_in_one_way_only),
		cmocka_unit_test(a_rate_of_many_digits_is_said_back_as_the_same_rate),
		cmocka_unit_test(a_rate_of_a_hundred_coins_is_said_back_without_stray_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
