/* test_monitor.c: what is noticed, what is not, and who gets a mail */
#include "bus/actor/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/kit/mail.h"
#include "services/monitor/check.h"
#include "services/monitor/check_shop.h"
#include "services/monitor/door.h"
#include "services/monitor/episodes.h"
#include "services/monitor/monitor.h"
#include "services/monitor/rows.h"
#include "services/monitor/tell.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NOW_US (INT64_C(20000) * US_PER_DAY)

static const char STATUS[] =
	"{\"disk\":{%s},\"clock\":{%s},\"parked_claims\":%s,\"sessions\":[{\"service\":\"waiter\"},{\"service\":"
	"\"sender\"}],\"gateways\":"
	"[{\"name\":\"gateway\",\"alive\":%s}],\"queues\":["
	"{\"name\":\"waiter\",\"ready\":%s,\"leased\":0,\"delayed\":0,\"dead\":%s,\"oldest_us\":%lld,\"failures\":%s},"
	"{\"name\":\"sender\",\"ready\":0,\"leased\":0,\"delayed\":0,\"dead\":0,\"oldest_us\":1,\"failures\":0}%s]}";

struct status {
	const char *parked, *alive, *ready, *dead, *failures, *more, *disk, *clock;
	int64_t oldest_us;
};

static struct view view_of(struct status status)
{
	char json[1000];
	struct view view;
	snprintf(json, sizeof(json), STATUS,
		status.disk ? status.disk : "\"free_bytes\":99999999999,\"headroom_bytes\":134217728",
		status.clock ? status.clock : "\"jump_us\":0,\"why\":\"behind the log\"",
		status.parked ? status.parked : "0", status.alive ? status.alive : "true",
		status.ready ? status.ready : "0", status.dead ? status.dead : "0", (long long)status.oldest_us,
		status.failures ? status.failures : "0", status.more ? status.more : "");
	assert_int_equal(view_read(json, &view), 0);
	return view;
}

static const struct budget budget = { .nano_usd = 15000000000, .nano_usd_per_mail = 100000, .tokens = 1000 };

static bool is_so(const struct harness *h, enum condition condition, struct view view, const char *words)
{
	Alarm alarm;
	struct circumstances now = { .state = harness_state(h),
		.view = &view,
		.now_us = NOW_US,
		.clock_rate = 1,
		.sender_failures_least = 3,
		.budget = budget };
	bool so = check(condition, &now, &alarm);
	if (so && !strstr(alarm.text, words))
		fail_msg("\"%s\" does not say \"%s\"", alarm.text, words);
	if (so)
		assert_true(alarm.remedy[0] && alarm.kind[0]);
	return so;
}

static void a_healthy_system_raises_nothing(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	for (int condition = 0; condition < CONDITION_COUNT; condition++)
		assert_false(is_so(h, (enum condition)condition, view_of((struct status){ 0 }), ""));
	harness_free(h);
}

static void the_brokers_account_is_judged(void **state)
{
	const struct {
		enum condition condition;
		struct status status;
		const char *words;
	} cases[] = {
		{ CONDITION_DEAD_LETTERS, { .dead = "3" }, "3 dead letters: waiter (3)" },
		{ CONDITION_QUEUE_STUCK, { .ready = "1", .oldest_us = NOW_US - 31 * US_PER_MINUTE },
			"waiter has waited for 31" },
		{ CONDITION_QUEUE_PAUSED, { .more = ",{\"name\":\"sender\",\"paused_us\":7}" },
			"one message at a time: sender" },
		{ CONDITION_SERVICE_MISSING, { .more = ",{\"name\":\"unsub\"}" }, "not running: unsub" },
		{ CONDITION_GATEWAY_AWAY, { .alive = "false" }, "gateway" },
		{ CONDITION_CLAIMS_PARKED, { .parked = "2" }, "2 mails wait" },
		{ CONDITION_DISK, { .disk = "\"free_bytes\":400000000,\"headroom_bytes\":134217728" },
			"381 MiB are free" },
		{ CONDITION_CLOCK, { .clock = "\"jump_us\":-7200000000,\"why\":\"the wall clock was set back\"" },
			"was set back" },
	};
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int condition = 0; condition < CONDITION_COUNT; condition++)
			assert_int_equal(is_so(h, (enum condition)condition, view_of(cases[i].status), cases[i].words),
				condition == (int)cases[i].condition);
	assert_false(is_so(h, CONDITION_QUEUE_STUCK,
		view_of((struct status){ .ready = "1", .oldest_us = NOW_US - 29 * US_PER_MINUTE }), ""));
	harness_free(h);
}

