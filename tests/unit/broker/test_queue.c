/* queues: leases, order per key, returns, credit */
#include "bus/base/text.h"
#include "bus/broker/queue/queue.h"
#include "desk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct scene {
	struct desk *desk;
	struct peer *door, *worker;
};

static struct scene set_scene_on(struct desk *desk)
{
	struct scene scene = { .desk = desk };

	scene.door = peer_new(scene.desk, "door", "d");
	scene.worker = peer_new(scene.desk, "worker", "w1");
	peer_hello(scene.door, "run", 0);
	peer_hello(scene.worker, "run", 0);
	return scene;
}

static struct scene set_scene(void)
{
	return set_scene_on(desk_open());
}

static Receipt next_receipt(struct peer *peer)
{
	struct item *item = peer_delivery(peer);

	assert_non_null(item);
	return item->down.what.delivery.receipt;
}

static void messages_of_one_key_come_one_after_the_other(void **state)
{
	struct scene scene = set_scene();
	Receipt receipt;

	(void)state;
	SAID(scene.door, .topic = "work", .key = "k");
	SAID(scene.door, .topic = "work", .key = "k");
	SAID(scene.door, .topic = "work", .key = "other");
	receipt = next_receipt(scene.worker);
	assert_int_equal(receipt.seq, 1);
	assert_int_equal(next_receipt(scene.worker).seq, 3);
	assert_null(peer_delivery(scene.worker));
	TURN(scene.worker, &receipt, .kind = VERDICT_DONE);
	assert_int_equal(next_receipt(scene.worker).seq, 2);
	desk_close(scene.desk);
}

static void restart(struct scene *scene)
{
	desk_crash(scene->desk);
	assert_int_equal(desk_start(scene->desk, desk_topology), 0);
	peer_hello(scene->worker, "again", 0);
	desk_pass(scene->desk, scene->desk->settings.grace_us + US_PER_S);
}

static bool has_row(const struct scene *scene, char kind, uint64_t number)
{
	struct buffer key = { 0 }, value = { 0 };
	int r;

	queue_row_key(scene->desk->broker->queues[topology_peer(&scene->desk->topology, "worker")], kind, number, &key);
	r = store_get(scene->desk->store, FAMILY_QUEUE, buffer_bytes(&key), &value);
	buffer_free(&key);
	buffer_free(&value);
	return r == 0;
}

static void done_with(struct scene *scene, Receipt receipt)
{
	TURN(scene->worker, &receipt, .kind = VERDICT_DONE);
}

static void what_is_done_in_order_takes_eight_bytes_and_stays_done(void **state)
{
	struct scene scene = set_scene_on(desk_open_disk());

	(void)state;
	SAID(scene.door, .topic = "work", .key = "a");
	SAID(scene.door, .topic = "work", .key = "b");
	SAID(scene.door, .topic = "work", .key = "c");
	done_with(&scene, next_receipt(scene.worker));
	done_with(&scene, next_receipt(scene.worker));
	assert_true(has_row(&scene, 'f', 0));
	assert_false(has_row(&scene, 'a', 0));
	restart(&scene);
	assert_int_equal(next_receipt(scene.worker).seq, 3);
	assert_null(peer_delivery(scene.worker));
	desk_close(scene.desk);
}

static void what_is_done_out_of_order_stays_done(void **state)
{
	struct scene scene = set_scene_on(desk_open_disk());
	Receipt receipts[5];

	(void)state;
	for (int i = 0; i < 5; i++) {
		SAID(scene.door, .topic = "work", .key = (const char *[]){ "a", "b", "c", "d", "e" }[i]);
		receipts[i] = next_receipt(scene.worker);
	}
	done_with(&scene, receipts[3]);
	done_with(&scene, receipts[0]);
	done_with(&scene, receipts[1]);
	restart(&scene);
	receipts[2] = next_receipt(scene.worker);
	assert_int_equal(receipts[2].seq, 3);
	assert_int_equal(next_receipt(scene.worker).seq, 5);
	assert_null(peer_delivery(scene.worker));
	done_with(&scene, receipts[2]);
	restart(&scene);
	assert_int_equal(next_receipt(scene.worker).seq, 5);
	assert_null(peer_delivery(scene.worker));
	desk_close(scene.desk);
}

static void the_same_key_of_two_shops_is_two_keys(void **state)
{
	struct scene scene = set_scene();

	(void)state;
	SAID(scene.door, .topic = "work", .shop = "one");
	SAID(scene.door, .topic = "work", .shop = "two");
	next_receipt(scene.worker);
	next_receipt(scene.worker);
	desk_close(scene.desk);
}

