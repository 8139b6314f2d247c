/* test_agree.c: the night's file names the time that the waiter will mail at, and `cartbus why` shows */
#include "bus/actor/sim/harness.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/carts/exporter/exporter.h"
#include "services/carts/policy/plan.h"
#include "services/carts/waiter/waiter.h"
#include "services/kit/effect/file_driver.h"
#include "services/kit/time/zone.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>

static const char zone[] = "Europe/Berlin";

struct both {
	struct harness *exporter, *waiter;
};

static int64_t at(int month, int day, int hour)
{
	const struct local_time local = { .year = 2026, .month = month, .day = day, .hour = hour };
	int64_t us;

	assert_int_equal(zone_moment(zone, &local, &us), 0);
	return us;
}

#define GIVEN_BOTH(both, topic, message, ...)                                                                          \
	do {                                                                                                           \
		GIVEN((both)->exporter, topic, message, __VA_ARGS__);                                                  \
		GIVEN((both)->waiter, topic, message, __VA_ARGS__);                                                    \
	} while (0)

static void given_document(struct both *both, const char *kind, const char *text)
{
	static Document document;
	static uint32_t version;

	document = (Document){ .version = ++version };
	TEXT_COPY(document.kind, kind);
	snprintf(
		document.digest, sizeof(document.digest), "%s %u", kind, (unsigned)version); /* a parse is kept by it */
	TEXT_COPY(document.text, text);
	GIVEN_BOTH(both, document, &document, .shop = "demo", .key = kind, .version = version);
}

static struct both given_shop(void)
{
	static struct exporter exporter_here;
	struct both both = { .exporter = harness_new_in(exporter_in(&exporter_here), at(1, 1, 0)),
		.waiter = harness_new(&waiter, at(1, 1, 0)) };

	exporter_here = exporter_of("/exports", "https://carts.example/", BYTES("", 0));
	given_document(&both, "shop",
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\nurl = "
		"https://demo.example\n[mail]\nfrom = Demo <shop@demo.example>\n");
	given_document(&both, "rules",
		"Small carts (under 40 EUR): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. "
		"Big carts (over 150 EUR): 1 hour, then 20. Quiet hours: 21:00 to 8:00.");
	ShopStatus live = { .mode = MODE_LIVE };
	GIVEN(both.waiter, shop_status, &live, .shop = "demo", .key = "demo");
	return both;
}

static void given_cart_with(struct both *both, const char *id, int64_t left_us, WaitOverride own)
{
	CartState cart = { .has_ids = true,
		.revision = 1,
		.state_version = 1,
		.status = CART_OPEN,
		.first_seen_us = left_us,
		.abandoned_us = left_us,
		.total_minor = 1250,
		.currency = "EUR",
		.has_wait_override = own.first_us > 0,
		.wait_override = own };

	TEXT_COPY(cart.ids.cart_id, id);
	TEXT_COPY(cart.ids.email, "a@b.example");
	TEXT_COPY(cart.ids.email_hash, "hash");
	TEXT_COPY(cart.recovery_url, "https://demo.example/cart");
	GIVEN_BOTH(both, cart_state, &cart, .shop = "demo", .key = id, .version = 1);
}

static void given_cart(struct both *both, const char *id, int64_t left_us, int64_t own_first_us)
{
	given_cart_with(both, id, left_us, (WaitOverride){ .first_us = own_first_us });
}

static ReminderOutcome outcome_of(const char *id, int64_t at_us)
{
	ReminderOutcome outcome = { .step = 1, .attempt = 1, .at_us = at_us };

	TEXT_COPY(outcome.cart_id, id);
	TEXT_COPY(outcome.address_hash, "hash");
	return outcome;
}

static void given_sent(struct both *both, const char *id, int64_t at_us)
{
	ReminderOutcome sent = outcome_of(id, at_us);

	GIVEN_BOTH(both, reminder_sent, &sent, .shop = "demo", .key = id);
}

static void expect_the_same_by(struct both *both, CartWake wake, int64_t now_us, int64_t tick_us, int64_t expected_us)
{
	Tick tick = { .name = "nightly", .due_us = tick_us };
	struct plan plan;
	struct local_time local;
	char cells[80], words[PLAN_WORDS_MAX];

	assert_true(waiter_plan(harness_state(both->waiter), "demo", &wake, 0, now_us, &plan));
	assert_int_equal(plan.send_us, expected_us);
	harness_now(both->exporter, tick_us);
	assert_int_equal(WHEN(both->exporter, tick_nightly, &tick, .shop = "demo", .key = "demo"), TURN_PENDING);
	assert_int_equal(zone_local(zone, plan.send_us, &local), 0);
	snprintf(cells, sizeof(cells), ",%s reminder,%04d-%02d-%02d %02d:%02d:%02d,",
		plan.step == 1 ? "first" : "second", local.year, local.month, local.day, local.hour, local.minute,
		local.second);
	const char *csv = buffer_text(&((struct file_request *)harness_effect_request(both->exporter))->content);
	if (!strstr(csv, cells))
		fail_msg("%s is not in\n%s", cells, csv);
	if (plan.quiet_until_us || plan.window_until_us)
		assert_non_null(strstr(csv, plan_words(&plan, zone, words)));
	harness_free(both->exporter);
	harness_free(both->waiter);
}

