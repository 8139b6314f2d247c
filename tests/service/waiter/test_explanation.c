/* test_explanation.c: what a decision says of itself: every number that it was made on, and no more than is known */
#include "bus/base/text.h"
#include "services/carts/waiter/explanation.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

#define NOW_US (INT64_C(1795176000) * US_PER_S)
#define SENT(ago_us) ((struct send){ .phase = SEND_SENT, .attempt = 1, .at_us = NOW_US - (ago_us) })

static struct decision_facts facts;
static struct choice choice;
static struct decision decision;
static CartState cart;

/* A small cart that was left six hours ago, and of which nothing was mailed. */
static void given(void)
{
	facts = (struct decision_facts){ .now_us = NOW_US,
		.open = true,
		.has_address = true,
		.documents = true,
		.abandoned_us = NOW_US - 6 * US_PER_HOUR,
		.first_us = 4 * US_PER_HOUR,
		.second_us = US_PER_DAY };
	choice = (struct choice){ .rules = { .size = SIZE_SMALL } };
	decision = (struct decision){ .why = WHY_TOO_EARLY };
	cart = (CartState){ .total_minor = 3599, .currency = "EUR" };
}

static int fresh(void **state)
{
	(void)state;
	given();
	return 0;
}

static const char *line(void)
{
	static char text[EXPLANATION_MAX];

	return explanation_line(&facts, &decision, &choice, &cart, text);
}

static void assert_ends(const char *words)
{
	const char *text = line();
	size_t len = strlen(text), ends = strlen(words);

	assert_true(len >= ends);
	assert_string_equal(text + len - ends, words);
}

#define NOTHING_SENT "; first not sent; second not sent"

static void the_waits_are_those_of_the_cart(void **state)
{
	static const struct {
		bool overridden;
		int64_t first_us, second_us;
		const char *words;
	} cases[] = {
		{ false, 4 * US_PER_HOUR, US_PER_DAY, ", 35.99 EUR is a small cart: waits 4 h then 1 d;" },
		{ false, 4 * US_PER_HOUR, 0, ", 35.99 EUR is a small cart: waits 4 h, one reminder only;" },
		{ false, 0, 0, ", 35.99 EUR is a small cart: no reminder;" },
		{ true, 4 * US_PER_HOUR, US_PER_DAY, ", 35.99 EUR, with waits of its own: 4 h then 1 d;" },
		{ true, 4 * US_PER_HOUR, 0, ", 35.99 EUR, with waits of its own: 4 h, one reminder only;" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given();
		choice.overridden = cases[i].overridden;
		facts.first_us = cases[i].first_us;
		facts.second_us = cases[i].second_us;
		assert_non_null(strstr(line(), cases[i].words));
	}
	given();
	choice.rules.unknown_currency = true;
	assert_non_null(strstr(line(), " (its currency has no threshold): waits 4 h then 1 d;"));
}

static void a_total_is_said_where_both_its_parts_are_known(void **state)
{
	static const struct {
		int64_t total_minor;
		const char *currency, *words;
	} cases[] = { { 3599, "EUR", ", 35.99 EUR is " }, { 3599, "JPY", ", 3599 JPY is " },
		{ 3599, "", ", a total that was not given is " }, { 0, "EUR", ", a total that was not given is " } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given();
		cart.total_minor = cases[i].total_minor;
		TEXT_COPY(cart.currency, cases[i].currency);
		assert_non_null(strstr(line(), cases[i].words));
	}
}

static void what_became_of_each_mail_is_said_with_its_age(void **state)
{
	static const struct {
		enum send_phase phase;
		const char *words;
	} cases[] = { { SEND_CLAIMED, "being sent since 30 min ago" }, { SEND_SENT, "sent 30 min ago" },
		{ SEND_RELEASED, "tried and not delivered 30 min ago" }, { SEND_REFUSED, "refused 30 min ago" },
		{ SEND_AMBIGUOUS, "sent perhaps 30 min ago" }, { SEND_SKIPPED, "skipped 30 min ago" },
		{ SEND_NONE, "not sent" } };
	char wanted[100];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given();
		facts.first = (struct send){ .phase = cases[i].phase, .at_us = NOW_US - 30 * US_PER_MINUTE };
		snprintf(wanted, sizeof(wanted), "; first %s; second not sent;", cases[i].words);
		assert_non_null(strstr(line(), wanted));
		facts.second = facts.first;
		facts.first = SENT(5 * US_PER_HOUR);
		snprintf(wanted, sizeof(wanted), "; first sent 5 h ago; second %s;", cases[i].words);
		assert_non_null(strstr(line(), wanted));
	}
}

/* Without rules there are no waits; without an address, or of what is bought, they are nobody's. */
static void waits_and_mails_are_said_where_they_mean_something(void **state)
{
	(void)state;
	assert_string_equal(line(),
		"left 6 h ago, 35.99 EUR is a small cart: waits 4 h then 1 d" NOTHING_SENT "; the wait is not over");
	facts.documents = false;
	decision.why = WHY_NO_DOCUMENTS;
	assert_string_equal(line(), "left 6 h ago; the shop's rules or its configuration have not arrived yet");
	given();
	facts.open = false;
	decision.why = WHY_NOT_OPEN;
	assert_string_equal(line(), "left 6 h ago; the cart is not open any more");
	given();
	facts.has_address = false;
	decision.why = WHY_NO_ADDRESS;
	assert_string_equal(line(), "left 6 h ago; there is no address to write to");
}

