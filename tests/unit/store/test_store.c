/*
 * test_store.c: what every store promises, asked of the one on disk and of the one in memory alike
 */
#include "bus/base/cleanup.h"
#include "bus/base/sorted_map.h"
#include "bus/store/store.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>

DEFINE_CLEANUP(struct store_batch *, store_batch_free)
DEFINE_CLEANUP(struct store_cursor *, store_cursor_free)
DEFINE_CLEANUP(struct sorted_map *, sorted_map_free)

enum { LOG, STATE };

static const char *const families[] = { "log", "state", NULL };
static const struct store_options options = {
	.families = families, .cache_bytes = 1 << 20, .write_buffer_bytes = 256 * 1024, .asked_in_vain = 1
};

struct fixture {
	struct folder folder;
	struct store *store;
};

static int open_on_disk(void **state)
{
	static struct fixture fixture;
	char why[512];
	fixture.folder = folder_new();
	*state = &fixture;
	return store_open(fixture.folder.path, &options, &fixture.store, why);
}

static int open_in_memory(void **state)
{
	static struct fixture fixture;
	fixture.folder = folder_new();
	*state = &fixture;
	return store_open_memory(&options, &fixture.store);
}

static int close_it(void **state)
{
	struct fixture *fixture = *state;
	store_close(fixture->store);
	folder_remove(&fixture->folder);
	return 0;
}

static struct store *store_of(void **state)
{
	return ((struct fixture *)*state)->store;
}

static void put(struct store *store, int family, const char *key, const char *value)
{
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	store_batch_put(batch, family, bytes_of(key), bytes_of(value));
	assert_int_equal(store_commit(store, batch, false), 0);
}

static void assert_holds(struct store *store, int family, const char *key, const char *value)
{
	_cleanup_(buffer_free) struct buffer found = { 0 };
	int r = store_get(store, family, bytes_of(key), &found);
	assert_int_equal(r, value ? 0 : -ENOENT);
	assert_string_equal(buffer_text(&found), value ? value : "");
}

static void assert_stands_on(const struct store_cursor *cursor, const char *key, const char *value)
{
	assert_true(bytes_equal(store_cursor_key(cursor), bytes_of(key)));
	assert_true(bytes_equal(store_cursor_value(cursor), bytes_of(value)));
}

static void a_batch_is_nothing_until_it_is_committed_and_then_all_of_it(void **state)
{
	struct store *store = store_of(state);
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	store_batch_put(batch, LOG, bytes_of("a"), bytes_of("1"));
	store_batch_put(batch, STATE, bytes_of("b"), bytes_of("2"));
	store_batch_delete(batch, LOG, bytes_of("absent"));
	assert_int_equal(store_batch_count(batch), 3);
	assert_holds(store, LOG, "a", NULL);
	assert_int_equal(store_commit(store, batch, true), 0);
	assert_int_equal(store_batch_count(batch), 0);
	assert_holds(store, LOG, "a", "1");
	assert_holds(store, STATE, "b", "2");
	assert_holds(store, STATE, "a", NULL); /* families do not mix */
}

static void a_cleared_batch_changes_nothing(void **state)
{
	struct store *store = store_of(state);
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	store_batch_put(batch, LOG, bytes_of("a"), bytes_of("1"));
	store_batch_clear(batch);
	assert_int_equal(store_batch_count(batch), 0);
	assert_int_equal(store_commit(store, batch, true), 0);
	assert_holds(store, LOG, "a", NULL);
}

static void the_last_change_of_a_key_in_a_batch_wins(void **state)
{
	struct store *store = store_of(state);
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	store_batch_put(batch, LOG, bytes_of("a"), bytes_of("1"));
	store_batch_delete(batch, LOG, bytes_of("a"));
	store_batch_put(batch, LOG, bytes_of("b"), bytes_of("1"));
	store_batch_put(batch, LOG, bytes_of("b"), bytes_of("2"));
	assert_int_equal(store_commit(store, batch, false), 0);
	assert_holds(store, LOG, "a", NULL);
	assert_holds(store, LOG, "b", "2");
}

static void a_value_is_appended_to_what_the_buffer_has(void **state)
{
	struct store *store = store_of(state);
	_cleanup_(buffer_free) struct buffer found = { 0 };
	put(store, LOG, "a", "1");
	buffer_add_text(&found, "was ");
	assert_int_equal(store_get(store, LOG, bytes_of("a"), &found), 0);
	assert_string_equal(buffer_text(&found), "was 1");
}

