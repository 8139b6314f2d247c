/*
 * test_harness.c: what harness.h promises to those who test a service's functions with it
 */
#include "bus/actor/runtime/claim_notes.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "tests/unit/actor/cast.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static const int64_t NOW_US = 1000 * US_PER_S;

static enum verdict wake(struct harness *harness, const char *account, int64_t add, enum oddity oddity)
{
	CartWake wake = { .due_us = add, .revision = oddity };

	TEXT_COPY(wake.cart_id, account);
	return WHEN(harness, cart_wake, &wake, .shop = "demo", .key = account, .trace = "00-aa-bb-01");
}

static uint64_t balance_said(const struct harness *harness, size_t nth)
{
	Audit audit;

	assert_true(harness_said(harness, &topic_audit, nth, &audit, NULL));
	return (uint64_t)audit.next_us;
}

/* ---- decisions ---- */

static void what_a_turn_says_is_told_and_is_known_to_the_next(void **state)
{
	struct harness *harness = harness_new(&clerk, NOW_US);
	struct message_meta how;
	Audit audit;

	(void)state;
	assert_int_equal(harness_count(harness, NULL), 0);
	assert_int_equal(wake(harness, "a", 5, ODD_NOT), TURN_DONE);
	assert_int_equal(harness_count(harness, NULL), 1);
	assert_int_equal(harness_count(harness, &topic_audit), 1);
	assert_int_equal(balance_said(harness, 0), 5);
	assert_false(harness_said(harness, &topic_audit, 1, &audit, NULL));
	assert_false(harness_said(harness, &topic_timer_fired, 0, NULL, NULL));
	assert_int_equal(harness_count(harness, &topic_timer_fired), 0);
	assert_int_equal(harness_message_seq(harness), 1);

	assert_int_equal(wake(harness, "a", 3, ODD_NOT), TURN_DONE);
	assert_int_equal(harness_count(harness, NULL), 1); /* of the last turn alone */
	assert_true(harness_said(harness, &topic_audit, 0, &audit, &how));
	assert_int_equal(audit.next_us, 8);
	assert_int_equal(audit.decided_on, 3); /* its message, which came behind what the first said */
	assert_int_equal(harness_message_seq(harness), 3);
	assert_int_equal(how.seq, 4);
	assert_int_equal(how.cause, 3);
	assert_string_equal(how.topic, "audit");
	assert_string_equal(how.shop, "demo");
	assert_string_equal(how.key, "a");
	assert_string_equal(how.trace, "00-aa-bb-01");
	assert_string_equal(how.said_by, "harness");
	assert_int_equal(how.time_us, NOW_US);
	assert_int_equal(state_number(harness_state(harness), "balance", "demo", "a"), 8);
	assert_int_equal(state_number(harness_state(harness), "balance", "demo", "b"), 0);
	assert_int_equal(wake(harness, "a", 0, ODD_SAYS_NOTHING), TURN_DONE);
	assert_int_equal(harness_count(harness, NULL), 0);
	harness_free(harness);
	harness_free(NULL);
}

static void what_is_given_is_known_and_has_a_number(void **state)
{
	struct harness *harness = harness_new(&clerk, NOW_US);
	Audit audit = { .next_us = 40 };

	(void)state;
	TEXT_COPY(audit.cart_id, "a");
	GIVEN(harness, audit, &audit, .shop = "demo", .key = "a");
	assert_int_equal(harness_count(harness, NULL), 0); /* it was not said here */
	assert_int_equal(wake(harness, "a", 2, ODD_NOT), TURN_DONE);
	assert_int_equal(balance_said(harness, 0), 42);
	assert_int_equal(harness_message_seq(harness), 2);
	harness_free(harness);
}

/* Only failures are counted, and only of this message. */
static void a_message_that_failed_is_decided_on_again_and_knows_it(void **state)
{
	struct harness *harness = harness_new(&clerk, NOW_US);

	(void)state;
	assert_int_equal(wake(harness, "a", 5, ODD_FAILS_ONCE), TURN_RETRY);
	assert_string_equal(harness_reason(harness), "it fails the first time");
	assert_int_equal(harness_delay_us(harness), 10 * US_PER_MS);
	assert_int_equal(harness_count(harness, NULL), 0);
	assert_int_equal(harness_again(harness), TURN_DONE);
	assert_int_equal(balance_said(harness, 0), 5);
	assert_int_equal(harness_message_seq(harness), 1);
	assert_string_equal(harness_reason(harness), "");
	assert_int_equal(
		harness_again(harness), TURN_DONE); /* the same once more: the clerk would have to look, and does not */
	assert_int_equal(balance_said(harness, 0), 10);
	assert_int_equal(wake(harness, "a", 5, ODD_FAILS_ONCE), TURN_RETRY);
	assert_int_equal(wake(harness, "a", 5, ODD_NEVER), TURN_DEAD_LETTER);
	assert_string_equal(harness_reason(harness), "nobody can decide on this");
	harness_free(harness);
}

