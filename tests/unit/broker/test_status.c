/* test_status.c: how the broker says that it, its sessions, queues and gateways are: each number that an admin or an alarm goes by */
#include "bus/base/text.h"
#include "bus/broker/core.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct scene {
	struct desk *desk;
	struct peer *admin;
};

static struct scene set_scene(void)
{
	struct scene scene = { .desk = desk_open() };

	scene.admin = peer_new(scene.desk, "admin", "a");
	peer_hello(scene.admin, "run", 0);
	return scene;
}

static json_t *ask(struct scene *scene, const char *verb, const char *argument)
{
	json_t *answer = peer_ask(scene->admin, verb, argument);

	if (!answer)
		fail_msg("%s: %s", verb, buffer_text(&scene->admin->answer));
	return answer;
}

/* In the list of this name, the one whose `field` says `word`. */
static json_t *one_of(const json_t *status, const char *list, const char *field, const char *word)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(status, list), i, one)
	{
		const char *found = json_string_value(json_object_get(one, field));

		if (found && strcmp(found, word) == 0)
			return one;
	}
	return NULL;
}

static void expect_number(const json_t *object, const char *name, json_int_t wanted)
{
	const json_t *found = json_object_get(object, name);

	if (!json_is_integer(found) || json_integer_value(found) != wanted)
		fail_msg("%s is %lld and not %lld", name, json_integer_value(found), wanted);
}

static void expect_text(const json_t *object, const char *name, const char *wanted)
{
	assert_non_null(json_object_get(object, name));
	assert_string_equal(json_string_value(json_object_get(object, name)), wanted);
}

static void a_session_is_told_with_how_far_it_is_and_how_long_it_was_silent(void **state)
{
	struct scene scene = set_scene();
	struct peer *talker = peer_new(scene.desk, "talker", "t-1"), *worker = peer_new(scene.desk, "worker", "w-1"),
		    *door = peer_new(scene.desk, "door", "d-1"), *slow = peer_new(scene.desk, "worker", "w-2");
	static Hello hello = { .run = "run-s", .cursor = 2 };
	json_t *status, *session;

	(void)state;
	peer_hello(talker, "run-t", 0);
	for (int i = 0; i < 5; i++)
		SAID(talker, .topic = i < 3 ? "work" : "row", .key = i == 0 ? "a" : i == 1 ? "b" : "c");
	peer_hello(worker, "run-w", 2);
	peer_hello(door, "run-d", 0);
	peer_say_hello(slow, &hello); /* and takes nothing yet */
	desk_work(scene.desk);
	peer_heartbeat(door, 7);
	desk_pass_silent(scene.desk, US_PER_S / 2);
	peer_heartbeat(worker, 0);
	status = ask(&scene, "status", "{}");
	session = one_of(status, "sessions", "instance", "w-1");
	assert_non_null(session);
	expect_text(session, "service", "worker");
	expect_text(session, "run", "run-w");
	expect_text(session, "who", worker->who);
	expect_number(session, "epoch", (json_int_t)worker->epoch);
	expect_number(session, "in_flight", 3);
	expect_number(session, "silent_us", 0);
	assert_true(json_is_true(json_object_get(session, "active")));
	expect_number(session, "cursor", 5);
	expect_number(session, "lag", 0);
	session = one_of(status, "sessions", "instance", "w-2");
	expect_number(session, "cursor", 2);
	expect_number(session, "lag", 3);
	session = one_of(status, "sessions", "instance", "d-1");
	expect_text(session, "service", "door");
	expect_number(session, "spooled", 7);
	expect_number(session, "in_flight", 0);
	expect_number(session, "silent_us", US_PER_S / 2);
	session = one_of(status, "sessions", "instance", "t-1");
	expect_number(session, "spooled", 0);
	json_decref(status);
	desk_close(scene.desk);
}

