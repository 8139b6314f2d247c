/*
 * test_decision.c: the four moves, by a table over every branch and both sides of every boundary
 *
 * Times are in hours after the cart was left, unless a row says otherwise. The waits are 4 h and 24 h.
 */
#include "services/carts/policy/decision.h"
#include "services/carts/waiter/explanation.h"
#include "services/kit/time/timestamp.h"
#include "services/kit/time/zone.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

#define LEFT_US (INT64_C(1000) * US_PER_DAY)
#define H(hours) (LEFT_US + (int64_t)((hours)*US_PER_HOUR))
#define JUST_BEFORE(us) ((us)-1)
#define JUST_AFTER(us) ((us) + 1)
#define SLACK DECISION_CLOSING_SLACK_US

#define STILL DECISION_STILL_SHOPPING
#define FIRST DECISION_FIRST_REMINDER
#define SECOND DECISION_SECOND_REMINDER
#define GIVE_UP DECISION_GIVE_UP

static struct decision_facts open_at(int64_t now_us)
{
	return (struct decision_facts){ .now_us = now_us,
		.open = true,
		.has_address = true,
		.abandoned_us = LEFT_US,
		.documents = true,
		.first_us = 4 * US_PER_HOUR,
		.second_us = 24 * US_PER_HOUR,
		.mode = MODE_LIVE,
		.window_us = US_PER_DAY };
}

struct row {
	const char *name;
	int64_t now_us;
	struct send first, second;
	enum decision_kind kind;
	enum decision_why why;
	int64_t next_us;
	ClosedReason closes;
};

static void check(const struct row *row, const struct decision_facts *facts)
{
	struct decision decision = decision_make(facts);

	if (decision.kind != row->kind || decision.why != row->why || decision.next_us != row->next_us ||
		decision.closes != row->closes)
		print_error("%s: move %d why %d next %.3f h closes %d\n", row->name, (int)decision.kind,
			(int)decision.why, (double)(decision.next_us - LEFT_US) / US_PER_HOUR, (int)decision.closes);
	assert_int_equal(decision.kind, row->kind);
	assert_int_equal(decision.why, row->why);
	assert_int_equal(decision.next_us, row->next_us);
	assert_int_equal(decision.closes, row->closes);
	assert_int_equal(decision.say,
		(row->kind == DECISION_FIRST_REMINDER || row->kind == DECISION_SECOND_REMINDER) &&
			facts->mode != MODE_OBSERVE);
}

#define SENT(us) ((struct send){ .phase = SEND_SENT, .attempt = 1, .at_us = (us) })
#define IN(a_phase, us) ((struct send){ .phase = (a_phase), .attempt = 1, .at_us = (us) })
#define NOT_YET ((struct send){ 0 })