/* ---- a service that tells what it sees ---- */

static struct seen {
	int64_t now_us, began_us;
	uint64_t seen, folded, own;
	uint32_t failures;
	char run[32], shop[32];
	int64_t fact_us;
} seen;

static void remember_cart(struct state *state, const struct message_meta *said, const CartClosed *closed)
{
	state_put_number(state, "closed", said->shop, closed->cart_id, said->seq);
	if (said->seq > 0)
		seen.fact_us = said->time_us;
}

static enum verdict hear_cart(const struct state *state, const CartClosed *closed, struct turn *turn)
{
	static CartClosed other;

	seen.now_us = turn_now_us(turn);
	seen.began_us = turn_began_us(turn);
	seen.seen = turn_seen(turn);
	seen.failures = turn_failures(turn);
	seen.folded = state_number(state, "closed", "demo", closed->cart_id);
	TEXT_COPY(seen.run, turn_run(turn));
	TEXT_COPY(seen.shop, turn_message(turn)->shop);
	if (strcmp(closed->cart_id, "waits") == 0)
		return turn_wait(turn, 7, "not yet");
	TEXT_COPY(other.cart_id, "other");
	SAY(turn, cart_closed, &other, .shop = "demo", .key = "other", .version = 9, .tombstone = true);
	seen.own = state_has(state, "closed", "demo", "other");
	return TURN_DONE;
}

static const struct service looker = { .name = "looker",
	.hears = HEARING(HEARS(cart_closed, hear_cart)),
	.remembers = REMEMBERING(REMEMBERS(cart_closed, remember_cart)),
	.says = SAYING(SAYS(cart_closed)) };

static enum verdict close_cart(struct harness *harness, const char *id)
{
	CartClosed closed = { 0 };

	TEXT_COPY(closed.cart_id, id);
	return WHEN(harness, cart_closed, &closed, .shop = "demo", .key = id);
}

/* What it both hears and remembers is folded before it is decided on: the log brings the projection first. */
static void a_message_that_is_remembered_too_is_known_when_it_is_decided_on(void **state)
{
	struct harness *harness = harness_new(&looker, NOW_US);

	(void)state;
	assert_int_equal(close_cart(harness, "a"), TURN_DONE);
	assert_int_equal(seen.folded, 1);
	assert_int_equal(seen.seen, 1);
	assert_int_equal(seen.own, 1); /* and what it says itself, at once */
	assert_int_equal(state_number(harness_state(harness), "closed", "demo", "other"), 2);
	assert_int_equal(close_cart(harness, "b"), TURN_DONE);
	assert_int_equal(seen.folded, 3);
	assert_int_equal(seen.seen, 3);
	GIVEN(harness, cart_closed, &(CartClosed){ .cart_id = "c" }, .shop = "demo", .key = "c");
	assert_int_equal(harness_again(harness), TURN_DONE);
	assert_int_equal(harness_message_seq(harness), 3);
	assert_int_equal(seen.seen, 5); /* all that was folded by now */
	harness_free(harness);
}

static void time_and_the_runs_beginning_are_what_they_are_set_to(void **state)
{
	struct harness *harness = harness_new(&looker, NOW_US);
	struct message_meta how;

	(void)state;
	close_cart(harness, "a");
	assert_int_equal(seen.now_us, NOW_US);
	assert_int_equal(seen.fact_us, NOW_US);
	assert_int_equal(seen.began_us, 0);
	assert_string_equal(seen.run, "harness");
	assert_string_equal(seen.shop, "demo");
	harness_now(harness, NOW_US + 5);
	harness_began(harness, NOW_US - 5);
	close_cart(harness, "a");
	assert_int_equal(seen.now_us, NOW_US + 5);
	assert_int_equal(seen.fact_us, NOW_US + 5);
	assert_int_equal(seen.began_us, NOW_US - 5);
	assert_true(harness_said(harness, &topic_cart_closed, 0, NULL, &how));
	assert_int_equal(how.version, 9);
	assert_true(how.tombstone);
	assert_int_equal(how.time_us, NOW_US + 5);
	harness_free(harness);
}

static void to_wait_is_no_failure(void **state)
{
	struct harness *harness = harness_new(&looker, NOW_US);

	(void)state;
	assert_int_equal(close_cart(harness, "waits"), TURN_RETRY);
	assert_int_equal(harness_delay_us(harness), 7);
	assert_int_equal(harness_again(harness), TURN_RETRY);
	assert_int_equal(seen.failures, 0);
	harness_free(harness);
}

