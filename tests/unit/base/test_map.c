#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "tests/unit/cmocka_all.h"

DEFINE_CLEANUP(struct map *, map_free)

enum { ENTRIES = 5000 };

static int values[ENTRIES];

static void every_entry_is_found_after_growing(void **state)
{
	(void)state;
	_cleanup_(map_freep) struct map *map = map_new();
	for (uint64_t i = 0; i < ENTRIES; i++)
		assert_null(map_put(map, map_number(&i), &values[i]));
	assert_int_equal(map_count(map), ENTRIES);
	for (uint64_t i = 0; i < ENTRIES; i++)
		assert_ptr_equal(map_get(map, map_number(&i)), &values[i]);
	uint64_t absent = ENTRIES;
	assert_null(map_get(map, map_number(&absent)));
}

static void putting_again_replaces_and_tells_what_was_there(void **state)
{
	(void)state;
	_cleanup_(map_freep) struct map *map = map_new();
	assert_null(map_put(map, bytes_of("cart"), &values[0]));
	assert_ptr_equal(map_put(map, bytes_of("cart"), &values[1]), &values[0]);
	assert_ptr_equal(map_get(map, bytes_of("cart")), &values[1]);
	assert_int_equal(map_count(map), 1);
}

static void keys_are_copied_and_may_hold_any_byte(void **state)
{
	(void)state;
	_cleanup_(map_freep) struct map *map = map_new();
	char key[] = { 'a', 0, 'b' };
	map_put(map, BYTES(key, 3), &values[0]);
	map_put(map, BYTES(NULL, 0), &values[1]);
	key[2] = 'c';
	assert_null(map_get(map, BYTES(key, 3)));
	assert_ptr_equal(map_get(map, BYTES("a\0b", 3)), &values[0]);
	assert_ptr_equal(map_get(map, bytes_of("")), &values[1]);
	assert_null(map_get(map, bytes_of("a")));
}

static void what_is_removed_is_gone_once(void **state)
{
	(void)state;
	_cleanup_(map_freep) struct map *map = map_new();
	for (uint64_t i = 0; i < ENTRIES; i++)
		map_put(map, map_number(&i), &values[i]);
	for (uint64_t i = 0; i < ENTRIES; i += 2) {
		assert_ptr_equal(map_remove(map, map_number(&i)), &values[i]);
		assert_null(map_remove(map, map_number(&i)));
	}
	assert_int_equal(map_count(map), ENTRIES / 2);
	for (uint64_t i = 0; i < ENTRIES; i++)
		assert_ptr_equal(map_get(map, map_number(&i)), i % 2 ? (void *)&values[i] : NULL);
}

struct walk {
	struct map *map;
	unsigned seen[ENTRIES];
	bool remove_all;
};

static void visit(struct bytes key, void *value, void *context)
{
	struct walk *walk = context;
	uint64_t number;
	memcpy(&number, key.data, sizeof(number));
	assert_ptr_equal(value, &values[number]);
	walk->seen[number]++;
	if (!walk->remove_all)
		return;
	uint64_t other = number ^ 1; /* its partner goes too: before or after it was seen */
	map_remove(walk->map, map_number(&number));
	map_remove(walk->map, map_number(&other));
	assert_null(map_get(walk->map, map_number(&number)));
}

static void a_walk_sees_every_entry_once(void **state)
{
	(void)state;
	_cleanup_(map_freep) struct map *map = map_new();
	static struct walk walk;
	for (uint64_t i = 0; i < ENTRIES; i++)
		map_put(map, map_number(&i), &values[i]);
	map_each(map, visit, &walk);
	for (int i = 0; i < ENTRIES; i++)
		assert_int_equal(walk.seen[i], 1);
}

static void entries_may_go_during_a_walk(void **state)
{
	(void)state;
	_cleanup_(map_freep) struct map *map = map_new();
	static struct walk walk;
	walk.map = map;
	walk.remove_all = true;
	for (uint64_t i = 0; i < ENTRIES; i++)
		map_put(map, map_number(&i), &values[i]);
	map_each(map, visit, &walk);
	for (int i = 0; i < ENTRIES; i += 2)
		assert_int_equal(walk.seen[i] + walk.seen[i + 1], 1); /* a removed one is not visited */
	assert_int_equal(map_count(map), 0);
	uint64_t number = 1;
	assert_null(map_put(map, map_number(&number), &values[1]));
	assert_int_equal(map_count(map), 1);
}

struct nested {
	struct map *map;
	int seen_even, seen_odd;
};

static void remove_odd(struct bytes key, void *value, void *context)
{
	uint64_t number;

	(void)value;
	memcpy(&number, key.data, sizeof(number));
	if (number % 2)
		map_remove(((struct nested *)context)->map, key);
}

static void walk_within(struct bytes key, void *value, void *context)
{
	struct nested *nested = context;
	uint64_t number;

	(void)value;
	memcpy(&number, key.data, sizeof(number));
	nested->seen_even += number % 2 == 0;
	if (number % 2 && nested->seen_odd++ == 0) /* this one goes as well */
		map_each(nested->map, remove_odd, nested);
}

static void what_stays_is_there_after_a_walk_within_a_walk(void **state)
{
	(void)state;
	_cleanup_(map_freep) struct map *map = map_new();
	struct nested nested = { .map = map };
	uint64_t odd = 1;
	for (uint64_t i = 0; i < ENTRIES; i++)
		map_put(map, map_number(&i), &values[i]);
	map_each(map, walk_within, &nested);
	assert_int_equal(nested.seen_even, ENTRIES / 2);
	assert_int_equal(nested.seen_odd, 1);
	assert_int_equal(map_count(map), ENTRIES / 2);
	for (uint64_t i = 0; i < ENTRIES; i++)
		assert_ptr_equal(map_get(map, map_number(&i)), i % 2 ? NULL : (void *)&values[i]);
	assert_null(map_put(map, map_number(&odd), &values[1]));
	assert_ptr_equal(map_remove(map, map_number(&odd)), &values[1]);
	assert_null(map_get(map, map_number(&odd)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_is_found_after_growing),
		cmocka_unit_test(putting_again_replaces_and_tells_what_was_there),
		cmocka_unit_test(keys_are_copied_and_may_hold_any_byte),
		cmocka_unit_test(what_is_removed_is_gone_once),
		cmocka_unit_test(a_walk_sees_every_entry_once),
		cmocka_unit_test(entries_may_go_during_a_walk),
		cmocka_unit_test(what_stays_is_there_after_a_walk_within_a_walk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
