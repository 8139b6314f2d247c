/* test_print.c: what the operator's command shows of a message */
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "proto/topics.h"
#include "services/cartbus/core/print.h"
#include "services/carts/words/describe.h"
#include "tests/unit/output_of.h"
#include <pb_encode.h>
#include <stdlib.h>

static char *shown(const struct topic *topic, const void *message)
{
	json_t *json = message_to_json(topic, message);
	char *text = json_dumps(json, JSON_COMPACT);

	json_decref(json);
	return text;
}

static CartChanged a_change(void)
{
	CartChanged changed = { .has_ids = true,
		.platform = PLATFORM_SHOPIFY,
		.has_items = true,
		.items_count = 2,
		.total_minor = 6448,
		.has_total = true };

	TEXT_COPY(changed.ids.email, "ada.lovelace@example.com");
	TEXT_COPY(changed.ids.cart_token, "tok-1");
	TEXT_COPY(changed.first_name, "Ada");
	TEXT_COPY(changed.platform_topic, "checkouts/update");
	TEXT_COPY(changed.currency, "EUR");
	TEXT_COPY(changed.items[0].title, "Roses");
	TEXT_COPY(changed.items[1].title, "Vase");
	return changed;
}

static void an_address_and_a_name_are_shown_masked(void **state)
{
	CartChanged changed = a_change();
	char *text = shown(&topic_cart_changed, &changed);

	(void)state;
	assert_null(strstr(text, "ada.lovelace"));
	assert_null(strstr(text, "Ada\""));
	assert_non_null(strstr(text, "\"email\":\"a***@example.com\""));
	free(text);
}

static void an_address_inside_a_list_is_masked_too(void **state)
{
	CartState cart = { .also_count = 1 };
	char *text;

	(void)state;
	TEXT_COPY(cart.also[0].email, "other@example.com");
	text = shown(&topic_cart_state, &cart);
	assert_null(strstr(text, "other@"));
	assert_non_null(strstr(text, "o***@example.com"));
	free(text);
}

static void items_are_shown_all_and_in_order(void **state)
{
	CartChanged changed = a_change();
	json_t *json = message_to_json(&topic_cart_changed, &changed);
	const json_t *items = json_object_get(json, "items");

	(void)state;
	assert_int_equal(json_array_size(items), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(items, 1), "title")), "Vase");
	json_decref(json);
}

static void an_enum_is_shown_as_its_word_even_when_it_is_the_first(void **state)
{
	CartState cart = { .status = CART_OPEN };
	char *text = shown(&topic_cart_state, &cart);

	(void)state;
	assert_non_null(strstr(text, "\"status\":\"open\""));
	free(text);
}

static void an_enum_value_from_a_newer_program_is_shown_as_its_number(void **state)
{
	CartState cart = { .status = (CartStatus)77 };
	char *text = shown(&topic_cart_state, &cart);

	(void)state;
	assert_non_null(strstr(text, "\"status\":77"));
	free(text);
}

static void a_timer_shows_the_message_that_it_will_say(void **state)
{
	CartWake wake = { .revision = 3 };
	TimerSet timer = { .due_us = 5 };
	pb_ostream_t to = pb_ostream_from_buffer(timer.payload.bytes, sizeof(timer.payload.bytes));
	char *text;

	(void)state;
	TEXT_COPY(wake.cart_id, "c-1");
	assert_true(pb_encode(&to, CartWake_fields, &wake));
	timer.payload.size = (pb_size_t)to.bytes_written;
	TEXT_COPY(timer.topic, "cart.wake");
	text = shown(&topic_timer_set, &timer);
	assert_non_null(strstr(text, "\"cart_id\":\"c-1\""));
	free(text);
}

static void what_does_not_decode_is_null_and_no_crash(void **state)
{
	json_t *json = payload_json(&topic_cart_changed, BYTES("\xff\xff\xff", 3));

	(void)state;
	assert_true(json_is_null(json));
	json_decref(json);
}

static void every_topic_can_be_shown_and_described_when_empty(void **state)
{
	(void)state;
	for (size_t i = 0; topic_nth(i); i++) {
		struct buffer words = { 0 };
		void *message = calloc(1, topic_nth(i)->size);
		char *text = shown(topic_nth(i), message);

		assert_non_null(text);
		describe(topic_nth(i), message, "UTC", &words);
		free(text);
		free(message);
		buffer_free(&words);
	}
}

