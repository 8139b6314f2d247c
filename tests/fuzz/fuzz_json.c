/*
 * fuzz_json.c: any text is read as JSON exactly if an independent reader reads it, and as the same values
 */
#include "services/gateway/json.h"
#include "tests/fuzz/fuzz.h"
#include <jansson.h>
#include <string.h>

enum { DEPTH = 64 };

static void must_be_same(const struct json *ours, const json_t *theirs);

static void must_have_same_members(const struct json *ours, const json_t *theirs)
{
	size_t index = 0;

	if (ours->kind == VALUE_LIST)
		MUST(json_is_array(theirs) && ours->size == json_array_size(theirs));
	else
		MUST(json_is_object(theirs) && ours->size == json_object_size(theirs));
	JSON_EACH (item, ours)
		must_be_same(item,
			ours->kind == VALUE_LIST ? json_array_get(theirs, index++)
						 : json_object_getn(theirs, item->key, item->key_len));
}

static void must_be_same(const struct json *ours, const json_t *theirs)
{
	double real;

	switch (ours->kind) {
	case VALUE_NULL:
		MUST(json_is_null(theirs));
		break;
	case VALUE_FALSE:
		MUST(json_is_false(theirs));
		break;
	case VALUE_TRUE:
		MUST(json_is_true(theirs));
		break;
	case VALUE_INTEGER:
		MUST(json_is_integer(theirs) && ours->integer == json_integer_value(theirs));
		break;
	case VALUE_REAL:
		real = json_real_value(theirs);
		MUST(json_is_real(theirs) && memcmp(&real, &ours->real, sizeof(real)) == 0);
		break;
	case VALUE_TEXT:
		MUST(json_is_string(theirs) && ours->size == json_string_length(theirs) &&
			memcmp(ours->text, json_string_value(theirs), ours->size + 1) == 0);
		break;
	case VALUE_LIST:
	case VALUE_OBJECT:
		must_have_same_members(ours, theirs);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct json_fault fault = { 0 };
	struct json_tree *tree;
	const struct json *ours = json_read(BYTES(data, len), DEPTH, &tree, &fault);
	json_t *theirs;

	MUST(ours || (!tree && fault.words && fault.line >= 1 && fault.column >= 1));
	if (len > 0 && memchr(data, '\0', len)) {
		MUST(!ours); /* jansson overlooks a NUL behind a number */
		return 0;
	}
	if (fault.too_deep)
		return 0;
	theirs = json_loadb((const char *)data, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
	MUST(!ours == !theirs);
	if (ours)
		must_be_same(ours, theirs);
	json_tree_free(tree);
	json_decref(theirs);
	return 0;
}
