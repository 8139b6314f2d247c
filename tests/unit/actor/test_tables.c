/* test_tables.c: a service's tables have as many rows as it needs, and systems may add to each of them */
#include "bus.pb.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/runtime/turns.h"
#include "bus/actor/service.h"
#include "bus/actor/sim/sim.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <pb_encode.h>
#include <stdio.h>
#include <string.h>

STATE_NUMBERS(met, "met");

/*
 * More than any table once had room for: 16 topics heard, 24 remembered, 24 said; and more than the 128 topics that a broker took.
 * Of those heard and remembered, systems add the last ones: two tables of ALSO rows each.
 */
enum { HEARD = 70, REMEMBERED = 150, SAID = 50, FURTHER = 20, ALSO = 5 };
#define SHOP "shop"
#define START_US (INT64_C(1700000000) * US_PER_S)

static char names[HEARD + REMEMBERED + SAID + 2 * FURTHER][32];
static struct topic topics[sizeof(names) / sizeof(names[0])];
static struct topic *const heard_topics = topics, *const remembered_topics = topics + HEARD,
			   *const said_topics = topics + HEARD + REMEMBERED;
static struct hears hears[HEARD - 2 * ALSO + 1], further_hears[2][ALSO + 1];
static struct remembers remembers[REMEMBERED - 2 * ALSO + 1], further_remembers[2][ALSO + 1];
static const struct hears *const hears_also[] = { further_hears[0], further_hears[1], NULL };
static const struct remembers *const remembers_also[] = { further_remembers[0], further_remembers[1], NULL };
static const struct topic *says[SAID + 1], *further[2][FURTHER + 1];
static const struct topic *const *says_also[] = { further[0], further[1], NULL };
static struct service wide = { .name = "wide",
	.hears = hears,
	.remembers = remembers,
	.says = says,
	.hears_also = hears_also,
	.remembers_also = remembers_also,
	.says_also = says_also };

static struct hears *hears_row(int i)
{
	int beyond = i - (HEARD - 2 * ALSO);

	return beyond < 0 ? &hears[i] : &further_hears[beyond / ALSO][beyond % ALSO];
}

static struct remembers *remembers_row(int i)
{
	int beyond = i - (REMEMBERED - 2 * ALSO);

	return beyond < 0 ? &remembers[i] : &further_remembers[beyond / ALSO][beyond % ALSO];
}

/* Each message heard is said again under every topic of all three tables. */
static enum verdict hear(const struct state *state, const Tick *tick, struct turn *turn)
{
	const struct topic *topic;

	(void)state;
	for (size_t i = 0; (topic = service_says(&wide, i)); i++)
		turn_publish(turn, topic, &(struct publish_options){ .shop = SHOP, .key = "k" }, tick);
	return TURN_DONE;
}

static void fold(struct state *state, const struct message_meta *said, const Tick *tick)
{
	(void)tick;
	STATE_PUT_NUMBER(state, met, SHOP, said->topic, 1);
}

static int make_tables(void **context)
{
	(void)context;
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		snprintf(names[i], sizeof(names[i]), "topic.%zu", i);
		topics[i] = topic_tick_nightly;
		topics[i].name = names[i];
	}
	for (int i = 0; i < HEARD; i++)
		*hears_row(i) = (struct hears){ .topic = &heard_topics[i], .hear = (topic_handler *)hear };
	for (int i = 0; i < REMEMBERED; i++)
		*remembers_row(i) = (struct remembers){ .topic = &remembered_topics[i], .fold = (topic_handler *)fold };
	for (int i = 0; i < SAID; i++)
		says[i] = &said_topics[i];
	for (int i = 0; i < 2 * FURTHER; i++)
		further[i / FURTHER][i % FURTHER] = &said_topics[SAID + i];
	return 0;
}

static int count_lines(const char *text, const char *begin)
{
	int count = 0;

	for (const char *at = text; (at = strstr(at, begin)); at += strlen(begin))
		count++;
	return count;
}

static void the_manifest_has_every_row(void **context)
{
	struct buffer manifest = { 0 };

	(void)context;
	service_manifest(&wide, &manifest);
	assert_int_equal(count_lines(buffer_text(&manifest), "\nhears = "), HEARD);
	assert_int_equal(count_lines(buffer_text(&manifest), "\nremembers = "), REMEMBERED);
	assert_int_equal(count_lines(buffer_text(&manifest), "\nsays = "), SAID + 2 * FURTHER);
	assert_int_equal(count_lines(buffer_text(&manifest), "[topic topic."), sizeof(topics) / sizeof(topics[0]));
	buffer_free(&manifest);
}

