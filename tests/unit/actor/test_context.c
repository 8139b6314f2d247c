/*
 * test_context.c: each instance of a service decides by the context that it was handed, and folds do not see it
 */
#include "bus/actor/runtime/replay.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/sim/harness.h"
#include "bus/actor/sim/sim.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "tests/unit/cmocka_all.h"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t START_US = INT64_C(1767225600) * US_PER_S;

/* ---- a service that says its name, wherever it is asked ---- */

extern const struct service greeter, stranger;

struct greeter {
	char name[32];
	int64_t due_us; /* 0: never */
	bool proceeds;
};
struct stranger {
	int number;
};
SERVICE_CONTEXT(greeter, struct greeter);
SERVICE_CONTEXT(stranger, struct stranger);

static void say_name(const struct state *state, struct turn *turn, const char *action)
{
	const struct greeter *context = greeter_context(state);
	Audit audit = { .at_us = turn_now_us(turn) };

	TEXT_COPY(audit.action, action);
	TEXT_COPY(audit.who, context ? context->name : "nobody");
	SAY(turn, audit, &audit, .shop = "demo", .key = "demo");
}

static const struct effect_kind greeting;

static enum verdict hear_wake(const struct state *state, const CartWake *wake, struct turn *turn)
{
	void *request = NULL;

	if (strcmp(wake->cart_id, "effect") == 0)
		return turn_effect(turn, &greeting, &request);
	say_name(state, turn, "heard");
	return TURN_DONE;
}

static void claim(const struct state *state, const void *message, const void *request, struct turn *turn)
{
	SendClaim said = { .step = 1 };

	(void)message, (void)request;
	TEXT_COPY(said.owner, greeter_context(state)->name);
	SAY(turn, send_claim, &said, .shop = "demo", .key = "effect", .idem = "effect");
}

static bool may_proceed(const struct state *state, const void *message, const void *request, int64_t now_us)
{
	(void)message, (void)request, (void)now_us;
	return greeter_context(state)->proceeds;
}

static enum verdict ended(const struct state *state, const void *message, const void *request, const void *result,
	enum claim_answer claimed, struct turn *turn)
{
	(void)message, (void)request, (void)result, (void)claimed;
	say_name(state, turn, "ended");
	return TURN_DONE;
}

static const struct effect_kind greeting = {
	.name = "greeting", .deadline_us = US_PER_S, .claim = claim, .may_proceed = may_proceed, .decide = ended
};

static int64_t next_due_us(const struct state *state)
{
	const struct greeter *context = greeter_context(state);

	return context && context->due_us && !state_has(state, "ticked", "demo", "") ? context->due_us : INT64_MAX;
}

static void due(const struct state *state, struct turn *turn)
{
	say_name(state, turn, "ticked");
}

static void remember_audit(struct state *state, const struct message_meta *said, const Audit *audit)
{
	if (strcmp(audit->action, "pry") == 0)
		state_put_number(state, "pried", said->shop, "", greeter_context(state) != NULL);
	if (strcmp(audit->action, "ticked") == 0)
		state_put_number(state, "ticked", said->shop, "", 1);
}

const struct service greeter = { .name = "greeter",
	.exclusive = true,
	.hears = HEARING(HEARS(cart_wake, hear_wake)),
	.remembers = REMEMBERING(REMEMBERS(audit, remember_audit)),
	.says = SAYING(SAYS(audit), SAYS(send_claim)),
	.effects = RUNNING(&greeting),
	.next_due_us = next_due_us,
	.due = due };

static enum verdict hear_elsewhere(const struct state *state, const CartWake *wake, struct turn *turn)
{
	(void)wake, (void)turn;
	return greeter_context(state) ? TURN_DONE : TURN_DONE;
}

const struct service stranger = { .name = "stranger", .hears = HEARING(HEARS(cart_wake, hear_elsewhere)) };

/* ---- one at a time ---- */

static enum verdict wake(struct harness *h, const char *id)
{
	CartWake message = { 0 };

	TEXT_COPY(message.cart_id, id);
	return WHEN(h, cart_wake, &message, .shop = "demo", .key = id);
}

static void assert_said(struct harness *h, const char *who)
{
	Audit audit;

	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_string_equal(audit.who, who);
}

static void two_instances_in_one_process_decide_by_their_own_context(void **state)
{
	struct greeter one = { .name = "one" }, two = { .name = "two" };
	struct harness *first = harness_new_in(greeter_in(&one), START_US);
	struct harness *second = harness_new_in(greeter_in(&two), START_US);

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(wake(first, "cart"), TURN_DONE);
		assert_said(first, "one");
		assert_int_equal(wake(second, "cart"), TURN_DONE);
		assert_said(second, "two");
	}
	TEXT_COPY(two.name, "renamed"); /* it is borrowed, not copied */
	assert_int_equal(wake(second, "cart"), TURN_DONE);
	assert_said(second, "renamed");
	harness_free(first);
	harness_free(second);
}

static void without_a_context_there_is_none(void **state)
{
	struct harness *h = harness_new(&greeter, START_US);

	(void)state;
	assert_int_equal(wake(h, "cart"), TURN_DONE);
	assert_said(h, "nobody");
	harness_free(h);
}

