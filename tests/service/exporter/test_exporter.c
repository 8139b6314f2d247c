/* test_exporter.c: the carts of the local day that just ended, once */
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/carts/exporter/exporter.h"
#include "services/kit/effect/file_driver.h"
#include "services/kit/web/admin_link.h"
#include "tests/service/exporter/given.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>

#define HEADER                                                                                                         \
	"cart,status,next_step,next_at,reason,abandoned,total,currency,first_mail,first_outcome,second_mail,"          \
	"second_outcome,bought,kept,order_currency,credit,suppress_cart,write_off,unsubscribe\r\n"

static void given_sent(struct harness *h, const char *cart_id, uint32_t step, int64_t at_us)
{
	ReminderOutcome sent = { .step = step, .attempt = 1, .at_us = at_us };
	TEXT_COPY(sent.cart_id, cart_id);
	GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = cart_id);
}

static void expect_file(struct harness *h, const char *path, const char *content)
{
	const struct file_request *file = harness_effect_request(h);
	assert_non_null(file);
	assert_string_equal(file->path, path);
	assert_string_equal(buffer_text((struct buffer *)&file->content), content);
}

static void the_day_that_ended_is_written_with_what_became_of_each_cart(void **state)
{
	struct harness *h = given_shop();
	CartState bought = cart_of("b", berlin(24, 9, 0)), open = cart_of("=o\"x", berlin(24, 23, 59));
	(void)state;
	given_cart(h, &bought);
	given_sent(h, "b", 1, berlin(24, 11, 0));
	bought.status = CART_BOUGHT;
	bought.bought_us = berlin(24, 12, 30);
	given_cart(h, &bought);
	given_cart(h, &open);
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	expect_file(h, "/exports/demo/2026-10-24.csv",
		HEADER "\"'=o\"\"x\",\"open\",wait for an address,,\"\",2026-10-24 23:59:00,12.50,EUR,,,,,,,,,,,\r\n"
		       "\"b\",\"bought\",,,\"\",2026-10-24 09:00:00,12.50,EUR,2026-10-24 11:00:00,sent,,,2026-10-24 "
		       "12:30:00,12.50,EUR,mailed then bought,,,\r\n");
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
	ExportDone done;
	assert_true(harness_said(h, &topic_export_done, 0, &done, NULL));
	assert_string_equal(done.day, "2026-10-24");
	assert_int_equal(done.carts, 2);
	assert_int_equal(done.mails, 1);
	assert_int_equal(harness_count(h, &topic_audit), 1);
	harness_free(h);
}

static void given_rules(struct harness *h)
{
	Document rules = { .version = 1, .kind = "rules", .digest = "r1" };
	TEXT_COPY(rules.text,
		"Small carts (under 40 EUR): remind after 4 hours, then after 24. Medium carts: 2 hours, then "
		"22. Big carts (over 150 EUR): 1 hour, then 20.");
	GIVEN(h, document, &rules, .shop = "demo", .key = "rules", .version = 1);
}

static void an_open_cart_says_what_comes_next_and_why_and_how_to_act(void **state)
{
	static const char key[] = "0123456789abcdef0123456789abcdef";
	struct harness *h = given_shop();
	CartState cart = cart_of("c", berlin(24, 9, 0));
	Audit audit = { .action = "deferred", .cart_id = "c", .at_us = berlin(24, 23, 0), .next_us = berlin(25, 8, 0) };
	(void)state;
	exporter_here = exporter_of("/exports", "https://carts.example/", bytes_of(key));
	given_rules(h);
	TEXT_COPY(cart.ids.email_hash, "hash");
	given_cart(h, &cart);
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	const char *csv = buffer_text(&((struct file_request *)harness_effect_request(h))->content);
	assert_non_null(strstr(csv, "\"c\",\"open\",first reminder,2026-10-24 13:00:00,\"\",")); /* by the rules */
	harness_result(h, &(int){ -ENOSPC }, CLAIM_NONE);
	given_sent(h, "c", 1, berlin(24, 13, 0));
	TEXT_COPY(audit.grounds, "@quiet hours");
	GIVEN(h, audit, &audit, .shop = "demo", .key = "c");
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	csv = buffer_text(&((struct file_request *)harness_effect_request(h))->content);
	assert_non_null(strstr(csv, ",second reminder,2026-10-25 08:00:00,\"'@quiet hours\","));
	const AdminVerb verbs[] = { ADMIN_SUPPRESS_CART, ADMIN_WRITE_OFF, ADMIN_UNSUBSCRIBE };
	const char *at = csv;
	for (int i = 0; i < 3; i++) {
		struct admin_link link;
		char id[ADMIN_LINK_ID + 1], token[SIGNED_TOKEN_MAX + 1];
		at = strstr(at, ",https://carts.example/a/");
		assert_non_null(at);
		at += strlen(",https://carts.example/a/");
		text_copy_bytes(token, sizeof(token), BYTES(at, strcspn(at, ",\r")));
		assert_int_equal(admin_link_read(bytes_of(key), token, &link, id), 0);
		assert_int_equal(link.verb, verbs[i]);
		assert_int_equal(link.expires_us, berlin(25, 0, 0) + ADMIN_LINK_LASTS_US);
		assert_string_equal(verbs[i] == ADMIN_UNSUBSCRIBE ? link.address_hash : link.cart_id,
			verbs[i] == ADMIN_UNSUBSCRIBE ? "hash" : "c");
	}
	harness_free(h);
}

