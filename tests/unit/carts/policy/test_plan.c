/* test_plan.c: when the next mail of a cart goes, and why then: after the wait, the window and the quiet hours */
#include "bus/base/text.h"
#include "services/carts/policy/plan.h"
#include "services/kit/time/zone.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static const char zone[] = "Europe/Berlin";
static const char waits[] =
	"Small carts (under 40 EUR): remind after 4 hours, then after 24. Medium carts: 4 hours, then 24. "
	"Big carts (over 150 EUR): 4 hours, then 24. ";
static struct rules rules;

static int64_t at(int month, int day, int hour, int minute)
{
	const struct local_time local = { .year = 2026, .month = month, .day = day, .hour = hour, .minute = minute };
	int64_t us;

	assert_int_equal(zone_moment(zone, &local, &us), 0);
	return us;
}

static struct decision_facts facts_of(const char *more, int64_t left_us)
{
	struct rules_error error;
	char text[400];

	snprintf(text, sizeof(text), "%s%s", waits, more);
	if (rules_parse(text, "EUR", &rules, &error) < 0)
		fail_msg("%s", error.text);
	return (struct decision_facts){ .now_us = left_us,
		.open = true,
		.has_address = true,
		.documents = true,
		.abandoned_us = left_us,
		.first_us = 4 * US_PER_HOUR,
		.second_us = 24 * US_PER_HOUR,
		.mode = MODE_LIVE,
		.window_us = rules_window_us(&rules),
		.window_written = rules.window_us > 0,
		.rules = &rules,
		.zone = zone };
}

static void expect(const struct decision_facts *facts, int step, int64_t send_us, const char *words)
{
	struct plan plan = plan_next(facts, 0);
	char said[PLAN_WORDS_MAX];

	assert_string_equal(plan_words(&plan, zone, said), words);
	assert_int_equal(plan.step, step);
	assert_int_equal(plan.send_us, send_us);
}

static const char quiet[] = "Quiet hours: 21:00 to 8:00. ";

/* At night, after its wait was over: it was looked at, and is looked at again in the morning. */
static void what_holds_it_now_is_told_while_it_holds_it(void **state)
{
	struct decision_facts facts = facts_of(quiet, at(11, 20, 19, 0));
	char said[PLAN_WORDS_MAX];
	struct plan plan;

	(void)state;
	facts.now_us = at(11, 21, 2, 0);
	plan = plan_next(&facts, at(11, 21, 8, 0));
	assert_string_equal(plan_words(&plan, zone, said), "quiet hours until 08:00");
	assert_int_equal(plan.send_us, at(11, 21, 8, 0));
}

static void after_the_wait_if_nothing_holds_it(void **state)
{
	struct decision_facts facts = facts_of(quiet, at(11, 20, 10, 0));

	(void)state;
	expect(&facts, 1, at(11, 20, 14, 0), "its wait is over then");
	facts.first = (struct send){ .phase = SEND_SENT, .at_us = at(11, 20, 14, 0) };
	facts.last_mail_us = facts.first.at_us;
	expect(&facts, 2, at(11, 21, 10, 0), "its wait is over then");
}

static void after_the_quiet_hours_in_both_nights_of_a_clock_change(void **state)
{
	struct decision_facts facts;

	(void)state;
	facts = facts_of(quiet, at(11, 20, 20, 0));
	expect(&facts, 1, at(11, 21, 8, 0), "quiet hours until 08:00");
	facts = facts_of(quiet, at(3, 28, 22, 30)); /* the night has 23 hours */
	expect(&facts, 1, at(3, 29, 8, 0), "quiet hours until 08:00");
	assert_int_equal(at(3, 29, 8, 0) - at(3, 28, 22, 30), 8 * US_PER_HOUR + 30 * US_PER_MINUTE);
	facts = facts_of("Quiet hours: 23:00 to 2:30. ", at(3, 28, 20, 0)); /* that minute is not there */
	expect(&facts, 1, at(3, 29, 3, 0), "quiet hours until 03:00");
	facts = facts_of(quiet, at(10, 24, 20, 0)); /* and 25 */
	expect(&facts, 1, at(10, 25, 8, 0), "quiet hours until 08:00");
	assert_int_equal(at(10, 25, 8, 0) - at(10, 24, 20, 0), 13 * US_PER_HOUR);
}

