/*
 * test_sim.c: the simulator keeps its own promises, and random deaths break none of the bus's
 */
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/sim/sim.h"
#include "bus/base/text.h"
#include "tests/unit/actor/cast.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>

static const int64_t START_US = INT64_C(1767225600) * US_PER_S;
enum { STEPS = 80 };

static uint64_t seeds = 12; /* `test_actor_sim 1000` tries more */

#define SHOP "demo"

struct play {
	struct sim *sim;
	struct ledger ledger;
	struct effect_driver *const *couriers[2];
	uint64_t added;
	uint32_t clicked;
	int sayings;
	bool postmen_die;
};

static void play_open(struct play *play, uint64_t seed)
{
	*play = (struct play){ .sim = sim_new(cast, START_US, seed) };
	play->couriers[0] = courier_new(&play->ledger);
	play->couriers[1] = courier_new(&play->ledger);
	sim_start(play->sim, "clerk-a", &clerk, NULL);
	sim_start(play->sim, "clerk-b", &clerk, NULL);
	sim_start(play->sim, "postman-a", &postman, play->couriers[0]);
	sim_start(play->sim, "postman-b", &postman, play->couriers[1]);
	sim_start(play->sim, "bell", &bell, NULL);
	sim_start(play->sim, "door", &door, NULL);
}

static void play_close(struct play *play)
{
	sim_free(play->sim);
	courier_free(play->couriers[0]);
	courier_free(play->couriers[1]);
}

/* Says it until it is confirmed, as a gateway does. */
static void insist(struct play *play, const struct topic *topic, const char *key, const void *message)
{
	char idem[40];

	snprintf(idem, sizeof(idem), "saying-%d", ++play->sayings);
	for (int i = 0; i < 50; i++)
		if (sim_publish(play->sim, topic,
			    &(struct publish_options){ .shop = SHOP, .key = key, .idem = idem, .version = 1 }, message,
			    NULL) != SAID_UNKNOWN)
			return;
	fail_msg("never confirmed");
}

static void say_something(struct play *play)
{
	CartWake wake = { .cart_id = "till", .due_us = 3 };
	LinkClicked clicked = { .cart_id = "cart" };
	TimerSet set = { .version = 1 };
	char key[20];

	snprintf(key, sizeof(key), "key-%d", (int)(sim_random(play->sim) % 9));
	switch (sim_random(play->sim) % 3) {
	case 0:
		insist(play, &topic_cart_wake, key, &wake);
		play->added += 3;
		break;
	case 1:
		clicked.step = play->clicked++;
		insist(play, &topic_link_clicked, key, &clicked);
		insist(play, &topic_link_clicked, "twin", &clicked); /* about the same errand */
		break;
	case 2:
		snprintf(set.name, sizeof(set.name), "timer-%d", play->sayings);
		set.due_us = sim_now_us(play->sim) + (int64_t)(sim_random(play->sim) % (20 * US_PER_S));
		insist(play, &topic_timer_set, set.name, &set);
		break;
	}
}

static void somebody_dies(struct play *play)
{
	static const char *const mortal[] = { "clerk-a", "clerk-b", "bell", "door", "postman-a", "postman-b" };
	uint64_t chosen = sim_random(play->sim) % (play->postmen_die ? 7 : 5);
	const char *name = chosen < 6 ? mortal[chosen] : NULL;

	if (!play->postmen_die && chosen == 4)
		name = NULL;
	if (!name) {
		sim_kill_broker(play->sim);
		sim_run_until(play->sim, sim_now_us(play->sim) + (int64_t)(sim_random(play->sim) % (5 * US_PER_S)));
		sim_restart_broker(play->sim);
		return;
	}
	sim_kill(play->sim, name);
	if (sim_random(play->sim) % 4 == 0 && strcmp(name, "door") != 0)
		sim_forget(play->sim, name);
	sim_run_until(play->sim, sim_now_us(play->sim) + (int64_t)(sim_random(play->sim) % US_PER_S));
	sim_restart(play->sim, name);
}

static void play_on(struct play *play, int steps, int deaths_in_100)
{
	for (int i = 0; i < steps; i++) {
		say_something(play);
		if ((int)(sim_random(play->sim) % 100) < deaths_in_100)
			somebody_dies(play);
	}
	sim_run_until(play->sim, sim_now_us(play->sim) + 30 * US_PER_MINUTE);
}

/* --- judging --- */

struct judged {
	uint64_t last, wrong_sums;
	size_t set, fired, sent, clicked;
};

