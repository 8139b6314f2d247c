/*
 * test_state.c: what a read sees of three layers, and what a dropped turn leaves behind
 */
#include "bus.pb.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/state.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <pb_encode.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct state *new_state(struct store **ret_kept)
{
	struct store *store = NULL;

	assert_int_equal(store_open_memory(&runtime_store_options, &store), 0);
	if (ret_kept)
		*ret_kept = store_share_memory(store);
	return state_new(&store);
}

static uint64_t number(const struct state *state, const char *key)
{
	return state_number(state, "t", "shop", key);
}

static void put(struct state *state, const char *key, uint64_t value)
{
	state_put_number(state, "t", "shop", key, value);
}

static void a_projections_fold_never_sees_the_overlay(void **context)
{
	struct state *state = new_state(NULL);

	(void)context;
	put(state, "a", 1);
	state_write_turn(state, 1);
	put(state, "a", 2);
	assert_int_equal(number(state, "a"), 2);
	state_write_projected(state);
	assert_int_equal(number(state, "a"), 1);
	state_free(state);
}

static void dropping_a_turn_keeps_what_a_later_one_wrote(void **context)
{
	struct state *state = new_state(NULL);

	(void)context;
	state_write_turn(state, 1);
	put(state, "both", 1);
	put(state, "first", 1);
	state_write_turn(state, 2);
	put(state, "both", 2);
	state_drop_turn(state, 1);
	assert_int_equal(number(state, "both"), 2);
	assert_false(state_has(state, "t", "shop", "first"));
	state_drop_turn(state, 2);
	assert_false(state_has(state, "t", "shop", "both"));
	state_free(state);
}

static void a_row_deleted_in_a_turn_is_back_when_the_turn_is_dropped(void **context)
{
	struct state *state = new_state(NULL);

	(void)context;
	put(state, "a", 1);
	assert_int_equal(state_flush(state), 0);
	state_write_turn(state, 1);
	state_delete(state, "t", "shop", "a");
	assert_false(state_has(state, "t", "shop", "a"));
	state_drop_turns(state);
	assert_int_equal(number(state, "a"), 1);
	state_free(state);
}

/* The largest row is kept in each layer. A larger one is refused once, for the turn that would have written it, and changes nothing. */
static void a_row_holds_so_much_and_a_larger_one_is_refused_in_words(void **context)
{
	struct state *state = new_state(NULL);
	char *value = memory_new(STATE_ROW_BYTES_MAX + 1), why[200] = "";
	struct buffer found = { 0 };

	(void)context;
	state_put_bytes(state, "t", "shop", "a", BYTES(value, STATE_ROW_BYTES_MAX));
	assert_false(state_take_refused(state, 0, why, sizeof(why)));
	assert_int_equal(state_flush(state), 0);
	state_put_bytes(state, "t", "shop", "a", BYTES(value, STATE_ROW_BYTES_MAX + 1));
	assert_false(state_take_refused(state, 1, why, sizeof(why)));
	assert_true(state_take_refused(state, 0, why, sizeof(why)));
	assert_string_equal(why, "a row of table t would have 1048577 bytes, and a row holds at most 1048576");
	assert_false(state_take_refused(state, 0, why, sizeof(why)));
	assert_int_equal(state_flush(state), 0);
	assert_true(state_get_bytes(state, "t", "shop", "a", &found));
	assert_int_equal(found.len, STATE_ROW_BYTES_MAX);
	state_write_turn(state, 1);
	state_put_bytes(state, "t", "shop", "b", BYTES(value, STATE_ROW_BYTES_MAX + 1));
	assert_false(state_has(state, "t", "shop", "b"));
	assert_false(state_take_refused(state, 0, why, sizeof(why)));
	assert_true(state_take_refused(state, 1, why, sizeof(why)));
	state_drop_turn(state, 1);
	state_free(state);
	buffer_free(&found);
	free(value);
}

static bool note(const char *shop, const char *key, struct bytes value, void *context)
{
	buffer_printf(context, "%s/%s=%llu ", shop, key, (unsigned long long)get_be64(value.data));
	return true;
}

