/* test_metrics.c: what a process counts, and what of it a heartbeat tells */
#include "bus/actor/runtime/runtime_inside.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static struct clock wall;

static struct runtime *runtime_at(int64_t boot)
{
	static struct runtime runtime;

	wall = clock_virtual(boot);
	runtime = (struct runtime){ .clock = &wall };
	return &runtime;
}

/* -1: it is not told */
static int64_t told(const Heartbeat *heartbeat, const char *name)
{
	int64_t found = -1;

	for (size_t i = 0; i < heartbeat->counts_count; i++) {
		if (strcmp(heartbeat->counts[i].name, name) != 0)
			continue;
		assert_int_equal(found, -1); /* once */
		found = (int64_t)heartbeat->counts[i].value;
	}
	return found;
}

static void a_duration_counts_within_every_bound_that_it_keeps(void **state)
{
	static const struct {
		int64_t us;
		uint64_t within[DURATION_BOUNDS], sum_us;
	} cases[] = {
		{ 0, { 1, 1, 1, 1, 1 }, 0 },
		{ -1, { 1, 1, 1, 1, 1 }, 0 }, /* another machine's clock was ahead */
		{ US_PER_MS, { 1, 1, 1, 1, 1 }, 1000 },
		{ US_PER_MS + 1, { 0, 1, 1, 1, 1 }, 1001 },
		{ 10 * US_PER_MS, { 0, 1, 1, 1, 1 }, 10000 },
		{ 10 * US_PER_MS + 1, { 0, 0, 1, 1, 1 }, 10001 },
		{ 100 * US_PER_MS, { 0, 0, 1, 1, 1 }, 100000 },
		{ 100 * US_PER_MS + 1, { 0, 0, 0, 1, 1 }, 100001 },
		{ US_PER_S, { 0, 0, 0, 1, 1 }, 1000000 },
		{ US_PER_S + 1, { 0, 0, 0, 0, 1 }, 1000001 },
		{ 10 * US_PER_S, { 0, 0, 0, 0, 1 }, 10000000 },
		{ 10 * US_PER_S + 1, { 0, 0, 0, 0, 0 }, 10000001 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct durations durations = { .count = 5, .sum_us = 7 };

		metrics_took(&durations, cases[i].us);
		assert_int_equal(durations.count, 6);
		assert_int_equal(durations.sum_us, 7 + cases[i].sum_us);
		assert_memory_equal(durations.within, cases[i].within, sizeof(durations.within));
	}
}

static void a_heartbeat_tells_all_that_is_not_zero_by_its_name(void **state)
{
	struct runtime *runtime = runtime_at(100 * US_PER_S);
	Heartbeat heartbeat = { 0 };

	(void)state;
	runtime->counts = (struct runtime_metrics){ .turns = 1,
		.failures = 2,
		.folded = 3,
		.effects = 4,
		.effect_timeouts = 5,
		.claims_fresh = 6,
		.claims_duplicate = 7,
		.sessions = 8,
		.config_read_us = 9,
		.config_kept = 1,
		.deciding = { .within = { 11, 12, 13, 14, 15 }, .count = 16, .sum_us = 17 },
		.waiting = { .within = { 21, 0, 23, 24, 25 }, .count = 26, .sum_us = 27 },
		.working = { .within = { 31, 32, 33, 34, 35 }, .count = 36, .sum_us = 37 } };
	static const struct {
		const char *name;
		int64_t value;
	} wanted[] = { { "turns", 1 }, { "failures", 2 }, { "folded", 3 }, { "effects", 4 }, { "effect_timeouts", 5 },
		{ "claims_fresh", 6 }, { "claims_duplicate", 7 }, { "sessions", 8 }, { "config_read_us", 9 },
		{ "config_kept", 1 }, { "deciding_count", 16 }, { "deciding_sum_us", 17 }, { "deciding_us_1000", 11 },
		{ "deciding_us_10000", 12 }, { "deciding_us_100000", 13 }, { "deciding_us_1000000", 14 },
		{ "deciding_us_10000000", 15 }, { "waiting_count", 26 }, { "waiting_sum_us", 27 },
		{ "waiting_us_1000", 21 }, { "waiting_us_10000", -1 }, { "waiting_us_100000", 23 },
		{ "waiting_us_1000000", 24 }, { "waiting_us_10000000", 25 }, { "working_count", 36 },
		{ "working_sum_us", 37 }, { "working_us_1000", 31 }, { "working_us_10000000", 35 },
		{ "memory_bytes", -1 } };
	metrics_in_heartbeat(runtime, &heartbeat);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(told(&heartbeat, wanted[i].name), wanted[i].value);
	assert_int_equal(heartbeat.counts_count, 10 + 3 * 7 - 1);
}

/* Who has no effects says nothing of them. */
static void effects_are_told_of_by_who_has_any(void **state)
{
	struct runtime *runtime = runtime_at(100 * US_PER_S);
	Heartbeat heartbeat = { 0 };

	(void)state;
	runtime->counts.working = (struct durations){ .count = 1, .sum_us = 1 };
	metrics_in_heartbeat(runtime, &heartbeat);
	assert_int_equal(heartbeat.counts_count, 0);
}

static bool is_told(struct runtime *runtime)
{
	Heartbeat heartbeat = { 0 };

	metrics_in_heartbeat(runtime, &heartbeat);
	return told(&heartbeat, "turns") == 3;
}

static void it_is_told_every_two_seconds_and_soon_when_the_configuration_changed(void **state)
{
	struct runtime *runtime = runtime_at(100 * US_PER_S);

	(void)state;
	runtime->counts.turns = 3;
	assert_true(is_told(runtime));
	assert_false(is_told(runtime));
	wall.virtual_us += 2 * US_PER_S - 1;
	assert_false(is_told(runtime));
	wall.virtual_us += 1;
	assert_true(is_told(runtime));
	runtime_tell_config(runtime, 77, true);
	assert_true(is_told(runtime));
	assert_int_equal(runtime_metrics(runtime).config_read_us, 77);
	assert_int_equal(runtime_metrics(runtime).config_kept, 1);
	runtime_tell_config(runtime, 0, false); /* when it was read stays as it was */
	assert_int_equal(runtime_metrics(runtime).config_read_us, 77);
	assert_int_equal(runtime_metrics(runtime).config_kept, 0);
}

static uint64_t memory(void)
{
	return 4096;
}

static void tell_beside(struct metrics_sink *beside, void *context)
{
	metrics_add(beside, "rows", *(uint64_t *)context);
	metrics_add(beside, "nothing", 0);
}

static void what_else_is_counted_is_told_with_it(void **state)
{
	struct runtime *runtime = runtime_at(100 * US_PER_S);
	Heartbeat heartbeat = { 0 };
	uint64_t rows = 12;

	(void)state;
	runtime->counting.memory_bytes = memory;
	runtime_metrics_beside(runtime, tell_beside, &rows);
	metrics_in_heartbeat(runtime, &heartbeat);
	assert_int_equal(told(&heartbeat, "memory_bytes"), 4096);
	assert_int_equal(told(&heartbeat, "rows"), 12);
	assert_int_equal(told(&heartbeat, "nothing"), -1);
	assert_int_equal(heartbeat.counts_count, 2);
}

/* So many kinds have a place; those behind are not counted, and cost nothing else. The process counts them for as long as it lives. */
static void who_throttles_is_counted_by_kind_up_to_a_bound(void **state)
{
	static const char *const kinds[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	struct runtime *runtime = runtime_at(100 * US_PER_S);
	Heartbeat heartbeat = { 0 }, bounded = { 0 };

	(void)state;
	metrics_throttled_by("mail");
	metrics_throttled_by("storefront");
	metrics_throttled_by("mail");
	metrics_in_heartbeat(runtime, &heartbeat);
	assert_int_equal(told(&heartbeat, "throttled_mail"), 2);
	assert_int_equal(told(&heartbeat, "throttled_storefront"), 1);
	assert_int_equal(heartbeat.counts_count, 2);

	runtime = runtime_at(200 * US_PER_S);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		metrics_throttled_by(kinds[i]);
	metrics_throttled_by("mail");
	metrics_in_heartbeat(runtime, &bounded);
	assert_int_equal(bounded.counts_count, THROTTLERS_MAX);
	assert_int_equal(told(&bounded, "throttled_mail"), 3);
	assert_int_equal(told(&bounded, "throttled_f"), 1);
	assert_int_equal(told(&bounded, "throttled_g"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_duration_counts_within_every_bound_that_it_keeps),
		cmocka_unit_test(a_heartbeat_tells_all_that_is_not_zero_by_its_name),
		cmocka_unit_test(effects_are_told_of_by_who_has_any),
		cmocka_unit_test(it_is_told_every_two_seconds_and_soon_when_the_configuration_changed),
		cmocka_unit_test(what_else_is_counted_is_told_with_it),
		cmocka_unit_test(who_throttles_is_counted_by_kind_up_to_a_bound), /* the last: the others count none */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