static void empty_values_are_values(void **state)
{
	struct store *store = store_of(state);
	_cleanup_(buffer_free) struct buffer found = { 0 };
	put(store, LOG, "a", "");
	assert_int_equal(store_get(store, LOG, bytes_of("a"), &found), 0);
	assert_int_equal(found.len, 0);
}

static void a_cursor_walks_in_the_order_of_bytes(void **state)
{
	struct store *store = store_of(state);
	put(store, LOG, "b", "2");
	put(store, LOG, "\xff", "4");
	put(store, LOG, "a", "1");
	put(store, LOG, "b\x01", "3");
	put(store, STATE, "aa", "of another family");
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(store, LOG);
	assert_true(store_cursor_seek(cursor, bytes_of("")));
	assert_stands_on(cursor, "a", "1");
	assert_true(store_cursor_next(cursor));
	assert_stands_on(cursor, "b", "2");
	assert_true(store_cursor_next(cursor));
	assert_stands_on(cursor, "b\x01", "3");
	assert_true(store_cursor_next(cursor));
	assert_stands_on(cursor, "\xff", "4");
	assert_false(store_cursor_next(cursor));
	assert_false(store_cursor_next(cursor)); /* and stays at the end */
	assert_int_equal(store_cursor_status(cursor), 0);
}

static void a_cursor_within_a_prefix_misses_nothing_of_it(void **state)
{
	struct store *store = store_of(state);
	put(store, LOG, "b", "1");
	put(store, LOG, "b\xff\xff", "2");
	put(store, LOG, "\xff\xff", "3");
	_cleanup_(store_cursor_freep) struct store_cursor *within = store_cursor_new_within(store, LOG, bytes_of("b"));
	assert_true(store_cursor_seek(within, bytes_of("b")));
	assert_stands_on(within, "b", "1");
	assert_true(store_cursor_next(within));
	assert_stands_on(within, "b\xff\xff", "2");
	_cleanup_(store_cursor_freep) struct store_cursor *last = store_cursor_new_within(store, LOG, bytes_of("\xff"));
	assert_true(store_cursor_seek(last, bytes_of("\xff")));
	assert_stands_on(last, "\xff\xff", "3");
}

static void a_cursor_goes_from_one_prefix_to_another_and_back(void **state)
{
	struct store *store = store_of(state);
	put(store, LOG, "a1", "1");
	put(store, LOG, "b1", "2");
	put(store, LOG, "b2", "3");
	put(store, LOG, "c1", "4");
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new_within(store, LOG, bytes_of("a"));
	for (int times = 0; times < 2; times++) {
		store_cursor_confine(cursor, bytes_of("c"));
		assert_true(store_cursor_seek(cursor, bytes_of("c")));
		assert_stands_on(cursor, "c1", "4");
		store_cursor_confine(cursor, bytes_of("b"));
		assert_true(store_cursor_seek(cursor, bytes_of("b")));
		assert_stands_on(cursor, "b1", "2");
		assert_true(store_cursor_next(cursor));
		assert_stands_on(cursor, "b2", "3");
		store_cursor_confine(cursor, bytes_of("a"));
		assert_false(store_cursor_next(cursor)); /* it stands nowhere */
		assert_true(store_cursor_seek(cursor, bytes_of("a")));
		assert_stands_on(cursor, "a1", "1");
	}
	assert_int_equal(store_cursor_status(cursor), 0);
}

static void seeking_goes_at_or_after_and_at_or_before(void **state)
{
	struct store *store = store_of(state);
	put(store, LOG, "b", "2");
	put(store, LOG, "d", "4");
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(store, LOG);
	assert_true(store_cursor_seek(cursor, bytes_of("b")));
	assert_stands_on(cursor, "b", "2");
	assert_true(store_cursor_seek(cursor, bytes_of("c")));
	assert_stands_on(cursor, "d", "4");
	assert_false(store_cursor_seek(cursor, bytes_of("e")));
	assert_true(store_cursor_seek_before(cursor, bytes_of("d")));
	assert_stands_on(cursor, "d", "4");
	assert_true(store_cursor_seek_before(cursor, bytes_of("c")));
	assert_stands_on(cursor, "b", "2");
	assert_false(store_cursor_seek_before(cursor, bytes_of("a")));
	assert_true(store_cursor_last(cursor));
	assert_stands_on(cursor, "d", "4");
	assert_int_equal(store_cursor_status(cursor), 0);
}