static void failures_are_counted_one_by_one_and_forgotten_with_the_message(void **state)
{
	struct harness *harness = harness_new(&clerk, NOW_US);

	(void)state;
	assert_int_equal(wake(harness, "a", 1, ODD_FAILS), TURN_RETRY);
	assert_int_equal(harness_again(harness), TURN_RETRY);
	assert_int_equal(wake(harness, "a", 1, ODD_FAILS_ONCE), TURN_RETRY); /* another message */
	assert_int_equal(harness_again(harness), TURN_DONE);
	harness_free(harness);
}

/* ---- effects ---- */

static enum verdict click(struct harness *harness, const char *id, uint32_t step)
{
	LinkClicked clicked = { .step = step };

	TEXT_COPY(clicked.cart_id, id);
	return WHEN(harness, link_clicked, &clicked, .shop = "demo", .key = id);
}

static uint64_t claimed(const struct harness *harness, const char *what)
{
	return state_number(harness_state(harness), "claimed", "demo", what);
}

static void a_claim_is_said_once_when_the_effect_asks_whether_it_may_proceed(void **state)
{
	struct harness *harness = harness_new(&postman, NOW_US);
	SendClaim claim;
	struct message_meta how;

	(void)state;
	assert_int_equal(click(harness, "c", 1), TURN_PENDING);
	assert_non_null(harness_effect_request(harness));
	assert_int_equal(claimed(harness, "c/1"), 0);
	assert_true(harness_may_proceed(harness));
	assert_int_equal(claimed(harness, "c/1"), 1);
	assert_true(harness_said(harness, &topic_send_claim, 0, &claim, &how));
	assert_int_equal(claim.due_seq, 1);
	assert_int_equal(claim.claimed_us, NOW_US);
	assert_string_equal(claim.owner, "harness");
	assert_string_equal(how.idem, "c/1/1");
	assert_int_equal(how.seq, 2);
	assert_true(harness_may_proceed(harness));
	assert_int_equal(harness_result(harness, &(int){ 1 }, CLAIM_FRESH), TURN_DONE);
	assert_null(harness_effect_request(harness));
	assert_true(harness_said(harness, &topic_reminder_sent, 0, NULL, &how));
	assert_int_equal(how.seq, 3); /* no second claim between the two */
	assert_int_equal(click(harness, "c", 1), TURN_DONE);
	assert_int_equal(click(harness, "c", 2), TURN_PENDING);
	assert_true(harness_may_proceed(harness)); /* the next effect has a claim of its own */
	assert_int_equal(claimed(harness, "c/2"), 1);
	harness_free(harness);
}

static void what_forbids_it_meanwhile_stops_the_effect(void **state)
{
	struct harness *harness = harness_new(&postman, NOW_US);
	CartClosed closed = { .cart_id = "c" };

	(void)state;
	assert_int_equal(click(harness, "c", 1), TURN_PENDING);
	GIVEN(harness, cart_closed, &closed, .shop = "demo", .key = "c");
	assert_false(harness_may_proceed(harness));
	assert_int_equal(claimed(harness, "c/1"), 1); /* it was claimed, and is released by what comes of it */
	assert_int_equal(harness_result(harness, NULL, CLAIM_UNUSED), TURN_RETRY);
	assert_int_equal(harness_count(harness, &topic_reminder_released), 1);
	harness_free(harness);
}

