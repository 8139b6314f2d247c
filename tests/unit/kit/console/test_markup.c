/*
 * test_markup.c: the pages of pages/, compiled as the build compiles pages, for readers in two languages
 */
#include "bus/base/clock.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/kit/console/reader.h"
#include <stdio.h>

extern const struct markup carts_markup, charts_markup, forms_markup, formats_markup, layout_markup, places_markup;

static const char strangers_text[] = "<b>\"x'& \xe2\x80\xae";

static void has(const char *html, const char *expected)
{
	if (!strstr(html, expected))
		fail_msg("there is no\n%s\nin\n%s", expected, html);
}

static void lacks(const char *html, const char *unexpected)
{
	if (strstr(html, unexpected))
		fail_msg("there is\n%s\nin\n%s", unexpected, html);
}

/* --- places --- */

static char *places(const char *value, const char *link)
{
	const struct markup_reader reader = reader_in("de-DE", "de");
	json_t *data =
		json_pack("{s:s,s:I,s:b,s:s}", "value", value, "number", (json_int_t)1234567, "flag", 1, "link", link);

	return html_of(&places_markup, data, &reader);
}

static void a_value_stays_in_its_place(void **state)
{
	char *html = places(strangers_text, "/a");

	(void)state;
	has(html, "<p title=\"&lt;b&gt;&quot;x&#39;&amp; \xef\xbf\xbd\"");
	has(html, ">&lt;b&gt;&quot;x&#39;&amp; \xef\xbf\xbd 1.234.567</p>");
	has(html, "<option value=\"&lt;b&gt;&quot;x&#39;&amp; \xef\xbf\xbd\" selected>&lt;b&gt;");
	has(html, "<textarea aria-label=\"note\">\n&lt;b&gt;");
	has(html, "href=\"/console/s/%3Cb%3E%22x%27%26%20%EF%BF%BD?q=%3Cb%3E%22x%27%26%20%EF%BF%BD&amp;n=1234567\"");
	has(html, "href=\"https://shop.example/%3Cb%3E");
	has(html, "href=\"#%3Cb%3E");
	has(html, "class='a b'");
	lacks(html, "<b>");
	lacks(html, "\xe2\x80\xae");
	free(html);
}

static void digits_are_grouped_for_people_alone(void **state)
{
	char *html = places("", "/a");

	(void)state;
	has(html, "data-n=\"1234567\"");
	has(html, "aria-label=\"1.234.567 Warenk\xc3\xb6rbe\"");
	free(html);
}

