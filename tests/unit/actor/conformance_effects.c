/*
 * conformance_effects.c: what effects and claims promise
 */
#include "tests/unit/actor/conformance.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static bool ledger_went(struct world *world, void *context)
{
	(void)world;
	return ((struct ledger *)context)->went > 0;
}

void two_postmen_deliver_once(void **context)
{
	struct world *world = world_new(cast, 11);
	struct ledger ledger = { .count = 0 };
	struct effect_driver *const *a = courier_new(&ledger), *const *b = courier_new(&ledger);

	(void)context;
	world_start(world, "postman-a", &postman, a);
	world_start(world, "postman-b", &postman, b);
	for (uint32_t i = 0; i < 30; i++) {
		click(world, "cart", i); /* said twice: two messages about the same errand */
		click(world, "cart", i);
	}
	await_count(world, &topic_reminder_sent, NULL, 30);
	world_for(world, 100 * US_PER_MS);
	for (uint32_t i = 0; i < 30; i++) {
		char what[80];

		snprintf(what, sizeof(what), "cart/%u", i);
		assert_int_equal(ledger_times(&ledger, what), 1);
	}
	assert_int_equal(world_count(world, &topic_reminder_sent, NULL), 30);
	world_free(world);
	courier_free(a);
	courier_free(b);
}

void a_stop_confirmed_before_the_claim_forbids_it(void **context)
{
	struct world *world = world_new(cast, 12);
	struct ledger ledger = { .hold_claim = true };
	struct effect_driver *const *drivers = courier_new(&ledger);
	CartClosed stop = { .cart_id = "cart" };

	(void)context;
	world_start(world, "postman", &postman, drivers);
	click(world, "cart", 1);
	world_for(world, 100 * US_PER_MS);
	assert_int_equal(WORLD_SAY(world, cart_closed, &stop, .shop = SHOP, .key = "cart"), SAID_FRESH);
	ledger.hold_claim = false;
	await_count(world, &topic_reminder_released, NULL, 1);
	assert_int_equal(ledger.went, 0);
	world_free(world);
	courier_free(drivers);
}

void a_claim_waits_while_a_gateway_is_away_or_has_spooled(void **context)
{
	struct world *world = world_new(cast, 13);
	struct ledger ledger = { .count = 0 };
	struct effect_driver *const *drivers = courier_new(&ledger);

	(void)context;
	world_start(world, "door", &door, NULL);
	await_ready(world, "door");
	world_kill(world, "door");
	world_start(world, "postman", &postman, drivers);
	click(world, "cart", 1);
	world_for(world, 2 * US_PER_S);
	assert_int_equal(ledger.went, 0);
	assert_int_equal(world_count(world, &topic_send_claim, NULL), 0);
	world_restart(world, "door");
	runtime_spooled(world_runtime(world, "door"), 3);
	await_ready(world, "door");
	world_for(world, 2 * US_PER_S);
	assert_int_equal(ledger.went, 0);
	runtime_spooled(world_runtime(world, "door"), 0);
	assert_true(world_until(world, ledger_went, &ledger));
	await_count(world, &topic_reminder_sent, NULL, 1);
	assert_int_equal(
		world_count(world, &topic_send_claim, NULL), 1); /* its answer was too old, and it was said again */
	world_free(world);
	courier_free(drivers);
}

static void lose_the_broker_on_the_answer(struct ledger *ledger, void *world)
{
	if (runtime_metrics(world_runtime(world, "postman")).claims_fresh == 0)
		return;
	ledger->at_work = NULL;
	world_kill_broker(world);
}

static bool lost_the_broker(struct world *world, void *context)
{
	const struct ledger *ledger = context;

	(void)world;
	return !ledger->at_work;
}

static bool has_claimed(struct world *world, void *context)
{
	(void)world;
	return ((const struct ledger *)context)->claims > 0;
}

/* A stop that was confirmed since is not in it: it counts from the saying, not from the hearing. Nobody is there to be asked again. */
void an_answer_that_was_heard_late_is_none(void **context)
{
	struct world *world = world_new(cast, 21);
	struct ledger ledger = { .at_work = lose_the_broker_on_the_answer, .context = world };
	struct effect_driver *const *drivers = courier_new(&ledger);

	(void)context;
	world_start(world, "door", &door, NULL);
	await_ready(world, "door");
	world_kill(world, "door");
	world_start(world, "postman", &postman, drivers);
	click(world, "cart", 1);
	assert_true(world_until(world, has_claimed, &ledger));
	world_for(world, 2 * US_PER_S); /* its answer waits for the gateway */
	assert_int_equal(ledger.claims, 1);
	world_restart(world, "door");
	assert_true(world_until(world, lost_the_broker, &ledger));
	world_for(world, 2 * US_PER_S);
	assert_int_equal(ledger.went, 0);
	world_restart_broker(world);
	await_count(world, &topic_reminder_sent, NULL, 1);
	assert_int_equal(ledger_times(&ledger, "cart/1"), 1);
	world_free(world);
	courier_free(drivers);
}

/* The answer has been heard, and not been looked at. */
static void freeze_on_the_answer(struct ledger *ledger, void *world)
{
	if (runtime_metrics(world_runtime(world, "postman")).claims_fresh == 0)
		return;
	ledger->at_work = NULL;
	assert_int_equal(ledger->went, 0);
	world_freeze(world);
}

