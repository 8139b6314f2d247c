/* test_webhook_stats.c: what storefronts sent is told to a simulated bus, in virtual time */
#include "bus/actor/sim/sim.h"
#include "bus/base/text.h"
#include "given.h"
#include "proto/platform_topics.h"
#include "services/kit/endpoint/webhook_stats.h"
#include "services/platform/gateway/gateway.h"
#include "services/platform/unsub/unsub.h"
#include <pb_decode.h>
#include <stdio.h>
#include <string.h>

enum { TESTS_MOST = 8, TOLD_MOST = 8, TOPICS_MOST = 24 };
#define START_US (INT64_C(20000) * US_PER_DAY)

static const struct service *const services[] = { &gateway, &unsub, NULL };

static struct {
	struct sim *sim;
	struct webhook_stats
		*seen[TESTS_MOST]; /* of this test and of those before it: each lives as long as its process */
	int tests;
	struct {
		char shop[64];
		GatewaySeen seen;
	} told[TOLD_MOST]; /* by the log */
	int count;
} scene;

static int setup(void **state)
{
	(void)state;
	scene.sim = sim_new(services, START_US, 1);
	for (int i = 0; services[i]; i++)
		sim_start(scene.sim, services[i]->name, services[i], NULL);
	sim_run_until(scene.sim, START_US + US_PER_S);
	scene.seen[scene.tests] = webhook_stats_new(sim_runtime(scene.sim, "gateway"), sim_clock(scene.sim));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sim_free(scene.sim);
	scene.tests++;
	return 0;
}

static struct webhook_stats *seen(void)
{
	return scene.seen[scene.tests];
}

static int64_t pass(int64_t us)
{
	sim_run_until(scene.sim, sim_now_us(scene.sim) + us);
	return webhook_stats_work(seen());
}

static void note_one(const struct message_meta *said, struct bytes payload, void *context)
{
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);

	(void)context;
	if (strcmp(said->topic, topic_gateway_seen.name) != 0)
		return;
	assert_in_range(scene.count, 0, TOLD_MOST - 1);
	TEXT_COPY(scene.told[scene.count].shop, said->shop);
	assert_true(pb_decode(&stream, &GatewaySeen_msg, &scene.told[scene.count].seen));
	scene.count++;
}

/* How many messages the log has by now; they are in scene.told. */
static int told(void)
{
	sim_run_until(scene.sim, sim_now_us(scene.sim) + US_PER_S);
	scene.count = 0;
	sim_log(scene.sim, note_one, NULL);
	return scene.count;
}

static void must_have_seen(const GatewaySeen *told, uint32_t authentic, uint32_t bad, uint32_t previous)
{
	assert_int_equal(told->authentic, authentic);
	assert_int_equal(told->bad_signatures, bad);
	assert_int_equal(told->previous_secret, previous);
}

static void must_be_topic(const TopicSeen *topic, const char *name, uint32_t count, int64_t first_us, int64_t last_us)
{
	assert_string_equal(topic->topic, name);
	assert_int_equal(topic->count, count);
	assert_int_equal(topic->first_us, first_us);
	assert_int_equal(topic->last_us, last_us);
}

static void nothing_is_told_while_nothing_comes(void **state)
{
	(void)state;
	assert_int_equal(webhook_stats_work(seen()), -1);
	webhook_stats_note_topic(seen(), "demo", "");
	webhook_stats_note_topic(seen(), "demo", "a-topic-whose-name-is-longer-than-any-platform-has-them");
	assert_int_equal(pass(2 * US_PER_MINUTE), -1);
	webhook_stats_note_signature(NULL, "demo", WEBHOOK_BAD_SIGNATURE);
	webhook_stats_note_topic(NULL, "demo", "carts/create");
	assert_int_equal(told(), 0);
}

static void of_each_shop_the_sum_of_a_minute_is_told(void **state)
{
	int64_t from_us = sim_now_us(scene.sim);

	(void)state;
	webhook_stats_note_signature(seen(), "demo", WEBHOOK_CURRENT_SECRET);
	webhook_stats_note_topic(seen(), "demo", "carts/create");
	assert_int_equal(pass(0), US_PER_MINUTE);
	assert_int_equal(pass(20 * US_PER_S), 40 * US_PER_S);
	webhook_stats_note_signature(seen(), "demo", WEBHOOK_PREVIOUS_SECRET);
	webhook_stats_note_topic(seen(), "demo", "orders/create");
	webhook_stats_note_topic(seen(), "demo", "carts/create");
	webhook_stats_note_signature(seen(), "other", WEBHOOK_BAD_SIGNATURE);
	assert_int_equal(pass(40 * US_PER_S - 1), 1);
	assert_int_equal(pass(1), 20 * US_PER_S); /* the other shop's minute */
	assert_int_equal(told(), 1);
	assert_string_equal(scene.told[0].shop, "demo");
	assert_string_equal(scene.told[0].seen.gateway, "gateway");
	must_have_seen(&scene.told[0].seen, 2, 0, 1);
	assert_int_equal(scene.told[0].seen.from_us, from_us);
	assert_int_equal(scene.told[0].seen.to_us, from_us + US_PER_MINUTE);
	assert_int_equal(scene.told[0].seen.topics_count, 2);
	must_be_topic(&scene.told[0].seen.topics[0], "carts/create", 2, from_us, from_us + 20 * US_PER_S);
	must_be_topic(
		&scene.told[0].seen.topics[1], "orders/create", 1, from_us + 20 * US_PER_S, from_us + 20 * US_PER_S);
	assert_int_equal(pass(19 * US_PER_S), -1);
	assert_int_equal(told(), 2);
	assert_string_equal(scene.told[1].shop, "other");
	must_have_seen(&scene.told[1].seen, 0, 1, 0);
	assert_int_equal(scene.told[1].seen.topics_count, 0);
	assert_int_equal(pass(US_PER_HOUR), -1);
	assert_int_equal(told(), 2);
}

