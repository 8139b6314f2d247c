/* test_fields.c: what is taken from the bodies that storefronts really send, and what counts as not given */
#include "bus/base/bytes.h"
#include "bus/base/memory.h"
#include "services/kit/storefront/event.h"
#include "services/kit/storefront/fields.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char why[200];

static const json_t *parsed(const char *body)
{
	why[0] = '\0';
	return fields_parse(bytes_of(body), why);
}

/* Of {"f": VALUE}; gone with the next one. */
static const json_t *field_of(const char *value)
{
	static struct buffer body;

	fields_done();
	buffer_clear(&body);
	buffer_printf(&body, "{\"f\":%s}", value);
	const json_t *object = parsed(buffer_text(&body));
	if (!object)
		fail_msg("%s: %s", value, why);
	return object;
}

static int done(void **state)
{
	(void)state;
	fields_done();
	return 0;
}

/* ---- the whole body ---- */

static void what_is_no_object_is_refused_without_quoting_it(void **state)
{
	static const struct {
		const char *body, *why;
	} cases[] = {
		{ "", NULL },
		{ "{\"ann@buyer.example\"", NULL },
		{ "{\n\"a\":1,\n\"a\":2}", NULL },
		{ "{\"a\":1}x", NULL },
		{ "{\"a\":\"\\u12\"}", NULL },
		{ "{\"a\":\"\\ud8", NULL },
		{ "[]", "the JSON is not an object" },
		{ "[{\"a\":1}]", "the JSON is not an object" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_null(parsed(cases[i].body));
		if (cases[i].why)
			assert_string_equal(why, cases[i].why);
		else
			assert_ptr_equal(strstr(why, "not valid JSON (line "), why);
		assert_null(strstr(why, "ann"));
	}
	assert_null(parsed("{\n\"a\":1,\n\"a\":2}"));
	assert_ptr_equal(strstr(why, "not valid JSON (line 3,"), why);
}

static void a_byte_order_mark_in_front_is_none_of_the_body(void **state)
{
	(void)state;
	assert_non_null(parsed("\xef\xbb\xbf{}"));
	fields_done();
	assert_null(parsed("\xef\xbb\xbf"));
	assert_null(parsed("\xef\xbb"));
	assert_null(parsed("{}\xef\xbb\xbf"));
}

static const json_t *lists_in_an_object(const char *more, int depth)
{
	static struct buffer body;

	fields_done();
	buffer_clear(&body);
	buffer_printf(&body, "{%s\"a\":", more);
	for (int i = 1; i < depth; i++)
		buffer_add_text(&body, "[");
	for (int i = 1; i < depth; i++)
		buffer_add_text(&body, "]");
	buffer_add_text(&body, depth > 1 ? "}" : "0}");
	return parsed(buffer_text(&body));
}

static void what_is_nested_deeper_than_the_bound_is_refused(void **state)
{
	static const char many[] = "\"b\":[[],[],[],[],[],[],[],[],[],[]],\"c\":[[],[],[],[],[],[],[],[],[],[]],"
				   "\"d\":[{},{},{},{},{},{},{},{},{},{}],\"e\":[{},{},{},{},{},{},{},{},{},{}],"
				   "\"g\":[{},{},{},{},{},{},{},{},{},{}],\"h\":[{},{},{},{},{},{},{},{},{},{}],";
	static const char *const others[] = { "", many, /* beside it, not around it */
		"\"q\":\"[[[[[[{{{{{{\",", "\"q\":\"\\\"[[[[[[{{{{\",", "\"q\":\"\\\\\"," };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_non_null(lists_in_an_object(others[i], 1));
		assert_non_null(lists_in_an_object(others[i], FIELDS_DEPTH_MAX - 1));
		assert_non_null(lists_in_an_object(others[i], FIELDS_DEPTH_MAX));
		assert_null(lists_in_an_object(others[i], FIELDS_DEPTH_MAX + 1));
		assert_string_equal(why, "the JSON is nested deeper than 64");
		assert_null(lists_in_an_object(others[i], 3000));
	}
}

