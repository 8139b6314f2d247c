/* test_rights.c: a timer fires what the service that set it may set, and nothing else */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/kit/time/timer_setter.h"
#include "services/platform/timer/rights.h"
#include "services/platform/timer/rows.h"
#include "services/platform/timer/timer.h"
#include "tests/unit/cmocka_all.h"
#include <pb_encode.h>
#include <stdio.h>
#include <string.h>

#define SHOP "demo"
#define START_US (INT64_C(1767225600) * US_PER_S)

static TimerSet a_timer(const char *topic, const char *name, uint64_t version, int64_t due_us)
{
	TimerSet set = { .version = version, .due_us = due_us, .key = "k" };
	CartWake wake = { .cart_id = "c1", .revision = version, .due_us = due_us };
	Tick tick = { .name = "nightly" };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	TEXT_COPY(set.topic, topic);
	TEXT_COPY(set.name, name);
	assert_true(strcmp(topic, "cart.wake") == 0 ? pb_encode(&stream, &CartWake_msg, &wake)
						    : pb_encode(&stream, &Tick_msg, &tick));
	set.payload.size = (pb_size_t)stream.bytes_written;
	return set;
}

static void set_by(struct harness *h, const char *service, const TimerSet *set)
{
	harness_said_by(h, service);
	GIVEN(h, timer_set, set, .shop = SHOP, .key = set->name, .version = set->version);
}

static void cancel_by(struct harness *h, const char *service, const char *name, uint64_t version)
{
	TimerCancel cancel = { .version = version };

	TEXT_COPY(cancel.name, name);
	harness_said_by(h, service);
	GIVEN(h, timer_cancel, &cancel, .shop = SHOP, .key = name, .version = version);
}

static uint64_t version_of(struct harness *h, const char *name)
{
	TimerSet set;

	return timers_get(harness_state(h), SHOP, name, &set) ? set.version : 0;
}

static void what_systems_register_adds_up(void **state)
{
	size_t rows = 0;

	(void)state;
	for (const struct timer_setter *const *table = registered_timer_setters; *table; table++)
		for (const struct timer_setter *row = *table; row->service; row++, rows++) {
			assert_ptr_equal(rights_topic(row->fires->name), row->fires);
			assert_true(rights_allow(row->service, row->fires->name));
			assert_false(rights_allow(row->service, "tick.nightly"));
			assert_false(rights_is_timer(row->service));
		}
	assert_true(rows > 0);
	for (const struct topic *const *one = platform_timers; *one; one++)
		assert_true(rights_allow("timer", (*one)->name));
	assert_false(rights_allow("timer", "audit"));
	assert_false(rights_allow("", "cart.wake"));
}

static void a_service_sets_the_timers_that_it_may(void **state)
{
	static const char *const services[] = { "intake", "waiter", "sender" };

	(void)state;
	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
		struct harness *h = harness_new(&timer, START_US);
		TimerSet set = a_timer("cart.wake", "cart/c1", 1, START_US + 5);

		set_by(h, services[i], &set);
		harness_tick(h, START_US + 10);
		assert_int_equal(harness_count(h, &topic_cart_wake), 1);
		assert_int_equal(harness_count(h, &topic_alarm), 0);
		harness_free(h);
	}
}

