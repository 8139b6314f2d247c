/* test_may_send.c: given what is known, when a reminder is due: is it mailed, skipped, deferred, left? */
#include "services/kit/keys/keyring.h"
#include "services/kit/mail/bounce_tag.h"
#include "tests/service/sender/given.h"
#include "tests/unit/carts/letter/rendered.h"
#include "tests/unit/document.h"
#include <pb_decode.h>

static void a_due_reminder_is_mailed_to_the_shopper(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	const struct mail *mail = harness_effect_request(h);
	assert_string_equal(mail->envelope_to, "ann@buyer.example");
	assert_string_equal(mail->envelope_from, "bounce@demo.example");
	assert_true(mail->claim);
	assert_non_null(memmem(mail->mime.data, mail->mime.len, "\r\nList-Unsubscribe: <https://bus.example/u/", 43));
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* The mail that this shop's cart would get now. */
static const struct mail *mail_of(struct harness *h)
{
	ReminderDue due = due_reminder(1);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	return harness_effect_request(h);
}

static bool leads_to(const struct mail *mail, const char *url)
{
	char *text = decoded(mail);
	bool found = strstr(text, url);
	free(text);
	return found;
}

static void the_way_back_leads_by_way_of_the_gateway_where_clicks_are_counted(void **state)
{
	static const char GATEWAY[] = "https://bus.example/r/", OWN[] = "\"https://demo.example/r/1\"";
	struct harness *h = given_shop();
	(void)state;
	given_policy(h, "count-clicks = yes\n");
	assert_true(leads_to(mail_of(h), GATEWAY));
	assert_false(leads_to(mail_of(h), OWN));
	given_mode(h, MODE_MAIL_ME); /* the owner's clicks are no shopper's */
	assert_false(leads_to(mail_of(h), GATEWAY));
	assert_true(leads_to(mail_of(h), OWN));
	given_mode(h, MODE_LIVE);
	given_policy(h, "count-clicks = no\n");
	assert_false(leads_to(mail_of(h), GATEWAY));
	assert_true(leads_to(mail_of(h), OWN));
	harness_free(h);
}

static void links_begin_with_the_public_url_with_its_slash_or_without(void **state)
{
	static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	static const char *const urls[] = { "https://bus.example/", "https://bus.example" };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct harness *h = given_shop();
		sender_set_up(&sender_here, &(struct sender_setup){ .public_url = urls[i], .link_key = bytes_of(key) });
		assert_true(leads_to(mail_of(h), "<https://bus.example/u/"));
		harness_free(h);
	}
}

/* What a bounce proves itself with is signed by the key of bounces; without one, by what follows from that of links. */
static void a_bounce_comes_back_to_an_address_that_names_the_mail(void **state)
{
	static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	static const char HASH[] = "0123456789abcdef0123456789abcdef", BOUNCE[] = "b+*@demo.example";
	char derived[65];
	(void)state;
	bounce_key_derive(bytes_of(key), derived);
	for (int own = 0; own < 2; own++) {
		struct bytes wanted = bytes_of(own ? "another-key" : derived);
		struct harness *h = given_shop();
		ReminderDue due = due_reminder(1);
		struct bounce_tag tag;
		sender_set_up(&sender_here,
			&(struct sender_setup){ .public_url = "https://bus.example",
				.link_key = bytes_of(key),
				.bounce_key = own ? wanted : bytes_of("") });
		given_document(
			h, "demo", "shop", DEMO_SHOP "postal-address = 1 Main Street\nbounce = b+*@demo.example\n");
		TEXT_COPY(due.cart.ids.email_hash, HASH);
		assert_int_equal(when_due(h, &due), TURN_PENDING);
		const struct mail *mail = harness_effect_request(h);
		assert_int_equal(bounce_address_read(wanted, BOUNCE, "demo", mail->envelope_from, &tag), 0);
		assert_int_equal(tag.step, 1);
		assert_string_equal(tag.address_hash, HASH);
		assert_non_null(strstr(mail->message_id, tag.mail));
		harness_free(h);
	}
}

static void a_step_that_is_spent_says_and_sends_nothing(void **state)
{
	const struct topic *const spent[] = { &topic_reminder_sent, &topic_reminder_refused, &topic_reminder_ambiguous,
		&topic_reminder_skipped };
	(void)state;
	for (size_t i = 0; i < sizeof(spent) / sizeof(spent[0]); i++) {
		struct harness *h = given_shop();
		ReminderDue due = due_reminder(1);
		given_outcome(h, spent[i], "c1", 1, NOON_US - US_PER_DAY);
		assert_int_equal(when_due(h, &due), TURN_DONE);
		assert_int_equal(harness_count(h, NULL), 0);
		harness_free(h);
	}
}

