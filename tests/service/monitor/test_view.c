/* test_view.c: what is taken from the broker's answer to "status" */
#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include "services/platform/monitor/view.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct view view_now;

static int forget_view(void **state)
{
	(void)state;
	view_clear(&view_now);
	return 0;
}

/* Of {"queues":[QUEUES] MORE}, until the next call. */
static const struct view *view_of(const char *queues, const char *more)
{
	struct buffer json = { 0 };

	buffer_printf(&json, "{\"queues\":[%s]%s}", queues, more);
	view_clear(&view_now);
	memset(&view_now, 'x', sizeof(view_now));
	assert_int_equal(view_read(buffer_text(&json), &view_now), 0);
	buffer_free(&json);
	return &view_now;
}

static void what_is_no_status_is_refused(void **state)
{
	static const char *const answers[] = { "", "{}", "[]", "{\"queues\":{}}", "{\"queues\":[]", "null" };
	struct view view;

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		assert_int_equal(view_read(answers[i], &view), -EINVAL);
}

static void what_it_does_not_say_is_nothing(void **state)
{
	const struct view nothing = { 0 };

	(void)state;
	view_of("", "");
	view_clear(&view_now);
	assert_memory_equal(&view_now, &nothing, sizeof(nothing));
}

static void dead_letters_are_added_up_and_named_by_queue(void **state)
{
	const struct view *view = view_of(
		"{\"name\":\"sender\",\"dead\":2},{\"name\":\"waiter\",\"dead\":0},{\"name\":\"intake\",\"dead\":1},"
		"{\"name\":\"odd\",\"dead\":-5}",
		"");

	(void)state;
	assert_int_equal(view->dead, 3);
	assert_string_equal(view->dead_queues, "sender (2), intake (1)");
}

