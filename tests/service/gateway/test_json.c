/* test_json.c: what is read as JSON is what RFC 8259 calls JSON, and an independent reader understands the same */
#include "given.h"
#include "services/gateway/json.h"
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64 };

static bool is_read(struct bytes text)
{
	struct json_fault fault = { 0 };
	struct json_tree *tree;
	bool is = json_read(text, DEPTH, &tree, &fault);

	if (!is)
		assert_true(!tree && fault.words && fault.line >= 1 && fault.column >= 1);
	json_tree_free(tree);
	return is;
}

static void assert_same(const struct json *ours, const json_t *theirs)
{
	size_t index = 0;

	switch (ours->kind) {
	case VALUE_NULL:
		assert_true(json_is_null(theirs));
		break;
	case VALUE_FALSE:
		assert_true(json_is_false(theirs));
		break;
	case VALUE_TRUE:
		assert_true(json_is_true(theirs));
		break;
	case VALUE_INTEGER:
		assert_true(json_is_integer(theirs) && ours->integer == json_integer_value(theirs));
		break;
	case VALUE_REAL:
		assert_true(json_is_real(theirs));
		assert_memory_equal(&ours->real, &(double){ json_real_value(theirs) }, sizeof(double));
		break;
	case VALUE_TEXT:
		assert_true(json_is_string(theirs));
		assert_int_equal(ours->size, json_string_length(theirs));
		assert_memory_equal(ours->text, json_string_value(theirs), ours->size + 1);
		break;
	case VALUE_LIST:
		assert_true(json_is_array(theirs));
		assert_int_equal(ours->size, json_array_size(theirs));
		JSON_EACH (item, ours)
			assert_same(item, json_array_get(theirs, index++));
		break;
	case VALUE_OBJECT:
		assert_true(json_is_object(theirs));
		assert_int_equal(ours->size, json_object_size(theirs));
		JSON_EACH (member, ours)
			assert_same(member, json_object_getn(theirs, member->key, member->key_len));
		break;
	}
}

/* Both say no, or both the same tree. */
static void compare(struct bytes text)
{
	json_t *theirs = json_loadb(
		text.len ? text.data : "", text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
	struct json_fault fault;
	struct json_tree *tree;
	const struct json *ours = json_read(text, DEPTH, &tree, &fault);

	if (!ours != !theirs)
		fail_msg("%s reads this, the other does not: %.*s", ours ? "ours" : "jansson", (int)text.len,
			(const char *)text.data);
	if (ours)
		assert_same(ours, theirs);
	json_tree_free(tree);
	json_decref(theirs);
}

static void what_the_rfc_allows_is_read_and_nothing_else(void **state)
{
	static const char *const right[] = { "0", "-0", "-1", "1.5", "1e3", "1E+3", "1.25e-3", "9223372036854775807",
		"-9223372036854775808", "true", "false", "null", "\"\"", "\"\\u00e9\\uD83D\\uDE00\\\"\\/\"", "[]",
		"[1,[],{}]", "{}", " {\"a\" : [ true ,\r\n null ] }\t", "{\"\":1}", "\"\x7f\"", "\"\xc3\xa9\"" };
	static const char *const wrong[] = { "", " ", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "1e999",
		"9223372036854775808", "-9223372036854775809", "True", "nul", "nulll", "'a'", "\"", "\"\\", "\"\\x\"",
		"\"\\u12\"", "\"\\u12g4\"", "\"\\uD83D\"", "\"\\uDE00\"", "\"\\uD83D\\u0041\"", "\"\\uD83D\\n\"",
		"\"a\nb\"", "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xc3\"", "[", "[1", "[1,", "[1,]",
		"[,1]", "[1 2]", "]", "{", "{a:1}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{1:2}",
		"{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "{\"a\\u0000\":1}", "{}{}", "1 2", "//", "[1]x",
		"\xef\xbb\xbf{}" };

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		if (!is_read(bytes_of(right[i])))
			fail_msg("not read: %s", right[i]);
		compare(bytes_of(right[i]));
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (is_read(bytes_of(wrong[i])))
			fail_msg("read: %s", wrong[i]);
		compare(bytes_of(wrong[i]));
	}
	assert_false(is_read(BYTES("{}\0", 3)));
	assert_false(is_read(BYTES("\"a\0b\"", 5)));
}

/* Each byte in turn replaced, taken out and doubled, and the text cut there. */
static void compare_spoilt(struct bytes sound)
{
	static const char instead[] = "\t\n \"\\/{}[]:,+-.0159eEuabfnrt\x1f\x7f\x80\xbf\xc3\xe2\xed\xf0\xff";
	char *text = malloc(sound.len + 1);
	const char *from = sound.data;

	for (size_t at = 0; at < sound.len; at++) {
		memcpy(text, from, sound.len);
		compare(BYTES(text, at));
		for (size_t i = 0; i < strlen(instead); i++) {
			text[at] = instead[i];
			compare(BYTES(text, sound.len));
		}
		text[at] = '\0'; /* jansson overlooks one behind a number */
		assert_false(is_read(BYTES(text, sound.len)));
		memcpy(text + at, from + at + 1, sound.len - at - 1);
		compare(BYTES(text, sound.len - 1));
		memcpy(text + at, from + at, 1);
		memcpy(text + at + 1, from + at, sound.len - at);
		compare(BYTES(text, sound.len + 1));
	}
	free(text);
}

static void spoilt_texts_are_understood_as_an_independent_reader_does(void **state)
{
	(void)state;
	compare_spoilt(bytes_of("{\"a\":[1,-2.5e+1,0,true,false,null,{\"b\":\"\\u00e9\\ud83d\\ude00\\n\\\"\"}],"
				"\"\xe2\x82\xac\":\"\xf0\x9f"
				"\x98\x80 x\" , \"c\" : {} ,\"ab\":[ ],\"d\":1E5,\"e\":-10}"));
}

static void every_body_of_a_storefront_is_understood_as_an_independent_reader_does(void **state)
{
	glob_t found;

	(void)state;
	assert_int_equal(glob(FIXTURES "/*.json", 0, NULL, &found), 0);
	assert_true(found.gl_pathc > 10);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct bytes body = fixture(strrchr(found.gl_pathv[i], '/') + 1, NULL, NULL);

		compare(body);
		for (size_t len = 0; len < body.len; len += 7)
			compare(BYTES(body.data, len));
	}
	globfree(&found);
}

