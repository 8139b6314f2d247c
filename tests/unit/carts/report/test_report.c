/*
 * test_report.c: what reports say, in each of their languages
 *
 * The goldens are whole reports in golden/summary-*.txt (golden.h).
 */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/carts/report/data.h"
#include "services/kit/time/zone.h"
#include "services/kit/web/html.h"
#include "tests/unit/golden.h"
#include <stdio.h>
#include <stdlib.h>
#include <unicode/umsg.h>
#include <unicode/ustring.h>

static const struct {
	const char *locale, *title, *currency;
	int64_t unit; /* minor */
} shops[] = {
	{ "en-GB", "Huber's Flowers", "GBP", 100 },
	{ "de-AT", "Blumen Huber", "EUR", 100 },
	{ "fr-CA", "Fleurs d’Amélie", "CAD", 100 },
	{ "es-MX", "Flores «Huber»", "MXN", 100 },
	{ "it-IT", "Fiori Huber", "EUR", 100 },
	{ "nl-NL", "Bloemen Huber", "EUR", 100 },
	{ "pt-PT", "Flores Huber", "EUR", 100 },
	{ "ja-JP", "フーバー花店", "JPY", 1 },
	{ "ar-EG", "زهور هوبر", "KWD", 1000 },
	{ "hi-IN", "हूबर फूल", "INR", 100 },
};

static struct report report_of(struct shop *shop, const char *locale, const char *title)
{
	struct report report = { .shop = shop };

	*shop = (struct shop){ .name = "demo", .zone = "Europe/Berlin" };
	TEXT_COPY(shop->locale, locale);
	TEXT_COPY(shop->title, title);
	report.words = report_words_for(locale, report.locale);
	assert_int_equal(period_month(shop->zone, "2026-10", &report.period), 0);
	assert_int_equal(period_before(shop->zone, &report.period, &report.before), 0);
	return report;
}

static void set_figures(struct report *report, const char *currency, int64_t unit)
{
	report->now =
		(struct report_figures){ .seen = 1234, .mailed = 811, .first = 811, .second = 402, .clicked = 97 };
	report->then =
		(struct report_figures){ .seen = 1102, .mailed = 705, .first = 705, .second = 351, .clicked = 88 };
	report->now.orders[ATTRIBUTION_CLICKED] = 61;
	report->now.orders[ATTRIBUTION_MAILED] = 24;
	report->now.orders[ATTRIBUTION_ANYWAY] = 212;
	report->now.taken_back = 3;
	report->now.gave_up = 318;
	report->now.opted_out = 2;
	report->now.complaints = 1;
	report->now.ambiguous = 1;
	TEXT_COPY(report->now.sums[ATTRIBUTION_CLICKED][0].currency, currency);
	report->now.sums[ATTRIBUTION_CLICKED][0].total_minor = 4821 * unit + unit / 2;
	TEXT_COPY(report->now.sums[ATTRIBUTION_MAILED][0].currency, currency);
	report->now.sums[ATTRIBUTION_MAILED][0].total_minor = 1920 * unit;
	report->now.sums[ATTRIBUTION_MAILED][0].back_minor = 120 * unit;
	TEXT_COPY(report->then.sums[ATTRIBUTION_CLICKED][0].currency, currency);
	report->then.sums[ATTRIBUTION_CLICKED][0].total_minor = 3990 * unit;
}

static void each_language_tells_the_same_month_as_its_readers_write_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shops) / sizeof(shops[0]); i++) {
		struct buffer text = { 0 };
		struct shop shop;
		struct report report = report_of(&shop, shops[i].locale, shops[i].title);
		char name[40];

		assert_memory_equal(report.words->language, shops[i].locale, 2);
		set_figures(&report, shops[i].currency, shops[i].unit);
		report_text(&report, &text);
		snprintf(name, sizeof(name), "summary-%s.txt", report.words->language);
		golden_compare(name, buffer_bytes(&text));
		buffer_free(&text);
	}
	golden_end();
}

static void assert_pattern(const struct report_words *words, const char *pattern)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar wide[1200];

	assert_non_null(pattern);
	u_uastrcpy(wide, "");
	u_strFromUTF8(wide, 1200, NULL, pattern, -1, &error);
	UMessageFormat *format = umsg_open(wide, -1, words->language, NULL, &error);
	umsg_close(format);
	if (U_FAILURE(error))
		fail_msg("%s: \"%s\": %s", words->language, pattern, u_errorName(error));
}