static void what_is_said_is_numbered_through_all_tables(void **context)
{
	(void)context;
	assert_ptr_equal(service_says(&wide, 0), &said_topics[0]);
	assert_ptr_equal(service_says(&wide, SAID), &said_topics[SAID]);
	assert_ptr_equal(service_says(&wide, SAID + 2 * FURTHER - 1), &said_topics[SAID + 2 * FURTHER - 1]);
	assert_null(service_says(&wide, SAID + 2 * FURTHER));
	assert_ptr_equal(service_says_topic(&wide, names[HEARD + REMEMBERED]), &said_topics[0]);
	assert_ptr_equal(
		service_says_topic(&wide, names[HEARD + REMEMBERED + SAID + FURTHER]), &said_topics[SAID + FURTHER]);
	assert_null(service_says_topic(&wide, names[0]));
}

static void what_is_heard_and_remembered_is_numbered_through_all_tables(void **context)
{
	(void)context;
	for (int i = 0; i < HEARD; i++)
		assert_ptr_equal(service_hears(&wide, (size_t)i), hears_row(i));
	assert_null(service_hears(&wide, HEARD));
	for (int i = 0; i < REMEMBERED; i++)
		assert_ptr_equal(service_remembers(&wide, (size_t)i), remembers_row(i));
	assert_null(service_remembers(&wide, REMEMBERED));
}

/* Row `to` names the topic of row `from` for a moment. Returns what the check says of it. */
static int check_twice_heard(int from, int to, char ret_why[256])
{
	const struct topic *own = hears_row(to)->topic;
	int r;

	hears_row(to)->topic = hears_row(from)->topic;
	r = service_judge(&wide, ret_why);
	hears_row(to)->topic = own;
	return r;
}

static int check_twice_remembered(int from, int to, char ret_why[256])
{
	const struct topic *own = remembers_row(to)->topic;
	int r;

	remembers_row(to)->topic = remembers_row(from)->topic;
	r = service_judge(&wide, ret_why);
	remembers_row(to)->topic = own;
	return r;
}

static void two_functions_for_one_topic_are_refused_by_name(void **context)
{
	static const int heard[][2] = { { 0, 1 }, { 0, HEARD - 1 }, { HEARD - 2, HEARD - 1 } };
	static const int remembered[][2] = { { 0, 1 }, { REMEMBERED - ALSO, REMEMBERED - 1 },
		{ REMEMBERED - 2 * ALSO, REMEMBERED - ALSO - 1 } };
	char why[256] = "";

	(void)context;
	assert_int_equal(service_judge(&wide, why), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(check_twice_heard(heard[i][0], heard[i][1], why), -EEXIST);
		assert_non_null(strstr(why, "wide has two rows that hear "));
		assert_non_null(strstr(why, heard_topics[heard[i][0]].name));
		assert_int_equal(check_twice_remembered(remembered[i][0], remembered[i][1], why), -EEXIST);
		assert_non_null(strstr(why, "wide has two rows that remember "));
		assert_non_null(strstr(why, remembered_topics[remembered[i][0]].name));
	}
	assert_int_equal(service_judge(&wide, why), 0);
}

/* ---- several tables remember one topic ---- */

STATE_NUMBERS(calls, "calls");
STATE_STRINGS(order, "order");

static void note_call(struct state *state, const char *by)
{
	struct buffer order = { 0 };

	STATE_GET_STRING(state, order, SHOP, "k", &order);
	buffer_add_text(&order, by);
	STATE_PUT_STRING(state, order, SHOP, "k", buffer_bytes(&order));
	STATE_PUT_NUMBER(state, calls, SHOP, by, STATE_NUMBER(state, calls, SHOP, by) + 1);
	buffer_free(&order);
}

static void fold_a(struct state *state, const struct message_meta *said, const Audit *audit)
{
	(void)said, (void)audit;
	note_call(state, "a");
}

static void fold_b(struct state *state, const struct message_meta *said, const Audit *audit)
{
	(void)said, (void)audit;
	note_call(state, "b");
}

static void fold_c(struct state *state, const struct message_meta *said, const Audit *audit)
{
	(void)said, (void)audit;
	note_call(state, "c");
}

