/*
 * conformance.c: what the runtime and the broker promise a service, wherever they run
 *
 * Linked twice: with world_sim.c and with world_real.c.
 */
#include "tests/unit/actor/conformance.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/base/text.h"
#include "tests/unit/part.h"
#include <stdio.h>
#include <stdlib.h>

/* --- asking the world --- */

struct counted {
	const struct topic *topic;
	const char *key;
	size_t count;
};

static void count_one(const struct message_meta *said, struct bytes payload, void *context)
{
	struct counted *counted = context;

	(void)payload;
	if (strcmp(said->topic, counted->topic->name) == 0 && (!counted->key || strcmp(said->key, counted->key) == 0))
		counted->count++;
}

size_t world_count(struct world *world, const struct topic *topic, const char *key)
{
	struct counted counted = { .topic = topic, .key = key };

	world_log(world, count_one, &counted);
	return counted.count;
}

static bool count_is_reached(struct world *world, void *context)
{
	const struct counted *wanted = context;

	return world_count(world, wanted->topic, wanted->key) >= wanted->count;
}

void await_count(struct world *world, const struct topic *topic, const char *key, size_t count)
{
	struct counted wanted = { .topic = topic, .key = key, .count = count };

	assert_true(world_until(world, count_is_reached, &wanted));
}

static bool is_ready(struct world *world, void *instance)
{
	struct runtime *runtime = world_runtime(world, instance);

	return runtime && runtime_phase(runtime) == RUNTIME_READY;
}

void await_ready(struct world *world, const char *instance)
{
	assert_true(world_until(world, is_ready, (void *)instance));
}

static uint64_t balance(struct world *world, const char *instance, const char *account)
{
	return state_number(runtime_state(world_runtime(world, instance)), "balance", SHOP, account);
}

struct wanted_balance {
	const char *instance, *account;
	uint64_t balance;
};

static bool balance_is(struct world *world, void *context)
{
	const struct wanted_balance *wanted = context;

	return is_ready(world, (void *)wanted->instance) &&
		balance(world, wanted->instance, wanted->account) == wanted->balance;
}

static void await_balance(struct world *world, const char *instance, const char *account, uint64_t wanted)
{
	struct wanted_balance context = { instance, account, wanted };

	assert_true(world_until(world, balance_is, &context));
}

/* --- saying --- */

static enum said_result try_add(
	struct world *world, const char *key, const char *account, int amount, enum oddity oddity, const char *idem)
{
	CartWake wake = { .due_us = amount, .revision = oddity };

	TEXT_COPY(wake.cart_id, account);
	return WORLD_SAY(world, cart_wake, &wake, .shop = SHOP, .key = key, .idem = idem);
}

enum { TRIES = 20 };

/* On a loaded machine a session may be lost on the way: then nobody knows, and it is said again. */
static bool has_said(enum said_result result, int tried)
{
	if (result == SAID_FRESH || (result == SAID_DUPLICATE && tried > 0))
		return true;
	assert_int_equal(result, SAID_UNKNOWN);
	assert_true(tried + 1 < TRIES);
	return false;
}

static void name_saying(char ret_idem[40])
{
	static int saying;

	snprintf(ret_idem, 40, "saying-%d", ++saying);
}

static void add(struct world *world, const char *key, const char *account, int amount, enum oddity oddity)
{
	char idem[40];
	int tried = 0;

	name_saying(idem);
	while (!has_said(try_add(world, key, account, amount, oddity, idem), tried))
		tried++;
}

void click(struct world *world, const char *cart, uint32_t step)
{
	LinkClicked clicked = { .step = step };
	char idem[40];
	int tried = 0;

	TEXT_COPY(clicked.cart_id, cart);
	name_saying(idem);
	while (!has_said(WORLD_SAY(world, link_clicked, &clicked, .shop = SHOP, .key = cart, .idem = idem), tried))
		tried++;
}

/* --- turns --- */

/* Every audit is the one before plus what was added: nothing twice, nothing lost, nothing seen too late. */
struct sums {
	uint64_t last, amount, wrong, total;
};