static void a_queue_is_told_by_what_is_ready_out_put_off_and_dead(void **state)
{
	struct scene scene = set_scene();
	struct peer *talker = peer_new(scene.desk, "talker", "t"), *worker = peer_new(scene.desk, "worker", "w");
	Receipt receipts[5];
	json_t *status, *queue;
	int64_t begun_us;

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	for (int i = 0; i < 5; i++) {
		char key[] = { (char)('a' + i), '\0' };

		SAID(talker, .topic = "work", .key = key);
		receipts[i] = peer_delivery(worker)->down.what.delivery.receipt;
	}
	begun_us = clock_wall_us(&scene.desk->clock);
	SAID(talker, .topic = "fact", .key = "x"); /* of which nobody comes */
	desk_pass(scene.desk, US_PER_S);
	SAID(talker, .topic = "fact", .key = "y");
	TURN(worker, &receipts[0], .kind = VERDICT_DONE);
	TURN(worker, &receipts[1], .kind = VERDICT_DEAD, .reason = "bad");
	TURN(worker, &receipts[2], .kind = VERDICT_RETURN, .failed = true, .delay_us = US_PER_HOUR, .reason = "later");
	status = ask(&scene, "status", "{}");
	queue = one_of(status, "queues", "name", "worker");
	expect_number(queue, "ready", 0);
	expect_number(queue, "leased", 2);
	expect_number(queue, "delayed", 1);
	expect_number(queue, "dead", 1);
	expect_number(queue, "paused_us", 0);
	expect_number(queue, "tries", 0);
	expect_text(queue, "outage", "");
	queue = one_of(status, "queues", "name", "single");
	expect_number(queue, "ready", 2);
	expect_number(queue, "leased", 0);
	expect_number(queue, "delayed", 0);
	expect_number(queue, "dead", 0);
	expect_number(queue, "failures", 0);
	expect_number(queue, "unread", 0);
	assert_in_range(json_integer_value(json_object_get(queue, "oldest_us")), begun_us, begun_us + US_PER_S / 2);
	json_decref(status);
	status = ask(&scene, "queues", "{}");
	assert_int_equal(json_array_size(json_object_get(status, "queues")), 2);
	expect_number(one_of(status, "queues", "name", "worker"), "leased", 2);
	json_decref(status);
	desk_close(scene.desk);
}

