/* test_waiter.c: given a cart and its history, when it is woken, then these facts */
#include "bus/base/text.h"
#include "given.h"
#include "services/carts/policy/plan.h"
#include <string.h>

static void when_the_first_wait_is_over_the_first_reminder_is_due(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	static ReminderDue due;
	struct message_meta said;
	Audit audit;

	(void)state;
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, NULL), 3);
	assert_true(harness_said(h, &topic_reminder_due, 0, &due, &said));
	assert_string_equal(said.key, "h");
	assert_int_equal(due.step, 1);
	assert_int_equal(due.due_us, H(4));
	assert_int_equal(due.decided_us, H(4));
	assert_true(due.rules_version > 0);
	assert_string_equal(due.cart.ids.cart_id, "c1");
	assert_string_equal(due.cart.items[0].title, "Mug");
	assert_int_equal(next_us(h), H(24));
	audit = audited(h);
	assert_string_equal(audit.action, "first_reminder");
	assert_string_equal(audit.who, "system");
	assert_int_equal(audit.rules_version, due.rules_version);
	assert_int_equal(audit.next_us, H(24));
	assert_true(audit.decided_on > 0);
	assert_non_null(strstr(audit.grounds, "left 4 h ago"));
	assert_non_null(strstr(audit.grounds, "small cart: waits 4 h then 1 d"));
	assert_null(strstr(audit.grounds, "only observed"));
	assert_int_equal(next_wake(h, &due.due_us).would_step, 0);
	harness_free(h);
}

static void too_early_it_looks_again_when_the_wait_is_over(void **state)
{
	struct harness *h = given_all(MODE_LIVE);

	(void)state;
	when_woken(h, H(1), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_int_equal(next_us(h), H(4));
	assert_string_equal(audited(h).action, "still_shopping");
	harness_free(h);
}

static void after_the_first_was_sent_the_second_goes_and_then_it_is_given_up(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	static ReminderDue due;

	(void)state;
	given_sent(h, 1, H(4));
	when_woken(h, H(24), 3);
	assert_true(harness_said(h, &topic_reminder_due, 0, &due, NULL));
	assert_int_equal(due.step, 2);
	assert_int_equal(next_us(h), H(48) + 5 * US_PER_MINUTE);
	given_sent(h, 2, H(24) + US_PER_S);
	when_woken(h, H(48) + 5 * US_PER_MINUTE, 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_int_equal(harness_count(h, &topic_timer_set), 0);
	assert_int_equal(closed(h), CLOSED_GAVE_UP);
	assert_string_equal(audited(h).action, "give_up");
	harness_free(h);
}

static void a_wake_up_of_an_older_revision_is_settled_silently(void **state)
{
	struct harness *h = given_all(MODE_LIVE);

	(void)state;
	when_woken(h, H(5), 2);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_wake_up_of_a_cart_that_nobody_knows_is_settled_silently(void **state)
{
	struct harness *h = harness_new(&waiter, LEFT_US);

	(void)state;
	when_woken(h, H(5), 3);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_wake_up_that_comes_twice_sends_nothing_twice(void **state)
{
	struct harness *h = given_all(MODE_LIVE);

	(void)state;
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 1);
	given_sent(h, 1, H(4) + US_PER_S);
	when_woken(h, H(4) + 2 * US_PER_S, 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_int_equal(next_us(h), H(24));
	harness_free(h);
}

static void a_raw_checkout_stops_while_intake_is_behind(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartCheckout checkout = { .has_ids = true, .ids = { .cart_token = "c1" }, .bought_us = H(3), .heard_us = H(3) };

	(void)state;
	GIVEN(h, cart_checkout, &checkout, .shop = "demo", .key = "c1");
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, NULL), 1);
	assert_string_equal(audited(h).action, "still_shopping");
	assert_non_null(strstr(audited(h).grounds, "bought"));
	harness_free(h);
}

static void an_opt_out_closes_the_cart(void **state)
{
	struct harness *h = given_all(MODE_LIVE);

	(void)state;
	GIVEN(h, optout_request, &((OptoutRequest){ .address_hash = "h" }), .shop = "demo", .key = "h");
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_timer_set), 0);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_int_equal(closed(h), CLOSED_OPTED_OUT);
	harness_free(h);
}