static void an_answer_that_is_none_is_refused(void **state)
{
	static const char *const bad[] = { "", "[]", "{}", "{\"queues\":1}", "{\"queues\":[" };
	struct view view;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(view_read(bad[i], &view), -EINVAL);
}

static void given_due(struct harness *h, int64_t decided_us)
{
	ReminderDue due = { .has_cart = true, .cart = { .has_ids = true, .ids = { .cart_id = "c1" } }, .step = 1 };
	due.decided_us = decided_us;
	GIVEN(h, reminder_due, &due, .shop = "demo", .key = "hash");
}

static bool nothing_sent(struct harness *h)
{
	return is_so(h, CONDITION_NOTHING_SENT, view_of((struct status){ 0 }), "shop demo, cart/reminder c1/1");
}

static void a_reminder_without_an_outcome_is_noticed_after_half_an_hour(void **state)
{
	const struct topic *const ends[] = { &topic_reminder_sent, &topic_reminder_refused, &topic_reminder_ambiguous,
		&topic_reminder_skipped };
	ReminderOutcome outcome = { .cart_id = "c1", .step = 1, .attempt = 1 };
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct harness *h = harness_new(&monitor, NOW_US);
		given_due(h, NOW_US - 30 * US_PER_MINUTE);
		assert_false(nothing_sent(h));
		given_due(h, NOW_US - 31 * US_PER_MINUTE);
		assert_true(nothing_sent(h));
		harness_given(h, ends[i], &(struct say){ .shop = "demo", .key = "c1/1" }, &outcome);
		assert_false(nothing_sent(h));
		harness_free(h);
	}
}

static void what_was_put_off_or_paused_is_not_missed(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	Audit audit = { .action = "deferred", .cart_id = "c1" };
	ShopStatus status = { .mode = MODE_PAUSED };
	(void)state;
	given_due(h, NOW_US - US_PER_HOUR);
	GIVEN(h, shop_status, &status, .shop = "demo", .key = "demo");
	assert_false(nothing_sent(h));
	status.mode = MODE_LIVE;
	GIVEN(h, shop_status, &status, .shop = "demo", .key = "demo");
	assert_true(nothing_sent(h));
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_PAUSED }), .shop = SHOP_OF_ALL, .key = SHOP_OF_ALL);
	assert_false(nothing_sent(h));
	GIVEN(h, shop_status, &((ShopStatus){ .mode = MODE_LIVE }), .shop = SHOP_OF_ALL, .key = SHOP_OF_ALL);
	assert_true(nothing_sent(h));
	GIVEN(h, audit, &audit, .shop = "demo", .key = "c1");
	assert_false(nothing_sent(h));
	harness_free(h);
}

static void given_timer(struct harness *h, const char *name, uint64_t version, int64_t due_us)
{
	TimerSet set = { .version = version, .due_us = due_us };
	TEXT_COPY(set.name, name);
	GIVEN(h, timer_set, &set, .shop = "demo", .key = name, .version = version);
}

