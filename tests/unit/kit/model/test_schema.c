/* Which schemas may be asked for, and which JSON fits them. */
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "services/kit/model/model.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <jansson.h>

static void is_no_schema(const char *text, const char *expected)
{
	char why[MODEL_WORDS_MAX], words[MODEL_WORDS_MAX];
	json_t *schema = NULL;

	snprintf(words, sizeof(words), "the schema cannot be used: %s", expected);
	if (model_schema_read(text, &schema, why) != -EINVAL)
		fail_msg("%s was taken", text);
	assert_string_equal(why, words);
	assert_null(schema);
}

#define WITH(rest) "{\"type\":\"object\"," rest "}"

static void what_is_not_of_the_subset_is_refused_in_words(void **state)
{
	(void)state;
	is_no_schema("", "it is not JSON");
	is_no_schema("{", "it is not JSON");
	is_no_schema("{\"type\":\"object\",\"type\":\"object\"}", "it is not JSON");
	is_no_schema("[]", "a schema is an object");
	is_no_schema("{}", "a schema needs type or enum");
	is_no_schema("{\"enum\":[1]}", "its own type is not object");
	is_no_schema("{\"type\":[\"object\",\"null\"]}", "its own type is not object");
	is_no_schema("{\"type\":\"text\"}", "type is not one of those that are known");
	is_no_schema("{\"type\":[]}", "type is not one of those that are known");
	is_no_schema("{\"type\":[\"object\",7]}", "type is not one of those that are known");
	is_no_schema(WITH("\"maxLength\":7"), "it has a word that is not checked");
	is_no_schema(WITH("\"$ref\":\"#\""), "it has a word that is not checked");
	is_no_schema(WITH("\"properties\":[]"), "properties is no object");
	is_no_schema(WITH("\"properties\":{\"a\":7}"), "a schema is an object");
	is_no_schema(WITH("\"properties\":{\"\":{\"type\":\"null\"}}"),
		"the name of a property has 1 to 64 letters, digits, _ and -");
	is_no_schema(WITH("\"properties\":{\"a b\":{\"type\":\"null\"}}"),
		"the name of a property has 1 to 64 letters, digits, _ and -");
	is_no_schema(WITH("\"required\":\"a\""), "required is no array");
	is_no_schema(WITH("\"required\":[\"a\"]"), "required names something that is no property");
	is_no_schema(WITH("\"properties\":{\"a\":{\"type\":\"null\"}},\"required\":[\"a\",\"a\"]"),
		"required names a property twice");
	is_no_schema(
		WITH("\"additionalProperties\":{\"type\":\"null\"}"), "additionalProperties is neither true nor false");
	is_no_schema(WITH("\"properties\":{\"a\":{\"enum\":[]}}"), "enum is no array with a value in it");
	is_no_schema(WITH("\"properties\":{\"a\":{\"enum\":[{}]}}"), "enum takes no objects and no arrays");
	is_no_schema(WITH("\"items\":7"), "a schema is an object");
	is_no_schema(WITH("\"title\":7"), "title and description are texts");
}

/* `depth` schemas within one another, then something that is in the innermost. */
static void nest(int depth, struct buffer *ret)
{
	buffer_add_text(ret, "{\"type\":\"object\",\"properties\":{\"a\":");
	for (int i = 2; i < depth; i++)
		buffer_add_text(ret, "{\"type\":\"array\",\"items\":");
	buffer_add_text(ret, "{\"type\":\"null\"}");
	for (int i = 2; i < depth; i++)
		buffer_add_text(ret, "}");
	buffer_add_text(ret, "}}");
}

static void a_schema_is_at_most_16_deep_and_32_kib_long(void **state)
{
	_cleanup_(buffer_free) struct buffer deep = { 0 }, deeper = { 0 }, deepest = { 0 }, is_long = { 0 };
	char why[MODEL_WORDS_MAX];
	json_t *schema;

	(void)state;
	nest(16, &deep);
	assert_int_equal(model_schema_read(buffer_text(&deep), &schema, why), 0);
	json_decref(schema);
	nest(17, &deeper);
	is_no_schema(buffer_text(&deeper), "it is deeper than 16 schemas");
	nest(1000, &deepest);
	is_no_schema(buffer_text(&deepest), "it is deeper than 16 schemas");
	buffer_add_text(&is_long, "{\"type\":\"object\",\"title\":\"");
	while (is_long.len < MODEL_SCHEMA_MAX - 2)
		buffer_add_text(&is_long, "x");
	buffer_add_text(&is_long, "\"}");
	assert_int_equal(model_schema_read(buffer_text(&is_long), &schema, why), 0);
	json_decref(schema);
	buffer_add_text(&is_long, " ");
	is_no_schema(buffer_text(&is_long), "it is longer than 32 KiB");
}