static void check_sum(const struct message_meta *said, struct bytes payload, void *context)
{
	struct sums *sums = context;
	static Audit audit;

	if (strcmp(said->topic, "audit") != 0 || !state_row(payload, Audit_fields, &audit))
		return;
	if ((uint64_t)audit.next_us != sums->last + sums->amount)
		sums->wrong++;
	sums->last = (uint64_t)audit.next_us;
}

static bool sum_is_reached(struct world *world, void *context)
{
	struct sums *sums = context;

	sums->last = sums->wrong = 0;
	world_log(world, check_sum, sums);
	return sums->last >= sums->total;
}

/* A balance is seen before it is committed: what counts is the log. */
static void assert_sums(struct world *world, uint64_t amount, uint64_t total)
{
	struct sums sums = { .amount = amount, .total = total };

	assert_true(world_until(world, sum_is_reached, &sums));
	assert_int_equal(sums.wrong, 0);
	assert_int_equal(sums.last, total);
}

static void a_decision_sees_the_facts_of_those_before_it(void **context)
{
	struct world *world = world_new(cast, 1);
	char key[20];

	(void)context;
	for (int i = 0; i < 200; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		add(world, key, "till", 3, ODD_NOT);
	}
	world_start(world, "clerk", &clerk, NULL); /* all two hundred wait for it: they are pipelined */
	await_balance(world, "clerk", "till", 600);
	assert_sums(world, 3, 600);
	world_free(world);
}

static void a_redelivery_changes_nothing_twice(void **context)
{
	struct world *world = world_new(cast, 2);
	char key[20];

	(void)context;
	world_start(world, "clerk", &clerk, NULL);
	for (int i = 0; i < 60; i++) {
		snprintf(key, sizeof(key), "key-%d", i % 7);
		add(world, key, "till", 5, ODD_NOT);
		if (i % 6 == 3) {
			world_kill(world, "clerk");
			world_restart(world, "clerk");
		}
	}
	await_balance(world, "clerk", "till", 300);
	assert_sums(world, 5, 300);
	world_free(world);
}

static void a_repeat_is_answered_with_the_first(void **context)
{
	struct world *world = world_new(cast, 3);
	CartWake wake = { .cart_id = "till", .due_us = 1 };
	uint64_t first = 0, second = 0;
	const struct publish_options how = { .shop = SHOP, .key = "k", .idem = "once" };

	(void)context;
	assert_int_equal(world_say(world, &topic_cart_wake, &how, &wake, &first), SAID_FRESH);
	assert_int_equal(world_say(world, &topic_cart_wake, &how, &wake, &second), SAID_DUPLICATE);
	assert_int_equal(first, second);
	assert_int_equal(world_count(world, &topic_cart_wake, "k"), 1);
	world_free(world);
}

static void a_turn_is_all_or_nothing(void **context)
{
	struct world *world = world_new(cast, 4);

	(void)context;
	world_start(world, "clerk", &clerk, NULL);
	add(world, "a", "till", 10, ODD_NOT);
	add(world, "b", "till", 1000, ODD_BAD_FACT); /* its first fact is fine, its second is not */
	add(world, "c", "till", 10, ODD_NOT);
	await_balance(world, "clerk", "till", 20);
	assert_sums(world, 10, 20);
	assert_int_equal(runtime_metrics(world_runtime(world, "clerk")).sessions, 2);
	world_free(world);
}

static void what_fails_too_often_frees_its_key(void **context)
{
	struct world *world = world_new(cast, 5);

	(void)context;
	world_start(world, "clerk", &clerk, NULL);
	add(world, "k", "till", 1, ODD_NOT);
	add(world, "k", "till", 100, ODD_FAILS);
	add(world, "k", "till", 1, ODD_NEVER);
	add(world, "k", "till", 1, ODD_NOT); /* behind both, same key */
	await_balance(world, "clerk", "till", 2);
	assert_int_equal(runtime_metrics(world_runtime(world, "clerk")).failures, 6); /* five, and the one for good */
	world_free(world);
}