/* JavaScript sends half of an emoji that it cut. */
static void half_a_pair_becomes_the_sign_for_what_cannot_be_read(void **state)
{
	static const struct {
		const char *value, *wanted;
	} cases[] = {
		{ "\"a\\ud83d\"", "a\xef\xbf\xbd" },
		{ "\"a\\uDE00b\"",
			"a\xef\xbf\xbd"
			"b" },
		{ "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80" },
		{ "\"\\uD83D\\uDE00\\ud83d\"", "\xf0\x9f\x98\x80\xef\xbf\xbd" },
		{ "\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
		{ "\"\\ud83dA\\u0041\"",
			"\xef\xbf\xbd"
			"AA" },
		{ "\"\\ud83d\\u0041\"",
			"\xef\xbf\xbd"
			"A" },
		{ "\"\\ud7ff\\ue000\"", "\xed\x9f\xbf\xee\x80\x80" },
		{ "\"\\\\ud83d\"", "\\ud83d" },
		{ "\"\\n\\ud83d\"", " \xef\xbf\xbd" },
	};
	char text[80];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(field_text(field_of(cases[i].value), "f", text, sizeof(text)));
		assert_string_equal(text, cases[i].wanted);
	}
}

/* ---- one field ---- */

static void a_field_of_another_kind_is_not_given(void **state)
{
	static const char *const values[] = { "null", "true", "7", "7.5", "\"x\"", "[]", "{}" };
	int64_t minor, us;
	char text[20];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const json_t *object = field_of(values[i]);
		assert_int_equal(field_object(object, "f") != NULL, strcmp(values[i], "{}") == 0);
		assert_int_equal(field_list(object, "f") != NULL, strcmp(values[i], "[]") == 0);
		assert_int_equal(field_word(object, "f") != NULL, strcmp(values[i], "\"x\"") == 0);
		assert_int_equal(field_true(object, "f"), strcmp(values[i], "true") == 0);
		assert_false(field_timestamp(object, "f", &us));
		assert_false(field_url(object, "f", text, sizeof(text)));
		assert_string_equal(text, "");
		assert_null(field_object(object, "other"));
		assert_int_equal(field_money(object, "other", "EUR", &minor), 0);
	}
	assert_null(field_object(NULL, "f"));
	assert_null(field_list(NULL, "f"));
	assert_null(field_word(NULL, "f"));
	assert_false(field_true(NULL, "f"));
}

static void a_word_is_a_whole_text_that_is_not_empty(void **state)
{
	(void)state;
	assert_null(field_word(field_of("\"\""), "f"));
	assert_null(field_word(field_of("\"a\\u0000b\""), "f"));
	assert_null(field_word(field_of("\"a\\u0000\""), "f"));
	assert_string_equal(field_word(field_of("\" \""), "f"), " ");
	assert_string_equal(field_word(field_of("\"a\""), "f"), "a");
}