static void each_merges_all_layers_in_order(void **context)
{
	struct state *state = new_state(NULL);
	struct buffer seen = { 0 };

	(void)context;
	put(state, "b", 1);
	put(state, "d", 1);
	put(state, "e", 1);
	assert_int_equal(state_flush(state), 0);
	put(state, "a", 2);
	put(state, "d", 2);
	state_put_number(state, "t", "other", "z", 2);
	state_put_number(state, "tt", "shop", "not of this table", 9);
	state_write_turn(state, 1);
	put(state, "c", 3);
	put(state, "d", 3);
	state_delete(state, "t", "shop", "e");
	state_each(state, "t", NULL, NULL, note, &seen);
	assert_string_equal(buffer_text(&seen), "other/z=2 shop/a=2 shop/b=1 shop/c=3 shop/d=3 ");
	buffer_clear(&seen);
	state_each(state, "t", "shop", "c", note, &seen);
	assert_string_equal(buffer_text(&seen), "shop/c=3 ");
	buffer_free(&seen);
	state_free(state);
}

static void note_shop(const char *shop, void *context)
{
	buffer_printf(context, "[%s] ", shop);
}

static void each_shop_that_has_a_row_comes_once(void **context)
{
	struct state *state = new_state(NULL);
	struct buffer seen = { 0 };

	(void)context;
	state_each_shop(state, "t", note_shop, &seen);
	assert_int_equal(seen.len, 0);
	state_put_number(state, "t", "", "of no shop", 1);
	state_put_number(state, "t", "gone", "z", 1);
	put(state, "a", 1);
	put(state, "b", 1);
	assert_int_equal(state_flush(state), 0);
	put(state, "c", 1);
	state_put_number(state, "t", "other", "z", 1);
	state_delete(state, "t", "gone", "z");
	state_put_number(state, "tt", "elsewhere", "z", 1);
	state_each_shop(state, "t", note_shop, &seen);
	assert_string_equal(buffer_text(&seen), "[] [other] [shop] ");
	buffer_free(&seen);
	state_free(state);
}

static void what_was_not_flushed_falls_back_with_its_cursor(void **context)
{
	struct store *kept, *again;
	struct state *state = new_state(&kept);

	(void)context;
	put(state, "a", 1);
	state_pass(state, 10);
	state_meet(state, "log", 3, 10);
	assert_int_equal(state_flush(state), 0);
	put(state, "a", 2);
	state_pass(state, 20);
	state_free(state);
	again = store_share_memory(kept);
	state = state_new(&again);
	assert_int_equal(number(state, "a"), 1);
	assert_int_equal(state_cursor(state), 10);
	assert_string_equal(state_log_id(state), "log");
	assert_int_equal(state_opening(state), 3);
	state_free(state);
	store_close(kept);
}

static void hear_forgotten(struct state *state, const Forgotten *what)
{
	uint8_t payload[Forgotten_size];
	pb_ostream_t stream = pb_ostream_from_buffer(payload, sizeof(payload));

	assert_true(pb_encode(&stream, Forgotten_fields, what));
	assert_int_equal(state_hear_forgotten(state, BYTES(payload, stream.bytes_written)), 0);
}

static void put_as(struct state *state, enum row_life life, uint64_t seq, const char *key)
{
	state_write_fact(state, life, seq);
	put(state, key, seq);
}

static int rows_in(struct store *store)
{
	struct store_cursor *cursor = store_cursor_new(store, 0);
	int rows = 0;

	for (bool more = store_cursor_seek(cursor, bytes_of("")); more; more = store_cursor_next(cursor))
		rows++;
	store_cursor_free(cursor);
	return rows;
}

static const char *names(const struct state *state, struct buffer *ret)
{
	buffer_clear(ret);
	state_each(state, "t", "shop", NULL, note, ret);
	return buffer_text(ret);
}

/* Five kinds of rows, each of an old fact and of a new one. */
static void put_old_and_new(struct state *state)
{
	for (uint64_t seq = 1; seq <= 6; seq += 5) {
		put_as(state, ROW_STAYS, seq, seq == 1 ? "stays-1" : "stays-6");
		put_as(state, ROW_STANDS, seq, seq == 1 ? "stands-1" : "stands-6");
		put_as(state, ROW_ENDED, seq, seq == 1 ? "ended-1" : "ended-6");
		put_as(state, ROW_FACT, seq, seq == 1 ? "fact-1" : "fact-6");
		put_as(state, ROW_RAW, seq, seq == 1 ? "raw-1" : "raw-6");
	}
	state_pass(state, 6);
}

