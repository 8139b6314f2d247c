/* test_outcome.c: a claim, and what comes of it */
#include "bus/base/text.h"
#include "tests/service/sender/given.h"
#include <stdio.h>

static struct harness *given_claimed(void)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	return h;
}

static void the_claim_names_cart_step_and_attempt(void **state)
{
	struct harness *h = given_claimed();
	SendClaim claim;
	struct message_meta how;
	(void)state;
	assert_true(harness_may_proceed(h));
	assert_true(harness_said(h, &topic_send_claim, 0, &claim, &how));
	assert_string_equal(how.key, "c1/1");
	assert_string_equal(how.idem, "c1/1/1");
	assert_string_equal(claim.owner, "harness");
	assert_string_equal(claim.address_hash, "hash-of-ann");
	assert_int_equal(claim.attempt, 1);
	harness_free(h);
}

static void a_mail_that_went_is_said_once_and_recorded(void **state)
{
	struct harness *h = given_claimed();
	ReminderDue due = due_reminder(1);
	(void)state;
	assert_int_equal(when_sent(h, MAIL_SENT, "250 ok"), TURN_DONE);
	ReminderOutcome outcome = said_outcome(h, &topic_reminder_sent);
	assert_int_equal(outcome.attempt, 1);
	assert_int_equal(outcome.total_minor, 3599);
	assert_string_equal(outcome.transport, "smtp");
	assert_false(outcome.to_owner);
	assert_true(strlen(outcome.message_id) > 20);
	said_audit(h, "mailed");
	Audit audit;
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_string_equal(audit.before, "claimed");
	assert_string_equal(audit.after, "mailed");
	assert_int_equal(harness_count(h, NULL), 2);
	assert_int_equal(when_due(h, &due), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* What may happen while the claim is on its way. */
static void checkout_comes(struct harness *h)
{
	given_checkout(h);
}

static void shop_is_paused(struct harness *h)
{
	given_mode(h, MODE_PAUSED);
}

static void shop_mails_its_owner(struct harness *h)
{
	given_mode(h, MODE_MAIL_ME);
}

static void it_grows_quiet(struct harness *h)
{
	given_rules(h, GIVEN_QUIET);
	harness_now(h, NOON_US + 10 * US_PER_HOUR);
}

static void it_grows_late(struct harness *h)
{
	harness_now(h, NOON_US + US_PER_DAY + 1);
}

static void somebody_else_has_claimed_more(struct harness *h)
{
	given_outcome(h, &topic_reminder_sent, "c1", 1, NOON_US);
}

static void it_is_merged_into_another_cart(struct harness *h)
{
	given_merge(h, "c1", "older");
}

static void a_cart_with_a_claim_is_merged_into_it(struct harness *h)
{
	given_claim(h, 1, "younger", 1, "another-run");
	given_merge(h, "younger", "c1");
}

static void a_gateway_was_away(struct harness *h)
{
	given_downtime(h, "gateway-1", NOON_US, NOON_US + 1);
}

static void nothing_goes_that_is_forbidden_meanwhile(void **state)
{
	void (*const meanwhile[])(struct harness *) = { checkout_comes, shop_is_paused, shop_mails_its_owner,
		it_grows_quiet, it_grows_late, somebody_else_has_claimed_more, it_is_merged_into_another_cart,
		a_cart_with_a_claim_is_merged_into_it, a_gateway_was_away };
	(void)state;
	for (size_t i = 0; i < sizeof(meanwhile) / sizeof(meanwhile[0]); i++) {
		struct harness *h = given_claimed();
		assert_true(harness_may_proceed(h));
		meanwhile[i](h);
		if (harness_may_proceed(h))
			fail_msg("case %zu went", i);
		harness_free(h);
	}
}

static void a_stop_at_the_last_byte_releases_and_skips(void **state)
{
	struct harness *h = given_claimed();
	(void)state;
	assert_true(harness_may_proceed(h));
	given_checkout(h);
	assert_int_equal(when_sent(h, MAIL_NOT_SENT, "dropped"), TURN_DONE);
	assert_int_equal(said_outcome(h, &topic_reminder_released).attempt, 1);
	said_outcome(h, &topic_reminder_skipped);
	said_audit(h, "released");
	said_audit(h, "skipped");
	harness_free(h);
}

static void a_pause_at_the_last_byte_releases_and_waits(void **state)
{
	struct harness *h = given_claimed();
	(void)state;
	assert_true(harness_may_proceed(h));
	given_mode(h, MODE_PAUSED);
	assert_int_equal(when_sent(h, MAIL_NOT_SENT, "dropped"), TURN_RETRY);
	said_outcome(h, &topic_reminder_released);
	assert_int_equal(harness_count(h, &topic_reminder_skipped), 0);
	harness_free(h);
}

static void a_mail_put_off_by_the_server_is_tried_again_with_longer_waits(void **state)
{
	static const int64_t minutes[] = { 1, 5, 15, 60, 60 };
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	for (uint32_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		assert_int_equal(when_due(h, &due), TURN_PENDING);
		assert_int_equal(when_sent(h, MAIL_LATER, "451 busy"), TURN_RETRY);
		assert_int_equal(harness_delay_us(h), minutes[i] * US_PER_MINUTE);
		ReminderOutcome outcome = said_outcome(h, &topic_reminder_released);
		assert_int_equal(outcome.attempt, i + 1);
		assert_string_equal(outcome.reason, "later 451 busy");
	}
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	assert_int_equal(when_sent(h, MAIL_SENT, ""), TURN_DONE);
	assert_int_equal(said_outcome(h, &topic_reminder_sent).attempt, 6);
	harness_free(h);
}

static void a_mail_that_never_came_to_its_claim_is_tried_again(void **state)
{
	struct harness *h = given_claimed();
	struct mail_result result = { .end = MAIL_NOT_SENT, .transport = "smtp", .words = "no connection" };
	ReminderDue due = due_reminder(1);
	(void)state;
	assert_int_equal(harness_result(h, &result, CLAIM_NONE), TURN_RETRY);
	assert_int_equal(said_outcome(h, &topic_reminder_released).attempt, 1);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	assert_int_equal(when_sent(h, MAIL_SENT, ""), TURN_DONE);
	assert_int_equal(said_outcome(h, &topic_reminder_sent).attempt, 2);
	harness_free(h);
}

static void a_refused_mail_spends_its_step(void **state)
{
	struct harness *h = given_claimed();
	ReminderDue due = due_reminder(1);
	(void)state;
	assert_int_equal(when_sent(h, MAIL_REFUSED, "550 nobody here"), TURN_DONE);
	assert_string_equal(said_outcome(h, &topic_reminder_refused).reason, "refused 550 nobody here");
	said_audit(h, "refused");
	assert_int_equal(when_due(h, &due), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_mail_that_may_have_gone_is_ambiguous_and_never_repeated(void **state)
{
	struct harness *h = given_claimed();
	ReminderDue due = due_reminder(1);
	(void)state;
	assert_int_equal(when_sent(h, MAIL_UNKNOWN, "connection lost"), TURN_DONE);
	said_outcome(h, &topic_reminder_ambiguous);
	said_audit(h, "ambiguous");
	assert_int_equal(when_due(h, &due), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	h = (harness_free(h), given_claimed());
	assert_int_equal(harness_result(h, NULL, CLAIM_FRESH), TURN_DONE); /* past its deadline */
	said_outcome(h, &topic_reminder_ambiguous);
	harness_free(h);
}

static void a_claim_that_was_never_used_is_released(void **state)
{
	struct harness *h = given_claimed();
	(void)state;
	assert_int_equal(harness_result(h, NULL, CLAIM_UNUSED), TURN_RETRY);
	assert_int_equal(said_outcome(h, &topic_reminder_released).attempt, 1);
	assert_int_equal(harness_count(h, &topic_reminder_ambiguous), 0);
	harness_free(h);
}

static void a_claim_of_somebody_else_is_waited_for(void **state)
{
	struct harness *h = given_claimed();
	struct mail_result result = { .end = MAIL_NOT_SENT };
	(void)state;
	given_claim(h, harness_message_seq(h), "c1", 1, "another-run");
	assert_int_equal(harness_result(h, &result, CLAIM_DUPLICATE), TURN_RETRY);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_claim_whose_outcome_is_known_is_done(void **state)
{
	struct harness *h = given_claimed();
	struct mail_result result = { .end = MAIL_NOT_SENT };
	(void)state;
	given_claim(h, harness_message_seq(h), "c1", 1, "another-run");
	given_outcome(h, &topic_reminder_sent, "c1", 1, NOON_US);
	assert_int_equal(harness_result(h, &result, CLAIM_DUPLICATE), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* A reminder is delivered, somebody claims for it, and it is delivered once more. */
static struct harness *given_claimed_by(const char *owner)
{
	struct harness *h = given_claimed();
	given_claim(h, harness_message_seq(h), "c1", 1, owner);
	return h;
}

static void a_claim_whose_owner_fell_silent_becomes_ambiguous(void **state)
{
	struct harness *h = given_claimed_by("another-run");
	(void)state;
	assert_int_equal(harness_again(h), TURN_RETRY);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_now(h, NOON_US + 15 * US_PER_S);
	assert_int_equal(harness_again(h), TURN_DONE);
	assert_int_equal(said_outcome(h, &topic_reminder_ambiguous).attempt, 1);
	said_audit(h, "ambiguous");
	harness_free(h);
}

static void given_unused(struct harness *h, const char *owner, uint64_t due_seq, uint32_t attempt)
{
	SendUnused unused = { .due_seq = due_seq, .attempt = attempt, .at_us = NOON_US };
	TEXT_COPY(unused.owner, owner);
	GIVEN(h, send_unused, &unused, .shop = SHOP_OF_ALL, .key = unused.owner);
}

static void a_claim_that_a_killed_sender_did_not_use_is_released_and_tried_again(void **state)
{
	struct harness *h = given_claimed_by("another-run");
	(void)state;
	given_unused(h, "another-run", harness_message_seq(h), 1);
	harness_now(h, NOON_US + US_PER_MINUTE); /* past the time after which it would be ambiguous */
	assert_int_equal(harness_again(h), TURN_RETRY);
	assert_int_equal(said_outcome(h, &topic_reminder_released).attempt, 1);
	said_audit(h, "released");
	assert_int_equal(harness_again(h), TURN_PENDING);
	assert_int_equal(when_sent(h, MAIL_SENT, ""), TURN_DONE);
	assert_int_equal(said_outcome(h, &topic_reminder_sent).attempt, 2);
	harness_free(h);
}

static void what_an_earlier_run_left_unused_is_said_by_the_next_and_frees_the_mail(void **state)
{
	struct harness *h = given_claimed_by("another-run");
	struct claim_note note = { .run = "another-run", .version = 1, .seq = harness_message_seq(h) };
	SendUnused unused;
	struct message_meta how;
	char idem[80];
	(void)state;
	harness_unused(h, &note);
	assert_int_equal(harness_count(h, NULL), 1);
	assert_true(harness_said(h, &topic_send_unused, 0, &unused, &how));
	assert_string_equal(unused.owner, "another-run");
	assert_int_equal(unused.due_seq, note.seq);
	assert_int_equal(unused.attempt, 1);
	assert_int_equal(unused.at_us, NOON_US);
	assert_string_equal(how.shop, SHOP_OF_ALL);
	assert_string_equal(how.key, "another-run");
	snprintf(idem, sizeof(idem), "unused/another-run/%llu/1", (unsigned long long)note.seq);
	assert_string_equal(how.idem, idem);
	assert_int_equal(harness_again(h), TURN_RETRY);
	assert_int_equal(said_outcome(h, &topic_reminder_released).attempt, 1);
	assert_int_equal(harness_again(h), TURN_PENDING);
	harness_free(h);
}

static void what_is_known_of_another_claim_says_nothing_about_this_one(void **state)
{
	struct harness *h = given_claimed_by("another-run");
	(void)state;
	given_unused(h, "another-run", harness_message_seq(h), 2);
	given_unused(h, "another-run", harness_message_seq(h) + 1, 1);
	given_unused(h, "a-third-run", harness_message_seq(h), 1);
	harness_now(h, NOON_US + US_PER_MINUTE);
	assert_int_equal(harness_again(h), TURN_DONE);
	said_outcome(h, &topic_reminder_ambiguous);
	harness_free(h);
}

static void an_outcome_counts_more_than_a_note(void **state)
{
	struct harness *h = given_claimed_by("another-run");
	(void)state;
	given_outcome(h, &topic_reminder_sent, "c1", 1, NOON_US);
	given_unused(h, "another-run", harness_message_seq(h), 1);
	harness_now(h, NOON_US + US_PER_MINUTE);
	assert_int_equal(harness_again(h), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* Both may have been started anew after hours: an outcome that is still to be said gets its time from then. */
static void patience_begins_with_our_own_start_at_the_earliest(void **state)
{
	struct harness *h = given_claimed_by("another-run");
	(void)state;
	harness_began(h, NOON_US + US_PER_HOUR);
	harness_now(h, NOON_US + US_PER_HOUR + 14 * US_PER_S);
	assert_int_equal(harness_again(h), TURN_RETRY);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_now(h, NOON_US + US_PER_HOUR + 15 * US_PER_S);
	assert_int_equal(harness_again(h), TURN_DONE);
	said_outcome(h, &topic_reminder_ambiguous);
	harness_free(h);
}

static void our_own_claim_has_until_its_deadline(void **state)
{
	struct harness *h = given_claimed_by("harness");
	(void)state;
	harness_now(h, NOON_US + US_PER_MINUTE);
	assert_int_equal(harness_again(h), TURN_RETRY);
	harness_now(h, NOON_US + 15 * US_PER_MINUTE);
	assert_int_equal(harness_again(h), TURN_DONE);
	said_outcome(h, &topic_reminder_ambiguous);
	harness_free(h);
}

static void a_claim_for_another_reminder_is_settled_by_that_one(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_claim(h, 1, "c0", 1, "another-run");
	given_merge(h, "c0", "c1");
	harness_now(h, NOON_US + US_PER_HOUR);
	assert_int_equal(when_due(h, &due), TURN_RETRY);
	assert_int_equal(harness_count(h, NULL), 0);
	given_outcome(h, &topic_reminder_released, "c0", 1, NOON_US);
	assert_int_equal(harness_again(h), TURN_PENDING); /* its step is free again: the reminder is not lost */
	harness_free(h);
}

static void an_outcome_that_turns_up_corrects_an_ambiguous_one(void **state)
{
	struct harness *h = given_claimed();
	ReminderDue due = due_reminder(2);
	(void)state;
	assert_true(harness_may_proceed(h));
	given_outcome(h, &topic_reminder_ambiguous, "c1", 1, NOON_US); /* said by somebody who thought us dead */
	assert_int_equal(when_sent(h, MAIL_SENT, ""), TURN_DONE);
	said_outcome(h, &topic_reminder_sent);
	harness_now(h, NOON_US + 20 * US_PER_HOUR);
	due.decided_us = NOON_US + 20 * US_PER_HOUR;
	assert_int_equal(
		when_due(h, &due), TURN_PENDING); /* it counts as sent: the second is not held up by the window */
	harness_free(h);
}

static enum verdict when_ended(struct harness *h, const struct mail_result *result, enum claim_answer claimed)
{
	return harness_result(h, result, claimed);
}

static size_t count_alarms(struct harness *h, bool raised, const char *words)
{
	size_t count = 0;
	Alarm alarm;
	for (size_t i = 0; harness_said(h, &topic_alarm, i, &alarm, NULL); i++)
		count += alarm.raised == raised && strcmp(alarm.kind, "mail-server") == 0 &&
			strcmp(alarm.text, words) == 0 && (alarm.remedy[0] != '\0') == raised;
	return count;
}

static void without_a_mail_server_mails_wait_and_one_alarm_says_so_until_one_answers(void **state)
{
	const struct mail_result away = {
		.end = MAIL_NOT_SENT, .transport = "smtp", .words = "Connection refused", .no_server = true
	};
	const struct mail_result sent = { .end = MAIL_SENT, .transport = "smtp" };
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(when_due(h, &due), TURN_PENDING);
		assert_int_equal(when_ended(h, &away, CLAIM_NONE), TURN_RETRY);
		assert_int_equal(count_alarms(h, true, "no connection to the mail server: Connection refused"), i == 0);
		assert_int_equal(harness_count(h, NULL), i == 0); /* no outcome, no attempt spent */
	}
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	assert_int_equal(when_ended(h, &sent, CLAIM_FRESH), TURN_DONE);
	assert_int_equal(count_alarms(h, false, "the mail server answers again"), 1);
	assert_int_equal(said_outcome(h, &topic_reminder_sent).attempt, 1);
	due = due_reminder(2);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	assert_int_equal(when_ended(h, &sent, CLAIM_FRESH), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	harness_free(h);
}

/* However it ended: a claim of ours is released, or nobody could ever mail this step again. */
static void a_claim_is_released_though_there_was_no_server_after_it(void **state)
{
	const struct mail_result away = {
		.end = MAIL_NOT_SENT, .transport = "smtp", .words = "gone", .no_server = true
	};
	static const enum claim_answer answers[] = { CLAIM_FRESH, CLAIM_UNUSED };
	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct harness *h = given_claimed();
		assert_int_equal(when_ended(h, &away, answers[i]), TURN_RETRY);
		assert_int_equal(said_outcome(h, &topic_reminder_released).attempt, 1);
		harness_free(h);
	}
}

static void an_unknown_mailbox_counts_as_a_bounce_but_not_the_owners(void **state)
{
	const struct mail_result unknown = {
		.end = MAIL_REFUSED, .transport = "smtp", .words = "550 5.1.1 (address) unknown", .no_mailbox = true
	};
	(void)state;
	for (int to_owner = 0; to_owner <= 1; to_owner++) {
		struct harness *h = given_shop();
		ReminderDue due = due_reminder(1);
		MailFeedback feedback;
		given_mode(h, to_owner ? MODE_MAIL_ME : MODE_LIVE);
		assert_int_equal(when_due(h, &due), TURN_PENDING);
		assert_int_equal(when_ended(h, &unknown, CLAIM_FRESH), TURN_DONE);
		said_outcome(h, &topic_reminder_refused);
		assert_int_equal(harness_count(h, &topic_mail_feedback), !to_owner);
		if (harness_said(h, &topic_mail_feedback, 0, &feedback, NULL)) {
			assert_string_equal(feedback.address_hash, "hash-of-ann");
			assert_int_equal(feedback.kind, FEEDBACK_BOUNCE_PERMANENT);
			assert_string_equal(feedback.cart_id, "c1");
			due.step = 2;
			assert_int_equal(when_due(h, &due), TURN_DONE); /* it stops from now on */
			said_outcome(h, &topic_reminder_skipped);
		}
		harness_free(h);
	}
}

/* The room for them is smaller, and no place in them is a good one to cut at by bytes. */
static void the_words_of_a_server_are_cut_between_two_characters(void **state)
{
	(void)state;
	for (int odd = 0; odd < 2; odd++) {
		struct mail_result unknown = { .end = MAIL_REFUSED, .transport = "smtp", .no_mailbox = true };
		struct harness *h = given_claimed();
		MailFeedback feedback;
		if (odd)
			unknown.words[0] = 'x';
		while (strlen(unknown.words) + 2 < sizeof(unknown.words))
			strcat(unknown.words, "ö");
		assert_int_equal(when_ended(h, &unknown, CLAIM_FRESH), TURN_DONE);
		assert_true(harness_said(h, &topic_mail_feedback, 0, &feedback, NULL));
		assert_non_null(strstr(feedback.detail, "öö"));
		assert_true(text_is_utf8(bytes_of(feedback.detail)));
		harness_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_claim_names_cart_step_and_attempt),
		cmocka_unit_test(a_mail_that_went_is_said_once_and_recorded),
		cmocka_unit_test(nothing_goes_that_is_forbidden_meanwhile),
		cmocka_unit_test(a_stop_at_the_last_byte_releases_and_skips),
		cmocka_unit_test(a_pause_at_the_last_byte_releases_and_waits),
		cmocka_unit_test(a_mail_put_off_by_the_server_is_tried_again_with_longer_waits),
		cmocka_unit_test(a_mail_that_never_came_to_its_claim_is_tried_again),
		cmocka_unit_test(a_refused_mail_spends_its_step),
		cmocka_unit_test(a_mail_that_may_have_gone_is_ambiguous_and_never_repeated),
		cmocka_unit_test(a_claim_that_was_never_used_is_released),
		cmocka_unit_test(a_claim_of_somebody_else_is_waited_for),
		cmocka_unit_test(a_claim_whose_outcome_is_known_is_done),
		cmocka_unit_test(a_claim_whose_owner_fell_silent_becomes_ambiguous),
		cmocka_unit_test(a_claim_that_a_killed_sender_did_not_use_is_released_and_tried_again),
		cmocka_unit_test(what_an_earlier_run_left_unused_is_said_by_the_next_and_frees_the_mail),
		cmocka_unit_test(what_is_known_of_another_claim_says_nothing_about_this_one),
		cmocka_unit_test(an_outcome_counts_more_than_a_note),
		cmocka_unit_test(patience_begins_with_our_own_start_at_the_earliest),
		cmocka_unit_test(our_own_claim_has_until_its_deadline),
		cmocka_unit_test(a_claim_is_released_though_there_was_no_server_after_it),
		cmocka_unit_test(a_claim_for_another_reminder_is_settled_by_that_one),
		cmocka_unit_test(an_outcome_that_turns_up_corrects_an_ambiguous_one),
		cmocka_unit_test(without_a_mail_server_mails_wait_and_one_alarm_says_so_until_one_answers),
		cmocka_unit_test(an_unknown_mailbox_counts_as_a_bounce_but_not_the_owners),
		cmocka_unit_test(the_words_of_a_server_are_cut_between_two_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
