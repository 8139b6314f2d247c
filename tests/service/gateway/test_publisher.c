/* test_publisher.c: from an authentic message to the bus, or into the spool on a real disk, while the broker comes and goes in virtual time */
#include "bus/actor/sim/sim.h"
#include "bus/base/text.h"
#include "given.h"
#include "proto/platform_topics.h"
#include "services/platform/gateway/gateway.h"
#include "services/platform/gateway/publisher.h"
#include "services/platform/unsub/unsub.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ADDED_MOST = 4, MANY = 300, NAMES_ROOM = 8 * MANY };
#define WHILE_US (10 * US_PER_MS)
#define AWAY_US US_PER_MINUTE /* until the broker's end is noticed, and its promise has run out */

static const struct service *const services[] = { &gateway, &unsub, NULL };

struct added {
	int answers;
	enum submission_end end;
	uint64_t seq;
	char why[200];
};

static struct {
	char folder[64];
	struct sim *sim;
	struct counters counters;
	struct publisher *publisher;
	struct added added[ADDED_MOST];
	int wakes;
} scene;

static void wake(void *context)
{
	(void)context;
	scene.wakes++;
}

static void open_publisher(void)
{
	scene.publisher = publisher_open(
		scene.folder, sim_runtime(scene.sim, "gateway"), sim_clock(scene.sim), &scene.counters, wake, NULL);
}

static int setup(void **state)
{
	(void)state;
	memset(&scene, 0, sizeof(scene));
	TEXT_COPY(scene.folder, fresh_folder());
	write_below(scene.folder, "spool/.new", "", 0600);
	scene.sim = sim_new(services, INT64_C(20000) * US_PER_DAY, 1);
	for (int i = 0; services[i]; i++)
		sim_start(scene.sim, services[i]->name, services[i], NULL);
	open_publisher();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	publisher_close(scene.publisher);
	sim_free(scene.sim);
	remove_folder(scene.folder);
	return 0;
}

static void note(void *context, enum submission_end end, uint64_t seq, const char *why)
{
	struct added *added = context;

	added->answers++;
	added->end = end;
	added->seq = seq;
	TEXT_COPY(added->why, why ? why : "");
}

static void encode(int name, struct buffer *ret)
{
	OptoutRequest asked = { .source = OPTOUT_PAGE };
	char idem[20];

	snprintf(asked.address_hash, sizeof(asked.address_hash), "%032d", name);
	snprintf(idem, sizeof(idem), "t:%d", name);
	assert_int_equal(message_encode(&topic_optout_request,
				 &(struct publish_options){ .shop = "demo", .key = asked.address_hash, .idem = idem },
				 NULL, sim_now_us(scene.sim), &asked, ret),
		0);
}

static struct added *add(int nth, int name, bool stop)
{
	struct buffer message = { 0 };
	struct added *added = &scene.added[nth];

	*added = (struct added){ 0 };
	encode(name, &message);
	publisher_add(scene.publisher, &message, stop, note, added);
	assert_null(message.data);
	assert_int_equal(added->answers, 0);
	return added;
}

static void pass(int64_t us)
{
	for (int64_t left_us = us; left_us > 0; left_us -= WHILE_US) {
		publisher_work(scene.publisher);
		sim_run_until(scene.sim, sim_now_us(scene.sim) + (left_us < WHILE_US ? left_us : WHILE_US));
	}
	publisher_work(scene.publisher);
}

static void must_be(const struct added *added, enum submission_end end, const char *why)
{
	assert_int_equal(added->answers, 1);
	assert_int_equal(added->end, end);
	assert_string_equal(added->why, why);
	assert_int_equal(added->seq > 0, end == SUBMISSION_ACCEPTED || end == SUBMISSION_DUPLICATE);
}

static void lose_broker(void)
{
	sim_kill_broker(scene.sim);
	pass(AWAY_US);
	assert_false(publisher_live(scene.publisher));
}

