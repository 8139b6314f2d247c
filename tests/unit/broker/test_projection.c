/* projections: every message of interest, in log order, from the cursor of each */
#include "bus/base/text.h"
#include "bus/broker/core.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t next_seq(struct peer *peer)
{
	struct item *item = peer_projection(peer);

	return item ? item->down.what.projection.seq : 0;
}

static void every_instance_sees_every_message_in_log_order(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	struct peer *one = peer_new(desk, "reader", "1"), *other = peer_new(desk, "reader", "2");

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(one, "run", 0);
	SAID(talker, .topic = "work");
	SAID(talker, .topic = "fact");
	peer_hello(other, "run", 0);
	SAID(talker, .topic = "raw");
	for (uint64_t seq = 1; seq <= 3; seq++) {
		assert_int_equal(next_seq(one), seq);
		assert_int_equal(next_seq(other), seq);
	}
	desk_close(desk);
}

static void a_session_goes_on_from_its_cursor(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *reader = peer_new(desk, "reader", "r");

	(void)state;
	peer_hello(talker, "run", 0);
	for (int i = 0; i < 5; i++)
		SAID(talker, .topic = "fact");
	peer_hello(reader, "run", 3);
	assert_int_equal(next_seq(reader), 4);
	assert_int_equal(next_seq(reader), 5);
	assert_int_equal(next_seq(reader), 0);
	desk_close(desk);
}

static void progress_is_said_when_there_is_nothing_of_interest(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	const Progress *progress;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	peer_progress(worker);
	for (int i = 0; i < 5; i++)
		SAID(talker, .topic = "row");
	desk_pass(desk, US_PER_S);
	progress = peer_progress(worker);
	assert_non_null(progress);
	assert_int_equal(progress->seq, 5);
	desk_pass(desk, US_PER_S);
	assert_null(peer_progress(worker));
	desk_close(desk);
}

/* It takes no credit: nothing is sent but that word. */
static void who_remembers_nothing_is_told_at_once_how_far_the_log_is(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *gateway = peer_new(desk, "door", "d");
	Hello *hello = calloc(1, sizeof(*hello));
	const Progress *progress;

	(void)state;
	peer_hello(talker, "run", 0);
	for (int i = 0; i < 5; i++)
		SAID(talker, .topic = i % 2 ? "row" : "fact");
	peer_say_hello(gateway, hello);
	progress = peer_progress(gateway);
	assert_non_null(progress);
	assert_int_equal(progress->seq, 5);
	free(hello);
	desk_close(desk);
}

static void projections_have_credit_of_their_own(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	Hello *hello = calloc(1, sizeof(*hello));
	char key[16];

	(void)state;
	peer_hello(talker, "run", 0);
	peer_say_hello(worker, hello);
	assert_int_equal(peer_progress(worker)->seq, 0);
	for (int i = 0; i < 20; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		PUBLISH(talker, .topic = "work", .key = key);
		PUBLISH(talker, .topic = "fact", .key = key);
	}
	peer_credit(worker, 20, 3);
	desk_work(desk);
	assert_int_equal(peer_count(worker, Down_projection_tag), 3);
	assert_int_equal(peer_count(worker, Down_delivery_tag), 20);
	assert_null(peer_progress(worker));
	peer_credit(worker, 0, 100);
	desk_work(desk);
	assert_int_equal(peer_count(worker, Down_projection_tag), 20);
	free(hello);
	desk_close(desk);
}

static struct peer *unhurried_peer(struct desk *desk, const char *service)
{
	struct peer *peer = peer_new(desk, service, "u");
	Hello *hello = calloc(1, sizeof(*hello));

	hello->unhurried = true;
	peer_say_hello(peer, hello);
	peer_credit(peer, 100, 100000);
	desk_work(desk);
	free(hello);
	return peer;
}

static void who_is_in_no_hurry_gets_projections_together(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *reader = unhurried_peer(desk, "reader");
	uint64_t frames = reader->down_number;

	(void)state;
	peer_hello(talker, "run", 0);
	for (int i = 0; i < 3; i++)
		SAID(talker, .topic = "fact");
	assert_int_equal(next_seq(reader), 0);
	desk_pass(desk, 50 * US_PER_MS);
	for (uint64_t seq = 1; seq <= 3; seq++)
		assert_int_equal(next_seq(reader), seq);
	assert_int_equal(reader->down_number, frames + 1);
	for (int i = 0; i < 1000; i++) /* more than is worth waiting with */
		SAID(talker, .topic = "fact", .text = "as long as what an audit says, which tells what was decided");
	assert_int_equal(next_seq(reader), 4);
	desk_close(desk);
}

