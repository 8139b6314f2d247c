/*
 * test_many.c: a service of 300 topics among 60 peers decides, folds and starts again
 *
 * The same test runs in the simulator and with a real broker (world.h).
 */
#include "bus/actor/runtime/runtime.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "tests/unit/actor/world.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

STATE_NUMBERS(met, "met");

enum { TOPICS = 300, PEERS = 60, HEARD = TOPICS - 1 /* it hears the last topic, and says the one before */ };
#define SHOP "shop"

static char names[TOPICS][32], peer_names[PEERS][32];
static struct topic topics[TOPICS];
static struct hears hears[2];
static struct remembers remembers[TOPICS];
static const struct topic *says[2];
static struct service wide = { .name = "wide", .hears = hears, .remembers = remembers, .says = says }, idle[PEERS];
static const struct service *services[PEERS + 2];

static enum verdict hear(const struct state *state, const Tick *tick, struct turn *turn)
{
	(void)state;
	turn_publish(turn, &topics[HEARD - 1], &(struct publish_options){ .shop = SHOP, .key = "k" }, tick);
	return TURN_DONE;
}

static void count(struct state *state, const struct message_meta *said, const Tick *tick)
{
	(void)tick;
	STATE_PUT_NUMBER(state, met, SHOP, said->topic, STATE_NUMBER(state, met, SHOP, said->topic) + 1);
}

static int make_tables(void **context)
{
	(void)context;
	for (int i = 0; i < PEERS; i++) {
		snprintf(peer_names[i], sizeof(peer_names[i]), "idle-%d", i);
		idle[i].name = peer_names[i];
		services[i] = &idle[i];
	}
	services[PEERS] = &wide;
	for (int i = 0; i < TOPICS; i++) {
		snprintf(names[i], sizeof(names[i]), "many.%d", i);
		topics[i] = topic_tick_nightly;
		topics[i].name = names[i];
	}
	for (int i = 0; i < HEARD; i++)
		remembers[i] = (struct remembers){ .topic = &topics[i], .fold = (topic_handler *)count };
	hears[0] = (struct hears){ .topic = &topics[HEARD], .hear = (topic_handler *)hear };
	says[0] = &topics[HEARD - 1];
	return 0;
}

static uint64_t met(struct world *world, int topic)
{
	return STATE_NUMBER(runtime_state(world_runtime(world, "wide")), met, SHOP, names[topic]);
}

/* Once for each time. What was said into a session that broke may not be there, and is said again. */
static void say_to(struct world *world, int topic, uint64_t times)
{
	const Tick tick = { .due_us = 1 };
	enum said_result result;
	char idem[40];

	snprintf(idem, sizeof(idem), "%d-%llu", topic, (unsigned long long)times);
	do
		result = world_say(world, &topics[topic],
			&(struct publish_options){ .shop = SHOP, .key = "k", .idem = idem }, &tick, NULL);
	while (result == SAID_UNKNOWN);
	assert_true(result == SAID_FRESH || result == SAID_DUPLICATE);
}

/* Of every topic that it remembers so many messages, and of the one that it says itself one for each that it heard. */
static bool has_met_all(struct world *world, void *times)
{
	for (int i = 0; i < HEARD - 1; i++)
		if (met(world, i) != *(uint64_t *)times)
			return false;
	return met(world, HEARD - 1) == *(uint64_t *)times;
}

static void every_topic_reaches_its_table_before_and_after_a_restart(void **context)
{
	struct world *world = world_new(services, 1);
	uint64_t times;

	(void)context;
	world_start(world, "wide", &wide, NULL);
	for (times = 1; times <= 2; times++) {
		for (int i = 0; i < HEARD - 1; i++)
			say_to(world, i, times);
		say_to(world, HEARD, times);
		assert_true(world_until(world, has_met_all, &times));
		world_kill_broker(world);
		world_restart_broker(world);
	}
	times = 2;
	world_kill(world, "wide");
	world_forget(world, "wide");
	world_restart(world, "wide");
	assert_true(world_until(world, has_met_all, &times));
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_topic_reaches_its_table_before_and_after_a_restart),
	};

	return cmocka_run_group_tests_name("actor.many", tests, make_tables, NULL);
}