static void an_empty_family_has_no_end_to_stand_on(void **state)
{
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(store_of(state), STATE);
	assert_false(store_cursor_next(cursor)); /* it stands nowhere yet */
	assert_false(store_cursor_last(cursor));
	assert_false(store_cursor_seek(cursor, bytes_of("")));
	assert_false(store_cursor_seek_before(cursor, bytes_of("z")));
	assert_int_equal(store_cursor_status(cursor), 0);
}

static void what_a_cursor_stands_on_may_be_deleted_under_it(void **state)
{
	struct store *store = store_of(state);
	put(store, LOG, "a", "1");
	put(store, LOG, "b", "2");
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(store, LOG);
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	assert_true(store_cursor_seek(cursor, bytes_of("a")));
	store_batch_delete(batch, LOG, bytes_of("a"));
	assert_int_equal(store_commit(store, batch, false), 0);
	assert_stands_on(cursor, "a", "1");
	assert_true(store_cursor_next(cursor));
	assert_stands_on(cursor, "b", "2");
}

static void a_cursor_goes_on_from_where_it_stands_while_the_store_changes(void **state)
{
	struct store *store = store_of(state);
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	put(store, LOG, "a", "1");
	store_batch_put(batch, LOG, BYTES("a\0", 2), bytes_of("2")); /* the next key that there can be */
	assert_int_equal(store_commit(store, batch, false), 0);
	put(store, LOG, "b", "3");
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(store, LOG);
	assert_true(store_cursor_seek(cursor, bytes_of("a")));
	put(store, LOG, "a", "changed");
	assert_true(store_cursor_next(cursor));
	assert_true(bytes_equal(store_cursor_key(cursor), BYTES("a\0", 2)));
	put(store, STATE, "a", "of another family");
	assert_true(store_cursor_next(cursor));
	assert_stands_on(cursor, "b", "3");
	put(store, LOG, "a", "changed again");
	assert_false(store_cursor_next(cursor));
}