static const char *file_of_night(struct harness *h)
{
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	return buffer_text(&((struct file_request *)harness_effect_request(h))->content);
}

/* The cart was left at nine. Later decisions of the waiter are about the cart as it is. The night has 25 hours. */
static void a_reminder_that_was_decided_is_with_the_sender_until_something_came_of_it(void **state)
{
	const struct {
		const char *action;
		int64_t at_us;
		int mailed; /* steps that an outcome is known of */
		const char *cells;
	} rows[] = {
		{ "deferred", berlin(24, 9, 0), 0, ",first reminder,2026-10-25 10:00:00,\"why\"," },
		{ "deferred", berlin(24, 9, 0) - 1, 0, ",first reminder,2026-10-24 13:00:00,\"why\"," },
		{ "first_reminder", berlin(24, 13, 1), 0,
			",first reminder,2026-10-24 13:01:00,\"why; decided, and with the sender\"," },
		{ "first_reminder", berlin(24, 9, 0), 0,
			",first reminder,2026-10-24 09:00:00,\"why; decided, and with the sender\"," },
		{ "first_reminder", berlin(24, 9, 0) - 1, 0, ",first reminder,2026-10-24 13:00:00,\"why\"," },
		{ "first_reminder", berlin(24, 13, 1), 1, ",second reminder,2026-10-25 08:00:00,\"why\"," },
		{ "second_reminder", berlin(25, 8, 1), 1,
			",second reminder,2026-10-25 08:01:00,\"why; decided, and with the sender\"," },
		{ "second_reminder", berlin(25, 8, 1), 2, ",give up,,\"why\"," },
		{ "still_shopping", berlin(24, 10, 0), 0, ",first reminder,2026-10-24 13:00:00,\"why\"," },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct harness *h = given_shop();
		CartState cart = cart_of("c", berlin(24, 9, 0));
		Audit audit = { .cart_id = "c", .grounds = "why", .at_us = rows[i].at_us };
		given_rules(h);
		TEXT_COPY(cart.ids.email_hash, "hash");
		given_cart(h, &cart);
		for (int step = 1; step <= rows[i].mailed; step++)
			given_sent(h, "c", (uint32_t)step, step == 1 ? berlin(24, 13, 0) : berlin(25, 8, 1));
		TEXT_COPY(audit.action, rows[i].action);
		audit.next_us = strcmp(rows[i].action, "deferred") == 0 ? berlin(25, 10, 0) : 0;
		GIVEN(h, audit, &audit, .shop = "demo", .key = "c");
		const char *csv = file_of_night(h);
		if (!strstr(csv, rows[i].cells))
			fail_msg("%s is not in\n%s", rows[i].cells, csv);
		harness_free(h);
	}
}

static void no_cell_is_a_formula(void **state)
{
	static const char *const ids[] = { "=1", "+1", "-1", "@x", "\t=1", "  =1", "|x", "%x", "\xef\xbc\x9d!" };
	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct harness *h = given_shop();
		CartState cart = cart_of(ids[i], berlin(24, 9, 0));
		char cell[40];
		given_cart(h, &cart);
		assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
		snprintf(cell, sizeof(cell), "\r\n\"'%s\",", ids[i]);
		if (!strstr(buffer_text(&((struct file_request *)harness_effect_request(h))->content), cell))
			fail_msg("\"%s\" stands there as it is", ids[i]);
		harness_free(h);
	}
}

