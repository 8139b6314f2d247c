/*
 * test_refusing.c: one failure of an engine, and nothing is done any more: what was written may or may not be there
 *
 * The engine is made here: a disk that fails at just this call, and then would work again, is not to be had.
 */
#include "bus/store/engine.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <string.h>

enum call { COMMIT, FLUSH, DELETE_RANGE, PURGE, REOPEN, CHECKPOINT, GET, SIZE, CALLS };

static int results[CALLS], asked[CALLS];
static bool was_synced;

static int answer(enum call call)
{
	asked[call]++;
	return results[call];
}

static int engine_commit(struct store *store, struct store_batch *batch, bool sync)
{
	(void)store, (void)batch;
	was_synced = sync;
	return answer(COMMIT);
}

static int engine_flush(struct store *store)
{
	(void)store;
	return answer(FLUSH);
}

static int engine_delete_range(struct store *store, int family, struct bytes from, struct bytes to)
{
	(void)store, (void)family, (void)from, (void)to;
	return answer(DELETE_RANGE);
}

static int engine_purge(struct store *store, const struct store_range *ranges, size_t count)
{
	(void)store, (void)ranges, (void)count;
	return answer(PURGE);
}

static int engine_reopen(struct store *store)
{
	(void)store;
	return answer(REOPEN);
}

static int engine_checkpoint(struct store *store, const char *path)
{
	(void)store, (void)path;
	return answer(CHECKPOINT);
}

static int engine_get(struct store *store, int family, struct bytes key, struct buffer *ret)
{
	(void)store, (void)family, (void)key, (void)ret;
	return answer(GET);
}

static int engine_size(struct store *store, int family, struct bytes from, struct bytes to, uint64_t *ret_bytes)
{
	(void)store, (void)family, (void)from, (void)to, (void)ret_bytes;
	return answer(SIZE);
}

static void engine_batch_clear(struct store_batch *batch)
{
	(void)batch;
}

static int moves;

static bool engine_seek(struct store_cursor *cursor, struct bytes key)
{
	(void)cursor, (void)key;
	return ++moves;
}

static bool engine_move(struct store_cursor *cursor)
{
	(void)cursor;
	return ++moves;
}

static int engine_cursor_status(const struct store_cursor *cursor)
{
	(void)cursor;
	return 0;
}

static const struct store_engine engine = { .commit = engine_commit,
	.flush = engine_flush,
	.delete_range = engine_delete_range,
	.purge = engine_purge,
	.reopen = engine_reopen,
	.checkpoint = engine_checkpoint,
	.get = engine_get,
	.size = engine_size,
	.batch_clear = engine_batch_clear,
	.cursor_seek = engine_seek,
	.cursor_seek_before = engine_seek,
	.cursor_last = engine_move,
	.cursor_next = engine_move,
	.cursor_status = engine_cursor_status };

static struct store store;
static struct store_batch batch;

static void begin(void)
{
	store = (struct store){ .engine = &engine, .family_count = 1 };
	batch = (struct store_batch){ .store = &store, .count = 3 };
	memset(results, 0, sizeof(results));
	memset(asked, 0, sizeof(asked));
	moves = 0;
}

static int do_it(enum call call)
{
	struct buffer found = { 0 };
	uint64_t bytes;

	switch (call) {
	case COMMIT:
		return store_commit(&store, &batch, true);
	case FLUSH:
		return store_flush(&store);
	case DELETE_RANGE:
		return store_delete_range(&store, 0, bytes_of("a"), bytes_of("b"));
	case PURGE:
		return store_purge(&store, NULL, 0);
	case REOPEN:
		return store_reopen(&store);
	case CHECKPOINT:
		return store_checkpoint(&store, "/copy");
	case GET:
		return store_get(&store, 0, bytes_of("a"), &found);
	case SIZE:
		return store_size(&store, 0, bytes_of("a"), bytes_of("b"), &bytes);
	case CALLS:
		break;
	}
	return 0;
}