static void a_range_goes_with_its_start_and_without_its_end(void **state)
{
	struct store *store = store_of(state);
	for (char key[] = "a"; key[0] <= 'f'; key[0]++)
		put(store, LOG, key, "x");
	put(store, STATE, "c", "x");
	assert_int_equal(store_delete_range(store, LOG, bytes_of("b"), bytes_of("e")), 0);
	assert_holds(store, LOG, "a", "x");
	assert_holds(store, LOG, "b", NULL);
	assert_holds(store, LOG, "d", NULL);
	assert_holds(store, LOG, "e", "x");
	assert_holds(store, STATE, "c", "x");
	assert_int_equal(store_delete_range(store, LOG, bytes_of("f"), bytes_of("a")), 0); /* nothing lies between */
	assert_int_equal(store_delete_range(store, LOG, bytes_of("a"), bytes_of("a")), 0);
	assert_int_equal(store_delete_range(store, LOG, bytes_of(""), bytes_of("")), 0);
	assert_holds(store, LOG, "f", "x");
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static void assert_same(struct store *store, const struct sorted_map *model)
{
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(store, LOG);
	bool more = store_cursor_seek(cursor, bytes_of(""));
	for (struct sorted_map_entry *entry = sorted_map_first(model); entry; entry = sorted_map_next(entry)) {
		assert_true(more);
		assert_true(bytes_equal(store_cursor_key(cursor), sorted_map_key(entry)));
		assert_true(bytes_equal(store_cursor_value(cursor), sorted_map_value(entry)));
		more = store_cursor_next(cursor);
	}
	assert_false(more);
	assert_int_equal(store_cursor_status(cursor), 0);
}

static void delete_range_of_both(struct store *store, struct sorted_map *model, uint64_t from, uint64_t to)
{
	uint8_t first[8], last[8];
	put_be64(first, from);
	put_be64(last, to);
	assert_int_equal(store_delete_range(store, LOG, BYTES(first, 8), BYTES(last, 8)), 0);
	for (uint64_t number = from; number < to; number++) {
		uint8_t key[8];
		put_be64(key, number);
		sorted_map_remove(model, BYTES(key, 8));
	}
}

/* Enough bytes to fill write buffers, so that files are written, compacted and dropped in between. */
static void any_history_gives_what_a_sorted_map_gives(void **state)
{
	struct store *store = store_of(state);
	_cleanup_(sorted_map_freep) struct sorted_map *model = sorted_map_new();
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	static char value[2000];
	uint64_t seed = 7;
	for (int step = 0; step < 600; step++) {
		for (int i = 0; i < 10; i++) {
			uint8_t key[8];
			put_be64(key, next_random(&seed) % 500);
			size_t len = next_random(&seed) % sizeof(value);
			memset(value, (int)('a' + next_random(&seed) % 26), sizeof(value));
			if (next_random(&seed) % 4) {
				store_batch_put(batch, LOG, BYTES(key, 8), BYTES(value, len));
				sorted_map_put(model, BYTES(key, 8), BYTES(value, len), 0);
			} else {
				store_batch_delete(batch, LOG, BYTES(key, 8));
				sorted_map_remove(model, BYTES(key, 8));
			}
		}
		assert_int_equal(store_commit(store, batch, step % 50 == 0), 0);
		if (step % 100 == 99) {
			uint64_t from = next_random(&seed) % 500;
			delete_range_of_both(store, model, from, from + next_random(&seed) % 60);
			assert_same(store, model);
		}
	}
	assert_int_equal(store_flush(store), 0);
	assert_same(store, model);
}

#define IN_BOTH(test)                                                                                                  \
	{ "on disk: " #test, test, open_on_disk, close_it, NULL },                                                     \
	{                                                                                                              \
		"in memory: " #test, test, open_in_memory, close_it, NULL                                              \
	}

static void the_size_of_a_range_is_that_of_its_keys_and_values(void **state)
{
	struct store *store = store_of(state);
	uint64_t bytes = 1;
	put(store, LOG, "a", "1");
	put(store, LOG, "bb", "22");
	put(store, LOG, "c", "333");
	put(store, LOG, "d", "4444");
	put(store, STATE, "bb", "of another family");
	assert_int_equal(store_size(store, LOG, bytes_of("bb"), bytes_of("d"), &bytes), 0);
	assert_int_equal(bytes, 2 + 2 + 1 + 3);
	assert_int_equal(store_size(store, LOG, bytes_of(""), bytes_of("z"), &bytes), 0);
	assert_int_equal(bytes, 1 + 1 + 2 + 2 + 1 + 3 + 1 + 4);
	assert_int_equal(store_size(store, LOG, bytes_of("e"), bytes_of("z"), &bytes), 0);
	assert_int_equal(bytes, 0);
}

static void a_store_in_memory_knows_no_disk(void **state)
{
	struct store *store = store_of(state);
	uint64_t free_bytes, total;
	assert_int_equal(store_disk_space(store, &free_bytes, &total), -ENOTSUP);
	assert_int_equal(store_checkpoint(store, "/tmp/no-copy"), -ENOTSUP);
	assert_string_equal(store_why(store), "a store in memory has no copy on disk");
	assert_int_equal(store_flush(store), 0);
	put(store, LOG, "a", "1"); /* a copy that fails leaves the store itself as it was */
	assert_holds(store, LOG, "a", "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_BOTH(a_batch_is_nothing_until_it_is_committed_and_then_all_of_it),
		IN_BOTH(a_cleared_batch_changes_nothing),
		IN_BOTH(the_last_change_of_a_key_in_a_batch_wins),
		IN_BOTH(a_value_is_appended_to_what_the_buffer_has),
		IN_BOTH(empty_values_are_values),
		IN_BOTH(a_cursor_walks_in_the_order_of_bytes),
		IN_BOTH(a_cursor_within_a_prefix_misses_nothing_of_it),
		IN_BOTH(a_cursor_goes_from_one_prefix_to_another_and_back),
		IN_BOTH(seeking_goes_at_or_after_and_at_or_before),
		IN_BOTH(an_empty_family_has_no_end_to_stand_on),
		IN_BOTH(what_a_cursor_stands_on_may_be_deleted_under_it),
		IN_BOTH(a_cursor_goes_on_from_where_it_stands_while_the_store_changes),
		IN_BOTH(a_range_goes_with_its_start_and_without_its_end),
		cmocka_unit_test_setup_teardown(
			the_size_of_a_range_is_that_of_its_keys_and_values, open_in_memory, close_it),
		cmocka_unit_test_setup_teardown(a_store_in_memory_knows_no_disk, open_in_memory, close_it),
		IN_BOTH(any_history_gives_what_a_sorted_map_gives),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