static void what_its_setter_may_not_set_is_not_set_and_raises_an_alarm_at_once(void **state)
{
	static const struct {
		const char *service, *topic;
	} cases[] = { { "waiter", "tick.nightly" }, { "waiter", "tick.monthly" }, { "intake", "tick.weekly" },
		{ "unsub", "cart.wake" }, { "unsub", "tick.nightly" }, { "", "cart.wake" },
		{ "timers", "tick.nightly" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = harness_new(&timer, START_US);
		TimerSet set = a_timer(cases[i].topic, "mine", 7, START_US + US_PER_DAY);
		struct message_meta how;
		char words[160];
		Alarm alarm;

		set_by(h, cases[i].service, &set);
		assert_int_equal(version_of(h, "mine"), 0);
		assert_int_equal(timer.next_due_us(harness_state(h)), 0);
		harness_tick(h, START_US + 1);
		assert_int_equal(harness_count(h, NULL), 1);
		assert_true(harness_said(h, &topic_alarm, 0, &alarm, &how));
		assert_string_equal(alarm.kind, "timer-refused");
		assert_true(alarm.raised);
		assert_string_equal(how.shop, SHOP_OF_ALL);
		snprintf(words, sizeof(words),
			"a timer.set of the service %s for shop demo, is about a timer that fires %s", cases[i].service,
			cases[i].topic);
		assert_non_null(strstr(alarm.text, words));
		assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
		harness_tick(h, START_US + 2 * US_PER_DAY);
		assert_int_equal(harness_count(h, NULL), 1); /* nothing since */
		harness_free(h);
	}
}

/* A name or a version that belongs to another's timer does not get it out of the way. */
static void nobody_else_replaces_or_cancels_a_timer(void **state)
{
	struct harness *h = harness_new(&timer, START_US);
	TimerSet own = a_timer("cart.wake", "cart/c1", 3, START_US + US_PER_MINUTE);
	TimerSet same = a_timer("cart.wake", "cart/c1", UINT64_MAX, START_US + US_PER_DAY);
	TimerSet unknown = a_timer("no.such", "cart/c1", UINT64_MAX, START_US + US_PER_DAY);
	TimerSet tick = a_timer("tick.nightly", "tick/nightly", 1, START_US + US_PER_HOUR);
	TimerSet over_tick = a_timer("cart.wake", "tick/nightly", 9, START_US + 1);
	TimerSet newer = a_timer("cart.wake", "cart/c1", 4, START_US + 2 * US_PER_MINUTE);

	(void)state;
	set_by(h, "waiter", &own);
	set_by(h, "unsub", &same);
	set_by(h, "unsub", &unknown);
	cancel_by(h, "unsub", "cart/c1", UINT64_MAX);
	assert_int_equal(version_of(h, "cart/c1"), 3);
	set_by(h, "timer", &tick);
	set_by(h, "waiter", &over_tick);
	cancel_by(h, "waiter", "tick/nightly", 9);
	assert_int_equal(version_of(h, "tick/nightly"), 1);
	set_by(h, "intake", &newer); /* who may set such timers shares their names */
	assert_int_equal(version_of(h, "cart/c1"), 4);
	cancel_by(h, "intake", "cart/c1", 5);
	assert_int_equal(version_of(h, "cart/c1"), 0);
	harness_tick(h, START_US + US_PER_MINUTE);
	assert_int_equal(harness_count(h, NULL), 1);
	assert_int_equal(harness_count(h, &topic_alarm), 1);
	harness_free(h);
}

static uint64_t told(struct harness *h)
{
	unsigned long long count;
	Alarm alarm;

	assert_int_equal(harness_count(h, NULL), 1);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
	assert_int_equal(sscanf(alarm.text, "the timer ignored %llu messages", &count), 1);
	return count;
}

static void a_flood_is_one_alarm_an_hour_with_how_many_there_were(void **state)
{
	struct harness *h = harness_new(&timer, START_US);
	TimerSet set = a_timer("tick.nightly", "mine", 1, START_US);

	(void)state;
	set_by(h, "waiter", &set);
	harness_tick(h, START_US + 1);
	assert_int_equal(told(h), 1);
	for (int i = 0; i < 1000; i++)
		set_by(h, "waiter", &set);
	assert_in_range(timer.next_due_us(harness_state(h)), START_US + US_PER_HOUR, START_US + US_PER_HOUR + 1);
	harness_tick(h, START_US + 2 * US_PER_HOUR);
	assert_int_equal(told(h), 1000);
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	harness_free(h);
}

/* The alarm names the last refusal that it tells of (its cause). One that came meanwhile, or another's alarm, leaves the rest to tell. */
static void only_the_timers_own_alarm_about_it_ends_a_refusal(void **state)
{
	struct harness *h = harness_new(&timer, START_US);
	TimerSet set = a_timer("tick.nightly", "mine", 1, START_US);
	Alarm alarm = { .kind = "timer-refused", .raised = true };

	(void)state;
	set_by(h, "waiter", &set);
	harness_said_by(h, "monitor");
	GIVEN(h, alarm, &alarm, .shop = SHOP_OF_ALL, .key = alarm.kind);
	assert_int_equal(timer.next_due_us(harness_state(h)), 0);
	harness_said_by(h, "timer");
	GIVEN(h, alarm, &alarm, .shop = SHOP_OF_ALL,
		.key = alarm.kind); /* its cause is 0: it was said before the refusal */
	assert_int_equal(timer.next_due_us(harness_state(h)), START_US + US_PER_HOUR);
	harness_tick(h, START_US + US_PER_HOUR);
	assert_int_equal(told(h), 1);
	harness_free(h);
}

/* As of a newer release: it may be registered when the timer fires. Until then the right waits with it, and nobody can write it himself. */
static void a_topic_that_nobody_registered_is_judged_when_it_fires(void **state)
{
	struct harness *h = harness_new(&timer, START_US);
	TimerSet set = a_timer("no.such", "mine", 1, START_US + 5), row;

	(void)state;
	TEXT_COPY(set.said_by, "timer");
	set_by(h, "unsub", &set);
	assert_true(timers_get(harness_state(h), SHOP, "mine", &row));
	assert_string_equal(row.said_by, "unsub");
	TEXT_COPY(row.topic, "cart.wake"); /* as if it had been this one, which an update registered since */
	set_by(h, "timer", &row);          /* what this service sets anew keeps the name of the first */
	harness_tick(h, START_US + 10);
	assert_int_equal(harness_count(h, &topic_cart_wake), 0);
	assert_int_equal(harness_count(h, &topic_alarm), 1);
	assert_int_equal(harness_count(h, &topic_timer_fired), 1);
	harness_free(h);
}

static void a_timer_that_an_older_release_took_names_no_setter_and_fires(void **state)
{
	struct harness *h = harness_new(&timer, START_US);
	TimerSet set = a_timer("cart.wake", "cart/c1", 1, START_US + 5);

	(void)state;
	set_by(h, "timer", &set);
	harness_tick(h, START_US + 10);
	assert_int_equal(harness_count(h, &topic_cart_wake), 1);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_systems_register_adds_up),
		cmocka_unit_test(a_service_sets_the_timers_that_it_may),
		cmocka_unit_test(what_its_setter_may_not_set_is_not_set_and_raises_an_alarm_at_once),
		cmocka_unit_test(nobody_else_replaces_or_cancels_a_timer),
		cmocka_unit_test(a_flood_is_one_alarm_an_hour_with_how_many_there_were),
		cmocka_unit_test(only_the_timers_own_alarm_about_it_ends_a_refusal),
		cmocka_unit_test(a_topic_that_nobody_registered_is_judged_when_it_fires),
		cmocka_unit_test(a_timer_that_an_older_release_took_names_no_setter_and_fires),
	};

	return cmocka_run_group_tests_name("timer.rights", tests, NULL, NULL);
}
