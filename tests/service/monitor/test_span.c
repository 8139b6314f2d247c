/* test_span.c: a message of the log as a span: the same each time, in its trace, and naming nobody */
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/platform/monitor/span.h"
#include "tests/unit/cmocka_all.h"
#include <pb_encode.h>
#include <stdio.h>

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define GIVEN_TRACE "00-" TRACE "-00f067aa0ba902b7-01"
#define OWN_TRACE "00-" TRACE "-4bf92f3577b34da6-01" /* began at our gateway */

static struct message_meta said(const char *topic, uint64_t seq, uint64_t cause)
{
	return (struct message_meta){ .topic = topic,
		.shop = "demo",
		.key = "ada@example.com",
		.idem = "",
		.trace = OWN_TRACE,
		.said_by = "sender-1",
		.seq = seq,
		.cause = cause,
		.time_us = 5000000 };
}

static struct bytes encoded(const struct topic *topic, const void *message)
{
	static uint8_t room[70000];
	pb_ostream_t stream = pb_ostream_from_buffer(room, sizeof(room));

	assert_true(pb_encode(&stream, topic->message, message));
	return BYTES(room, stream.bytes_written);
}

static const char *text(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* NULL: it has none. A number is written as text. */
static const char *attribute(const json_t *span, const char *key)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(span, "attributes"), i, row) if (strcmp(text(row, "key"), key) == 0)
	{
		const char *string = text(json_object_get(row, "value"), "stringValue");

		return string ? string : text(json_object_get(row, "value"), "intValue");
	}
	return NULL;
}

static void the_same_message_is_the_same_span_and_another_is_another(void **state)
{
	struct message_meta one = said("cart.wake", 7, 3), other = said("cart.wake", 8, 3),
			    elsewhere = said("cart.wake", 7, 3);
	json_t *first = span_of(&one, BYTES("", 0), 0), *again = span_of(&one, BYTES("", 0), 0);
	json_t *second = span_of(&other, BYTES("", 0), 0), *third;

	(void)state;
	elsewhere.trace = "00-5bf92f3577b34da6a3ce929d0e0e4736-5bf92f3577b34da6-01";
	third = span_of(&elsewhere, BYTES("", 0), 0);
	assert_true(json_equal(first, again));
	assert_string_equal(text(first, "traceId"), TRACE);
	assert_string_not_equal(text(first, "spanId"), text(second, "spanId"));
	assert_string_not_equal(text(first, "spanId"), text(third, "spanId"));
	assert_string_equal(text(first, "parentSpanId"), text(second, "parentSpanId"));
	json_decref(first);
	json_decref(again);
	json_decref(second);
	json_decref(third);
}

static void its_parent_is_what_it_was_decided_on_or_the_storefronts_own_span(void **state)
{
	struct message_meta cause = said("cart.changed", 3, 0), fact = said("cart.state", 4, 3),
			    given = said("cart.changed", 3, 0);
	json_t *root = span_of(&cause, BYTES("", 0), 0), *child = span_of(&fact, BYTES("", 0), 0), *continued;

	(void)state;
	given.trace = GIVEN_TRACE;
	continued = span_of(&given, BYTES("", 0), 0);
	assert_null(json_object_get(root, "parentSpanId"));
	assert_string_equal(text(child, "parentSpanId"), text(root, "spanId"));
	assert_string_equal(text(continued, "parentSpanId"), "00f067aa0ba902b7");
	json_decref(root);
	json_decref(child);
	json_decref(continued);
}