static void a_question_is_answered_in_many_words(void **state)
{
	static const struct {
		const char *value;
		int answer;
	} cases[] = { { "true", 1 }, { "1", 1 }, { "1.0", 1 }, { "\"1\"", 1 }, { "\"TRUE\"", 1 }, { "\"Yes\"", 1 },
		{ "false", 0 }, { "0", 0 }, { "0.0", 0 }, { "\"0\"", 0 }, { "\"False\"", 0 }, { "\"NO\"", 0 },
		{ "\"denied\"", 0 }, { "\"\"", 0 }, { "null", -ENOENT }, { "2", -EINVAL }, { "-1", -EINVAL },
		{ "0.5", -EINVAL }, { "\"maybe\"", -EINVAL }, { "\"yes \"", -EINVAL }, { "\"yes\\u0000no\"", -EINVAL },
		{ "[]", -EINVAL }, { "{}", -EINVAL } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(field_yes_no(field_of(cases[i].value), "f"), cases[i].answer);
	assert_int_equal(field_yes_no(field_of("1"), "other"), -ENOENT);
}

static void text_for_people_is_cut_at_a_character_and_has_no_controls(void **state)
{
	static const struct {
		const char *value, *wanted;
	} cases[] = { { "\"12345\"", "12345" }, { "\"123456\"", "12345" }, { "\"1234\\u00fc\"", "1234" },
		{ "\"123\\u00fc\"", "123\xc3\xbc" }, { "\"a\\tb\\u007fc\"", "a b c" }, { "\"a\\u0000b\"", "a b" },
		{ "17", "17" }, { "9.0", "9" }, { "-3", "-3" }, { "9.5", "" }, { "true", "" }, { "\"\"", "" },
		{ "null", "" } };
	char text[6];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(text, 'x', sizeof(text));
		assert_int_equal(
			field_text(field_of(cases[i].value), "f", text, sizeof(text)), *cases[i].wanted != '\0');
		assert_string_equal(text, cases[i].wanted);
	}
}

/* Two that differ behind what fits would else be one. */
static void an_id_is_whole_or_named_by_its_digest(void **state)
{
	char id[12], again[12];

	(void)state;
	assert_true(field_id(field_of("\"12345678901\""), "f", id, sizeof(id)));
	assert_string_equal(id, "12345678901");
	assert_true(field_id(field_of("\"123456789012\""), "f", id, sizeof(id)));
	assert_int_equal(strncmp(id, "sha256-", 7), 0);
	assert_true(field_id(field_of("\"123456789012\""), "f", again, sizeof(again)));
	assert_string_equal(again, id);
	assert_true(field_id(field_of("\"123456789013\""), "f", again, sizeof(again)));
	assert_string_not_equal(again, id);
	assert_true(
		field_id(field_of("\"a\\nb\""), "f", id, sizeof(id))); /* a control would not be the same in a line */
	assert_int_equal(strncmp(id, "sha256-", 7), 0);
}

static void a_number_that_is_exact_names_something(void **state)
{
	static const struct {
		const char *value, *id;
	} cases[] = { { "7", "7" }, { "0", "0" }, { "7.0", "7" }, { "9007199254740992.0", "9007199254740992" },
		{ "9007199254740994.0", "" }, { "-9007199254740994.0", "" }, { "7.5", "" },
		{ "9223372036854775807", "9223372036854775807" }, { "\"\"", "" }, { "null", "" }, { "[]", "" } };
	char id[40];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(field_id(field_of(cases[i].value), "f", id, sizeof(id)), *cases[i].id != '\0');
		assert_string_equal(id, cases[i].id);
	}
}

static void a_url_is_whole_and_of_the_web(void **state)
{
	static const struct {
		const char *value;
		bool url, https;
	} cases[] = { { "\"https://s.example/1\"", true, true }, { "\"http://s.example/12\"", true, false },
		{ "\"https://s.example/12\"", false, false }, { "\"ftp://s.example\"", false, false },
		{ "\"HTTPS://s.example\"", false, false }, { "\"https://s/a b\"", false, false },
		{ "\"https://s/\\\"\"", false, false }, { "\"https://s/'\"", false, false },
		{ "\"https://s/<\"", false, false }, { "\"https://s/>\"", false, false },
		{ "\"https://s/\\\\\"", false, false }, { "\"https://s/\\n\"", false, false },
		{ "\"https://s/\\u0000\"", false, false }, { "\"\"", false, false } };
	char url[20];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(url, 'x', sizeof(url));
		assert_int_equal(field_url(field_of(cases[i].value), "f", url, sizeof(url)), cases[i].url);
		assert_int_equal(*url != '\0', cases[i].url);
		memset(url, 'x', sizeof(url));
		assert_int_equal(field_https(field_of(cases[i].value), "f", url, sizeof(url)), cases[i].https);
		assert_int_equal(*url != '\0', cases[i].https);
	}
}