static void a_timer_that_did_not_fire_is_noticed(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	TimerFired fired = { .name = "cart/a", .version = 1 };
	TimerCancel cancel = { .name = "cart/b", .version = 2 };
	struct view view = view_of((struct status){ 0 });
	(void)state;
	given_timer(h, "cart/a", 1, NOW_US - 10 * US_PER_MINUTE);
	given_timer(h, "cart/b", 2, NOW_US - 20 * US_PER_MINUTE);
	given_timer(h, "cart/c", 1, NOW_US + US_PER_HOUR);
	assert_true(is_so(h, CONDITION_TIMERS_LATE, view, "20 minutes"));
	GIVEN(h, timer_cancel, &cancel, .shop = "demo", .key = "cart/b", .version = 2, .tombstone = true);
	assert_true(is_so(h, CONDITION_TIMERS_LATE, view, "10 minutes"));
	GIVEN(h, timer_fired, &fired, .shop = "demo", .key = "cart/a", .version = 1, .tombstone = true);
	assert_false(is_so(h, CONDITION_TIMERS_LATE, view, ""));
	given_timer(h, "cart/b", 1, NOW_US - US_PER_HOUR); /* older than the cancel */
	assert_false(is_so(h, CONDITION_TIMERS_LATE, view, ""));
	harness_free(h);
}

static void an_ambiguous_mail_is_told_for_a_day_or_until_it_is_known(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	ReminderOutcome outcome = { .cart_id = "c1", .step = 1, .attempt = 1, .at_us = NOW_US - US_PER_HOUR };
	struct view view = view_of((struct status){ 0 });
	(void)state;
	GIVEN(h, reminder_ambiguous, &outcome, .shop = "demo", .key = "c1/1");
	assert_true(is_so(h, CONDITION_AMBIGUOUS, view, "of 1 mails"));
	GIVEN(h, reminder_sent, &outcome, .shop = "demo", .key = "c1/1");
	assert_false(is_so(h, CONDITION_AMBIGUOUS, view, ""));
	outcome.at_us = NOW_US - US_PER_DAY - 1;
	GIVEN(h, reminder_ambiguous, &outcome, .shop = "demo", .key = "c1/1");
	assert_false(is_so(h, CONDITION_AMBIGUOUS, view, ""));
	harness_free(h);
}

/* ---- a day's mails ---- */

static void given_mails(struct harness *h, const struct topic *topic, int count, int64_t at_us)
{
	ReminderOutcome outcome = { .step = 1, .attempt = 1, .at_us = at_us };
	for (int i = 0; i < count; i++) {
		snprintf(outcome.cart_id, sizeof(outcome.cart_id), "%s-%d", topic->name, i);
		harness_given(h, topic, &(struct say){ .shop = "demo", .key = outcome.cart_id }, &outcome);
	}
}

static void more_than_one_mail_in_a_hundred_that_fails_within_a_day_is_told_from_the_third_on(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	struct view view = view_of((struct status){ 0 });
	(void)state;
	given_mails(h, &topic_reminder_sent, 18, NOW_US - US_PER_HOUR);
	given_mails(h, &topic_reminder_refused, 2, NOW_US - 23 * US_PER_HOUR);
	assert_false(is_so(h, CONDITION_SENDER_FAILURES, view, "")); /* a tenth of them, and no more than two */
	given_mails(h, &topic_reminder_refused, 1, NOW_US - 2 * US_PER_HOUR);
	assert_true(is_so(h, CONDITION_SENDER_FAILURES, view, "of 21 mails in the last 24 hours 3 were"));
	given_mails(h, &topic_reminder_sent, 279, NOW_US);
	assert_false(is_so(h, CONDITION_SENDER_FAILURES, view, ""));
	given_mails(h, &topic_reminder_refused, 5, NOW_US - 24 * US_PER_HOUR); /* of the day before */
	assert_false(is_so(h, CONDITION_SENDER_FAILURES, view, ""));
	harness_free(h);
}

/* ---- what the storefronts send ---- */

static bool shop_is_so(const struct harness *h, enum shop_condition condition, int64_t now_us, const char *words)
{
	Alarm alarm;
	bool so = check_shop(harness_state(h), "demo", condition, now_us, &alarm);
	if (so && !strstr(alarm.text, words))
		fail_msg("\"%s\" does not say \"%s\"", alarm.text, words);
	return so;
}

