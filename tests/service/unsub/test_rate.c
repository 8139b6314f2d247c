/* test_rate.c: how many complaints a shop may have before somebody is told, and before it is paused */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/platform/unsub/unsub.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

#define NOW_US (20000 * US_PER_DAY + 5 * US_PER_HOUR)

static void say_mode(struct harness *h, ShopMode mode, uint64_t version, uint32_t priority, int64_t at_us)
{
	ShopStatus status = { .mode = mode, .version = version, .priority = priority, .at_us = at_us };

	GIVEN(h, shop_status, &status, .shop = "demo", .key = "demo", .version = version);
}

static void mail(struct harness *h, int from, int count, int64_t at_us)
{
	ReminderOutcome sent = { .cart_id = "c", .step = 1, .attempt = 1, .at_us = at_us };

	for (int i = from; i < from + count; i++) {
		snprintf(sent.address_hash, sizeof(sent.address_hash), "h%d", i);
		GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = "c/1", .version = 1);
	}
}

static struct harness *shop_with(int mails)
{
	struct harness *h = harness_new(&unsub, NOW_US);

	say_mode(h, MODE_LIVE, 1, 0, NOW_US - US_PER_DAY);
	mail(h, 0, mails, NOW_US - US_PER_HOUR);
	return h;
}

/* Folded and then decided on, as the runtime does, or decided on before it is folded: it must not matter. */
static void hear(struct harness *h, FeedbackKind kind, int who, int64_t at_us, bool folded)
{
	MailFeedback feedback = { .kind = kind, .heard_us = at_us };

	snprintf(feedback.address_hash, sizeof(feedback.address_hash), "h%d", who);
	if (folded)
		GIVEN(h, mail_feedback, &feedback, .shop = "demo", .key = feedback.address_hash);
	assert_int_equal(WHEN(h, mail_feedback, &feedback, .shop = "demo", .key = feedback.address_hash), TURN_DONE);
	if (!folded)
		GIVEN(h, mail_feedback, &feedback, .shop = "demo", .key = feedback.address_hash);
}

static void complain(struct harness *h, int who)
{
	hear(h, FEEDBACK_COMPLAINT, who, NOW_US, who % 2 == 0);
}

static bool alarm_said(struct harness *h, const char *kind, bool raised)
{
	Alarm alarm;

	for (size_t i = 0; harness_said(h, &topic_alarm, i, &alarm, NULL); i++)
		if (strcmp(alarm.kind, kind) == 0)
			return alarm.raised == raised;
	return false;
}

static bool paused(struct harness *h)
{
	return harness_count(h, &topic_shop_status) == 1;
}

static void one_complaint_of_three_mails_says_nothing_about_a_shop(void **state)
{
	struct harness *h = shop_with(3);

	(void)state;
	complain(h, 0);
	assert_int_equal(harness_count(h, &topic_suppression), 1);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	assert_false(paused(h));
	harness_free(h);
}

static void one_in_a_thousand_alarms_once_and_less_does_not(void **state)
{
	struct harness *h = shop_with(2000);

	(void)state;
	complain(h, 0);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	complain(h, 1);
	assert_true(alarm_said(h, "complaint-rate", true));
	assert_false(paused(h));
	complain(h, 2);
	assert_true(alarm_said(
		h, "complaint-rate", true)); /* of another number; it is not news: platform/monitor/alarm_state.c */
	assert_int_equal(harness_count(h, &topic_alarm), 1);
	harness_free(h);

	h = shop_with(2001);
	complain(h, 0);
	complain(h, 1);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	harness_free(h);
}

static void three_in_a_thousand_pause_the_shop_in_the_turn_of_the_third(void **state)
{
	struct harness *h = shop_with(1000);
	ShopStatus status;
	Audit audit;
	struct message_meta how;

	(void)state;
	complain(h, 0);
	complain(h, 1);
	assert_false(paused(h));
	complain(h, 2);
	assert_true(harness_said(h, &topic_shop_status, 0, &status, &how));
	assert_int_equal(status.mode, MODE_PAUSED);
	assert_int_equal(status.version, 2);
	assert_int_equal(how.version, 2);
	assert_int_equal(status.priority, 100);
	assert_non_null(strstr(status.reason, "3 complaints"));
	assert_true(alarm_said(h, "sending-paused", true));
	assert_true(harness_said(h, &topic_audit, 1, &audit, NULL));
	assert_string_equal(audit.action, "sending_paused");
	complain(h, 3);
	assert_false(paused(h));
	harness_free(h);

	h = shop_with(1001);
	for (int i = 0; i < 3; i++)
		complain(h, i);
	assert_false(paused(h));
	harness_free(h);
}

