/* test_effects.c: an effect ends at its deadline, neither sooner nor at the next occasion; and what a broken session does to it */
#include "bus/actor/sim/sim.h"
#include "tests/unit/actor/cast.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static const int64_t START_US = INT64_C(1767225600) * US_PER_S,
		     DEADLINE_US = US_PER_MINUTE; /* of the postman's effect */

/* A driver that never comes to an end by itself. */
struct endless {
	struct effect_driver driver;
	struct effect_driver *drivers[2];
	struct sim *sim;
	struct effect *effect;
	int64_t began_us, stopped_us; /* the first time: its message comes again */
	int began, stopped;
};

static void endless_start(void *self, struct effect *effect, const void *request)
{
	struct endless *endless = self;

	(void)request;
	endless->effect = effect;
	if (endless->began++ == 0)
		endless->began_us = sim_now_us(endless->sim);
}

static void endless_proceed(void *self, struct effect *effect, bool go)
{
	(void)self;
	(void)effect;
	(void)go;
}

static void endless_stop(void *self, struct effect *effect)
{
	struct endless *endless = self;

	assert_ptr_equal(effect, endless->effect);
	if (endless->stopped++ == 0)
		endless->stopped_us = sim_now_us(endless->sim);
}

static void begin(struct endless *endless)
{
	LinkClicked clicked = { .cart_id = "cart", .step = 1 };

	*endless = (struct endless){ .driver = { .name = "courier",
					     .self = endless,
					     .start = endless_start,
					     .proceed = endless_proceed,
					     .stop = endless_stop },
		.sim = sim_new(cast, START_US, 5) };
	endless->drivers[0] = &endless->driver;
	sim_start(endless->sim, "door", &door, NULL);
	sim_start(endless->sim, "postman", &postman, endless->drivers);
	sim_run_until(endless->sim, START_US + 12345); /* its deadline is at no beat of anything else then */
	assert_int_equal(SIM_SAY(endless->sim, link_clicked, &clicked, .shop = "demo", .key = "cart"), SAID_FRESH);
	sim_run_until_idle(endless->sim);
	assert_int_equal(endless->began, 1);
}

static void one_that_never_ends_is_stopped_at_its_deadline(void **state)
{
	struct endless endless;

	(void)state;
	begin(&endless);
	sim_run_until(endless.sim, endless.began_us + 3 * DEADLINE_US / 2);
	assert_int_equal(endless.stopped, 1);
	assert_int_equal(endless.stopped_us, endless.began_us + DEADLINE_US);
	assert_int_equal(runtime_metrics(sim_runtime(endless.sim, "postman")).effect_timeouts, 1);
	sim_free(endless.sim);
}

static void how_long_it_worked_is_counted(void **state)
{
	struct endless endless;
	struct durations working;

	(void)state;
	begin(&endless);
	sim_run_until(endless.sim, endless.began_us + DEADLINE_US);
	working = runtime_metrics(sim_runtime(endless.sim, "postman")).working;
	assert_int_equal(working.count, 1);
	assert_int_equal(working.sum_us, DEADLINE_US);
	for (int i = 0; i < DURATION_BOUNDS; i++)
		assert_int_equal(working.within[i], 0); /* the longest that is counted apart has ten seconds */
	sim_free(endless.sim);
}

/* ---- what a broken session does to an effect, by its phase ---- */

struct counting {
	const char *topic;
	int count;
};

static void count_one(const struct message_meta *said, struct bytes payload, void *context)
{
	struct counting *counting = context;

	(void)payload;
	counting->count += strcmp(said->topic, counting->topic) == 0;
}

static int count_said(struct sim *sim, const struct topic *topic)
{
	struct counting counting = { .topic = topic->name };

	sim_log(sim, count_one, &counting);
	return counting.count;
}

static void break_session(struct sim *sim)
{
	sim_kill_broker(sim);
	sim_restart_broker(sim);
}

static void one_without_a_claim_is_let_go_and_its_message_comes_again(void **state)
{
	struct endless endless;

	(void)state;
	begin(&endless);
	break_session(endless.sim);
	sim_run_until(endless.sim, endless.began_us + DEADLINE_US / 2);
	assert_int_equal(endless.stopped, 1);
	assert_int_equal(endless.began, 2);
	sim_free(endless.sim);
}

