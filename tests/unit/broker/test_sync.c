/* the sync: one for all that has arrived, and what happens when it fails */
#include "bus/store/engine.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* The store's engine, with its commit counted, or failing. */
static struct store_engine watched;
static int (*real_commit)(struct store *store, struct store_batch *batch, bool sync);
static int (*real_get)(struct store *store, int family, struct bytes key, struct buffer *ret);
static int commits, syncs;
static bool fails, is_unreadable;

static int watched_commit(struct store *store, struct store_batch *batch, bool sync)
{
	commits++;
	syncs += sync;
	return fails && sync ? -EIO : real_commit(store, batch, sync);
}

static int watched_get(struct store *store, int family, struct bytes key, struct buffer *ret)
{
	return is_unreadable ? -EIO : real_get(store, family, key, ret);
}

static struct desk *watched_desk(void)
{
	struct desk *desk = desk_open();

	watched = *desk->store->engine;
	real_commit = watched.commit;
	watched.commit = watched_commit;
	real_get = watched.get;
	watched.get = watched_get;
	desk->store->engine = &watched;
	commits = syncs = 0;
	fails = is_unreadable = false;
	return desk;
}

static void what_has_arrived_is_synced_at_once(void **state)
{
	struct desk *desk = watched_desk();
	struct peer *talker = peer_new(desk, "talker", "t"), *door = peer_new(desk, "door", "d");

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(door, "run", 0);
	syncs = 0;
	for (int i = 0; i < 50; i++) {
		PUBLISH(talker, .topic = "fact");
		PUBLISH(door, .topic = "raw");
	}
	broker_commit(desk->broker);
	assert_int_equal(syncs, 1);
	assert_int_equal(broker_head(desk->broker), 100);
	assert_int_equal(peer_count(talker, Down_confirm_tag), 50);
	desk_close(desk);
}

static void while_nothing_failed_there_is_nothing_to_say_why(void **state)
{
	struct desk *desk = watched_desk();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "fact");
	desk_pass(desk, US_PER_S);
	assert_int_equal(desk->commit_result, 0);
	assert_string_equal(broker_why(desk->broker), "");
	desk_close(desk);
}

static void nothing_is_synced_when_nothing_was_said(void **state)
{
	struct desk *desk = watched_desk();
	struct peer *reader = peer_new(desk, "reader", "r");

	(void)state;
	peer_hello(reader, "run", 0);
	syncs = 0;
	desk_pass(desk, 5 * US_PER_S);
	assert_int_equal(syncs, 0);
	desk_close(desk);
}

static void a_failed_sync_lets_nothing_out_and_is_final(void **state)
{
	struct desk *desk = watched_desk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	Confirm confirm;
	uint64_t request, again;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	SAID(talker, .topic = "fact", .idem = "known");
	fails = true;
	request = PUBLISH(talker, .topic = "work");
	again = PUBLISH(talker, .topic = "fact", .idem = "known");
	desk_work(desk);
	assert_int_equal(desk->commit_result, -EIO);
	assert_non_null(strstr(broker_why(desk->broker), "commit failed"));
	fails = false;
	desk_work(desk);
	assert_int_equal(desk->commit_result, -EIO);
	assert_false(peer_confirm(talker, request, &confirm));
	assert_false(peer_confirm(talker, again, &confirm));
	assert_null(peer_delivery(worker));
	assert_int_equal(broker_head(desk->broker), 1);
	desk_close(desk);
}

static void a_key_that_cannot_be_read_is_neither_known_nor_new(void **state)
{
	struct desk *desk = watched_desk();
	struct peer *talker = peer_new(desk, "talker", "t");
	Confirm confirm;
	uint64_t request;

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "fact", .idem = "known");
	is_unreadable = true;
	request = PUBLISH(talker, .topic = "fact", .idem = "known");
	desk_work(desk);
	assert_int_equal(desk->commit_result, -EIO);
	assert_false(peer_confirm(talker, request, &confirm));
	assert_int_equal(broker_head(desk->broker), 1);
	desk_close(desk);
}

static void a_row_that_cannot_be_read_is_not_replaced_by_an_older_one(void **state)
{
	struct desk *desk = watched_desk();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "row", .key = "k", .version = 2);
	desk_pass(desk, US_PER_S);
	is_unreadable = true;
	SAID(talker, .topic = "row", .key = "k", .version = 1);
	desk_pass(desk, US_PER_S);
	assert_int_equal(desk->commit_result, -EIO);
	assert_non_null(strstr(broker_why(desk->broker), "could not be read back"));
	desk_close(desk);
}

static void a_fold_that_cannot_be_written_is_a_failed_commit(void **state)
{
	struct desk *desk = watched_desk();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	desk_pass(desk, US_PER_S);
	SAID(talker, .topic = "row", .key = "k", .version = 1);
	fails = true;
	desk_pass(desk, US_PER_S);
	assert_int_equal(desk->commit_result, -EIO);
	assert_non_null(strstr(broker_why(desk->broker), "a commit failed"));
	desk_close(desk);
}

static void every_commit_is_synced_the_fold_too(void **state)
{
	struct desk *desk = watched_desk();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	for (uint64_t i = 1; i <= 5; i++) {
		SAID(talker, .topic = "row", .key = "k", .version = i);
		desk_pass(desk, US_PER_S);
	}
	assert_int_equal(commits, syncs);
	desk_close(desk);
}

static uint64_t folded_on_disk(struct desk *desk)
{
	struct buffer cursor = { 0 };
	uint64_t seq = 0;

	if (store_get(desk->store, 0, bytes_of("folded"), &cursor) == 0)
		seq = get_be64(cursor.data);
	buffer_free(&cursor);
	return seq;
}

static void messages_without_rows_are_folded_over_without_a_sync_of_their_own(void **state)
{
	struct desk *desk = watched_desk();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "row", .key = "k", .version = 1);
	desk_pass(desk, US_PER_S);
	SAID(talker, .topic = "fact");
	SAID(talker, .topic = "fact");
	syncs = 0;
	desk_pass(desk, US_PER_S);
	assert_int_equal(syncs, 0);
	assert_int_equal(folded_on_disk(desk), 1);
	SAID(talker, .topic = "fact");
	assert_int_equal(syncs, 1);
	assert_int_equal(folded_on_disk(desk), 3);
	desk_close(desk);
}

static void a_new_gateway_is_welcomed_only_when_it_is_on_the_disk(void **state)
{
	struct desk *desk = watched_desk();
	struct peer *door = peer_new(desk, "door", "d");

	(void)state;
	fails = true;
	peer_say_hello(door, &(Hello){ 0 });
	assert_false(door->welcomed);
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_arrived_is_synced_at_once),
		cmocka_unit_test(while_nothing_failed_there_is_nothing_to_say_why),
		cmocka_unit_test(nothing_is_synced_when_nothing_was_said),
		cmocka_unit_test(a_failed_sync_lets_nothing_out_and_is_final),
		cmocka_unit_test(a_key_that_cannot_be_read_is_neither_known_nor_new),
		cmocka_unit_test(a_row_that_cannot_be_read_is_not_replaced_by_an_older_one),
		cmocka_unit_test(a_fold_that_cannot_be_written_is_a_failed_commit),
		cmocka_unit_test(every_commit_is_synced_the_fold_too),
		cmocka_unit_test(messages_without_rows_are_folded_over_without_a_sync_of_their_own),
		cmocka_unit_test(a_new_gateway_is_welcomed_only_when_it_is_on_the_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