static void expect_the_same(struct both *both, const char *id, int64_t now_us, int64_t tick_us, int64_t expected_us)
{
	CartWake wake = { .revision = 1 };

	TEXT_COPY(wake.cart_id, id);
	expect_the_same_by(both, wake, now_us, tick_us, expected_us);
}

static void in_the_night_in_which_an_hour_is_left_out(void **state)
{
	struct both both = given_shop();

	(void)state;
	given_cart(&both, "c", at(3, 28, 22), 0);
	expect_the_same(&both, "c", at(3, 28, 22), at(3, 29, 3), at(3, 29, 8));
}

static void in_the_night_in_which_an_hour_comes_twice(void **state)
{
	struct both both = given_shop();

	(void)state;
	given_cart(&both, "c", at(10, 24, 20), 0);
	expect_the_same(&both, "c", at(10, 24, 20), at(10, 25, 2), at(10, 25, 8));
}

static void after_a_mail_about_another_cart(void **state)
{
	struct both both = given_shop();

	(void)state;
	given_cart(&both, "a", at(11, 19, 9), 0);
	given_sent(&both, "a", at(11, 20, 13));
	given_cart(&both, "c", at(11, 20, 16), 0);
	expect_the_same(&both, "c", at(11, 20, 16), at(11, 21, 2), at(11, 21, 13));
}

static void after_the_first_mail_and_with_waits_of_its_own(void **state)
{
	struct both both = given_shop();

	(void)state;
	given_cart(&both, "c", at(11, 20, 9), 3 * US_PER_HOUR);
	expect_the_same(&both, "c", at(11, 20, 9), at(11, 21, 2), at(11, 20, 12));
	both = given_shop();
	given_cart(&both, "c", at(11, 20, 9), 0);
	given_sent(&both, "c", at(11, 20, 13));
	expect_the_same(&both, "c", at(11, 20, 13), at(11, 21, 2), at(11, 21, 9));
}

static void before_the_second_mail_with_waits_of_its_own(void **state)
{
	struct both both = given_shop();

	(void)state;
	given_cart_with(&both, "c", at(11, 20, 9), (WaitOverride){ 3 * US_PER_HOUR, 30 * US_PER_HOUR });
	given_sent(&both, "c", at(11, 20, 12));
	expect_the_same(&both, "c", at(11, 20, 12), at(11, 21, 2), at(11, 21, 15));
}

/* Nobody knows whether the shopper has got it; what the owner got instead, the shopper has not. */
static void after_a_mail_that_may_have_gone_and_one_to_the_owner(void **state)
{
	ReminderOutcome outcome = outcome_of("a", at(11, 20, 13));
	struct both both = given_shop();

	(void)state;
	given_cart(&both, "a", at(11, 19, 9), 0);
	GIVEN_BOTH(&both, reminder_ambiguous, &outcome, .shop = "demo", .key = "a");
	given_cart(&both, "c", at(11, 20, 16), 0);
	expect_the_same(&both, "c", at(11, 20, 16), at(11, 21, 2), at(11, 21, 13));
	both = given_shop();
	outcome.to_owner = true;
	given_cart(&both, "a", at(11, 19, 9), 0);
	GIVEN_BOTH(&both, reminder_sent, &outcome, .shop = "demo", .key = "a");
	given_cart(&both, "c", at(11, 20, 16), 0);
	expect_the_same(&both, "c", at(11, 20, 16), at(11, 21, 2), at(11, 20, 20));
}

static void after_as_many_mails_as_the_rules_allow(void **state)
{
	static const struct {
		const char *id;
		int day;
	} mailed[] = { { "a", 16 }, { "b", 13 }, { "d", 15 }, { "e", 14 } };
	struct both both = given_shop();

	(void)state;
	given_document(&both, "rules",
		"Small carts (under 40 EUR): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. "
		"Big carts (over 150 EUR): 1 hour, then 20. At most two mails per shopper every 3 days.");
	for (size_t i = 0; i < sizeof(mailed) / sizeof(mailed[0]); i++) {
		given_cart(&both, mailed[i].id, at(11, mailed[i].day, 8), 0);
		given_sent(&both, mailed[i].id, at(11, mailed[i].day, 12));
	}
	given_cart(&both, "c", at(11, 17, 9), 0);
	expect_the_same(&both, "c", at(11, 17, 9), at(11, 18, 2), at(11, 18, 12));
}

static void within_a_window_that_the_owner_wrote(void **state)
{
	struct both both = given_shop();

	(void)state;
	given_document(&both, "rules",
		"Small carts (under 40 EUR): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. "
		"Big carts (over 150 EUR): 1 hour, then 20. At most one mail per shopper every 36 hours.");
	given_cart(&both, "c", at(11, 20, 5), 0);
	given_sent(&both, "c", at(11, 20, 9));
	expect_the_same(&both, "c", at(11, 20, 9), at(11, 21, 2), at(11, 21, 21));
}

