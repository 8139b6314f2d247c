/* test_polishing.c: a model is asked for a better opening line, and what that cost is on record however the mail ends */
#include "services/carts/letter/polish.h"
#include "tests/service/sender/given.h"

static struct harness *given_model(void)
{
	struct harness *h = given_shop();

	given_policy(h, "polish = yes\n");
	sender_here.polish = (struct model_use){ .is_on = true,
		.nano_usd_per_token_in = 1000,
		.nano_usd_per_token_out = 5000,
		.budget = { .nano_usd = INT64_C(15000000000), .tokens = 10000 } };
	return h;
}

/* The model has answered, and the mail is what runs now. */
static struct harness *given_polished(void)
{
	struct harness *h = given_model();
	ReminderDue due = due_reminder(1);
	struct model_answer answer = {
		.answered = true, .text = (char *)"Your basket is still here.", .tokens_in = 500, .tokens_out = 60
	};

	assert_int_equal(when_due(h, &due), TURN_PENDING);
	assert_string_equal(((const struct model_request *)harness_effect_request(h))->name, POLISH_MODEL);
	assert_int_equal(harness_result(h, &answer, CLAIM_NONE), TURN_PENDING);
	assert_int_equal(harness_count(h, NULL), 0);
	return h;
}

static void said_cost(struct harness *h)
{
	ModelUsed used;

	assert_int_equal(harness_count(h, &topic_model_used), 1);
	assert_true(harness_said(h, &topic_model_used, 0, &used, NULL));
	assert_string_equal(used.purpose, POLISH_MODEL);
	assert_string_equal(used.cart_id, "c1");
	assert_int_equal(used.cost_nano_usd, 500 * 1000 + 60 * 5000);
}

static void the_cost_is_said_with_each_outcome(void **state)
{
	static const struct {
		enum mail_end end;
		enum verdict verdict;
	} cases[] = { { MAIL_SENT, TURN_DONE }, { MAIL_NOT_SENT, TURN_RETRY }, { MAIL_LATER, TURN_RETRY },
		{ MAIL_REFUSED, TURN_DONE }, { MAIL_UNKNOWN, TURN_DONE } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given_polished();

		assert_int_equal(when_sent(h, cases[i].end, "words"), cases[i].verdict);
		said_cost(h);
		harness_free(h);
	}
}

static void the_cost_is_said_if_no_mail_server_can_be_reached(void **state)
{
	const struct mail_result away = {
		.end = MAIL_NOT_SENT, .transport = "smtp", .words = "Connection refused", .no_server = true
	};
	struct harness *h = given_polished();

	(void)state;
	assert_int_equal(harness_result(h, &away, CLAIM_NONE), TURN_RETRY);
	said_cost(h);
	assert_int_equal(harness_count(h, &topic_reminder_released), 0);
	harness_free(h);
}

static void the_cost_is_said_if_the_claim_is_refused(void **state)
{
	const struct mail_result dropped = { .end = MAIL_NOT_SENT };
	struct harness *h = given_polished();

	(void)state;
	assert_int_equal(harness_result(h, &dropped, CLAIM_REFUSED), TURN_RETRY);
	said_cost(h);
	harness_free(h);
}

/* Whatever is known of the other claim: nothing yet, its outcome, that it came to nothing, or that the cart was bought. */
static void the_cost_is_said_if_another_process_has_the_claim(void **state)
{
	const struct mail_result dropped = { .end = MAIL_NOT_SENT };

	(void)state;
	for (int known = 0; known < 5; known++) {
		struct harness *h = given_polished();

		if (known > 0 && known < 4)
			given_claim(h, harness_message_seq(h), "c1", 1, "another-run");
		if (known == 2)
			given_outcome(h, &topic_reminder_sent, "c1", 1, NOON_US);
		if (known == 3)
			given_outcome(h, &topic_reminder_released, "c1", 1, NOON_US);
		if (known == 4)
			given_checkout(h);
		assert_int_equal(harness_result(h, &dropped, CLAIM_DUPLICATE),
			known == 2 || known == 4 ? TURN_DONE : TURN_RETRY);
		said_cost(h);
		harness_free(h);
	}
}

static void the_cost_is_said_if_the_mail_may_not_go_any_more(void **state)
{
	struct harness *h = given_model();
	ReminderDue due = due_reminder(1);
	struct model_answer answer = {
		.answered = true, .text = (char *)"Your basket is still here.", .tokens_in = 500, .tokens_out = 60
	};

	(void)state;
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	given_checkout(h);
	assert_int_equal(harness_result(h, &answer, CLAIM_NONE), TURN_DONE);
	said_cost(h);
	said_outcome(h, &topic_reminder_skipped);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cost_is_said_with_each_outcome),
		cmocka_unit_test(the_cost_is_said_if_no_mail_server_can_be_reached),
		cmocka_unit_test(the_cost_is_said_if_the_claim_is_refused),
		cmocka_unit_test(the_cost_is_said_if_another_process_has_the_claim),
		cmocka_unit_test(the_cost_is_said_if_the_mail_may_not_go_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