static void each_moment_of_a_chase_has_its_move(void **state)
{
	const struct row table[] = {
		{ "just left", H(0), NOT_YET, NOT_YET, STILL, WHY_TOO_EARLY, H(4), 0 },
		{ "before the first wait", JUST_BEFORE(H(4)), NOT_YET, NOT_YET, STILL, WHY_TOO_EARLY, H(4), 0 },
		{ "at the first wait", H(4), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(24), 0 },
		{ "first, 4 h before the second wait", H(20), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(24), 0 },
		{ "first, so late that 4 h between decide", H(21), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(25), 0 },
		{ "both waits over, nothing sent: the first", H(25), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(29), 0 },
		{ "first, a day late", H(28), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(32), 0 },
		{ "first, more than a day late", JUST_AFTER(H(28)), NOT_YET, NOT_YET, GIVE_UP, WHY_TOO_LATE, 0,
			CLOSED_TOO_LATE },
		{ "released counts as not sent", H(5), IN(SEND_RELEASED, H(4)), NOT_YET, FIRST, WHY_DUE, H(24), 0 },
		{ "first sent, second wait not over", H(5), SENT(H(4)), NOT_YET, STILL, WHY_TOO_EARLY, H(24), 0 },
		{ "just before the second wait", JUST_BEFORE(H(24)), SENT(H(4)), NOT_YET, STILL, WHY_TOO_EARLY, H(24),
			0 },
		{ "at the second wait", H(24), SENT(H(0)), NOT_YET, SECOND, WHY_DUE, H(48) + SLACK, 0 },
		{ "first sent late: 4 h between", H(24), SENT(H(23)), NOT_YET, STILL, WHY_TOO_EARLY, H(27), 0 },
		{ "claimed counts as sent", H(5), IN(SEND_CLAIMED, H(4)), NOT_YET, STILL, WHY_TOO_EARLY, H(24), 0 },
		{ "ambiguous counts as sent", H(24), IN(SEND_AMBIGUOUS, H(0)), NOT_YET, SECOND, WHY_DUE, H(48) + SLACK,
			0 },
		{ "first refused", H(24), IN(SEND_REFUSED, H(4)), NOT_YET, GIVE_UP, WHY_FIRST_FAILED, 0,
			CLOSED_GAVE_UP },
		{ "first skipped", H(24), IN(SEND_SKIPPED, H(4)), NOT_YET, GIVE_UP, WHY_FIRST_FAILED, 0,
			CLOSED_TOO_LATE },
		{ "second, a day late", H(48), SENT(H(4)), NOT_YET, SECOND, WHY_DUE, H(72) + SLACK, 0 },
		{ "second, more than a day late", JUST_AFTER(H(48)), SENT(H(4)), NOT_YET, GIVE_UP, WHY_TOO_LATE, 0,
			CLOSED_TOO_LATE },
		{ "both sent, time to buy", JUST_BEFORE(H(48)), SENT(H(4)), SENT(H(24)), STILL, WHY_WAITS_FOR_BUY,
			H(48) + SLACK, 0 },
		{ "both sent, nothing bought", H(48), SENT(H(4)), SENT(H(24)), GIVE_UP, WHY_BOTH_SENT, 0,
			CLOSED_GAVE_UP },
		{ "never a third", H(500), SENT(H(4)), SENT(H(24)), GIVE_UP, WHY_BOTH_SENT, 0, CLOSED_GAVE_UP },
		{ "second refused", H(48), SENT(H(4)), IN(SEND_REFUSED, H(24)), GIVE_UP, WHY_BOTH_SENT, 0,
			CLOSED_GAVE_UP },
		{ "second spent though the first is not known", H(48), NOT_YET, SENT(H(24)), GIVE_UP, WHY_BOTH_SENT, 0,
			CLOSED_GAVE_UP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct decision_facts facts = open_at(table[i].now_us);

		facts.first = table[i].first;
		facts.second = table[i].second;
		check(&table[i], &facts);
	}
}

static void the_rules_may_have_one_reminder_or_none(void **state)
{
	const struct row one[] = {
		{ "the only one", H(5), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(29) + SLACK, 0 },
		{ "time to buy", H(27), SENT(H(4)), NOT_YET, STILL, WHY_WAITS_AFTER_ONE, H(28) + SLACK, 0 },
		{ "no second", H(28), SENT(H(4)), NOT_YET, GIVE_UP, WHY_ONE_SENT, 0, CLOSED_GAVE_UP },
		{ "refused", H(28), IN(SEND_REFUSED, H(4)), NOT_YET, GIVE_UP, WHY_FIRST_FAILED, 0, CLOSED_GAVE_UP },
	};
	const struct row none = { "none", H(5), NOT_YET, NOT_YET, GIVE_UP, WHY_NO_REMINDER, 0, CLOSED_NOT_CHASED };
	struct decision_facts facts;

	(void)state;
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		facts = open_at(one[i].now_us);
		facts.second_us = 0;
		facts.first = one[i].first;
		check(&one[i], &facts);
	}
	facts = open_at(none.now_us);
	facts.first_us = facts.second_us = 0;
	check(&none, &facts);
}