/* The kinds are OTLP's: 4 is a producer, 5 a consumer. */
static void what_was_said_on_a_message_is_a_consumers_span_and_all_else_a_producers(void **state)
{
	static const struct {
		uint64_t cause;
		int kind;
		const char *name;
	} rows[] = { { 0, 4, "publish cart.state" }, { 1, 5, "process cart.state" }, { 8, 5, "process cart.state" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct message_meta one = said("cart.state", 9, rows[i].cause);
		json_t *span = span_of(&one, BYTES("", 0), 0);

		assert_int_equal(json_integer_value(json_object_get(span, "kind")), rows[i].kind);
		assert_string_equal(text(span, "name"), rows[i].name);
		json_decref(span);
	}
}

static void check_times(const struct message_meta *of, struct bytes payload, int64_t began_us, const char *start)
{
	json_t *span = span_of(of, payload, began_us);

	assert_string_equal(text(span, "startTimeUnixNano"), start);
	assert_string_equal(text(span, "endTimeUnixNano"), "5000000000");
	json_decref(span);
}

static void it_lasts_from_its_cause_to_its_commit_and_a_timers_from_when_it_was_due(void **state)
{
	struct message_meta fact = said("cart.state", 4, 3), wake = said("cart.wake", 9, 3);
	CartWake due = { .cart_id = "c1", .due_us = 4200000 }, early = { .due_us = 6000000 };

	(void)state;
	check_times(&fact, BYTES("", 0), 4000000, "4000000000");
	check_times(&fact, BYTES("", 0), 0, "5000000000");       /* the cause is not known any more */
	check_times(&fact, BYTES("", 0), 6000000, "5000000000"); /* no clock is right always */
	check_times(&wake, encoded(&topic_cart_wake, &due), 1000000, "4200000000");
	check_times(&wake, encoded(&topic_cart_wake, &early), 1000000, "5000000000");
}

static void a_mails_outcome_is_the_spans_status(void **state)
{
	static const struct {
		const char *topic;
		int code;
	} rows[] = { { "reminder.sent", 1 }, { "reminder.refused", 2 }, { "reminder.ambiguous", 2 },
		{ "reminder.skipped", 0 }, { "reminder.released", 0 }, { "dead.letter", 2 }, { "audit", 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct message_meta outcome = said(rows[i].topic, 9, 8);
		json_t *span = span_of(&outcome, BYTES("", 0), 0);

		assert_int_equal(
			json_integer_value(json_object_get(json_object_get(span, "status"), "code")), rows[i].code);
		json_decref(span);
	}
}

static void it_names_a_cart_and_nobody(void **state)
{
	static CartChanged changed = { .has_ids = true,
		.ids = { .cart_id = "c1", .email = "ada@example.com", .email_hash = "0a0b" },
		.first_name = "Ada",
		.platform_topic = "checkouts/update",
		.recovery_url = "https://shop.example/r" };
	static CartChanged odd = { .has_ids = true, .ids = { .cart_id = "ada@example.com" } };
	ReminderOutcome sent = { .cart_id = "c1", .step = 2, .transport = "smtp", .reason = "250 ada@example.com" };
	struct message_meta cart = said("cart.changed", 3, 0), mail = said("reminder.sent", 9, 8);
	json_t *span = span_of(&cart, encoded(&topic_cart_changed, &changed), 0);
	char *written = json_dumps(span, 0);

	(void)state;
	assert_string_equal(attribute(span, "cartbus.cart"), "c1");
	assert_string_equal(attribute(span, "cartbus.shop"), "demo");
	assert_string_equal(attribute(span, "cartbus.what"), "checkouts/update");
	assert_string_equal(attribute(span, "messaging.destination.name"), "cart.changed");
	assert_string_equal(attribute(span, "messaging.message.id"), "3");
	assert_null(strchr(written, '@'));
	assert_null(strstr(written, "Ada"));
	assert_null(strstr(written, "shop.example"));
	free(written);
	json_decref(span);
	span = span_of(&cart, encoded(&topic_cart_changed, &odd), 0);
	assert_null(attribute(span, "cartbus.cart"));
	json_decref(span);
	span = span_of(&mail, encoded(&topic_reminder_sent, &sent), 0);
	written = json_dumps(span, 0);
	assert_string_equal(attribute(span, "cartbus.step"), "2");
	assert_null(strchr(written, '@'));
	free(written);
	json_decref(span);
}

static void what_cannot_be_read_is_a_span_all_the_same(void **state)
{
	struct message_meta cart = said("cart.changed", 3, 0);
	json_t *span = span_of(&cart, BYTES("\xff\xff\xff", 3), 0);

	(void)state;
	assert_string_equal(attribute(span, "messaging.destination.name"), "cart.changed");
	assert_null(attribute(span, "cartbus.cart"));
	json_decref(span);
}

static void a_trace_goes_as_a_whole_or_not_at_all(void **state)
{
	enum { TRACES = 4000 };
	int wanted = 0;

	(void)state;
	for (uint64_t i = 0; i < TRACES; i++) {
		char trace[56];
		struct message_meta first = said("cart.changed", i, 0), last = said("reminder.sent", i + 100, i);

		snprintf(trace, sizeof(trace), "00-%016llx%016llx-%016llx-01", (unsigned long long)i,
			(unsigned long long)text_hash(BYTES(&i, sizeof(i))), (unsigned long long)i + 1);
		first.trace = last.trace = trace;
		assert_true(span_is_wanted(&first, span_share_of(1)));
		assert_false(span_is_wanted(&first, span_share_of(0)));
		assert_int_equal(
			span_is_wanted(&first, span_share_of(0.25)), span_is_wanted(&last, span_share_of(0.25)));
		wanted += span_is_wanted(&first, span_share_of(0.25));
	}
	assert_in_range(wanted, TRACES / 5, TRACES * 3 / 10);
}

static void what_has_no_trace_or_is_not_recorded_is_not_wanted(void **state)
{
	static const char *const none[] = { "", "00-" TRACE, "00-" TRACE "-00f067aa0ba902b7-00",
		"00-" TRACE "-00f067aa0ba902b7-zz", GIVEN_TRACE "-more" };

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct message_meta one = said("cart.changed", 1, 0);

		one.trace = none[i];
		assert_false(span_is_wanted(&one, span_share_of(1)));
	}
}

static void spans_are_sent_by_the_service_that_said_them(void **state)
{
	struct message_meta one = said("reminder.sent", 9, 8);
	json_t *by_sayer = json_pack("{s:[o],s:[]}", "sender-1", span_of(&one, BYTES("", 0), 0), "intake");
	json_t *request = spans_request(by_sayer), *resource, *rows = json_object_get(request, "resourceSpans");

	(void)state;
	assert_int_equal(json_array_size(rows), 2);
	resource = json_object_get(json_array_get(rows, 0), "resource");
	assert_string_equal(attribute(resource, "service.name"), "cartbus-sender");
	assert_string_equal(attribute(resource, "service.instance.id"), "sender-1");
	json_decref(request);
	json_decref(by_sayer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_message_is_the_same_span_and_another_is_another),
		cmocka_unit_test(its_parent_is_what_it_was_decided_on_or_the_storefronts_own_span),
		cmocka_unit_test(what_was_said_on_a_message_is_a_consumers_span_and_all_else_a_producers),
		cmocka_unit_test(it_lasts_from_its_cause_to_its_commit_and_a_timers_from_when_it_was_due),
		cmocka_unit_test(a_mails_outcome_is_the_spans_status),
		cmocka_unit_test(it_names_a_cart_and_nobody),
		cmocka_unit_test(what_cannot_be_read_is_a_span_all_the_same),
		cmocka_unit_test(a_trace_goes_as_a_whole_or_not_at_all),
		cmocka_unit_test(what_has_no_trace_or_is_not_recorded_is_not_wanted),
		cmocka_unit_test(spans_are_sent_by_the_service_that_said_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