static void only_addresses_that_lead_to_pages_are_links(void **state)
{
	static const char *const cases[][2] = {
		{ "/s/a?b=c&d", "/console/s/a?b=c&amp;d" },
		{ "https://shop.example/x", "https://shop.example/x" },
		{ "HTTP://shop.example/x", "HTTP://shop.example/x" },
		{ "mailto:a@shop.example", "mailto:a@shop.example" },
		{ "/\"onclick=", "/console/&quot;onclick=" },
		{ "javascript:alert(1)", NULL },
		{ "JaVaScRiPt:alert(1)", NULL },
		{ "java\tscript:alert(1)", NULL },
		{ " javascript:alert(1)", NULL },
		{ "\x01javascript:alert(1)", NULL },
		{ "data:text/html,<script>", NULL },
		{ "vbscript:x", NULL },
		{ "//evil.example", NULL },
		{ "/\\evil.example", NULL },
		{ "/\t/evil.example", NULL },
		{ "\\\\evil.example", NULL },
		{ "http:evil", NULL },
		{ "https://", NULL },
		{ "x", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char expected[200], *html = places("x", cases[i][0]);

		snprintf(expected, sizeof(expected), "<a href=\"%s\">1</a>",
			cases[i][1] ? cases[i][1] : "about:invalid");
		has(html, expected);
		free(html);
	}
}

static void a_segment_of_dots_does_not_climb(void **state)
{
	static const char *const cases[][2] = { { "..", "%EF%BF%BD" }, { ".", "%EF%BF%BD" }, { "../..", "..%2F.." },
		{ "...", "..." }, { "a/b", "a%2Fb" }, { "", "%EF%BF%BD" }, { "a?b#c", "a%3Fb%23c" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char expected[100], *html = places(cases[i][0], "/");

		snprintf(expected, sizeof(expected), "href=\"/console/s/%s?q=", cases[i][1]);
		has(html, expected);
		free(html);
	}
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *shown;
	} cases[] = { { "a\0b", 3,
			      ">a\xef\xbf\xbd"
			      "b " },
		{ "a\xff\xfe", 3, ">a\xef\xbf\xbd\xef\xbf\xbd " }, { "\xe2\x82", 2, ">\xef\xbf\xbd " },
		{ "\xc0\xbc", 2, ">\xef\xbf\xbd\xef\xbf\xbd " }, { "\xed\xa0\x80", 3, ">\xef\xbf\xbd" },
		{ "\x1b[1m", 4, ">\xef\xbf\xbd[1m " },
		{ "\xc2\x9b"
		  "1m",
			4,
			">\xef\xbf\xbd"
			"1m " },
		{ "a\tb\nc", 5, ">a\tb\nc " }, { "\xe2\x81\xa6x\xe2\x81\xa9", 7, ">\xef\xbf\xbdx\xef\xbf\xbd " },
		{ "\xf0\x9f\x98\x80\xd7\x90", 6, ">\xf0\x9f\x98\x80\xd7\x90 " } };
	const struct markup_reader reader = reader_in("en-US", "en");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *data = json_object();

		json_object_set_new(data, "value", json_stringn_nocheck(cases[i].bytes, cases[i].len));
		char *html = html_of(&places_markup, data, &reader);
		has(html, cases[i].shown);
		lacks(html, "\xff");
		free(html);
	}
}

/* --- lists, live values --- */

static json_t *carts(void)
{
	return json_pack("{s:i,s:s,s:s,s:["
			 "{s:s,s:i,s:I,s:s,s:n,s:[{s:s,s:s},{s:s,s:s}],s:[s,s]},"
			 "{s:s,s:i,s:n,s:s,s:s,s:[],s:[]}]}",
		"count", 2, "shop", "a<b", "currency", "EUR", "carts", /* the first row */
		"id", "c1", "total_minor", 123456, "due_us", (json_int_t)now_us, "state", "waiting", "note", "items",
		"sku", "s1", "title", "Rose", "sku", "s2", "title", "<Vase>", "tags", "x", "y", /* the second row */
		"id", "c\"2", "total_minor", 5, "due_us", "state", "mailed", "note", "n", "items", "tags");
}

static void names_are_of_the_row_and_then_of_what_is_around(void **state)
{
	const struct markup_reader reader = reader_in("de-DE", "de");
	char *html = html_of(&carts_markup, carts(), &reader);

	(void)state;
	has(html, "<tr id=\"cart-c1\">\n<td><span data-live=\"carts/c1/state\">waiting</span> w-</td>");
	has(html, "<span data-live=\"carts/c1/total_minor\">1.234,56\xc2\xa0\xe2\x82\xac</span>");
	has(html, "<span data-live=\"carts/c1/due_us\">10:30</span>");
	has(html, "<b><span data-live=\"carts/c1/items/s2/title\">&lt;Vase&gt;</span></b></td>");
	has(html, "<td>(x)(y)a&lt;b</td>");
	has(html, "<tr id=\"cart-c&quot;2\">\n<td><span data-live=\"carts/c&quot;2/state\">mailed</span> o</td>");
	has(html, "<td>empty</td>\n<td>a&lt;b</td>");
	lacks(html, "No cart matches");
	free(html);
}

