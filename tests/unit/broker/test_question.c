/* the operator's questions */
#include "bus/base/text.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void only_an_operator_is_answered(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *stranger = peer_new(desk, "admin", "never said hello");

	(void)state;
	peer_hello(talker, "run", 0);
	assert_null(peer_ask(talker, "status", "{}"));
	assert_null(peer_ask(stranger, "status", "{}"));
	desk_close(desk);
}

static void a_question_that_makes_no_sense_is_answered_with_what_is_wrong(void **state)
{
	struct desk *desk = desk_open();
	struct peer *admin = peer_new(desk, "admin", "a");

	(void)state;
	peer_hello(admin, "run", 0);
	assert_null(peer_ask(admin, "no.such", "{}"));
	assert_null(peer_ask(admin, "read", "{"));
	assert_null(peer_ask(admin, "read", "[]"));
	assert_null(peer_ask(admin, "dead.show", "{\"queue\":7,\"seq\":\"x\"}"));
	assert_non_null(strstr(buffer_text(&admin->answer), "queue"));
	desk_close(desk);
}

static void status_tells_sessions_queues_and_gateways(void **state)
{
	struct desk *desk = desk_open();
	struct peer *admin = peer_new(desk, "admin", "a"), *door = peer_new(desk, "door", "d");
	json_t *status;

	(void)state;
	peer_hello(admin, "run", 0);
	peer_hello(door, "run", 0);
	SAID(door, .topic = "work");
	status = peer_ask(admin, "status", "{}");
	assert_non_null(status);
	assert_int_equal(json_integer_value(json_object_get(status, "head")), 1);
	assert_int_equal(json_array_size(json_object_get(status, "sessions")), 2);
	assert_int_equal(json_array_size(json_object_get(status, "queues")), 2);
	assert_int_equal(json_array_size(json_object_get(status, "gateways")), 1);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(json_object_get(status, "gateways"), 0), "name")),
		"d");
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(json_object_get(status, "queues"), 0), "ready")), 1);
	json_decref(status);
	desk_close(desk);
}

static void who_is_told_to_fold_anew_is_told_once_and_nobody_else_is(void **state)
{
	static const struct {
		const char *argument, *words;
	} refused[] = { { "{}", "no service \"\" folds anything" },
		{ "{\"service\":\"nobody\"}", "no service \"nobody\" folds anything" },
		{ "{\"service\":\"talker\"}", "no service \"talker\" folds anything" },
		{ "{\"service\":\"single\"}", "no single is running: start it first" } };
	struct desk *desk = desk_open();
	struct peer *admin = peer_new(desk, "admin", "a"), *one = peer_new(desk, "reader", "r1"),
		    *two = peer_new(desk, "reader", "r2"), *other = peer_new(desk, "half", "h"),
		    *talker = peer_new(desk, "talker", "t");
	json_t *answer;

	(void)state;
	peer_hello(admin, "run", 0);
	peer_hello(one, "run", 0);
	peer_hello(two, "run", 0);
	peer_hello(other, "run", 0);
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "row", .key = "r", .version = 1);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_null(peer_ask(admin, "rebuild", refused[i].argument));
		assert_non_null(strstr(buffer_text(&admin->answer), refused[i].words));
	}
	answer = peer_ask(admin, "rebuild", "{\"service\":\"reader\"}");
	assert_non_null(answer);
	assert_int_equal(json_array_size(json_object_get(answer, "ended")), 2);
	json_decref(answer);
	peer_hello(one, "run", 1);
	assert_true(one->rebuild);
	peer_hello(one, "run", 1);
	assert_false(one->rebuild);
	peer_hello(two, "run", 1);
	assert_true(two->rebuild);
	peer_hello(other, "run", 1);
	assert_false(other->rebuild);
	desk_close(desk);
}

static void tell_count(struct peer *peer, const char *name, uint64_t value)
{
	Control said = { .which_what = Control_heartbeat_tag };

	said.what.heartbeat.epoch = peer->epoch;
	said.what.heartbeat.counts_count = name ? 1 : 0;
	said.what.heartbeat.counts[0].value = value;
	TEXT_COPY(said.what.heartbeat.counts[0].name, name ? name : "");
	peer_control(peer, &said);
}

static json_int_t count_told(struct peer *admin, const char *name)
{
	json_t *status = peer_ask(admin, "status", "{}"), *session;
	json_int_t value = -1;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		if (strcmp(json_string_value(json_object_get(session, "service")), "talker") == 0)
			value = json_integer_value(json_object_get(json_object_get(session, "counts"), name));
	}
	json_decref(status);
	return value;
}