static const struct remembers kept[] = { REMEMBERS(audit, fold_b), { .topic = NULL } };
static const struct remembers passing[] = { REMEMBERS_FOR_A_WHILE(audit, fold_c), { .topic = NULL } };
static const struct remembers *const shared_also[] = { kept, passing, NULL };
static const struct service shared = {
	.name = "shared", .remembers = REMEMBERING(REMEMBERS(audit, fold_a)), .remembers_also = shared_also
};

static void the_folds_of_all_tables_that_remember_a_topic_are_called_in_order(void **context)
{
	static const struct service *const services[] = { &shared, NULL };
	struct sim *sim = sim_new(services, START_US, 1);
	struct buffer order = { 0 };
	char why[256];

	(void)context;
	assert_int_equal(service_judge(&shared, why), 0);
	sim_start(sim, "shared", &shared, NULL);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			SIM_SAY(sim, audit, (&(Audit){ .at_us = START_US }), .shop = SHOP, .key = "k"), SAID_FRESH);
	sim_run_until_idle(sim);
	assert_true(STATE_GET_STRING(runtime_state(sim_runtime(sim, "shared")), order, SHOP, "k", &order));
	assert_string_equal(buffer_text(&order), "abcabc");
	buffer_free(&order);
	sim_free(sim);
}

static void the_manifest_has_a_topic_of_several_tables_once(void **context)
{
	struct buffer manifest = { 0 };

	(void)context;
	service_manifest(&shared, &manifest);
	assert_int_equal(count_lines(buffer_text(&manifest), "\nremembers = audit\n"), 1);
	assert_int_equal(count_lines(buffer_text(&manifest), "[topic audit]"), 1);
	buffer_free(&manifest);
}

static void forget_rows_before(struct state *state, uint64_t seq)
{
	uint8_t payload[Forgotten_size];
	pb_ostream_t stream = pb_ostream_from_buffer(payload, sizeof(payload));

	assert_true(pb_encode(&stream, Forgotten_fields, &(Forgotten){ .facts_before = seq, .rows_before = seq }));
	assert_int_equal(state_hear_forgotten(state, BYTES(payload, stream.bytes_written)), 0);
}

static void each_table_decides_how_long_its_own_rows_stay(void **context)
{
	struct store *store = NULL;
	struct table *table = table_new(&shared);
	const struct message_meta said = { .topic = topic_audit.name, .shop = SHOP, .key = "k", .seq = 5 };
	struct buffer payload = { 0 };
	struct state *state;

	(void)context;
	assert_int_equal(store_open_memory(&runtime_store_options, &store), 0);
	state = state_new(&store);
	assert_true(turn_encode(&topic_audit, &(Audit){ .at_us = START_US }, &payload));
	state_write_projected(state);
	assert_int_equal(table_fold(table, state, &said, buffer_bytes(&payload)), 0);
	forget_rows_before(state, 6);
	assert_int_equal(STATE_NUMBER(state, calls, SHOP, "a"), 1);
	assert_int_equal(STATE_NUMBER(state, calls, SHOP, "b"), 1);
	assert_int_equal(STATE_NUMBER(state, calls, SHOP, "c"), 0);
	state_free(state);
	table_free(table);
	buffer_free(&payload);
}

static void a_service_may_only_have_what_systems_add(void **context)
{
	static const struct service added = {
		.name = "added", .hears_also = hears_also, .remembers_also = remembers_also
	};
	struct buffer manifest = { 0 };

	(void)context;
	service_manifest(&added, &manifest);
	assert_int_equal(count_lines(buffer_text(&manifest), "\nhears = "), 2 * ALSO);
	assert_int_equal(count_lines(buffer_text(&manifest), "\nremembers = "), 2 * ALSO);
	buffer_free(&manifest);
}

static void a_service_may_have_no_table_at_all(void **context)
{
	static const struct service bare = { .name = "bare" };
	struct buffer manifest = { 0 };

	(void)context;
	assert_null(service_says(&bare, 0));
	assert_null(service_hears(&bare, 0));
	assert_null(service_remembers(&bare, 0));
	assert_null(service_says_topic(&bare, "topic.0"));
	service_manifest(&bare, &manifest);
	assert_string_equal(buffer_text(&manifest), "[peer bare]\n\n");
	buffer_free(&manifest);
}

