/* test_webhook_health.c: what a storefront sends, or no longer sends, that tells of trouble */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/platform/monitor/check.h"
#include "services/platform/monitor/monitor.h"
#include "services/platform/monitor/webhook_health.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

#define NOW_US (INT64_C(20000) * US_PER_DAY)

static bool shop_is_so(const struct harness *h, enum shop_condition condition, int64_t now_us, const char *words)
{
	Alarm alarm;
	bool so = check_shop(harness_state(h), "demo", condition, now_us, &alarm);
	if (so && !strstr(alarm.text, words))
		fail_msg("\"%s\" does not say \"%s\"", alarm.text, words);
	return so;
}

static void given_seen_of(
	struct harness *h, const char *shop, uint32_t authentic, uint32_t bad, uint32_t previous, int64_t at_us)
{
	GatewaySeen seen = { .gateway = "gateway",
		.from_us = at_us,
		.to_us = at_us,
		.authentic = authentic,
		.bad_signatures = bad,
		.previous_secret = previous };
	GIVEN(h, gateway_seen, &seen, .shop = shop, .key = "gateway");
}

static void given_seen(struct harness *h, uint32_t authentic, uint32_t bad, uint32_t previous, int64_t at_us)
{
	given_seen_of(h, "demo", authentic, bad, previous, at_us);
}

static void a_storefront_with_the_wrong_secret_is_told_and_strangers_noise_is_not(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	given_seen(h, 500, 300, 0, NOW_US);
	assert_false(shop_is_so(h, SHOP_SIGNATURES, NOW_US, ""));
	assert_false(shop_is_so(h, SHOP_SIGNATURES, NOW_US + 2 * US_PER_HOUR, ""));
	given_seen(h, 0, 2, 0, NOW_US + 2 * US_PER_HOUR);
	assert_false(shop_is_so(h, SHOP_SIGNATURES, NOW_US + 2 * US_PER_HOUR, ""));
	given_seen(h, 1, 0, 0, NOW_US + 2 * US_PER_HOUR);
	given_seen(h, 2, 1, 0, NOW_US + 2 * US_PER_HOUR + US_PER_MINUTE);
	assert_false(shop_is_so(h, SHOP_SIGNATURES, NOW_US + 2 * US_PER_HOUR + US_PER_MINUTE, ""));
	given_seen(h, 0, 1, 0, NOW_US + 2 * US_PER_HOUR + US_PER_MINUTE);
	assert_true(shop_is_so(h, SHOP_SIGNATURES, NOW_US + 2 * US_PER_HOUR + US_PER_MINUTE,
		"4 requests were not signed with this shop's secret, and 3 were"));
	assert_false(shop_is_so(h, SHOP_SIGNATURES, NOW_US + 4 * US_PER_HOUR, "")); /* an hour without one */
	harness_free(h);
}

static void note_shop(const char *shop, void *context)
{
	char *shops = context;

	strcat(strcat(shops, shop), " ");
}

static void every_shop_that_a_gateway_told_of_is_looked_at_once(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	char shops[60] = "";
	(void)state;
	webhook_health_each_shop(harness_state(h), note_shop, shops);
	assert_string_equal(shops, "");
	given_seen_of(h, "north", 1, 0, 0, NOW_US);
	given_seen_of(h, "demo", 0, 3, 0, NOW_US);
	given_seen_of(h, "north", 1, 0, 0, NOW_US + US_PER_HOUR);
	webhook_health_each_shop(harness_state(h), note_shop, shops);
	assert_string_equal(shops, "demo north ");
	assert_true(shop_is_so(h, SHOP_SIGNATURES, NOW_US, "3 requests"));
	harness_free(h);
}

/* Gateways tell late what they could not tell in time: an hour has one place for each of its twelfths. */
static void what_is_told_too_late_counts_for_no_other_time(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	given_seen(h, 0, 2, 0, NOW_US + US_PER_HOUR);
	given_seen(h, 0, 7, 0, NOW_US); /* the same twelfth of the hour before */
	assert_false(shop_is_so(h, SHOP_SIGNATURES, NOW_US + US_PER_HOUR, ""));
	given_seen(h, 0, 1, 0, NOW_US + US_PER_HOUR - 5 * US_PER_MINUTE); /* late, and its place is free */
	assert_true(shop_is_so(h, SHOP_SIGNATURES, NOW_US + US_PER_HOUR, "3 requests"));
	harness_free(h);
}

static void the_old_secret_is_told_while_it_is_used(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	given_seen(h, 500, 0, 1, NOW_US);
	given_seen(h, 500, 0, 2, NOW_US);
	assert_true(shop_is_so(h, SHOP_PREVIOUS_SECRET, NOW_US + US_PER_HOUR - 1, "3 requests"));
	assert_false(shop_is_so(h, SHOP_PREVIOUS_SECRET, NOW_US + US_PER_HOUR, ""));
	harness_free(h);
}