/* Quiet for four days on end: the mail goes on the fifth, however long ago its wait was over. */
static void quiet_days_do_not_make_a_mail_late(void **state)
{
	struct local_time left, day;
	struct decision_facts facts = open_at(H(4));
	struct rules rules = { .quiet_count = 1 };
	int64_t morning_us;

	(void)state;
	assert_int_equal(zone_local("Etc/UTC", H(4), &left), 0);
	day = (struct local_time){ .year = left.year, .month = left.month, .day = left.day + 4 };
	assert_int_equal(zone_moment("Etc/UTC", &day, &morning_us), 0);
	rules.quiets[0] = (struct rules_quiet){ .to_minute = 1440 };
	for (int i = 0; i < 4; i++)
		rules.quiets[0].days |= 1 << (left.weekday + i) % 7;
	facts.rules = &rules;
	facts.zone = "Etc/UTC";
	check(&(struct row){ "quiet days", H(4), NOT_YET, NOT_YET, STILL, WHY_QUIET, morning_us, 0 }, &facts);
	facts.now_us = morning_us;
	assert_int_equal(decision_make(&facts).kind, DECISION_FIRST_REMINDER);
	facts.now_us = morning_us + US_PER_DAY + 1;
	assert_int_equal(decision_make(&facts).why, WHY_TOO_LATE);
}

static void as_many_mails_as_the_rules_allow_hold_the_next_one_back(void **state)
{
	struct decision_facts facts = open_at(H(5));

	(void)state;
	facts.capped_until_us = H(9);
	check(&(struct row){ "capped", H(5), NOT_YET, NOT_YET, STILL, WHY_WINDOW, H(9), 0 }, &facts);
	assert_true(decision_make(&facts).is_capped);
	facts.now_us = H(9);
	assert_int_equal(decision_make(&facts).kind, DECISION_FIRST_REMINDER);
}

static void whoever_is_stopped_is_left_alone_whatever_the_wait(void **state)
{
	const struct {
		enum stop stop;
		int64_t next_us;
		ClosedReason closes;
	} table[] = {
		{ STOP_BOUGHT, 0, CLOSED_NOT },
		{ STOP_OPTED_OUT, 0, CLOSED_OPTED_OUT },
		{ STOP_COMPLAINED, 0, CLOSED_OPTED_OUT },
		{ STOP_BOUNCED, 0, CLOSED_OPTED_OUT },
		{ STOP_SUPPRESSED, 0, CLOSED_OPTED_OUT },
		{ STOP_BY_OWNER, 0, CLOSED_BY_OWNER },
		{ STOP_EMPTIED, DECISION_LOOK_AGAIN_US, CLOSED_NOT },
		{ STOP_CHANGED, DECISION_LOOK_AGAIN_US, CLOSED_NOT },
		{ STOP_PAUSED, DECISION_LOOK_AGAIN_US, CLOSED_NOT },
	};
	const int64_t nows[] = { H(0), H(4), H(24), H(100) };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		for (size_t n = 0; n < sizeof(nows) / sizeof(nows[0]); n++) {
			struct decision_facts facts = open_at(nows[n]);
			const struct row row = { stop_name(table[i].stop), nows[n], NOT_YET, NOT_YET, STILL,
				WHY_STOPPED, table[i].next_us ? nows[n] + table[i].next_us : 0, table[i].closes };

			facts.stopped.stop = table[i].stop;
			check(&row, &facts);
		}
	}
}

static void a_cart_that_is_not_open_is_left_alone(void **state)
{
	const struct row row = { "not open", H(5), NOT_YET, NOT_YET, STILL, WHY_NOT_OPEN, 0, 0 };
	struct decision_facts facts = open_at(H(5));

	(void)state;
	facts.open = false;
	check(&row, &facts);
	facts.stopped.stop = STOP_PAUSED;
	check(&row, &facts);
}

