/* test_history.c: how history went about its decisions, by what it said */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/carts/rehearsal/history.h"
#include "tests/unit/cmocka_all.h"
#include <pb_encode.h>
#include <string.h>

#define NOON_US (INT64_C(20000) * US_PER_DAY)
#define LATE_US (2 * US_PER_S) /* what fires within this time fired when it was due */

static struct history *history;

static int setup(void **state)
{
	(void)state;
	history = history_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	history_free(history);
	return 0;
}

/* `message` NULL: one without a word. */
static void hear_at(const struct topic *topic, const void *message, struct message_meta said, bool fact)
{
	static uint8_t bytes[20000];
	pb_ostream_t stream = pb_ostream_from_buffer(bytes, sizeof(bytes));

	said.topic = topic->name;
	said.shop = "demo";
	said.key = "key";
	said.idem = said.trace = "";
	if (message)
		assert_true(pb_encode(&stream, topic->message, message));
	history_hear(history, &said, BYTES(bytes, stream.bytes_written), fact);
}

static int64_t second(uint64_t seq)
{
	return NOON_US + (int64_t)seq * US_PER_S;
}

/* One of the rehearsed services says it, a second after what was said before. */
static void hear(const struct topic *topic, const void *message, const char *by, uint64_t seq, uint64_t cause)
{
	hear_at(topic, message,
		(struct message_meta){ .said_by = by, .seq = seq, .cause = cause, .time_us = second(seq) }, true);
}

static const struct past_turn *turn(size_t nth)
{
	assert_true(nth < history_turns(history));
	return history_turn(history, nth);
}

/* ---- turns ---- */