static void a_claim_its_check_and_its_end_know_the_context(void **state)
{
	struct greeter bold = { .name = "bold", .proceeds = true }, shy = { .name = "shy" };
	struct harness *first = harness_new_in(greeter_in(&bold), START_US);
	struct harness *second = harness_new_in(greeter_in(&shy), START_US);
	SendClaim said;

	(void)state;
	assert_int_equal(wake(first, "effect"), TURN_PENDING);
	assert_int_equal(wake(second, "effect"), TURN_PENDING);
	assert_true(harness_may_proceed(first));
	assert_true(harness_said(first, &topic_send_claim, 0, &said, NULL));
	assert_string_equal(said.owner, "bold");
	assert_false(harness_may_proceed(second));
	assert_int_equal(harness_result(second, NULL, CLAIM_UNUSED), TURN_DONE);
	assert_said(second, "shy");
	assert_int_equal(harness_result(first, NULL, CLAIM_FRESH), TURN_DONE);
	assert_said(first, "bold");
	harness_free(first);
	harness_free(second);
}

static void what_is_due_and_when_may_depend_on_the_context(void **state)
{
	struct greeter early = { .name = "early", .due_us = START_US + US_PER_S }, never = { .name = "never" };
	struct harness *first = harness_new_in(greeter_in(&early), START_US);
	struct harness *second = harness_new_in(greeter_in(&never), START_US);

	(void)state;
	harness_tick(first, START_US + US_PER_MINUTE);
	assert_said(first, "early");
	harness_tick(second, START_US + US_PER_MINUTE);
	assert_int_equal(harness_count(second, &topic_audit), 0);
	harness_free(first);
	harness_free(second);
}

static void a_log_is_replayed_in_a_context_too(void **state)
{
	struct greeter one = { .name = "one" };
	char why[512];
	struct replay *alone = replay_new_in(greeter_in(&one), NULL, why);

	(void)state;
	assert_non_null(alone);
	assert_ptr_equal(greeter_context(replay_state(alone)), &one);
	replay_free(alone);
}

/* ---- a whole system ---- */

static void note_who(const struct message_meta *said, struct bytes payload, void *context)
{
	char *names = context;
	Audit audit;

	if (strcmp(said->topic, topic_audit.name) != 0)
		return;
	assert_true(state_row(payload, &Audit_msg, &audit));
	snprintf(names + strlen(names), 100 - strlen(names), "%s:%s ", audit.action, audit.who);
}

static void say_wake(struct sim *sim, const char *id)
{
	CartWake message = { 0 };

	TEXT_COPY(message.cart_id, id);
	assert_int_equal(SIM_SAY(sim, cart_wake, &message, .shop = "demo", .key = id), SAID_FRESH);
	sim_run_until_idle(sim);
}

/* Also after a death: what is started again has the context of before. */
static void instances_of_a_system_have_one_context_each(void **state)
{
	static const struct service *const services[] = { &greeter, NULL };
	struct greeter one = { .name = "one" }, two = { .name = "two", .due_us = START_US + US_PER_HOUR };
	struct sim *sim = sim_new(services, START_US, 1);
	char names[100] = "";

	(void)state;
	sim_start_in(sim, "greeter-1", greeter_in(&one), NULL);
	sim_run_until_idle(sim);
	say_wake(sim, "a");
	sim_kill(sim, "greeter-1");
	sim_start_in(sim, "greeter-2", greeter_in(&two), NULL);
	sim_run_until(sim, START_US + 10 * US_PER_MINUTE);
	say_wake(sim, "b");
	sim_kill(sim, "greeter-2");
	sim_restart(sim, "greeter-1");
	sim_run_until(sim, START_US + 2 * US_PER_HOUR);
	say_wake(sim, "c");
	sim_kill(sim, "greeter-1");
	sim_restart(sim, "greeter-2");
	sim_run_until(sim, START_US + 3 * US_PER_HOUR);
	sim_log(sim, note_who, names);
	assert_string_equal(names, "heard:one heard:two heard:one ticked:two ");
	sim_free(sim);
}

/* ---- bugs ---- */

static void pry(void)
{
	struct greeter one = { .name = "one" };
	struct harness *h = harness_new_in(greeter_in(&one), START_US);

	GIVEN(h, audit, &(Audit){ .action = "pry" }, .shop = "demo", .key = "demo");
	harness_free(h);
}

static void take_anothers(void)
{
	struct stranger it = { 7 };
	struct harness *h = harness_new_in(stranger_in(&it), START_US);

	wake(h, "cart");
	harness_free(h);
}

static void start_with_anothers(void)
{
	struct stranger it = { 7 };
	struct clock clock = clock_virtual(START_US);
	struct runtime_settings settings = { .instance = "greeter", .context = stranger_in(&it) };
	struct store *store = NULL;
	struct runtime *runtime;

	if (store_open_memory(&runtime_store_options, &store) == 0)
		runtime_new(&greeter, &settings, NULL, &store, &clock, NULL, &runtime);
}

static bool aborts(void (*bug)(void))
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGABRT, SIG_DFL);
		fclose(stderr);
		bug();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* A fold that knew it would write rows that another configuration does not write. */
static void a_fold_that_asks_for_the_context_is_a_bug(void **state)
{
	(void)state;
	assert_true(aborts(pry));
}

static void another_services_context_is_a_bug(void **state)
{
	(void)state;
	assert_true(aborts(take_anothers));
	assert_true(aborts(start_with_anothers));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_instances_in_one_process_decide_by_their_own_context),
		cmocka_unit_test(without_a_context_there_is_none),
		cmocka_unit_test(a_claim_its_check_and_its_end_know_the_context),
		cmocka_unit_test(what_is_due_and_when_may_depend_on_the_context),
		cmocka_unit_test(a_log_is_replayed_in_a_context_too),
		cmocka_unit_test(instances_of_a_system_have_one_context_each),
		cmocka_unit_test(a_fold_that_asks_for_the_context_is_a_bug),
		cmocka_unit_test(another_services_context_is_a_bug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