static void what_comes_while_it_is_told_is_told_a_minute_later(void **state)
{
	(void)state;
	webhook_stats_note_signature(seen(), "demo", WEBHOOK_CURRENT_SECRET);
	assert_int_equal(pass(US_PER_MINUTE), -1);
	webhook_stats_note_signature(seen(), "demo", WEBHOOK_BAD_SIGNATURE);
	webhook_stats_note_signature(seen(), "demo", WEBHOOK_BAD_SIGNATURE);
	assert_int_equal(webhook_stats_work(seen()), -1); /* its answer comes first */
	assert_int_equal(told(), 1);
	must_have_seen(&scene.told[0].seen, 1, 0, 0);
	assert_int_equal(pass(0), 59 * US_PER_S);
	assert_int_equal(pass(59 * US_PER_S), -1);
	assert_int_equal(told(), 2);
	must_have_seen(&scene.told[1].seen, 0, 2, 0);
	assert_int_equal(scene.told[1].seen.from_us, scene.told[0].seen.to_us);
}

/* `meanwhile`: more comes while nobody knows yet whether the first is there; else when it is known that it is not. */
static void tell_across_an_outage(bool meanwhile)
{
	int before = told();
	int64_t from_us = sim_now_us(scene.sim), back_us;
	const GatewaySeen *sum = &scene.told[before].seen;

	webhook_stats_note_signature(seen(), "demo", WEBHOOK_PREVIOUS_SECRET);
	webhook_stats_note_topic(seen(), "demo", "carts/create");
	sim_run_until(scene.sim, from_us + US_PER_MINUTE);
	sim_kill_broker(scene.sim);
	assert_int_equal(webhook_stats_work(seen()), -1);
	if (meanwhile)
		webhook_stats_note_signature(seen(), "demo", WEBHOOK_BAD_SIGNATURE);
	assert_in_range(pass(US_PER_MINUTE), 1, US_PER_MINUTE);
	if (!meanwhile)
		webhook_stats_note_signature(seen(), "demo", WEBHOOK_BAD_SIGNATURE);
	webhook_stats_note_topic(seen(), "demo", "orders/create");
	for (int i = 0; i < 5; i++)
		assert_in_range(pass(US_PER_MINUTE), 1, US_PER_MINUTE);
	sim_restart_broker(scene.sim);
	back_us = sim_now_us(scene.sim);
	webhook_stats_note_topic(seen(), "demo", "carts/create");
	assert_int_equal(pass(US_PER_MINUTE), -1);
	assert_int_equal(told(), before + 1);
	must_have_seen(sum, 1, 1, 1);
	assert_int_equal(sum->from_us, from_us);
	assert_int_equal(sum->topics_count, 2);
	const bool is_first = strcmp(sum->topics[0].topic, "carts/create") == 0;
	must_be_topic(&sum->topics[is_first ? 0 : 1], "carts/create", 2, from_us, back_us);
	assert_string_equal(sum->topics[is_first ? 1 : 0].topic, "orders/create");
	assert_int_equal(sum->topics[is_first ? 1 : 0].count, 1);
	assert_int_equal(pass(2 * US_PER_MINUTE), -1);
	assert_int_equal(told(), before + 1);
}

static void what_could_not_be_told_is_added_to_what_comes_next(void **state)
{
	(void)state;
	tell_across_an_outage(true);
	tell_across_an_outage(false);
}

static void of_a_shops_topics_no_more_are_told_than_there_is_room_for(void **state)
{
	(void)state;
	for (int i = 0; i < 2 * (TOPICS_MOST + 1); i++) {
		char name[30];

		snprintf(name, sizeof(name), "topic-%d", i % (TOPICS_MOST + 1));
		webhook_stats_note_topic(seen(), "demo", name);
	}
	pass(US_PER_MINUTE);
	assert_int_equal(told(), 1);
	assert_int_equal(scene.told[0].seen.topics_count, TOPICS_MOST);
	for (int i = 0; i < TOPICS_MOST; i++)
		assert_int_equal(scene.told[0].seen.topics[i].count, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_told_while_nothing_comes),
		TEST(of_each_shop_the_sum_of_a_minute_is_told),
		TEST(what_comes_while_it_is_told_is_told_a_minute_later),
		TEST(what_could_not_be_told_is_added_to_what_comes_next),
		TEST(of_a_shops_topics_no_more_are_told_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
