/* test_timer.c: named timers, one-off and cron, across both daylight-saving changes */
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/kit/time/zone.h"
#include "services/platform/timer/rows.h"
#include "services/platform/timer/timer.h"
#include "tests/unit/cmocka_all.h"
#include <pb_encode.h>
#include <stdio.h>
#include <string.h>

static int64_t berlin(int year, int month, int day, int hour, int minute)
{
	const struct local_time local = { .year = year, .month = month, .day = day, .hour = hour, .minute = minute };
	int64_t us;

	assert_int_equal(zone_moment("Europe/Berlin", &local, &us), 0);
	return us;
}

static TimerSet wake_timer(const char *cart_id, uint64_t version, int64_t due_us)
{
	TimerSet set = { .version = version, .due_us = due_us, .topic = "cart.wake" };
	CartWake wake = { .revision = version, .due_us = due_us };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	snprintf(set.name, sizeof(set.name), "cart/%s", cart_id);
	TEXT_COPY(set.key, cart_id);
	TEXT_COPY(wake.cart_id, cart_id);
	assert_true(pb_encode(&stream, &CartWake_msg, &wake));
	set.payload.size = (pb_size_t)stream.bytes_written;
	return set;
}

/* By a service that may set such a timer. */
static void given_timer(struct harness *h, const char *shop, const TimerSet *set)
{
	harness_said_by(h, text_starts(set->topic, "tick.") ? "timer" : "waiter");
	GIVEN(h, timer_set, set, .shop = shop, .key = set->name, .version = set->version);
}

static void given_wake(struct harness *h, const char *cart_id, uint64_t version, int64_t due_us)
{
	TimerSet set = wake_timer(cart_id, version, due_us);

	given_timer(h, "demo", &set);
}

static void given_nightly(struct harness *h, const char *cron, const char *zone)
{
	TimerSet set = { .name = "nightly", .version = 1, .topic = "tick.nightly", .key = "demo" };
	Tick tick = { .name = "nightly" };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	TEXT_COPY(set.cron, cron);
	TEXT_COPY(set.zone, zone);
	assert_true(pb_encode(&stream, &Tick_msg, &tick));
	set.payload.size = (pb_size_t)stream.bytes_written;
	given_timer(h, "demo", &set);
}

static void a_due_timer_says_what_was_asked_and_its_tombstone_in_one_turn(void **state)
{
	struct harness *h = harness_new(&timer, 1000);
	struct message_meta said;
	CartWake wake;
	TimerFired fired;

	(void)state;
	given_wake(h, "c1", 3, 5000);
	assert_int_equal(timer.next_due_us(harness_state(h)), 5000);
	harness_tick(h, 4999);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_tick(h, 5001);
	assert_int_equal(harness_count(h, NULL), 2);
	assert_true(harness_said(h, &topic_cart_wake, 0, &wake, &said));
	assert_string_equal(wake.cart_id, "c1");
	assert_int_equal(wake.revision, 3);
	assert_int_equal(wake.due_us, 5000);
	assert_string_equal(said.shop, "demo");
	assert_string_equal(said.key, "c1");
	assert_true(harness_said(h, &topic_timer_fired, 0, &fired, &said));
	assert_string_equal(fired.name, "cart/c1");
	assert_int_equal(fired.due_us, 5000);
	assert_true(said.tombstone);
	assert_int_equal(said.version, 3);
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	harness_free(h);
}

static void the_earliest_of_all_shops_is_next(void **state)
{
	struct harness *h = harness_new(&timer, 1000);
	TimerSet first = wake_timer("c1", 1, 3000);
	CartWake wake;
	struct message_meta said;

	(void)state;
	given_wake(h, "c1", 1, 7000);
	given_wake(h, "c2", 1, 5000);
	given_timer(h, "zeta", &first);
	assert_int_equal(timer.next_due_us(harness_state(h)), 3000);
	harness_tick(h, 6000);
	assert_int_equal(harness_count(h, &topic_cart_wake), 2);
	harness_said(h, &topic_cart_wake, 0, &wake, &said);
	assert_string_equal(said.shop, "zeta");
	harness_said(h, &topic_cart_wake, 1, &wake, &said);
	assert_string_equal(said.key, "c2");
	assert_int_equal(timer.next_due_us(harness_state(h)), 7000);
	harness_free(h);
}

