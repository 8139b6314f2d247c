/* the log after a restart, and a log that was damaged */
#include "bus/base/text.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LOG_FACT = 2, COLUMN = 4 }; /* families of broker_store_options */

static void start_again(struct desk *desk)
{
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
}

static void what_was_confirmed_is_there_after_a_restart(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *reader = peer_new(desk, "reader", "r");
	char id[40];

	(void)state;
	TEXT_COPY(id, broker_log_id(desk->broker));
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "fact", .idem = "once", .text = "hello");
	start_again(desk);
	assert_string_equal(broker_log_id(desk->broker), id);
	assert_int_equal(broker_head(desk->broker), 1);
	peer_hello(talker, "run", 0);
	assert_int_equal(SAID(talker, .topic = "fact", .idem = "once").kind, CONFIRM_DUPLICATE);
	peer_hello(reader, "run", 0);
	assert_int_equal(peer_projection(reader)->down.what.projection.seq, 1);
	desk_close(desk);
}

static void what_is_done_stays_done_and_what_is_pending_stays_pending(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	Receipt receipt;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	for (int i = 0; i < 3; i++)
		SAID(talker, .topic = "work", .key = i == 0 ? "a" : i == 1 ? "b" : "c");
	peer_delivery(worker);
	receipt = peer_delivery(worker)->down.what.delivery.receipt;
	TURN(worker, &receipt, .kind = VERDICT_DONE);
	start_again(desk);
	desk_pass(desk, 4 * US_PER_S);
	peer_hello(worker, "run", 0);
	assert_int_equal(peer_delivery(worker)->down.what.delivery.receipt.seq, 1);
	assert_int_equal(peer_delivery(worker)->down.what.delivery.receipt.seq, 3);
	assert_null(peer_delivery(worker));
	desk_close(desk);
}

static void failures_and_delays_outlive_a_restart(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct item *item;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	SAID(talker, .topic = "work");
	item = peer_delivery(worker);
	TURN(worker, &item->down.what.delivery.receipt, .kind = VERDICT_RETURN, .failed = true,
		.delay_us = US_PER_MINUTE);
	start_again(desk);
	peer_hello(worker, "run", 0);
	desk_pass(desk, 50 * US_PER_S);
	assert_null(peer_delivery(worker));
	desk_pass(desk, 11 * US_PER_S);
	item = peer_delivery(worker);
	assert_non_null(item);
	assert_int_equal(item->down.what.delivery.failures, 1);
	desk_close(desk);
}

static void after_a_restart_old_messages_wait_for_those_who_may_hold_them(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct peer *holder = peer_new(desk, "worker", "holder");
	Hello *hello = calloc(1, sizeof(*hello));
	Receipt receipt = { .queue = "worker", .seq = 1, .attempt = 3 };

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "work");
	start_again(desk);
	peer_hello(worker, "run", 0);
	desk_pass(desk, 2 * US_PER_S);
	assert_null(peer_delivery(worker));
	hello->held_count = 1;
	TEXT_COPY(hello->held[0].queue, "worker");
	hello->held[0].seq = 1;
	hello->held[0].attempt = 3;
	peer_say_hello(holder, hello);
	desk_pass(desk, 5 * US_PER_S);
	assert_null(peer_delivery(worker));
	receipt.epoch = holder->epoch;
	assert_int_equal(TURN(holder, &receipt, .kind = VERDICT_DONE).kind, CONFIRM_FRESH);
	free(hello);
	desk_close(desk);
}

static void a_message_that_was_put_off_once_may_be_held_over_a_restart(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	Hello *hello = calloc(1, sizeof(*hello));
	Receipt receipt;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	SAID(talker, .topic = "work");
	receipt = peer_delivery(worker)->down.what.delivery.receipt;
	TURN(worker, &receipt, .kind = VERDICT_RETURN, .delay_us = US_PER_S);
	desk_pass(desk, 2 * US_PER_S);
	receipt = peer_delivery(worker)->down.what.delivery.receipt;
	start_again(desk);
	hello->held_count = 1;
	TEXT_COPY(hello->held[0].queue, "worker");
	hello->held[0].seq = receipt.seq;
	hello->held[0].attempt = receipt.attempt;
	peer_say_hello(worker, hello);
	receipt.epoch = worker->epoch;
	assert_int_equal(TURN(worker, &receipt, .kind = VERDICT_DONE).kind, CONFIRM_FRESH);
	free(hello);
	desk_close(desk);
}

static void a_new_message_does_not_wait_for_the_grace_period(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "work", .key = "old");
	start_again(desk);
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	SAID(talker, .topic = "work", .key = "new");
	assert_int_equal(peer_delivery(worker)->down.what.delivery.receipt.seq, 2);
	assert_null(peer_delivery(worker));
	desk_close(desk);
}

