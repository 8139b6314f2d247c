/* test_chart.c: bars and sparklines of data that is as it should be, and of data that is not */
#include "services/kit/console/chart.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/kit/console/reader.h"
#include <stdio.h>

static const struct chart_reader german = {
	.format = { "de-DE", "Europe/Berlin", 1795512600000000 }, .language = "de", .title = "Umsatz & mehr"
};
static const struct chart_reader english = { .format = { "en-GB", "Europe/London", 1795512600000000 },
	.language = "en",
	.title = "",
	.names = { "by <click>" } };

static char *drawn(void (*draw)(const json_t *, const struct chart_reader *, struct buffer *), const char *data,
	const struct chart_reader *reader)
{
	json_t *chart = json_loads(data, JSON_DECODE_ANY, NULL);
	struct buffer html = { 0 };

	assert_non_null(chart);
	draw(chart, reader, &html);
	json_decref(chart);
	return (char *)(buffer_text(&html), html.data);
}

static void has(const char *html, const char *expected)
{
	if (!strstr(html, expected))
		fail_msg("there is no\n%s\nin\n%s", expected, html);
}

static size_t count_of(const char *html, const char *part)
{
	size_t count = 0;

	for (const char *at = html; (at = strstr(at, part)); at += strlen(part))
		count++;
	return count;
}

static const char two_series[] =
	"{\"unit\":\"EUR\",\"series\":[{\"class\":\"clicked\",\"name\":\"Klick\"},{\"name\":\"Mail\"}],"
	"\"points\":[{\"day\":\"2026-11-23\",\"values\":[10000,5000]},"
	"{\"day\":\"2026-11-24\",\"values\":[20000,0]}]}";

static void bars_are_as_high_as_their_numbers_from_zero(void **state)
{
	char *html = drawn(chart_bars, two_series, &german);

	(void)state;
	has(html, "y=\"83.0\" width=\"108.8\" height=\"73.0\"");  /* 100 of 200 EUR */
	has(html, "y=\"119.5\" width=\"108.8\" height=\"36.5\""); /* 50 */
	has(html, "y=\"10.0\" width=\"108.8\" height=\"146.0\""); /* 200: the top */
	has(html, "y=\"156.0\" width=\"108.8\" height=\"0.0\"");
	free(html);
}

static void each_bar_and_the_whole_have_words(void **state)
{
	char *html = drawn(chart_bars, two_series, &german);

	(void)state;
	has(html,
		"role=\"img\" direction=\"ltr\" viewBox=\"0 0 640 180\" width=\"640\" height=\"180\"><title>Umsatz &amp; mehr</title>");
	has(html,
		"<desc>gr\xc3\xb6\xc3\x9f"
		"ter Wert: 200,00\xc2\xa0\xe2\x82\xac, Di., 24. Nov.</desc>");
	has(html, "<title>Mo., 23. Nov.: 100,00\xc2\xa0\xe2\x82\xac Klick</title></rect>");
	has(html, "<rect class=\"chart-bar clicked\"");
	has(html, "<rect class=\"chart-bar series-2\"");
	has(html, "<ul class=\"chart-legend\"><li class=\"clicked\">Klick</li><li class=\"series-2\">Mail</li></ul>");
	assert_int_equal(count_of(html, "<rect "), 4);
	free(html);
}

static void the_table_has_the_numbers_of_the_bars(void **state)
{
	char *html = drawn(chart_bars, two_series, &german);

	(void)state;
	has(html, "<details><summary>Die Zahlen als Tabelle</summary><table><caption>Umsatz &amp; mehr</caption>");
	has(html, "<th scope=\"col\">Tag</th><th scope=\"col\">Klick</th><th scope=\"col\">Mail</th>");
	has(html,
		"<tr><th scope=\"row\">Mo., 23. Nov.</th><td>100,00\xc2\xa0\xe2\x82\xac</td><td>50,00\xc2\xa0\xe2\x82\xac</td></tr>");
	free(html);
}

static void a_page_names_the_series_and_a_strangers_class_is_not_taken(void **state)
{
	char *html = drawn(chart_bars,
		"{\"series\":[{\"class\":\"x\\\" onload=\\\"y\",\"name\":\"no\"}],\"points\":[{\"label\":\"<b>\",\"values\":[1.5]}]}",
		&english);

	(void)state;
	has(html, "class=\"chart-bar series-1\"");
	has(html, "<title>&lt;b&gt;: 1.5 by &lt;click&gt;</title>");
	assert_null(strstr(html, "onload"));
	assert_null(strstr(html, "<b>"));
	assert_null(strstr(html, "style"));
	free(html);
}

