#include "bus/base/cleanup.h"
#include "bus/base/sorted_map.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

DEFINE_CLEANUP(struct sorted_map *, sorted_map_free)

/* The model: one slot for each possible key "000".."fff" (hexadecimal), so order is that of the slots. */
enum { SLOTS = 4096, STEPS = 60000 };

static int64_t model[SLOTS]; /* the tag, -1: absent */
static size_t model_count;

static struct bytes key_of(int slot, char to[4])
{
	snprintf(to, 4, "%03x", (unsigned)slot % SLOTS);
	return BYTES(to, 3);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static void assert_is_slot(const struct sorted_map_entry *entry, int slot)
{
	char key[4], value[32];
	if (slot < 0 || slot >= SLOTS) {
		assert_null(entry);
		return;
	}
	assert_non_null(entry);
	assert_true(bytes_equal(sorted_map_key(entry), key_of(slot, key)));
	assert_true(sorted_map_tag(entry) == (uint64_t)model[slot]);
	snprintf(value, sizeof(value), "value %lld", (long long)model[slot]);
	assert_true(bytes_equal(sorted_map_value(entry), bytes_of(value)));
}

static int at_or_after(int slot)
{
	while (slot < SLOTS && model[slot] < 0)
		slot++;
	return slot;
}

static int before(int slot)
{
	do
		slot--;
	while (slot >= 0 && model[slot] < 0);
	return slot;
}

static void change(struct sorted_map *map, int slot, bool put, int64_t tag)
{
	char key[4], value[32];
	if (put) {
		snprintf(value, sizeof(value), "value %lld", (long long)tag);
		sorted_map_put(map, key_of(slot, key), bytes_of(value), (uint64_t)tag);
		model_count += model[slot] < 0;
		model[slot] = tag;
	} else {
		assert_int_equal(sorted_map_remove(map, key_of(slot, key)), model[slot] >= 0);
		model_count -= model[slot] >= 0;
		model[slot] = -1;
	}
	assert_int_equal(sorted_map_count(map), model_count);
}

static void assert_same_as_model(const struct sorted_map *map)
{
	int slot = at_or_after(0);
	assert_is_slot(sorted_map_first(map), slot);
	assert_is_slot(sorted_map_last(map), before(SLOTS));
	for (const struct sorted_map_entry *entry = sorted_map_first(map); entry; entry = sorted_map_next(entry)) {
		assert_is_slot(entry, slot);
		slot = at_or_after(slot + 1);
	}
	assert_int_equal(slot, SLOTS);
}

static void any_history_gives_what_a_plain_table_gives(void **state)
{
	(void)state;
	_cleanup_(sorted_map_freep) struct sorted_map *map = sorted_map_new();
	uint64_t seed = 20240229;
	memset(model, -1, sizeof(model));
	model_count = 0;
	for (int64_t step = 0; step < STEPS; step++) {
		int slot = (int)(next_random(&seed) % SLOTS);
		bool grows = step / 10000 % 2 == 0; /* it fills, it empties, and again */
		change(map, slot, next_random(&seed) % 10 < (grows ? 7u : 3u), step);

		char key[4];
		int asked = (int)(next_random(&seed) % SLOTS);
		assert_is_slot(sorted_map_at_or_after(map, key_of(asked, key)), at_or_after(asked));
		assert_is_slot(sorted_map_before(map, key_of(asked, key)), before(asked));
		assert_is_slot(sorted_map_find(map, key_of(asked, key)), model[asked] < 0 ? -1 : asked);
		if (step % 5000 == 0)
			assert_same_as_model(map);
	}
	assert_same_as_model(map);
}

static void clearing_leaves_a_map_that_works(void **state)
{
	(void)state;
	_cleanup_(sorted_map_freep) struct sorted_map *map = sorted_map_new();
	memset(model, -1, sizeof(model));
	model_count = 0;
	for (int slot = 0; slot < SLOTS; slot += 3)
		change(map, slot, true, slot);
	sorted_map_clear(map);
	memset(model, -1, sizeof(model));
	model_count = 0;
	assert_same_as_model(map);
	assert_int_equal(sorted_map_count(map), 0);
	change(map, 7, true, 1);
	assert_same_as_model(map);
	assert_null(sorted_map_find(map, bytes_of("006")));
	assert_is_slot(sorted_map_find(map, bytes_of("007")), 7);
}

static void a_map_that_was_emptied_row_by_row_finds_what_comes_next(void **state)
{
	(void)state;
	_cleanup_(sorted_map_freep) struct sorted_map *map = sorted_map_new();
	memset(model, -1, sizeof(model));
	model_count = 0;
	for (int round = 0; round < 3; round++) {
		for (int slot = round; slot < SLOTS; slot += 5)
			change(map, slot, true, slot);
		for (int slot = 0; slot < SLOTS; slot++) {
			char key[4];
			assert_is_slot(sorted_map_find(map, key_of(slot, key)), model[slot] < 0 ? -1 : slot);
		}
		for (int slot = round; slot < SLOTS; slot += 5)
			change(map, slot, false, 0);
		assert_same_as_model(map);
	}
}

static void a_value_may_be_put_in_place_of_itself(void **state)
{
	(void)state;
	_cleanup_(sorted_map_freep) struct sorted_map *map = sorted_map_new();
	sorted_map_put(map, bytes_of("k"), bytes_of("value"), 1);
	struct sorted_map_entry *entry = sorted_map_find(map, bytes_of("k"));
	sorted_map_put(map, sorted_map_key(entry), sorted_map_value(entry), 2);
	assert_true(bytes_equal(sorted_map_value(sorted_map_find(map, bytes_of("k"))), bytes_of("value")));
	assert_int_equal(sorted_map_count(map), 1);
}

static void keys_and_values_may_be_empty(void **state)
{
	(void)state;
	_cleanup_(sorted_map_freep) struct sorted_map *map = sorted_map_new();
	sorted_map_put(map, bytes_of("a"), BYTES(NULL, 0), 0);
	sorted_map_put(map, BYTES(NULL, 0), bytes_of("empty"), 0);
	assert_int_equal(sorted_map_key(sorted_map_first(map)).len, 0);
	assert_true(bytes_equal(sorted_map_value(sorted_map_first(map)), bytes_of("empty")));
	assert_int_equal(sorted_map_value(sorted_map_last(map)).len, 0);
	assert_null(sorted_map_before(map, BYTES(NULL, 0)));
	assert_true(sorted_map_remove(map, BYTES(NULL, 0)));
	assert_false(sorted_map_remove(map, BYTES(NULL, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_history_gives_what_a_plain_table_gives),
		cmocka_unit_test(clearing_leaves_a_map_that_works),
		cmocka_unit_test(a_map_that_was_emptied_row_by_row_finds_what_comes_next),
		cmocka_unit_test(a_value_may_be_put_in_place_of_itself),
		cmocka_unit_test(keys_and_values_may_be_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