/* A test may give an answer without a claim before it. CLAIM_FRESH and CLAIM_UNUSED then put the test's own claim into the log. */
static void a_result_has_the_claim_that_it_needs(void **state)
{
	static const struct {
		enum claim_answer answer;
		uint64_t claims;
		enum verdict verdict;
		const struct topic *says;
	} cases[] = {
		{ CLAIM_NONE, 0, TURN_RETRY, NULL },
		{ CLAIM_FRESH, 1, TURN_DONE, &topic_reminder_ambiguous },
		{ CLAIM_UNUSED, 1, TURN_RETRY, &topic_reminder_released },
		{ CLAIM_DUPLICATE, 0, TURN_RETRY, NULL },
		{ CLAIM_REFUSED, 0, TURN_RETRY, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *harness = harness_new(&postman, NOW_US);

		assert_int_equal(click(harness, "c", 1), TURN_PENDING);
		assert_int_equal(harness_result(harness, NULL, cases[i].answer), cases[i].verdict);
		assert_int_equal(claimed(harness, "c/1"), cases[i].claims);
		assert_int_equal(harness_count(harness, NULL), cases[i].says ? 1 : 0);
		if (cases[i].says)
			assert_int_equal(harness_count(harness, cases[i].says), 1);
		harness_free(harness);
	}
}

static void a_message_that_is_delivered_again_begins_its_effect_anew(void **state)
{
	struct harness *harness = harness_new(&postman, NOW_US);

	(void)state;
	assert_int_equal(click(harness, "c", 1), TURN_PENDING);
	assert_int_equal(harness_again(harness), TURN_PENDING);
	assert_true(harness_may_proceed(harness));
	assert_int_equal(harness_again(harness), TURN_RETRY); /* claimed: its outcome is to come */
	assert_null(harness_effect_request(harness));
	harness_free(harness);
}

static void a_claim_that_an_earlier_run_left_unused_is_told_to_the_service(void **state)
{
	struct harness *harness = harness_new(&postman, NOW_US);
	struct claim_note note = { .seq = 7, .version = 2 };
	SendUnused unused;

	(void)state;
	TEXT_COPY(note.run, "earlier");
	assert_int_equal(click(harness, "c", 1), TURN_PENDING);
	assert_true(harness_may_proceed(harness));
	harness_unused(harness, &note);
	assert_int_equal(harness_count(harness, NULL), 1);
	assert_true(harness_said(harness, &topic_send_unused, 0, &unused, NULL));
	assert_string_equal(unused.owner, "earlier");
	assert_int_equal(unused.due_seq, 7);
	assert_int_equal(unused.attempt, 2);
	assert_true(state_has(harness_state(harness), "unused", "demo", "7/2"));
	harness_free(harness);
}

/* ---- the clock ---- */

static void set_timer(struct harness *harness, const char *name, int64_t due_us)
{
	TimerSet set = { .due_us = due_us, .version = 1 };

	TEXT_COPY(set.name, name);
	GIVEN(harness, timer_set, &set, .shop = "demo", .key = name, .version = 1);
}

static void expect_fired(const struct harness *harness, size_t nth, const char *name, int64_t due_us, int64_t fired_us)
{
	TimerFired fired;
	struct message_meta how;

	assert_true(harness_said(harness, &topic_timer_fired, nth, &fired, &how));
	assert_string_equal(fired.name, name);
	assert_int_equal(fired.due_us, due_us);
	assert_int_equal(fired.fired_us, fired_us);
	assert_string_equal(how.shop, "demo");
	assert_int_equal(how.cause, 0);
}

static void what_is_due_fires_one_by_one_at_its_own_time(void **state)
{
	struct harness *harness = harness_new(&bell, NOW_US);

	(void)state;
	set_timer(harness, "late", NOW_US - 10);
	set_timer(harness, "second", NOW_US + 20);
	set_timer(harness, "third", NOW_US + 21);
	set_timer(harness, "first", NOW_US + 10);
	harness_tick(harness, NOW_US + 20);
	assert_int_equal(harness_count(harness, NULL), 3);
	expect_fired(harness, 0, "late", NOW_US - 10, NOW_US); /* time does not go back */
	expect_fired(harness, 1, "first", NOW_US + 10, NOW_US + 10);
	expect_fired(harness, 2, "second", NOW_US + 20, NOW_US + 20);
	harness_tick(harness, NOW_US + 30);
	assert_int_equal(harness_count(harness, NULL), 1); /* of this tick alone */
	expect_fired(harness, 0, "third", NOW_US + 21, NOW_US + 21);
	set_timer(harness, "last", NOW_US + 25);
	harness_tick(harness, NOW_US + 40);
	expect_fired(harness, 0, "last", NOW_US + 25, NOW_US + 30); /* the time that it was */
	harness_free(harness);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_turn_says_is_told_and_is_known_to_the_next),
		cmocka_unit_test(what_is_given_is_known_and_has_a_number),
		cmocka_unit_test(a_message_that_failed_is_decided_on_again_and_knows_it),
		cmocka_unit_test(a_message_that_is_remembered_too_is_known_when_it_is_decided_on),
		cmocka_unit_test(time_and_the_runs_beginning_are_what_they_are_set_to),
		cmocka_unit_test(to_wait_is_no_failure),
		cmocka_unit_test(failures_are_counted_one_by_one_and_forgotten_with_the_message),
		cmocka_unit_test(a_claim_is_said_once_when_the_effect_asks_whether_it_may_proceed),
		cmocka_unit_test(what_forbids_it_meanwhile_stops_the_effect),
		cmocka_unit_test(a_result_has_the_claim_that_it_needs),
		cmocka_unit_test(a_message_that_is_delivered_again_begins_its_effect_anew),
		cmocka_unit_test(a_claim_that_an_earlier_run_left_unused_is_told_to_the_service),
		cmocka_unit_test(what_is_due_fires_one_by_one_at_its_own_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