static void every_language_has_every_text_and_each_pattern_is_icus(void **state)
{
	(void)state;
	for (const struct report_words *words = report_words; words->language; words++) {
		const char *const plain[] = { words->before, words->won, words->of_it_back, words->in_it_clicked,
			words->won_nothing, words->between, words->footnote };
		const char *const patterns[] = { words->title, words->seen, words->bought, words->won_sum,
			words->opted_out };

		for (int i = 0; i < REPORT_LINES; i++)
			assert_true(words->labels[i] && *words->labels[i]);
		for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
			assert_non_null(plain[i]);
		for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
			assert_pattern(words, patterns[i]);
	}
}

/* Of nothing, of one, of two, of a few: no sentence may be missing, in no language. */
static void every_number_of_things_can_be_said(void **state)
{
	static const uint32_t numbers[] = { 0, 1, 2, 3, 11, 100, 1000000 };

	(void)state;
	for (const struct report_words *words = report_words; words->language; words++)
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
			struct buffer paragraph = { 0 };
			struct shop shop;
			struct report report = report_of(&shop, words->language, "Demo");
			int ends = 0;

			report.now.seen = report.now.mailed = report.now.opted_out = report.now.complaints = numbers[i];
			for (int class = 0; class < ATTRIBUTION_CLASSES; class ++)
				report.now.orders[class] = numbers[i];
			report_paragraph(&report, &paragraph);
			for (const char *at = buffer_text(&paragraph); *at; at++)
				ends += *at == '.' && (!at[1] || at[1] == ' ');
			for (const char *at = buffer_text(&paragraph); (at = strstr(at, "。")); at++)
				ends++;
			for (const char *at = buffer_text(&paragraph); (at = strstr(at, "।")); at++)
				ends++;
			if (ends != 4)
				fail_msg("%s, %u: %s", words->language, (unsigned)numbers[i], buffer_text(&paragraph));
			buffer_free(&paragraph);
		}
}

static void who_reads_another_language_gets_english_and_his_own_numbers(void **state)
{
	struct shop shop;
	struct buffer text = { 0 };
	struct report report = report_of(&shop, "sv-SE", "Blommor");

	(void)state;
	set_figures(&report, "SEK", 100);
	report_text(&report, &text);
	assert_true(text_starts(buffer_text(&text), "Blommor: carts in October 2026\n"));
	assert_non_null(strstr(buffer_text(&text),
		"1\xc2\xa0"
		"234 carts were seen"));
	buffer_free(&text);
	report = report_of(&shop, "not a locale", "Demo");
	assert_string_equal(report.words->language, "en");
}

static void what_was_won_in_two_currencies_is_listed_as_the_language_lists(void **state)
{
	struct shop shop;
	struct buffer paragraph = { 0 };
	struct report report = report_of(&shop, "de-DE", "Demo");

	(void)state;
	set_figures(&report, "EUR", 100);
	TEXT_COPY(report.now.sums[ATTRIBUTION_MAILED][1].currency, "USD");
	report.now.sums[ATTRIBUTION_MAILED][1].total_minor = 500;
	report_paragraph(&report, &paragraph);
	assert_non_null(strstr(buffer_text(&paragraph), "Zurückgewonnen: 6.621,50\xc2\xa0€ und 5,00\xc2\xa0$."));
	buffer_free(&paragraph);
}

static void html_tells_the_same_escaped_and_in_the_direction_of_its_words(void **state)
{
	struct shop shop;
	struct buffer html = { 0 };
	struct report report = report_of(&shop, "ar-EG", "<b>Shop</b> & \"Sons\"");

	(void)state;
	set_figures(&report, "EUR", 100);
	report_html(&report, &html);
	assert_non_null(strstr(buffer_text(&html), "<html lang=\"ar\" dir=\"rtl\">"));
	assert_non_null(strstr(buffer_text(&html), "&lt;b&gt;Shop&lt;/b&gt; &amp; &quot;Sons&quot;"));
	assert_null(strstr(buffer_text(&html), "<b>Shop"));
	assert_null(strstr(buffer_text(&html), "text-align:left"));
	buffer_clear(&html);
	report = report_of(&shop, "de-DE", "Demo");
	set_figures(&report, "EUR", 100);
	report.paragraph = "Mehr als sonst <i>.";
	report_html(&report, &html);
	assert_non_null(strstr(buffer_text(&html), "<p style=\"margin:20px 0\">Mehr als sonst &lt;i&gt;.</p>"));
	assert_null(strstr(buffer_text(&html), "wurden gesehen"));
	assert_non_null(strstr(buffer_text(&html), "6.621,50\xc2\xa0€"));
	assert_non_null(strstr(buffer_text(&html), ">318</td>"));
	buffer_free(&html);
}