static void note_name(const struct message_meta *said, struct bytes payload, void *context)
{
	char *names = context;

	(void)payload;
	if (strcmp(said->topic, topic_optout_request.name) == 0)
		snprintf(names + strlen(names), NAMES_ROOM - strlen(names), "%s%d", *names ? " " : "", atoi(said->key));
}

/* The names on the bus, in their order. */
static const char *names_heard(void)
{
	static char names[NAMES_ROOM];

	names[0] = '\0';
	sim_log(scene.sim, note_name, names);
	return names;
}

/* "0 1 2 ..." */
static const char *names_to(int count)
{
	static char names[NAMES_ROOM];

	names[0] = '\0';
	for (int i = 0; i < count; i++)
		snprintf(names + strlen(names), NAMES_ROOM - strlen(names), "%s%d", i ? " " : "", i);
	return names;
}

/* ---- with a broker ---- */

static void a_message_is_accepted_when_the_bus_has_it_and_a_duplicate_where_it_was(void **state)
{
	const struct added *first, *again;

	(void)state;
	pass(US_PER_S);
	assert_true(publisher_live(scene.publisher));
	assert_null(publisher_trouble(scene.publisher));
	first = add(0, 1, false);
	publisher_work(scene.publisher);
	assert_int_equal(first->answers, 0);
	pass(US_PER_S);
	must_be(first, SUBMISSION_ACCEPTED, "");
	again = add(1, 1, true);
	pass(US_PER_S);
	must_be(again, SUBMISSION_DUPLICATE, "");
	assert_int_equal(again->seq, first->seq);
	assert_string_equal(names_heard(), "1");
	assert_int_equal(scene.counters.accepted, 1);
	assert_int_equal(scene.counters.duplicates, 1);
	assert_int_equal(scene.counters.spooled, 0);
	assert_int_equal(scene.wakes, 2);
	assert_int_equal(publisher_work(scene.publisher), -1);
}

static void what_the_bus_cannot_carry_is_refused(void **state)
{
	struct buffer message = { 0 };
	static char zeros[2 * 1024 * 1024];

	(void)state;
	pass(US_PER_S);
	buffer_add(&message, zeros, sizeof(zeros));
	publisher_add(scene.publisher, &message, false, note, &scene.added[0]);
	pass(US_PER_S);
	must_be(&scene.added[0], SUBMISSION_REFUSED, "the message is too large for the bus");
}

/* ---- without one ---- */

static void a_gateway_that_never_met_its_broker_keeps_nothing(void **state)
{
	static const char never[] = "the broker is away and this gateway has never met it";
	struct buffer message = { 0 };
	const struct added *asked, *stop;

	(void)state;
	sim_kill_broker(scene.sim);
	pass(US_PER_S);
	assert_string_equal(publisher_trouble(scene.publisher), never);
	encode(9, &message);
	publisher_begin_with(scene.publisher, buffer_bytes(&message));
	buffer_free(&message);
	asked = add(0, 1, false);
	stop = add(1, 2, true);
	publisher_work(scene.publisher);
	must_be(asked, SUBMISSION_REFUSED, never);
	must_be(stop, SUBMISSION_REFUSED, never);
	assert_int_equal(publisher_spooled(scene.publisher), 0);
	sim_restart_broker(scene.sim);
	pass(AWAY_US);
	assert_string_equal(names_heard(), "");
}

/* Also over an end of the gateway; what comes in the meantime comes behind. */
static void what_is_spooled_is_said_in_its_order_when_the_broker_is_back(void **state)
{
	const struct added *late;

	(void)state;
	pass(US_PER_S);
	lose_broker();
	assert_null(publisher_trouble(scene.publisher));
	for (int i = 0; i < 3; i++) {
		const struct added *kept = add(i, i + 1, i == 1);

		publisher_work(scene.publisher);
		must_be(kept, SUBMISSION_SPOOLED, "");
		assert_int_equal(publisher_spooled(scene.publisher), i + 1);
	}
	publisher_close(scene.publisher);
	open_publisher();
	assert_int_equal(publisher_spooled(scene.publisher), 3);
	assert_null(publisher_trouble(scene.publisher));
	sim_restart_broker(scene.sim);
	for (int i = 0; i < 2000 && !publisher_live(scene.publisher); i++)
		pass(WHILE_US);
	late = add(3, 4, true);
	for (int i = 0; i < 2000 && late->answers == 0; i++)
		pass(WHILE_US);
	must_be(late, SUBMISSION_ACCEPTED, "");
	assert_string_equal(names_heard(), "1 2 3 4");
	assert_int_equal(publisher_spooled(scene.publisher), 0);
	assert_int_equal(scene.counters.drained, 3);
	assert_int_equal(scene.counters.spooled, 3);
	assert_int_equal(scene.counters.accepted, 1);
}

