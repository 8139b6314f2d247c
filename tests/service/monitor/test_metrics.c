/* test_metrics.c: what the monitor knows, as Prometheus reads it */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/kit/endpoint/submission.h"
#include "services/platform/monitor/metrics.h"
#include "services/platform/monitor/monitor.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

#define NOW_US (INT64_C(20000) * US_PER_DAY)

static const char STATUS[] =
	"{\"head\":42,\"disk\":{\"free_bytes\":1048576,\"headroom_bytes\":9,\"short\":true,\"why\":\"\"},\"clock\":{"
	"\"jump_us\":-1500000},"
	"\"side_log\":{\"damaged\":2},\"connections\":{\"open\":40,\"turned_away\":8000},\"refused\":{\"frame\":3},"
	"\"gateways\":[{\"name\":\"door\","
	"\"alive\":false,\"spooled\":null}],"
	"\"queues\":[{\"name\":\"waiter\",\"ready\":5,\"oldest_us\":1727999999000000,\"paused_us\":7},{\"name\":"
	"\"sender\",\"oldest_us\":0}],"
	"\"sessions\":[{\"service\":\"waiter\",\"instance\":\"w\\\"1\",\"lag\":4,\"counts\":{\"turns\":8,\"deciding_"
	"count\":8,\"deciding_sum_us\":"
	"2500000,\"deciding_us_1000\":6}},{\"service\":\"cartbus\",\"instance\":\"cartbus-77\"},"
	"{\"service\":\"gateway\",\"instance\":\"door\",\"counts\":{\"clicks\":11,\"secrets_unusable\":2}}]}";

static struct harness *harness;
static struct buffer text;

static int set_up(void **state)
{
	(void)state;
	harness = harness_new(&monitor, NOW_US);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	harness_free(harness);
	buffer_free(&text);
	text = (struct buffer){ 0 };
	return 0;
}

static const char *page_of(const char *status)
{
	json_t *read = status ? json_loads(status, 0, NULL) : NULL;

	assert_true(!status || read);
	buffer_clear(&text);
	metrics_write(&(struct metrics){ .status = read,
			      .state = harness_state(harness),
			      .tracing = { .sent = 5, .refused = 6, .dropped = 7, .missed = 8 },
			      .budget = { .nano_usd = 2000000000, .nano_usd_per_mail = 100000, .tokens = 100 },
			      .now_us = NOW_US },
		&text);
	json_decref(read);
	return buffer_text(&text);
}

static void assert_line(const char *page, const char *line)
{
	char whole[300];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	if (!strstr(page, whole))
		fail_msg("no line \"%s\" in:\n%s", line, page);
}

static void the_brokers_account_is_told(void **state)
{
	const char *page = page_of(STATUS);

	(void)state;
	assert_line(page, "cartbus_broker_up 1");
	assert_line(page, "cartbus_log_messages_total 42");
	assert_line(page, "cartbus_log_disk_free_bytes 1048576");
	assert_line(page, "cartbus_log_disk_short 1");
	assert_line(page, "cartbus_clock_jump_seconds -1.5");
	assert_line(page, "cartbus_broker_refused_total{kind=\"frame\"} 3");
	assert_line(page, "cartbus_side_log_damaged_files 2");
	assert_line(page, "cartbus_broker_connections 40");
	assert_line(page, "cartbus_broker_connections_turned_away_total 8000");
	assert_line(page, "cartbus_gateway_up{process=\"door\"} 0");
	assert_line(page, "cartbus_queue_ready_messages{queue=\"waiter\"} 5");
	assert_line(page, "cartbus_queue_oldest_seconds{queue=\"waiter\"} 1");
	assert_line(page, "cartbus_queue_oldest_seconds{queue=\"sender\"} 0");
	assert_line(page, "cartbus_queue_paused{queue=\"waiter\"} 1");
	assert_line(page, "# TYPE cartbus_queue_failures_total counter");
}