/* A shop whose carts come every twenty minutes from 9 to 21 hours, but not on Sundays. */
static int64_t shop_days(struct harness *h, int64_t from_us, int days)
{
	int64_t last_us = 0;
	for (int day = 0; day < days; day++)
		for (int minute = 9 * 60; minute < 21 * 60 && day % 7 != 6; minute += 20) {
			GatewaySeen seen = { .topics_count = 1, .topics = { { .topic = "carts/create", .count = 1 } } };
			last_us = from_us + day * US_PER_DAY + minute * US_PER_MINUTE;
			seen.to_us = seen.topics[0].first_us = seen.topics[0].last_us = last_us;
			GIVEN(h, gateway_seen, &seen, .shop = "demo", .key = "gateway");
		}
	return last_us;
}

static void a_topic_that_stops_is_told_and_a_night_or_a_sunday_is_not(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	int64_t last_us = shop_days(h, NOW_US, 5);
	(void)state;
	assert_false(shop_is_so(h, SHOP_SILENT, last_us + 30 * US_PER_DAY, "")); /* not known yet what is usual */
	harness_free(h);
	h = harness_new(&monitor, NOW_US);
	last_us = shop_days(h, NOW_US, 20); /* ends on a Saturday: the pause until Monday is 36 hours */
	for (int64_t us = last_us; us <= last_us + 37 * US_PER_HOUR; us += US_PER_HOUR)
		assert_false(shop_is_so(h, SHOP_SILENT, us, ""));
	assert_true(shop_is_so(h, SHOP_SILENT, last_us + 80 * US_PER_HOUR, "carts/create"));
	shop_days(h, last_us + 80 * US_PER_HOUR, 1);
	assert_false(shop_is_so(h, SHOP_SILENT, last_us + 80 * US_PER_HOUR + 21 * US_PER_HOUR, ""));
	harness_free(h);
}

static void given_topic(struct harness *h, const char *name, int64_t at_us)
{
	GatewaySeen seen = { .to_us = at_us, .topics_count = 1, .topics = { { .count = 1 } } };

	TEXT_COPY(seen.topics[0].topic, name);
	seen.topics[0].first_us = seen.topics[0].last_us = at_us;
	GIVEN(h, gateway_seen, &seen, .shop = "demo", .key = "gateway");
}

/* As many as the alarm has room for, whole: a name that is cut is none. */
static void all_topics_that_stop_are_named_and_the_longest_silence(void **state)
{
	static const char much[] = "a-topic-with-a-name-of-36-characters";
	struct harness *h = harness_new(&monitor, NOW_US);
	int64_t end_us = NOW_US + 14 * US_PER_DAY;
	char name[40];
	(void)state;
	for (int64_t at_us = NOW_US; at_us < end_us; at_us += US_PER_HOUR) {
		given_topic(h, "b/hourly", at_us);
		if ((at_us - NOW_US) % (2 * US_PER_HOUR) == 0)
			given_topic(h, "a/seldom", at_us);
		given_topic(h, "c/goes-on", at_us);
	}
	given_topic(h, "c/goes-on", end_us + 9 * US_PER_HOUR);
	assert_true(shop_is_so(h, SHOP_SILENT, end_us + 9 * US_PER_HOUR,
		"nothing has come for 11 hours; the longest pause of four weeks was 2: a/seldom, b/hourly"));
	for (int64_t at_us = NOW_US; at_us < end_us; at_us += US_PER_HOUR)
		for (int i = 1; i <= 4; i++) {
			snprintf(name, sizeof(name), i < 4 ? "%s-0%d" : "%s-%d", much, i);
			given_topic(h, name, at_us);
		}
	const struct webhook_silence silence = webhook_silence(harness_state(h), "demo", end_us + 9 * US_PER_HOUR);
	assert_int_equal(silence.count, 6);
	assert_string_equal(silence.topics,
		"a-topic-with-a-name-of-36-characters-01, a-topic-with-a-name-of-36-characters-02, "
		"a-topic-with-a-name-of-36-characters-03, a/seldom, b/hourly");
	harness_free(h);
}

static void one_outage_does_not_make_it_deaf(void **state)
{
	struct topic_silence silence = { 0 };
	int64_t at_us = NOW_US;
	(void)state;
	for (int i = 0; i < 24 * 14; i++, at_us += US_PER_HOUR)
		topic_silence_hear(&silence, at_us, at_us, 1);
	assert_true(topic_silence_of(&silence, at_us + 5 * US_PER_HOUR) > 0);
	at_us += 3 * US_PER_DAY; /* the outage */
	topic_silence_hear(&silence, at_us, at_us, 1);
	assert_int_equal(topic_silence_usual_us(&silence, at_us) / US_PER_HOUR, 4);
	assert_int_equal(topic_silence_of(&silence, at_us + 8 * US_PER_HOUR), 0);
	assert_true(topic_silence_of(&silence, at_us + 9 * US_PER_HOUR) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storefront_with_the_wrong_secret_is_told_and_strangers_noise_is_not),
		cmocka_unit_test(every_shop_that_a_gateway_told_of_is_looked_at_once),
		cmocka_unit_test(what_is_told_too_late_counts_for_no_other_time),
		cmocka_unit_test(the_old_secret_is_told_while_it_is_used),
		cmocka_unit_test(a_topic_that_stops_is_told_and_a_night_or_a_sunday_is_not),
		cmocka_unit_test(all_topics_that_stop_are_named_and_the_longest_silence),
		cmocka_unit_test(one_outage_does_not_make_it_deaf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