static void nesting_is_read_up_to_the_depth_allowed(void **state)
{
	struct buffer text = { 0 };
	struct json_fault fault;
	struct json_tree *tree;

	(void)state;
	for (int i = 0; i < DEPTH; i++)
		buffer_printf(&text, "[");
	for (int i = 0; i < DEPTH; i++)
		buffer_printf(&text, "]");
	assert_true(is_read(buffer_bytes(&text)));
	buffer_clear(&text);
	for (int i = 0; i < 1000000; i++)
		buffer_add_text(&text, i % 2 ? "{\"a\":" : "[");
	assert_null(json_read(buffer_bytes(&text), DEPTH, &tree, &fault));
	assert_true(fault.too_deep);
	buffer_free(&text);
}

static void a_key_given_twice_is_found_among_many(void **state)
{
	struct buffer text = { 0 };

	(void)state;
	buffer_add_text(&text, "{");
	for (int i = 0; i < 30000; i++)
		buffer_printf(&text, "\"%d\":0,", i);
	buffer_add_text(&text, "\"x\":0}");
	assert_true(is_read(buffer_bytes(&text)));
	text.len -= strlen("\"x\":0}");
	buffer_add_text(&text, "\"17\":0}");
	assert_false(is_read(buffer_bytes(&text)));
	buffer_free(&text);
}

static void a_fault_says_where_it_is(void **state)
{
	struct json_fault fault;
	struct json_tree *tree;

	(void)state;
	assert_null(json_read(bytes_of("{\"a\":1,\n \"b\":x}"), DEPTH, &tree, &fault));
	assert_int_equal(fault.line, 2);
	assert_int_equal(fault.column, 6);
	assert_false(fault.too_deep);
}

static void values_are_found_by_key_and_nothing_is_found_in_nothing(void **state)
{
	struct json_fault fault;
	struct json_tree *tree;
	const struct json *body = json_read(bytes_of("{\"a\":{\"b\":7},\"ab\":[1,2]}"), DEPTH, &tree, &fault);
	int64_t sum = 0;

	(void)state;
	assert_int_equal(json_get(json_get(body, "a"), "b")->integer, 7);
	assert_null(json_get(body, "b"));
	assert_null(json_get(json_get(body, "ab"), "a"));
	assert_null(json_get(NULL, "a"));
	JSON_EACH (item, json_get(body, "ab"))
		sum += item->integer;
	JSON_EACH (item, json_get(body, "none"))
		sum += item->integer;
	assert_int_equal(sum, 3);
	json_tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_rfc_allows_is_read_and_nothing_else),
		cmocka_unit_test(spoilt_texts_are_understood_as_an_independent_reader_does),
		cmocka_unit_test(every_body_of_a_storefront_is_understood_as_an_independent_reader_does),
		cmocka_unit_test(nesting_is_read_up_to_the_depth_allowed),
		cmocka_unit_test(a_key_given_twice_is_found_among_many),
		cmocka_unit_test(a_fault_says_where_it_is),
		cmocka_unit_test(values_are_found_by_key_and_nothing_is_found_in_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