static void what_somebody_waits_for_takes_gathered_projections_along(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = unhurried_peer(desk, "worker");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "fact");
	assert_int_equal(peer_count(worker, Down_projection_tag), 0);
	SAID(talker, .topic = "work");
	assert_int_equal(next_seq(worker), 1);
	assert_int_equal(peer_delivery(worker)->down.what.delivery.after_seq, 1);
	desk_close(desk);
}

static void a_newcomer_gets_of_compacted_topics_only_the_rows_that_stand(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *reader = peer_new(desk, "reader", "r");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "row", .key = "a", .version = 1);                        /* 1 */
	SAID(talker, .topic = "fact");                                                 /* 2 */
	SAID(talker, .topic = "row", .key = "a", .version = 2);                        /* 3 */
	SAID(talker, .topic = "row", .key = "b", .version = 5);                        /* 4 */
	SAID(talker, .topic = "row", .key = "b", .version = 4);                        /* 5: late, an older one */
	SAID(talker, .topic = "row.end", .key = "a", .version = 2, .tombstone = true); /* 6 */
	peer_hello(reader, "run", 0);
	SAID(talker, .topic = "row", .key = "a", .version = 1); /* 7 */
	assert_int_equal(next_seq(reader), 2);
	assert_int_equal(next_seq(reader), 4);
	assert_int_equal(next_seq(reader), 6);
	assert_int_equal(next_seq(reader), 7);
	assert_int_equal(next_seq(reader), 0);
	desk_close(desk);
}

static void a_newcomer_gets_no_row_of_a_topic_that_it_does_not_remember(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *half = peer_new(desk, "half", "h");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "row", .key = "a", .version = 1);
	SAID(talker, .topic = "row", .key = "b", .version = 1);
	SAID(talker, .topic = "row.end", .key = "a", .version = 2, .tombstone = true);
	peer_hello(half, "run", 0);
	assert_int_equal(next_seq(half), 2);
	assert_int_equal(next_seq(half), 0);
	assert_int_equal(peer_progress(half)->seq, 3);
	desk_close(desk);
}

static void a_row_that_changes_while_a_newcomer_reads_reaches_it_once(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *reader = peer_new(desk, "reader", "r");
	Hello *hello = calloc(1, sizeof(*hello));

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "row", .key = "a", .version = 1);
	SAID(talker, .topic = "row", .key = "b", .version = 1);
	peer_say_hello(reader, hello);
	SAID(talker, .topic = "row", .key = "b", .version = 2);
	desk_pass(desk, US_PER_S);
	peer_credit(reader, 0, 100);
	desk_work(desk);
	assert_int_equal(next_seq(reader), 1);
	assert_int_equal(next_seq(reader), 3);
	assert_int_equal(next_seq(reader), 0);
	free(hello);
	desk_close(desk);
}

enum { ROWS = 5000, AT_ONCE = 1000 };

/* In an order of their keys that is not the one of their numbers; a plain message after each hundred. */
static void say_many_rows(struct desk *desk, struct peer *talker)
{
	char key[16];

	for (int i = 0; i < ROWS; i++) {
		snprintf(key, sizeof(key), "%d", i * 7919 % ROWS);
		PUBLISH(talker, .topic = i % 100 == 99 ? "fact" : "row", .key = key, .version = 1);
		if (i % 500 == 0)
			desk_work(desk);
	}
	desk_pass(desk, US_PER_S);
}

static void assert_all_rows_in_order(struct peer *reader)
{
	for (uint64_t seq = 1; seq <= ROWS; seq++)
		assert_int_equal(next_seq(reader), seq);
	assert_int_equal(next_seq(reader), 0);
}