/* As if stopped by SIGSTOP: a stop may have been confirmed since. It lets go. */
void a_claims_answer_grows_old(void **context)
{
	struct world *world = world_new(cast, 20);
	struct ledger ledger = { .at_work = freeze_on_the_answer, .context = world };
	struct effect_driver *const *drivers = courier_new(&ledger);

	(void)context;
	world_start(world, "postman", &postman, drivers);
	click(world, "cart", 1);
	await_count(world, &topic_reminder_released, NULL, 1);
	assert_int_equal(ledger.withdrawn + ledger.stopped, 1);
	world_free(world);
	courier_free(drivers);
}

void an_outcome_is_said_though_the_broker_died_meanwhile(void **context)
{
	struct world *world = world_new(cast, 14);
	struct ledger ledger = { .hold_answer = true };
	struct effect_driver *const *drivers = courier_new(&ledger);

	(void)context;
	world_start(world, "postman", &postman, drivers);
	click(world, "cart", 1);
	assert_true(world_until(world, ledger_went, &ledger));
	world_kill_broker(world);
	ledger.hold_answer = false; /* the answer comes while nobody can hear it */
	world_for(world, 200 * US_PER_MS);
	world_restart_broker(world);
	await_count(world, &topic_reminder_sent, NULL, 1);
	world_for(world, 5 * US_PER_S);
	assert_int_equal(ledger_times(&ledger, "cart/1"), 1);
	assert_int_equal(world_count(world, &topic_reminder_sent, NULL), 1);
	assert_int_equal(world_count(world, &topic_send_claim, NULL), 1);
	world_free(world);
	courier_free(drivers);
}

/* The broker counts attempts anew after its restart: an outcome must not be taken for the one before it. */
void each_outcome_of_one_message_is_its_own(void **context)
{
	struct world *world = world_new(cast, 17);
	struct ledger ledger = { .put_off = 1 };
	struct effect_driver *const *drivers = courier_new(&ledger);

	(void)context;
	world_start(world, "postman", &postman, drivers);
	click(world, "cart", 1);
	await_count(world, &topic_reminder_released, NULL, 1);
	world_kill_broker(world);
	ledger.put_off = 1;
	world_restart_broker(world);
	await_count(world, &topic_reminder_released, NULL, 2);
	await_count(world, &topic_reminder_sent, NULL, 1);
	assert_int_equal(world_count(world, &topic_send_claim, NULL), 3);
	world_free(world);
	courier_free(drivers);
}

void a_lease_is_kept_while_its_work_goes_on(void **context)
{
	struct world *world = world_new(cast, 15);
	struct ledger ledger = { .hold_answer = true };
	struct effect_driver *const *a = courier_new(&ledger), *const *b = courier_new(&ledger);

	(void)context;
	world_start(world, "postman-a", &postman, a);
	click(world, "cart", 1);
	assert_true(world_until(world, ledger_went, &ledger));
	world_start(world, "postman-b", &postman, b);
	world_for(world, world_lease_us(world) * 5 / 4);
	assert_int_equal(ledger.started, 1);
	ledger.hold_answer = false;
	await_count(world, &topic_reminder_sent, NULL, 1);
	assert_int_equal(runtime_metrics(world_runtime(world, "postman-a")).sessions, 1);
	world_free(world);
	courier_free(a);
	courier_free(b);
}

static bool came_back(struct world *world, void *instance)
{
	return runtime_metrics(world_runtime(world, instance)).sessions == 2;
}

/* What went goes on under the lease that the hello names: nobody else is handed the message, however long the answer takes. */
void a_lease_is_kept_over_the_death_of_the_broker(void **context)
{
	struct world *world = world_new(cast, 18);
	struct ledger ledger = { .hold_answer = true };
	struct effect_driver *const *a = courier_new(&ledger), *const *b = courier_new(&ledger);

	(void)context;
	world_start(world, "postman-a", &postman, a);
	click(world, "cart", 1);
	assert_true(world_until(world, ledger_went, &ledger));
	world_kill_broker(world);
	world_restart_broker(world);
	assert_true(world_until(world, came_back, (void *)"postman-a"));
	world_start(world, "postman-b", &postman, b);
	world_for(world, world_lease_us(world) * 5 / 4);
	assert_int_equal(runtime_metrics(world_runtime(world, "postman-b")).turns, 0);
	ledger.hold_answer = false;
	await_count(world, &topic_reminder_sent, NULL, 1);
	world_free(world);
	courier_free(a);
	courier_free(b);
}

static bool struck_or_given_up(struct world *world, void *context)
{
	const struct ledger *ledger = context;

	(void)world;
	return ledger->struck > 0 || ledger_times(ledger, "cart/2") > 0;
}

/* Whoever begins with it dies, every time: its key goes on without it, and the others do not wait for that. */
void what_kills_its_worker_every_time_is_given_up(void **context)
{
	struct world *world = world_new(cast, 19);
	struct ledger ledger = { .poison = "cart/1" };
	struct effect_driver *const *drivers = courier_new(&ledger);
	int deaths = 0;

	(void)context;
	world_start(world, "postman", &postman, drivers);
	click(world, "cart", 1);
	click(world, "cart", 2); /* behind it, same key */
	while (world_until(world, struck_or_given_up, &ledger) && ledger.struck > 0) {
		ledger.struck = 0;
		deaths++;
		world_kill(world, "postman");
		if (deaths == 1)
			click(world, "other", 1);
		world_restart(world, "postman");
		if (deaths == 2)
			await_count(world, &topic_reminder_sent, "other/1", 1);
	}
	assert_int_equal(deaths, 5); /* the first time might have been another's fault, until it died alone as well */
	assert_int_equal(ledger_times(&ledger, "cart/2"), 1);
	world_free(world);
	courier_free(drivers);
}