static void judge(const struct message_meta *said, struct bytes payload, void *context)
{
	struct judged *judged = context;
	static Audit audit;

	judged->set += strcmp(said->topic, "timer.set") == 0;
	judged->fired += strcmp(said->topic, "timer.fired") == 0;
	judged->sent += strcmp(said->topic, "reminder.sent") == 0;
	if (strcmp(said->topic, "audit") != 0 || !state_row(payload, Audit_fields, &audit))
		return;
	judged->wrong_sums += (uint64_t)audit.next_us != judged->last + 3;
	judged->last = (uint64_t)audit.next_us;
}

static void assert_kept(struct play *play)
{
	struct judged judged = { .last = 0 };

	sim_log(play->sim, judge, &judged);
	assert_int_equal(judged.wrong_sums, 0);
	assert_int_equal(judged.last, play->added);
	assert_int_equal(judged.fired, judged.set);
	for (int i = 0; i < play->ledger.count; i++)
		assert_int_equal(play->ledger.delivered[i].times, 1);
	if (!play->postmen_die) {
		assert_int_equal(play->ledger.count, play->clicked);
		assert_int_equal(judged.sent, play->clicked);
	}
}

static void random_deaths_lose_and_repeat_nothing(void **context)
{
	(void)context;
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct play play;

		play_open(&play, seed);
		play.postmen_die = seed % 2;
		play_on(&play, STEPS, 25);
		assert_kept(&play);
		play_close(&play);
	}
}

/* What is in flight while its worker is killed again and again was in the wrong place, no more: all of it is sent. */
static void a_storm_of_kills_gives_nothing_up(void **context)
{
	static const char *const names[] = { "postman-a", "postman-b" };
	struct play play;

	(void)context;
	play_open(&play, 24);
	play.ledger.hold_claim = true; /* every mail is under way for ever: each kill hits one */
	for (int i = 0; i < 200; i++) {
		const char *name = names[sim_random(play.sim) % 2];

		if (i % 10 == 0)
			say_something(&play);
		sim_kill(play.sim, name);
		sim_run_until(play.sim, sim_now_us(play.sim) + (int64_t)(sim_random(play.sim) % (250 * US_PER_MS)));
		sim_restart(play.sim, name);
		sim_run_until(play.sim, sim_now_us(play.sim) + (int64_t)(sim_random(play.sim) % (250 * US_PER_MS)));
	}
	play.ledger.hold_claim = false;
	sim_run_until(play.sim, sim_now_us(play.sim) + 30 * US_PER_MINUTE);
	assert_true(play.clicked > 5);
	assert_kept(&play);
	play_close(&play);
}

static uint64_t hash_of(uint64_t seed)
{
	struct play play;
	uint64_t hash;

	play_open(&play, seed);
	play.postmen_die = true;
	play_on(&play, STEPS, 25);
	hash = sim_trace_hash(play.sim);
	play_close(&play);
	return hash;
}

static void the_same_seed_gives_the_same_trace(void **context)
{
	(void)context;
	assert_true(hash_of(7) == hash_of(7));
	assert_true(hash_of(7) != hash_of(8));
}

static void every_store_deleted_is_folded_again_the_same(void **context)
{
	static const char *const names[] = { "postman-a", "postman-b", "bell" };
	struct play play;

	(void)context;
	play_open(&play, 99);
	play_on(&play, STEPS, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct buffer before = { 0 }, after = { 0 };

		state_dump(runtime_state(sim_runtime(play.sim, names[i])), &before);
		sim_kill(play.sim, names[i]);
		sim_forget(play.sim, names[i]);
		sim_restart(play.sim, names[i]);
		sim_run_until(play.sim, sim_now_us(play.sim) + 2 * US_PER_MINUTE);
		assert_int_equal(runtime_phase(sim_runtime(play.sim, names[i])), RUNTIME_READY);
		state_dump(runtime_state(sim_runtime(play.sim, names[i])), &after);
		assert_string_equal(buffer_text(&before), buffer_text(&after));
		buffer_free(&before);
		buffer_free(&after);
	}
	play_close(&play);
}

/* More than a window of projections: what is delivered meanwhile must wait for all of them. */
static void nothing_is_decided_before_a_long_log_is_folded(void **context)
{
	enum { MANY = 2500 };
	struct sim *sim = sim_new(cast, START_US, 5);
	CartWake wake = { .cart_id = "till", .due_us = 3 };
	struct judged judged = { .last = 0 };

	(void)context;
	sim_start(sim, "clerk", &clerk, NULL);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(SIM_SAY(sim, cart_wake, &wake, .shop = SHOP, .key = "k"), SAID_FRESH);
	sim_run_until(sim, sim_now_us(sim) + US_PER_MINUTE);
	sim_kill(sim, "clerk");
	sim_forget(sim, "clerk");
	assert_int_equal(SIM_SAY(sim, cart_wake, &wake, .shop = SHOP, .key = "k"), SAID_FRESH);
	sim_restart(sim, "clerk");
	sim_run_until(sim, sim_now_us(sim) + US_PER_MINUTE);
	sim_log(sim, judge, &judged);
	assert_int_equal(judged.wrong_sums, 0);
	assert_int_equal(judged.last, 3 * (MANY + 1));
	sim_free(sim);
}