static const char judged[] =
	"{\"type\":\"object\",\"description\":\"what was decided\",\"properties\":{"
	"\"outcome\":{\"type\":\"string\",\"enum\":[\"in\",\"out\"]},"
	"\"minor\":{\"type\":[\"integer\",\"null\"]},\"share\":{\"type\":\"number\"},\"sure\":{\"type\":\"boolean\"},"
	"\"citations\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"quote\":{\"type\":\"string\"}},"
	"\"required\":[\"quote\"],\"additionalProperties\":false}},"
	"\"more\":{\"type\":\"object\"}},"
	"\"required\":[\"outcome\",\"citations\"],\"additionalProperties\":false}";

/* `expected`: NULL: it fits. */
static void fits(const char *value, const char *expected)
{
	char why[MODEL_WORDS_MAX] = "";
	json_t *schema;

	assert_int_equal(model_schema_read(judged, &schema, why), 0);
	json_t *json = json_loads(value, JSON_DECODE_ANY, NULL);
	assert_non_null(json);
	bool does = model_schema_fits(schema, json, why);
	if (does != !expected || strcmp(why, expected ? expected : "") != 0)
		fail_msg("%s: %s", value, why);
	json_decref(json);
	json_decref(schema);
}

static void what_fits_is_taken_and_what_does_not_is_told_without_its_words(void **state)
{
	(void)state;
	fits("{\"outcome\":\"in\",\"citations\":[]}", NULL);
	fits("{\"outcome\":\"out\",\"citations\":[{\"quote\":\"a\"},{\"quote\":\"\"}],\"minor\":null,\"share\":1,\"sure\":false,"
	     "\"more\":{\"anything\":[1]}}",
		NULL);
	fits("{\"outcome\":\"in\",\"citations\":[],\"minor\":-7,\"share\":0.5,\"sure\":true}", NULL);
	fits("null", "it is not of type object");
	fits("[]", "it is not of type object");
	fits("{\"outcome\":\"in\"}", "citations is missing");
	fits("{\"outcome\":\"SECRET\",\"citations\":[]}", "outcome: it is none of the values that it may be");
	fits("{\"outcome\":7,\"citations\":[]}", "outcome: it is not of type string");
	fits("{\"outcome\":\"in\",\"citations\":{}}", "citations: it is not of type array");
	fits("{\"outcome\":\"in\",\"citations\":[{\"quote\":\"a\"},{}]}", "citations[1]: quote is missing");
	fits("{\"outcome\":\"in\",\"citations\":[{\"quote\":7}]}", "citations[0].quote: it is not of type string");
	fits("{\"outcome\":\"in\",\"citations\":[{\"quote\":\"a\",\"SECRET\":1}]}",
		"citations[0]: it has a property that it may not have");
	fits("{\"outcome\":\"in\",\"citations\":[],\"SECRET\":1}", "it has a property that it may not have");
	fits("{\"outcome\":\"in\",\"citations\":[],\"minor\":1.0}",
		"minor: it is of none of the types that it may be of");
	fits("{\"outcome\":\"in\",\"citations\":[],\"minor\":\"7\"}",
		"minor: it is of none of the types that it may be of");
	fits("{\"outcome\":\"in\",\"citations\":[],\"sure\":0}", "sure: it is not of type boolean");
}

static bool is_strict(const char *text)
{
	char why[MODEL_WORDS_MAX];
	json_t *schema;
	bool is;

	if (model_schema_read(text, &schema, why) < 0)
		fail_msg("%s: %s", text, why);
	is = model_schema_is_strict(schema);
	json_decref(schema);
	return is;
}

static void strict_is_what_openai_takes_as_such(void **state)
{
	(void)state;
	assert_true(is_strict(WITH("\"additionalProperties\":false")));
	assert_true(is_strict(
		WITH("\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"null\"}}},\"required\":[\"a\"],"
		     "\"additionalProperties\":false")));
	assert_false(is_strict(WITH("\"additionalProperties\":true")));
	assert_false(is_strict(WITH("\"properties\":{}")));
	assert_false(is_strict(WITH("\"properties\":{\"a\":{\"type\":\"null\"}},\"additionalProperties\":false")));
	assert_false(is_strict(WITH("\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}},"
				    "\"required\":[\"a\"],\"additionalProperties\":false")));
	assert_false(is_strict(judged));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_of_the_subset_is_refused_in_words),
		cmocka_unit_test(a_schema_is_at_most_16_deep_and_32_kib_long),
		cmocka_unit_test(what_fits_is_taken_and_what_does_not_is_told_without_its_words),
		cmocka_unit_test(strict_is_what_openai_takes_as_such),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
