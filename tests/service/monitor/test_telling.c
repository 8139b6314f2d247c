/* test_telling.c: who hears of an alarm, once, on every way, whatever fails */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/mail/message.h"
#include "services/platform/monitor/alarm_state.h"
#include "services/platform/monitor/monitor.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

#define NOW_US (INT64_C(20000) * US_PER_DAY)

static struct channels two_mails_and_a_webhook(void)
{
	struct channels channels = { .mail_count = 2,
		.mails = { "admin@shop.example", "other@shop.example" },
		.webhook_count = 1,
		.webhooks = { "https://hooks.example/alarm" },
		.from = "Bus <bus@shop.example>",
		.keys = { .key = { "0123456789abcdef0123456789abcdef" }, .len = { 32 } } };
	return channels;
}

static struct monitor monitor_here;

static enum verdict when_alarm(struct harness *h, const char *kind, bool raised)
{
	Alarm alarm = { .raised = raised, .text = "3 dead letters", .at_us = NOW_US };
	TEXT_COPY(alarm.kind, kind);
	TEXT_COPY(alarm.remedy, "cartbus dlq list");
	return WHEN(h, alarm, &alarm, .shop = SHOP_OF_ALL, .key = kind);
}

static size_t told_on(struct harness *h, const char *kind, bool raised)
{
	assert_int_equal(when_alarm(h, kind, raised), TURN_DONE);
	return harness_count(h, &topic_alarm_due);
}

static void each_episode_is_told_once_on_every_way_and_so_is_its_end(void **state)
{
	struct harness *h = harness_new_in(monitor_in(&monitor_here), NOW_US);
	struct channels channels = two_mails_and_a_webhook();
	AlarmDue due;
	(void)state;
	monitor_here = (struct monitor){ .channels = channels, .clock_rate = 1 };
	assert_int_equal(told_on(h, "dead-letters", true), 3);
	assert_true(harness_said(h, &topic_alarm_due, 2, &due, NULL));
	assert_string_equal(due.way, "webhook 1");
	assert_int_equal(harness_again(h), TURN_DONE); /* redelivered */
	assert_int_equal(harness_count(h, NULL), 0);
	assert_int_equal(told_on(h, "dead-letters", true), 0); /* said again */
	assert_int_equal(told_on(h, "disk", true), 3);
	assert_int_equal(told_on(h, "dead-letters", false), 3);
	assert_int_equal(told_on(h, "dead-letters", false), 0);
	assert_int_equal(told_on(h, "dead-letters", true), 3);
	assert_int_equal(told_on(h, ALARM_TEST, true), 3);
	assert_int_equal(told_on(h, ALARM_TEST, true), 3);
	assert_false(alarm_state_raised(harness_state(h), SHOP_OF_ALL, ALARM_TEST));
	assert_true(alarm_state_raised(harness_state(h), SHOP_OF_ALL, "disk"));
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
	struct channels channels = two_mails_and_a_webhook();
	(void)state;
	monitor_here = (struct monitor){ .channels = channels, .clock_rate = 1 };
	for (int i = 0; i < 3; i++) {
		struct harness *h = harness_new_in(monitor_in(&monitor_here), NOW_US);
		assert_int_equal(when_due(h, "mail 2", "disk", true), TURN_PENDING);
		const struct mail *mail = harness_effect_request(h);
		assert_string_equal(mail->envelope_to, "other@shop.example");
		assert_string_equal(mail->envelope_from, "bus@shop.example");
		assert_non_null(memmem(mail->mime.data, mail->mime.len, "cartbus dlq list", 16));
		assert_int_equal(harness_result(h, &(struct mail_result){ .end = again[i], .words = "no" }, CLAIM_NONE),
			TURN_RETRY);
		assert_int_equal(harness_count(h, NULL), 0);
		assert_int_equal(when_due(h, "mail 2", "disk", true), TURN_PENDING);
		assert_int_equal(
			harness_result(h, &(struct mail_result){ .end = MAIL_SENT, .words = "250" }, CLAIM_NONE),
			TURN_DONE);
		assert_true(said_told(h));
		assert_int_equal(when_due(h, "mail 1", "disk", true), TURN_PENDING);
		assert_int_equal(
			harness_result(h, &(struct mail_result){ .end = MAIL_REFUSED, .words = "550" }, CLAIM_NONE),
			TURN_DONE);
		assert_false(said_told(h));
		harness_now(h, NOW_US + 6 * US_PER_DAY);
		assert_int_equal(when_due(h, "mail 2", "disk", true), TURN_PENDING);
		assert_int_equal(harness_result(h, &(struct mail_result){ .end = again[i], .words = "no" }, CLAIM_NONE),
			TURN_RETRY);
		assert_int_equal(harness_delay_us(h), US_PER_HOUR);
		harness_now(h, NOW_US + 8 * US_PER_DAY); /* a week of trying */
		assert_int_equal(when_due(h, "mail 2", "disk", true), TURN_PENDING);
		assert_int_equal(harness_result(h, &(struct mail_result){ .end = again[i], .words = "no" }, CLAIM_NONE),
			TURN_DONE);
		assert_false(said_told(h));
		harness_free(h);
	}
}