/* Goes on behind the next place where this stands, as HTML writes it. */
static void expect_next(const char **at, const char *wanted)
{
	struct buffer escaped = { 0 };
	const char *found;

	html_escape(wanted, &escaped);
	found = strstr(*at, buffer_text(&escaped));
	if (!found)
		fail_msg("\"%s\" is not in, or before, \"%.200s\"", wanted, *at);
	*at = found + escaped.len;
	buffer_free(&escaped);
}

static void expect_line(const struct report_line *line, void *context)
{
	expect_next(context, line->label);
	expect_next(context, line->now);
	expect_next(context, line->before);
}

static void html_has_every_line_of_the_text_in_its_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shops) / sizeof(shops[0]); i++) {
		struct buffer html = { 0 }, paragraph = { 0 };
		struct shop shop;
		struct report report = report_of(&shop, shops[i].locale, shops[i].title);
		const char *at;
		char subject[160];

		set_figures(&report, shops[i].currency, shops[i].unit);
		report_html(&report, &html);
		report_subject(&report, subject);
		report_paragraph(&report, &paragraph);
		at = buffer_text(&html);
		expect_next(&at, subject);
		assert_true(text_starts(at, "</title>"));
		expect_next(&at, subject);
		assert_true(text_starts(at, "</h1>"));
		report_money(&report, expect_line, &at);
		expect_next(&at, buffer_text(&paragraph));
		expect_next(&at, report.words->before);
		report_counts(&report, expect_line, &at);
		expect_next(&at, report.words->footnote);
		buffer_free(&paragraph);
		buffer_free(&html);
	}
}

static void add_sum(struct report_figures_sum *sum, const char *currency, int64_t total_minor, int64_t back_minor)
{
	TEXT_COPY(sum->currency, currency);
	sum->total_minor = total_minor;
	sum->back_minor = back_minor;
}

/* EUR in both months, JPY in the later one only, KWD in the earlier one only. */
static struct report report_in_three_currencies(struct shop *shop)
{
	struct report report = report_of(shop, "en-GB", "Demo");

	report.now.seen = 12;
	report.then.seen = 7;
	add_sum(&report.now.sums[ATTRIBUTION_CLICKED][0], "EUR", 12050, 50);
	add_sum(&report.now.sums[ATTRIBUTION_CLICKED][1], "JPY", 6000, 0);
	add_sum(&report.then.sums[ATTRIBUTION_CLICKED][0], "EUR", 7000, 1000);
	add_sum(&report.then.sums[ATTRIBUTION_CLICKED][1], "KWD", 1500, 250);
	add_sum(&report.now.sums[ATTRIBUTION_ANYWAY][0], "EUR", 100, 200);
	return report;
}

static void a_table_for_programs_has_each_currency_once_beside_the_period_before(void **state)
{
	struct shop shop;
	struct buffer csv = { 0 };
	struct report report = report_in_three_currencies(&shop);

	(void)state;
	report_csv(&report, &csv);
	assert_true(text_starts(buffer_text(&csv), "figure,currency,2026-10,2026-09\r\n"));
	assert_non_null(strstr(buffer_text(&csv), "\r\nseen,,12,7\r\n"));
	const char *sums = strstr(buffer_text(&csv), "clicked_then_bought_net");
	assert_non_null(sums);
	assert_string_equal(sums,
		"clicked_then_bought_net,EUR,120.00,60.00\r\nclicked_then_bought_paid_back,EUR,0.50,10.00\r\n"
		"clicked_then_bought_net,JPY,6000,0\r\nclicked_then_bought_paid_back,JPY,0,0\r\n"
		"clicked_then_bought_net,KWD,0.000,1.250\r\nclicked_then_bought_paid_back,KWD,0.000,0.250\r\n"
		"bought_anyway_net,EUR,-1.00,0.00\r\nbought_anyway_paid_back,EUR,2.00,0.00\r\n");
	buffer_free(&csv);
}

