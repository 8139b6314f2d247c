/* test_report_fold.c: what becomes of each cart in the rows that reports are made from */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/carts/report/report.h"
#include "services/carts/report/report_fold.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

/* An alarm is the clock of this service: what came to its end before it is forgotten. */
static void forget(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	report_fold_forget(state, said->shop, alarm->at_us);
}

static const struct service teller = { .name = "teller",
	.remembers = REMEMBERING(REPORT_FOLD_REMEMBERED, REPORT_FOLD_REMEMBERED_OF_PEOPLE, REMEMBERS(alarm, forget)) };

static struct harness *h;

static int fresh(void **state)
{
	(void)state;
	h = harness_new(&teller, 1000);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static CartState *cart_of(const char *id)
{
	static CartState cart; /* large */

	cart = (CartState){ .has_ids = true, .first_seen_us = 10, .abandoned_us = 20, .total_minor = 3500 };
	TEXT_COPY(cart.ids.cart_id, id);
	TEXT_COPY(cart.currency, "EUR");
	return &cart;
}

static void given(const CartState *cart)
{
	GIVEN(h, cart_state, cart, .shop = "demo", .key = cart->ids.cart_id, .version = cart->state_version);
}

#define GIVEN_OUTCOME(topic, id, nth, us, owner)                                                                       \
	GIVEN(h, topic, (&(ReminderOutcome){ .cart_id = id, .step = nth, .at_us = us, .to_owner = owner }),            \
		.shop = "demo", .key = id)

static void given_click(const char *id, uint32_t step, int64_t at_us)
{
	LinkClicked clicked = { .step = step, .at_us = at_us };

	TEXT_COPY(clicked.cart_id, id);
	GIVEN(h, link_clicked, &clicked, .shop = "demo", .key = id);
}

static struct {
	int count;
	char ids[100];
	struct report_fold_row row; /* the last one */
} read;

static void take(const char *cart_id, const struct report_fold_row *row, void *context)
{
	assert_ptr_equal(context, &read);
	read.count++;
	strcat(read.ids, cart_id);
	strcat(read.ids, " ");
	read.row = *row;
}

static const char *rows(void)
{
	memset(&read, 0, sizeof(read));
	report_fold_each(harness_state(h), "demo", take, &read);
	return read.ids;
}

static const struct report_fold_row *only_row(void)
{
	rows();
	assert_int_equal(read.count, 1);
	return &read.row;
}

static void a_row_is_the_cart_as_it_was_last_said(void **state)
{
	CartState *cart = cart_of("c1");

	(void)state;
	given(cart);
	cart->status = CART_BOUGHT;
	cart->closed_reason = CLOSED_OPTED_OUT;
	cart->bought_us = 30;
	cart->closed_us = 40;
	cart->order_total_minor = 5000;
	cart->order_refunded_minor = 700;
	cart->order_cancelled_us = 50;
	cart->wait_override = (WaitOverride){ .first_us = 60, .second_us = 70 };
	cart->has_wait_override = true;
	TEXT_COPY(cart->order_currency, "USD");
	TEXT_COPY(cart->ids.email_hash, "hash");
	given(cart);
	const struct report_fold_row *row = only_row();
	assert_int_equal(row->status, CART_BOUGHT);
	assert_int_equal(row->closed_reason, CLOSED_OPTED_OUT);
	assert_int_equal(row->first_seen_us, 10);
	assert_int_equal(row->abandoned_us, 20);
	assert_int_equal(row->bought_us, 30);
	assert_int_equal(row->closed_us, 40);
	assert_int_equal(row->total_minor, 3500);
	assert_int_equal(row->order_total_minor, 5000);
	assert_int_equal(row->order_refunded_minor, 700);
	assert_int_equal(row->order_cancelled_us, 50);
	assert_int_equal(row->own_first_us, 60);
	assert_int_equal(row->own_second_us, 70);
	assert_string_equal(row->currency, "EUR");
	assert_string_equal(row->order_currency, "USD");
	assert_string_equal(row->address_hash, "hash");
	cart->has_wait_override = false; /* what lies there is none */
	given(cart);
	assert_int_equal(only_row()->own_first_us + only_row()->own_second_us, 0);
}

static void tests_and_merged_carts_are_told_by_nobody(void **state)
{
	CartState *cart;

	(void)state;
	given(cart_of("c3"));
	given(cart_of("c1"));
	cart = cart_of("c2");
	cart->test = true;
	given(cart);
	cart = cart_of("c4");
	cart->closed_reason = CLOSED_MERGED;
	given(cart);
	cart = cart_of("c5");
	cart->first_seen_us = 0; /* nothing but an order is known of it */
	given(cart);
	GIVEN(h, cart_state, cart_of("c6"), .shop = "other", .key = "c6");
	assert_string_equal(rows(), "c1 c3 ");
}

/* Each course of outcomes of one mail, and what it is in the end. */
static void a_sent_mail_stays_sent_whatever_is_heard_of_it(void **state)
{
	static const struct {
		const char *course; /* Sent, Refused, Ambiguous, sKipped */
		enum send_phase phase;
		int nth; /* the one that tells when */
	} cases[] = { { "S", SEND_SENT, 0 }, { "R", SEND_REFUSED, 0 }, { "A", SEND_AMBIGUOUS, 0 },
		{ "K", SEND_SKIPPED, 0 }, { "SR", SEND_SENT, 0 }, { "SA", SEND_SENT, 0 }, { "SK", SEND_SENT, 0 },
		{ "SS", SEND_SENT, 0 }, { "AS", SEND_SENT, 1 }, { "RS", SEND_SENT, 1 }, { "KS", SEND_SENT, 1 },
		{ "AR", SEND_REFUSED, 1 }, { "AK", SEND_AMBIGUOUS, 0 }, { "RK", SEND_REFUSED, 0 },
		{ "KR", SEND_REFUSED, 1 }, { "KK", SEND_SKIPPED, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		gone(NULL);
		fresh(NULL);
		given(cart_of("c1"));
		for (int n = 0; cases[i].course[n]; n++) {
			if (cases[i].course[n] == 'S')
				GIVEN_OUTCOME(reminder_sent, "c1", 1, 100 + n, n == 0);
			else if (cases[i].course[n] == 'R')
				GIVEN_OUTCOME(reminder_refused, "c1", 1, 100 + n, n == 0);
			else if (cases[i].course[n] == 'A')
				GIVEN_OUTCOME(reminder_ambiguous, "c1", 1, 100 + n, n == 0);
			else
				GIVEN_OUTCOME(reminder_skipped, "c1", 1, 100 + n, n == 0);
		}
		assert_int_equal(only_row()->mails[0].phase, cases[i].phase);
		assert_int_equal(only_row()->mails[0].at_us, 100 + cases[i].nth);
		assert_int_equal(only_row()->mails[0].to_owner, cases[i].nth == 0);
		assert_int_equal(only_row()->mails[1].phase, SEND_NONE);
	}
}

static void each_of_the_two_mails_has_its_place(void **state)
{
	(void)state;
	GIVEN_OUTCOME(reminder_sent, "c1", 2, 200, false);
	given(cart_of("c1")); /* whichever comes first */
	GIVEN_OUTCOME(reminder_refused, "c1", 1, 100, false);
	GIVEN_OUTCOME(reminder_sent, "c1", 0, 300, false);
	GIVEN_OUTCOME(reminder_sent, "c1", 3, 400, false);
	assert_int_equal(only_row()->mails[0].phase, SEND_REFUSED);
	assert_int_equal(only_row()->mails[0].at_us, 100);
	assert_int_equal(only_row()->mails[1].phase, SEND_SENT);
	assert_int_equal(only_row()->mails[1].at_us, 200);
}

static void of_many_clicks_the_first_ones_and_the_last_are_kept(void **state)
{
	(void)state;
	given(cart_of("c1"));
	for (uint32_t i = 1; i <= REPORT_FOLD_CLICKS_MAX + 3; i++) {
		given_click("c1", i, 100 + i);
		int count = i < REPORT_FOLD_CLICKS_MAX ? (int)i : REPORT_FOLD_CLICKS_MAX;
		assert_int_equal(only_row()->click_count, count);
		assert_int_equal(only_row()->clicks[0].at_us, 101);
		assert_int_equal(only_row()->clicks[count - 1].at_us, 100 + i);
		assert_int_equal(only_row()->clicks[count - 1].step, i);
	}
	assert_int_equal(only_row()->clicks[REPORT_FOLD_CLICKS_MAX - 2].at_us, 100 + REPORT_FOLD_CLICKS_MAX - 1);
}

static void what_was_mailed_about_merged_carts_is_the_carts(void **state)
{
	CartState *cart = cart_of("c1");

	(void)state;
	cart->merged_from_count = 2;
	TEXT_COPY(cart->merged_from[0], "c2");
	TEXT_COPY(cart->merged_from[1], "c3");
	given(cart);
	GIVEN_OUTCOME(reminder_skipped, "c1", 1, 100, false);
	GIVEN_OUTCOME(reminder_sent, "c2", 1, 110, false);
	GIVEN_OUTCOME(reminder_sent, "c3", 1, 120, false);
	GIVEN_OUTCOME(reminder_ambiguous, "c3", 2, 130, false);
	GIVEN_OUTCOME(reminder_sent, "c9", 2, 140, false);
	given_click("c3", 2, 150);
	given_click("c1", 1, 160);
	assert_int_equal(only_row()->mails[0].phase, SEND_SENT);
	assert_int_equal(only_row()->mails[0].at_us, 110);
	assert_int_equal(only_row()->mails[1].phase, SEND_AMBIGUOUS);
	assert_int_equal(only_row()->click_count, 2);
	assert_int_equal(only_row()->clicks[0].at_us, 160);
	assert_int_equal(only_row()->clicks[1].at_us, 150);
	for (uint32_t i = 0; i < REPORT_FOLD_CLICKS_MAX; i++)
		given_click("c2", 1, 200 + i);
	assert_int_equal(only_row()->click_count, REPORT_FOLD_CLICKS_MAX);
	cart = cart_of("c1"); /* its row names none of them any more: they stay its */
	given(cart);
	assert_int_equal(only_row()->mails[0].at_us, 110);
}

static void given_person(const char *hash, OptoutSource source, int64_t since_us, bool lifted, bool tombstone)
{
	Suppression row = { .source = source, .since_us = since_us, .lifted = lifted };

	TEXT_COPY(row.address_hash, hash);
	GIVEN(h, suppression, &row, .shop = "demo", .key = hash, .version = 1, .tombstone = tombstone);
}

static void given_feedback(FeedbackKind kind, int64_t heard_us)
{
	MailFeedback feedback = { .address_hash = "h", .kind = kind, .heard_us = heard_us };

	GIVEN(h, mail_feedback, &feedback, .shop = "demo", .key = "h");
}

static void assert_people(int64_t from_us, int64_t to_us, uint32_t opted_out, uint32_t complaints, uint32_t bounces)
{
	struct report_fold_people people = report_fold_people(harness_state(h), "demo", from_us, to_us);

	assert_int_equal(people.opted_out, opted_out);
	assert_int_equal(people.complaints, complaints);
	assert_int_equal(people.bounces, bounces);
}

static void people_are_counted_by_what_they_did_themselves(void **state)
{
	(void)state;
	given_person("a", OPTOUT_PAGE, 100, false, false);
	given_person("b", OPTOUT_ONE_CLICK, 100, false, false);
	given_person("c", OPTOUT_OWNER, 100, false, false);
	given_person("d", OPTOUT_IMPORT, 100, false, false);
	given_person("e", OPTOUT_COMPLAINT, 100, false, false);
	given_person("f", OPTOUT_PRIVACY, 100, false, false);
	given_feedback(FEEDBACK_COMPLAINT, 100);
	given_feedback(FEEDBACK_COMPLAINT, 100); /* each mail that is complained about */
	given_feedback(FEEDBACK_BOUNCE_PERMANENT, 100);
	given_feedback(FEEDBACK_BOUNCE_TRANSIENT, 100);
	assert_people(100, 101, 2, 2, 1);
	assert_people(0, 100, 0, 0, 0);
	assert_people(101, 200, 0, 0, 0);
	given_person("a", OPTOUT_PAGE, 100, true, false);
	assert_people(100, 101, 1, 2, 1);
	given_person("b", OPTOUT_ONE_CLICK, 100, false, true);
	assert_people(100, 101, 0, 2, 1);
	assert_int_equal(report_fold_people(harness_state(h), "other", 0, 1000).complaints, 0);
}

static void when_forgotten(int64_t before_us)
{
	GIVEN(h, alarm, (&(Alarm){ .kind = "clock", .at_us = before_us }), .shop = "demo", .key = "clock");
}

/* By the last thing that is known of it. */
static void a_cart_is_forgotten_some_time_after_its_last_word(void **state)
{
	static const size_t moments[] = { offsetof(CartState, first_seen_us), offsetof(CartState, abandoned_us),
		offsetof(CartState, bought_us), offsetof(CartState, closed_us),
		offsetof(CartState, order_cancelled_us) };

	(void)state;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		CartState *cart = cart_of("c1");
		cart->status = CART_CLOSED;
		memcpy((char *)cart + moments[i], &(int64_t){ 500 }, sizeof(int64_t));
		cart->merged_from_count = 1;
		TEXT_COPY(cart->merged_from[0], "c2");
		given(cart);
		given_click("c1", 1, 30);
		when_forgotten(500);
		assert_string_equal(rows(), "c1 ");
		when_forgotten(501);
		assert_string_equal(rows(), "");
		given(cart_of("c1")); /* and nothing is left that another cart of that name would get */
		assert_int_equal(only_row()->click_count, 0);
		GIVEN_OUTCOME(reminder_sent, "c2", 2, 100, false);
		assert_int_equal(only_row()->mails[1].phase, SEND_NONE);
		gone(NULL);
		fresh(NULL);
	}
}

static void an_open_cart_is_not_forgotten(void **state)
{
	CartState *cart = cart_of("c1");

	(void)state;
	given(cart);
	GIVEN(h, cart_state, cart, .shop = "other", .key = "c1");
	when_forgotten(1000);
	assert_string_equal(rows(), "c1 ");
	cart->status = CART_BOUGHT;
	given(cart);
	when_forgotten(1000);
	assert_string_equal(rows(), "");
	report_fold_each(harness_state(h), "other", take, &read);
	assert_int_equal(read.count, 1);
}

static void what_people_did_is_forgotten_with_time(void **state)
{
	(void)state;
	given_person("a", OPTOUT_PAGE, 100, false, false);
	given_feedback(FEEDBACK_COMPLAINT, 101);
	when_forgotten(100);
	assert_people(0, 1000, 1, 1, 0);
	when_forgotten(101);
	assert_people(0, 1000, 0, 1, 0);
	when_forgotten(102);
	assert_people(0, 1000, 0, 0, 0);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, fresh, gone)

/* --- three classes of orders that do not flatter, and what was kept of them --- */

#define H US_PER_HOUR
#define D US_PER_DAY
#define TURN_DEAD_LETTER 0

static const struct shop_windows windows = { .clicked_us = 7 * US_PER_DAY, .mailed_us = 3 * US_PER_DAY };

struct mailed {
	enum send_phase phase;
	int64_t at_us;
	bool to_owner;
};

struct given {
	const char *story;
	struct mailed first, second;
	struct report_fold_click click;
	int64_t bought_us; /* TURN_DEAD_LETTER: not bought */
	enum attribution expected;
};

static const struct given table[] = {
	{ "nothing was bought", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 2 * H }, TURN_DEAD_LETTER, ATTRIBUTION_NONE },
	{ "no mail at all", { 0 }, { 0 }, { 0 }, 9 * H, ATTRIBUTION_ANYWAY },
	{ "mailed, then bought", { SEND_SENT, 1 * H, false }, { 0 }, { 0 }, 9 * H, ATTRIBUTION_MAILED },
	{ "bought in the very moment of the mail", { SEND_SENT, 9 * H, false }, { 0 }, { 0 }, 9 * H,
		ATTRIBUTION_MAILED },
	{ "bought before the mail", { SEND_SENT, 10 * H, false }, { 0 }, { 0 }, 9 * H, ATTRIBUTION_ANYWAY },
	{ "the last moment of the window", { SEND_SENT, 1 * H, false }, { 0 }, { 0 }, 1 * H + 3 * D,
		ATTRIBUTION_MAILED },
	{ "a moment later", { SEND_SENT, 1 * H, false }, { 0 }, { 0 }, 1 * H + 3 * D + 1, ATTRIBUTION_ANYWAY },
	{ "the second mail opens a window of its own", { SEND_SENT, 1 * H, false }, { SEND_SENT, 25 * H, false }, { 0 },
		1 * H + 3 * D + 1, ATTRIBUTION_MAILED },
	{ "clicked, then bought", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 2 * H }, 9 * H, ATTRIBUTION_CLICKED },
	{ "clicked after buying", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 10 * H }, 9 * H, ATTRIBUTION_MAILED },
	{ "clicked, and the mail's window is over", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 2 * H }, 6 * D,
		ATTRIBUTION_CLICKED },
	{ "clicked, and its window is over too", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 2 * H }, 2 * H + 7 * D + 1,
		ATTRIBUTION_ANYWAY },
	{ "a click of a mail that never went", { SEND_SKIPPED, 1 * H, false }, { 0 }, { 1, 2 * H }, 9 * H,
		ATTRIBUTION_ANYWAY },
	{ "a click from before the mail", { SEND_SENT, 3 * H, false }, { 0 }, { 1, 2 * H }, 9 * H, ATTRIBUTION_MAILED },
	{ "a mail scanner's click", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 1 * H + 59 * US_PER_S }, 9 * H,
		ATTRIBUTION_MAILED },
	{ "the first click that may be a person's", { SEND_SENT, 1 * H, false }, { 0 }, { 1, 1 * H + 60 * US_PER_S },
		9 * H, ATTRIBUTION_CLICKED },
	{ "a click of the other mail", { SEND_SENT, 1 * H, false }, { 0 }, { 2, 2 * H }, 9 * H, ATTRIBUTION_MAILED },
	{ "a click of no mail", { SEND_SENT, 1 * H, false }, { 0 }, { 3, 2 * H }, 9 * H, ATTRIBUTION_MAILED },
	{ "the owner got the mail", { SEND_SENT, 1 * H, true }, { 0 }, { 0 }, 9 * H, ATTRIBUTION_ANYWAY },
	{ "the owner tried the link", { SEND_SENT, 1 * H, true }, { 0 }, { 1, 2 * H }, 9 * H, ATTRIBUTION_ANYWAY },
	{ "a refused mail", { SEND_REFUSED, 1 * H, false }, { 0 }, { 0 }, 9 * H, ATTRIBUTION_ANYWAY },
	{ "nobody knows whether it arrived", { SEND_AMBIGUOUS, 1 * H, false }, { 0 }, { 0 }, 9 * H,
		ATTRIBUTION_ANYWAY },
	{ "a click tells that it did", { SEND_AMBIGUOUS, 1 * H, false }, { 0 }, { 1, 2 * H }, 9 * H,
		ATTRIBUTION_CLICKED },
};