static void a_turn_is_what_one_process_said_of_one_message_in_one_piece(void **state)
{
	static const struct {
		const char *by;
		uint64_t seq, cause;
	} rows[] = { { "intake", 11, 10 }, { "intake", 12, 10 }, /* one */
		{ "waiter", 13, 10 },                            /* another process */
		{ "waiter", 15, 10 },                            /* somebody spoke between */
		{ "waiter", 16, 14 }, { "waiter", 17, 14 } };    /* of another message */
	static const uint64_t firsts[] = { 11, 13, 15, 16 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		hear(&topic_cart_state, NULL, rows[i].by, rows[i].seq, rows[i].cause);
	history_close(history);
	assert_int_equal(history_turns(history), 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(turn(i)->first, firsts[i]);
		assert_int_equal(turn(i)->cause, i < 3 ? 10 : 14);
		assert_int_equal(turn(i)->decided_on, firsts[i] - 1);
		assert_int_equal(turn(i)->now_us, second(firsts[i]));
	}
	assert_int_equal(history_turns_about(history, 10, 0), 3);
	assert_int_equal(history_turns_about(history, 10, 11), 2);
	assert_int_equal(history_turns_about(history, 10, 14), 1);
	assert_int_equal(history_turns_about(history, 14, 0), 1);
	assert_int_equal(history_turns_about(history, 9, 0), 0);
	assert_int_equal(history_turns_about(history, 12, 0), 0);
	assert_int_equal(history_turns_about(history, 15, 0), 0);
}

static void a_claim_is_a_turn_of_its_own_at_its_own_time(void **state)
{
	const SendClaim claim = { .cart_id = "c", .step = 1, .attempt = 1, .claimed_us = NOON_US + 7 };
	const ReminderOutcome outcome = { .cart_id = "c", .step = 1, .attempt = 1 };

	(void)state;
	hear(&topic_send_claim, &claim, "sender", 11, 10);
	hear(&topic_reminder_sent, &outcome, "sender", 12, 10);
	hear(&topic_cart_state, NULL, "sender", 13, 10);
	hear(&topic_send_claim, &claim, "sender", 14, 10);
	history_close(history);
	assert_int_equal(history_turns(history), 3);
	assert_true(turn(0)->claims && !turn(1)->claims && turn(2)->claims);
	assert_int_equal(turn(0)->now_us, NOON_US + 7);
	assert_int_equal(turn(1)->first, 12);
	assert_true(turn(1)->ended && !turn(0)->ended && !turn(2)->ended);
	assert_int_equal(turn(1)->end, MAIL_SENT);
}

/* A process decides on what it had seen, which may be long before it could say so. */
static void an_audit_says_when_and_after_which_message_it_was_decided(void **state)
{
	static const struct {
		uint64_t cause, first, said, decided_on;
	} rows[] = { { 30, 40, 35, 35 }, { 30, 40, 31, 31 }, { 30, 40, 39, 39 }, { 30, 40, 30, 31 }, { 30, 40, 40, 31 },
		{ 30, 40, 0, 31 }, { 38, 40, 0, 39 }, { 39, 40, 0, 39 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const Audit audit = { .at_us = NOON_US + 5, .decided_on = rows[i].said };

		hear(&topic_audit, &audit, "waiter", rows[i].first, rows[i].cause);
		history_close(history);
		assert_int_equal(turn(0)->decided_on, rows[i].decided_on);
		assert_int_equal(turn(0)->now_us, NOON_US + 5);
		history_free(history);
		history = history_new();
	}
	history_close(history);
}

static void an_audit_of_who_is_not_rehearsed_is_no_turn(void **state)
{
	static const struct {
		const char *by;
		bool is_turn;
	} rows[] = { { "intake", true }, { "intake-2", true }, { "waiter", true }, { "waiter-3", true },
		{ "sender", true }, { "sender-1", true }, { "unsub", false }, { "exporter", false }, { "in", false },
		{ "", false } };
	size_t turns = 0;
	uint64_t seq = 10;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, seq += 10) {
		const Audit audit = { .at_us = second(seq) };

		hear(&topic_audit, &audit, rows[i].by, seq, seq - 1);
		turns += rows[i].is_turn;
		assert_int_equal(history_turns(history), turns);
	}
	hear(&topic_cart_state, NULL, "unsub", seq, seq - 1); /* all else that these say is nobody else's */
	assert_int_equal(history_turns(history), turns + 1);
	hear(&topic_cart_state, NULL, "intake", seq + 10, 0); /* of no message */
	hear_at(&topic_cart_changed, NULL,
		(struct message_meta){ .said_by = "gateway", .seq = seq + 20, .cause = seq, .time_us = NOON_US },
		false);
	assert_int_equal(history_turns(history), turns + 1);
	history_close(history);
}

static void a_turn_knows_what_it_led_to(void **state)
{
	(void)state;
	hear(&topic_cart_state, NULL, "waiter", 11, 10);
	hear(&topic_reminder_due, NULL, "waiter", 12, 10);
	hear(&topic_cart_closed, NULL, "waiter", 21, 20);
	hear(&topic_cart_checkout, NULL, "sender", 31, 30);
	history_close(history);
	assert_int_equal(turn(0)->due_seq, 12);
	assert_true(turn(0)->closed_seq == 0 && !turn(0)->finds_order);
	assert_int_equal(turn(1)->closed_seq, 21);
	assert_true(turn(1)->due_seq == 0 && !turn(1)->finds_order);
	assert_true(turn(2)->finds_order && turn(2)->due_seq == 0 && turn(2)->closed_seq == 0);
}

static void turns_come_in_the_order_in_which_they_were_decided(void **state)
{
	static const struct {
		uint64_t cause, first, decided_on;
	} rows[] = { { 5, 20, 12 }, { 8, 30, 10 }, { 7, 40, 10 }, { 2, 50, 45 }, { 5, 60, 50 } };
	static const uint64_t firsts[] = { 30, 40, 20, 50, 60 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const Audit audit = { .decided_on = rows[i].decided_on };

		hear(&topic_audit, &audit, "waiter", rows[i].first, rows[i].cause);
	}
	history_close(history);
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
		assert_int_equal(turn(i)->first, firsts[i]);
	assert_int_equal(history_turns_about(history, 5, 0), 2);
	assert_int_equal(history_turns_about(history, 5, 20), 1);
	assert_int_equal(history_turns_about(history, 2, 0), 1);
}

static void many_turns_are_kept(void **state)
{
	enum { MANY = 3000 };

	(void)state;
	for (uint64_t i = 1; i <= MANY; i++)
		hear(&topic_cart_state, NULL, "intake", 2 * i, 2 * i - 1);
	history_close(history);
	assert_int_equal(history_turns(history), MANY);
	for (uint64_t i = 1; i <= MANY; i++) {
		assert_int_equal(turn(i - 1)->first, 2 * i);
		assert_int_equal(history_turns_about(history, 2 * i - 1, 0), 1);
	}
}

/* ---- what the mail server answered ---- */

static void each_try_of_a_mail_gets_the_answer_that_it_got(void **state)
{
	static const struct {
		const struct topic *topic;
		enum mail_end end;
	} rows[] = { { &topic_reminder_sent, MAIL_SENT }, { &topic_reminder_released, MAIL_LATER },
		{ &topic_reminder_refused, MAIL_REFUSED }, { &topic_reminder_ambiguous, MAIL_UNKNOWN } };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		const ReminderOutcome outcome = { .cart_id = "c", .step = 1, .attempt = i + 1 };

		hear(rows[i].topic, &outcome, "sender", 10 * i + 11, 10 * i + 10);
	}
	history_close(history);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(turn(i)->ended);
		assert_int_equal(turn(i)->end, rows[i].end);
		assert_int_equal(history_answer(history, "c", 1, i + 1), rows[i].end);
	}
	assert_int_equal(history_answer(history, "c", 1, 5), MAIL_SENT); /* it was never asked */
	assert_int_equal(history_answer(history, "c", 2, 3), MAIL_SENT);
	assert_int_equal(history_answer(history, "d", 1, 3), MAIL_SENT);
}