static void an_empty_list_says_so(void **state)
{
	const struct markup_reader de = reader_in("de-DE", "de"), fr = reader_in("fr-FR", "fr");
	static const char *const lists[] = { "{}", "{\"carts\":[]}", "{\"carts\":null}", "{\"carts\":\"x\"}", "[]" };

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		char *html = html_of(&carts_markup, json_loads(lists[i], 0, NULL), &de);
		has(html, "<tr><td>Kein Warenkorb passt. Es ist ruhig.</td></tr>");
		free(html);
		html = html_of(&carts_markup, json_loads(lists[i], 0, NULL), &fr);
		has(html, "<tr><td>No cart matches. It&#x27;s quiet.</td></tr>");
		free(html);
	}
}

static void live_values_are_the_texts_of_the_page(void **state)
{
	const struct markup_reader reader = reader_in("de-DE", "de");
	json_t *data = carts(), *live = markup_live(&carts_markup, data, &reader), *value;
	char *html = html_of(&carts_markup, data, &reader);
	const char *key;

	(void)state;
	assert_int_equal(json_object_size(live), 9);
	assert_string_equal(json_string_value(json_object_get(live, "carts/c1/items/s2/title")), "<Vase>");
	assert_string_equal(json_string_value(json_object_get(live, "carts/c\"2/due_us")), "");
	json_object_foreach(live, key, value)
	{
		char span[300];

		if (strpbrk(key, "\"") || strpbrk(json_string_value(value), "<"))
			continue;
		snprintf(span, sizeof(span), "<span data-live=\"%s\">%s</span>", key, json_string_value(value));
		has(html, span);
	}
	json_decref(live);
	free(html);
}

static void live_texts_are_valid_whatever_the_data_is(void **state)
{
	const struct markup_reader reader = reader_in("de-DE", "de");
	json_t *data = carts(), *row = json_array_get(json_object_get(data, "carts"), 0);
	char *dumped;

	(void)state;
	json_object_set_new(row, "id", json_stringn_nocheck("a\0\xff", 3));
	json_object_set_new(row, "state", json_stringn_nocheck("\xe2\x80\xae<\0", 5));
	json_t *live = markup_live(&carts_markup, data, &reader);
	assert_string_equal(json_string_value(json_object_get(live, "carts/a\xef\xbf\xbd\xef\xbf\xbd/state")),
		"\xef\xbf\xbd<\xef\xbf\xbd");
	dumped = json_dumps(live, JSON_COMPACT);
	assert_non_null(dumped);
	free(dumped);
	json_decref(live);
	json_decref(data);
}

/* --- words and formats --- */

static void words_are_in_the_readers_language_and_count_in_it(void **state)
{
	static const struct {
		int count;
		const char *english, *german;
	} cases[] = { { 0, "<h1>No cart of a&lt;b</h1>", "<h1>Kein Warenkorb von a&lt;b</h1>" },
		{ 1, "<h1>1 cart of a&lt;b</h1>", "<h1>1 Warenkorb von a&lt;b</h1>" },
		{ 1234, "<h1>1,234 carts of a&lt;b</h1>", "<h1>1.234 Warenk\xc3\xb6rbe von a&lt;b</h1>" } };
	const struct markup_reader en = reader_in("en-US", "en"), de = reader_in("de-DE", "de");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *data = json_pack("{s:i,s:s}", "count", cases[i].count, "shop", "a<b");
		char *html = html_of(&carts_markup, json_incref(data), &en);

		has(html, cases[i].english);
		free(html);
		html = html_of(&carts_markup, data, &de);
		has(html, cases[i].german);
		free(html);
	}
}

static json_t *values(void)
{
	return json_pack("{s:I,s:I,s:s,s:I,s:s,s:f,s:I,s:I,s:I,s:s}", "at_us", (json_int_t)now_us, "then_us",
		(json_int_t)(now_us - 8 * US_PER_MINUTE), "day", "2026-11-02", "money_minor", (json_int_t)123450,
		"currency", "EUR", "fraction", 0.0123, "size", (json_int_t)1234567890, "span_us",
		(json_int_t)(4 * US_PER_HOUR + 3 * US_PER_MINUTE), "big", (json_int_t)-1234567, "kind", "mail");
}