/* Says a lot at once; no gateway, so that claims need not wait for it. */
static const struct service crier = { .name = "crier",
	.says = SAYING(SAYS(cart_closed), SAYS(link_clicked), SAYS(timer_set)) };
static const struct service *const crowd[] = { &postman, &bell, &crier, NULL };

static void note_positions(const struct message_meta *said, struct bytes payload, void *context)
{
	uint64_t *positions = context;

	(void)payload;
	if (strcmp(said->topic, "send.claim") == 0)
		positions[0] = said->seq;
	if (strcmp(said->topic, "cart.closed") == 0)
		positions[1] = said->seq; /* the last one is the stop */
}

/* A stop lies further back than what a session takes at once, so the claim's answer comes before it. */
static bool claim_behind_a_stop(uint64_t seed)
{
	struct sim *sim = sim_new(crowd, START_US, seed);
	struct ledger ledger = { .hold_claim = true };
	struct effect_driver *const *drivers = courier_new(&ledger);
	LinkClicked clicked = { .cart_id = "cart", .step = 1 };
	CartClosed stop = { .cart_id = "other" };
	uint64_t positions[2] = { 0 };

	sim_start(sim, "crier", &crier, NULL);
	sim_start(sim, "postman", &postman, drivers);
	assert_int_equal(SIM_SAY(sim, link_clicked, &clicked, .shop = SHOP, .key = "cart"), SAID_FRESH);
	sim_run_until(sim, sim_now_us(sim) + US_PER_S);
	ledger.hold_claim = false;
	for (int i = 3000; i >= 0; i--) {
		if (i == 0)
			TEXT_COPY(stop.cart_id, "cart");
		assert_int_equal(
			runtime_publish(sim_runtime(sim, "crier"), &topic_cart_closed,
				&(struct publish_options){ .shop = SHOP, .key = "k" }, NULL, &stop, NULL, NULL),
			0);
	}
	sim_run_until(sim, sim_now_us(sim) + US_PER_MINUTE);
	sim_log(sim, note_positions, positions);
	if (positions[0] > positions[1])
		assert_int_equal(ledger.went, 0);
	sim_free(sim);
	courier_free(drivers);
	return positions[0] > positions[1];
}

static void a_claim_waits_for_every_stop_before_it(void **context)
{
	int behind = 0;

	(void)context;
	for (uint64_t seed = 1; seed <= 8; seed++)
		behind += claim_behind_a_stop(seed);
	assert_true(behind > 0);
}

/* What the clock's turns said comes back far behind other messages: until then they must not forget that they said it. */
static void a_timer_fires_once_though_its_firing_comes_back_late(void **context)
{
	enum { DUE = 100, MANY = 9000 };
	struct sim *sim = sim_new(crowd, START_US, 8);
	struct judged judged = { .last = 0 };
	TimerSet set = { .version = 1 };

	(void)context;
	sim_start(sim, "crier", &crier, NULL);
	sim_start(sim, "bell", &bell, NULL);
	sim_run_until(sim, sim_now_us(sim) + US_PER_S);
	for (int i = 0; i < MANY; i++) {
		snprintf(set.name, sizeof(set.name), "timer-%d", i);
		set.due_us = sim_now_us(sim) + (i < DUE ? 0 : US_PER_DAY);
		assert_int_equal(runtime_publish(sim_runtime(sim, "crier"), &topic_timer_set,
					 &(struct publish_options){ .shop = SHOP, .key = set.name, .version = 1 }, NULL,
					 &set, NULL, NULL),
			0);
	}
	sim_run_until(sim, sim_now_us(sim) + US_PER_MINUTE);
	sim_log(sim, judge, &judged);
	assert_int_equal(judged.fired, DUE);
	sim_free(sim);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_deaths_lose_and_repeat_nothing),
		cmocka_unit_test(a_storm_of_kills_gives_nothing_up),
		cmocka_unit_test(the_same_seed_gives_the_same_trace),
		cmocka_unit_test(every_store_deleted_is_folded_again_the_same),
		cmocka_unit_test(nothing_is_decided_before_a_long_log_is_folded),
		cmocka_unit_test(a_claim_waits_for_every_stop_before_it),
		cmocka_unit_test(a_timer_fires_once_though_its_firing_comes_back_late),
	};

	if (argc > 1)
		seeds = strtoull(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