static void what_the_log_has_forgotten_reads_as_if_it_were_not_there(void **context)
{
	static const char left[] = "shop/ended-6=6 shop/fact-6=6 shop/raw-6=6 shop/stands-1=1 shop/stands-6=6 "
				   "shop/stays-1=1 shop/stays-6=6 ";
	struct store *kept;
	struct state *state = new_state(&kept);
	struct buffer seen = { 0 };

	(void)context;
	put_old_and_new(state);
	assert_int_equal(state_flush(state), 0);
	hear_forgotten(state, &(Forgotten){ .raw_before = 5 });
	assert_false(state_has(state, "t", "shop", "raw-1"));
	assert_true(state_has(state, "t", "shop", "fact-1"));
	hear_forgotten(state, &(Forgotten){ .raw_before = 5, .facts_before = 5, .rows_before = 5 });
	assert_string_equal(names(state, &seen), left);
	assert_int_equal(rows_in(kept), 10);
	assert_int_equal(state_sweep(state), 0); /* nothing: the store does not know yet why */
	assert_int_equal(rows_in(kept), 10);
	assert_int_equal(state_flush(state), 0);
	assert_int_equal(state_sweep(state), 0);
	assert_false(state_is_sweeping(state));
	assert_int_equal(rows_in(kept), 7);
	assert_string_equal(names(state, &seen), left);
	put_as(state, ROW_RAW, 4, "raw-1"); /* only what is newer comes back */
	assert_false(state_has(state, "t", "shop", "raw-1"));
	put_as(state, ROW_RAW, 7, "raw-1");
	assert_int_equal(number(state, "raw-1"), 7);
	buffer_free(&seen);
	state_free(state);
	store_close(kept);
}

static void what_is_forgotten_stays_so_over_a_restart(void **context)
{
	struct store *kept, *again;
	struct state *state = new_state(&kept);
	struct buffer seen = { 0 };

	(void)context;
	put_old_and_new(state);
	hear_forgotten(
		state, &(Forgotten){ .rows_before = 5, .ends_from = 4 }); /* what stands from before 4 ended, too */
	assert_int_equal(state_flush(state), 0);
	state_free(state);
	again = store_share_memory(kept);
	state = state_new(&again);
	assert_false(state_is_unmarked(state));
	assert_string_equal(names(state, &seen),
		"shop/ended-6=6 shop/fact-1=1 shop/fact-6=6 shop/raw-1=1 shop/raw-6=6 shop/stands-6=6 shop/stays-1=1 "
		"shop/stays-6=6 ");
	buffer_free(&seen);
	state_free(state);
	store_close(kept);
}

/* What an older program folded can be read (a restore learns from it), and is folded anew by whoever goes on from it. */
static void rows_of_an_older_program_can_be_read(void **context)
{
	static const uint8_t cursor[8] = { 0, 0, 0, 0, 0, 0, 0, 9 }, value[8] = { 0, 0, 0, 0, 0, 0, 0, 5 };
	struct store *kept, *again;
	struct store_batch *batch;
	struct state *state;

	(void)context;
	assert_int_equal(store_open_memory(&runtime_store_options, &kept), 0);
	batch = store_batch_new(kept);
	store_batch_put(batch, 0, BYTES("t\0shop\0a", 8), BYTES(value, 8));
	store_batch_put(batch, 1, bytes_of("cursor"), BYTES(cursor, 8));
	assert_int_equal(store_commit(kept, batch, false), 0);
	store_batch_free(batch);
	again = store_share_memory(kept);
	state = state_new(&again);
	assert_true(state_is_unmarked(state));
	assert_int_equal(number(state, "a"), 5);
	assert_int_equal(state_forget(state), 0);
	assert_false(state_has(state, "t", "shop", "a"));
	assert_false(state_is_unmarked(state));
	state_free(state);
	store_close(kept);
}

static void forgetting_keeps_what_the_peer_remembers_of_the_log(void **context)
{
	struct state *state = new_state(NULL);

	(void)context;
	put(state, "a", 1);
	state_pass(state, 10);
	state_meet(state, "log", 3, 12);
	assert_int_equal(state_flush(state), 0);
	assert_int_equal(state_forget(state), 0);
	assert_false(state_has(state, "t", "shop", "a"));
	assert_int_equal(state_cursor(state), 0);
	assert_int_equal(state_remembered(state), 12);
	assert_int_equal(state_opening(state), 3);
	assert_string_equal(state_log_id(state), "log");
	state_free(state);
}