static void a_long_label_is_cut_where_a_letter_begins(void **state)
{
	char labels[METRIC_LABELS_MAX] = "", value[80] = "", wanted[METRIC_LABELS_MAX];

	(void)state;
	memset(value, 'a', 63);
	TEXT_COPY(wanted, "\xc3\xa4"); /* its first byte is the 64th */
	memcpy(value + 63, wanted, 3);
	metric_label(labels, "process", value);
	snprintf(wanted, sizeof(wanted), "process=\"%.63s\"", value);
	assert_string_equal(labels, wanted);
	labels[0] = '\0';
	metric_label(labels, "process", "a\"b");
	assert_string_equal(labels, "process=\"a\\\"b\"");
}

static void what_processes_count_is_told_of_each_and_nothing_of_who_only_asks(void **state)
{
	const char *page = page_of(STATUS);

	(void)state;
	assert_line(page, "cartbus_service_instances{service=\"waiter\"} 1");
	assert_line(page, "cartbus_service_instances{service=\"sender\"} 0");
	assert_line(page, "cartbus_service_turns_total{service=\"waiter\",process=\"w\\\"1\"} 8");
	assert_line(page, "cartbus_service_failures_total{service=\"gateway\",process=\"door\"} 0");
	assert_line(page, "cartbus_service_claims_total{service=\"waiter\",process=\"w\\\"1\",answer=\"fresh\"} 0");
	assert_line(
		page, "cartbus_service_decision_seconds_bucket{service=\"waiter\",process=\"w\\\"1\",le=\"0.001\"} 6");
	assert_line(
		page, "cartbus_service_decision_seconds_bucket{service=\"waiter\",process=\"w\\\"1\",le=\"+Inf\"} 8");
	assert_line(page, "cartbus_service_decision_seconds_sum{service=\"waiter\",process=\"w\\\"1\"} 2.5");
	assert_line(page, "cartbus_gateway_clicks_total{process=\"door\"} 11");
	assert_line(page, "cartbus_gateway_unusable_secrets{process=\"door\"} 2");
	assert_null(strstr(page, "cartbus-77"));
}

static void what_only_one_service_counts_is_told_of_it_alone(void **state)
{
	const char *page = page_of(
		"{\"sessions\":[{\"service\":\"mailin\",\"instance\":\"in\",\"counts\":{\"aside_mails\":3,"
		"\"aside_bytes\":4096,\"readers_killed\":1,\"turned_away\":2}},{\"service\":\"monitor\","
		"\"instance\":\"mon\",\"counts\":{\"turned_away\":5,\"aside_mails\":9,\"secrets_unusable\":9}}]}");

	(void)state;
	assert_line(page, "# TYPE cartbus_mailin_aside_mails gauge");
	assert_line(page, "cartbus_mailin_aside_mails{process=\"in\"} 3");
	assert_line(page, "cartbus_mailin_aside_bytes{process=\"in\"} 4096");
	assert_line(page, "# TYPE cartbus_mailin_readers_killed_total counter");
	assert_line(page, "cartbus_mailin_readers_killed_total{process=\"in\"} 1");
	assert_line(page, "cartbus_mailin_turned_away_total{process=\"in\"} 2");
	assert_line(page, "cartbus_monitor_turned_away_total{process=\"mon\"} 5");
	assert_null(strstr(page, "cartbus_mailin_aside_mails{process=\"mon\"}"));
	assert_null(strstr(page, "cartbus_monitor_turned_away_total{process=\"in\"}"));
	assert_null(strstr(page, "cartbus_gateway_unusable_secrets{process=\"mon\"}"));
}

static void who_is_throttled_is_told_by_whom_from_the_first_session_on(void **state)
{
	const char *page =
		page_of("{\"sessions\":[{\"service\":\"sender\",\"instance\":\"sender-2\",\"counts\":{"
			"\"throttled_mail\":3,\"memory_bytes\":8388608}},{\"service\":\"waiter\",\"instance\":"
			"\"waiter\",\"counts\":{\"throttled_mail\":9}}]}");

	(void)state;
	assert_line(page, "cartbus_service_throttled_total{service=\"sender\",process=\"sender-2\",peer=\"mail\"} 3");
	assert_line(
		page, "cartbus_service_throttled_total{service=\"sender\",process=\"sender-2\",peer=\"storefront\"} 0");
	assert_null(strstr(page, "process=\"waiter\",peer="));
	assert_line(page, "cartbus_service_memory_bytes{service=\"sender\",process=\"sender-2\"} 8388608");
	assert_null(strstr(page, "cartbus_service_memory_bytes{service=\"waiter\""));
}