static void of_two_outcomes_of_one_turn_the_first_is_the_mail_servers(void **state)
{
	const ReminderOutcome outcome = { .cart_id = "c", .step = 1, .attempt = 1 };

	(void)state;
	hear(&topic_reminder_released, &outcome, "sender", 11, 10);
	hear(&topic_reminder_sent, &outcome, "sender", 12, 10);
	history_close(history);
	assert_int_equal(turn(0)->end, MAIL_LATER);
}

/* ---- when no timer fired ---- */

static void hear_timer(const struct topic *topic, const void *message, int64_t at_us)
{
	hear_at(topic, message, (struct message_meta){ .said_by = "timer", .seq = 1, .time_us = at_us }, false);
}

static void hear_set(const char *name, const char *cron, int64_t due_us, int64_t at_us)
{
	TimerSet set = { .due_us = due_us };

	TEXT_COPY(set.name, name);
	TEXT_COPY(set.cron, cron);
	hear_timer(&topic_timer_set, &set, at_us);
}

static void hear_fired(const char *name, int64_t due_us, int64_t at_us)
{
	TimerFired fired = { .due_us = due_us };

	TEXT_COPY(fired.name, name);
	hear_timer(&topic_timer_fired, &fired, at_us);
}

static int64_t minute(int n)
{
	return NOON_US + n * US_PER_MINUTE;
}