static void a_queue_that_is_new_begins_where_the_log_stands(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *late = peer_new(desk, "late", "l");
	char topology[2048];

	(void)state;
	snprintf(topology, sizeof(topology), "%s[peer late]\nhears = work\n", desk_topology);
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "work", .key = "before");
	desk_crash(desk);
	assert_int_equal(desk_start(desk, topology), 0);
	peer_hello(talker, "run", 0);
	peer_hello(late, "run", 0);
	desk_pass(desk, 4 * US_PER_S);
	SAID(talker, .topic = "work", .key = "after");
	assert_int_equal(peer_delivery(late)->down.what.delivery.receipt.seq, 2);
	assert_null(peer_delivery(late));
	desk_close(desk);
}

/* Years of it may lie there; that a letter holds the queue's floor far below makes no difference. */
static void a_further_topic_is_heard_from_where_the_log_stands(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	const char *hears = strstr(desk_topology, "[peer worker]\n") + strlen("[peer worker]\n");
	char topology[2048];

	(void)state;
	snprintf(topology, sizeof(topology), "%.*shears = diary\n%s", (int)(hears - desk_topology), desk_topology,
		hears);
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	SAID(talker, .topic = "work", .key = "pending"); /* 1 */
	SAID(talker, .topic = "diary", .key = "before"); /* 2 */
	desk_crash(desk);
	assert_int_equal(desk_start(desk, topology), 0);
	peer_hello(talker, "run", 0);
	peer_hello(worker, "another run", 0);
	desk_pass(desk, 4 * US_PER_S);
	SAID(talker, .topic = "diary", .key = "after"); /* 3 */
	assert_int_equal(peer_delivery(worker)->down.what.delivery.receipt.seq, 1);
	assert_int_equal(peer_delivery(worker)->down.what.delivery.receipt.seq, 3);
	assert_null(peer_delivery(worker));
	desk_close(desk);
}

static void log_time_never_goes_backwards(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *reader = peer_new(desk, "reader", "r");
	int64_t first_us;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(reader, "run", 0);
	SAID(talker, .topic = "fact");
	first_us = peer_projection(reader)->down.what.projection.time_us;
	desk->clock.virtual_us -= US_PER_HOUR;
	SAID(talker, .topic = "fact");
	assert_true(peer_projection(reader)->down.what.projection.time_us >= first_us);
	desk_close(desk);
}

/* Changes the log behind the broker's back: deletes the first record of a family, or flips a byte in it. */
static void damage(struct desk *desk, int family, bool last, bool flip)
{
	struct store *store;
	struct store_cursor *cursor;
	struct store_batch *batch;
	struct buffer key = { 0 }, value = { 0 };

	desk_crash(desk);
	assert_int_equal(store_open(desk->path, &broker_store_options, &store, desk->why), 0);
	cursor = store_cursor_new(store, family);
	assert_true(last ? store_cursor_last(cursor) : store_cursor_seek(cursor, BYTES("", 0)));
	buffer_add(&key, store_cursor_key(cursor).data, store_cursor_key(cursor).len);
	buffer_add(&value, store_cursor_value(cursor).data, store_cursor_value(cursor).len);
	store_cursor_free(cursor);
	batch = store_batch_new(store);
	value.data[value.len - 1] ^= 1;
	if (flip)
		store_batch_put(batch, family, buffer_bytes(&key), buffer_bytes(&value));
	else
		store_batch_delete(batch, family, buffer_bytes(&key));
	assert_int_equal(store_commit(store, batch, true), 0);
	store_batch_free(batch);
	store_close(store);
	buffer_free(&key);
	buffer_free(&value);
}

static void refuses_after(int family, bool last, bool flip)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t");

	peer_hello(talker, "run", 0);
	for (int i = 0; i < 3; i++)
		SAID(talker, .topic = "fact");
	damage(desk, family, last, flip);
	assert_int_equal(desk_start(desk, desk_topology), -EUCLEAN);
	assert_non_null(strstr(desk->why, "does not add up"));
	desk->broker = NULL;
	desk_close(desk);
}

static void a_damaged_log_is_refused_and_left_as_it_is(void **state)
{
	(void)state;
	refuses_after(COLUMN, true, false);   /* its end is missing */
	refuses_after(COLUMN, false, false);  /* its beginning is missing */
	refuses_after(COLUMN, true, true);    /* a column is damaged */
	refuses_after(LOG_FACT, true, false); /* a frame is missing */
	refuses_after(LOG_FACT, false, true); /* a message is damaged */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_confirmed_is_there_after_a_restart),
		cmocka_unit_test(what_is_done_stays_done_and_what_is_pending_stays_pending),
		cmocka_unit_test(failures_and_delays_outlive_a_restart),
		cmocka_unit_test(after_a_restart_old_messages_wait_for_those_who_may_hold_them),
		cmocka_unit_test(a_message_that_was_put_off_once_may_be_held_over_a_restart),
		cmocka_unit_test(a_new_message_does_not_wait_for_the_grace_period),
		cmocka_unit_test(a_queue_that_is_new_begins_where_the_log_stands),
		cmocka_unit_test(a_further_topic_is_heard_from_where_the_log_stands),
		cmocka_unit_test(log_time_never_goes_backwards),
		cmocka_unit_test(a_damaged_log_is_refused_and_left_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