static struct report_fold_row row_of(const struct given *given)
{
	const struct mailed *mails[] = { &given->first, &given->second };
	struct report_fold_row row = { .status = given->bought_us ? CART_BOUGHT : CART_OPEN,
		.bought_us = given->bought_us };

	for (int i = 0; i < 2; i++)
		row.mails[i] = (struct report_fold_mail){ mails[i]->phase, mails[i]->at_us, mails[i]->to_owner };
	row.clicks[0] = given->click;
	row.click_count = given->click.at_us != 0;
	return row;
}

static void an_order_is_credited_only_with_what_can_have_led_to_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct report_fold_row row = row_of(&table[i]);

		if (attribution_of(&row, &windows) != table[i].expected)
			fail_msg("%s: %d", table[i].story, (int)attribution_of(&row, &windows));
	}
}

static void the_windows_are_the_shops(void **state)
{
	struct report_fold_row row = row_of(&table[2]);
	const struct shop_windows none = { .clicked_us = US_PER_DAY, .mailed_us = US_PER_HOUR };

	(void)state;
	assert_int_equal(attribution_of(&row, &none), ATTRIBUTION_ANYWAY);
}

static void what_went_back_is_no_money_won(void **state)
{
	const struct {
		const char *story;
		int64_t total, refunded, cancelled_us, kept;
		bool taken_back;
	} orders[] = {
		{ "kept", 2000, 0, 0, 2000, false },
		{ "some went back", 2000, 500, 0, 1500, false },
		{ "all went back", 2000, 2000, 0, 0, true },
		{ "more than there was", 2000, 2500, 0, 0, true },
		{ "cancelled", 2000, 0, 7, 0, true },
		{ "cancelled after a refund", 2000, 500, 7, 0, true },
		{ "an order for nothing", 0, 0, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct report_fold_row row = { .status = CART_BOUGHT,
			.total_minor = 9999,
			.currency = "USD",
			.order_total_minor = orders[i].total,
			.order_currency = "EUR",
			.order_refunded_minor = orders[i].refunded,
			.order_cancelled_us = orders[i].cancelled_us };
		struct attribution_money money = attribution_money(&row);

		assert_string_equal(money.currency, "EUR");
		if (money.total_minor - money.back_minor != orders[i].kept ||
			attribution_taken_back(&row) != orders[i].taken_back)
			fail_msg("%s: %lld", orders[i].story, (long long)(money.total_minor - money.back_minor));
	}
}

static void an_order_for_whose_currency_there_is_no_place_is_counted(void **state)
{
	const struct shop shop = { .name = "demo" };
	const struct period period = { .from_us = 0, .to_us = 1000 };
	struct report_figures figures;

	(void)state;
	for (int i = 0; i < REPORT_CURRENCIES_MAX + 2; i++) {
		char id[8], currency[4] = { 'A', 'A', (char)('A' + i), '\0' };

		snprintf(id, sizeof(id), "c%d", i);
		CartState *cart = cart_of(id);
		cart->status = CART_BOUGHT;
		cart->bought_us = 30;
		cart->order_total_minor = 100;
		TEXT_COPY(cart->order_currency, currency);
		given(cart);
	}
	report_figures_count(harness_state(h), &shop, &period, &figures);
	assert_int_equal(figures.orders[ATTRIBUTION_ANYWAY], REPORT_CURRENCIES_MAX + 2);
	assert_int_equal(figures.sums_left_out, 2);
	assert_true(figures.sums[ATTRIBUTION_ANYWAY][REPORT_CURRENCIES_MAX - 1].currency[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_row_is_the_cart_as_it_was_last_said),
		SCENE(tests_and_merged_carts_are_told_by_nobody),
		SCENE(a_sent_mail_stays_sent_whatever_is_heard_of_it),
		SCENE(each_of_the_two_mails_has_its_place),
		SCENE(of_many_clicks_the_first_ones_and_the_last_are_kept),
		SCENE(what_was_mailed_about_merged_carts_is_the_carts),
		SCENE(people_are_counted_by_what_they_did_themselves),
		SCENE(a_cart_is_forgotten_some_time_after_its_last_word),
		SCENE(an_open_cart_is_not_forgotten),
		SCENE(what_people_did_is_forgotten_with_time),
		cmocka_unit_test(an_order_is_credited_only_with_what_can_have_led_to_it),
		cmocka_unit_test(the_windows_are_the_shops),
		cmocka_unit_test(what_went_back_is_no_money_won),
		cmocka_unit_test_setup_teardown(an_order_for_whose_currency_there_is_no_place_is_counted, fresh, gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