static void what_a_service_declares_of_its_queue_stands_in_its_manifest_and_only_then(void **context)
{
	struct service declaring = wide;
	struct buffer manifest = { 0 };

	(void)context;
	service_manifest(&declaring, &manifest);
	assert_null(strstr(buffer_text(&manifest), "failure-limit"));
	assert_null(strstr(buffer_text(&manifest), "lease"));
	buffer_clear(&manifest);
	declaring.failures_max = 2;
	declaring.lease_ms = 1500;
	service_manifest(&declaring, &manifest);
	assert_non_null(strstr(buffer_text(&manifest), "\nfailure-limit = 2\nlease = 1500ms\n"));
	buffer_free(&manifest);
}

static void what_a_service_declares_of_its_queue_is_judged(void **context)
{
	static const struct {
		bool hears;
		uint32_t failures_max, lease_ms;
		const char *why; /* NULL: it may be */
	} cases[] = { { true, 0, 0, NULL }, { false, 0, 0, NULL }, { true, 1, 100, NULL },
		{ true, 1000, 86400000, NULL }, { true, 1001, 0, "failures_max of wide is 1001; expected 1 to 1000" },
		{ true, UINT32_MAX, 0, "failures_max of wide is 4294967295" },
		{ true, 0, 99, "lease_ms of wide is 99; expected 100 to 86400000" },
		{ true, 0, 86400001, "lease_ms of wide is 86400001" }, { false, 2, 0, "it hears nothing" },
		{ false, 0, 1000, "it hears nothing" } };

	(void)context;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct service declaring = wide;
		char why[256] = "";

		declaring.hears = cases[i].hears ? hears : NULL;
		declaring.hears_also = cases[i].hears ? hears_also : NULL;
		declaring.failures_max = cases[i].failures_max;
		declaring.lease_ms = cases[i].lease_ms;
		assert_int_equal(service_judge(&declaring, why), cases[i].why ? -EINVAL : 0);
		if (!strstr(why, cases[i].why ? cases[i].why : ""))
			fail_msg("expected \"%s\" in \"%s\"", cases[i].why, why);
	}
}

struct met {
	int answers; /* messages under the topics that `wide` says */
	bool last;   /* and under the last one of them */
};

static void count_answers(const struct message_meta *said, struct bytes payload, void *context)
{
	struct met *met = context;

	(void)payload;
	met->answers += service_says_topic(&wide, said->topic) != NULL;
	met->last = met->last || strcmp(said->topic, said_topics[SAID + 2 * FURTHER - 1].name) == 0;
}

static void the_last_row_of_each_table_works(void **context)
{
	static const struct service *const services[] = { &wide, NULL };
	struct sim *sim = sim_new(services, START_US, 1);
	struct met met = { 0 };
	const Tick tick = { .due_us = START_US };
	const struct publish_options how = { .shop = SHOP, .key = "k" };

	(void)context;
	sim_start(sim, "wide", &wide, NULL);
	assert_int_equal(sim_publish(sim, &heard_topics[HEARD - 1], &how, &tick, NULL), SAID_FRESH);
	assert_int_equal(sim_publish(sim, &remembered_topics[REMEMBERED - 1], &how, &tick, NULL), SAID_FRESH);
	sim_run_until_idle(sim);
	sim_log(sim, count_answers, &met);
	assert_int_equal(met.answers, SAID + 2 * FURTHER);
	assert_true(met.last);
	assert_int_equal(STATE_NUMBER(runtime_state(sim_runtime(sim, "wide")), met, SHOP,
				 remembered_topics[REMEMBERED - 1].name),
		1);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_manifest_has_every_row),
		cmocka_unit_test(what_is_said_is_numbered_through_all_tables),
		cmocka_unit_test(what_is_heard_and_remembered_is_numbered_through_all_tables),
		cmocka_unit_test(two_functions_for_one_topic_are_refused_by_name),
		cmocka_unit_test(the_folds_of_all_tables_that_remember_a_topic_are_called_in_order),
		cmocka_unit_test(the_manifest_has_a_topic_of_several_tables_once),
		cmocka_unit_test(each_table_decides_how_long_its_own_rows_stay),
		cmocka_unit_test(a_service_may_only_have_what_systems_add),
		cmocka_unit_test(a_service_may_have_no_table_at_all),
		cmocka_unit_test(what_a_service_declares_of_its_queue_stands_in_its_manifest_and_only_then),
		cmocka_unit_test(what_a_service_declares_of_its_queue_is_judged),
		cmocka_unit_test(the_last_row_of_each_table_works),
	};

	return cmocka_run_group_tests_name("actor.tables", tests, make_tables, NULL);
}
