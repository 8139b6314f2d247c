/* a commit on its way: what may be heard meanwhile, and what leaves when it is over */
#include "bus/broker/committer.h"
#include "desk.h"
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void seal(struct desk *desk)
{
	assert_int_equal(broker_seal(desk->broker), 0);
}

static void end(struct desk *desk)
{
	assert_int_equal(broker_let_out(desk->broker, broker_write(desk->broker)), 0);
}

static void what_is_heard_meanwhile_leaves_with_the_next_commit(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *reader = peer_new(desk, "reader", "r");
	uint64_t first, second;
	Confirm confirm;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(reader, "run", 0);
	first = PUBLISH(talker, .topic = "fact");
	seal(desk);
	second = PUBLISH(talker, .topic = "fact");
	end(desk);
	assert_true(peer_confirm(talker, first, &confirm));
	assert_int_equal(confirm.seq, 1);
	assert_int_equal(confirm.head, 1);
	assert_false(peer_confirm(talker, second, &confirm));
	assert_int_equal(peer_count(reader, Down_projection_tag), 1);
	desk_work(desk);
	assert_true(peer_confirm(talker, second, &confirm));
	assert_int_equal(confirm.seq, 2);
	assert_int_equal(peer_count(reader, Down_projection_tag), 2);
	desk_close(desk);
}

static void a_repeat_heard_meanwhile_is_known(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	uint64_t again;
	Confirm confirm;

	(void)state;
	peer_hello(talker, "run", 0);
	PUBLISH(talker, .topic = "fact", .idem = "once");
	seal(desk);
	again = PUBLISH(talker, .topic = "fact", .idem = "once");
	end(desk);
	assert_false(peer_confirm(talker, again, &confirm));
	desk_work(desk);
	assert_true(peer_confirm(talker, again, &confirm));
	assert_int_equal(confirm.kind, CONFIRM_DUPLICATE);
	assert_int_equal(confirm.seq, 1);
	assert_int_equal(broker_head(desk->broker), 1);
	desk_close(desk);
}

/* The sweep finds the old row in the store while the new one is only staged. */
static void a_key_said_anew_meanwhile_is_not_swept_with_its_old_row(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "raw", .idem = "once");
	desk_pass(desk, US_PER_S);
	desk->clock.virtual_us += desk->settings.idem_window_us;
	PUBLISH(talker, .topic = "fact");
	seal(desk);
	PUBLISH(talker, .topic = "raw", .idem = "once");
	end(desk);
	broker_tick(desk->broker);
	desk_work(desk);
	assert_int_equal(broker_head(desk->broker), 3);
	assert_int_equal(SAID(talker, .topic = "raw", .idem = "once").kind, CONFIRM_DUPLICATE);
	desk_close(desk);
}

static void a_verdict_heard_meanwhile_lets_the_next_of_its_key_out_when_it_is_synced(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct item *first, *next;
	uint64_t turn;
	Confirm confirm;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	SAID(talker, .topic = "work", .key = "cart");
	first = peer_delivery(worker);
	assert_non_null(first);
	PUBLISH(talker, .topic = "work", .key = "cart");
	seal(desk);
	turn = peer_turn(worker, &first->down.what.delivery.receipt, &(struct verdict_words){ .kind = VERDICT_DONE });
	end(desk); /* finds the second: the first is not settled on the disk */
	assert_null(peer_delivery(worker));
	assert_false(peer_confirm(worker, turn, &confirm));
	desk_work(desk);
	assert_true(peer_confirm(worker, turn, &confirm));
	next = peer_delivery(worker);
	assert_non_null(next);
	assert_int_equal(next->down.what.delivery.receipt.seq, 2);
	desk_close(desk);
}

static void credit_given_meanwhile_counts_when_it_is_over(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	const int credit = 1000, more = 10;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	for (int i = 0; i < credit + more; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		PUBLISH(talker, .topic = "work", .key = key);
	}
	desk_work(desk);
	assert_int_equal(peer_count(worker, Down_delivery_tag), credit);
	PUBLISH(talker, .topic = "fact");
	seal(desk);
	peer_credit(worker, (uint64_t)more, 0);
	end(desk);
	assert_int_equal(peer_count(worker, Down_delivery_tag), credit + more);
	desk_close(desk);
}