static void a_gateway_is_told_of_also_when_it_is_away_until_it_is_struck_off(void **state)
{
	static const char letters_63[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	struct scene scene = set_scene();
	struct peer *door = peer_new(scene.desk, "door", "d-1"), *other = peer_new(scene.desk, "door", "d-2");
	char argument[120];
	json_t *status, *gateway;

	(void)state;
	peer_hello(door, "run", 0);
	peer_hello(other, "run", 0);
	peer_heartbeat(door, 7);
	status = ask(&scene, "status", "{}");
	assert_int_equal(json_array_size(json_object_get(status, "gateways")), 2);
	gateway = one_of(status, "gateways", "name", "d-1");
	assert_true(json_is_true(json_object_get(gateway, "alive")));
	expect_number(gateway, "spooled", 7);
	expect_number(one_of(status, "gateways", "name", "d-2"), "spooled", 0);
	json_decref(status);
	peer_goodbye(door);
	status = ask(&scene, "status", "{}");
	gateway = one_of(status, "gateways", "name", "d-1");
	assert_true(json_is_false(json_object_get(gateway, "alive")));
	assert_true(json_is_null(json_object_get(gateway, "spooled"))); /* nobody knows */
	assert_true(json_is_true(json_object_get(one_of(status, "gateways", "name", "d-2"), "alive")));
	json_decref(status);
	assert_null(peer_ask(scene.admin, "gateway.strike", "{}"));
	assert_non_null(strstr(buffer_text(&scene.admin->answer), "say which"));
	snprintf(argument, sizeof(argument), "{\"name\":\"%sb\"}", letters_63);
	assert_null(peer_ask(scene.admin, "gateway.strike", argument));
	snprintf(argument, sizeof(argument), "{\"name\":\"%s\"}", letters_63);
	status = ask(&scene, "gateway.strike", argument);
	assert_true(json_is_false(json_object_get(status, "struck"))); /* there is none of that name */
	json_decref(status);
	status = ask(&scene, "gateway.strike", "{\"name\":\"d-1\"}");
	assert_true(json_is_true(json_object_get(status, "struck")));
	json_decref(status);
	desk_work(scene.desk);
	status = ask(&scene, "status", "{}");
	assert_null(one_of(status, "gateways", "name", "d-1"));
	assert_int_equal(json_array_size(json_object_get(status, "gateways")), 1);
	json_decref(status);
	desk_close(scene.desk);
}

static void the_broker_itself_is_told_with_its_log_and_its_times(void **state)
{
	struct scene scene = set_scene();
	struct peer *talker = peer_new(scene.desk, "talker", "t");
	int64_t wall_us;
	json_t *status, *kept;

	(void)state;
	peer_hello(talker, "run", 0);
	status = ask(&scene, "status", "{}");
	expect_number(status, "head", 0);
	expect_number(status, "committed", 0);
	json_decref(status);
	for (int i = 0; i < 3; i++)
		SAID(talker, .topic = "fact");
	desk_pass(scene.desk, 5 * US_PER_S);
	wall_us = clock_wall_us(&scene.desk->clock);
	status = ask(&scene, "status", "{}");
	expect_number(status, "head", 3);
	expect_number(status, "committed", 3);
	expect_number(status, "parked_claims", 0);
	assert_true(json_is_false(json_object_get(status, "claims_held")));
	assert_in_range(json_integer_value(json_object_get(status, "wall_us")), wall_us, wall_us + US_PER_S / 2);
	assert_in_range(json_integer_value(json_object_get(status, "uptime_us")), 5 * US_PER_S, 6 * US_PER_S);
	assert_true(json_string_length(json_object_get(status, "log")) == 32);
	assert_true(json_is_string(json_object_get(status, "host")));
	expect_text(json_object_get(status, "disk"), "why", "");
	assert_true(json_is_false(json_object_get(json_object_get(status, "disk"), "short")));
	expect_text(json_object_get(status, "clock"), "why", "");
	expect_number(json_object_get(status, "clock"), "jump_us", 0);
	expect_number(json_object_get(status, "side_log"), "damaged", 0);
	kept = json_object_get(status, "kept");
	expect_number(json_object_get(kept, "raw"), "from", 1);
	expect_number(json_object_get(kept, "facts"), "from", 1);
	expect_number(json_object_get(kept, "raw"), "age_us", scene.desk->settings.retention.raw_us);
	expect_number(json_object_get(kept, "facts"), "age_us", scene.desk->settings.retention.facts_us);
	json_decref(status);
	desk_close(scene.desk);
}

static void connections_are_told_as_they_were_noted_last(void **state)
{
	static const struct broker_connections noted = {
		.open = 12, .unproven = 3, .turned_away = 4, .descriptors = 1024
	};
	struct scene scene = set_scene();
	json_t *status, *connections;
	int64_t wall_us;

	(void)state;
	broker_note_connections(scene.desk->broker, &noted);
	status = ask(&scene, "status", "{}");
	connections = json_object_get(status, "connections");
	expect_number(connections, "open", 12);
	expect_number(connections, "unproven", 3);
	expect_number(connections, "turned_away", 4);
	expect_number(connections, "descriptors", 1024);
	expect_number(connections, "last_us", 0);
	expect_text(connections, "last", "");
	json_decref(status);
	desk_pass(scene.desk, US_PER_S);
	wall_us = clock_wall_us(&scene.desk->clock);
	broker_turned_away(scene.desk->broker, 1, "tcp://0.0.0.0:7000", "192.0.2.7", "there are too many");
	status = ask(&scene, "status", "{}");
	connections = json_object_get(status, "connections");
	assert_in_range(json_integer_value(json_object_get(connections, "last_us")), wall_us, wall_us + US_PER_S / 2);
	assert_non_null(strstr(json_string_value(json_object_get(connections, "last")), "192.0.2.7"));
	expect_number(json_object_get(status, "refused"), "connection", 1);
	expect_number(json_object_get(status, "refused"), "frame", 0);
	json_decref(status);
	desk_close(scene.desk);
}

/* ---- what an operator may do about it ---- */

static void only_a_queue_that_is_paused_is_resumed(void **state)
{
	struct scene scene = set_scene();
	json_t *answer;

	(void)state;
	assert_null(peer_ask(scene.admin, "queue.resume", "{\"queue\":\"nobody\"}"));
	answer = ask(&scene, "queue.resume", "{\"queue\":\"worker\"}");
	assert_true(json_is_false(json_object_get(answer, "resumed")));
	json_decref(answer);
	desk_close(scene.desk);
}

static int reload(void *context, char ret_why[256])
{
	int *result = context;

	snprintf(ret_why, 256, "peers.conf, line 3");
	return *result;
}

static void who_may_come_is_read_anew_or_it_is_told_why_not(void **state)
{
	struct scene scene = set_scene();
	int result = -EINVAL;
	json_t *answer;

	(void)state;
	assert_null(peer_ask(scene.admin, "keys.reload", "{}"));
	assert_non_null(strstr(buffer_text(&scene.admin->answer), "this broker has no list of who may come"));
	broker_on_reload(scene.desk->broker, reload, &result);
	assert_null(peer_ask(scene.admin, "keys.reload", "{}"));
	assert_non_null(strstr(buffer_text(&scene.admin->answer), "peers.conf, line 3"));
	result = 0;
	answer = ask(&scene, "keys.reload", "{}");
	assert_true(json_is_true(json_object_get(answer, "reloaded")));
	json_decref(answer);
	desk_close(scene.desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_told_with_how_far_it_is_and_how_long_it_was_silent),
		cmocka_unit_test(a_queue_is_told_by_what_is_ready_out_put_off_and_dead),
		cmocka_unit_test(a_gateway_is_told_of_also_when_it_is_away_until_it_is_struck_off),
		cmocka_unit_test(the_broker_itself_is_told_with_its_log_and_its_times),
		cmocka_unit_test(connections_are_told_as_they_were_noted_last),
		cmocka_unit_test(only_a_queue_that_is_paused_is_resumed),
		cmocka_unit_test(who_may_come_is_read_anew_or_it_is_told_why_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
