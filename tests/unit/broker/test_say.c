/* what sessions say: publishes and turns */
#include "desk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_publish_is_confirmed_with_its_number(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	Confirm confirm;

	(void)state;
	peer_hello(talker, "run", 0);
	confirm = SAID(talker, .topic = "work");
	assert_int_equal(confirm.kind, CONFIRM_FRESH);
	assert_int_equal(confirm.seq, 1);
	assert_int_equal(SAID(talker, .topic = "work").seq, 2);
	assert_int_equal(broker_head(desk->broker), 2);
	assert_int_equal(desk->tapped, 2);
	desk_close(desk);
}

static void nothing_is_confirmed_before_the_commit(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	Confirm confirm;
	uint64_t request;

	(void)state;
	peer_hello(talker, "run", 0);
	request = PUBLISH(talker, .topic = "work");
	assert_false(peer_confirm(talker, request, &confirm));
	assert_int_equal(broker_head(desk->broker), 0);
	desk_work(desk);
	assert_true(peer_confirm(talker, request, &confirm));
	desk_close(desk);
}

static void a_repeated_key_is_a_duplicate_of_the_first(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	Confirm again;

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "work", .idem = "w1");
	again = SAID(talker, .topic = "work", .idem = "w1");
	assert_int_equal(again.kind, CONFIRM_DUPLICATE);
	assert_int_equal(again.seq, 1);
	assert_int_equal(broker_head(desk->broker), 1);
	desk_close(desk);
}

static void a_duplicate_of_what_is_only_staged_waits_for_its_sync(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	uint64_t first, second;
	Confirm confirm;

	(void)state;
	peer_hello(talker, "run", 0);
	first = PUBLISH(talker, .topic = "work", .idem = "w1");
	second = PUBLISH(talker, .topic = "work", .idem = "w1");
	assert_false(peer_confirm(talker, second, &confirm));
	desk_work(desk);
	assert_true(peer_confirm(talker, first, &confirm));
	assert_int_equal(confirm.kind, CONFIRM_FRESH);
	assert_true(peer_confirm(talker, second, &confirm));
	assert_int_equal(confirm.kind, CONFIRM_DUPLICATE);
	assert_int_equal(confirm.seq, 1);
	desk_close(desk);
}

static void keys_are_scoped_by_topic_and_shop(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	assert_int_equal(SAID(talker, .topic = "work", .idem = "w1").kind, CONFIRM_FRESH);
	assert_int_equal(SAID(talker, .topic = "work", .idem = "w1", .shop = "other").kind, CONFIRM_FRESH);
	assert_int_equal(SAID(talker, .topic = "raw", .idem = "w1").kind, CONFIRM_FRESH);
	desk_close(desk);
}

static void a_key_is_forgotten_after_the_window_but_a_claim_never(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "work", .idem = "w1");
	SAID(talker, .topic = "claim", .idem = "c1", .claim = true, .text = "one");
	desk->clock.virtual_us += 9 * US_PER_DAY;
	peer_hello(talker, "run", 0);
	assert_int_equal(SAID(talker, .topic = "work", .idem = "w1").kind, CONFIRM_FRESH);
	assert_int_equal(
		SAID(talker, .topic = "claim", .idem = "c1", .text = "two", .claim = true).kind, CONFIRM_DUPLICATE);
	desk_close(desk);
}

static void what_nobody_hears_or_may_say_is_refused_for_good(void **state)
{
	struct desk *desk = desk_open();
	struct peer *door = peer_new(desk, "door", "d");
	Confirm confirm;

	(void)state;
	peer_hello(door, "run", 0);
	confirm = SAID(door, .topic = "lonely");
	assert_int_equal(confirm.kind, CONFIRM_REFUSED);
	assert_true(confirm.poisoned);
	assert_non_null(strstr(confirm.reason, "lonely"));
	assert_true(SAID(door, .topic = "fact").poisoned);
	assert_true(SAID(door, .topic = "no such").poisoned);
	assert_int_equal(broker_head(desk->broker), 0);
	assert_int_equal(status_refused(desk, "topic"), 2);
	assert_int_equal(status_refused(desk, "right"), 1);
	desk_close(desk);
}

static void what_is_kept_has_a_reader_in_the_operator(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	assert_int_equal(SAID(talker, .topic = "diary").kind, CONFIRM_FRESH);
	desk_close(desk);
}

static void a_turn_commits_its_facts_and_its_verdict_together(void **state)
{
	struct desk *desk = desk_open();
	struct peer *door = peer_new(desk, "door", "d"), *worker = peer_new(desk, "worker", "w");
	const struct words facts[] = { { .topic = "fact", .shop = "s", .key = "a" },
		{ .topic = "fact", .shop = "s", .key = "b" } };
	struct item *delivery;
	Confirm confirm;

	(void)state;
	peer_hello(door, "run", 0);
	peer_hello(worker, "run", 0);
	SAID(door, .topic = "work");
	delivery = peer_delivery(worker);
	assert_non_null(delivery);
	confirm = TURN(worker, &delivery->down.what.delivery.receipt, .facts = facts, .fact_count = 2);
	assert_int_equal(confirm.kind, CONFIRM_FRESH);
	assert_int_equal(confirm.seq, 2);
	assert_int_equal(broker_head(desk->broker), 3);
	assert_int_equal(peer_projection(worker)->down.what.projection.seq, 2);
	assert_int_equal(peer_projection(worker)->down.what.projection.seq, 3);
	desk_close(desk);
}