static void what_was_put_off_comes_before_a_goodbye(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct item *item;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	SAID(talker, .topic = "work");
	item = peer_delivery(worker);
	assert_non_null(item);
	PUBLISH(talker, .topic = "fact");
	seal(desk);
	peer_turn(worker, &item->down.what.delivery.receipt, &(struct verdict_words){ .kind = VERDICT_DONE });
	end(desk);
	peer_goodbye(worker);
	desk_work(desk);
	peer_hello(worker, "another", 0);
	assert_null(peer_delivery(worker));
	desk_close(desk);
}

/* As the process does it: how many syncs would that be? */
static bool would_commit(struct desk *desk)
{
	if (broker_may_wait_us(desk->broker) > 0)
		return false;
	assert_int_equal(broker_commit(desk->broker), 0);
	return true;
}

static void verdicts_alone_wait_a_moment_for_the_next_messages(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct item *item;
	uint64_t turn;
	Confirm confirm;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	for (int i = 0; i < 2; i++) {
		PUBLISH(talker, .topic = "work", .key = i == 0 ? "one" : "other");
		assert_true(would_commit(desk));
		item = peer_delivery(worker);
		assert_non_null(item);
		turn = peer_turn(
			worker, &item->down.what.delivery.receipt, &(struct verdict_words){ .kind = VERDICT_DONE });
		assert_false(would_commit(desk));
		assert_false(peer_confirm(worker, turn, &confirm));
	}
	desk->clock.virtual_us += US_PER_MS; /* nothing comes: not for long */
	assert_true(would_commit(desk));
	assert_true(peer_confirm(worker, turn, &confirm));
	desk_close(desk);
}

static void what_has_facts_or_failed_waits_for_nothing(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	const struct words fact = { .topic = "fact" };
	const struct verdict_words verdicts[] = { { .kind = VERDICT_DONE, .facts = &fact, .fact_count = 1 },
		{ .kind = VERDICT_RETURN, .failed = true, .reason = "no" },
		{ .kind = VERDICT_DEAD, .reason = "never" } };

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		struct item *item;

		PUBLISH(talker, .topic = "work", .key = verdicts[i].reason);
		assert_true(would_commit(desk));
		item = peer_delivery(worker);
		assert_non_null(item);
		peer_turn(worker, &item->down.what.delivery.receipt, &verdicts[i]);
		assert_true(would_commit(desk));
	}
	desk_close(desk);
}

static void a_commit_that_failed_takes_what_was_heard_meanwhile_with_it(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	PUBLISH(talker, .topic = "fact");
	seal(desk);
	PUBLISH(talker, .topic = "fact");
	assert_int_equal(broker_let_out(desk->broker, -EIO), -EIO);
	desk_work(desk);
	assert_int_equal(desk->commit_result, -EIO);
	assert_int_equal(peer_count(talker, Down_confirm_tag), 0);
	assert_int_equal(broker_head(desk->broker), 0);
	desk_close(desk);
}

static int await_written(struct committer *committer)
{
	struct pollfd written = { .fd = committer_fd(committer), .events = POLLIN };
	int result = 0;

	assert_true(committer_is_at_work(committer));
	poll(&written, 1, -1);
	assert_true(committer_is_done(committer, &result));
	assert_false(committer_is_at_work(committer));
	return result;
}

static void another_thread_writes_while_this_one_hears(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct committer *committer = committer_new(desk->broker);
	const uint64_t rounds = 50, each = 20;
	struct item *item;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	for (uint64_t round = 0; round < rounds; round++) {
		seal(desk);
		assert_int_equal(broker_may_hear_on(desk->broker), round > 0);
		committer_start(committer);
		for (uint64_t i = 0; i < each; i++)
			PUBLISH(talker, .topic = "work", .idem = i == 0 ? "the same" : NULL);
		while ((item = peer_delivery(worker)))
			peer_turn(worker, &item->down.what.delivery.receipt,
				&(struct verdict_words){ .kind = VERDICT_DONE });
		assert_int_equal(broker_let_out(desk->broker, await_written(committer)), 0);
		broker_tick(desk->broker);
	}
	desk_work(desk);
	assert_int_equal(peer_count(talker, Down_confirm_tag), rounds * each);
	assert_int_equal(broker_head(desk->broker), rounds * each - (rounds - 1));
	committer_free(committer);
	desk_close(desk);
}