static void formats_are_those_of_the_readers_place(void **state)
{
	const struct markup_reader en = reader_in("en-GB", "en"), de = reader_in("de-DE", "de");
	char *html = html_of(&formats_markup, values(), &en);

	(void)state;
	has(html, "<p><time datetime=\"2026-11-24T09:30:00Z\">24 Nov, 10:30</time>|");
	has(html, "|<time datetime=\"2026-11-24T09:30:00Z\">10:30</time>|");
	has(html, "|<time datetime=\"2026-11-24T09:30:00Z\">Tue, 24 Nov</time>|Mon, 2 Nov|");
	has(html, "|<time datetime=\"2026-11-24T09:22:00Z\">8 min ago</time></p>");
	has(html,
		"<p>\xe2\x82\xac"
		"1,234.50|1.2%|1.2 GB|4 hrs 3 mins|-1,234,567|-1234567|0.012</p>");
	has(html, "<p title=\"24 Nov, 10:30\">A mail at <time datetime=\"2026-11-24T09:30:00Z\">10:30</time></p>");
	free(html);
	html = html_of(&formats_markup, values(), &de);
	has(html, ">24. Nov., 10:30</time>|");
	has(html, ">Di., 24. Nov.</time>|Mo., 2. Nov.|");
	has(html, ">vor 8 Min.</time></p>");
	has(html,
		"<p>1.234,50\xc2\xa0\xe2\x82\xac|1,2\xc2\xa0%|1,2\xc2\xa0GB|4 Std. 3 Min.|-1.234.567|-1234567|0,012</p>");
	has(html, "Eine Mail um <time");
	free(html);
}

static void another_year_is_named_and_an_hour_that_comes_twice_has_its_zone(void **state)
{
	static const struct {
		int64_t us;
		const char *shown;
	} cases[] = { { INT64_C(1760952600000000), ">20. Okt. 2025, 11:30</time>" },
		{ INT64_C(1792886400000000) + 30 * US_PER_MINUTE, "02:30 MESZ</time>" }, /* 25 October, 00:30 UTC */
		{ INT64_C(1792886400000000) + 90 * US_PER_MINUTE, "02:30 MEZ</time>" },  /* 01:30 UTC */
		{ INT64_C(1792886400000000) + 150 * US_PER_MINUTE, "03:30</time>" } };   /* 02:30 UTC */
	const struct markup_reader reader = reader_in("de-DE", "de");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *data = json_pack("{s:I}", "at_us", (json_int_t)cases[i].us);
		char *html = html_of(&formats_markup, data, &reader);

		has(html, cases[i].shown);
		free(html);
	}
}

static void absurd_values_and_readers_end_in_a_page(void **state)
{
	static const char *const texts[] = {
		"{\"at_us\":9223372036854775807,\"then_us\":-9223372036854775807,\"money_minor\":-"
		"9223372036854775807,\"currency\":\"<script>\",\"size\":9223372036854775807,"
		"\"span_us\":-9223372036854775807,\"big\":1e300,\"fraction\":-1e300}",
		"{\"at_us\":1e300,\"then_us\":-1e300,\"money_minor\":1e300,\"currency\":\"\",\"size\":-1e18,\"span_us\":1e18}",
		"{\"at_us\":\"x\",\"then_us\":[],\"day\":{},\"money_minor\":true,\"currency\":1,\"size\":\"\",\"kind\":5}",
		"{\"day\":\"2026-99-99\",\"kind\":\"\"}", "{\"day\":\"<2026-1-1>\"}"
	};
	struct markup_reader readers[] = { reader_in("de-DE", "de"), reader_in("", ""),
		reader_in("x-nonsense-%n", "..") };

	(void)state;
	readers[1].zone = "";
	readers[2].zone = "../../etc/passwd";
	readers[2].asset = NULL;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		for (size_t k = 0; k < sizeof(readers) / sizeof(*readers); k++) {
			char *html = html_of(&formats_markup, json_loads(texts[i], 0, NULL), &readers[k]);

			lacks(html, "<script>");
			lacks(html, "<2026");
			free(html);
		}
}