static void a_newcomer_with_many_rows_does_not_hold_up_the_others(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *reader = peer_new(desk, "reader", "r");
	Hello *hello = calloc(1, sizeof(*hello));
	Confirm confirm;
	int passes = 0, count = 0;

	(void)state;
	peer_hello(talker, "run", 0);
	say_many_rows(desk, talker);
	peer_say_hello(reader, hello);
	peer_credit(reader, 0, 2 * ROWS);
	while (count < ROWS) {
		uint64_t request = PUBLISH(talker, .topic = "work");

		int64_t wait_us;

		assert_int_equal(broker_commit(desk->broker), 0);
		wait_us = broker_tick(desk->broker);
		assert_true(peer_confirm(talker, request, &confirm));
		assert_true(peer_count(reader, Down_projection_tag) <= count + AT_ONCE);
		count = peer_count(reader, Down_projection_tag);
		assert_true(wait_us == 0 || count >= ROWS); /* the rest follows at once */
		assert_true(++passes < ROWS);
	}
	desk_work(desk);
	for (uint64_t seq = 1; seq <= ROWS + (uint64_t)passes; seq++)
		assert_int_equal(next_seq(reader), seq);
	free(hello);
	desk_close(desk);
}

static void more_rows_than_fit_into_the_index_come_in_order_as_well(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *reader = peer_new(desk, "reader", "r");

	(void)state;
	peer_hello(talker, "run", 0);
	say_many_rows(desk, talker);
	desk->broker->settings.backfill_bytes = 20000;
	peer_hello(reader, "run", 0);
	assert_all_rows_in_order(reader);
	desk_close(desk);
}

static void rows_that_a_newcomer_does_not_remember_take_no_round_of_their_own(void **state)
{
	enum {
		TICKS_MOST = 20
	}; /* a walk through all rows takes five; the index would be full of others' rows a dozen times */
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *half = peer_new(desk, "half", "h");
	Hello *hello = calloc(1, sizeof(*hello));
	char key[16];

	(void)state;
	peer_hello(talker, "run", 0);
	for (int i = 0; i < ROWS; i++) {
		snprintf(key, sizeof(key), "%d", i * 7919 % ROWS);
		PUBLISH(talker, .topic = "row.end", .key = key, .version = 1, .tombstone = true);
		if (i % 500 == 0)
			desk_work(desk);
	}
	SAID(talker, .topic = "row", .key = "last", .version = 1);
	desk_pass(desk, US_PER_S);
	desk->broker->settings.backfill_bytes = 20000;
	peer_say_hello(half, hello);
	peer_credit(half, 0, 2 * ROWS);
	for (int tick = 0; tick < TICKS_MOST && peer_count(half, Down_projection_tag) == 0; tick++) {
		assert_int_equal(broker_commit(desk->broker), 0);
		broker_tick(desk->broker);
	}
	assert_int_equal(next_seq(half), ROWS + 1);
	free(hello);
	desk_close(desk);
}

static void what_left_the_memory_is_read_from_the_store(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *reader = peer_new(desk, "reader", "r");

	(void)state;
	peer_hello(talker, "run", 0);
	for (int i = 0; i < 2000; i++) {
		PUBLISH(talker, .topic = i % 3 == 0 ? "raw" : i % 3 == 1 ? "fact" : "claim", .claim = i % 3 == 2);
		if (i % 50 == 0)
			desk_work(desk);
	}
	desk_work(desk);
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	peer_hello(reader, "run", 0);
	for (uint64_t seq = 1; seq <= 2000; seq++)
		assert_int_equal(next_seq(reader), seq);
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instance_sees_every_message_in_log_order),
		cmocka_unit_test(a_session_goes_on_from_its_cursor),
		cmocka_unit_test(progress_is_said_when_there_is_nothing_of_interest),
		cmocka_unit_test(who_remembers_nothing_is_told_at_once_how_far_the_log_is),
		cmocka_unit_test(projections_have_credit_of_their_own),
		cmocka_unit_test(who_is_in_no_hurry_gets_projections_together),
		cmocka_unit_test(what_somebody_waits_for_takes_gathered_projections_along),
		cmocka_unit_test(a_newcomer_gets_of_compacted_topics_only_the_rows_that_stand),
		cmocka_unit_test(a_newcomer_gets_no_row_of_a_topic_that_it_does_not_remember),
		cmocka_unit_test(a_row_that_changes_while_a_newcomer_reads_reaches_it_once),
		cmocka_unit_test(a_newcomer_with_many_rows_does_not_hold_up_the_others),
		cmocka_unit_test(rows_that_a_newcomer_does_not_remember_take_no_round_of_their_own),
		cmocka_unit_test(more_rows_than_fit_into_the_index_come_in_order_as_well),
		cmocka_unit_test(what_left_the_memory_is_read_from_the_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
