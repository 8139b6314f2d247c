/*
 * test_row_cache.c: what is kept of the store's rows, and how much of it
 */
#include "bus/actor/runtime/state_rows.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static const char *key_of(int n)
{
	static char key[32];

	snprintf(key, sizeof(key), "row %d", n);
	return key;
}

/* "?": not known; "-": known not to be there. */
static const char *known(struct row_cache *cache, const char *key)
{
	static char value[32];
	struct bytes row;

	if (!row_cache_get(cache, bytes_of(key), &row))
		return "?";
	if (!row.data)
		return "-";
	snprintf(value, sizeof(value), "%.*s", (int)row.len, (const char *)row.data);
	return value;
}

static void a_row_and_its_absence_are_both_known(void **context)
{
	struct row_cache *cache = row_cache_new(1 << 16);

	(void)context;
	assert_string_equal(known(cache, "a"), "?");
	row_cache_put(cache, bytes_of("a"), bytes_of("1"));
	row_cache_put(cache, bytes_of("b"), BYTES(NULL, 0));
	row_cache_put(cache, bytes_of("c"), BYTES("", 0));
	assert_string_equal(known(cache, "a"), "1");
	assert_string_equal(known(cache, "b"), "-");
	assert_string_equal(known(cache, "c"), "");
	row_cache_clear(cache);
	assert_string_equal(known(cache, "a"), "?");
	assert_string_equal(known(cache, "b"), "?");
	row_cache_free(cache);
}

static void what_the_store_got_anew_replaces_what_is_known_and_adds_nothing(void **context)
{
	struct row_cache *cache = row_cache_new(1 << 16);

	(void)context;
	row_cache_put(cache, bytes_of("a"), BYTES(NULL, 0));
	row_cache_put(cache, bytes_of("b"), bytes_of("1"));
	row_cache_renew(cache, bytes_of("a"), bytes_of("longer than before"));
	row_cache_renew(cache, bytes_of("b"), BYTES(NULL, 0));
	row_cache_renew(cache, bytes_of("c"), bytes_of("3"));
	assert_string_equal(known(cache, "a"), "longer than before");
	assert_string_equal(known(cache, "b"), "-");
	assert_string_equal(known(cache, "c"), "?");
	row_cache_free(cache);
}

/* Also where it has become old: a younger copy beside it would be found until it goes, and the older one again after that. */
static void a_row_is_known_in_one_version_however_long_ago_it_was_asked_for(void **context)
{
	enum { MANY = 10000, ROWS_BETWEEN = 40 };
	struct row_cache *cache = row_cache_new(1 << 14);
	char value[16] = "";

	(void)context;
	row_cache_put(cache, bytes_of("row"), bytes_of("0"));
	for (int i = 1; i < MANY; i++) {
		row_cache_put(cache, bytes_of(key_of(i)), bytes_of("another"));
		if (i % ROWS_BETWEEN > 0)
			continue;
		if (strcmp(known(cache, "row"), "?") != 0)
			assert_string_equal(known(cache, "row"), value[0] ? value : "0");
		snprintf(value, sizeof(value), "%d", i);
		row_cache_put(cache, bytes_of("row"), bytes_of(value));
	}
	row_cache_free(cache);
}

static void it_holds_what_was_asked_for_lately_and_no_more_than_it_may(void **context)
{
	enum { MANY = 20000, BYTES_MOST = 1 << 18, ROW_LEAST = 100 };
	struct row_cache *cache = row_cache_new(BYTES_MOST);
	int held = 0;

	(void)context;
	row_cache_put(cache, bytes_of("often"), bytes_of("yes"));
	for (int i = 0; i < MANY; i++) {
		row_cache_put(cache, bytes_of(key_of(i)), bytes_of("value"));
		assert_string_equal(known(cache, "often"), "yes");
	}
	assert_string_equal(known(cache, key_of(0)), "?");
	assert_string_equal(known(cache, key_of(MANY - 500)), "value");
	for (int i = MANY - 1; i >= 0 && strcmp(known(cache, key_of(i)), "?") != 0; i--)
		held++;
	assert_in_range(held, 500, BYTES_MOST / ROW_LEAST);
	row_cache_free(cache);
}

static void a_row_that_is_too_large_is_not_kept_and_neither_is_what_it_replaces(void **context)
{
	static char large[1 << 15];
	struct row_cache *cache = row_cache_new(1 << 16);

	(void)context;
	row_cache_put(cache, bytes_of("a"), bytes_of("1"));
	row_cache_put(cache, bytes_of("b"), bytes_of("2"));
	row_cache_renew(cache, bytes_of("a"), BYTES(large, sizeof(large)));
	row_cache_put(cache, bytes_of("c"), BYTES(large, sizeof(large)));
	assert_string_equal(known(cache, "a"), "?");
	assert_string_equal(known(cache, "b"), "2");
	assert_string_equal(known(cache, "c"), "?");
	row_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_and_its_absence_are_both_known),
		cmocka_unit_test(what_the_store_got_anew_replaces_what_is_known_and_adds_nothing),
		cmocka_unit_test(a_row_is_known_in_one_version_however_long_ago_it_was_asked_for),
		cmocka_unit_test(it_holds_what_was_asked_for_lately_and_no_more_than_it_may),
		cmocka_unit_test(a_row_that_is_too_large_is_not_kept_and_neither_is_what_it_replaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
