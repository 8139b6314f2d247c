/* test_state_tables.c: a row comes back as it was put, and a row of another size is none; walks hand out what can be read */
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/store/store.h"
#include "platform.pb.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

struct small {
	uint32_t a, b;
};
struct large {
	uint32_t a, b, c;
};
/* One table on disk, as programs of different releases declare it. */
STATE_STRUCTS(small, "table", struct small);
STATE_STRUCTS(large, "table", struct large);
STATE_TABLE(suppressions, "suppressed", Suppression);
STATE_NUMBERS(version, "version");
STATE_STRINGS(version_words, "version");

static struct state *rows;

static int begin(void **state)
{
	struct store *store = NULL;

	(void)state;
	assert_int_equal(store_open_memory(&runtime_store_options, &store), 0);
	rows = state_new(&store);
	state_write_projected(rows);
	return 0;
}

static int end(void **state)
{
	(void)state;
	state_free(rows);
	return 0;
}

static void a_row_comes_back_as_it_was_put(void **state)
{
	struct small put = { 1, UINT32_MAX }, got;
	Suppression listed = { .source = OPTOUT_PAGE, .since_us = 7 }, found;

	(void)state;
	STATE_PUT(rows, small, "demo", "key", &put);
	assert_true(STATE_GET(rows, small, "demo", "key", &got));
	assert_memory_equal(&got, &put, sizeof(got));
	put.a = 2;
	STATE_PUT(rows, small, "demo", "key", &put);
	assert_true(STATE_GET(rows, small, "demo", "key", &got));
	assert_int_equal(got.a, 2);
	STATE_PUT(rows, suppressions, "demo", "hash", &listed);
	assert_true(STATE_GET(rows, suppressions, "demo", "hash", &found));
	assert_int_equal(found.since_us, 7);
	assert_true(STATE_HAS(rows, suppressions, "demo", "hash"));
	STATE_DELETE(rows, suppressions, "demo", "hash");
	assert_false(STATE_HAS(rows, suppressions, "demo", "hash"));
}

/* A table's name and bytes on disk are what a bare name wrote. */
static void a_declared_table_is_the_one_of_that_name(void **state)
{
	struct buffer bytes = { 0 };
	Suppression found;

	(void)state;
	STATE_PUT(rows, small, "demo", "key", &((struct small){ 1, 2 }));
	assert_true(state_get_bytes(rows, "table", "demo", "key", &bytes));
	assert_int_equal(bytes.len, sizeof(struct small));
	buffer_free(&bytes);
	state_put(rows, "suppressed", "demo", "hash", &Suppression_msg, &(Suppression){ .since_us = 9 });
	assert_true(STATE_GET(rows, suppressions, "demo", "hash", &found));
	assert_int_equal(found.since_us, 9);
	STATE_PUT_NUMBER(rows, version, "demo", "key", 5);
	assert_int_equal(state_number(rows, "version", "demo", "key"), 5);
}

static void what_is_not_there_is_all_zero(void **state)
{
	struct small got = { 7, 7 };
	Suppression found = { .since_us = 7 };
	struct buffer words = { 0 };

	(void)state;
	assert_false(STATE_GET(rows, small, "demo", "key", &got));
	assert_int_equal(got.a | got.b, 0);
	STATE_PUT(rows, small, "demo", "key", &((struct small){ 1, 2 }));
	got.a = 7;
	assert_false(STATE_GET(rows, small, "other", "key", &got));
	assert_int_equal(got.a, 0);
	assert_false(STATE_GET(rows, suppressions, "demo", "key", &found));
	assert_int_equal(found.since_us, 0);
	assert_int_equal(STATE_NUMBER(rows, version, "demo", "key"), 0);
	assert_false(STATE_GET_STRING(rows, version_words, "demo", "key", &words));
	assert_int_equal(words.len, 0);
}