static void every_missed_night_gets_its_file(void **state)
{
	static const char *const days[] = { "2026-10-24", "2026-10-25", "2026-10-26" };
	struct harness *h = given_shop();
	ExportDone done;
	Tick tick = { .name = "nightly", .due_us = berlin(25, 2, 0) };
	(void)state;
	harness_now(h, berlin(28, 1, 59)); /* the night of the 27th is not due yet */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(i ? harness_again(h) : WHEN(h, tick_nightly, &tick, .shop = "demo", .key = "demo"),
			TURN_PENDING);
		assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), i < 2 ? TURN_RETRY : TURN_DONE);
		assert_true(harness_said(h, &topic_export_done, 0, &done, NULL));
		assert_string_equal(done.day, days[i]);
	}
	assert_int_equal(harness_again(h), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static void a_day_is_exported_once(void **state)
{
	struct harness *h = given_shop();
	(void)state;
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	assert_int_equal(when_night(h, berlin(26, 2, 0)), TURN_PENDING);
	harness_free(h);
}

static void the_days_of_both_clock_changes_are_whole(void **state)
{
	struct harness *h = given_shop();
	CartState late = cart_of("late", berlin(25, 23, 30)); /* 25 October 2026 has 25 hours */
	CartState first = cart_of("first", berlin(25, 0, 0)), next = cart_of("next", berlin(26, 0, 0));
	(void)state;
	given_cart(h, &first);
	given_cart(h, &late);
	given_cart(h, &next);
	assert_int_equal(when_night(h, berlin(26, 2, 0)), TURN_PENDING);
	expect_file(h, "/exports/demo/2026-10-25.csv",
		HEADER "\"first\",\"open\",wait for an address,,\"\",2026-10-25 00:00:00,12.50,EUR,,,,,,,,,,,\r\n"
		       "\"late\",\"open\",wait for an address,,\"\",2026-10-25 23:30:00,12.50,EUR,,,,,,,,,,,\r\n");
	harness_free(h);
}

static void merged_and_test_carts_are_left_out(void **state)
{
	struct harness *h = given_shop();
	CartState merged = cart_of("m", berlin(24, 9, 0)), test = cart_of("t", berlin(24, 9, 0));
	(void)state;
	merged.status = CART_CLOSED;
	merged.closed_reason = CLOSED_MERGED;
	test.test = true;
	given_cart(h, &merged);
	given_cart(h, &test);
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	expect_file(h, "/exports/demo/2026-10-24.csv", HEADER);
	harness_free(h);
}

static void a_folder_that_cannot_be_written_is_tried_again(void **state)
{
	struct harness *h = given_shop();
	(void)state;
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	assert_int_equal(harness_result(h, &(int){ -ENOSPC }, CLAIM_NONE), TURN_RETRY);
	assert_string_equal(harness_reason(h), "No space left on device");
	assert_int_equal(harness_count(h, NULL), 0);
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	assert_int_equal(harness_result(h, NULL, CLAIM_NONE), TURN_RETRY);
	harness_free(h);
}

static void carts_left_alone_for_long_are_forgotten(void **state)
{
	struct harness *h = given_shop();
	CartState old = cart_of("old", berlin(24, 9, 0) - 80 * US_PER_DAY), young = cart_of("young", berlin(24, 9, 0));
	(void)state;
	old.status = CART_CLOSED;
	given_cart(h, &old);
	GIVEN(h, audit, (&(Audit){ .action = "closed", .cart_id = "old" }), .shop = "demo", .key = "old");
	given_cart(h, &young);
	assert_int_equal(when_night(h, berlin(25, 2, 0)), TURN_PENDING);
	assert_int_equal(harness_result(h, &(int){ 0 }, CLAIM_NONE), TURN_DONE);
	assert_false(state_has(harness_state(h), "ledger", "demo", "old"));
	assert_false(state_has(harness_state(h), "last", "demo", "old"));
	assert_true(state_has(harness_state(h), "ledger", "demo", "young"));
	harness_free(h);
}

/* What anybody else could decide on is not said, and nothing is heard but the clock and itself. */
static void what_is_exported_never_comes_back(void **state)
{
	const struct topic *const own[] = { &topic_export_done, &topic_sheet_due, &topic_sheet_claim, &topic_sheet_done,
		&topic_audit, &topic_alarm };
	(void)state;
	assert_ptr_equal(exporter.hears[0].topic, &topic_tick_nightly);
	assert_ptr_equal(exporter.hears[1].topic, &topic_sheet_due);
	assert_null(exporter.hears[2].topic);
	for (size_t i = 0; exporter.says[i]; i++) {
		bool is_own = false;
		for (size_t j = 0; j < sizeof(own) / sizeof(own[0]); j++)
			is_own = is_own || exporter.says[i] == own[j];
		assert_true(is_own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_day_that_ended_is_written_with_what_became_of_each_cart),
		cmocka_unit_test(an_open_cart_says_what_comes_next_and_why_and_how_to_act),
		cmocka_unit_test(a_reminder_that_was_decided_is_with_the_sender_until_something_came_of_it),
		cmocka_unit_test(no_cell_is_a_formula),
		cmocka_unit_test(every_missed_night_gets_its_file),
		cmocka_unit_test(a_day_is_exported_once),
		cmocka_unit_test(the_days_of_both_clock_changes_are_whole),
		cmocka_unit_test(merged_and_test_carts_are_left_out),
		cmocka_unit_test(a_folder_that_cannot_be_written_is_tried_again),
		cmocka_unit_test(carts_left_alone_for_long_are_forgotten),
		cmocka_unit_test(what_is_exported_never_comes_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