static void what_a_process_counts_is_told_as_long_as_its_session_lasts(void **state)
{
	struct desk *desk = desk_open();
	struct peer *admin = peer_new(desk, "admin", "a"), *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(admin, "run", 0);
	peer_hello(talker, "run", 0);
	assert_int_equal(count_told(admin, "turns"), 0);
	tell_count(talker, "turns", 7);
	assert_int_equal(count_told(admin, "turns"), 7);
	tell_count(talker, NULL, 0); /* most heartbeats name none */
	assert_int_equal(count_told(admin, "turns"), 7);
	tell_count(talker, "turns", 9);
	assert_int_equal(count_told(admin, "turns"), 9);
	peer_goodbye(talker);
	assert_int_equal(count_told(admin, "turns"), -1);
	desk_close(desk);
}

static void the_log_is_read_page_by_page_and_filtered(void **state)
{
	struct desk *desk = desk_open();
	struct peer *admin = peer_new(desk, "admin", "a"), *talker = peer_new(desk, "talker", "t");
	json_t *page, *message;

	(void)state;
	peer_hello(admin, "run", 0);
	peer_hello(talker, "run", 0);
	for (int i = 0; i < 10; i++)
		SAID(talker, .topic = i % 2 ? "fact" : "work", .key = i < 5 ? "early" : "late");
	page = peer_ask(admin, "read", "{\"from\":1,\"limit\":4}");
	assert_int_equal(json_array_size(json_object_get(page, "messages")), 4);
	assert_int_equal(json_integer_value(json_object_get(page, "next")), 5);
	json_decref(page);
	page = peer_ask(admin, "read", "{\"shop\":\"s\",\"key\":\"late\",\"topic\":\"fact\"}");
	assert_int_equal(json_array_size(json_object_get(page, "messages")), 3);
	assert_true(json_is_null(json_object_get(page, "next")));
	message = json_array_get(json_object_get(page, "messages"), 0);
	assert_int_equal(json_integer_value(json_object_get(message, "seq")), 6);
	assert_string_equal(json_string_value(json_object_get(message, "said_by")), "talker");
	assert_string_equal(json_string_value(json_object_get(message, "payload")), "dGV4dA==");
	json_decref(page);
	desk_close(desk);
}

static json_t *numbers_read(struct peer *admin, const char *argument, bool *ret_more)
{
	json_t *page = peer_ask(admin, "read", argument), *numbers = json_array(), *message;
	size_t i;

	assert_non_null(page);
	json_array_foreach(json_object_get(page, "messages"), i, message)
		json_array_append(numbers, json_object_get(message, "seq"));
	*ret_more = !json_is_null(json_object_get(page, "next"));
	json_decref(page);
	return numbers;
}

static void several_topics_are_read_together_in_the_order_of_the_log(void **state)
{
	struct desk *desk = desk_open();
	struct peer *admin = peer_new(desk, "admin", "a"), *talker = peer_new(desk, "talker", "t");
	const struct {
		const char *argument, *numbers;
		bool more;
	} cases[] = {
		{ "{\"topics\":[\"fact\",\"row\"]}", "[2,3,5,6]", false },
		{ "{\"topics\":[\"fact\",\"row\"],\"limit\":2}", "[2,3]", true },
		{ "{\"topics\":[\"fact\",\"row\"],\"from\":4}", "[5,6]", false },
		{ "{\"topics\":[\"row\"],\"from\":7}", "[]", false },
		{ "{\"topics\":[]}", "[1,2,3,4,5,6]", false },
	};
	static const char *const said[] = { "work", "fact", "row", "work", "fact", "row" };

	(void)state;
	peer_hello(admin, "run", 0);
	peer_hello(talker, "run", 0);
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		SAID(talker, .topic = said[i]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *expected = json_loads(cases[i].numbers, 0, NULL);
		bool more;
		json_t *numbers = numbers_read(admin, cases[i].argument, &more);

		assert_true(json_equal(numbers, expected));
		assert_int_equal(more, cases[i].more);
		json_decref(numbers);
		json_decref(expected);
	}
	assert_null(peer_ask(admin, "read", "{\"topics\":[\"fact\",\"nosuch\"]}"));
	assert_null(peer_ask(admin, "read", "{\"topics\":[1]}"));
	desk_close(desk);
}