static void a_cart_without_an_address_waits_for_one_and_is_closed_when_it_grows_old(void **state)
{
	const struct row table[] = {
		{ "young", H(5), NOT_YET, NOT_YET, STILL, WHY_NO_ADDRESS, H(30 * 24), 0 },
		{ "just young enough", JUST_BEFORE(H(30 * 24)), NOT_YET, NOT_YET, STILL, WHY_NO_ADDRESS, H(30 * 24),
			0 },
		{ "old", H(30 * 24), NOT_YET, NOT_YET, GIVE_UP, WHY_GREW_OLD, 0, CLOSED_NO_ADDRESS },
	};
	const struct row unusable[] = {
		{ "young, unusable", H(5), NOT_YET, NOT_YET, STILL, WHY_BAD_ADDRESS, H(30 * 24), 0 },
		{ "old, unusable", H(30 * 24), NOT_YET, NOT_YET, GIVE_UP, WHY_BAD_GREW_OLD, 0, CLOSED_NO_ADDRESS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct decision_facts facts = open_at(table[i].now_us);

		facts.has_address = false;
		check(&table[i], &facts);
		facts.documents = false; /* needs no rules */
		check(&table[i], &facts);
	}
	for (size_t i = 0; i < sizeof(unusable) / sizeof(unusable[0]); i++) {
		struct decision_facts facts = open_at(unusable[i].now_us);

		facts.has_address = false;
		facts.bad_address = true;
		check(&unusable[i], &facts);
	}
}

static void without_the_shops_documents_nothing_is_decided(void **state)
{
	const struct row row = { "no documents", H(5), NOT_YET, NOT_YET, STILL, WHY_NO_DOCUMENTS,
		H(5) + DECISION_LOOK_AGAIN_US, 0 };
	struct decision_facts facts = open_at(H(5));

	(void)state;
	facts.documents = false;
	check(&row, &facts);
}

static void whom_the_owner_does_not_mail_is_not_chased(void **state)
{
	(void)state;
	for (enum eligibility eligibility = ELIGIBILITY_SAID_NO; eligibility <= ELIGIBILITY_PRODUCT; eligibility++) {
		const struct row row = { "not chased", H(1), NOT_YET, NOT_YET, GIVE_UP, WHY_NOT_CHASED, 0,
			CLOSED_NOT_CHASED };
		struct decision_facts facts = open_at(H(1));

		facts.eligibility.eligibility = eligibility;
		check(&row, &facts);
	}
}

static void a_shopper_with_a_newer_cart_is_not_chased_for_this_one(void **state)
{
	const struct row table[] = {
		{ "before the first", H(1), NOT_YET, NOT_YET, GIVE_UP, WHY_NEWER_CART, 0, CLOSED_NEWER_CART },
		{ "before the second", H(30), { SEND_SENT, .at_us = H(4) }, NOT_YET, GIVE_UP, WHY_NEWER_CART, 0,
			CLOSED_NEWER_CART },
		{ "after both", H(30), { SEND_SENT, .at_us = H(4) }, { SEND_SENT, .at_us = H(24) }, STILL,
			WHY_WAITS_FOR_BUY, H(48) + DECISION_CLOSING_SLACK_US, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct decision_facts facts = open_at(table[i].now_us);

		facts.newer_cart = "c2";
		facts.first = table[i].first;
		facts.second = table[i].second;
		check(&table[i], &facts);
	}
}

static void a_shopper_who_had_a_mail_waits_for_the_window(void **state)
{
	const struct row table[] = {
		{ "in the window", H(5), NOT_YET, NOT_YET, STILL, WHY_WINDOW, H(26), 0 },
		{ "just in the window", JUST_BEFORE(H(26)), NOT_YET, NOT_YET, STILL, WHY_WINDOW, H(26), 0 },
		{ "out of the window", H(26), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(30), 0 },
		{ "a day after the window", H(50), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(54), 0 },
		{ "more than a day after the window", JUST_AFTER(H(50)), NOT_YET, NOT_YET, GIVE_UP, WHY_TOO_LATE, 0,
			CLOSED_TOO_LATE },
		{ "before its wait the window does not matter", H(3), NOT_YET, NOT_YET, STILL, WHY_TOO_EARLY, H(4), 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct decision_facts facts = open_at(table[i].now_us);

		facts.last_mail_us = H(2);
		check(&table[i], &facts);
	}
}

static void a_mail_that_others_pushed_back_for_three_days_is_not_sent_any_more(void **state)
{
	const struct row last = { "three days", H(4 + 72), NOT_YET, NOT_YET, STILL, WHY_WINDOW, H(80), 0 };
	const struct row over = { "over", JUST_AFTER(H(4 + 72)), NOT_YET, NOT_YET, GIVE_UP, WHY_TOO_LATE, 0,
		CLOSED_TOO_LATE };
	struct decision_facts facts = open_at(last.now_us);

	(void)state;
	facts.last_mail_us = H(56);
	check(&last, &facts);
	facts.now_us = over.now_us;
	check(&over, &facts);
}

static void a_window_that_the_owner_wrote_holds_between_the_two_mails_of_one_cart(void **state)
{
	const struct row row = { "window", H(24), SENT(H(4)), NOT_YET, STILL, WHY_WINDOW, H(28), 0 };
	const struct row after = { "after", H(28), SENT(H(4)), NOT_YET, SECOND, WHY_DUE, H(52) + SLACK, 0 };
	struct decision_facts facts = open_at(H(24));

	(void)state;
	facts.first = SENT(H(4));
	facts.last_mail_us = H(4);
	facts.window_written = true;
	check(&row, &facts);
	facts.now_us = H(28);
	check(&after, &facts);
}

static void a_window_that_nobody_wrote_keeps_only_other_carts_apart(void **state)
{
	const struct row own = { "own first", H(24), SENT(H(4)), NOT_YET, SECOND, WHY_DUE, H(48) + SLACK, 0 };
	const struct row other = { "other cart's", H(24), SENT(H(4)), NOT_YET, STILL, WHY_WINDOW, H(29), 0 };
	const struct row own_maybe = { "own first, perhaps", H(24), IN(SEND_AMBIGUOUS, H(4)), NOT_YET, SECOND, WHY_DUE,
		H(48) + SLACK, 0 };
	const struct row other_maybe = { "other cart's", H(24), IN(SEND_AMBIGUOUS, H(4)), NOT_YET, STILL, WHY_WINDOW,
		H(29), 0 };
	struct decision_facts facts = open_at(H(24));

	(void)state;
	facts.first = SENT(H(4));
	facts.last_mail_us = H(4);
	check(&own, &facts);
	facts.first = IN(SEND_AMBIGUOUS, H(4)); /* it may have gone, and is not about another cart for that */
	check(&own_maybe, &facts);
	facts.last_mail_us = H(5);
	check(&other_maybe, &facts);
	facts.first = SENT(H(4));
	check(&other, &facts);
}

static void the_owner_gets_every_mail_when_the_shop_mails_the_owner(void **state)
{
	const struct row row = { "mail me", H(4), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(24), 0 };
	struct decision_facts facts = open_at(H(4));

	(void)state;
	facts.mode = MODE_MAIL_ME;
	facts.last_mail_us = H(3);
	check(&row, &facts);
}

/* H(0) is midnight UTC; quiet from 22:00 to 08:00. */
static void in_quiet_hours_the_mail_waits_for_the_next_sending_minute(void **state)
{
	const struct rules rules = { .quiet_count = 1,
		.quiets = { { .days = RULES_EVERY_DAY, .from_minute = 22 * 60, .to_minute = 8 * 60 } } };
	const struct row table[] = {
		{ "night", H(5), NOT_YET, NOT_YET, STILL, WHY_QUIET, H(8), 0 },
		{ "first sending minute", H(8), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(24), 0 },
		{ "evening", JUST_BEFORE(H(22)), NOT_YET, NOT_YET, FIRST, WHY_DUE, JUST_BEFORE(H(26)), 0 },
		{ "night again", H(22), NOT_YET, NOT_YET, STILL, WHY_QUIET, H(32), 0 },
		{ "a day after it could go first", H(32), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(36), 0 },
		{ "more than that", JUST_AFTER(H(32)), NOT_YET, NOT_YET, GIVE_UP, WHY_TOO_LATE, 0, CLOSED_TOO_LATE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct decision_facts facts = open_at(table[i].now_us);

		facts.rules = &rules;
		facts.zone = "Etc/UTC";
		check(&table[i], &facts);
	}
}

static void a_window_that_ends_at_night_defers_to_the_morning(void **state)
{
	const struct rules rules = { .quiet_count = 1,
		.quiets = { { .days = RULES_EVERY_DAY, .from_minute = 22 * 60, .to_minute = 8 * 60 } } };
	const struct row row = { "window, then night", H(10), NOT_YET, NOT_YET, STILL, WHY_WINDOW, H(32), 0 };
	struct decision_facts facts = open_at(H(10));

	(void)state;
	facts.rules = &rules;
	facts.zone = "Etc/UTC";
	facts.last_mail_us = H(1);
	check(&row, &facts);
}

static void a_shop_that_is_observed_moves_on_as_if_mails_had_gone(void **state)
{
	const struct {
		struct row row;
		uint32_t would_step;
		int64_t would_us;
	} table[] = {
		{ { "first", H(4), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(24), 0 }, 0, 0 },
		{ { "then waits", H(5), NOT_YET, NOT_YET, STILL, WHY_TOO_EARLY, H(24), 0 }, 1, H(4) },
		{ { "second", H(24), NOT_YET, NOT_YET, SECOND, WHY_DUE, H(48) + SLACK, 0 }, 1, H(4) },
		{ { "4 h between", H(24), NOT_YET, NOT_YET, STILL, WHY_TOO_EARLY, H(26), 0 }, 1, H(22) },
		{ { "then gives up", H(48) + SLACK, NOT_YET, NOT_YET, GIVE_UP, WHY_BOTH_SENT, 0, CLOSED_GAVE_UP }, 2,
			H(24) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct decision_facts facts = open_at(table[i].row.now_us);

		facts.mode = MODE_OBSERVE;
		facts.would_step = table[i].would_step;
		facts.would_us = table[i].would_us;
		check(&table[i].row, &facts);
	}
}

static void what_would_have_gone_counts_for_nothing_in_a_live_shop(void **state)
{
	const struct row row = { "live", H(5), NOT_YET, NOT_YET, FIRST, WHY_DUE, H(24), 0 };
	struct decision_facts facts = open_at(H(5));

	(void)state;
	facts.would_step = 2;
	facts.would_us = H(4);
	check(&row, &facts);
	facts.mode = MODE_MAIL_ME;
	check(&row, &facts);
}

static void what_is_due_says_since_when(void **state)
{
	struct decision_facts facts = open_at(H(30));

	(void)state;
	assert_int_equal(decision_make(&facts).due_us, H(4));
	facts.last_mail_us = H(2);
	assert_int_equal(decision_make(&facts).due_us, H(26));
	facts.first = SENT(H(23));
	facts.last_mail_us = 0;
	assert_int_equal(decision_make(&facts).due_us, H(27));
}

static void the_grounds_carry_the_numbers(void **state)
{
	struct decision_facts facts = open_at(H(5));
	struct choice choice = { .rules = { .size = SIZE_SMALL } };
	CartState cart = { .total_minor = 3599, .currency = "EUR" };
	struct decision decision = decision_make(&facts);
	char line[EXPLANATION_MAX];

	(void)state;
	assert_string_equal(explanation_line(&facts, &decision, &choice, &cart, line),
		"left 5 h ago, 35.99 EUR is a small cart: waits 4 h then 1 d; first not sent; second not sent; the "
		"wait is over");
	facts.first = SENT(H(4.5));
	facts.stopped = (struct stopped){ .stop = STOP_BOUGHT, .seq = 77, .at_us = H(5) };
	decision = decision_make(&facts);
	assert_non_null(strstr(explanation_line(&facts, &decision, &choice, &cart, line), "first sent 30 min ago"));
	assert_non_null(strstr(line, "bought (message 77)"));
}

static void the_audits_word_is_stable(void **state)
{
	const struct {
		struct decision decision;
		const char *word;
	} table[] = {
		{ { .kind = STILL, .why = WHY_TOO_EARLY }, "still_shopping" },
		{ { .kind = STILL, .why = WHY_QUIET }, "deferred" },
		{ { .kind = STILL, .why = WHY_WINDOW }, "deferred" },
		{ { .kind = FIRST, .say = true }, "first_reminder" },
		{ { .kind = FIRST }, "would_send_first" },
		{ { .kind = SECOND, .say = true }, "second_reminder" },
		{ { .kind = SECOND }, "would_send_second" },
		{ { .kind = GIVE_UP, .why = WHY_BOTH_SENT }, "give_up" },
		{ { .kind = GIVE_UP, .why = WHY_TOO_LATE }, "skipped" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_string_equal(explanation_action(&table[i].decision), table[i].word);
}

static void spans_read_like_speech(void **state)
{
	const struct {
		int64_t us;
		const char *text;
	} table[] = { { 0, "0 s" }, { 59 * US_PER_S, "59 s" }, { 61 * US_PER_S, "1 min" }, { 4 * US_PER_HOUR, "4 h" },
		{ 4 * US_PER_HOUR + 3 * US_PER_MINUTE, "4 h 3 min" }, { US_PER_DAY, "1 d" },
		{ 26 * US_PER_HOUR, "1 d 2 h" } };
	char text[24];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_string_equal(duration_words(table[i].us, text), table[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_moment_of_a_chase_has_its_move),
		cmocka_unit_test(whoever_is_stopped_is_left_alone_whatever_the_wait),
		cmocka_unit_test(a_cart_that_is_not_open_is_left_alone),
		cmocka_unit_test(a_cart_without_an_address_waits_for_one_and_is_closed_when_it_grows_old),
		cmocka_unit_test(without_the_shops_documents_nothing_is_decided),
		cmocka_unit_test(whom_the_owner_does_not_mail_is_not_chased),
		cmocka_unit_test(a_shopper_with_a_newer_cart_is_not_chased_for_this_one),
		cmocka_unit_test(a_shopper_who_had_a_mail_waits_for_the_window),
		cmocka_unit_test(a_mail_that_others_pushed_back_for_three_days_is_not_sent_any_more),
		cmocka_unit_test(a_window_that_the_owner_wrote_holds_between_the_two_mails_of_one_cart),
		cmocka_unit_test(a_window_that_nobody_wrote_keeps_only_other_carts_apart),
		cmocka_unit_test(the_owner_gets_every_mail_when_the_shop_mails_the_owner),
		cmocka_unit_test(in_quiet_hours_the_mail_waits_for_the_next_sending_minute),
		cmocka_unit_test(a_window_that_ends_at_night_defers_to_the_morning),
		cmocka_unit_test(a_shop_that_is_observed_moves_on_as_if_mails_had_gone),
		cmocka_unit_test(what_would_have_gone_counts_for_nothing_in_a_live_shop),
		cmocka_unit_test(what_is_due_says_since_when),
		cmocka_unit_test(the_grounds_carry_the_numbers),
		cmocka_unit_test(the_rules_may_have_one_reminder_or_none),
		cmocka_unit_test(quiet_days_do_not_make_a_mail_late),
		cmocka_unit_test(as_many_mails_as_the_rules_allow_hold_the_next_one_back),
		cmocka_unit_test(the_audits_word_is_stable),
		cmocka_unit_test(spans_read_like_speech),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
