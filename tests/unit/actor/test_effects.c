/* test_effects.c: an effect ends at its deadline, neither sooner nor at the next occasion */
#include "bus/actor/sim/sim.h"
#include "tests/unit/actor/cast.h"
#include "tests/unit/cmocka_all.h"

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
	assert_int_equal(runtime_counts(sim_runtime(endless.sim, "postman")).effect_timeouts, 1);
	sim_free(endless.sim);
}

static void how_long_it_worked_is_counted(void **state)
{
	struct endless endless;
	struct durations working;

	(void)state;
	begin(&endless);
	sim_run_until(endless.sim, endless.began_us + DEADLINE_US);
	working = runtime_counts(sim_runtime(endless.sim, "postman")).working;
	assert_int_equal(working.count, 1);
	assert_int_equal(working.sum_us, DEADLINE_US);
	for (int i = 0; i < DURATION_BOUNDS; i++)
		assert_int_equal(working.within[i], 0); /* the longest that is counted apart has ten seconds */
	sim_free(endless.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_never_ends_is_stopped_at_its_deadline),
		cmocka_unit_test(how_long_it_worked_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