static void the_oldest_message_is_of_a_queue_that_has_one_ready(void **state)
{
	static const struct {
		const char *queues;
		int64_t oldest_us;
		const char *queue;
	} cases[] = {
		{ "{\"name\":\"a\",\"ready\":1,\"oldest_us\":50},{\"name\":\"b\",\"ready\":9,\"oldest_us\":40}", 40,
			"b" },
		{ "{\"name\":\"a\",\"ready\":1,\"oldest_us\":40},{\"name\":\"b\",\"ready\":9,\"oldest_us\":50}", 40,
			"a" },
		{ "{\"name\":\"a\",\"ready\":1,\"oldest_us\":40},{\"name\":\"b\",\"ready\":9,\"oldest_us\":40}", 40,
			"a" },
		{ "{\"name\":\"a\",\"ready\":1,\"oldest_us\":40},{\"name\":\"b\",\"ready\":0,\"oldest_us\":30}", 40,
			"a" },
		{ "{\"name\":\"a\",\"ready\":1,\"oldest_us\":40},{\"name\":\"b\",\"ready\":1,\"oldest_us\":0}", 40,
			"a" },
		{ "{\"name\":\"a\",\"ready\":0,\"oldest_us\":40}", 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct view *view = view_of(cases[i].queues, "");
		assert_int_equal(view->oldest_ready_us, cases[i].oldest_us);
		assert_string_equal(view->oldest_queue, cases[i].queue);
	}
}

static void queues_that_are_paused_or_that_nobody_serves_are_named(void **state)
{
	const struct view *view = view_of("{\"name\":\"sender\",\"paused_us\":5,\"failures\":7},{\"name\":\"waiter\"},{"
					  "\"name\":\"intake\",\"paused_us\":9}",
		",\"sessions\":[{\"service\":\"waiter\"},{\"service\":\"gateway\"}],"
		"\"gateways\":[{\"name\":\"g1\",\"alive\":true},{\"name\":\"g2\",\"alive\":false},{\"name\":\"g3\"}]");

	(void)state;
	assert_string_equal(view->paused, "sender, intake");
	assert_string_equal(view->missing, "sender, intake");
	assert_string_equal(view->away, "g2, g3");
	assert_int_equal(view->queue_count, 3);
	assert_string_equal(view->queues[0].name, "sender");
	assert_int_equal(view->queues[0].failures, 7);
	assert_int_equal(view->queues[1].failures, 0);
}

/* Names that do not fit are left out whole; numbers count all the same. */
static void many_queues_are_told_as_far_as_there_is_room(void **state)
{
	enum { QUEUES = 60 };
	struct buffer queues = { 0 };

	(void)state;
	for (int i = 0; i < QUEUES; i++)
		buffer_printf(&queues, "%s{\"name\":\"queue-%02d\",\"dead\":1,\"paused_us\":1,\"failures\":%d}",
			i ? "," : "", i, i);
	const struct view *view = view_of(buffer_text(&queues), "");
	assert_int_equal(view->queue_count, QUEUES);
	assert_string_equal(view->queues[QUEUES - 1].name, "queue-59");
	assert_int_equal(view->queues[QUEUES - 1].failures, QUEUES - 1);
	assert_int_equal(view->dead, QUEUES);
	assert_true(strlen(view->paused) < sizeof(view->paused));
	assert_int_equal((strlen(view->paused) + 2) % strlen("queue-00, "), 0);
	assert_int_equal((strlen(view->dead_queues) + 2) % strlen("queue-00 (1), "), 0);
	assert_int_equal((strlen(view->missing) + 2) % strlen("queue-00, "), 0);
	buffer_free(&queues);
}

static void the_disk_the_side_log_and_parked_claims_are_as_the_broker_says(void **state)
{
	const struct view *view = view_of("",
		",\"parked_claims\":4,\"disk\":{\"free_bytes\":100,\"headroom_bytes\":7,\"short\":true},"
		"\"side_log\":{\"damaged\":3},\"connections\":{\"last_us\":55,\"last\":\"uid 1000\"}");

	(void)state;
	assert_int_equal(view->parked_claims, 4);
	assert_int_equal(view->free_bytes, 100);
	assert_int_equal(view->headroom_bytes, 7);
	assert_true(view->is_short);
	assert_int_equal(view->damaged_side_logs, 3);
	assert_int_equal(view->turned_away_us, 55);
	assert_string_equal(view->turned_away, "uid 1000");
}

/* Of all processes the one that refused last. */
static void the_last_refusal_of_a_blob_is_told_with_its_service(void **state)
{
	const struct view *view = view_of("",
		",\"sessions\":[{\"service\":\"gateway\",\"counts\":{\"blobs_refused_us\":50}},"
		"{\"service\":\"mailin\",\"counts\":{\"blobs_refused_us\":70}},"
		"{\"service\":\"gateway\",\"counts\":{\"blobs_refused_us\":60}},{\"service\":\"timer\",\"counts\":{}}]");

	(void)state;
	assert_int_equal(view->blobs_refused_us, 70);
	assert_string_equal(view->blobs_refused, "mailin");
}

static void what_processes_count_is_added_up_or_the_most(void **state)
{
	const struct view *view = view_of("",
		",\"sessions\":[{\"counts\":{\"aside_day\":2,\"secrets_unusable\":1}},"
		"{\"counts\":{\"aside_day\":3,\"aside_full\":1,\"secrets_unusable\":4}},{\"counts\":{\"secrets_"
		"unusable\":2}},{}]");

	(void)state;
	assert_int_equal(view->aside_day, 5);
	assert_true(view->aside_full);
	assert_int_equal(view->secrets_unusable, 4);
}

/* Of each service the latest; of more services than there is room for, the first ones. */
static void strangers_are_told_by_service(void **state)
{
	const struct view *view = view_of("",
		",\"sessions\":[{\"service\":\"gateway\",\"counts\":{\"turned_away_us\":50}},"
		"{\"service\":\"mailin\",\"counts\":{\"turned_away_us\":40}},"
		"{\"service\":\"gateway\",\"counts\":{\"turned_away_us\":70}},"
		"{\"service\":\"mailin\",\"counts\":{\"turned_away_us\":30}},{\"service\":\"timer\",\"counts\":{}},"
		"{\"service\":\"s3\",\"counts\":{\"turned_away_us\":1}},{\"service\":\"s4\",\"counts\":{\"turned_away_"
		"us\":2}},"
		"{\"service\":\"s5\",\"counts\":{\"turned_away_us\":3}},{\"service\":\"s4\",\"counts\":{\"turned_away_"
		"us\":9}}]");

	(void)state;
	assert_string_equal(view->strangers[0].service, "gateway");
	assert_int_equal(view->strangers[0].last_us, 70);
	assert_string_equal(view->strangers[1].service, "mailin");
	assert_int_equal(view->strangers[1].last_us, 40);
	assert_string_equal(view->strangers[2].service, "s3");
	assert_string_equal(view->strangers[3].service, "s4");
	assert_int_equal(view->strangers[3].last_us, 9);
}

#define OFF(us)                                                                                                        \
	",\"sessions\":[{\"service\":\"a\"},{\"instance\":\"timer-1\",\"host\":\"vm2\",\"clock_off_us\":" us "}]"

static void a_clock_that_is_a_minute_off_is_named(void **state)
{
	static const struct {
		const char *more, *clock;
	} cases[] = { { OFF("59999999"), "" }, { OFF("-59999999"), "" },
		{ OFF("60000000"), "the clock of timer-1 on vm2 is 60 s ahead of the log's: set it right" },
		{ OFF("-61500000"), "the clock of timer-1 on vm2 is 61 s behind the log's: set it right" },
		{ OFF("-61500000") ",\"clock\":{\"jump_us\":5,\"why\":\"it jumped\"}",
			"it jumped" }, /* the broker's first */
		{ OFF("-61500000") ",\"clock\":{\"jump_us\":0,\"why\":\"\"}",
			"the clock of timer-1 on vm2 is 61 s behind the log's: set it right" },
		{ ",\"clock\":{\"jump_us\":-5,\"why\":\"it jumped\"}", "it jumped" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct view *view = view_of("", cases[i].more);
		assert_int_equal(view->clock_jumped, *cases[i].clock != '\0');
		assert_string_equal(view->clock, cases[i].clock);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_status_is_refused),
		cmocka_unit_test(what_it_does_not_say_is_nothing),
		cmocka_unit_test(dead_letters_are_added_up_and_named_by_queue),
		cmocka_unit_test(the_oldest_message_is_of_a_queue_that_has_one_ready),
		cmocka_unit_test(queues_that_are_paused_or_that_nobody_serves_are_named),
		cmocka_unit_test(many_queues_are_told_as_far_as_there_is_room),
		cmocka_unit_test(the_disk_the_side_log_and_parked_claims_are_as_the_broker_says),
		cmocka_unit_test(the_last_refusal_of_a_blob_is_told_with_its_service),
		cmocka_unit_test(what_processes_count_is_added_up_or_the_most),
		cmocka_unit_test(strangers_are_told_by_service),
		cmocka_unit_test(a_clock_that_is_a_minute_off_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, forget_view);
}