/* What its process would empty at its start, as an erasure left it, counts as empty, and stays as it is. */
static void a_folder_without_a_cursor_is_read_as_empty(void **context)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	static const uint8_t value[8] = { [7] = 5 };
	struct store_batch *batch;
	struct store *store;
	struct state *state;
	char why[512];

	(void)context;
	assert_int_equal(store_open(folder.path, &runtime_store_options, &store, why), 0);
	batch = store_batch_new(store);
	store_batch_put(batch, 0, BYTES("t\0shop\0a", 8), BYTES(value, 8));
	assert_int_equal(store_commit(store, batch, false), 0);
	store_batch_free(batch);
	store_close(store);
	assert_int_equal(state_open_folder(folder.path, &state, why), 0);
	assert_false(state_has(state, "t", "shop", "a"));
	state_close_folder(state);
	assert_int_equal(store_open_read_only(folder.path, &runtime_store_options, &store, why), 0);
	assert_false(state_has_cursor(store));
	store_close(store);
}

/* Its process was ended while it made the store: one of its two families is there. */
static void a_folder_that_was_never_finished_is_read_as_empty(void **context)
{
	static const char *const first[] = { "rows", NULL };
	_cleanup_(folder_remove) struct folder folder = folder_new();
	const struct store_options begun = {
		.families = first, .cache_bytes = 1 << 20, .write_buffer_bytes = 1 << 20, .falls_back = true
	};
	struct store *store;
	struct state *state;
	char why[512] = "";

	(void)context;
	assert_int_equal(store_open(folder.path, &begun, &store, why), 0);
	store_close(store);
	if (state_open_folder(folder.path, &state, why) < 0)
		fail_msg("%s", why);
	assert_int_equal(state_cursor(state), 0);
	state_close_folder(state);
}

/* Cut where the MANIFEST names the one family and not yet the other: what was committed is in the write-ahead log. */
static void a_folder_whose_manifest_lost_its_end_is_not_taken_for_one_never_finished(void **context)
{
	static const uint8_t value[8] = { [7] = 5 };
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[200], name[40], why[512];
	struct store_batch *batch;
	struct store *store;
	struct state *state;
	FILE *current;

	(void)context;
	assert_int_equal(store_open(folder.path, &runtime_store_options, &store, why), 0);
	batch = store_batch_new(store);
	store_batch_put(batch, 0, BYTES("t\0shop\0a", 8), BYTES(value, 8));
	assert_int_equal(store_commit(store, batch, true), 0);
	store_batch_free(batch);
	store_close(store);
	FOLDER_PATH(path, folder, "CURRENT");
	current = fopen(path, "re");
	assert_non_null(current);
	assert_int_equal(fscanf(current, "%39s", name), 1);
	fclose(current);
	FOLDER_PATH(path, folder, name);
	assert_int_equal(truncate(path, 120), 0);
	assert_int_equal(state_open_folder(folder.path, &state, why), -EUCLEAN);
	assert_non_null(strstr(why, "Column family not found"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_projections_fold_never_sees_the_overlay),
		cmocka_unit_test(dropping_a_turn_keeps_what_a_later_one_wrote),
		cmocka_unit_test(a_row_holds_so_much_and_a_larger_one_is_refused_in_words),
		cmocka_unit_test(a_row_deleted_in_a_turn_is_back_when_the_turn_is_dropped),
		cmocka_unit_test(each_merges_all_layers_in_order),
		cmocka_unit_test(each_shop_that_has_a_row_comes_once),
		cmocka_unit_test(what_was_not_flushed_falls_back_with_its_cursor),
		cmocka_unit_test(what_the_log_has_forgotten_reads_as_if_it_were_not_there),
		cmocka_unit_test(what_is_forgotten_stays_so_over_a_restart),
		cmocka_unit_test(rows_of_an_older_program_can_be_read),
		cmocka_unit_test(forgetting_keeps_what_the_peer_remembers_of_the_log),
		cmocka_unit_test(a_folder_without_a_cursor_is_read_as_empty),
		cmocka_unit_test(a_folder_that_was_never_finished_is_read_as_empty),
		cmocka_unit_test(a_folder_whose_manifest_lost_its_end_is_not_taken_for_one_never_finished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