static void a_bought_cart_is_left_alone(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartState cart = small_cart();

	(void)state;
	cart.status = CART_BOUGHT;
	cart.state_version++;
	given_cart(h, &cart);
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, NULL), 1);
	assert_string_equal(audited(h).action, "still_shopping");
	harness_free(h);
}

static void a_late_row_does_not_reopen_a_bought_cart(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartState cart = small_cart(), late = cart;

	(void)state;
	cart.status = CART_BOUGHT;
	cart.state_version++;
	given_cart(h, &cart);
	given_cart(h, &late);
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	harness_free(h);
}

static void without_documents_it_says_so_and_looks_again(void **state)
{
	struct harness *h = harness_new(&waiter, LEFT_US);
	CartState cart = small_cart();

	(void)state;
	given_cart(h, &cart);
	given_mode(h, MODE_LIVE);
	given_document(h, "rules", RULES, "");
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_int_equal(next_us(h), H(4) + 10 * US_PER_MINUTE);
	assert_non_null(strstr(audited(h).grounds, "have not arrived"));
	harness_free(h);
}

static void a_shop_that_was_never_switched_on_only_observes_and_moves_on(void **state)
{
	struct harness *h = harness_new(&waiter, LEFT_US);
	CartState cart = small_cart();
	CartWake wake;
	int64_t due_us;
	const char *const actions[] = { "still_shopping", "would_send_first", "would_send_second", "give_up" };

	(void)state;
	due_us = H(1); /* a look before its time notes no mail that would have gone */
	given_cart(h, &cart);
	given_document(h, "rules", RULES, "");
	given_document(h, "shop", SHOP, "any\n");
	wake = (CartWake){ .cart_id = "c1", .revision = 3 };
	for (int i = 0; i < 4; i++) {
		int64_t now_us = due_us;
		harness_now(h, now_us);
		assert_int_equal(WHEN(h, cart_wake, &wake, .shop = "demo", .key = "c1"), TURN_DONE);
		assert_int_equal(harness_count(h, &topic_reminder_due), 0);
		assert_string_equal(audited(h).action, actions[i]);
		assert_true(!strstr(audited(h).grounds, "the shop is only observed") == (i == 0 || i == 3));
		if (i == 3)
			break;
		wake = next_wake(h, &due_us);
		assert_int_equal(wake.would_step, i);
		assert_int_equal(wake.would_us, i ? now_us : 0);
	}
	assert_int_equal(closed(h), CLOSED_GAVE_UP);
	harness_free(h);
}

static void a_paused_shop_sends_nothing_and_is_looked_at_again(void **state)
{
	struct harness *h = given_all(MODE_PAUSED);

	(void)state;
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_true(next_us(h) > H(4));
	given_mode(h, MODE_LIVE);
	when_woken(h, H(5), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 1);
	harness_free(h);
}

static void mail_me_says_the_reminder_the_sender_knows_whom_to_mail(void **state)
{
	struct harness *h = given_all(MODE_MAIL_ME);

	(void)state;
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 1);
	harness_free(h);
}

static void whom_the_shop_never_mails_is_closed_as_not_chased(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartState cart = small_cart();

	(void)state;
	TEXT_COPY(cart.ids.email, "bob@rival.example");
	cart.state_version++;
	given_cart(h, &cart);
	when_woken(h, H(4), 3);
	assert_int_equal(closed(h), CLOSED_NOT_CHASED);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	harness_free(h);
}

static void a_shop_that_asks_for_consent_mails_only_who_gave_it(void **state)
{
	const Consent consents[] = { CONSENT_UNKNOWN, CONSENT_NO, CONSENT_YES };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct harness *h = given_all(MODE_LIVE);
		CartState cart = small_cart();

		given_document(h, "shop", SHOP, "marketing\n");
		cart.consent = consents[i];
		cart.state_version++;
		given_cart(h, &cart);
		when_woken(h, H(4), 3);
		assert_int_equal(harness_count(h, &topic_reminder_due), consents[i] == CONSENT_YES);
		assert_int_equal(closed(h), consents[i] == CONSENT_YES ? CLOSED_NOT : CLOSED_NOT_CHASED);
		harness_free(h);
	}
}