struct order {
	char accounts[8][72];
	int count;
};

static void note_order(const struct message_meta *said, struct bytes payload, void *context)
{
	struct order *order = context;
	static Audit audit;

	if (strcmp(said->topic, "audit") == 0 && state_row(payload, Audit_fields, &audit) && order->count < 8)
		TEXT_COPY(order->accounts[order->count++], audit.cart_id);
}

static void the_order_of_a_key_survives_a_retry(void **context)
{
	struct world *world = world_new(cast, 6);
	struct order order = { .count = 0 };

	(void)context;
	world_start(world, "clerk", &clerk, NULL);
	add(world, "k", "first", 1, ODD_FAILS_ONCE);
	add(world, "k", "second", 1, ODD_NOT);
	add(world, "k", "third", 1, ODD_FAILS_ONCE);
	add(world, "k", "fourth", 1, ODD_NOT);
	await_count(world, &topic_audit, NULL, 4);
	world_log(world, note_order, &order);
	assert_string_equal(order.accounts[0], "first");
	assert_string_equal(order.accounts[1], "second");
	assert_string_equal(order.accounts[2], "third");
	assert_string_equal(order.accounts[3], "fourth");
	world_free(world);
}

/* --- state --- */

static void dump(struct world *world, const char *instance, struct buffer *ret)
{
	buffer_clear(ret);
	state_dump(runtime_state(world_runtime(world, instance)), ret);
}

static void a_deleted_store_is_folded_again_to_the_same_state(void **context)
{
	struct world *world = world_new(cast, 7);
	struct buffer before = { 0 }, after = { 0 };
	char key[20];

	(void)context;
	world_start(world, "clerk", &clerk, NULL);
	for (int i = 0; i < 50; i++) {
		snprintf(key, sizeof(key), "account-%d", i % 9);
		add(world, key, key, i, ODD_NOT);
	}
	await_count(world, &topic_audit, NULL, 50);
	await_balance(world, "clerk", "account-4", 4 + 13 + 22 + 31 + 40 + 49);
	dump(world, "clerk", &before);
	world_kill(world, "clerk");
	world_forget(world, "clerk");
	world_restart(world, "clerk");
	await_ready(world, "clerk");
	dump(world, "clerk", &after);
	assert_true(before.len > 0);
	assert_string_equal(buffer_text(&before), buffer_text(&after));
	buffer_free(&before);
	buffer_free(&after);
	world_free(world);
}

static void nothing_is_decided_before_the_state_has_caught_up(void **context)
{
	struct world *world = world_new(cast, 8);
	char key[20];

	(void)context;
	world_start(world, "clerk", &clerk, NULL);
	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		add(world, key, "till", 2, ODD_NOT);
	}
	await_balance(world, "clerk", "till", 200);
	world_kill(world, "clerk");
	world_forget(world, "clerk"); /* an empty store, and work waiting for it */
	add(world, "k", "till", 2, ODD_NOT);
	world_restart(world, "clerk");
	await_balance(world, "clerk", "till", 202);
	assert_sums(world, 2, 202);
	world_free(world);
}

/* Which is the active one is the broker's to say: one that was starved for seconds is given up, and then the other is. */
struct pair {
	const char *active, *standby;
	uint64_t balance;
};

static bool is_pair(struct world *world, const char *active, const char *standby, struct pair *pair)
{
	if (runtime_phase(world_runtime(world, standby)) != RUNTIME_STANDBY || !is_ready(world, (void *)active) ||
		balance(world, active, "till") != pair->balance)
		return false;
	pair->active = active;
	pair->standby = standby;
	return true;
}

static bool one_stands_by(struct world *world, void *context)
{
	return is_pair(world, "clerk-a", "clerk-b", context) || is_pair(world, "clerk-b", "clerk-a", context);
}