/* An older program wrote it, or a newer one. */
static void a_row_of_another_size_is_none(void **state)
{
	struct large large = { 7, 7, 7 };
	struct small small = { 7, 7 };

	(void)state;
	STATE_PUT(rows, small, "demo", "small", &((struct small){ 1, 2 }));
	STATE_PUT(rows, large, "demo", "large", &((struct large){ 1, 2, 3 }));
	assert_false(STATE_GET(rows, large, "demo", "small", &large));
	assert_int_equal(large.a | large.b | large.c, 0);
	assert_false(STATE_GET(rows, small, "demo", "large", &small));
	assert_int_equal(small.a | small.b, 0);
	STATE_PUT_STRING(rows, version_words, "demo", "key", BYTES("7", 1));
	assert_int_equal(STATE_NUMBER(rows, version, "demo", "key"), 0);
}

static bool note_small(const char *shop, const char *key, const struct small *row, void *context)
{
	snprintf((char *)context + strlen(context), 40, "%s/%s:%u ", shop, key, (unsigned)row->a);
	return row->b == 0;
}

static bool note_number(const char *shop, const char *key, uint64_t number, void *context)
{
	snprintf((char *)context + strlen(context), 40, "%s/%s:%u ", shop, key, (unsigned)number);
	return true;
}

static bool note_string(const char *shop, const char *key, struct bytes value, void *context)
{
	snprintf((char *)context + strlen(context), 40, "%s/%s:%u ", shop, key, (unsigned)value.len);
	return true;
}

static bool note_key(const char *shop, const char *key, void *context)
{
	snprintf((char *)context + strlen(context), 40, "%s/%s ", shop, key);
	return true;
}

static void note_shop(const char *shop, void *context)
{
	snprintf((char *)context + strlen(context), 40, "%s ", shop);
}

#define EXPECT(words)                                                                                                  \
	do {                                                                                                           \
		assert_string_equal(said, words);                                                                      \
		said[0] = '\0';                                                                                        \
	} while (0)

static void a_walk_hands_out_decoded_rows_until_it_has_enough(void **state)
{
	char said[300] = "";

	(void)state;
	STATE_PUT(rows, small, "a", "k1", &((struct small){ 1, 0 }));
	STATE_PUT(rows, large, "a", "k2", &((struct large){ 2, 0, 0 })); /* cannot be read: passed over */
	STATE_PUT(rows, small, "b", "k1", &((struct small){ 3, 0 }));
	STATE_PUT(rows, small, "b", "k2", &((struct small){ 4, 1 }));
	STATE_PUT(rows, small, "b", "k3", &((struct small){ 5, 0 }));
	STATE_EACH(rows, small, NULL, NULL, note_small, said);
	EXPECT("a/k1:1 b/k1:3 b/k2:4 ");
	STATE_EACH(rows, small, "b", "k3", note_small, said);
	EXPECT("b/k3:5 ");
	STATE_EACH_FROM(rows, small, "b", "k11", note_small, said);
	EXPECT("b/k2:4 ");
	STATE_EACH_KEY(rows, small, "a", NULL, note_key, said);
	EXPECT("a/k1 a/k2 ");
	STATE_EACH_SHOP(rows, small, note_shop, said);
	EXPECT("a b ");
}

static void numbers_and_strings_are_walked_as_what_they_are(void **state)
{
	char said[300] = "";

	(void)state;
	STATE_PUT_NUMBER(rows, version, "a", "k1", 12);
	STATE_PUT_STRING(rows, version_words, "a", "k2", BYTES("", 0));
	STATE_EACH(rows, version, NULL, NULL, note_number, said);
	EXPECT("a/k1:12 ");
	STATE_EACH(rows, version_words, NULL, NULL, note_string, said);
	EXPECT("a/k1:8 a/k2:0 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_row_comes_back_as_it_was_put, begin, end),
		cmocka_unit_test_setup_teardown(a_declared_table_is_the_one_of_that_name, begin, end),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_all_zero, begin, end),
		cmocka_unit_test_setup_teardown(a_row_of_another_size_is_none, begin, end),
		cmocka_unit_test_setup_teardown(a_walk_hands_out_decoded_rows_until_it_has_enough, begin, end),
		cmocka_unit_test_setup_teardown(numbers_and_strings_are_walked_as_what_they_are, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