static void a_message_that_comes_again_or_an_address_that_complains_again_counts_once(void **state)
{
	struct harness *h = shop_with(10);

	(void)state;
	for (int i = 0; i < 4; i++)
		complain(h, 0);
	assert_int_equal(harness_count(h, NULL), 0);
	complain(h, 1);
	assert_true(alarm_said(h, "complaint-rate", true));
	assert_false(paused(h));
	harness_again(h);
	assert_false(paused(h));
	harness_free(h);
}

static void who_was_never_mailed_is_listed_and_counts_for_nothing(void **state)
{
	struct harness *h = shop_with(10);

	(void)state;
	for (int i = 100; i < 110; i++) {
		complain(h, i);
		assert_int_equal(harness_count(h, &topic_suppression), 1);
		assert_int_equal(harness_count(h, &topic_alarm), 0);
		assert_false(paused(h));
	}
	harness_free(h);
}

static void a_mail_to_the_owner_is_not_one_to_a_shopper(void **state)
{
	struct harness *h = shop_with(0);
	ReminderOutcome sent = { .address_hash = "h1", .at_us = NOW_US, .to_owner = true };

	(void)state;
	GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = "c/1", .version = 1);
	for (int i = 0; i < 3; i++)
		hear(h, FEEDBACK_COMPLAINT, 1, NOW_US - i * US_PER_DAY, true);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	harness_free(h);
}

static void complain_about(struct harness *h, int who, const char *cart, int step, int64_t at_us)
{
	MailFeedback feedback = { .kind = FEEDBACK_COMPLAINT, .heard_us = at_us, .step = (uint32_t)step };

	snprintf(feedback.address_hash, sizeof(feedback.address_hash), "h%d", who);
	TEXT_COPY(feedback.cart_id, cart);
	WHEN(h, mail_feedback, &feedback, .shop = "demo", .key = feedback.address_hash);
	GIVEN(h, mail_feedback, &feedback, .shop = "demo", .key = feedback.address_hash);
}

static void a_mail_that_is_complained_about_on_many_days_counts_once(void **state)
{
	struct harness *h = shop_with(3);

	(void)state;
	for (int day = 0; day < 5; day++) {
		harness_now(h, NOW_US + day * US_PER_DAY);
		complain_about(h, 0, "c1", 1, NOW_US + day * US_PER_DAY);
		assert_false(alarm_said(h, "complaint-rate", true));
		assert_false(paused(h));
	}
	harness_now(h, NOW_US + 5 * US_PER_DAY);
	complain_about(h, 0, "c1", 2, NOW_US + 5 * US_PER_DAY); /* the other mail of the same cart */
	assert_true(alarm_said(h, "complaint-rate", true));
	harness_free(h);
}

/* mailin knows a mail's cart once its outcome is known, and the same report may come before that and after it. */
static void a_mail_that_is_told_of_without_its_cart_and_then_with_it_counts_once(void **state)
{
	struct harness *h = shop_with(3);

	(void)state;
	complain_about(h, 0, "", 1, NOW_US);
	for (int hour = 1; hour < 3; hour++) {
		complain_about(h, 0, "c1", 1, NOW_US + hour * US_PER_HOUR);
		assert_false(alarm_said(h, "complaint-rate", true));
	}
	complain_about(h, 0, "c2", 1, NOW_US + 3 * US_PER_HOUR); /* one report without a cart is about one mail */
	assert_true(alarm_said(h, "complaint-rate", true));
	harness_free(h);
	h = shop_with(3);
	complain_about(h, 0, "", 1, NOW_US);
	complain_about(h, 0, "c1", 2, NOW_US + US_PER_HOUR); /* the other mail of a cart */
	assert_true(alarm_said(h, "complaint-rate", true));
	harness_free(h);
}