static void after_the_window_and_then_the_quiet_hours(void **state)
{
	struct decision_facts facts = facts_of(quiet, at(11, 20, 10, 0));

	(void)state;
	facts.last_mail_us = at(11, 19, 18, 30); /* about another cart */
	expect(&facts, 1, at(11, 20, 18, 30), "one mail per 24 h to this address, until 2026-11-20 18:30");
	facts.last_mail_us = at(11, 20, 3, 0);
	expect(&facts, 1, at(11, 21, 8, 0),
		"one mail per 24 h to this address, until 2026-11-21 03:00, then quiet hours until 08:00");
	facts = facts_of("At most one mail per shopper every 3 days.", at(10, 24, 10, 0));
	facts.last_mail_us = at(10, 22, 15, 0); /* three days of 24 hours, one of them not being one */
	expect(&facts, 1, at(10, 25, 14, 0), "one mail per 72 h to this address, until 2026-10-25 14:00");
}

static void a_shop_that_is_only_observed_says_so_and_counts_what_would_have_gone(void **state)
{
	struct decision_facts facts = facts_of(quiet, at(11, 20, 10, 0));

	(void)state;
	facts.mode = MODE_OBSERVE;
	assert_true(plan_next(&facts, 0).would);
	facts.would_step = 1;
	facts.would_us = at(11, 20, 14, 0);
	expect(&facts, 2, at(11, 21, 10, 0), "its wait is over then");
}

static void not_before_the_cart_is_looked_at(void **state)
{
	struct decision_facts facts = facts_of("", at(11, 20, 10, 0));

	(void)state;
	assert_int_equal(plan_next(&facts, at(11, 20, 16, 0)).send_us, at(11, 20, 16, 0)); /* set by longer waits */
}

static void no_mail_says_why_there_is_none(void **state)
{
	struct decision_facts facts = facts_of("", at(11, 20, 10, 0));

	(void)state;
	facts.stopped.stop = STOP_PAUSED;
	expect(&facts, 0, 0, stop_name(STOP_PAUSED));
	facts.stopped.stop = STOP_NONE;
	facts.eligibility.eligibility = ELIGIBILITY_NO_CONSENT;
	expect(&facts, 0, 0, eligibility_text(ELIGIBILITY_NO_CONSENT));
	facts.eligibility.eligibility = ELIGIBILITY_YES;
	facts.has_address = false;
	expect(&facts, 0, 0, "there is no address to write to");
	facts.has_address = true;
	facts.first = facts.second = (struct send){ .phase = SEND_SENT, .at_us = at(11, 21, 10, 0) };
	expect(&facts, 0, 0, "both reminders went out, and the shopper has time to buy");
}

/* Whoever looks every minute sees the mail go in the minute that the plan named. */
static int64_t first_minute_of_a_mail(struct decision_facts facts)
{
	for (int minute = 0; minute < 4 * 24 * 60; minute++, facts.now_us += US_PER_MINUTE) {
		struct decision decision = decision_make(&facts);

		if (decision.kind == DECISION_FIRST_REMINDER || decision.kind == DECISION_SECOND_REMINDER)
			return facts.now_us;
		if (decision.kind == DECISION_GIVE_UP)
			return 0;
	}
	return 0;
}

static void who_looks_every_minute_sees_what_was_planned(void **state)
{
	static const char *const texts[] = { "", quiet, "Quiet hours: 1:45 to 2:15. ", "Quiet hours: 2:15 to 3:30. ",
		"Quiet hours: 21:00 to 8:00. At most one mail per shopper every 30 hours." };
	const int64_t nights[] = { at(3, 28, 12, 0), at(10, 24, 12, 0) };

	(void)state;
	for (size_t text = 0; text < sizeof(texts) / sizeof(texts[0]); text++)
		for (int night = 0; night < 2; night++)
			for (int quarter = 0; quarter < 96; quarter += 7) {
				struct decision_facts facts =
					facts_of(texts[text], nights[night] + quarter * 15 * US_PER_MINUTE);

				facts.last_mail_us = quarter % 2 ? nights[night] - 5 * US_PER_HOUR : 0;
				assert_int_equal(plan_next(&facts, 0).send_us, first_minute_of_a_mail(facts));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_the_wait_if_nothing_holds_it),
		cmocka_unit_test(what_holds_it_now_is_told_while_it_holds_it),
		cmocka_unit_test(after_the_quiet_hours_in_both_nights_of_a_clock_change),
		cmocka_unit_test(after_the_window_and_then_the_quiet_hours),
		cmocka_unit_test(a_shop_that_is_only_observed_says_so_and_counts_what_would_have_gone),
		cmocka_unit_test(not_before_the_cart_is_looked_at),
		cmocka_unit_test(no_mail_says_why_there_is_none),
		cmocka_unit_test(who_looks_every_minute_sees_what_was_planned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