static void each_counter_of_the_gateway_is_told(void **state)
{
	static const char *const names[] = {
#define NAME(name) #name,
		GATEWAY_COUNTERS(NAME)
#undef NAME
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char status[200];

		snprintf(status, sizeof(status),
			"{\"sessions\":[{\"service\":\"gateway\",\"instance\":\"door\",\"counts\":{\"%s\":77}}]}",
			names[i]);
		if (!strstr(page_of(status), "{process=\"door\"} 77\n"))
			fail_msg("nobody is told of the gateway's counter \"%s\"", names[i]);
	}
}

static void without_an_answer_nothing_old_is_told_of_the_broker(void **state)
{
	const char *page = page_of(NULL);

	(void)state;
	assert_line(page, "cartbus_broker_up 0");
	assert_null(strstr(page, "cartbus_queue"));
	assert_null(strstr(page, "cartbus_log"));
	assert_line(page, "cartbus_mails_total{outcome=\"sent\"} 0");
}

static void mails_are_counted_by_what_became_of_them(void **state)
{
	ReminderDue due = { .has_cart = true,
		.cart = { .has_ids = true, .ids = { .cart_id = "c1" } },
		.step = 1,
		.decided_us = NOW_US - 90 * US_PER_S };
	ReminderOutcome outcome = { .cart_id = "c1", .step = 1, .at_us = NOW_US };
	SendClaim claim = { .cart_id = "c1", .step = 1, .claimed_us = NOW_US };
	const char *page;

	(void)state;
	GIVEN(harness, reminder_due, &due, .shop = "demo", .key = "a");
	page = page_of(NULL);
	assert_line(page, "cartbus_reminders_due_total 1");
	assert_line(page, "cartbus_reminders_waiting 1");
	assert_line(page, "cartbus_reminders_oldest_seconds 90");
	GIVEN(harness, send_claim, &claim, .shop = "demo", .key = "c1/1");
	GIVEN(harness, reminder_released, &outcome, .shop = "demo", .key = "c1/1");
	GIVEN(harness, send_claim, &claim, .shop = "demo", .key = "c1/1");
	GIVEN(harness, reminder_ambiguous, &outcome, .shop = "demo", .key = "c1/1");
	page = page_of(NULL);
	assert_line(page, "cartbus_mails_total{outcome=\"released\"} 1");
	assert_line(page, "cartbus_mails_total{outcome=\"ambiguous\"} 1");
	assert_line(page, "cartbus_mails_total{outcome=\"sent\"} 0");
	assert_line(page, "cartbus_mails_ambiguous_today 1");
	assert_line(page, "cartbus_reminders_oldest_seconds 0");
	assert_line(page, "cartbus_budget_spent_dollars 0.0001");
}

static void what_became_of_spans_is_told_with_the_broker_and_without(void **state)
{
	static const char *const status[] = { NULL, STATUS };

	(void)state;
	for (size_t i = 0; i < sizeof(status) / sizeof(status[0]); i++) {
		const char *page = page_of(status[i]);

		assert_line(page, "# TYPE cartbus_trace_spans_total counter");
		assert_line(page, "cartbus_trace_spans_total{outcome=\"sent\"} 5");
		assert_line(page, "cartbus_trace_spans_total{outcome=\"refused\"} 6");
		assert_line(page, "cartbus_trace_spans_total{outcome=\"dropped\"} 7");
		assert_line(page, "cartbus_trace_missed_messages_total 8");
	}
}

static void given_set(const char *name, uint64_t version, int64_t due_us)
{
	TimerSet set = { .version = version, .due_us = due_us };

	TEXT_COPY(set.name, name);
	GIVEN(harness, timer_set, &set, .shop = "demo", .key = set.name);
}

