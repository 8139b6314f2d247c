/* test_unsub.c: the one list of people who must not be mailed */
#include "bus/actor/sim/harness.h"
#include "proto/platform_topics.h"
#include "services/platform/unsub/unsub.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static struct harness *fresh(void)
{
	return harness_new(&unsub, 1000);
}

static enum verdict ask(struct harness *h, const char *shop, OptoutSource source)
{
	OptoutRequest asked = { .address_hash = "h", .source = source, .heard_us = 900, .cart_id = "c1" };

	return WHEN(h, optout_request, &asked, .shop = shop, .key = "h");
}

static enum verdict act(struct harness *h, AdminVerb verb, const char *address_hash, const char *reason)
{
	AdminAction action = { .verb = verb, .who = "anna", .at_us = 950 };

	strcpy(action.address_hash, address_hash);
	strcpy(action.reason, reason);
	return WHEN(h, admin_action, &action, .shop = "demo", .key = address_hash);
}

static void a_shopper_who_said_no_is_listed_once_with_the_first_reason(void **state)
{
	struct harness *h = fresh();
	struct message_meta said;
	Suppression row;
	Audit audit;

	(void)state;
	assert_int_equal(ask(h, "demo", OPTOUT_ONE_CLICK), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 2);
	assert_true(harness_said(h, &topic_suppression, 0, &row, &said));
	assert_string_equal(row.address_hash, "h");
	assert_int_equal(row.source, OPTOUT_ONE_CLICK);
	assert_int_equal(row.since_us, 900);
	assert_false(row.lifted);
	assert_string_equal(said.shop, "demo");
	assert_string_equal(said.key, "h");
	assert_int_equal(said.version, 1);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_string_equal(audit.action, "unsubscribed");
	assert_string_equal(audit.cart_id, "c1");

	assert_int_equal(ask(h, "demo", OPTOUT_PAGE), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void the_same_address_in_another_shop_is_another_row(void **state)
{
	struct harness *h = fresh();

	(void)state;
	ask(h, "demo", OPTOUT_PAGE);
	assert_int_equal(ask(h, "other", OPTOUT_PAGE), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_suppression), 1);
	harness_free(h);
}

static void complaints_and_hard_bounces_list_and_a_full_mailbox_does_not(void **state)
{
	const struct {
		FeedbackKind kind;
		size_t rows;
		OptoutSource source;
		const char *action;
	} table[] = { { FEEDBACK_COMPLAINT, 1, OPTOUT_COMPLAINT, "unsubscribed" },
		{ FEEDBACK_BOUNCE_PERMANENT, 1, OPTOUT_BOUNCE, "unsubscribed" },
		{ FEEDBACK_BOUNCE_TRANSIENT, 0, 0, "bounced" } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = fresh();
		MailFeedback feedback = { .address_hash = "h", .kind = table[i].kind, .detail = "550 no such user" };
		Suppression row;
		Audit audit;

		assert_int_equal(WHEN(h, mail_feedback, &feedback, .shop = "demo", .key = "h"), TURN_DONE);
		assert_int_equal(harness_count(h, &topic_suppression), table[i].rows);
		if (harness_said(h, &topic_suppression, 0, &row, NULL))
			assert_int_equal(row.source, table[i].source);
		assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
		assert_string_equal(audit.action, table[i].action);
		harness_free(h);
	}
}

static void every_transient_bounce_is_counted(void **state)
{
	struct harness *h = fresh();
	MailFeedback feedback = { .address_hash = "h", .kind = FEEDBACK_BOUNCE_TRANSIENT };

	(void)state;
	for (int i = 0; i < 3; i++) {
		WHEN(h, mail_feedback, &feedback, .shop = "demo", .key = "h");
		assert_int_equal(harness_count(h, &topic_audit), 1);
	}
	harness_free(h);
}

static void only_a_person_with_a_reason_takes_somebody_off_the_list(void **state)
{
	struct harness *h = fresh();
	struct message_meta said;
	Suppression row;
	Audit audit;

	(void)state;
	ask(h, "demo", OPTOUT_PAGE);
	assert_int_equal(act(h, ADMIN_LIFT_SUPPRESSION, "h", ""), TURN_DEAD_LETTER);
	assert_string_equal(harness_reason(h), "lifting a suppression needs a reason");
	assert_int_equal(act(h, ADMIN_LIFT_SUPPRESSION, "", "asked by phone"), TURN_DEAD_LETTER);
	assert_int_equal(act(h, ADMIN_LIFT_SUPPRESSION, "h", "asked by phone"), TURN_DONE);
	assert_true(harness_said(h, &topic_suppression, 0, &row, &said));
	assert_true(row.lifted);
	assert_int_equal(row.source, OPTOUT_PAGE); /* history stays */
	assert_int_equal(row.since_us, 900);
	assert_int_equal(said.version, 2);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_string_equal(audit.action, "suppression_lifted");
	assert_string_equal(audit.who, "anna");
	assert_string_equal(audit.grounds, "asked by phone");
	assert_int_equal(act(h, ADMIN_LIFT_SUPPRESSION, "h", "again"), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void an_opt_out_after_a_lift_counts_again(void **state)
{
	struct harness *h = fresh();
	struct message_meta said;
	Suppression row;

	(void)state;
	ask(h, "demo", OPTOUT_PAGE);
	act(h, ADMIN_LIFT_SUPPRESSION, "h", "asked by phone");
	assert_int_equal(ask(h, "demo", OPTOUT_ONE_CLICK), TURN_DONE);
	assert_true(harness_said(h, &topic_suppression, 0, &row, &said));
	assert_false(row.lifted);
	assert_int_equal(row.source, OPTOUT_ONE_CLICK);
	assert_int_equal(said.version, 3);
	harness_free(h);
}

static enum verdict take_back(struct harness *h, int64_t listed_by_us)
{
	AdminAction action = { .verb = ADMIN_TAKE_BACK,
		.address_hash = "h",
		.who = "shopper",
		.reason = "the shopper took it back",
		.at_us = 950,
		.listed_by_us = listed_by_us };

	return WHEN(h, admin_action, &action, .shop = "demo", .key = "h");
}

static enum verdict say_no_as(struct harness *h, OptoutSource source)
{
	MailFeedback feedback = { .address_hash = "h", .heard_us = 900 };
	PrivacyRequest erase = { .request_id = "p1", .address_hash = "h", .heard_us = 900 };

	switch (source) {
	case OPTOUT_COMPLAINT:
		return WHEN(h, mail_feedback, &feedback, .shop = "demo", .key = "h");
	case OPTOUT_BOUNCE:
		feedback.kind = FEEDBACK_BOUNCE_PERMANENT;
		return WHEN(h, mail_feedback, &feedback, .shop = "demo", .key = "h");
	case OPTOUT_OWNER:
		return act(h, ADMIN_UNSUBSCRIBE, "h", "rang us up");
	case OPTOUT_PRIVACY:
		return WHEN(h, privacy_request, &erase, .shop = "demo", .key = "p1");
	case OPTOUT_PAGE:
	case OPTOUT_ONE_CLICK:
	case OPTOUT_IMPORT:
		break;
	}
	return ask(h, "demo", source);
}

static const OptoutSource every_source[] = { OPTOUT_PAGE, OPTOUT_ONE_CLICK, OPTOUT_OWNER, OPTOUT_COMPLAINT,
	OPTOUT_BOUNCE, OPTOUT_PRIVACY, OPTOUT_IMPORT };
enum { SOURCES = sizeof(every_source) / sizeof(*every_source) };

static void every_record_says_its_source_and_every_audit_who_and_what_was_before(void **state)
{
	static const char *const who[] = { "shopper", "shopper", "anna", "shopper", "mail server", "storefront",
		"importer" };

	(void)state;
	for (size_t i = 0; i < SOURCES; i++) {
		struct harness *h = fresh();
		Suppression row;
		Audit audit;

		assert_int_equal(say_no_as(h, every_source[i]), TURN_DONE);
		assert_int_equal(harness_count(h, &topic_suppression), 1);
		assert_true(harness_said(h, &topic_suppression, 0, &row, NULL));
		assert_int_equal(row.source, every_source[i]);
		assert_true(row.reason[0]);
		assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
		assert_string_equal(audit.action, "unsubscribed");
		assert_string_equal(audit.who, who[i]);
		assert_string_equal(audit.before, "not listed");
		assert_int_equal(strncmp(audit.after, "listed: ", 8), 0);
		harness_free(h);
	}
}

static void an_import_names_who_ran_it(void **state)
{
	struct harness *h = fresh();
	OptoutRequest asked = { .address_hash = "h", .source = OPTOUT_IMPORT, .heard_us = 900, .who = "bert" };
	Audit audit;

	(void)state;
	assert_int_equal(WHEN(h, optout_request, &asked, .shop = "demo", .key = "h"), TURN_DONE);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_string_equal(audit.who, "bert");
	harness_free(h);
}

static void the_shopper_takes_back_the_pages_word_and_no_other(void **state)
{
	(void)state;
	for (size_t i = 0; i < SOURCES; i++) {
		struct harness *h = fresh();
		bool page = every_source[i] == OPTOUT_PAGE;
		Audit audit;

		say_no_as(h, every_source[i]);
		assert_int_equal(take_back(h, 5000), TURN_DONE);
		assert_int_equal(harness_count(h, &topic_suppression), page ? 1 : 0);
		assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
		assert_string_equal(audit.action, page ? "suppression_lifted" : "undo_refused");
		assert_string_equal(audit.who, "shopper");
		harness_free(h);
	}
}

static void whatever_else_is_heard_after_the_page_cannot_be_taken_back_any_more(void **state)
{
	(void)state;
	for (size_t i = 1; i < SOURCES; i++) {
		struct harness *h = fresh();
		Suppression row;

		ask(h, "demo", OPTOUT_PAGE);
		assert_int_equal(say_no_as(h, every_source[i]), TURN_DONE);
		assert_true(harness_said(h, &topic_suppression, 0, &row, NULL));
		assert_int_equal(row.source, every_source[i]);
		assert_int_equal(row.since_us, 900); /* since when nobody mails stays */
		take_back(h, 5000);
		assert_int_equal(harness_count(h, &topic_suppression), 0);
		harness_free(h);
	}
}

static void an_old_form_does_not_take_back_a_later_word(void **state)
{
	struct harness *h = fresh();

	(void)state;
	ask(h, "demo", OPTOUT_PAGE);
	take_back(h, 899);
	assert_int_equal(harness_count(h, &topic_suppression), 0);
	take_back(h, 900);
	assert_int_equal(harness_count(h, &topic_suppression), 1);
	take_back(h, 900);
	assert_int_equal(harness_count(h, NULL), 0); /* twice is once */
	harness_free(h);
}

static void the_owner_unsubscribes_somebody(void **state)
{
	struct harness *h = fresh();
	Suppression row;

	(void)state;
	assert_int_equal(act(h, ADMIN_UNSUBSCRIBE, "h", "rang us up"), TURN_DONE);
	assert_true(harness_said(h, &topic_suppression, 0, &row, NULL));
	assert_int_equal(row.source, OPTOUT_OWNER);
	assert_string_equal(row.reason, "rang us up");
	harness_free(h);
}

static void actions_about_one_cart_are_not_the_lists_business(void **state)
{
	const AdminVerb verbs[] = { ADMIN_SUPPRESS_CART, ADMIN_WRITE_OFF, ADMIN_OVERRIDE_WAIT };
	struct harness *h = fresh();

	(void)state;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		assert_int_equal(act(h, verbs[i], "h", ""), TURN_DONE);
		assert_int_equal(harness_count(h, NULL), 0);
	}
	harness_free(h);
}

static void what_names_no_address_goes_to_the_dead_letters(void **state)
{
	struct harness *h = fresh();
	OptoutRequest asked = { .source = OPTOUT_PAGE };

	(void)state;
	assert_int_equal(WHEN(h, optout_request, &asked, .shop = "demo", .key = "h"), TURN_DEAD_LETTER);
	assert_int_equal(harness_count(h, NULL), 0);
	assert_int_equal(act(h, ADMIN_UNSUBSCRIBE, "", "by cart"), TURN_DEAD_LETTER);
	harness_free(h);
}

static void a_late_row_does_not_undo_a_lift(void **state)
{
	struct harness *h = fresh();

	(void)state;
	GIVEN(h, suppression, &((Suppression){ .address_hash = "h", .lifted = true }), .shop = "demo", .key = "h",
		.version = 2);
	GIVEN(h, suppression, &((Suppression){ .address_hash = "h" }), .shop = "demo", .key = "h", .version = 1);
	assert_int_equal(ask(h, "demo", OPTOUT_PAGE), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_suppression), 1);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shopper_who_said_no_is_listed_once_with_the_first_reason),
		cmocka_unit_test(the_same_address_in_another_shop_is_another_row),
		cmocka_unit_test(complaints_and_hard_bounces_list_and_a_full_mailbox_does_not),
		cmocka_unit_test(every_transient_bounce_is_counted),
		cmocka_unit_test(only_a_person_with_a_reason_takes_somebody_off_the_list),
		cmocka_unit_test(an_opt_out_after_a_lift_counts_again),
		cmocka_unit_test(every_record_says_its_source_and_every_audit_who_and_what_was_before),
		cmocka_unit_test(an_import_names_who_ran_it),
		cmocka_unit_test(the_shopper_takes_back_the_pages_word_and_no_other),
		cmocka_unit_test(whatever_else_is_heard_after_the_page_cannot_be_taken_back_any_more),
		cmocka_unit_test(an_old_form_does_not_take_back_a_later_word),
		cmocka_unit_test(the_owner_unsubscribes_somebody),
		cmocka_unit_test(actions_about_one_cart_are_not_the_lists_business),
		cmocka_unit_test(what_names_no_address_goes_to_the_dead_letters),
		cmocka_unit_test(a_late_row_does_not_undo_a_lift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