static void what_was_due_while_no_timer_fired_fires_at_the_end_of_that_time(void **state)
{
	(void)state;
	hear_fired("cart/a", minute(1), minute(1) + LATE_US); /* in time */
	hear_fired("cart/b", minute(40), minute(50));
	hear_fired("cart/c", minute(10), minute(20));
	hear_fired("cart/d", minute(15), minute(30)); /* they overlap: one time */
	hear_fired("cart/e", minute(16), minute(18));
	hear_fired("cart/f", minute(30), minute(31)); /* and one that begins when that ends */
	hear_fired("cart/g", minute(60), minute(60) + LATE_US + 1);
	history_close(history);
	assert_int_equal(history_outages(history), 3);
	assert_int_equal(history_grace_us(), LATE_US);
	const struct {
		int64_t due_us, fires_us;
	} rows[] = { { minute(1), minute(1) }, { minute(10) - 1, minute(10) - 1 }, { minute(10), minute(31) },
		{ minute(19), minute(31) }, { minute(20), minute(31) }, { minute(31) - 1, minute(31) },
		{ minute(31), minute(31) }, { minute(39), minute(39) }, { minute(40), minute(50) },
		{ minute(50), minute(50) }, { minute(60), minute(60) + LATE_US + 1 }, { minute(70), minute(70) } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(history_fires_us(history, rows[i].due_us), rows[i].fires_us);
}

static void a_firing_that_is_on_its_way_while_the_timer_is_set_for_later_was_not_late(void **state)
{
	(void)state;
	hear_set("cart/a", "", minute(1), minute(20));
	hear_set("cart/a", "", minute(50), minute(20) + 1);
	hear_fired("cart/a", minute(1), minute(20) + 2);
	hear_fired("cart/a", minute(50), minute(50) + LATE_US);
	history_close(history);
	assert_int_equal(history_outages(history), 0);
}

/* It could not fire before somebody set it. What a message says of a cron timer's next time, nobody goes by. */
static void a_timer_that_was_set_when_it_was_due_already_is_late_from_then_on(void **state)
{
	(void)state;
	hear_set("cart/a", "", minute(1), minute(20));
	hear_fired("cart/a", minute(1), minute(20) + LATE_US);
	assert_int_equal(history_outages(history), 0);
	hear_set("cart/b", "", minute(21), minute(30));
	hear_fired("cart/b", minute(21), minute(40));
	hear_set("cart/c", "", minute(41), minute(45));
	hear_set("cart/c", "", minute(50), minute(46)); /* set anew, for later */
	hear_fired("cart/c", minute(50), minute(55));
	hear_set("nightly", "0 2 * * *", minute(60), minute(65));
	hear_fired("nightly", minute(60), minute(70));
	hear_fired("cart/b", minute(80), minute(90));
	history_close(history);
	assert_int_equal(history_outages(history), 4);
	const struct {
		int64_t from_us, until_us;
	} outages[] = { { minute(30), minute(40) }, { minute(50), minute(55) }, { minute(60), minute(70) },
		{ minute(80), minute(90) } };
	for (size_t i = 0; i < sizeof(outages) / sizeof(outages[0]); i++) {
		assert_int_equal(history_fires_us(history, outages[i].from_us - 1), outages[i].from_us - 1);
		assert_int_equal(history_fires_us(history, outages[i].from_us), outages[i].until_us);
	}
}

/* ---- what nothing can be concluded from ---- */

static void a_dead_letter_and_what_came_at_the_end_are_known_as_such(void **state)
{
	static const struct topic dead_letter = { .name = "dead.letter" };

	(void)state;
	hear_at(&dead_letter, NULL,
		(struct message_meta){ .said_by = "broker", .seq = 9, .cause = 5, .time_us = minute(1) }, false);
	hear(&topic_cart_state, NULL, "intake", 11, 10);
	hear_timer(&topic_timer_cancel, NULL, minute(10));
	history_close(history);
	assert_true(history_is_dead(history, 5));
	assert_false(history_is_dead(history, 9) || history_is_dead(history, 10));
	assert_int_equal(history_end_us(history), minute(10));
	assert_true(history_is_fresh(history, minute(8) + 1));
	assert_false(history_is_fresh(history, minute(8)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_turn_is_what_one_process_said_of_one_message_in_one_piece),
		TEST(a_claim_is_a_turn_of_its_own_at_its_own_time),
		TEST(an_audit_says_when_and_after_which_message_it_was_decided),
		TEST(an_audit_of_who_is_not_rehearsed_is_no_turn),
		TEST(a_turn_knows_what_it_led_to),
		TEST(turns_come_in_the_order_in_which_they_were_decided),
		TEST(many_turns_are_kept),
		TEST(each_try_of_a_mail_gets_the_answer_that_it_got),
		TEST(of_two_outcomes_of_one_turn_the_first_is_the_mail_servers),
		TEST(what_was_due_while_no_timer_fired_fires_at_the_end_of_that_time),
		TEST(a_firing_that_is_on_its_way_while_the_timer_is_set_for_later_was_not_late),
		TEST(a_timer_that_was_set_when_it_was_due_already_is_late_from_then_on),
		TEST(a_dead_letter_and_what_came_at_the_end_are_known_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