static void given_seen(struct harness *h, uint32_t authentic, uint32_t bad, uint32_t previous, int64_t at_us)
{
	GatewaySeen seen = { .gateway = "gateway",
		.from_us = at_us,
		.to_us = at_us,
		.authentic = authentic,
		.bad_signatures = bad,
		.previous_secret = previous };
	GIVEN(h, gateway_seen, &seen, .shop = "demo", .key = "gateway");
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
	given_seen(h, 0, 1, 0, NOW_US + 2 * US_PER_HOUR + US_PER_MINUTE);
	assert_true(shop_is_so(h, SHOP_SIGNATURES, NOW_US + 2 * US_PER_HOUR + US_PER_MINUTE, "3 requests"));
	assert_false(shop_is_so(h, SHOP_SIGNATURES, NOW_US + 4 * US_PER_HOUR, "")); /* an hour without one */
	harness_free(h);
}

static void the_old_secret_is_told_while_it_is_used(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	given_seen(h, 500, 0, 1, NOW_US);
	assert_true(shop_is_so(h, SHOP_PREVIOUS_SECRET, NOW_US + 30 * US_PER_MINUTE, "1 requests"));
	assert_false(shop_is_so(h, SHOP_PREVIOUS_SECRET, NOW_US + 65 * US_PER_MINUTE, ""));
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

static void one_outage_does_not_make_it_deaf(void **state)
{
	struct silence silence = { 0 };
	int64_t at_us = NOW_US;
	(void)state;
	for (int i = 0; i < 24 * 14; i++, at_us += US_PER_HOUR)
		silence_hear(&silence, at_us, at_us, 1);
	assert_true(silence_of(&silence, at_us + 5 * US_PER_HOUR) > 0);
	at_us += 3 * US_PER_DAY; /* the outage */
	silence_hear(&silence, at_us, at_us, 1);
	assert_int_equal(silence_usual_us(&silence, at_us) / US_PER_HOUR, 4);
	assert_int_equal(silence_of(&silence, at_us + 8 * US_PER_HOUR), 0);
	assert_true(silence_of(&silence, at_us + 9 * US_PER_HOUR) > 0);
}

/* ---- who hears of it ---- */

static struct ways two_mails_and_a_webhook(void)
{
	struct ways ways = { .mail_count = 2,
		.mails = { "admin@shop.example", "other@shop.example" },
		.webhook_count = 1,
		.webhooks = { "https://hooks.example/alarm" },
		.from = "Bus <bus@shop.example>",
		.keys = { .key = { "0123456789abcdef0123456789abcdef" }, .len = { 32 } } };
	return ways;
}

static enum verdict when_alarm(struct harness *h, const char *kind, bool raised)
{
	Alarm alarm = { .raised = raised, .text = "3 dead letters", .at_us = NOW_US };
	TEXT_COPY(alarm.kind, kind);
	TEXT_COPY(alarm.remedy, "cartbus dlq list");
	return WHEN(h, alarm, &alarm, .shop = SHOP_OF_ALL, .key = kind);
}

static size_t told_on(struct harness *h, const char *kind, bool raised)
{
	assert_int_equal(when_alarm(h, kind, raised), DONE);
	return harness_count(h, &topic_alarm_due);
}

static void each_episode_is_told_once_on_every_way_and_so_is_its_end(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	struct ways ways = two_mails_and_a_webhook();
	AlarmDue due;
	(void)state;
	tell_set_up(&ways, 1);
	assert_int_equal(told_on(h, "dead-letters", true), 3);
	assert_true(harness_said(h, &topic_alarm_due, 2, &due, NULL));
	assert_string_equal(due.way, "webhook 1");
	assert_int_equal(harness_again(h), DONE); /* redelivered */
	assert_int_equal(harness_count(h, NULL), 0);
	assert_int_equal(told_on(h, "dead-letters", true), 0); /* said again */
	assert_int_equal(told_on(h, "disk", true), 3);
	assert_int_equal(told_on(h, "dead-letters", false), 3);
	assert_int_equal(told_on(h, "dead-letters", false), 0);
	assert_int_equal(told_on(h, "dead-letters", true), 3);
	assert_int_equal(told_on(h, ALARM_TEST, true), 3);
	assert_int_equal(told_on(h, ALARM_TEST, true), 3);
	assert_false(episodes_raised(harness_state(h), SHOP_OF_ALL, ALARM_TEST));
	assert_true(episodes_raised(harness_state(h), SHOP_OF_ALL, "disk"));
	harness_free(h);
}

static enum verdict when_due(struct harness *h, const char *way, const char *kind, bool raised)
{
	AlarmDue due = {
		.about = "demo", .alarm_seq = 7, .has_alarm = true, .alarm = { .raised = raised, .at_us = NOW_US }
	};
	TEXT_COPY(due.way, way);
	TEXT_COPY(due.alarm.kind, kind);
	TEXT_COPY(due.alarm.text, "3 dead letters");
	TEXT_COPY(due.alarm.remedy, "cartbus dlq list");
	return WHEN(h, alarm_due, &due, .shop = "demo", .key = way);
}

static bool said_told(struct harness *h)
{
	AlarmTold told;
	assert_true(harness_said(h, &topic_alarm_told, 0, &told, NULL));
	assert_int_equal(told.alarm_seq, 7);
	assert_true(told.words[0]);
	return told.reached;
}

static void a_mail_is_tried_until_it_goes_and_a_refusal_is_told(void **state)
{
	const enum mail_end again[] = { MAIL_NOT_SENT, MAIL_LATER, MAIL_UNKNOWN };
	struct ways ways = two_mails_and_a_webhook();
	(void)state;
	tell_set_up(&ways, 1);
	for (int i = 0; i < 3; i++) {
		struct harness *h = harness_new(&monitor, NOW_US);
		assert_int_equal(when_due(h, "mail 2", "disk", true), WORKING);
		const struct mail *mail = harness_effect_request(h);
		assert_string_equal(mail->envelope_to, "other@shop.example");
		assert_string_equal(mail->envelope_from, "bus@shop.example");
		assert_non_null(memmem(mail->mime.data, mail->mime.len, "cartbus dlq list", 16));
		assert_int_equal(
			harness_result(h, &(struct mail_result){ .end = again[i], .words = "no" }, CLAIM_NONE), LATER);
		assert_int_equal(harness_count(h, NULL), 0);
		assert_int_equal(when_due(h, "mail 2", "disk", true), WORKING);
		assert_int_equal(
			harness_result(h, &(struct mail_result){ .end = MAIL_SENT, .words = "250" }, CLAIM_NONE), DONE);
		assert_true(said_told(h));
		assert_int_equal(when_due(h, "mail 1", "disk", true), WORKING);
		assert_int_equal(
			harness_result(h, &(struct mail_result){ .end = MAIL_REFUSED, .words = "550" }, CLAIM_NONE),
			DONE);
		assert_false(said_told(h));
		harness_now(h, NOW_US + 6 * US_PER_DAY);
		assert_int_equal(when_due(h, "mail 2", "disk", true), WORKING);
		assert_int_equal(
			harness_result(h, &(struct mail_result){ .end = again[i], .words = "no" }, CLAIM_NONE), LATER);
		assert_int_equal(harness_delay_us(h), US_PER_HOUR);
		harness_now(h, NOW_US + 8 * US_PER_DAY); /* a week of trying */
		assert_int_equal(when_due(h, "mail 2", "disk", true), WORKING);
		assert_int_equal(
			harness_result(h, &(struct mail_result){ .end = again[i], .words = "no" }, CLAIM_NONE), DONE);
		assert_false(said_told(h));
		harness_free(h);
	}
}

static void a_webhooks_answer_decides_whether_it_is_tried_again(void **state)
{
	const struct {
		struct http_answer answer;
		enum verdict verdict;
		bool reached;
	} cases[] = {
		{ { .end = HTTP_ANSWERED, .status = 204, .words = "HTTP 204" }, DONE, true },
		{ { .end = HTTP_ANSWERED, .status = 302, .words = "HTTP 302" }, DONE, false },
		{ { .end = HTTP_ANSWERED, .status = 410, .words = "HTTP 410" }, DONE, false },
		{ { .end = HTTP_BARRED, .words = "not allowed" }, DONE, false },
		{ { .end = HTTP_ANSWERED, .status = 429, .words = "HTTP 429" }, LATER, false },
		{ { .end = HTTP_ANSWERED, .status = 500, .words = "HTTP 500" }, LATER, false },
		{ { .end = HTTP_NOT_SENT, .words = "no connection" }, LATER, false },
		{ { .end = HTTP_UNKNOWN, .words = "no answer" }, LATER, false },
	};
	struct ways ways = two_mails_and_a_webhook();
	(void)state;
	tell_set_up(&ways, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = harness_new(&monitor, NOW_US);
		assert_int_equal(when_due(h, "webhook 1", "disk", true), WORKING);
		assert_int_equal(harness_result(h, &cases[i].answer, CLAIM_NONE), cases[i].verdict);
		if (cases[i].verdict == DONE)
			assert_int_equal(said_told(h), cases[i].reached);
		assert_int_equal(when_due(h, "webhook 1", ALARM_TEST, true), WORKING); /* a test is not tried again */
		assert_int_equal(harness_result(h, &cases[i].answer, CLAIM_NONE), DONE);
		assert_int_equal(said_told(h), cases[i].reached);
		harness_free(h);
	}
}

static void a_way_that_is_configured_no_more_is_given_up(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	struct ways ways = two_mails_and_a_webhook();
	(void)state;
	tell_set_up(&ways, 1);
	assert_int_equal(when_due(h, "webhook 2", "disk", true), DONE);
	assert_false(said_told(h));
	harness_free(h);
}

static void given_used(struct harness *h, uint32_t tokens, int64_t nano_usd)
{
	ModelUsed used = { .purpose = "opening", .tokens_in = tokens, .cost_nano_usd = nano_usd, .at_us = NOW_US };
	GIVEN(h, model_used, &used, .shop = "demo", .key = "c1");
}

static void a_budget_is_told_at_eighty_and_at_a_hundred_percent(void **state)
{
	struct harness *h = harness_new(&monitor, NOW_US);
	(void)state;
	given_used(h, 799, 1);
	assert_false(is_so(h, CONDITION_BUDGET, view_of((struct status){ 0 }), ""));
	given_used(h, 1, 1);
	assert_true(is_so(h, CONDITION_BUDGET, view_of((struct status){ 0 }), "80 %"));
	given_used(h, 0, 15000000000);
	assert_false(is_so(h, CONDITION_BUDGET, view_of((struct status){ 0 }), ""));
	assert_true(is_so(h, CONDITION_BUDGET_SPENT, view_of((struct status){ 0 }), "15.00 of 15.00 US dollars"));
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_system_raises_nothing),
		cmocka_unit_test(the_brokers_account_is_judged),
		cmocka_unit_test(an_answer_that_is_none_is_refused),
		cmocka_unit_test(a_reminder_without_an_outcome_is_noticed_after_half_an_hour),
		cmocka_unit_test(what_was_put_off_or_paused_is_not_missed),
		cmocka_unit_test(a_timer_that_did_not_fire_is_noticed),
		cmocka_unit_test(an_ambiguous_mail_is_told_for_a_day_or_until_it_is_known),
		cmocka_unit_test(more_than_one_mail_in_a_hundred_that_fails_within_a_day_is_told_from_the_third_on),
		cmocka_unit_test(a_storefront_with_the_wrong_secret_is_told_and_strangers_noise_is_not),
		cmocka_unit_test(the_old_secret_is_told_while_it_is_used),
		cmocka_unit_test(a_topic_that_stops_is_told_and_a_night_or_a_sunday_is_not),
		cmocka_unit_test(one_outage_does_not_make_it_deaf),
		cmocka_unit_test(each_episode_is_told_once_on_every_way_and_so_is_its_end),
		cmocka_unit_test(a_mail_is_tried_until_it_goes_and_a_refusal_is_told),
		cmocka_unit_test(a_webhooks_answer_decides_whether_it_is_tried_again),
		cmocka_unit_test(a_way_that_is_configured_no_more_is_given_up),
		cmocka_unit_test(a_budget_is_told_at_eighty_and_at_a_hundred_percent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