static void a_standby_takes_over(void **context)
{
	struct world *world = world_new(cast, 9);
	struct pair pair = { .balance = 7 };

	(void)context;
	world_start(world, "clerk-a", &clerk, NULL);
	await_ready(world, "clerk-a");
	world_start(world, "clerk-b", &clerk, NULL);
	add(world, "k", "till", 7, ODD_NOT);
	assert_true(world_until(world, one_stands_by, &pair));
	world_kill(world, pair.active);
	add(world, "k", "till", 7, ODD_NOT);
	await_balance(world, pair.standby, "till", 14);
	assert_sums(world, 7, 14);
	world_free(world);
}

/* --- the broker dies --- */

static void a_broker_that_dies_loses_and_repeats_nothing(void **context)
{
	struct world *world = world_new(cast, 10);
	char key[20];

	(void)context;
	world_start(world, "clerk", &clerk, NULL);
	for (int i = 0; i < 40; i++) {
		snprintf(key, sizeof(key), "key-%d", i % 5);
		add(world, key, "till", 4, ODD_NOT);
		if (i % 16 == 9) {
			world_kill_broker(world);
			world_restart_broker(world);
		}
	}
	await_balance(world, "clerk", "till", 160);
	assert_sums(world, 4, 160);
	world_free(world);
}

/* --- the clock --- */

static void a_clock_turn_fires_once(void **context)
{
	struct world *world = world_new(cast, 16);
	TimerSet set = { .version = 1 };
	char name[20];

	(void)context;
	world_start(world, "bell", &bell, NULL);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "timer-%d", i);
		TEXT_COPY(set.name, name);
		set.due_us = world_now_us(world) + i % 4 * 300 * US_PER_MS;
		assert_int_equal(
			WORLD_SAY(world, timer_set, &set, .shop = SHOP, .key = name, .version = 1), SAID_FRESH);
		if (i == 7 || i == 13) {
			world_kill(world, "bell");
			world_restart(world, "bell");
		}
	}
	await_count(world, &topic_timer_fired, NULL, 20);
	world_for(world, 2 * US_PER_S);
	assert_int_equal(world_count(world, &topic_timer_fired, NULL), 20);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "timer-%d", i);
		assert_int_equal(world_count(world, &topic_timer_fired, name), 1);
	}
	world_free(world);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[] = {
		cmocka_unit_test(a_decision_sees_the_facts_of_those_before_it),
		cmocka_unit_test(a_redelivery_changes_nothing_twice),
		cmocka_unit_test(a_repeat_is_answered_with_the_first),
		cmocka_unit_test(a_turn_is_all_or_nothing),
		cmocka_unit_test(what_fails_too_often_frees_its_key),
		cmocka_unit_test(the_order_of_a_key_survives_a_retry),
		cmocka_unit_test(a_deleted_store_is_folded_again_to_the_same_state),
		cmocka_unit_test(nothing_is_decided_before_the_state_has_caught_up),
		cmocka_unit_test(a_standby_takes_over),
		cmocka_unit_test(a_broker_that_dies_loses_and_repeats_nothing),
		cmocka_unit_test(two_postmen_deliver_once),
		cmocka_unit_test(a_stop_confirmed_before_the_claim_forbids_it),
		cmocka_unit_test(a_claim_waits_while_a_gateway_is_away_or_has_spooled),
		cmocka_unit_test(an_answer_that_was_heard_late_is_none),
		cmocka_unit_test(a_claims_answer_grows_old),
		cmocka_unit_test(an_outcome_is_said_though_the_broker_died_meanwhile),
		cmocka_unit_test(each_outcome_of_one_message_is_its_own),
		cmocka_unit_test(a_lease_is_kept_while_its_work_goes_on),
		cmocka_unit_test(a_lease_is_kept_over_the_death_of_the_broker),
		cmocka_unit_test(what_kills_its_worker_every_time_is_given_up),
		cmocka_unit_test(a_claim_that_a_killed_run_did_not_use_is_released),
		cmocka_unit_test(any_other_instance_may_release_it),
		cmocka_unit_test(what_went_before_the_kill_is_never_released),
		cmocka_unit_test(without_its_notes_nobody_knows_what_a_killed_run_did),
		cmocka_unit_test(a_clock_turn_fires_once),
	};

	take_part(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
