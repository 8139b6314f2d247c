/* claims: parked until no gateway can hold a stop that nobody has seen */
#include "bus/base/text.h"
#include "bus/wire/registry.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
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
	struct peer *worker = peer_new(desk, "worker", "w"), *gateway = peer_new(desk, "door", "d");
	Confirm confirm;
	uint64_t request;

	(void)state;
	peer_hello(worker, "run", 0);
	peer_hello(gateway, "run", 0);
	peer_heartbeat(gateway, 3);
	peer_heartbeat(gateway, 3);
	request = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	desk_work(desk);
	assert_false(peer_confirm(worker, request, &confirm));
	assert_int_equal(broker_head(desk->broker), 0);
	SAID(gateway, .topic = "raw");
	peer_heartbeat(gateway, 0);
	desk_work(desk);
	assert_true(peer_confirm(worker, request, &confirm));
	assert_int_equal(confirm.seq, 2);
	assert_int_equal(confirm.head, 2);
	desk_close(desk);
}

static void a_claim_waits_for_the_gateways_promise(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *gateway = peer_new(desk, "door", "d");
	Confirm confirm;
	uint64_t request;

	(void)state;
	peer_hello(worker, "run", 0);
	peer_hello(gateway, "run", 0);
	request = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	desk_work(desk);
	assert_false(peer_confirm(worker, request, &confirm)); /* it has not echoed a ping yet */
	peer_heartbeat(gateway, 0);
	desk_work(desk);
	assert_false(peer_confirm(worker, request, &confirm));
	peer_heartbeat(gateway, 0);
	desk_work(desk);
	assert_true(peer_confirm(worker, request, &confirm));
	desk_close(desk);
}

/* The stop may have been accepted between the claim's number and its answer: the sender must pass it before it goes on. */
static void a_claim_with_a_number_is_held_when_a_gateway_spools_meanwhile(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *gateway = peer_new(desk, "door", "d");
	Confirm confirm;
	uint64_t request;

	(void)state;
	peer_hello(worker, "run", 0);
	peer_hello(gateway, "run", 0);
	peer_heartbeat(gateway, 0);
	peer_heartbeat(gateway, 0);
	request = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	peer_heartbeat(gateway, 1);
	desk_work(desk);
	assert_int_equal(broker_head(desk->broker), 1);
	assert_false(peer_confirm(worker, request, &confirm));
	SAID(gateway, .topic = "raw");
	assert_false(peer_confirm(worker, request, &confirm));
	peer_heartbeat(gateway, 0);
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
	struct peer *worker = peer_new(desk, "worker", "w"), *gateway = peer_new(desk, "door", "d");
	struct peer *admin = peer_new(desk, "admin", "a");
	Confirm confirm;
	uint64_t request;
	json_t *answer;

	(void)state;
	peer_hello(worker, "run", 0);
	peer_hello(gateway, "run", 0);
	peer_hello(admin, "run", 0);
	peer_goodbye(gateway);
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
	struct peer *gateway = peer_new(desk, "door", "d");

	(void)state;
	peer_hello(gateway, "run", 0);
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
	struct peer *worker = peer_new(desk, "worker", "w"), *gateway = peer_new(desk, "door", "d");
	Confirm confirm;
	uint64_t request;

	(void)state;
	peer_hello(gateway, "run", 0);
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	peer_hello(worker, "run", 0);
	request = PUBLISH(worker, .topic = "claim", .idem = "c", .claim = true);
	desk_work(desk);
	assert_false(peer_confirm(worker, request, &confirm));
	peer_hello(gateway, "run", 0);
	desk_pass(desk, US_PER_S);
	assert_true(peer_confirm(worker, request, &confirm));
	desk_close(desk);
}

static void strike(struct peer *admin, const char *argument)
{
	json_t *answer = peer_ask(admin, "gateway.strike", argument);

	assert_true(json_is_true(json_object_get(answer, "struck")));
	json_decref(answer);
}

static void a_gateway_that_was_struck_off_stays_so_over_a_restart(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *worker = peer_new(desk, "worker", "w"), *gateway = peer_new(desk, "door", "d");
	struct peer *admin = peer_new(desk, "admin", "a");

	(void)state;
	peer_hello(gateway, "run", 0);
	peer_hello(admin, "run", 0);
	peer_goodbye(gateway);
	strike(admin, "{\"name\":\"d\"}");
	desk_work(desk);
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	peer_hello(worker, "run", 0);
	assert_int_equal(SAID(worker, .topic = "claim", .idem = "c", .claim = true).kind, CONFIRM_FRESH);
	desk_close(desk);
}

/* ---- a key has its names ---- */