static void assert_sum(const json_t *period, size_t nth, const char *class, const char *currency, int64_t total_minor,
	int64_t back_minor)
{
	json_t *wanted = json_pack("{s:s,s:s,s:I,s:I,s:I}", "class", class, "currency", currency, "total_minor",
		(json_int_t)total_minor, "paid_back_minor", (json_int_t)back_minor, "net_minor",
		(json_int_t)(total_minor - back_minor));

	assert_true(json_equal(json_array_get(json_object_get(period, "money"), nth), wanted));
	json_decref(wanted);
}

static void json_has_the_counts_and_each_sum_of_both_periods(void **state)
{
	struct shop shop;
	struct report report = report_in_three_currencies(&shop);
	report.now.sums_left_out = 2;
	json_t *json = report_json(&report);
	const json_t *now = json_object_get(json, "now"), *before = json_object_get(json, "before");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(now, "period")), "2026-10");
	assert_string_equal(json_string_value(json_object_get(before, "period")), "2026-09");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(now, "counts"), "seen")), 12);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(before, "counts"), "seen")), 7);
	assert_int_equal(json_integer_value(json_object_get(now, "sums_left_out")), 2);
	assert_int_equal(json_array_size(json_object_get(now, "money")), 3);
	assert_int_equal(json_array_size(json_object_get(before, "money")), 2);
	assert_sum(now, 0, "clicked_then_bought", "EUR", 12050, 50);
	assert_sum(now, 1, "clicked_then_bought", "JPY", 6000, 0);
	assert_sum(now, 2, "bought_anyway", "EUR", 100, 200);
	assert_sum(before, 0, "clicked_then_bought", "EUR", 7000, 1000);
	assert_sum(before, 1, "clicked_then_bought", "KWD", 1500, 250);
	json_decref(json);
}

/* The most there can be: sixteen currencies, all of them with refunds, in the longest words. */
static void the_longest_report_fits_its_message(void **state)
{
	static SummaryDone done;

	(void)state;
	for (const struct report_words *words = report_words; words->language; words++) {
		struct shop shop;
		struct buffer text = { 0 }, html = { 0 };
		struct report report = report_of(&shop, words->language, "Demo");

		set_figures(&report, "EUR", 100);
		report.now.to_owner = report.now.refused = UINT32_MAX;
		for (int i = 0; i < REPORT_CURRENCIES_MAX; i++) {
			struct report_figures_sum *sum = &report.now.sums[ATTRIBUTION_CLICKED][i];

			snprintf(sum->currency, sizeof(sum->currency), "A%c%c", 'A' + i / 4, 'A' + i % 4);
			sum->total_minor = INT64_MAX / 4;
			sum->back_minor = INT64_MAX / 8;
		}
		report.now.sums[ATTRIBUTION_MAILED][0].currency[0] = '\0';
		report_text(&report, &text);
		report_html(&report, &html);
		if (text.len >= sizeof(done.text) || html.len >= sizeof(done.html))
			fail_msg("%s: %zu of %zu, %zu of %zu", words->language, text.len, sizeof(done.text), html.len,
				sizeof(done.html));
		buffer_free(&text);
		buffer_free(&html);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_language_tells_the_same_month_as_its_readers_write_it),
		cmocka_unit_test(every_language_has_every_text_and_each_pattern_is_icus),
		cmocka_unit_test(every_number_of_things_can_be_said),
		cmocka_unit_test(who_reads_another_language_gets_english_and_his_own_numbers),
		cmocka_unit_test(what_was_won_in_two_currencies_is_listed_as_the_language_lists),
		cmocka_unit_test(html_tells_the_same_escaped_and_in_the_direction_of_its_words),
		cmocka_unit_test(html_has_every_line_of_the_text_in_its_order),
		cmocka_unit_test(a_table_for_programs_has_each_currency_once_beside_the_period_before),
		cmocka_unit_test(json_has_the_counts_and_each_sum_of_both_periods),
		cmocka_unit_test(the_longest_report_fits_its_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
