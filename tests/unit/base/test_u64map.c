/* values by number: as a map, whatever the numbers */
#include "bus/base/map.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void what_was_put_is_found_until_it_is_removed(void **state)
{
	struct u64map *u64map = u64map_new();
	int one, other;

	(void)state;
	assert_null(u64map_get(u64map, 7));
	assert_null(u64map_remove(u64map, 7));
	assert_null(u64map_put(u64map, 7, &one));
	assert_null(u64map_get(u64map, 7 + 256));
	assert_ptr_equal(u64map_put(u64map, 7, &other), &one);
	assert_int_equal(u64map_count(u64map), 1);
	assert_null(u64map_put(u64map, UINT64_MAX, &one));
	assert_ptr_equal(u64map_get(u64map, 7), &other);
	assert_ptr_equal(u64map_remove(u64map, 7), &other);
	assert_null(u64map_get(u64map, 7));
	assert_ptr_equal(u64map_get(u64map, UINT64_MAX), &one);
	assert_int_equal(u64map_count(u64map), 1);
	u64map_free(u64map);
}

/* Near each other, at the borders of pages, and far away. */
static uint64_t any_number(void)
{
	uint64_t number = (uint64_t)(rand() % 1000);

	return rand() % 10 ? number : number << (rand() % 54);
}

static void it_is_a_map(void **state)
{
	struct u64map *u64map = u64map_new();
	struct map *map = map_new();
	static int values[16];

	(void)state;
	srand(1);
	for (int i = 0; i < 100000; i++) {
		uint64_t number = any_number();

		switch (rand() % 3) {
		case 0:
			assert_ptr_equal(u64map_put(u64map, number, &values[i % 16]),
				map_put(map, map_number(&number), &values[i % 16]));
			break;
		case 1:
			assert_ptr_equal(u64map_remove(u64map, number), map_remove(map, map_number(&number)));
			break;
		default:
			assert_ptr_equal(u64map_get(u64map, number), map_get(map, map_number(&number)));
		}
		assert_int_equal(u64map_count(u64map), map_count(map));
	}
	map_free(map);
	u64map_free(u64map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_found_until_it_is_removed),
		cmocka_unit_test(it_is_a_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