static void who_resumes_has_seen_the_complaints_so_far(void **state)
{
	struct harness *h = shop_with(100);

	(void)state;
	for (int i = 0; i < 3; i++)
		complain(h, i);
	assert_true(paused(h));
	say_mode(h, MODE_LIVE, 3, 0, NOW_US + 1); /* too weak: nothing has changed */
	harness_tick(h, NOW_US + 2);
	assert_false(alarm_said(h, "sending-paused", false));
	say_mode(h, MODE_LIVE, 3, 100, NOW_US + 3);
	harness_tick(h, NOW_US + 4);
	assert_true(alarm_said(h, "sending-paused", false));
	for (int i = 3; i < 6; i++) {
		assert_false(paused(h));
		hear(h, FEEDBACK_COMPLAINT, i, NOW_US + US_PER_HOUR, true);
	}
	assert_true(paused(h));
	harness_free(h);
}

/* Of shop.status only the last row is kept: who folds anew is shown no pause and no end of it. */
static void who_folds_anew_knows_that_somebody_resumed(void **state)
{
	struct harness *h = harness_new(&unsub, NOW_US);
	ShopStatus last = {
		.mode = MODE_LIVE, .version = 4, .priority = 0, .at_us = NOW_US + 9, .resumed_us = NOW_US + 3
	};

	(void)state;
	mail(h, 0, 100, NOW_US - US_PER_HOUR);
	for (int i = 0; i < 3; i++) {
		MailFeedback feedback = { .kind = FEEDBACK_COMPLAINT, .heard_us = NOW_US };

		snprintf(feedback.address_hash, sizeof(feedback.address_hash), "h%d", i);
		GIVEN(h, mail_feedback, &feedback, .shop = "demo", .key = feedback.address_hash);
	}
	GIVEN(h, shop_status, &last, .shop = "demo", .key = "demo", .version = 4);
	hear(h, FEEDBACK_BOUNCE_PERMANENT, 9, NOW_US + US_PER_HOUR, true);
	assert_false(paused(h));
	for (int i = 3; i < 6; i++)
		hear(h, FEEDBACK_COMPLAINT, i, NOW_US + US_PER_HOUR, true);
	assert_true(paused(h));
	harness_free(h);
}

static void a_pause_carries_on_when_somebody_resumed_before(void **state)
{
	struct harness *h = shop_with(100);
	ShopStatus said;

	(void)state;
	for (int i = 0; i < 3; i++)
		complain(h, i);
	say_mode(h, MODE_LIVE, 3, 100, NOW_US + 3);
	for (int i = 3; i < 6; i++)
		hear(h, FEEDBACK_COMPLAINT, i, NOW_US + US_PER_HOUR, true);
	assert_true(harness_said(h, &topic_shop_status, 0, &said, NULL));
	assert_true(said.resumed_us == NOW_US + 3);
	harness_free(h);
}

static void an_alarm_ends_when_its_complaints_have_left_the_window(void **state)
{
	struct harness *h = shop_with(100);

	(void)state;
	complain(h, 0);
	complain(h, 1);
	harness_tick(h, NOW_US + 29 * US_PER_DAY);
	assert_true(alarm_said(h, "complaint-rate", true)); /* still the last that was said */
	harness_tick(h, NOW_US + 30 * US_PER_DAY);
	assert_true(alarm_said(h, "complaint-rate", false));
	hear(h, FEEDBACK_BOUNCE_TRANSIENT, 9, NOW_US + 31 * US_PER_DAY, true);
	harness_tick(h, NOW_US + 60 * US_PER_DAY);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	harness_free(h);
}

static void bounces_alarm_at_one_in_twenty_and_pause_nothing(void **state)
{
	struct harness *h = shop_with(100);

	(void)state;
	for (int i = 0; i < 5; i++) {
		hear(h, FEEDBACK_BOUNCE_TRANSIENT, 50 + i, NOW_US, true);
		assert_int_equal(harness_count(h, &topic_alarm), 0);
		hear(h, FEEDBACK_BOUNCE_PERMANENT, i, NOW_US, i % 2 == 0);
		assert_int_equal(harness_count(h, &topic_alarm), i == 4);
	}
	assert_true(alarm_said(h, "bounce-rate", true));
	assert_false(paused(h));
	harness_free(h);
}

static Alarm bounce_alarm(struct harness *h)
{
	Alarm alarm = { 0 };

	for (size_t i = 0; harness_said(h, &topic_alarm, i, &alarm, NULL); i++)
		if (strcmp(alarm.kind, "bounce-rate") == 0)
			return alarm;
	return (Alarm){ 0 };
}