static void an_amount_is_text_or_a_number_and_never_below_nothing(void **state)
{
	static const struct {
		const char *value;
		int read;
		int64_t minor;
		bool refund;
	} cases[] = { { "\"12.50\"", 1, 1250, true }, { "12.5", 1, 1250, true }, { "12", 1, 1200, true },
		{ "0", 1, 0, false }, { "\"0.00\"", 1, 0, false }, { "\"-12.50\"", -EINVAL, 1250, true },
		{ "-12.5", -EINVAL, 1250, true }, { "null", 0, 0, false }, { "\"\"", -EINVAL, 0, false },
		{ "\"x\"", -EINVAL, 0, false }, { "[]", -EINVAL, 0, false }, { "true", -EINVAL, 0, false },
		{ "\"12\\u0000.50\"", -EINVAL, 0, false }, { "1e30", -EINVAL, 0, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const json_t *object = field_of(cases[i].value);
		int64_t minor = 0, refund = 0;
		assert_int_equal(field_money(object, "f", "EUR", &minor), cases[i].read);
		if (cases[i].read == 1)
			assert_int_equal(minor, cases[i].minor);
		assert_int_equal(field_refund(object, "f", "EUR", &refund), cases[i].refund);
		if (cases[i].refund)
			assert_int_equal(refund, cases[i].minor);
	}
}

static void a_currency_is_one_that_there_is(void **state)
{
	static const struct {
		const char *value, *currency;
		int read;
	} cases[] = { { "\"EUR\"", "EUR", 1 }, { "\"eur\"", "EUR", 1 }, { "\"jPy\"", "JPY", 1 }, { "null", "", 0 },
		{ "\"\"", "", 0 }, { "\"EURO\"", "", -EINVAL }, { "\"EU\"", "", -EINVAL },
		{ "\"E\\u0000R\"", "", -EINVAL }, { "\"E1R\"", "", -EINVAL }, { "7", "", -EINVAL },
		{ "[]", "", -EINVAL } };
	char currency[4];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(currency, 'x', sizeof(currency));
		assert_int_equal(field_currency(field_of(cases[i].value), "f", currency), cases[i].read);
		assert_string_equal(currency, cases[i].currency);
	}
	assert_int_equal(field_currency(field_of("\"EUR\""), "other", currency), 0);
}

/* fields_parse asserts that the body before was freed. */
static void a_body_of_another_topic_is_not_kept_open(void **state)
{
	const struct event_source source = { .topic = "carts/update" };
	static struct event event;

	(void)state;
	assert_int_equal(shopify_read_privacy(&source, bytes_of("{}"), &event), READ_UNREADABLE);
	assert_non_null(parsed("{}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_is_no_object_is_refused_without_quoting_it, done),
		cmocka_unit_test_teardown(a_byte_order_mark_in_front_is_none_of_the_body, done),
		cmocka_unit_test_teardown(what_is_nested_deeper_than_the_bound_is_refused, done),
		cmocka_unit_test_teardown(half_a_pair_becomes_the_sign_for_what_cannot_be_read, done),
		cmocka_unit_test_teardown(a_field_of_another_kind_is_not_given, done),
		cmocka_unit_test_teardown(a_word_is_a_whole_text_that_is_not_empty, done),
		cmocka_unit_test_teardown(a_question_is_answered_in_many_words, done),
		cmocka_unit_test_teardown(text_for_people_is_cut_at_a_character_and_has_no_controls, done),
		cmocka_unit_test_teardown(an_id_is_whole_or_named_by_its_digest, done),
		cmocka_unit_test_teardown(a_number_that_is_exact_names_something, done),
		cmocka_unit_test_teardown(a_url_is_whole_and_of_the_web, done),
		cmocka_unit_test_teardown(an_amount_is_text_or_a_number_and_never_below_nothing, done),
		cmocka_unit_test_teardown(a_currency_is_one_that_there_is, done),
		cmocka_unit_test_teardown(a_body_of_another_topic_is_not_kept_open, done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