static void of_a_shop_that_is_only_observed_after_a_mail_that_would_have_gone(void **state)
{
	struct both both = given_shop();
	ShopStatus observed = { .mode = MODE_OBSERVE, .version = 2 };
	Audit audit = { .cart_id = "c", .action = "would_send_first", .at_us = at(11, 20, 16) };
	CartWake wake = { .cart_id = "c", .revision = 1, .would_step = 1, .would_us = audit.at_us };

	(void)state;
	GIVEN(both.waiter, shop_status, &observed, .shop = "demo", .key = "demo", .version = 2);
	given_cart(&both, "c", at(11, 20, 9), 0);
	GIVEN(both.exporter, audit, &audit, .shop = "demo", .key = "c");
	expect_the_same_by(&both, wake, at(11, 20, 16), at(11, 21, 2), at(11, 21, 9));
}

static void given_url(struct both *both, const char *id, const char *url)
{
	CartState cart = { .has_ids = true,
		.revision = 1,
		.state_version = 2,
		.status = CART_OPEN,
		.first_seen_us = at(11, 20, 9),
		.abandoned_us = at(11, 20, 9),
		.total_minor = 1250,
		.currency = "EUR" };

	TEXT_COPY(cart.ids.cart_id, id);
	TEXT_COPY(cart.ids.email, "a@b.example");
	TEXT_COPY(cart.ids.email_hash, "hash");
	TEXT_COPY(cart.recovery_url, url);
	GIVEN_BOTH(both, cart_state, &cart, .shop = "demo", .key = id, .version = 2);
}

/* What the night's file says of the one cart, after the waiter was asked for the same. Borrowed from the harness. */
static const char *file_of_night(struct both *both, struct plan *ret_plan)
{
	CartWake wake = { .revision = 1, .cart_id = "c" };
	Tick tick = { .name = "nightly", .due_us = at(11, 21, 2) };

	assert_true(waiter_plan(harness_state(both->waiter), "demo", &wake, 0, at(11, 20, 9), ret_plan));
	harness_now(both->exporter, tick.due_us);
	assert_int_equal(WHEN(both->exporter, tick_nightly, &tick, .shop = "demo", .key = "demo"), TURN_PENDING);
	return buffer_text(&((struct file_request *)harness_effect_request(both->exporter))->content);
}

static void of_a_cart_whose_mails_would_lead_nowhere_both_promise_none(void **state)
{
	static const char *const urls[] = { "https://elsewhere.example/r/token", "", "http://demo.example/r/token",
		"https://user@demo.example/r/token" };

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		struct both both = given_shop();
		struct plan plan;

		given_url(&both, "c", urls[i]);
		const char *csv = file_of_night(&both, &plan);
		assert_int_equal(plan.step, 0);
		assert_non_null(plan.unmailable);
		if (!strstr(csv, ",no reminder,,") || !strstr(csv, plan.unmailable) || strstr(csv, "first reminder"))
			fail_msg("of %s the file says\n%s", urls[i], csv);
		assert_null(strstr(csv, "token"));
		harness_free(both.exporter);
		harness_free(both.waiter);
	}
}

static void a_host_that_the_shop_names_afterwards_is_its_own_in_the_next_file(void **state)
{
	struct both both = given_shop();
	struct plan plan;

	(void)state;
	given_url(&both, "c", "https://checkout.elsewhere.example/r/1");
	assert_non_null(strstr(file_of_night(&both, &plan), ",no reminder,,"));
	harness_result(both.exporter, &(int){ -ENOSPC }, CLAIM_NONE);
	given_document(&both, "shop",
		"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\nurl = "
		"https://demo.example\nhost = elsewhere.example\n[mail]\nfrom = Demo <shop@demo.example>\n");
	assert_non_null(strstr(file_of_night(&both, &plan), ",first reminder,"));
	assert_int_equal(plan.step, 1);
	harness_free(both.exporter);
	harness_free(both.waiter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_the_night_in_which_an_hour_is_left_out),
		cmocka_unit_test(in_the_night_in_which_an_hour_comes_twice),
		cmocka_unit_test(after_a_mail_about_another_cart),
		cmocka_unit_test(after_the_first_mail_and_with_waits_of_its_own),
		cmocka_unit_test(before_the_second_mail_with_waits_of_its_own),
		cmocka_unit_test(after_a_mail_that_may_have_gone_and_one_to_the_owner),
		cmocka_unit_test(after_as_many_mails_as_the_rules_allow),
		cmocka_unit_test(within_a_window_that_the_owner_wrote),
		cmocka_unit_test(of_a_shop_that_is_only_observed_after_a_mail_that_would_have_gone),
		cmocka_unit_test(of_a_cart_whose_mails_would_lead_nowhere_both_promise_none),
		cmocka_unit_test(a_host_that_the_shop_names_afterwards_is_its_own_in_the_next_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