static void a_further_bounce_moves_the_figures_of_the_alarm_that_stands(void **state)
{
	struct harness *h = shop_with(100);

	(void)state;
	for (int i = 0; i < 5; i++)
		hear(h, FEEDBACK_BOUNCE_PERMANENT, i, NOW_US, i % 2 == 0);
	assert_non_null(strstr(bounce_alarm(h).text, " 5 bounces of 100 mails"));
	for (int i = 5; i < 8; i++) {
		char words[40];

		hear(h, FEEDBACK_BOUNCE_PERMANENT, i, NOW_US, i % 2 == 0);
		snprintf(words, sizeof(words), " %d bounces of 100 mails", i + 1);
		assert_true(bounce_alarm(h).raised);
		assert_non_null(strstr(bounce_alarm(h).text, words));
	}
	hear(h, FEEDBACK_BOUNCE_PERMANENT, 7, NOW_US, true); /* the same bounce again: the figures are the same */
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	harness_free(h);
}

static void an_alarm_that_somebody_has_seen_stays_seen_when_its_figures_move(void **state)
{
	struct harness *h = shop_with(100);

	(void)state;
	for (int i = 0; i < 5; i++)
		hear(h, FEEDBACK_BOUNCE_PERMANENT, i, NOW_US, i % 2 == 0);
	Alarm seen = bounce_alarm(h);
	TEXT_COPY(seen.acknowledged_by, "eva");
	GIVEN(h, alarm, &seen, .shop = "demo", .key = seen.kind, .version = (uint64_t)NOW_US + 1);
	hear(h, FEEDBACK_BOUNCE_PERMANENT, 5, NOW_US, true);
	assert_non_null(strstr(bounce_alarm(h).text, " 6 bounces of 100 mails"));
	assert_string_equal(bounce_alarm(h).acknowledged_by, "eva");
	harness_free(h);
}

static void the_figures_of_an_alarm_are_never_older_than_a_day(void **state)
{
	struct harness *h = shop_with(100);

	(void)state;
	for (int i = 0; i < 8; i++)
		hear(h, FEEDBACK_BOUNCE_PERMANENT, i, NOW_US, i % 2 == 0);
	mail(h, 200, 20, NOW_US + US_PER_HOUR);
	harness_tick(h, NOW_US + 2 * US_PER_HOUR);
	assert_non_null(strstr(bounce_alarm(h).text, " 8 bounces of 100 mails"));
	harness_tick(h, NOW_US + US_PER_DAY);
	assert_true(bounce_alarm(h).raised);
	assert_non_null(strstr(bounce_alarm(h).text, " 8 bounces of 120 mails"));
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_complaint_of_three_mails_says_nothing_about_a_shop),
		cmocka_unit_test(one_in_a_thousand_alarms_once_and_less_does_not),
		cmocka_unit_test(three_in_a_thousand_pause_the_shop_in_the_turn_of_the_third),
		cmocka_unit_test(a_message_that_comes_again_or_an_address_that_complains_again_counts_once),
		cmocka_unit_test(who_was_never_mailed_is_listed_and_counts_for_nothing),
		cmocka_unit_test(a_mail_to_the_owner_is_not_one_to_a_shopper),
		cmocka_unit_test(a_mail_that_is_complained_about_on_many_days_counts_once),
		cmocka_unit_test(a_mail_that_is_told_of_without_its_cart_and_then_with_it_counts_once),
		cmocka_unit_test(who_resumes_has_seen_the_complaints_so_far),
		cmocka_unit_test(who_folds_anew_knows_that_somebody_resumed),
		cmocka_unit_test(a_pause_carries_on_when_somebody_resumed_before),
		cmocka_unit_test(an_alarm_ends_when_its_complaints_have_left_the_window),
		cmocka_unit_test(bounces_alarm_at_one_in_twenty_and_pause_nothing),
		cmocka_unit_test(a_further_bounce_moves_the_figures_of_the_alarm_that_stands),
		cmocka_unit_test(an_alarm_that_somebody_has_seen_stays_seen_when_its_figures_move),
		cmocka_unit_test(the_figures_of_an_alarm_are_never_older_than_a_day),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