static void an_older_set_or_cancel_changes_nothing(void **state)
{
	struct harness *h = harness_new(&timer, 1000);
	TimerSet set;

	(void)state;
	given_wake(h, "c1", 5, 5000);
	given_wake(h, "c1", 4, 2000);
	GIVEN(h, timer_cancel, &((TimerCancel){ .name = "cart/c1", .version = 4 }), .shop = "demo", .key = "cart/c1");
	assert_int_equal(timer.next_due_us(harness_state(h)), 5000);
	given_wake(h, "c1", 5, 6000);
	assert_int_equal(timer.next_due_us(harness_state(h)), 6000);
	GIVEN(h, timer_cancel, &((TimerCancel){ .name = "cart/c1", .version = 5 }), .shop = "demo", .key = "cart/c1");
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	given_wake(h, "c1", 4, 7000);
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	assert_false(timers_get(harness_state(h), "demo", "cart/c1", &set));
	harness_free(h);
}

static void a_late_set_does_not_wake_a_timer_that_has_fired(void **state)
{
	struct harness *h = harness_new(&timer, 1000);

	(void)state;
	given_wake(h, "c1", 5, 2000);
	harness_tick(h, 3000);
	given_wake(h, "c1", 4, 2500);
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	given_wake(h, "c1", 5, 9000); /* the next wait of the same revision */
	assert_int_equal(timer.next_due_us(harness_state(h)), 9000);
	harness_free(h);
}

static void an_overdue_timer_fires_late_rather_than_never(void **state)
{
	struct harness *h = harness_new(&timer, 100 * US_PER_DAY);
	TimerFired fired;

	(void)state;
	given_wake(h, "c1", 1, 5 * US_PER_DAY);
	harness_tick(h, 100 * US_PER_DAY);
	assert_true(harness_said(h, &topic_timer_fired, 0, &fired, NULL));
	assert_int_equal(fired.due_us, 5 * US_PER_DAY);
	assert_int_equal(fired.fired_us, 100 * US_PER_DAY);
	harness_free(h);
}

static void many_that_are_due_at_once_fire_each_once(void **state)
{
	struct harness *h = harness_new(&timer, 1000);

	(void)state;
	for (int i = 0; i < 500; i++) {
		char cart_id[16];

		snprintf(cart_id, sizeof(cart_id), "c%d", i);
		given_wake(h, cart_id, 1, 2000);
	}
	harness_tick(h, 3000); /* turn by turn: each folds before the next */
	assert_int_equal(harness_count(h, &topic_timer_fired), 500);
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	harness_free(h);
}

static void given_fired(struct harness *h, const char *cart_id, uint64_t version, int64_t due_us)
{
	TimerFired fired = { .version = version, .due_us = due_us, .fired_us = due_us };

	snprintf(fired.name, sizeof(fired.name), "cart/%s", cart_id);
	GIVEN(h, timer_fired, &fired, .shop = "demo", .key = fired.name, .version = version, .tombstone = true);
}

static void a_firing_does_not_take_away_what_was_set_anew_meanwhile(void **state)
{
	struct harness *h = harness_new(&timer, 1000);
	TimerSet again;

	(void)state;
	given_wake(h, "c1", 5, 2000);
	given_wake(h, "c1", 5, 9000); /* committed while the firing of the first was on its way */
	given_fired(h, "c1", 5, 2000);
	harness_tick(h, 3000); /* in the log its tombstone is the last word: the timer is said anew */
	assert_int_equal(harness_count(h, NULL), 1);
	assert_true(harness_said(h, &topic_timer_set, 0, &again, NULL));
	assert_int_equal(again.due_us, 9000);
	assert_int_equal(timer.next_due_us(harness_state(h)), 9000);
	given_timer(h, "demo", &again);
	given_fired(h, "c1", 5, 9000);
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	harness_free(h);
}

static void given_many_that_fired(struct harness *h, int64_t first_us, int count)
{
	for (int i = 0; i < count; i++) {
		char cart_id[16];

		snprintf(cart_id, sizeof(cart_id), "f%d", i);
		given_wake(h, cart_id, 1, first_us + i);
		given_fired(h, cart_id, 1, first_us + i);
	}
}

/* The row at which a search for due timers begins: all rows before it have fired. "": the very first row. */
static const char *search_begins_at(struct harness *h)
{
	static struct buffer row;

	buffer_clear(&row);
	assert_true(state_get_bytes(harness_state(h), "head", "all", "", &row));
	return buffer_text(&row) + 8;
}