static void a_stale_receipt_takes_the_facts_with_it(void **state)
{
	struct desk *desk = desk_open();
	struct peer *door = peer_new(desk, "door", "d"), *worker = peer_new(desk, "worker", "w");
	const struct words fact = { .topic = "fact", .shop = "s", .key = "a" };
	struct item *delivery;
	Receipt receipt;
	Confirm confirm;

	(void)state;
	peer_hello(door, "run", 0);
	peer_hello(worker, "run", 0);
	SAID(door, .topic = "work");
	delivery = peer_delivery(worker);
	receipt = delivery->down.what.delivery.receipt;
	TURN(worker, &receipt, .kind = VERDICT_RETURN);
	confirm = TURN(worker, &receipt, .facts = &fact, .fact_count = 1);
	assert_int_equal(confirm.kind, CONFIRM_REFUSED);
	assert_false(confirm.poisoned);
	assert_int_equal(broker_head(desk->broker), 1);
	assert_int_equal(peer_delivery(worker)->down.what.delivery.receipt.attempt, 2);
	peer_hello(worker, "run", 0);
	receipt = peer_delivery(worker)->down.what.delivery.receipt;
	assert_int_equal(receipt.attempt, 3);
	receipt.epoch++;
	assert_int_equal(TURN(worker, &receipt, .kind = VERDICT_DONE).kind, CONFIRM_REFUSED);
	peer_hello(worker, "run", 0);
	receipt = peer_delivery(worker)->down.what.delivery.receipt;
	assert_int_equal(TURN(worker, &receipt, .kind = VERDICT_DONE).kind, CONFIRM_FRESH);
	assert_int_equal(TURN(worker, &receipt, .kind = VERDICT_DONE).kind, CONFIRM_REFUSED);
	desk_close(desk);
}

/* It was decided while the refused one still seemed to count. */
static void after_a_refused_turn_no_other_of_its_session_counts(void **state)
{
	struct desk *desk = desk_open();
	struct peer *door = peer_new(desk, "door", "d"), *worker = peer_new(desk, "worker", "w");
	const struct words fine = { .topic = "fact", .shop = "s", .key = "a" };
	const struct words bad = { .topic = "row", .shop = "s", .key = "b" };
	const struct words *const facts[] = { &fine, &bad, &fine };
	const ConfirmKind kinds[] = { CONFIRM_FRESH, CONFIRM_REFUSED, CONFIRM_REFUSED };
	const char *const keys[] = { "a", "b", "c" };
	uint64_t requests[3];
	Receipt receipts[3];
	Confirm confirm;

	(void)state;
	peer_hello(door, "run", 0);
	peer_hello(worker, "run", 0);
	for (int i = 0; i < 3; i++)
		SAID(door, .topic = "work", .key = keys[i]);
	for (int i = 0; i < 3; i++)
		receipts[i] = peer_delivery(worker)->down.what.delivery.receipt;
	for (int i = 0; i < 3; i++)
		requests[i] =
			peer_turn(worker, &receipts[i], &(struct verdict_words){ .facts = facts[i], .fact_count = 1 });
	desk_work(desk);
	for (int i = 0; i < 3; i++) {
		assert_true(peer_confirm(worker, requests[i], &confirm));
		assert_int_equal(confirm.kind, kinds[i]);
		assert_int_equal(confirm.poisoned, i == 1);
	}
	peer_hello(worker, "run", 0);
	receipts[2] = peer_delivery(worker)->down.what.delivery.receipt;
	assert_int_equal(receipts[2].seq, 3);
	assert_int_equal(TURN(worker, &receipts[2], .facts = &fine, .fact_count = 1).kind, CONFIRM_FRESH);
	desk_close(desk);
}

static void a_turn_whose_fact_may_not_be_said_commits_nothing_and_its_message_is_dead(void **state)
{
	struct desk *desk = desk_open();
	struct peer *door = peer_new(desk, "door", "d"), *worker = peer_new(desk, "worker", "w");
	const struct words facts[] = { { .topic = "fact", .shop = "s", .key = "a" },
		{ .topic = "row", .shop = "s", .key = "b" } };
	struct item *delivery;
	Confirm confirm;

	(void)state;
	peer_hello(door, "run", 0);
	peer_hello(worker, "run", 0);
	SAID(door, .topic = "work");
	delivery = peer_delivery(worker);
	confirm = TURN(worker, &delivery->down.what.delivery.receipt, .facts = facts, .fact_count = 2);
	assert_int_equal(confirm.kind, CONFIRM_REFUSED);
	assert_true(confirm.poisoned);
	assert_null(peer_projection(worker));
	desk_pass(desk, 20 * US_PER_S);
	assert_null(peer_delivery(worker));
	desk_close(desk);
}

