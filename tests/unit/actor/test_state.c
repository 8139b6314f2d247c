/*
 * test_state.c: what a read sees of three layers, and what a dropped turn leaves behind
 */
#include "bus/actor/layers.h"
#include "bus/actor/runtime.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_projections_fold_never_sees_the_overlay),
		cmocka_unit_test(dropping_a_turn_keeps_what_a_later_one_wrote),
		cmocka_unit_test(a_row_deleted_in_a_turn_is_back_when_the_turn_is_dropped),
		cmocka_unit_test(each_merges_all_layers_in_order),
		cmocka_unit_test(what_was_not_flushed_falls_back_with_its_cursor),
		cmocka_unit_test(forgetting_keeps_what_the_peer_remembers_of_the_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