static void a_timer_set_for_earlier_than_all_that_fired_is_found(void **state)
{
	struct harness *h = harness_new(&timer, 1000);

	(void)state;
	given_wake(h, "later", 1, 90000);
	given_many_that_fired(h, 5000, 300);
	assert_int_equal(timer.next_due_us(harness_state(h)), 90000);
	assert_string_not_equal(search_begins_at(h), "");
	given_wake(h, "early", 1, 3000);
	assert_int_equal(timer.next_due_us(harness_state(h)), 3000);
	given_fired(h, "early", 1, 3000);
	given_fired(h, "later", 1, 90000);
	given_many_that_fired(h, 100000, 300); /* all gone: the order is empty */
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	assert_string_not_equal(search_begins_at(h), "");
	given_wake(h, "again", 1, 4000);
	assert_int_equal(timer.next_due_us(harness_state(h)), 4000);
	harness_free(h);
}

static void assert_new_one_fires_early(int64_t late_us)
{
	struct harness *h = harness_new(&timer, US_PER_DAY);
	TimerFired fired;
	char cart_id[16];
	bool found = false;

	for (int i = 0; i < 1000; i++) {
		snprintf(cart_id, sizeof(cart_id), "c%d", i);
		given_wake(h, cart_id, 1, 5000 + i);
	}
	given_wake(h, "new", 1, US_PER_DAY - late_us);
	harness_tick(h, US_PER_DAY);
	assert_int_equal(harness_count(h, &topic_timer_fired), 1001);
	for (size_t i = 0; i < 20 && !found; i++)
		found = harness_said(h, &topic_timer_fired, i, &fired, NULL) && strcmp(fired.name, "cart/new") == 0;
	assert_true(found);
	harness_free(h);
}

/* Also those that became due while this process folded what had come while it was away. */
static void new_timers_fire_between_the_overdue(void **state)
{
	(void)state;
	assert_new_one_fires_early(10);
	assert_new_one_fires_early(US_PER_MINUTE / 2);
	assert_new_one_fires_early(US_PER_HOUR / 2);
}

static void of_each_age_as_many_as_are_overdue_fire_each_once(void **state)
{
	static const int64_t late_us[] = { US_PER_DAY / 2, US_PER_HOUR / 2, US_PER_MINUTE / 2, US_PER_S / 2 };
	struct harness *h = harness_new(&timer, US_PER_DAY);
	char cart_id[24];

	(void)state;
	for (size_t i = 0; i < sizeof(late_us) / sizeof(late_us[0]); i++)
		for (int nth = 0; nth < 50; nth++) {
			snprintf(cart_id, sizeof(cart_id), "c%zu-%d", i, nth);
			given_wake(h, cart_id, 1, US_PER_DAY - late_us[i] + nth);
		}
	harness_tick(h, US_PER_DAY);
	assert_int_equal(harness_count(h, &topic_timer_fired), 200);
	assert_int_equal(harness_count(h, &topic_cart_wake), 200);
	harness_free(h);
}

/* So it is while a firing is only said: its turn lies above the log's rows until the broker has confirmed it. */
static void a_timer_set_while_firings_are_on_their_way_is_found_before_them(void **state)
{
	enum { FIRED = 200 };
	struct message_meta said = {
		.shop = "demo", .topic = "", .key = "", .idem = "", .trace = "", .said_by = "waiter"
	};
	struct store *store = NULL;
	TimerSet set;

	(void)state;
	assert_int_equal(store_open_memory(&runtime_store_options, &store), 0);
	struct state *rows = state_new(&store);
	state_write_projected(rows);
	for (int i = 0; i <= FIRED; i++) {
		char cart_id[16];
		snprintf(cart_id, sizeof(cart_id), "c%d", i);
		set = wake_timer(cart_id, 1, 5000 + i);
		said.seq++;
		timers_remember_set(rows, &said, &set);
	}
	state_write_turn(rows, 1);
	for (int i = 0; i < FIRED; i++) {
		TimerFired fired = { .version = 1, .due_us = 5000 + i };
		snprintf(fired.name, sizeof(fired.name), "cart/c%d", i);
		timers_remember_fired(rows, &(struct message_meta){ .shop = "demo" }, &fired);
	}
	assert_int_equal(timers_next_due_us(rows), 5000 + FIRED);
	set = wake_timer("early", 1, 2000);
	said.seq++;
	state_write_projected(rows);
	timers_remember_set(rows, &said, &set);
	state_write_turn(rows, 2);
	assert_int_equal(timers_next_due_us(rows), 2000);
	state_free(rows);
}