static void a_keyed_fact_of_a_turn_that_was_said_before_is_left_out(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *talker = peer_new(desk, "talker", "t");
	const struct words facts[] = { { .topic = "fact", .idem = "once" }, { .topic = "fact", .key = "other" } };

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	for (int i = 0; i < 2; i++) {
		Receipt receipt;

		SAID(talker, .topic = "work");
		receipt = peer_delivery(worker)->down.what.delivery.receipt;
		assert_int_equal(TURN(worker, &receipt, .facts = facts, .fact_count = 2).kind, CONFIRM_FRESH);
	}
	assert_int_equal(broker_head(desk->broker), 2 + 2 + 1);
	desk_close(desk);
}

static struct peer *claimant_with_a_gateway(struct desk *desk)
{
	struct peer *worker = peer_new(desk, "worker", "w"), *gateway = peer_new(desk, "door", "d");

	peer_hello(worker, "run", 0);
	peer_hello(gateway, "run", 0);
	peer_heartbeat(gateway, 0);
	peer_heartbeat(gateway, 0);
	return worker;
}

static void a_commit_that_hung_lets_no_old_answer_out_and_sessions_begin_anew(void **state)
{
	static const int64_t took_us[] = { 4 * US_PER_S, 6 * US_PER_S };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct desk *desk = desk_open();
		struct peer *worker = peer_new(desk, "worker", "w");
		bool hung = took_us[i] > 5 * US_PER_S;
		Confirm confirm;
		uint64_t claim;

		peer_hello(worker, "run", 0);
		claim = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true, .text = "mine");
		seal(desk);
		desk->clock.virtual_us += took_us[i];
		end(desk);
		assert_int_equal(peer_confirm(worker, claim, &confirm), !hung);
		peer_heartbeat(worker, 0);
		assert_int_equal(worker->lost, hung);
		peer_hello(worker, "run", 0); /* nothing is lost by it: what was committed is found again */
		confirm = SAID(worker, .topic = "claim", .idem = "c", .claim = true, .text = "mine");
		assert_int_equal(confirm.kind, CONFIRM_FRESH);
		assert_int_equal(confirm.seq, 1);
		desk_close(desk);
	}
}

static void a_strike_lets_no_claim_out_before_it_is_written(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = claimant_with_a_gateway(desk), *admin = peer_new(desk, "admin", "a");
	Control question = { .which_what = Control_question_tag,
		.what.question = { .id = 1, .verb = "gateway.strike", .argument = "{\"name\":\"d\"}" } };
	Confirm confirm;
	uint64_t claim;

	(void)state;
	peer_hello(admin, "run", 0);
	claim = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	desk_pass_silent(desk, US_PER_S); /* the gateway's promise ends: the claim has its number, and is held */
	desk->clock.virtual_us += 10 * US_PER_S;
	peer_hello(worker, "run", 0);
	claim = PUBLISH(worker, .topic = "claim", .idem = "c2", .claim = true);
	desk_work(desk);
	assert_false(peer_confirm(worker, claim, &confirm));
	peer_hello(admin, "run", 0);
	peer_control(admin, &question);
	seal(desk);
	assert_false(peer_confirm(worker, claim, &confirm)); /* struck off in memory, and on its way to the disk */
	assert_true(broker_let_out(desk->broker, -EIO) < 0);
	assert_false(peer_confirm(worker, claim, &confirm)); /* it never came there */
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_heard_meanwhile_leaves_with_the_next_commit),
		cmocka_unit_test(a_repeat_heard_meanwhile_is_known),
		cmocka_unit_test(a_key_said_anew_meanwhile_is_not_swept_with_its_old_row),
		cmocka_unit_test(a_verdict_heard_meanwhile_lets_the_next_of_its_key_out_when_it_is_synced),
		cmocka_unit_test(credit_given_meanwhile_counts_when_it_is_over),
		cmocka_unit_test(what_was_put_off_comes_before_a_goodbye),
		cmocka_unit_test(verdicts_alone_wait_a_moment_for_the_next_messages),
		cmocka_unit_test(what_has_facts_or_failed_waits_for_nothing),
		cmocka_unit_test(a_commit_that_failed_takes_what_was_heard_meanwhile_with_it),
		cmocka_unit_test(another_thread_writes_while_this_one_hears),
		cmocka_unit_test(a_commit_that_hung_lets_no_old_answer_out_and_sessions_begin_anew),
		cmocka_unit_test(a_strike_lets_no_claim_out_before_it_is_written),
		cmocka_unit_test(a_keyed_fact_of_a_turn_that_was_said_before_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