static void a_page_has_a_hundred_messages_unless_asked_otherwise_and_never_more_than_a_thousand(void **state)
{
	enum { SAID = 1001 };
	static const struct {
		const char *argument;
		size_t count;
		json_int_t next; /* 0: none */
	} cases[] = {
		{ "{}", 100, 101 },
		{ "{\"limit\":1}", 1, 2 },
		{ "{\"limit\":0}", 1000, 1001 },
		{ "{\"limit\":1000}", 1000, 1001 },
		{ "{\"limit\":1001}", 1000, 1001 },
		{ "{\"from\":0,\"limit\":1000}", 1000, 1001 },
		{ "{\"from\":2,\"limit\":1000}", 1000, 0 },
		{ "{\"from\":3,\"limit\":1000}", 999, 0 },
		{ "{\"from\":1001}", 1, 0 },
		{ "{\"from\":1002}", 0, 0 },
	};
	struct desk *desk = desk_open();
	struct peer *admin = peer_new(desk, "admin", "a"), *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(admin, "run", 0);
	peer_hello(talker, "run", 0);
	for (int i = 0; i < SAID; i++)
		PUBLISH(talker, .topic = "fact");
	desk_work(desk);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *page = peer_ask(admin, "read", cases[i].argument);

		assert_int_equal(json_array_size(json_object_get(page, "messages")), cases[i].count);
		assert_int_equal(json_integer_value(json_object_get(page, "next")), cases[i].next);
		json_decref(page);
	}
	desk_close(desk);
}

static void a_snapshot_is_made_where_there_is_a_folder_for_it_and_tells_what_it_holds(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *admin = peer_new(desk, "admin", "a"), *talker = peer_new(desk, "talker", "t");
	struct store *copy = NULL;
	const char *path;
	json_t *answer;
	char why[512];

	(void)state;
	peer_hello(admin, "run", 0);
	assert_null(peer_ask(admin, "snapshot", "{}"));
	assert_non_null(strstr(buffer_text(&admin->answer), "this broker has no folder for snapshots"));
	desk_crash(desk);
	desk->settings.snapshots = desk->path;
	assert_int_equal(desk_start(desk, desk_topology), 0);
	peer_hello(admin, "again", 0);
	peer_hello(talker, "again", 0);
	SAID(talker, .topic = "fact");
	SAID(talker, .topic = "fact");
	answer = peer_ask(admin, "snapshot", "{}");
	assert_non_null(answer);
	assert_int_equal(json_integer_value(json_object_get(answer, "head")), 2);
	assert_int_equal(json_integer_value(json_object_get(answer, "at_us")), clock_wall_us(&desk->clock));
	assert_true(json_string_length(json_object_get(answer, "log")) > 0);
	assert_true(json_string_length(json_object_get(answer, "origin")) > 0);
	path = json_string_value(json_object_get(answer, "path"));
	assert_true(text_starts(path, desk->path));
	assert_int_equal(store_open_read_only(path, &broker_store_options, &copy, why), 0);
	store_close(copy);
	json_decref(answer);
	desk_close(desk);
}

static void nothing_is_released_where_nothing_was_held(void **state)
{
	struct desk *desk = desk_open();
	struct peer *admin = peer_new(desk, "admin", "a");
	json_t *answer;

	(void)state;
	peer_hello(admin, "run", 0);
	answer = peer_ask(admin, "claims.release", "{}");
	assert_true(json_is_false(json_object_get(answer, "were_held")));
	json_decref(answer);
	desk_close(desk);
}

static void a_long_answer_comes_in_chunks_that_join(void **state)
{
	struct desk *desk = desk_open();
	struct peer *admin = peer_new(desk, "admin", "a"), *talker = peer_new(desk, "talker", "t");
	char *text = calloc(1, 50001);
	json_t *page;

	(void)state;
	memset(text, 'x', 50000);
	peer_hello(admin, "run", 0);
	peer_hello(talker, "run", 0);
	for (int i = 0; i < 4; i++)
		SAID(talker, .topic = "fact", .text = text);
	page = peer_ask(admin, "read", "{}");
	assert_non_null(page);
	assert_int_equal(json_array_size(json_object_get(page, "messages")), 4);
	json_decref(page);
	free(text);
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_an_operator_is_answered),
		cmocka_unit_test(a_question_that_makes_no_sense_is_answered_with_what_is_wrong),
		cmocka_unit_test(who_is_told_to_fold_anew_is_told_once_and_nobody_else_is),
		cmocka_unit_test(status_tells_sessions_queues_and_gateways),
		cmocka_unit_test(what_a_process_counts_is_told_as_long_as_its_session_lasts),
		cmocka_unit_test(the_log_is_read_page_by_page_and_filtered),
		cmocka_unit_test(several_topics_are_read_together_in_the_order_of_the_log),
		cmocka_unit_test(a_page_has_a_hundred_messages_unless_asked_otherwise_and_never_more_than_a_thousand),
		cmocka_unit_test(a_snapshot_is_made_where_there_is_a_folder_for_it_and_tells_what_it_holds),
		cmocka_unit_test(nothing_is_released_where_nothing_was_held),
		cmocka_unit_test(a_long_answer_comes_in_chunks_that_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