/* --- layouts and forms --- */

static void a_layout_holds_the_page_and_each_form_is_told_apart(void **state)
{
	const struct markup_reader reader = reader_in("de-DE", "de");
	json_t *frame = json_pack("{s:s,s:s}", "title", "</title>", "language", "de");
	json_t *data = json_pack("{s:[{s:s},{s:s}]}", "letters", "id", "1", "id", "2");
	struct buffer html = { 0 };
	const char *text;

	(void)state;
	markup_html(&layout_markup, frame, &forms_markup, data, &reader, &html);
	text = buffer_text(&html);
	has(text, "<!doctype html>\n<html lang=\"de\">");
	has(text,
		"<title>&lt;/title&gt; - cartbus</title><script src=\"/console/assets/console.1a2b.js\" defer></script>");
	has(text,
		"<form method=\"post\" action=\"/console/sign-out\"><input type=\"hidden\" name=\"t\" value=\"to&quot;ken\">"
		"<input type=\"hidden\" name=\"once\" value=\"0123-1\"><button>Abmelden</button></form>");
	has(text,
		"action=\"/console/queue/1/redrive\"><input type=\"hidden\" name=\"t\" value=\"to&quot;ken\"><input type=\"hidden\" "
		"name=\"once\" value=\"0123-2\">");
	has(text,
		"action=\"/console/queue/2/redrive\"><input type=\"hidden\" name=\"t\" value=\"to&quot;ken\"><input type=\"hidden\" "
		"name=\"once\" value=\"0123-3\">");
	has(text, "<form method=\"get\" action=\"/console/find\"><label>");
	buffer_free(&html);
	json_decref(frame);
	json_decref(data);
}

static void the_schema_is_that_of_the_declared_data(void **state)
{
	json_t *schema = json_loads(carts_markup.schema, 0, NULL), *properties = json_object_get(schema, "properties");
	json_t *carts = json_object_get(properties, "carts");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(json_object_get(properties, "count"), "type")), "number");
	assert_string_equal(json_string_value(json_object_get(carts, "type")), "array");
	assert_string_equal(json_string_value(json_object_get(carts, "description")), "newest first");
	json_t *row = json_object_get(carts, "items");
	json_t *due = json_object_get(json_object_get(row, "properties"), "due_us");
	assert_string_equal(json_string_value(json_array_get(json_object_get(due, "type"), 1)), "null");
	assert_int_equal(json_array_size(json_object_get(row, "required")), 5);
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_stays_in_its_place),
		cmocka_unit_test(digits_are_grouped_for_people_alone),
		cmocka_unit_test(only_addresses_that_lead_to_pages_are_links),
		cmocka_unit_test(a_segment_of_dots_does_not_climb),
		cmocka_unit_test(bytes_that_are_no_text_are_replaced),
		cmocka_unit_test(names_are_of_the_row_and_then_of_what_is_around),
		cmocka_unit_test(an_empty_list_says_so),
		cmocka_unit_test(live_values_are_the_texts_of_the_page),
		cmocka_unit_test(live_texts_are_valid_whatever_the_data_is),
		cmocka_unit_test(words_are_in_the_readers_language_and_count_in_it),
		cmocka_unit_test(formats_are_those_of_the_readers_place),
		cmocka_unit_test(another_year_is_named_and_an_hour_that_comes_twice_has_its_zone),
		cmocka_unit_test(absurd_values_and_readers_end_in_a_page),
		cmocka_unit_test(a_layout_holds_the_page_and_each_form_is_told_apart),
		cmocka_unit_test(the_schema_is_that_of_the_declared_data),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