static void a_storefronts_text_cannot_move_the_admins_cursor(void **state)
{
	ReminderOutcome outcome = { .step = 1 };
	struct buffer words = { 0 };

	(void)state;
	TEXT_COPY(outcome.reason, "550 \x1b[2Jgone\r\nGREEN");
	describe(&topic_reminder_refused, &outcome, "UTC", &words);
	assert_null(strchr(buffer_text(&words), '\x1b'));
	assert_null(strchr(buffer_text(&words), '\n'));
	assert_null(strchr(buffer_text(&words), '\r'));
	buffer_free(&words);
}

static void a_line_tells_total_items_and_masked_address(void **state)
{
	CartChanged changed = a_change();
	struct buffer words = { 0 };

	(void)state;
	describe(&topic_cart_changed, &changed, "Europe/Berlin", &words);
	assert_string_equal(buffer_text(&words), "checkouts/update: 2 items, 64.48 EUR, a***@example.com");
	buffer_free(&words);
}

static void a_decision_is_told_by_its_name_with_its_grounds_and_its_rules(void **state)
{
	static const char *const names[] = { "still_shopping", "first_reminder", "second_reminder", "give_up" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		Audit audit = { .grounds = "left 5 h ago",
			.who = "system",
			.rules_version = 3,
			.next_us = INT64_C(1795230389000000) };
		struct buffer words = { 0 };
		char expected[160];

		TEXT_COPY(audit.action, names[i]);
		describe(&topic_audit, &audit, "Europe/Berlin", &words);
		snprintf(expected, sizeof(expected),
			"%s: left 5 h ago (rules version 3); looked at next at 2026-11-21 04:06:29", names[i]);
		assert_string_equal(buffer_text(&words), expected);
		buffer_free(&words);
	}
}

static void moments_in_the_words_of_a_fact_are_told_in_the_shops_zone(void **state)
{
	Audit audit = { .who = "system" };
	struct buffer words = { 0 };

	(void)state;
	TEXT_COPY(audit.action, "unsubscribed");
	TEXT_COPY(audit.grounds, "2 mails, 2026 UTC, 2026-13-40");
	TEXT_COPY(audit.before, "open, abandoned 2026-07-20 22:30 UTC, revision 3");
	TEXT_COPY(audit.after, "listed: page, since 2026-11-20 14:05 UTC");
	describe(&topic_audit, &audit, "Europe/Berlin", &words);
	assert_string_equal(buffer_text(&words),
		"unsubscribed: 2 mails, 2026 UTC, 2026-13-40, before open, abandoned 2026-07-21 00:30:00, revision 3, "
		"after listed: page, since 2026-11-20 15:05:00");
	buffer_free(&words);
}

static void times_are_told_in_the_shops_zone(void **state)
{
	char at[40];

	(void)state;
	describe_time("Europe/Berlin", INT64_C(1795230389000000), at);
	assert_string_equal(at, "2026-11-21 04:06:29");
	describe_time("UTC", 0, at);
	assert_string_equal(at, "never");
}

static int print_broken(const void *indented)
{
	json_t *json = json_pack("{s:s}", "name", "\xd0");

	if (*(const bool *)indented)
		json_print(json);
	else
		json_print_line(json);
	return 0;
}

static void an_answer_that_is_no_json_is_printed_as_an_error(void **state)
{
	struct buffer said = { 0 };
	json_t *printed;

	(void)state;
	for (int i = 0; i < 2; i++) {
		output_of(print_broken, &(bool){ i }, &said);
		printed = json_loads(buffer_text(&said), 0, NULL);
		assert_non_null(strstr(json_string_value(json_object_get(printed, "error")), "not UTF-8"));
		json_decref(printed);
	}
	buffer_free(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_and_a_name_are_shown_masked),
		cmocka_unit_test(an_address_inside_a_list_is_masked_too),
		cmocka_unit_test(items_are_shown_all_and_in_order),
		cmocka_unit_test(an_enum_is_shown_as_its_word_even_when_it_is_the_first),
		cmocka_unit_test(an_enum_value_from_a_newer_program_is_shown_as_its_number),
		cmocka_unit_test(a_timer_shows_the_message_that_it_will_say),
		cmocka_unit_test(what_does_not_decode_is_null_and_no_crash),
		cmocka_unit_test(every_topic_can_be_shown_and_described_when_empty),
		cmocka_unit_test(a_storefronts_text_cannot_move_the_admins_cursor),
		cmocka_unit_test(a_line_tells_total_items_and_masked_address),
		cmocka_unit_test(a_decision_is_told_by_its_name_with_its_grounds_and_its_rules),
		cmocka_unit_test(moments_in_the_words_of_a_fact_are_told_in_the_shops_zone),
		cmocka_unit_test(times_are_told_in_the_shops_zone),
		cmocka_unit_test(an_answer_that_is_no_json_is_printed_as_an_error),
	};

	return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