static void a_step_spent_by_a_cart_that_was_merged_in_is_spent(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	due.cart.merged_from_count = 1;
	strcpy(due.cart.merged_from[0], "c0");
	given_outcome(h, &topic_reminder_sent, "c0", 1, NOON_US - 2 * US_PER_DAY);
	assert_int_equal(when_due(h, &due), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_merge_that_came_after_the_decision_counts(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_outcome(h, &topic_reminder_sent, "c0", 1, NOON_US);
	given_merge(h, "c0", "c1");
	assert_int_equal(when_due(h, &due), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_cart_that_was_merged_away_is_left_to_the_other(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_outcome(h, &topic_reminder_sent, "c0", 1, NOON_US);
	given_merge(h, "c1", "c0");
	assert_int_equal(when_due(h, &due), TURN_DONE);
	said_audit(h, "deferred");
	assert_int_equal(harness_count(h, NULL), 1);
	harness_free(h);
}

static void another_shops_outcome_is_none_of_ours(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	ReminderOutcome outcome = { .cart_id = "c1", .step = 1, .attempt = 1, .address_hash = "hash-of-ann" };
	(void)state;
	outcome.at_us = NOON_US - US_PER_HOUR;
	GIVEN(h, reminder_sent, &outcome, .shop = "other", .key = "c1/1", .version = 1);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	harness_free(h);
}

static void expect_skip(struct harness *h, const ReminderDue *due, const char *word)
{
	assert_int_equal(when_due(h, due), TURN_DONE);
	ReminderOutcome outcome = said_outcome(h, &topic_reminder_skipped);
	if (strncmp(outcome.reason, word, strlen(word)) != 0)
		fail_msg("skipped because of \"%s\", not \"%s\"", outcome.reason, word);
	said_audit(h, "skipped");
	assert_int_equal(harness_count(h, NULL), 2);
	harness_free(h);
}

static void a_purchase_an_optout_and_the_owner_stop_it(void **state)
{
	ReminderDue due = due_reminder(1);
	(void)state;
	struct harness *h = given_shop();
	given_checkout(h);
	expect_skip(h, &due, "stopped");
	h = given_shop();
	OptoutRequest optout = { .address_hash = "hash-of-ann", .heard_us = NOON_US };
	GIVEN(h, optout_request, &optout, .shop = "demo", .key = "hash-of-ann");
	expect_skip(h, &due, "stopped");
	h = given_shop();
	Suppression suppression = { .address_hash = "hash-of-ann", .since_us = NOON_US };
	GIVEN(h, suppression, &suppression, .shop = "demo", .key = "hash-of-ann");
	expect_skip(h, &due, "stopped");
	h = given_shop();
	AdminAction action = { .verb = ADMIN_WRITE_OFF, .cart_id = "c1", .at_us = NOON_US };
	GIVEN(h, admin_action, &action, .shop = "demo", .key = "c1");
	expect_skip(h, &due, "stopped");
}

static void whom_the_owner_never_mails_and_who_has_no_address_is_skipped(void **state)
{
	ReminderDue due = due_reminder(1);
	(void)state;
	strcpy(due.cart.ids.email, "someone@rival.example");
	expect_skip(given_shop(), &due, "never_mail");
	strcpy(due.cart.ids.email, "bob@buyer.example");
	expect_skip(given_shop(), &due, "never_mail");
	due.cart.ids.email[0] = 0;
	expect_skip(given_shop(), &due, "no_address");
}

static void more_than_a_day_late_is_skipped(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	due.decided_us = NOON_US - US_PER_DAY;
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	due.decided_us--;
	expect_skip(h, &due, "late");
}

/* The record names what has stopped the cart. Where another cart took over, that cart sends. */
static void late_or_not_the_reason_that_holds_for_good_is_told(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	due.decided_us = NOON_US - 2 * US_PER_DAY;
	given_checkout(h);
	expect_skip(h, &due, "stopped");
	h = given_shop();
	given_merge(h, "c1", "c0");
	assert_int_equal(when_due(h, &due), TURN_DONE);
	said_audit(h, "deferred");
	assert_int_equal(harness_count(h, NULL), 1);
	harness_free(h);
}

static void a_cart_that_cannot_be_mailed_is_skipped_with_the_reason(void **state)
{
	ReminderDue due = due_reminder(1);
	(void)state;
	due.cart.recovery_url[0] = 0;
	expect_skip(given_shop(), &due,
		"unmailable the storefront gave no recovery URL: there is nothing to return to; this reminder stays "
		"skipped, also when that is mended");
}

static void an_observing_shop_sends_nothing(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_mode(h, MODE_OBSERVE);
	expect_skip(h, &due, "observe");
}

static void a_paused_shop_waits_and_spends_nothing(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_mode(h, MODE_PAUSED);
	assert_int_equal(when_due(h, &due), TURN_RETRY);
	assert_int_equal(harness_count(h, NULL), 0);
	given_mode(h, MODE_LIVE);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	harness_free(h);
}

static void a_shop_that_mails_its_owner_mails_the_owner(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_mode(h, MODE_MAIL_ME);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	assert_string_equal(((const struct mail *)harness_effect_request(h))->envelope_to, "owner@demo.example");
	assert_true(harness_may_proceed(h));
	assert_int_equal(when_sent(h, MAIL_SENT, ""), TURN_DONE);
	assert_true(said_outcome(h, &topic_reminder_sent).to_owner);
	harness_free(h);
}

static void a_change_after_the_decision_leaves_the_step_unspent(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	CartChanged changed = { .has_ids = true, .ids = { .cart_token = "c1" }, .has_items = true, .items_count = 1 };
	(void)state;
	changed.changed_us = changed.heard_us = NOON_US;
	GIVEN(h, cart_changed, &changed, .shop = "demo", .key = "c1");
	assert_int_equal(when_due(h, &due), TURN_DONE);
	said_audit(h, "deferred");
	assert_int_equal(harness_count(h, NULL), 1);
	harness_free(h);
}

static void expect_deferred(struct harness *h, const ReminderDue *due, int64_t until_us)
{
	TimerSet set;
	CartWake wake;
	assert_int_equal(when_due(h, due), TURN_DONE);
	assert_true(harness_said(h, &topic_timer_set, 0, &set, NULL));
	assert_string_equal(set.name, "cart/c1");
	assert_int_equal(set.version, due->cart.revision);
	assert_string_equal(set.topic, "cart.wake");
	assert_string_equal(set.key, "c1");
	assert_int_equal(set.due_us, until_us);
	pb_istream_t stream = pb_istream_from_buffer(set.payload.bytes, set.payload.size);
	assert_true(pb_decode(&stream, CartWake_fields, &wake));
	assert_string_equal(wake.cart_id, "c1");
	assert_int_equal(wake.revision, due->cart.revision);
	said_audit(h, "deferred");
	assert_int_equal(harness_count(h, NULL), 2);
	harness_free(h);
}

static void quiet_hours_defer_to_the_next_sending_minute(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_rules(h, GIVEN_QUIET);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	harness_now(h, NOON_US + 10 * US_PER_HOUR); /* 23:00 in Berlin */
	expect_deferred(h, &due, NOON_US + 19 * US_PER_HOUR);
}

static void a_shopper_mailed_about_another_cart_waits_for_the_window(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_outcome(h, &topic_reminder_sent, "c7", 1, NOON_US - 2 * US_PER_HOUR);
	expect_deferred(h, &due, NOON_US + 22 * US_PER_HOUR);
}

static void a_window_that_ends_in_quiet_hours_ends_after_them(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_rules(h, GIVEN_QUIET "At most one mail per shopper every 10 hours.\n");
	given_outcome(h, &topic_reminder_sent, "c7", 1, NOON_US - US_PER_HOUR);
	expect_deferred(h, &due, NOON_US + 19 * US_PER_HOUR);
}

/* Of two carts: what counts are the mails, and of a mail that is told of twice only one. */
static void so_many_mails_in_so_long_are_not_exceeded(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_rules(h, "At most 2 mails per shopper in 10 days.\n");
	given_outcome(h, &topic_reminder_sent, "c7", 1, NOON_US - 50 * US_PER_HOUR);
	given_outcome(h, &topic_reminder_sent, "c7", 1, NOON_US - 50 * US_PER_HOUR);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	given_outcome(h, &topic_reminder_sent, "c8", 1, NOON_US - 30 * US_PER_HOUR);
	expect_deferred(h, &due, NOON_US - 50 * US_PER_HOUR + 10 * US_PER_DAY);
}

static void the_rules_waits_alone_keep_the_two_mails_of_a_cart_apart(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(2);
	(void)state;
	given_outcome(h, &topic_reminder_sent, "c1", 1, NOON_US - 20 * US_PER_HOUR);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	given_rules(h, "At most one mail per shopper every 24 hours.\n");
	expect_deferred(h, &due, NOON_US + 4 * US_PER_HOUR);
}

/* Nobody knows whether the first went: the second is no mail about another cart for that. */
static void a_first_mail_that_may_have_gone_is_no_other_carts(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(2);
	(void)state;
	given_outcome(h, &topic_reminder_ambiguous, "c1", 1, NOON_US - 20 * US_PER_HOUR);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	given_outcome(
		h, &topic_reminder_sent, "c1", 1, NOON_US - 21 * US_PER_HOUR); /* it had, before it was given up */
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	given_outcome(h, &topic_reminder_sent, "c7", 1, NOON_US - 19 * US_PER_HOUR);
	expect_deferred(h, &due, NOON_US + 5 * US_PER_HOUR);
}

/* The owner's mailbox is no shopper's. */
static void the_window_does_not_hold_back_what_goes_to_the_owner(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_rules(h, "At most one mail per shopper every 24 hours.\n");
	given_outcome(h, &topic_reminder_sent, "c7", 1, NOON_US - 2 * US_PER_HOUR);
	given_mode(h, MODE_MAIL_ME);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	harness_free(h);
}

static void after_a_gateway_was_away_mails_wait_for_what_may_come_again(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	given_downtime(h, "gateway-1", NOON_US, NOON_US + US_PER_HOUR);
	given_downtime(h, "gateway-2", NOON_US, NOON_US + US_PER_MINUTE);
	given_downtime(h, "gateway-1", NOON_US - US_PER_DAY, NOON_US + 3 * US_PER_HOUR); /* late, and older */
	assert_false(harness_may_proceed(h));
	harness_now(h, NOON_US + US_PER_HOUR);
	assert_true(harness_may_proceed(h));
	harness_free(h);
	h = given_shop();
	given_downtime(h, "gateway-1", NOON_US, NOON_US + US_PER_HOUR);
	expect_deferred(h, &due, NOON_US + US_PER_HOUR);
}

static void a_permanent_stop_wins_over_quiet_hours(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_rules(h, GIVEN_QUIET);
	given_checkout(h);
	harness_now(h, NOON_US + 10 * US_PER_HOUR);
	expect_skip(h, &due, "stopped");
}

static void without_the_shops_configuration_it_is_tried_again(void **state)
{
	struct harness *h = harness_new_in(sender_in(&sender_here), NOON_US);
	ReminderDue due = due_reminder(1);
	(void)state;
	assert_int_equal(when_due(h, &due), TURN_RETRY);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_reminder_that_makes_no_sense_is_dead(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(3);
	(void)state;
	assert_int_equal(when_due(h, &due), TURN_DEAD_LETTER);
	due = due_reminder(1);
	due.cart.ids.cart_id[0] = 0;
	assert_int_equal(when_due(h, &due), TURN_DEAD_LETTER);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_due_reminder_is_mailed_to_the_shopper),
		cmocka_unit_test(the_way_back_leads_by_way_of_the_gateway_where_clicks_are_counted),
		cmocka_unit_test(links_begin_with_the_public_url_with_its_slash_or_without),
		cmocka_unit_test(a_bounce_comes_back_to_an_address_that_names_the_mail),
		cmocka_unit_test(a_step_that_is_spent_says_and_sends_nothing),
		cmocka_unit_test(a_step_spent_by_a_cart_that_was_merged_in_is_spent),
		cmocka_unit_test(a_merge_that_came_after_the_decision_counts),
		cmocka_unit_test(a_cart_that_was_merged_away_is_left_to_the_other),
		cmocka_unit_test(another_shops_outcome_is_none_of_ours),
		cmocka_unit_test(a_purchase_an_optout_and_the_owner_stop_it),
		cmocka_unit_test(whom_the_owner_never_mails_and_who_has_no_address_is_skipped),
		cmocka_unit_test(more_than_a_day_late_is_skipped),
		cmocka_unit_test(late_or_not_the_reason_that_holds_for_good_is_told),
		cmocka_unit_test(a_cart_that_cannot_be_mailed_is_skipped_with_the_reason),
		cmocka_unit_test(an_observing_shop_sends_nothing),
		cmocka_unit_test(a_paused_shop_waits_and_spends_nothing),
		cmocka_unit_test(a_shop_that_mails_its_owner_mails_the_owner),
		cmocka_unit_test(a_change_after_the_decision_leaves_the_step_unspent),
		cmocka_unit_test(quiet_hours_defer_to_the_next_sending_minute),
		cmocka_unit_test(a_shopper_mailed_about_another_cart_waits_for_the_window),
		cmocka_unit_test(a_window_that_ends_in_quiet_hours_ends_after_them),
		cmocka_unit_test(so_many_mails_in_so_long_are_not_exceeded),
		cmocka_unit_test(the_rules_waits_alone_keep_the_two_mails_of_a_cart_apart),
		cmocka_unit_test(a_first_mail_that_may_have_gone_is_no_other_carts),
		cmocka_unit_test(the_window_does_not_hold_back_what_goes_to_the_owner),
		cmocka_unit_test(after_a_gateway_was_away_mails_wait_for_what_may_come_again),
		cmocka_unit_test(a_permanent_stop_wins_over_quiet_hours),
		cmocka_unit_test(without_the_shops_configuration_it_is_tried_again),
		cmocka_unit_test(a_reminder_that_makes_no_sense_is_dead),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