static void expect_all_refused(void)
{
	struct store_cursor cursor = { .store = &store, .valid = true };

	memset(results, 0, sizeof(results));
	memset(asked, 0, sizeof(asked));
	moves = 0;
	for (int call = 0; call < CALLS; call++) {
		assert_int_equal(do_it((enum call)call), -EIO);
		assert_int_equal(asked[call], 0);
	}
	assert_false(store_cursor_seek(&cursor, bytes_of("a")));
	assert_false(store_cursor_seek_before(&cursor, bytes_of("a")));
	assert_false(store_cursor_last(&cursor));
	cursor.valid = true;
	assert_false(store_cursor_next(&cursor));
	assert_int_equal(store_cursor_status(&cursor), -EIO);
	assert_int_equal(moves, 0);
}

static void after_a_change_that_failed_nothing_is_asked_of_the_engine_any_more(void **state)
{
	static const enum call changes[] = { COMMIT, FLUSH, DELETE_RANGE, PURGE, REOPEN };
	static const struct {
		int error, told;
	} errors[] = { { -EIO, -EIO }, { -ENOSPC, -ENOSPC }, { -EUCLEAN, -EIO }, { -EBUSY, -EIO } };

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		for (size_t j = 0; j < sizeof(errors) / sizeof(errors[0]); j++) {
			begin();
			results[changes[i]] = errors[j].error;
			assert_int_equal(do_it(changes[i]), errors[j].told);
			assert_int_equal(asked[changes[i]], 1);
			assert_int_equal(batch.count, 3); /* it is not known to be there */
			expect_all_refused();
		}
	}
}

/* A copy that fails, a key that is not there, or what an engine cannot do, leaves the store as it was. */
static void what_changes_nothing_may_fail(void **state)
{
	static const struct {
		enum call call;
		int error;
	} cases[] = { { CHECKPOINT, -EIO }, { CHECKPOINT, -ENOSPC }, { GET, -ENOENT }, { GET, -EIO }, { SIZE, -EIO },
		{ FLUSH, -ENOTSUP }, { REOPEN, -ENOTSUP } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		results[cases[i].call] = cases[i].error;
		assert_int_equal(do_it(cases[i].call), cases[i].error);
		memset(results, 0, sizeof(results));
		for (int call = 0; call < CALLS; call++)
			assert_int_equal(do_it((enum call)call), 0);
	}
}

static void a_commit_is_as_synced_as_it_was_asked_for_and_empties_the_batch(void **state)
{
	(void)state;
	for (int sync = 0; sync < 2; sync++) {
		begin();
		assert_int_equal(store_commit(&store, &batch, sync), 0);
		assert_int_equal(was_synced, sync);
		assert_int_equal(store_batch_count(&batch), 0);
	}
}

static void a_range_of_nothing_is_not_asked_for(void **state)
{
	(void)state;
	begin();
	assert_int_equal(store_delete_range(&store, 0, bytes_of("a"), bytes_of("a")), 0);
	assert_int_equal(store_delete_range(&store, 0, bytes_of("b"), bytes_of("a")), 0);
	assert_int_equal(asked[DELETE_RANGE], 0);
	assert_int_equal(store_delete_range(&store, 0, bytes_of("a"), bytes_of("aa")), 0);
	assert_int_equal(asked[DELETE_RANGE], 1);
}

/* Behind the end there is no next. */
static void a_cursor_that_stands_nowhere_does_not_move_on(void **state)
{
	struct store_cursor cursor = { .store = &store };

	(void)state;
	begin();
	assert_false(store_cursor_next(&cursor));
	assert_int_equal(moves, 0);
	assert_true(store_cursor_seek(&cursor, bytes_of("a")));
	assert_true(store_cursor_next(&cursor));
	assert_int_equal(store_cursor_status(&cursor), 0);
	store_close(NULL);
	store_cursor_free(NULL);
	store_batch_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_change_that_failed_nothing_is_asked_of_the_engine_any_more),
		cmocka_unit_test(what_changes_nothing_may_fail),
		cmocka_unit_test(a_commit_is_as_synced_as_it_was_asked_for_and_empties_the_batch),
		cmocka_unit_test(a_range_of_nothing_is_not_asked_for),
		cmocka_unit_test(a_cursor_that_stands_nowhere_does_not_move_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