static void what_cannot_be_drawn_leaves_a_gap(void **state)
{
	static const struct {
		const char *data;
		size_t bars;
	} cases[] = { { "{\"series\":[{}],\"points\":[{\"values\":[-5]}]}", 1 },
		{ "{\"series\":[{}],\"points\":[{\"values\":[null]},{\"values\":[]},{\"values\":[\"x\"]},{}]}", 0 },
		{ "{\"points\":[{\"values\":[1,2,3]}]}", 1 },
		{ "{\"series\":[{},{},{},{},{}],\"points\":[{\"values\":[1,2,3,4,5]}]}", 3 },
		{ "{\"series\":[{}],\"points\":[{\"values\":[0]}]}", 1 },
		{ "{\"series\":[{}],\"points\":[{\"values\":[1e308]},{\"values\":[-1e308]},{\"values\":[1e-308]}]}",
			3 },
		{ "{\"unit\":\"EUR\",\"series\":[{}],\"points\":[{\"values\":[9223372036854775807]}]}", 1 },
		{ "{\"unit\":\"<script>\",\"series\":[{}],\"points\":[{\"values\":[5]}]}", 1 },
		{ "{\"series\":5,\"points\":[5,\"x\",null,[]]}", 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *html = drawn(chart_bars, cases[i].data, &english);

		assert_int_equal(count_of(html, "<rect "), cases[i].bars);
		assert_null(strstr(html, "height=\"-"));
		assert_null(strstr(html, "nan"));
		assert_null(strstr(html, "inf"));
		assert_null(strstr(html, "<script>"));
		free(html);
	}
}

static void nothing_to_draw_is_said(void **state)
{
	static const char *const empty[] = { "{}", "[]", "null", "5", "\"x\"", "{\"points\":[]}", "{\"points\":{}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
		char *html = drawn(chart_bars, empty[i], &english);
		assert_string_equal(
			html, "<figure class=\"chart\"><p class=\"chart-empty\">No figures yet</p></figure>");
		free(html);
		html = drawn(chart_spark, empty[i], &english);
		assert_string_equal(html, "<span class=\"chart-empty\">No figures yet</span>");
		free(html);
	}
}

static void only_the_last_points_are_drawn(void **state)
{
	struct buffer html = { 0 };
	json_t *points = json_array();

	(void)state;
	for (int i = 0; i < CHART_POINTS_MAX + 5; i++)
		json_array_append_new(points, json_pack("{s:s,s:[i]}", "label", "x", "values", i));
	json_t *chart = json_pack("{s:[{}],s:o}", "series", "points", points);
	chart_bars(chart, &english, &html);
	assert_int_equal(count_of(buffer_text(&html), "<rect "), CHART_POINTS_MAX);
	has(buffer_text(&html), "<td>5</td>");
	assert_null(strstr(buffer_text(&html), "<td>4</td>"));
	has(buffer_text(&html), "<td>404</td>");
	json_decref(chart);
	buffer_free(&html);
}

static void a_sparkline_tells_its_range_and_breaks_at_gaps(void **state)
{
	char *html = drawn(chart_spark, "[1, 5, null, 2.5]", &english);

	(void)state;
	has(html, "<title>least 1, most 5, last 2.5</title>");
	has(html, " d=\"M2.0 18.0h0.1L34.0 2.0M98.0 12.0h0.1\"/>");
	free(html);
	html = drawn(chart_spark, "[-3]", &german);
	has(html,
		"<title>Umsatz &amp; mehr: kleinster Wert -3, gr\xc3\xb6\xc3\x9f"
		"ter Wert -3, letzter Wert -3</title>");
	has(html, " d=\"M2.0 22.0h0.1\"/>");
	free(html);
	html = drawn(chart_spark, two_series, &german);
	has(html, "letzter Wert 200,00");
	free(html);
}

static void a_language_without_words_reads_english(void **state)
{
	struct chart_reader reader = english;
	char *html;

	(void)state;
	reader.language = "tlh";
	html = drawn(chart_bars, two_series, &reader);
	has(html, "<summary>The figures as a table</summary>");
	free(html);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars_are_as_high_as_their_numbers_from_zero),
		cmocka_unit_test(each_bar_and_the_whole_have_words),
		cmocka_unit_test(the_table_has_the_numbers_of_the_bars),
		cmocka_unit_test(a_page_names_the_series_and_a_strangers_class_is_not_taken),
		cmocka_unit_test(what_cannot_be_drawn_leaves_a_gap),
		cmocka_unit_test(nothing_to_draw_is_said),
		cmocka_unit_test(only_the_last_points_are_drawn),
		cmocka_unit_test(a_sparkline_tells_its_range_and_breaks_at_gaps),
		cmocka_unit_test(a_language_without_words_reads_english),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
