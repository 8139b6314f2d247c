/* test_json_block.c: jansson in a block: what it reads is whole, what was there before stays, nothing is left over */
#include "given.h"
#include "services/kit/storefront/fields.h"
#include <glob.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static json_t *read_json(struct bytes text)
{
	return json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
}

static void every_body_of_a_storefront_reads_the_same_in_a_block(void **state)
{
	glob_t found;

	(void)state;
	assert_int_equal(glob(FIXTURES "/*.json", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct bytes body = fixture(strrchr(found.gl_pathv[i], '/') + 1, NULL, NULL);
		json_t *before = read_json(body);

		json_block_begin(body.len);
		assert_int_equal(json_equal(read_json(body), before), before != NULL);
		json_block_end();
		json_decref(before);
	}
	assert_true(found.gl_pathc > 10);
	globfree(&found);
}

/* Begun as if for nothing, so that it has to grow many times; and the values as jansson needs them aligned. */
static void a_body_that_needs_far_more_than_its_block_is_read_whole(void **state)
{
	struct buffer text = { 0 };
	json_t *json;

	(void)state;
	buffer_add_text(&text, "[");
	for (int i = 0; i < 20000; i++)
		buffer_printf(&text, "%s{\"number\":%d,\"text\":\"%0*d\"}", i ? "," : "", i, i % 50, i);
	buffer_add_text(&text, "]");
	json_block_begin(0);
	json = read_json(buffer_bytes(&text));
	assert_int_equal(json_array_size(json), 20000);
	for (size_t i = 0; i < 20000; i++) {
		const json_t *item = json_array_get(json, i);

		assert_int_equal((uintptr_t)item % _Alignof(max_align_t), 0);
		assert_int_equal(json_integer_value(json_object_get(item, "number")), i);
		assert_int_equal(strtol(json_string_value(json_object_get(item, "text")), NULL, 10), i);
	}
	json_block_end();
	buffer_free(&text);
}

static void what_cannot_be_read_leaves_nothing_behind(void **state)
{
	(void)state;
	json_block_begin(10);
	assert_null(read_json(bytes_of("{\"a\":[1,2,{\"b\":\"c\"},")));
	json_block_end();
}

static void outside_of_a_block_memory_is_as_ever(void **state)
{
	json_t *json;
	char *text;

	(void)state;
	json_block_begin(10);
	json_block_end();
	json = read_json(bytes_of("{\"a\":[1,2]}"));
	json_block_begin(10);
	read_json(bytes_of("[3]"));
	json_block_end();
	text = json_dumps(json, JSON_COMPACT);
	assert_string_equal(text, "{\"a\":[1,2]}");
	free(text);
	json_decref(json);
}

static void *read_beside(void *ret)
{
	*(json_t **)ret = read_json(bytes_of("{\"a\":[1,2]}"));
	json_decref(read_json(bytes_of("[3]")));
	return NULL;
}

static void other_threads_have_memory_of_their_own_meanwhile(void **state)
{
	json_t *json = NULL;
	pthread_t thread;

	(void)state;
	json_block_begin(10);
	assert_int_equal(pthread_create(&thread, NULL, read_beside, &json), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	json_block_end();
	assert_int_equal(json_array_size(json_object_get(json, "a")), 2);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_body_of_a_storefront_reads_the_same_in_a_block),
		cmocka_unit_test(a_body_that_needs_far_more_than_its_block_is_read_whole),
		cmocka_unit_test(what_cannot_be_read_leaves_nothing_behind),
		cmocka_unit_test(outside_of_a_block_memory_is_as_ever),
		cmocka_unit_test(other_threads_have_memory_of_their_own_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