static void an_own_firing_that_is_not_confirmed_hides_nothing_that_comes_in(void **state)
{
	struct harness *h = harness_new(&timer, 1000);
	char cart_id[16];

	(void)state;
	for (int i = 0; i < 200; i++) {
		snprintf(cart_id, sizeof(cart_id), "c%d", i);
		given_wake(h, cart_id, 1, 5000 + i);
	}
	harness_tick(h, 6000); /* what it says is not in the log yet */
	assert_int_equal(harness_count(h, &topic_timer_fired), 200);
	given_wake(h, "early", 1, 2000);
	assert_int_equal(timer.next_due_us(harness_state(h)), 2000);
	harness_free(h);
}

static void a_cron_timer_comes_back_every_night(void **state)
{
	struct harness *h = harness_new(&timer, berlin(2026, 5, 10, 12, 0));
	Tick tick;

	(void)state;
	given_nightly(h, "0 2 * * *", "Europe/Berlin");
	assert_int_equal(timer.next_due_us(harness_state(h)), berlin(2026, 5, 11, 2, 0));
	harness_tick(h, berlin(2026, 5, 11, 2, 0));
	assert_true(harness_said(h, &topic_tick_nightly, 0, &tick, NULL));
	assert_int_equal(tick.due_us, berlin(2026, 5, 11, 2, 0));
	assert_int_equal(timer.next_due_us(harness_state(h)), berlin(2026, 5, 12, 2, 0));
	harness_free(h);
}

static void a_cron_timer_outlives_its_own_tombstone(void **state)
{
	struct harness *h = harness_new(&timer, berlin(2026, 5, 10, 12, 0));
	struct message_meta set, fired;
	TimerSet again;
	TimerFired tombstone;

	(void)state;
	given_nightly(h, "0 2 * * *", "Europe/Berlin");
	harness_tick(h, berlin(2026, 5, 11, 2, 0));
	assert_true(harness_said(h, &topic_timer_fired, 0, &tombstone, &fired));
	assert_true(harness_said(h, &topic_timer_set, 0, &again, &set));
	assert_string_equal(again.cron, "0 2 * * *");
	assert_true(set.version >= fired.version);
	assert_false(set.tombstone);
	harness_free(h);
}

static void a_cron_timer_that_cannot_be_read_never_ticks_and_ends_the_one_before(void **state)
{
	static const char *const bad[][2] = { { "61 2 * * *", "Europe/Berlin" }, { "0 2 * *", "Europe/Berlin" },
		{ "0 2 * * *", "Mars/Olympus" }, { "0 2 30 2 *", "Europe/Berlin" } };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct harness *h = harness_new(&timer, berlin(2026, 5, 10, 12, 0));

		given_nightly(h, "0 2 * * *", "Europe/Berlin");
		given_nightly(h, bad[i][0], bad[i][1]);
		if (timer.next_due_us(harness_state(h)) != INT64_MAX)
			fail_msg("%s in %s ticks", bad[i][0], bad[i][1]);
		harness_free(h);
	}
}

static void missed_nights_are_made_up_for_once(void **state)
{
	struct harness *h = harness_new(&timer, berlin(2026, 5, 10, 12, 0));

	(void)state;
	given_nightly(h, "0 2 * * *", "Europe/Berlin");
	harness_now(h, berlin(2026, 5, 20, 9, 0));
	harness_tick(h, berlin(2026, 5, 20, 9, 0));
	assert_int_equal(harness_count(h, &topic_tick_nightly), 1);
	assert_int_equal(timer.next_due_us(harness_state(h)), berlin(2026, 5, 21, 2, 0));
	harness_free(h);
}

/* Europe/Berlin: 02:00 does not exist on 29 March 2026, and 02:30 comes twice on 25 October 2026. */
static void nights_of_both_clock_changes_tick_once(void **state)
{
	struct harness *h = harness_new(&timer, berlin(2026, 3, 28, 12, 0));

	(void)state;
	given_nightly(h, "0 2 * * *", "Europe/Berlin");
	assert_int_equal(timer.next_due_us(harness_state(h)), berlin(2026, 3, 29, 3, 0));
	harness_tick(h, berlin(2026, 3, 29, 3, 0));
	assert_int_equal(harness_count(h, &topic_tick_nightly), 1);
	assert_int_equal(timer.next_due_us(harness_state(h)), berlin(2026, 3, 30, 2, 0));
	harness_free(h);

	h = harness_new(&timer, berlin(2026, 10, 24, 12, 0));
	given_nightly(h, "30 2 * * *", "Europe/Berlin");
	harness_tick(h, berlin(2026, 10, 25, 12, 0));
	assert_int_equal(harness_count(h, &topic_tick_nightly), 1);
	assert_int_equal(timer.next_due_us(harness_state(h)), berlin(2026, 10, 26, 2, 30));
	harness_free(h);
}