/* The wait of an order that was not paid counts from that. */
static void what_was_ordered_and_not_paid_is_not_left(void **state)
{
	static const struct {
		int64_t unpaid_us;
		const char *begins;
	} cases[] = { { 0, "left 6 h ago" }, { NOW_US - 6 * US_PER_HOUR - 1, "left 6 h ago" },
		{ NOW_US - 6 * US_PER_HOUR, "ordered and not paid 6 h ago" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given();
		facts.stopped.unpaid_us = cases[i].unpaid_us;
		assert_int_equal(strncmp(line(), cases[i].begins, strlen(cases[i].begins)), 0);
	}
}

static void each_reason_is_said_with_what_it_is_about(void **state)
{
	(void)state;
	facts.stopped = (struct stopped){ .stop = STOP_COMPLAINED, .seq = 77 };
	facts.eligibility = (struct eligibility_finding){ ELIGIBILITY_TAG, "wholesale" };
	facts.newer_cart = "c-2";
	facts.last_mail_us = NOW_US - 2 * US_PER_HOUR;
	facts.window_us = 3 * US_PER_DAY;
	decision.due_us = NOW_US - 26 * US_PER_HOUR;
	assert_ends(NOTHING_SENT "; the wait is not over"); /* of all this nothing */
	decision.why = WHY_STOPPED;
	assert_ends("; complained (message 77)");
	decision.why = WHY_NEWER_CART;
	assert_ends("; this shopper has a newer cart, and is chased for that one alone (c-2)");
	decision.why = WHY_TOO_LATE;
	assert_ends("; the mail would be more than a day late (1 d 2 h)");
	decision.why = WHY_WINDOW;
	assert_ends("; this shopper had a mail a short while ago (2 h ago; at most one in 3 d)");
	decision.is_capped = true;
	assert_ends("; this shopper had a mail a short while ago (as many as the rules allow)");
	decision.why = WHY_QUIET; /* that the window held it back before is no reason any more */
	assert_ends("; these are the shop's quiet hours");
	decision.why = WHY_NOT_CHASED;
	char wanted[200];
	snprintf(wanted, sizeof(wanted), "; %s: wholesale", eligibility_text(ELIGIBILITY_TAG));
	assert_ends(wanted);
	facts.eligibility = (struct eligibility_finding){ ELIGIBILITY_SAID_NO, "" };
	snprintf(wanted, sizeof(wanted), "; %s", eligibility_text(ELIGIBILITY_SAID_NO));
	assert_ends(wanted);
}

/* A record's grounds are UTF-8, or a file for a spreadsheet has a broken cell in it. */
static void a_long_pattern_is_cut_between_two_characters(void **state)
{
	char pattern[128] = "";

	(void)state;
	memset(pattern, 'x', 79);
	strcat(pattern, "ö*");
	decision.why = WHY_NOT_CHASED;
	facts.eligibility = (struct eligibility_finding){ ELIGIBILITY_PRODUCT, pattern };
	assert_true(text_is_utf8(bytes_of(line())));
	assert_ends("xxx");
	assert_null(strstr(line(), "ö"));
}

static void a_reminder_that_does_not_go_says_so(void **state)
{
	static const struct {
		enum decision_kind kind;
		bool say;
		const char *ends;
	} cases[] = { { DECISION_FIRST_REMINDER, true, "; the wait is over" },
		{ DECISION_FIRST_REMINDER, false, "; the wait is over; the shop is only observed, nothing is sent" },
		{ DECISION_SECOND_REMINDER, true, "; the wait is over" },
		{ DECISION_SECOND_REMINDER, false, "; the wait is over; the shop is only observed, nothing is sent" },
		{ DECISION_STILL_SHOPPING, false, "; the wait is over" },
		{ DECISION_GIVE_UP, false, "; the wait is over" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given();
		decision = (struct decision){ .kind = cases[i].kind, .say = cases[i].say, .why = WHY_DUE };
		assert_ends(cases[i].ends);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_waits_are_those_of_the_cart, fresh),
		cmocka_unit_test_setup(a_total_is_said_where_both_its_parts_are_known, fresh),
		cmocka_unit_test_setup(what_became_of_each_mail_is_said_with_its_age, fresh),
		cmocka_unit_test_setup(waits_and_mails_are_said_where_they_mean_something, fresh),
		cmocka_unit_test_setup(what_was_ordered_and_not_paid_is_not_left, fresh),
		cmocka_unit_test_setup(each_reason_is_said_with_what_it_is_about, fresh),
		cmocka_unit_test_setup(a_long_pattern_is_cut_between_two_characters, fresh),
		cmocka_unit_test_setup(a_reminder_that_does_not_go_says_so, fresh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