static void the_size_decides_the_wait_and_an_override_decides_before_it(void **state)
{
	const struct {
		int64_t total_minor;
		WaitOverride override;
		int64_t next_us;
	} table[] = {
		{ 3999, { 0 }, H(4) },
		{ 4000, { 0 }, H(2) },
		{ 15000, { 0 }, H(2) },
		{ 15001, { 0 }, H(1) },
		{ 3999, { .first_us = US_PER_HOUR / 2, .second_us = 3 * US_PER_HOUR }, H(0.5) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = given_all(MODE_LIVE);
		CartState cart = small_cart();

		cart.total_minor = table[i].total_minor;
		cart.has_wait_override = table[i].override.first_us > 0;
		cart.wait_override = table[i].override;
		cart.state_version++;
		given_cart(h, &cart);
		when_woken(h, H(0.1), 3);
		assert_int_equal(next_us(h), table[i].next_us);
		harness_free(h);
	}
}

/* Waits of nothing are none, whether or not they are given. */
static void an_override_without_a_first_wait_is_none(void **state)
{
	static const struct {
		bool given;
		WaitOverride override;
		bool counts;
	} table[] = { { true, { 0 }, false }, { true, { .second_us = US_PER_HOUR }, false },
		{ false, { .first_us = US_PER_HOUR }, false }, { true, { .first_us = US_PER_HOUR }, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = given_all(MODE_LIVE);
		CartState cart = small_cart();
		Audit audit;

		cart.has_wait_override = table[i].given;
		cart.wait_override = table[i].override;
		cart.state_version++;
		given_cart(h, &cart);
		when_woken(h, H(0.1), 3);
		assert_int_equal(next_us(h), table[i].counts ? H(1) : H(4));
		assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
		assert_int_equal(strstr(audit.grounds, "waits of its own") != NULL, table[i].counts);
		harness_free(h);
	}
}

static void a_changed_wait_holds_from_the_next_wake_up_on(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	uint32_t version;

	(void)state;
	version = given_document(h, "rules",
		"Small carts (under $40): remind after 6 hours, then after 24. Medium carts: 2 hours, then 22. Big "
		"carts (over $150): 1 hour, then 20.",
		"");
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_int_equal(next_us(h), H(6));
	assert_int_equal(audited(h).rules_version, version);
	harness_free(h);
}

static void a_shopper_mailed_about_another_cart_waits(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	ReminderOutcome sent = { .cart_id = "c2", .step = 1, .attempt = 1, .address_hash = "h", .at_us = H(3) };

	(void)state;
	GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = "c2/1");
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_int_equal(next_us(h), H(27));
	assert_string_equal(audited(h).action, "deferred");
	harness_free(h);
}

static void a_mail_more_than_a_day_late_is_skipped_with_the_reason(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	Audit audit;

	(void)state;
	when_woken(h, H(30), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_int_equal(closed(h), CLOSED_TOO_LATE);
	audit = audited(h);
	assert_string_equal(audit.action, "skipped");
	assert_non_null(strstr(audit.grounds, "more than a day late (1 d 2 h)"));
	harness_free(h);
}

static void the_same_facts_and_clock_give_the_same_move(void **state)
{
	static ReminderDue first, second;
	struct harness *h = given_all(MODE_LIVE), *again = given_all(MODE_LIVE);

	(void)state;
	when_woken(h, H(4), 3);
	when_woken(again, H(4), 3);
	harness_said(h, &topic_reminder_due, 0, &first, NULL);
	harness_said(again, &topic_reminder_due, 0, &second, NULL);
	assert_int_equal(first.decided_on, second.decided_on);
	assert_string_equal(audited(h).grounds, audited(again).grounds);
	harness_free(h);
	harness_free(again);
}

static bool says(const struct topic *topic)
{
	for (size_t i = 0; waiter.says[i]; i++)
		if (waiter.says[i] == topic)
			return true;
	return false;
}

/* No model, no storefront, no file: what it decides is in the log and the clock alone. */
static void when_to_mail_is_asked_of_nobody(void **state)
{
	(void)state;
	assert_null(waiter.effects);
	assert_true(says(&topic_reminder_due));
	assert_false(says(&topic_model_used));
}

/* Of a cart that waits for its first mail, with this way back. */
static struct plan plan_of(const char *recovery_url)
{
	struct harness *h = harness_new(&waiter, LEFT_US);
	CartWake wake = { .cart_id = "c1", .revision = 3, .due_us = H(4) };
	CartState cart = small_cart();
	struct plan plan;

	given_document(h, "rules", RULES, "");
	given_document(h, "shop", SHOP, "any\n");
	given_mode(h, MODE_LIVE);
	TEXT_COPY(cart.recovery_url, recovery_url);
	given_cart(h, &cart);
	assert_true(waiter_plan(harness_state(h), "demo", &wake, H(4), H(1), &plan));
	harness_free(h);
	return plan;
}

static void a_plan_names_what_is_wrong_with_the_way_back(void **state)
{
	static const struct {
		const char *recovery_url, *words;
	} rows[] = { { "", "no recovery URL" }, { "http://shop.example/cart", "not a clean https address" },
		{ "https://elsewhere.example/cart", "a host that is not the shop's" } };
	char words[PLAN_WORDS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct plan plan = plan_of(rows[i].recovery_url);
		assert_int_equal(plan.step, 0);
		assert_int_equal(plan.send_us, 0);
		assert_non_null(strstr(plan_words(&plan, "Europe/Berlin", words), rows[i].words));
	}
	assert_int_equal(plan_of("https://demo.example/cart").step, 1);
}

static void of_another_revision_or_an_unknown_cart_there_is_no_plan(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartWake wake = { .cart_id = "c1", .revision = 3 };
	struct plan plan;

	(void)state;
	assert_true(waiter_plan(harness_state(h), "demo", &wake, H(4), H(1), &plan));
	wake.revision = 2;
	assert_false(waiter_plan(harness_state(h), "demo", &wake, H(4), H(1), &plan));
	wake = (CartWake){ .cart_id = "c2", .revision = 3 };
	assert_false(waiter_plan(harness_state(h), "demo", &wake, H(4), H(1), &plan));
	wake = (CartWake){ .cart_id = "c1", .revision = 3 };
	assert_false(waiter_plan(harness_state(h), "other", &wake, H(4), H(1), &plan));
	harness_free(h);
}

static void a_total_that_nobody_gave_is_no_zero_in_the_grounds(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartState cart = small_cart();

	(void)state;
	cart.total_minor = 0;
	cart.state_version++;
	given_cart(h, &cart);
	when_woken(h, H(1), 3);
	assert_null(strstr(audited(h).grounds, "0.00"));
	assert_non_null(strstr(audited(h).grounds, "a total that was not given is "));
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_names_what_is_wrong_with_the_way_back),
		cmocka_unit_test(of_another_revision_or_an_unknown_cart_there_is_no_plan),
		cmocka_unit_test(a_total_that_nobody_gave_is_no_zero_in_the_grounds),
		cmocka_unit_test(when_the_first_wait_is_over_the_first_reminder_is_due),
		cmocka_unit_test(too_early_it_looks_again_when_the_wait_is_over),
		cmocka_unit_test(after_the_first_was_sent_the_second_goes_and_then_it_is_given_up),
		cmocka_unit_test(a_wake_up_of_an_older_revision_is_settled_silently),
		cmocka_unit_test(a_wake_up_of_a_cart_that_nobody_knows_is_settled_silently),
		cmocka_unit_test(a_wake_up_that_comes_twice_sends_nothing_twice),
		cmocka_unit_test(a_raw_checkout_stops_while_intake_is_behind),
		cmocka_unit_test(an_opt_out_closes_the_cart),
		cmocka_unit_test(a_bought_cart_is_left_alone),
		cmocka_unit_test(a_late_row_does_not_reopen_a_bought_cart),
		cmocka_unit_test(without_documents_it_says_so_and_looks_again),
		cmocka_unit_test(a_shop_that_was_never_switched_on_only_observes_and_moves_on),
		cmocka_unit_test(a_paused_shop_sends_nothing_and_is_looked_at_again),
		cmocka_unit_test(mail_me_says_the_reminder_the_sender_knows_whom_to_mail),
		cmocka_unit_test(whom_the_shop_never_mails_is_closed_as_not_chased),
		cmocka_unit_test(a_shop_that_asks_for_consent_mails_only_who_gave_it),
		cmocka_unit_test(the_size_decides_the_wait_and_an_override_decides_before_it),
		cmocka_unit_test(an_override_without_a_first_wait_is_none),
		cmocka_unit_test(a_changed_wait_holds_from_the_next_wake_up_on),
		cmocka_unit_test(a_shopper_mailed_about_another_cart_waits),
		cmocka_unit_test(a_mail_more_than_a_day_late_is_skipped_with_the_reason),
		cmocka_unit_test(the_same_facts_and_clock_give_the_same_move),
		cmocka_unit_test(when_to_mail_is_asked_of_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
