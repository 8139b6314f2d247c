/* tests of the pools in bus/base/memory.c */
#include "bus/base/memory.h"
#include "tests/unit/cmocka_all.h"
#include <stdbool.h>
#include <string.h>

enum { ITEMS = 3000 };

struct thing {
	int number;
	char text[20];
};

static bool is_zero(const struct thing *thing)
{
	return memcmp(thing, &(struct thing){ 0 }, sizeof(*thing)) == 0;
}

/* More of them than a pool keeps, twice, so that both spare and new ones are seen. */
static void what_is_taken_is_empty_and_nobody_elses(void **state)
{
	struct pool pool = { .size = sizeof(struct thing), .room = 100 };
	static struct thing *things[ITEMS];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < ITEMS; i++) {
			things[i] = pool_take(&pool);
			assert_true(is_zero(things[i]));
			memset(things[i], 0xff, sizeof(*things[i]) + pool.room);
			things[i]->number = i;
		}
		for (int i = 0; i < ITEMS; i++) {
			assert_int_equal(things[i]->number, i);
			pool_give(&pool, things[i]);
		}
	}
	pool_give(&pool, NULL);
	pool_free(&pool);
	assert_null(pool.spare);
}

/* So many are kept; under the address sanitizer none is, so that a use after the end is found. */
static void what_is_given_back_is_kept_up_to_a_bound(void **state)
{
#if defined(__SANITIZE_ADDRESS__)
	const size_t most = 0;
#else
	const size_t most = 1024;
#endif
	struct pool pool = { .size = sizeof(struct thing) };
	static void *things[ITEMS];

	(void)state;
	for (int i = 0; i < ITEMS; i++)
		things[i] = pool_take(&pool);
	for (int i = 0; i < ITEMS; i++) {
		pool_give(&pool, things[i]);
		assert_int_equal(pool.spare_count, (size_t)i + 1 < most ? (size_t)i + 1 : most);
	}
	pool_give(&pool, pool_take(&pool));
	assert_int_equal(pool.spare_count, most);
	pool_free(&pool);
	assert_int_equal(pool.spare_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken_is_empty_and_nobody_elses),
		cmocka_unit_test(what_is_given_back_is_kept_up_to_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
