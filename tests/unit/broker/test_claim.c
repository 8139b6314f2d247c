/* claims: parked until no gateway can hold a stop that nobody has seen */
#include "bus/base/text.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_claim_is_numbered_at_once_when_there_is_no_gateway(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w");
	Confirm confirm;

	(void)state;
	peer_hello(worker, "run", 0);
	confirm = SAID(worker, .topic = "claim", .idem = "c", .claim = true);
	assert_int_equal(confirm.kind, CONFIRM_FRESH);
	assert_int_equal(confirm.seq, 1);
	assert_int_equal(confirm.head, 1);
	desk_close(desk);
}

static void a_claim_waits_until_the_gateway_has_drained(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *door = peer_new(desk, "door", "d");
	Confirm confirm;
	uint64_t request;

	(void)state;
	peer_hello(worker, "run", 0);
	peer_hello(door, "run", 0);
	peer_heartbeat(door, 3);
	peer_heartbeat(door, 3);
	request = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	desk_work(desk);
	assert_false(peer_confirm(worker, request, &confirm));
	assert_int_equal(broker_head(desk->broker), 0);
	SAID(door, .topic = "raw");
	peer_heartbeat(door, 0);
	desk_work(desk);
	assert_true(peer_confirm(worker, request, &confirm));
	assert_int_equal(confirm.seq, 2);
	assert_int_equal(confirm.head, 2);
	desk_close(desk);
}

static void a_claim_waits_for_the_gateways_promise(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *door = peer_new(desk, "door", "d");
	Confirm confirm;
	uint64_t request;

	(void)state;
	peer_hello(worker, "run", 0);
	peer_hello(door, "run", 0);
	request = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	desk_work(desk);
	assert_false(peer_confirm(worker, request, &confirm)); /* it has not echoed a ping yet */
	peer_heartbeat(door, 0);
	desk_work(desk);
	assert_false(peer_confirm(worker, request, &confirm));
	peer_heartbeat(door, 0);
	desk_work(desk);
	assert_true(peer_confirm(worker, request, &confirm));
	desk_close(desk);
}

/* The stop may have been accepted between the claim's number and its answer: the sender must pass it before it goes on. */
static void a_claim_with_a_number_is_held_when_a_gateway_spools_meanwhile(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *door = peer_new(desk, "door", "d");
	Confirm confirm;
	uint64_t request;

	(void)state;
	peer_hello(worker, "run", 0);
	peer_hello(door, "run", 0);
	peer_heartbeat(door, 0);
	peer_heartbeat(door, 0);
	request = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	peer_heartbeat(door, 1);
	desk_work(desk);
	assert_int_equal(broker_head(desk->broker), 1);
	assert_false(peer_confirm(worker, request, &confirm));
	SAID(door, .topic = "raw");
	assert_false(peer_confirm(worker, request, &confirm));
	peer_heartbeat(door, 0);
	desk_work(desk);
	assert_true(peer_confirm(worker, request, &confirm));
	assert_int_equal(confirm.kind, CONFIRM_FRESH);
	assert_int_equal(confirm.seq, 1);
	assert_int_equal(confirm.head, 2);
	desk_close(desk);
}

static void a_gateway_that_is_away_holds_claims_until_it_is_struck(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *door = peer_new(desk, "door", "d");
	struct peer *admin = peer_new(desk, "admin", "a");
	Confirm confirm;
	uint64_t request;
	json_t *answer;

	(void)state;
	peer_hello(worker, "run", 0);
	peer_hello(door, "run", 0);
	peer_hello(admin, "run", 0);
	peer_goodbye(door);
	request = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	desk_pass(desk, US_PER_MINUTE);
	assert_false(peer_confirm(worker, request, &confirm));
	answer = peer_ask(admin, "gateway.strike", "{\"name\":\"d\"}");
	assert_true(json_is_true(json_object_get(answer, "struck")));
	json_decref(answer);
	desk_work(desk);
	assert_true(peer_confirm(worker, request, &confirm));
	assert_int_equal(confirm.kind, CONFIRM_FRESH);
	desk_close(desk);
}