/* More than are on their way at once. */
static void a_large_spool_drains_whole_and_each_message_once(void **state)
{
	(void)state;
	pass(US_PER_S);
	lose_broker();
	for (int i = 0; i < MANY; i++) {
		const struct added *kept = add(0, i, false);

		publisher_work(scene.publisher);
		must_be(kept, SUBMISSION_SPOOLED, "");
	}
	sim_restart_broker(scene.sim);
	for (int i = 0; i < 200 && publisher_spooled(scene.publisher) == MANY; i++)
		pass(WHILE_US);
	sim_kill_broker(scene.sim); /* some of them are on their way */
	pass(AWAY_US);
	sim_restart_broker(scene.sim);
	pass(AWAY_US);
	assert_int_equal(publisher_spooled(scene.publisher), 0);
	assert_string_equal(names_heard(), names_to(MANY));
	assert_int_equal(scene.counters.spooled, MANY);
}

/* Spools a message of a topic that only another service may say. */
static void spool_a_refused_one(int nth)
{
	Suppression fact = { .since_us = 1 };
	const struct publish_options how = { .shop = "demo", .key = "k" };
	struct buffer message = { 0 };

	scene.added[nth] = (struct added){ 0 };
	assert_int_equal(message_encode(&topic_suppression, &how, NULL, sim_now_us(scene.sim), &fact, &message), 0);
	publisher_add(scene.publisher, &message, false, note, &scene.added[nth]);
	publisher_work(scene.publisher);
	must_be(&scene.added[nth], SUBMISSION_SPOOLED, "");
}

static int is_rejection(const struct dirent *entry)
{
	return strstr(entry->d_name, ".rejected") != NULL;
}

static int rejections(void)
{
	struct dirent **names = NULL;
	char path[100];
	int count;

	snprintf(path, sizeof(path), "%s/rejected", scene.folder);
	count = scandir(path, &names, is_rejection, NULL);
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return count;
}

static void a_spooled_message_that_the_bus_refuses_is_kept_and_holds_up_nothing(void **state)
{
	(void)state;
	pass(US_PER_S);
	lose_broker();
	spool_a_refused_one(0);
	add(1, 1, false);
	publisher_work(scene.publisher);
	sim_restart_broker(scene.sim);
	pass(AWAY_US);
	assert_string_equal(names_heard(), "1");
	assert_int_equal(rejections(), 1);
	assert_int_equal(scene.counters.rejected, 1);
	assert_int_equal(publisher_spooled(scene.publisher), 0);
}