static void a_retry_keeps_its_place_before_later_messages_of_its_key(void **state)
{
	struct scene scene = set_scene();
	Receipt receipt;

	(void)state;
	SAID(scene.door, .topic = "work");
	SAID(scene.door, .topic = "work");
	receipt = next_receipt(scene.worker);
	TURN(scene.worker, &receipt, .kind = VERDICT_RETURN, .delay_us = US_PER_MINUTE);
	desk_pass(scene.desk, 50 * US_PER_S);
	assert_null(peer_delivery(scene.worker));
	desk_pass(scene.desk, 11 * US_PER_S);
	receipt = next_receipt(scene.worker);
	assert_int_equal(receipt.seq, 1);
	assert_int_equal(receipt.attempt, 2);
	TURN(scene.worker, &receipt, .kind = VERDICT_DONE);
	assert_int_equal(next_receipt(scene.worker).seq, 2);
	desk_close(scene.desk);
}

static void waits_do_not_count_as_failures(void **state)
{
	struct scene scene = set_scene();
	struct item *item = NULL;

	(void)state;
	SAID(scene.door, .topic = "work");
	for (int i = 0; i < 20; i++) {
		item = peer_delivery(scene.worker);
		assert_non_null(item);
		TURN(scene.worker, &item->down.what.delivery.receipt, .kind = VERDICT_RETURN, .delay_us = US_PER_S);
		desk_pass(scene.desk, 2 * US_PER_S);
	}
	assert_int_equal(item->down.what.delivery.failures, 0);
	assert_non_null(peer_delivery(scene.worker));
	desk_close(scene.desk);
}

static void failures_back_off_and_the_fifth_is_the_end(void **state)
{
	struct scene scene = set_scene();

	(void)state;
	SAID(scene.door, .topic = "work");
	for (uint32_t i = 0; i < 5; i++) {
		struct item *item = peer_delivery(scene.worker);

		assert_non_null(item);
		assert_int_equal(item->down.what.delivery.failures, i);
		TURN(scene.worker, &item->down.what.delivery.receipt, .kind = VERDICT_RETURN, .failed = true,
			.reason = "broken");
		desk_pass(scene.desk, (US_PER_S << i) - 100 * US_PER_MS); /* each wait is twice the one before */
		assert_null(peer_delivery(scene.worker));
		desk_pass(scene.desk, US_PER_S);
	}
	assert_null(peer_delivery(scene.worker));
	desk_close(scene.desk);
}

static void a_session_never_gets_more_than_its_credit(void **state)
{
	struct desk *desk = desk_open();
	struct peer *door = peer_new(desk, "door", "d"), *worker = peer_new(desk, "worker", "w");
	Hello *hello = calloc(1, sizeof(*hello));
	char key[16];

	(void)state;
	peer_hello(door, "run", 0);
	peer_say_hello(worker, hello);
	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		PUBLISH(door, .topic = "work", .key = key);
	}
	desk_work(desk);
	assert_int_equal(peer_count(worker, Down_delivery_tag), 0);
	peer_credit(worker, 30, 10);
	desk_work(desk);
	assert_int_equal(peer_count(worker, Down_delivery_tag), 30);
	peer_credit(worker, 1, 0);
	desk_work(desk);
	assert_int_equal(peer_count(worker, Down_delivery_tag), 31);
	free(hello);
	desk_close(desk);
}

static void two_workers_share_the_work(void **state)
{
	struct scene scene = set_scene();
	struct peer *second = peer_new(scene.desk, "worker", "w2");
	char key[16];

	(void)state;
	peer_hello(second, "run", 0);
	for (int i = 0; i < 64; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		PUBLISH(scene.door, .topic = "work", .key = key);
	}
	desk_work(scene.desk);
	assert_int_equal(peer_count(scene.worker, Down_delivery_tag), 32);
	assert_int_equal(peer_count(second, Down_delivery_tag), 32);
	desk_close(scene.desk);
}

/* What there is goes to few of many that are idle, each of which is woken for more than a little. */
static void many_workers_are_not_woken_for_little(void **state)
{
	enum { WORKERS = 12, LETTERS = 240 };
	struct desk *desk = desk_open();
	struct peer *door = peer_new(desk, "door", "d"), *workers[WORKERS];
	int woken = 0;

	(void)state;
	peer_hello(door, "run", 0);
	for (int i = 0; i < WORKERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "w%d", i);
		workers[i] = peer_new(desk, "worker", name);
		peer_hello(workers[i], "run", 0);
	}
	for (int i = 0; i < LETTERS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "k%d", i);
		PUBLISH(door, .topic = "work", .key = key);
	}
	desk_work(desk);
	for (int i = 0; i < WORKERS; i++) {
		int count = peer_count(workers[i], Down_delivery_tag);

		assert_true(count == 0 || count == LETTERS / 4);
		woken += count > 0;
	}
	assert_int_equal(woken, 4);
	desk_close(desk);
}