static void a_mail_that_was_held_up_tells_the_figures_of_now(void **state)
{
	Alarm later = { .kind = "bounce-rate", .raised = true, .text = "9 bounces", .at_us = NOW_US + US_PER_HOUR };
	struct harness *h = harness_new_in(monitor_in(&monitor_here), NOW_US);
	struct channels channels = two_mails_and_a_webhook();
	(void)state;
	monitor_here = (struct monitor){ .channels = channels, .clock_rate = 1 };
	assert_int_equal(when_due(h, "mail 1", "bounce-rate", true), TURN_PENDING);
	assert_int_equal(
		harness_result(h, &(struct mail_result){ .end = MAIL_LATER, .words = "no" }, CLAIM_NONE), TURN_RETRY);
	GIVEN(h, alarm, &later, .shop = "demo", .key = later.kind, .version = (uint64_t)later.at_us);
	assert_int_equal(when_due(h, "mail 1", "bounce-rate", true), TURN_PENDING);
	const struct mail *mail = harness_effect_request(h);
	assert_non_null(memmem(mail->mime.data, mail->mime.len, "9 bounces", 9));
	assert_null(memmem(mail->mime.data, mail->mime.len, "3 dead letters", 14));
	harness_free(h);
}

static void a_webhooks_answer_decides_whether_it_is_tried_again(void **state)
{
	const struct {
		struct http_answer answer;
		enum verdict verdict;
		bool reached;
	} cases[] = {
		{ { .end = HTTP_ANSWERED, .status = 204, .words = "HTTP 204" }, TURN_DONE, true },
		{ { .end = HTTP_ANSWERED, .status = 302, .words = "HTTP 302" }, TURN_DONE, false },
		{ { .end = HTTP_ANSWERED, .status = 410, .words = "HTTP 410" }, TURN_DONE, false },
		{ { .end = HTTP_BARRED, .words = "not allowed" }, TURN_DONE, false },
		{ { .end = HTTP_ANSWERED, .status = 429, .words = "HTTP 429" }, TURN_RETRY, false },
		{ { .end = HTTP_ANSWERED, .status = 500, .words = "HTTP 500" }, TURN_RETRY, false },
		{ { .end = HTTP_NOT_SENT, .words = "no connection" }, TURN_RETRY, false },
		{ { .end = HTTP_UNKNOWN, .words = "no answer" }, TURN_RETRY, false },
	};
	struct channels channels = two_mails_and_a_webhook();
	(void)state;
	monitor_here = (struct monitor){ .channels = channels, .clock_rate = 1 };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = harness_new_in(monitor_in(&monitor_here), NOW_US);
		assert_int_equal(when_due(h, "webhook 1", "disk", true), TURN_PENDING);
		assert_int_equal(harness_result(h, &cases[i].answer, CLAIM_NONE), cases[i].verdict);
		if (cases[i].verdict == TURN_DONE)
			assert_int_equal(said_told(h), cases[i].reached);
		assert_int_equal(
			when_due(h, "webhook 1", ALARM_TEST, true), TURN_PENDING); /* a test is not tried again */
		assert_int_equal(harness_result(h, &cases[i].answer, CLAIM_NONE), TURN_DONE);
		assert_int_equal(said_told(h), cases[i].reached);
		harness_free(h);
	}
}

static void a_way_that_is_configured_no_more_is_given_up(void **state)
{
	struct harness *h = harness_new_in(monitor_in(&monitor_here), NOW_US);
	struct channels channels = two_mails_and_a_webhook();
	(void)state;
	monitor_here = (struct monitor){ .channels = channels, .clock_rate = 1 };
	assert_int_equal(when_due(h, "webhook 2", "disk", true), TURN_DONE);
	assert_false(said_told(h));
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_episode_is_told_once_on_every_way_and_so_is_its_end),
		cmocka_unit_test(a_mail_is_tried_until_it_goes_and_a_refusal_is_told),
		cmocka_unit_test(a_mail_that_was_held_up_tells_the_figures_of_now),
		cmocka_unit_test(a_webhooks_answer_decides_whether_it_is_tried_again),
		cmocka_unit_test(a_way_that_is_configured_no_more_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
