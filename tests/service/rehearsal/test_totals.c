/* test_totals.c: what became of each step: which messages tell it, and which of several ends counts */
#include "bus/base/clock.h"
#include "services/carts/rehearsal/totals.h"
#include "tests/unit/cmocka_all.h"
#include <pb_encode.h>
#include <stdio.h>
#include <string.h>

enum { LATER_US = 7 };

static struct totals *totals;

static int setup(void **state)
{
	(void)state;
	totals = totals_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	totals_free(totals);
	return 0;
}

static void hear(const struct topic *topic, const void *message, bool really)
{
	static uint8_t bytes[4096];
	pb_ostream_t stream = pb_ostream_from_buffer(bytes, sizeof(bytes));
	const struct message_meta said = { .topic = topic->name, .shop = "demo", .key = "c1", .idem = "", .trace = "" };

	assert_true(pb_encode(&stream, topic->message, message));
	totals_hear(totals, &said, BYTES(bytes, stream.bytes_written), really);
}

static void hear_outcome(const struct topic *topic, uint32_t step, int64_t at_us, bool really)
{
	ReminderOutcome outcome = { .cart_id = "c1", .address_hash = "hash", .step = step, .at_us = at_us };

	hear(topic, &outcome, really);
}

static void hear_audit(const char *action, int64_t at_us, bool really)
{
	Audit audit = { .cart_id = "c1", .address_hash = "hash", .at_us = at_us };

	snprintf(audit.action, sizeof(audit.action), "%s", action);
	hear(&topic_audit, &audit, really);
}

/* "c1/1 was 6@5 would 0@0", for each step */
static void print_step(const struct rehearsed *step, void *context)
{
	char *text = context;
	size_t used = strlen(text);

	snprintf(text + used, 400 - used, "%s/%d %s was %d@%lld would %d@%lld\n", step->cart_id, step->step,
		step->address_hash, (int)step->was.end, (long long)step->was.at_us, (int)step->would.end,
		(long long)step->would.at_us);
}

static void must_be(const char *expected)
{
	char text[400] = "";

	totals_each(totals, print_step, text);
	assert_string_equal(text, expected);
}

static void each_outcome_is_an_end_of_its_step(void **state)
{
	static const struct {
		const struct topic *topic;
		enum step_end end;
	} table[] = { { &topic_reminder_skipped, STEP_SKIPPED }, { &topic_reminder_refused, STEP_REFUSED },
		{ &topic_reminder_ambiguous, STEP_MAYBE }, { &topic_reminder_sent, STEP_SENT } };
	char expected[100];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		totals_free(totals);
		totals = totals_new();
		hear_outcome(table[i].topic, 2, 5, true);
		snprintf(expected, sizeof(expected), "c1/2 hash was %d@5 would 0@0\n", (int)table[i].end);
		must_be(expected);
	}
}

static void a_mail_to_the_owner_is_an_end_of_its_own(void **state)
{
	ReminderOutcome outcome = { .cart_id = "c1", .address_hash = "hash", .step = 1, .to_owner = true, .at_us = 5 };

	(void)state;
	hear(&topic_reminder_refused, &outcome, false);
	must_be("c1/1 hash was 0@0 would 3@5\n");
	hear(&topic_reminder_sent, &outcome, false);
	must_be("c1/1 hash was 0@0 would 5@5\n");
}

static void in_an_observed_shop_the_audit_tells_both_steps_and_nothing_else_does(void **state)
{
	(void)state;
	hear_audit("still_shopping", 3, true);
	hear_audit("first_reminder", 4, true);
	must_be("");
	hear_audit("would_send_first", 5, true);
	must_be("c1/1 hash was 2@5 would 0@0\n");
	hear_audit("would_send_second", 6, false);
	must_be("c1/1 hash was 2@5 would 0@0\n"
		"c1/2 hash was 0@0 would 2@6\n");
}

static void of_several_ends_the_furthest_counts_and_of_equal_ones_the_first(void **state)
{
	(void)state;
	hear_audit("would_send_first", 5, true);
	hear_audit("would_send_first", 5 + LATER_US, true);
	must_be("c1/1 hash was 2@5 would 0@0\n");
	hear_outcome(&topic_reminder_ambiguous, 1, 20, true);
	hear_outcome(&topic_reminder_refused, 1, 30, true);
	must_be("c1/1 hash was 4@20 would 0@0\n");
	hear_outcome(&topic_reminder_sent, 1, 40, true);
	hear_outcome(&topic_reminder_sent, 1, 50, true);
	must_be("c1/1 hash was 6@40 would 0@0\n");
}

static void history_and_rehearsal_are_apart(void **state)
{
	(void)state;
	hear_outcome(&topic_reminder_sent, 1, 40, true);
	hear_outcome(&topic_reminder_skipped, 1, 60, false);
	must_be("c1/1 hash was 6@40 would 1@60\n");
}

static void what_cannot_be_read_is_passed_over(void **state)
{
	const struct message_meta said = { .topic = topic_reminder_sent.name, .shop = "demo", .key = "c1" },
				  audit = { .topic = topic_audit.name, .shop = "demo", .key = "c1" };

	(void)state;
	totals_hear(totals, &said, bytes_of("\xff\xff"), true);
	totals_hear(totals, &audit, bytes_of("\xff\xff"), true);
	must_be("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_outcome_is_an_end_of_its_step, setup, teardown),
		cmocka_unit_test_setup_teardown(a_mail_to_the_owner_is_an_end_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(
			in_an_observed_shop_the_audit_tells_both_steps_and_nothing_else_does, setup, teardown),
		cmocka_unit_test_setup_teardown(
			of_several_ends_the_furthest_counts_and_of_equal_ones_the_first, setup, teardown),
		cmocka_unit_test_setup_teardown(history_and_rehearsal_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_passed_over, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