static void only_an_exclusive_service_has_turns_on_the_clock(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *single = peer_new(desk, "single", "one");
	const struct words fact = { .topic = "fact", .shop = "s", .key = "a" };
	const struct words row = { .topic = "row", .shop = "s", .key = "a" };

	(void)state;
	peer_hello(worker, "run", 0);
	peer_hello(single, "run", 0);
	assert_int_equal(TURN(worker, NULL, .facts = &fact, .fact_count = 1).kind, CONFIRM_REFUSED);
	assert_int_equal(TURN(single, NULL, .facts = &row, .fact_count = 1).kind, CONFIRM_FRESH);
	assert_int_equal(broker_head(desk->broker), 1);
	desk_close(desk);
}

static void a_frame_repeated_is_heard_once_and_a_gap_ends_the_session(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "work");
	talker->number--;
	PUBLISH(talker, .topic = "work");
	desk_work(desk);
	assert_int_equal(broker_head(desk->broker), 1);
	talker->number++;
	PUBLISH(talker, .topic = "work");
	desk_work(desk);
	assert_int_equal(broker_head(desk->broker), 1);
	peer_heartbeat(talker, 0);
	assert_true(talker->lost);
	assert_int_equal(status_refused(desk, "number"), 2);
	desk_close(desk);
}

static void garbage_is_counted_and_changes_nothing(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	uint8_t noise[512];
	uint32_t seed = 7;

	(void)state;
	peer_hello(talker, "run", 0);
	for (int round = 0; round < 2000; round++) {
		size_t len = (size_t)round % sizeof(noise);

		for (size_t i = 0; i < len; i++)
			noise[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
		if (len > 4)
			memset(noise + 1, 0, 3);
		broker_hear_frame(desk->broker, talker->who, BYTES(noise, len));
		broker_hear_control(desk->broker, bytes_of(talker->routing), talker->who, BYTES(noise, len));
	}
	desk_work(desk);
	assert_int_equal(broker_head(desk->broker), 0);
	assert_int_equal(status_refused(desk, "frame") + status_refused(desk, "epoch"), 2000);
	desk_close(desk);
}

static void every_way_to_cut_a_frame_short_is_survived(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	struct buffer message = { 0 }, frame = { 0 };
	struct frame_writer writer = { 0 };
	Up up = { .which_what = Up_publish_tag };
	bool is_cut = true;

	(void)state;
	words_write(&(struct words){ .topic = "work", .shop = "s", .key = "k" }, &message);
	for (size_t len = 0; is_cut; len++) {
		peer_hello(talker, "run", 0);
		frame_add(&writer, Up_fields, &up, buffer_bytes(&message));
		frame_finish(&writer, talker->epoch, talker->number + 1, &frame);
		is_cut = len < frame.len; /* an epoch takes now more bytes, now fewer */
		if (is_cut)
			broker_hear_frame(desk->broker, talker->who, BYTES(frame.data, len));
	}
	desk_work(desk);
	assert_int_equal(broker_head(desk->broker), 0);
	peer_hello(talker, "run", 0);
	assert_int_equal(SAID(talker, .topic = "work").seq, 1);
	buffer_free(&message);
	buffer_free(&frame);
	frame_writer_free(&writer);
	desk_close(desk);
}

static void a_message_with_a_control_character_in_its_name_is_refused(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	assert_true(SAID(talker, .topic = "work", .key = "a\r\nb").poisoned);
	assert_true(SAID(talker, .topic = "work", .shop = "").poisoned);
	assert_true(SAID(talker, .topic = "work", .shop = "\xff").poisoned);
	assert_int_equal(status_refused(desk, "message"), 3);
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_publish_is_confirmed_with_its_number),
		cmocka_unit_test(nothing_is_confirmed_before_the_commit),
		cmocka_unit_test(a_repeated_key_is_a_duplicate_of_the_first),
		cmocka_unit_test(a_duplicate_of_what_is_only_staged_waits_for_its_sync),
		cmocka_unit_test(keys_are_scoped_by_topic_and_shop),
		cmocka_unit_test(a_key_is_forgotten_after_the_window_but_a_claim_never),
		cmocka_unit_test(what_nobody_hears_or_may_say_is_refused_for_good),
		cmocka_unit_test(what_is_kept_has_a_reader_in_the_operator),
		cmocka_unit_test(a_turn_commits_its_facts_and_its_verdict_together),
		cmocka_unit_test(a_stale_receipt_takes_the_facts_with_it),
		cmocka_unit_test(after_a_refused_turn_no_other_of_its_session_counts),
		cmocka_unit_test(a_turn_whose_fact_may_not_be_said_commits_nothing_and_its_message_is_dead),
		cmocka_unit_test(only_an_exclusive_service_has_turns_on_the_clock),
		cmocka_unit_test(a_frame_repeated_is_heard_once_and_a_gap_ends_the_session),
		cmocka_unit_test(garbage_is_counted_and_changes_nothing),
		cmocka_unit_test(every_way_to_cut_a_frame_short_is_survived),
		cmocka_unit_test(a_message_with_a_control_character_in_its_name_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