static void nothing_is_said_but_what_systems_let_a_timer_fire(void **state)
{
	const char *const topics[] = { "reminder.due", "send.claim", "", "cart.state", "timer.set", "timer.fired",
		"alarm", "audit" };

	(void)state;
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		struct harness *h = harness_new(&timer, 1000);
		TimerSet set = wake_timer("c1", 1, 2000);
		struct message_meta how;
		Alarm alarm;

		TEXT_COPY(set.topic, topics[i]);
		given_timer(h, "demo", &set);
		harness_tick(h, 3000);
		assert_int_equal(harness_count(h, NULL), 2);
		assert_true(harness_said(h, &topic_alarm, 0, &alarm, &how));
		assert_true(alarm.raised);
		assert_int_equal(alarm.at_us, 2000);
		assert_string_equal(alarm.kind, "timer-unreadable");
		assert_string_equal(how.shop, "demo");
		assert_string_equal(how.key, "timer-unreadable");
		assert_non_null(strstr(alarm.text, "the timer cart/c1 of shop demo asks for"));
		assert_non_null(strstr(alarm.remedy, "set the timer again"));
		assert_int_equal(harness_count(h, &topic_timer_fired), 1); /* it does not come back for ever */
		harness_free(h);
	}
}

static void a_payload_that_cannot_be_read_raises_an_alarm_and_blocks_nobody(void **state)
{
	struct harness *h = harness_new(&timer, 1000);
	TimerSet set = wake_timer("c1", 1, 2000);

	(void)state;
	memset(set.payload.bytes, 0xff, set.payload.size);
	given_timer(h, "demo", &set);
	given_wake(h, "c2", 1, 2500);
	harness_tick(h, 3000);
	assert_int_equal(harness_count(h, &topic_alarm), 1);
	assert_int_equal(harness_count(h, &topic_cart_wake), 1);
	harness_free(h);
}

static void given_shop(struct harness *h, const char *zone, uint32_t version)
{
	static Document document;

	document = (Document){ .kind = "shop", .version = version };
	snprintf(document.text, sizeof(document.text),
		"[shop]\ntime-zone = %s\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\nurl = https://demo.example\n"
		"[mail]\nfrom = Demo <shop@demo.example>\nowner = owner@demo.example\nbounce = bounce@demo.example\n"
		"reply-to = Demo <shop@demo.example>\npostal-address = 1 Main Street\n",
		zone);
	GIVEN(h, document, &document, .shop = "demo", .key = "shop", .version = version);
}

static void a_shop_has_its_ticks_as_soon_as_its_zone_is_known(void **state)
{
	struct harness *h = harness_new(&timer, berlin(2026, 5, 10, 12, 0));
	TimerSet set;

	(void)state;
	given_shop(h, "Europe/Berlin", 1);
	harness_tick(h, berlin(2026, 5, 10, 12, 1));
	assert_int_equal(harness_count(h, &topic_timer_set), 3);
	assert_true(harness_said(h, &topic_timer_set, 0, &set, NULL));
	assert_string_equal(set.zone, "Europe/Berlin");
	assert_int_equal(timer.next_due_us(harness_state(h)), berlin(2026, 5, 11, 2, 0));
	given_shop(h, "Europe/Berlin", 2); /* the same zone: nothing to set */
	assert_int_equal(timer.next_due_us(harness_state(h)), berlin(2026, 5, 11, 2, 0));
	harness_free(h);
}

static void the_monthly_tick_is_on_the_first_monday_at_nine(void **state)
{
	struct harness *h = harness_new(&timer, berlin(2026, 5, 10, 12, 0));
	Tick tick;

	(void)state;
	given_shop(h, "Europe/Berlin", 1);
	harness_tick(h, berlin(2026, 6, 1, 9, 0)); /* 1 June 2026 is a Monday */
	assert_int_equal(harness_count(h, &topic_tick_monthly), 1);
	assert_int_equal(harness_count(h, &topic_tick_nightly), 22);
	assert_int_equal(harness_count(h, &topic_tick_weekly), 4);
	assert_true(harness_said(h, &topic_tick_monthly, 0, &tick, NULL));
	assert_string_equal(tick.name, "monthly");
	assert_int_equal(tick.due_us, berlin(2026, 6, 1, 9, 0));
	harness_free(h);
}