/* A postman whose courier is at "cart/1"; a click is said while the gateway is there. */
static struct sim *sim_with_postman(struct effect_driver *const *drivers)
{
	struct sim *sim = sim_new(cast, START_US, 7);
	LinkClicked clicked = { .cart_id = "cart", .step = 1 };

	sim_start(sim, "door", &door, NULL);
	sim_run_until_idle(sim);
	sim_start(sim, "postman", &postman, drivers);
	assert_int_equal(SIM_SAY(sim, link_clicked, &clicked, .shop = "demo", .key = "cart"), SAID_FRESH);
	return sim;
}

static void what_went_and_never_ended_may_have_happened_though_the_session_broke(void **state)
{
	struct ledger ledger = { .hold_answer = true };
	struct effect_driver *const *drivers = courier_new(&ledger);
	struct sim *sim = sim_with_postman(drivers);

	(void)state;
	sim_run_until(sim, sim_now_us(sim) + 10 * US_PER_S);
	assert_int_equal(ledger.went, 1);
	break_session(sim);
	sim_run_until(sim, sim_now_us(sim) + 2 * DEADLINE_US);
	assert_int_equal(ledger.went, 1);
	assert_int_equal(ledger.withdrawn, 0);
	assert_int_equal(count_said(sim, &topic_reminder_ambiguous), 1);
	assert_int_equal(count_said(sim, &topic_reminder_released), 0);
	sim_free(sim);
	courier_free(drivers);
}

/* A driver that asks for its claim and gives up before the answer. */
struct hasty {
	struct effect_driver driver;
	struct effect_driver *drivers[2];
	struct effect *effect;
	bool asked, gives_up, ended;
	int began, told;
};

static void hasty_start(void *self, struct effect *effect, const void *request)
{
	struct hasty *hasty = self;

	(void)request;
	if (hasty->began++ == 0)
		hasty->effect = effect;
}

static void hasty_proceed(void *self, struct effect *effect, bool go)
{
	struct hasty *hasty = self;

	assert_false(go);
	assert_ptr_equal(effect, hasty->effect); /* and says nothing yet */
	hasty->told++;
}

static void hasty_stop(void *self, struct effect *effect)
{
	(void)self, (void)effect;
}

static void hasty_work(void *self)
{
	struct hasty *hasty = self;

	if (hasty->effect && !hasty->asked) {
		hasty->asked = true;
		effect_claim(hasty->effect);
	} else if (hasty->gives_up && !hasty->ended) {
		hasty->ended = true;
		effect_done(hasty->effect, NULL);
	}
}

static void one_that_ends_before_its_claim_is_answered_releases_it_when_it_is(void **state)
{
	(void)state;
	for (int breaks = 0; breaks < 2; breaks++) {
		struct hasty hasty = { .driver = { .name = "courier",
					       .self = &hasty,
					       .start = hasty_start,
					       .proceed = hasty_proceed,
					       .stop = hasty_stop,
					       .work = hasty_work } };
		hasty.drivers[0] = &hasty.driver;
		struct sim *sim = sim_with_postman(hasty.drivers);
		sim_kill(sim, "door"); /* the claim waits for it */
		sim_run_until(sim, sim_now_us(sim) + US_PER_S);
		assert_true(hasty.asked);
		if (breaks)
			break_session(sim);
		sim_run_until(sim, sim_now_us(sim) + 10 * US_PER_S);
		assert_int_equal(hasty.told, breaks);
		hasty.gives_up = true;
		sim_run_until(sim, sim_now_us(sim) + 2 * US_PER_S);
		assert_true(hasty.ended);
		assert_int_equal(count_said(sim, &topic_reminder_released), 0); /* whose claim it is is not known */
		sim_restart(sim, "door");
		sim_run_until(sim, sim_now_us(sim) + DEADLINE_US / 2);
		assert_int_equal(count_said(sim, &topic_send_claim), 1);
		assert_int_equal(count_said(sim, &topic_reminder_released), 1);
		sim_free(sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_never_ends_is_stopped_at_its_deadline),
		cmocka_unit_test(how_long_it_worked_is_counted),
		cmocka_unit_test(one_without_a_claim_is_let_go_and_its_message_comes_again),
		cmocka_unit_test(what_went_and_never_ended_may_have_happened_though_the_session_broke),
		cmocka_unit_test(one_that_ends_before_its_claim_is_answered_releases_it_when_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