static void timers_are_counted_while_they_are_pending_and_by_how_late_they_fire(void **state)
{
	TimerCancel cancel = { .name = "b", .version = 2 };
	TimerFired fired = { .name = "a", .version = 2, .due_us = NOW_US - 5 * US_PER_S, .fired_us = NOW_US };
	const char *page;

	(void)state;
	given_set("a", 1, NOW_US + US_PER_S);
	given_set("a", 2, NOW_US - 5 * US_PER_S); /* the same one, at another time */
	given_set("b", 1, NOW_US + US_PER_S);
	page = page_of(NULL);
	assert_line(page, "cartbus_timers_pending 2");
	assert_line(page, "cartbus_timers_overdue_seconds 5");
	GIVEN(harness, timer_cancel, &cancel, .shop = "demo", .key = "b");
	GIVEN(harness, timer_cancel, &cancel, .shop = "demo", .key = "b");
	GIVEN(harness, timer_fired, &fired, .shop = "demo", .key = "a");
	page = page_of(NULL);
	assert_line(page, "cartbus_timers_pending 0");
	assert_line(page, "cartbus_timers_overdue_seconds 0");
	assert_line(page, "cartbus_timer_lateness_seconds_bucket{le=\"1\"} 0");
	assert_line(page, "cartbus_timer_lateness_seconds_bucket{le=\"10\"} 1");
	assert_line(page, "cartbus_timer_lateness_seconds_bucket{le=\"+Inf\"} 1");
	assert_line(page, "cartbus_timer_lateness_seconds_sum 5");
}

static void alarms_and_the_budget_are_told(void **state)
{
	Alarm alarm = { .kind = "storefront", .raised = true };
	ModelUsed used = {
		.outcome = "used", .tokens_in = 30, .tokens_out = 20, .cost_nano_usd = 500000000, .at_us = NOW_US
	};
	const char *page;

	(void)state;
	GIVEN(harness, alarm, &alarm, .shop = "demo", .key = alarm.kind);
	GIVEN(harness, alarm, &alarm, .shop = "other", .key = alarm.kind);
	GIVEN(harness, model_used, &used, .shop = "demo", .key = "opening");
	page = page_of(NULL);
	assert_line(page, "cartbus_alarms_raised{kind=\"storefront\"} 2");
	assert_line(page, "cartbus_budget_spent_dollars 0.5");
	assert_line(page, "cartbus_budget_spent_tokens 50");
	assert_line(page, "cartbus_budget_used_ratio 0.5");
	assert_line(page, "cartbus_model_questions_total{outcome=\"used\"} 1");
	assert_line(page, "cartbus_model_tokens_total{direction=\"in\"} 30");
	assert_line(page, "cartbus_model_failures_total{reason=\"refused\"} 0");
	used = (ModelUsed){ .outcome = "no", .at_us = NOW_US, .end = MODEL_REFUSED };
	GIVEN(harness, model_used, &used, .shop = "demo", .key = "opening");
	used.end = MODEL_OTHER_FORM;
	GIVEN(harness, model_used, &used, .shop = "demo", .key = "opening");
	used.end = (ModelEnd)12; /* of a newer release */
	GIVEN(harness, model_used, &used, .shop = "demo", .key = "opening");
	page = page_of(NULL);
	assert_line(page, "cartbus_model_failures_total{reason=\"refused\"} 1");
	assert_line(page, "cartbus_model_failures_total{reason=\"other_form\"} 1");
	assert_line(page, "cartbus_model_failures_total{reason=\"unreadable\"} 0");
	assert_line(page, "cartbus_model_questions_total{outcome=\"used\"} 1");
	assert_line(page, "cartbus_model_questions_total{outcome=\"fallen_back\"} 3");
	alarm.raised = false;
	GIVEN(harness, alarm, &alarm, .shop = "demo", .key = alarm.kind);
	assert_line(page_of(NULL), "cartbus_alarms_raised{kind=\"storefront\"} 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_brokers_account_is_told, set_up, tear_down),
		cmocka_unit_test(a_long_label_is_cut_where_a_letter_begins),
		cmocka_unit_test_setup_teardown(
			what_processes_count_is_told_of_each_and_nothing_of_who_only_asks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_only_one_service_counts_is_told_of_it_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			who_is_throttled_is_told_by_whom_from_the_first_session_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_counter_of_the_gateway_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_an_answer_nothing_old_is_told_of_the_broker, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_became_of_spans_is_told_with_the_broker_and_without, set_up, tear_down),
		cmocka_unit_test_setup_teardown(mails_are_counted_by_what_became_of_them, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			timers_are_counted_while_they_are_pending_and_by_how_late_they_fire, set_up, tear_down),
		cmocka_unit_test_setup_teardown(alarms_and_the_budget_are_told, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