static void a_shop_that_moves_ticks_in_its_new_zone(void **state)
{
	static Audit audit;
	struct harness *h = harness_new(&timer, berlin(2026, 5, 10, 12, 0));

	(void)state;
	given_shop(h, "Europe/Berlin", 1);
	harness_tick(h, berlin(2026, 5, 10, 12, 1));
	assert_int_equal(harness_count(h, &topic_audit), 0);
	given_shop(h, "Etc/UTC", 2);
	harness_tick(h, berlin(2026, 5, 10, 12, 2));
	assert_int_equal(harness_count(h, &topic_timer_set), 3);
	for (size_t i = 0; i < 3; i++) {
		TimerSet set;
		struct message_meta how;
		assert_true(harness_said(h, &topic_timer_set, i, &set, &how));
		assert_string_equal(set.zone, "Etc/UTC");
		assert_int_equal(set.version, 2); /* else the ones before it would hold */
		assert_int_equal(how.version, 2);
		assert_string_equal(how.key, set.name);
		assert_string_equal(set.key, "demo");
	}
	assert_int_equal(harness_count(h, &topic_audit), 1);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_string_equal(audit.action, "time_zone");
	assert_string_equal(audit.before, "Europe/Berlin");
	assert_string_equal(audit.after, "Etc/UTC");
	assert_non_null(strstr(audit.grounds, "tick/nightly next Mon 11 May 2026, 02:00"));
	assert_non_null(strstr(audit.grounds, "carts' waits"));
	assert_int_equal(timer.next_due_us(harness_state(h)), berlin(2026, 5, 11, 4, 0));
	harness_free(h);
}

static void a_shop_without_a_valid_zone_has_no_ticks(void **state)
{
	struct harness *h = harness_new(&timer, berlin(2026, 5, 10, 12, 0));

	(void)state;
	given_shop(h, "Mars/Olympus", 1);
	assert_int_equal(timer.next_due_us(harness_state(h)), INT64_MAX);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_due_timer_says_what_was_asked_and_its_tombstone_in_one_turn),
		cmocka_unit_test(the_earliest_of_all_shops_is_next),
		cmocka_unit_test(an_older_set_or_cancel_changes_nothing),
		cmocka_unit_test(a_late_set_does_not_wake_a_timer_that_has_fired),
		cmocka_unit_test(an_overdue_timer_fires_late_rather_than_never),
		cmocka_unit_test(many_that_are_due_at_once_fire_each_once),
		cmocka_unit_test(a_firing_does_not_take_away_what_was_set_anew_meanwhile),
		cmocka_unit_test(a_timer_set_for_earlier_than_all_that_fired_is_found),
		cmocka_unit_test(new_timers_fire_between_the_overdue),
		cmocka_unit_test(of_each_age_as_many_as_are_overdue_fire_each_once),
		cmocka_unit_test(a_timer_set_while_firings_are_on_their_way_is_found_before_them),
		cmocka_unit_test(an_own_firing_that_is_not_confirmed_hides_nothing_that_comes_in),
		cmocka_unit_test(a_cron_timer_comes_back_every_night),
		cmocka_unit_test(a_cron_timer_outlives_its_own_tombstone),
		cmocka_unit_test(a_cron_timer_that_cannot_be_read_never_ticks_and_ends_the_one_before),
		cmocka_unit_test(missed_nights_are_made_up_for_once),
		cmocka_unit_test(nights_of_both_clock_changes_tick_once),
		cmocka_unit_test(a_shop_has_its_ticks_as_soon_as_its_zone_is_known),
		cmocka_unit_test(the_monthly_tick_is_on_the_first_monday_at_nine),
		cmocka_unit_test(a_shop_that_moves_ticks_in_its_new_zone),
		cmocka_unit_test(a_shop_without_a_valid_zone_has_no_ticks),
		cmocka_unit_test(nothing_is_said_but_what_systems_let_a_timer_fire),
		cmocka_unit_test(a_payload_that_cannot_be_read_raises_an_alarm_and_blocks_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