/* A storefront was told that it is taken: so it is in the spool or among the rejections, at any time. */
static void a_refused_message_that_cannot_be_kept_stays_in_the_spool_and_holds_up_nothing(void **state)
{
	const struct added *stop;
	char path[100];

	(void)state;
	write_below(scene.folder, "rejected", "where the folder should be\n", 0600);
	pass(US_PER_S);
	lose_broker();
	spool_a_refused_one(0);
	add(1, 1, false);
	publisher_work(scene.publisher);
	sim_restart_broker(scene.sim);
	pass(AWAY_US);
	assert_string_equal(names_heard(), "1");
	assert_int_equal(publisher_spooled(scene.publisher), 1);
	assert_int_equal(scene.counters.rejected, 0);
	stop = add(2, 2, true);
	pass(US_PER_S);
	must_be(stop, SUBMISSION_ACCEPTED, "");

	publisher_close(scene.publisher); /* also over an end of the gateway, and of the broker */
	open_publisher();
	assert_int_equal(
		publisher_spooled(scene.publisher), 2); /* one file: it is whole until all of it is confirmed */
	pass(AWAY_US);
	lose_broker();
	sim_restart_broker(scene.sim);
	pass(AWAY_US);
	assert_int_equal(publisher_spooled(scene.publisher), 1);

	snprintf(path, sizeof(path), "%s/rejected", scene.folder);
	assert_int_equal(unlink(path), 0);
	pass(AWAY_US);
	assert_int_equal(rejections(), 1);
	assert_int_equal(scene.counters.rejected, 1);
	assert_int_equal(publisher_spooled(scene.publisher), 0);
	assert_string_equal(names_heard(), "1 2");
	assert_int_equal(publisher_work(scene.publisher), -1);
}

static void what_has_to_be_said_first_is(void **state)
{
	struct buffer message = { 0 };
	const struct added *later;

	(void)state;
	pass(US_PER_S);
	encode(9, &message);
	publisher_begin_with(scene.publisher, buffer_bytes(&message));
	buffer_free(&message);
	later = add(0, 1, false);
	pass(US_PER_S);
	must_be(later, SUBMISSION_ACCEPTED, "");
	assert_string_equal(names_heard(), "9 1");
}

/* A claim may be said until the broker's promise has run out: a stop in the spool would not be known to it. */
static void a_stop_is_not_kept_back_from_a_broker_that_has_just_gone(void **state)
{
	const struct added *ordinary, *stop;
	int64_t since_us;

	(void)state;
	pass(US_PER_S);
	sim_kill_broker(scene.sim);
	ordinary = add(0, 1, false);
	stop = add(1, 2, true);
	since_us = sim_now_us(scene.sim);
	for (int i = 0; i < 1000 && stop->answers == 0; i++) {
		pass(WHILE_US);
		if (stop->answers == 0) /* it wants to be called again before somebody else calls */
			assert_in_range(publisher_work(scene.publisher), 0, 4 * US_PER_S);
	}
	must_be(ordinary, SUBMISSION_SPOOLED, "");
	assert_int_equal(stop->answers, 1);
	assert_true(stop->end == SUBMISSION_SPOOLED ? runtime_may_spool(sim_runtime(scene.sim, "gateway"))
						    : stop->end == SUBMISSION_REFUSED);
	assert_in_range(sim_now_us(scene.sim) - since_us, US_PER_S, 4 * US_PER_S);
}

static void what_still_waits_when_it_closes_is_refused(void **state)
{
	(void)state;
	pass(US_PER_S);
	add(0, 1, false);
	add(1, 2, true);
	publisher_close(scene.publisher);
	must_be(&scene.added[0], SUBMISSION_REFUSED, "the gateway is stopping");
	must_be(&scene.added[1], SUBMISSION_REFUSED, "the gateway is stopping");
	publisher_close(NULL);
	open_publisher();
	assert_int_equal(publisher_spooled(scene.publisher), 0);
	pass(US_PER_S);
	assert_string_equal(names_heard(), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_message_is_accepted_when_the_bus_has_it_and_a_duplicate_where_it_was),
		TEST(what_the_bus_cannot_carry_is_refused),
		TEST(a_gateway_that_never_met_its_broker_keeps_nothing),
		TEST(what_is_spooled_is_said_in_its_order_when_the_broker_is_back),
		TEST(a_large_spool_drains_whole_and_each_message_once),
		TEST(a_spooled_message_that_the_bus_refuses_is_kept_and_holds_up_nothing),
		TEST(a_refused_message_that_cannot_be_kept_stays_in_the_spool_and_holds_up_nothing),
		TEST(what_has_to_be_said_first_is),
		TEST(a_stop_is_not_kept_back_from_a_broker_that_has_just_gone),
		TEST(what_still_waits_when_it_closes_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