static void a_lease_that_is_not_renewed_runs_out(void **state)
{
	struct scene scene = set_scene();
	struct peer *second = peer_new(scene.desk, "worker", "w2");
	Receipt receipt;
	struct frame_writer writer = { 0 };
	Up renew = { .which_what = Up_renew_tag };

	(void)state;
	SAID(scene.door, .topic = "work");
	receipt = next_receipt(scene.worker);
	peer_hello(second, "run", 0);
	renew.what.renew.seq = receipt.seq;
	TEXT_COPY(renew.what.renew.queue, "worker");
	for (int i = 0; i < 3; i++) {
		desk_pass(scene.desk, 8 * US_PER_S);
		frame_add(&writer, Up_fields, &renew, BYTES(NULL, 0));
		peer_push(scene.worker, &writer);
	}
	assert_null(peer_delivery(second));
	desk_pass(scene.desk, 11 * US_PER_S);
	assert_int_equal(peer_count(second, Down_delivery_tag) + peer_count(scene.worker, Down_delivery_tag), 1);
	assert_int_equal(TURN(scene.worker, &receipt, .kind = VERDICT_DONE).kind, CONFIRM_REFUSED);
	desk_close(scene.desk);
}

static void a_backlog_larger_than_the_window_is_delivered_whole_and_in_order(void **state)
{
	struct desk *desk = desk_open();
	struct peer *door = peer_new(desk, "door", "d"), *worker = peer_new(desk, "worker", "w");
	uint64_t expected = 1;
	char key[16];

	(void)state;
	peer_hello(door, "run", 0);
	for (int i = 0; i < 6000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		PUBLISH(door, .topic = "work", .key = key);
		if (i % 100 == 0)
			desk_work(desk);
	}
	desk_work(desk);
	for (int round = 0; round < 10; round++) {
		struct item *item;

		peer_hello(worker, "run", 0);
		while ((item = peer_delivery(worker))) {
			assert_int_equal(item->down.what.delivery.receipt.seq, expected++);
			peer_turn(worker, &item->down.what.delivery.receipt,
				&(struct verdict_words){ .kind = VERDICT_DONE });
		}
		desk_work(desk);
		peer_goodbye(worker);
		desk_work(desk);
	}
	assert_int_equal(expected, 6001);
	desk_close(desk);
}

static void a_delivery_names_what_projections_must_have_passed(void **state)
{
	struct scene scene = set_scene();
	struct peer *talker = peer_new(scene.desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "fact");
	SAID(talker, .topic = "work", .key = "first");
	SAID(talker, .topic = "work", .key = "second");
	assert_int_equal(peer_delivery(scene.worker)->down.what.delivery.after_seq, 1);
	assert_int_equal(peer_delivery(scene.worker)->down.what.delivery.after_seq, 1);
	desk_close(scene.desk);
}

/* Nothing that is heard among it: the search could go on to the head of however long a log. */
static void a_search_for_the_next_message_reads_a_moment_at_a_time(void **state)
{
	enum { BLOCKS = 300, AT_ONCE = 64 };
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t");
	struct queue *queue;
	int moments = 1;
	uint64_t loads;

	(void)state;
	peer_hello(talker, "run", 0);
	for (int i = 0; i < BLOCKS; i++)
		SAID(talker, .topic = "fact");
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	queue = desk->broker->queues[topology_peer(&desk->topology, "worker")];
	assert_int_equal(queue->scanned, BLOCKS); /* at the start all of it: leases may still be held */
	queue->scanned = 0;
	for (loads = log_loads(desk->broker->log); queue_refill(desk->broker, queue); moments++) {
		assert_true(log_loads(desk->broker->log) - loads <= AT_ONCE);
		assert_true(queue->scanned < BLOCKS);
		loads = log_loads(desk->broker->log);
	}
	assert_true(moments >= BLOCKS / AT_ONCE);
	assert_int_equal(queue->scanned, BLOCKS);
	queue->scanned = 0;
	desk->broker->needs_dispatch = true;
	desk_work(desk); /* goes on by itself until it has seen all */
	assert_int_equal(queue->scanned, BLOCKS);
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_for_the_next_message_reads_a_moment_at_a_time),
		cmocka_unit_test(messages_of_one_key_come_one_after_the_other),
		cmocka_unit_test(what_is_done_in_order_takes_eight_bytes_and_stays_done),
		cmocka_unit_test(what_is_done_out_of_order_stays_done),
		cmocka_unit_test(the_same_key_of_two_shops_is_two_keys),
		cmocka_unit_test(a_retry_keeps_its_place_before_later_messages_of_its_key),
		cmocka_unit_test(waits_do_not_count_as_failures),
		cmocka_unit_test(failures_back_off_and_the_fifth_is_the_end),
		cmocka_unit_test(a_session_never_gets_more_than_its_credit),
		cmocka_unit_test(two_workers_share_the_work),
		cmocka_unit_test(many_workers_are_not_woken_for_little),
		cmocka_unit_test(a_lease_that_is_not_renewed_runs_out),
		cmocka_unit_test(a_backlog_larger_than_the_window_is_delivered_whole_and_in_order),
		cmocka_unit_test(a_delivery_names_what_projections_must_have_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