static struct peer *gateway_named(struct desk *desk, const char *name, int key)
{
	struct peer *gateway = peer_new(desk, "door", name);

	snprintf(gateway->who, sizeof(gateway->who), "key:%064d", key);
	peer_hello(gateway, "run", 0);
	return gateway;
}

static struct registry *know(struct desk *desk, const char *names_of_two)
{
	char text[600];
	struct registry *registry = NULL;
	struct config_error error;

	snprintf(text, sizeof(text),
		"[key one]\nservice = door\ninstance = one\npublic = %064d\n"
		"[key two]\nservice = door\n%spublic = %064d\n"
		"[key rest]\nservice = worker admin\nrights = all\npublic = %064d\n",
		1, names_of_two, 2, 3);
	assert_int_equal(registry_parse_peers(text, "peers.conf", &registry, &error), 0);
	broker_admit(desk->broker, registry);
	return registry;
}

static void a_key_brings_as_many_gateways_as_it_may_and_no_more(void **state)
{
	struct desk *desk = desk_open_disk();
	struct registry *registry = know(desk, "names = 2\n");
	struct peer *admin = peer_new(desk, "admin", "a"), *gateway;

	(void)state;
	snprintf(admin->who, sizeof(admin->who), "key:%064d", 3);
	peer_hello(admin, "run", 0);
	assert_true(gateway_named(desk, "a", 2)->mailbox_open);
	gateway = gateway_named(desk, "b", 2);
	assert_true(gateway->mailbox_open);
	peer_goodbye(gateway); /* one that is away counts: it holds up the claims */
	gateway = gateway_named(desk, "c", 2);
	assert_true(gateway->refused && !gateway->refused_final && !gateway->mailbox_open);
	assert_non_null(strstr(gateway->reason, "key two may be 2 gateways (\"names\") and was "));
	assert_true(strstr(gateway->reason, "was a, b:") || strstr(gateway->reason, "was b, a:"));
	assert_non_null(strstr(gateway->reason, "gateway strike"));
	assert_true(gateway_named(desk, "b", 2)->mailbox_open); /* known: it comes back */
	assert_true(gateway_named(desk, "one", 1)->mailbox_open);

	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	broker_admit(desk->broker, registry);
	assert_true(gateway_named(desk, "c", 2)->refused); /* whose they are is on the disk */
	peer_hello(admin, "run", 0);
	strike(admin, "{\"name\":\"a\"}");
	assert_true(gateway_named(desk, "c", 2)->mailbox_open);
	desk_close(desk);
	registry_free(registry);
}

static void a_stolen_key_that_says_nothing_of_names_brings_four(void **state)
{
	struct desk *desk = desk_open();
	struct registry *registry = know(desk, "");
	int let_in = 0;

	(void)state;
	for (int i = 0; i < 10; i++) {
		char name[16];

		snprintf(name, sizeof(name), "forged-%d", i);
		let_in += gateway_named(desk, name, 2)->mailbox_open;
	}
	assert_int_equal(let_in, 4);
	desk_close(desk);
	registry_free(registry);
}

static void an_identity_has_so_many_instances_at_a_time(void **state)
{
	struct desk *desk = desk_open();
	struct registry *registry = NULL;
	struct config_error error;
	struct peer *workers[3];

	(void)state;
	assert_int_equal(
		registry_parse_peers("[key w]\nservice = worker\nnames = 2\n"
				     "public = 0000000000000000000000000000000000000000000000000000000000000005\n",
			"peers.conf", &registry, &error),
		0);
	broker_admit(desk->broker, registry);
	for (int i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "w%d", i);
		workers[i] = peer_new(desk, "worker", name);
		snprintf(workers[i]->who, sizeof(workers[i]->who), "key:%064d", 5);
		peer_hello(workers[i], "run", 0);
		assert_int_equal(workers[i]->mailbox_open, i < 2);
	}
	assert_non_null(strstr(workers[2]->reason, "w may be 2 instances at a time"));
	peer_goodbye(workers[0]);
	peer_hello(workers[2], "run", 0);
	assert_true(workers[2]->mailbox_open);
	peer_hello(workers[1], "another run", 0); /* itself anew */
	assert_true(workers[1]->mailbox_open);
	desk_close(desk);
	registry_free(registry);
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
		cmocka_unit_test(a_gateway_that_was_struck_off_stays_so_over_a_restart),
		cmocka_unit_test(a_key_brings_as_many_gateways_as_it_may_and_no_more),
		cmocka_unit_test(a_stolen_key_that_says_nothing_of_names_brings_four),
		cmocka_unit_test(an_identity_has_so_many_instances_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