static void a_parked_claim_whose_owner_died_is_released(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *other = peer_new(desk, "worker", "o");
	struct peer *door = peer_new(desk, "door", "d");

	(void)state;
	peer_hello(door, "run", 0);
	peer_hello(worker, "run", 0);
	PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	desk_work(desk);
	peer_hello(worker, "run 2", 0);
	desk_pass(desk, US_PER_S);
	peer_hello(other, "run", 0);
	assert_int_equal(
		SAID(other, .topic = "claim", .idem = "c", .claim = true, .text = "other").kind, CONFIRM_FRESH);
	desk_close(desk);
}

static void of_two_claims_under_one_key_one_is_fresh(void **state)
{
	struct desk *desk = desk_open();
	struct peer *one = peer_new(desk, "worker", "1"), *other = peer_new(desk, "worker", "2");

	(void)state;
	peer_hello(one, "run", 0);
	peer_hello(other, "run", 0);
	assert_int_equal(SAID(one, .topic = "claim", .idem = "c", .claim = true, .text = "one").kind, CONFIRM_FRESH);
	assert_int_equal(
		SAID(other, .topic = "claim", .idem = "c", .claim = true, .text = "2").kind, CONFIRM_DUPLICATE);
	desk_close(desk);
}

static void a_claim_said_again_word_for_word_after_a_broken_session_is_still_fresh(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w");
	Confirm confirm;

	(void)state;
	peer_hello(worker, "run", 0);
	SAID(worker, .topic = "claim", .idem = "c", .claim = true, .text = "mine");
	peer_hello(worker, "run", 0);
	confirm = SAID(worker, .topic = "claim", .idem = "c", .claim = true, .text = "mine");
	assert_int_equal(confirm.kind, CONFIRM_FRESH);
	assert_int_equal(confirm.seq, 1);
	assert_int_equal(broker_head(desk->broker), 1);
	desk_close(desk);
}

static void a_claim_is_not_part_of_a_turn(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *talker = peer_new(desk, "talker", "t");
	const struct words claim = { .topic = "claim", .claim = true };
	Receipt receipt;

	(void)state;
	peer_hello(worker, "run", 0);
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "work");
	receipt = peer_delivery(worker)->down.what.delivery.receipt;
	assert_true(TURN(worker, &receipt, .facts = &claim, .fact_count = 1).poisoned);
	desk_close(desk);
}

static void gateways_are_remembered_over_a_restart(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *worker = peer_new(desk, "worker", "w"), *door = peer_new(desk, "door", "d");
	Confirm confirm;
	uint64_t request;

	(void)state;
	peer_hello(door, "run", 0);
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	peer_hello(worker, "run", 0);
	request = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	desk_work(desk);
	assert_false(peer_confirm(worker, request, &confirm));
	peer_hello(door, "run", 0);
	desk_pass(desk, US_PER_S);
	assert_true(peer_confirm(worker, request, &confirm));
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claim_is_numbered_at_once_when_there_is_no_gateway),
		cmocka_unit_test(a_claim_waits_until_the_gateway_has_drained),
		cmocka_unit_test(a_claim_waits_for_the_gateways_promise),
		cmocka_unit_test(a_claim_with_a_number_is_held_when_a_gateway_spools_meanwhile),
		cmocka_unit_test(a_gateway_that_is_away_holds_claims_until_it_is_struck),
		cmocka_unit_test(a_parked_claim_whose_owner_died_is_released),
		cmocka_unit_test(of_two_claims_under_one_key_one_is_fresh),
		cmocka_unit_test(a_claim_said_again_word_for_word_after_a_broken_session_is_still_fresh),
		cmocka_unit_test(a_claim_is_not_part_of_a_turn),
		cmocka_unit_test(gateways_are_remembered_over_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
