/* dead letters: nothing is lost, and people decide */
#include "bus/base/text.h"
#include "desk.h"
#include <errno.h>
#include <pb_decode.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct scene {
	struct desk *desk;
	struct peer *talker, *worker, *admin, *reader;
};

static void greet(struct scene *scene, const char *run)
{
	peer_hello(scene->talker, run, 0);
	peer_hello(scene->worker, run, 0);
	peer_hello(scene->admin, run, 0);
	peer_hello(scene->reader, run, 0);
}

static struct scene set_scene(bool disk)
{
	struct scene scene = { .desk = disk ? desk_open_disk() : desk_open() };

	scene.talker = peer_new(scene.desk, "talker", "t");
	scene.worker = peer_new(scene.desk, "worker", "w");
	scene.admin = peer_new(scene.desk, "admin", "a");
	scene.reader = peer_new(scene.desk, "reader", "r");
	greet(&scene, "run");
	return scene;
}

static void kill_one(struct scene *scene, const char *reason)
{
	struct item *item = peer_delivery(scene->worker);

	assert_non_null(item);
	TURN(scene->worker, &item->down.what.delivery.receipt, .kind = VERDICT_DEAD, .reason = reason);
}

static uint64_t ask_number(struct scene *scene, const char *verb, const char *argument, const char *name)
{
	json_t *answer = peer_ask(scene->admin, verb, argument);
	json_int_t number;

	assert_non_null(answer);
	number = json_integer_value(json_object_get(answer, name));
	json_decref(answer);
	return (uint64_t)number;
}

static size_t count_dead(struct scene *scene)
{
	json_t *answer = peer_ask(scene->admin, "dead.list", "{}");
	size_t count = json_array_size(json_object_get(answer, "dead"));

	json_decref(answer);
	return count;
}

static void a_dead_letter_frees_its_key_and_is_itself_a_message(void **state)
{
	struct scene scene = set_scene(false);
	struct item *item;

	(void)state;
	SAID(scene.talker, .topic = "work");
	SAID(scene.talker, .topic = "work");
	kill_one(&scene, "no such cart");
	assert_int_equal(peer_delivery(scene.worker)->down.what.delivery.receipt.seq, 2);
	while ((item = peer_projection(scene.reader)) && strcmp(item->envelope.topic, "dead.letter") != 0)
		;
	assert_non_null(item);
	assert_int_equal(item->envelope.cause, 1);
	assert_string_equal(item->down.what.projection.said_by, "broker");
	desk_close(scene.desk);
}

static void a_dead_letter_keeps_payload_reason_and_history(void **state)
{
	struct scene scene = set_scene(true);
	json_t *answer;

	(void)state;
	SAID(scene.talker, .topic = "work", .text = "hello");
	for (int i = 0; i < 5; i++) {
		struct item *item = peer_delivery(scene.worker);

		assert_non_null(item);
		TURN(scene.worker, &item->down.what.delivery.receipt, .kind = VERDICT_RETURN, .failed = true,
			.reason = "it broke");
		desk_pass(scene.desk, (US_PER_S << i) + US_PER_S);
	}
	desk_crash(scene.desk);
	assert_int_equal(desk_start(scene.desk, desk_topology), 0);
	greet(&scene, "again");
	answer = peer_ask(scene.admin, "dead.show", "{\"queue\":\"worker\",\"seq\":1}");
	assert_non_null(answer);
	assert_string_equal(json_string_value(json_object_get(answer, "payload")), "aGVsbG8=");
	assert_non_null(strstr(json_string_value(json_object_get(answer, "reason")), "it broke"));
	assert_int_equal(json_integer_value(json_object_get(answer, "failures")), 5);
	assert_int_equal(json_array_size(json_object_get(answer, "history")), 5);
	json_decref(answer);
	desk_close(scene.desk);
}

static void a_redriven_letter_comes_late_with_its_old_number_and_then_is_gone(void **state)
{
	struct scene scene = set_scene(false);
	struct item *item;

	(void)state;
	SAID(scene.talker, .topic = "work", .text = "hello");
	kill_one(&scene, "no");
	assert_int_equal(ask_number(&scene, "dead.redrive", "{\"queue\":\"worker\",\"seq\":1}", "redriven"), 1);
	item = peer_delivery(scene.worker);
	assert_non_null(item);
	assert_int_equal(item->down.what.delivery.redriven_from, 1);
	assert_int_equal(item->down.what.delivery.receipt.seq, 1);
	assert_string_equal(item->down.what.delivery.said_by, "talker");
	assert_int_equal(count_dead(&scene), 0);
	TURN(scene.worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
	assert_null(peer_ask(scene.admin, "dead.show", "{\"queue\":\"worker\",\"seq\":1}"));
	desk_close(scene.desk);
}

static void a_redriven_letter_waits_behind_its_key_and_can_die_again(void **state)
{
	struct scene scene = set_scene(false);
	struct item *pending;

	(void)state;
	SAID(scene.talker, .topic = "work");
	SAID(scene.talker, .topic = "work");
	kill_one(&scene, "no");
	pending = peer_delivery(scene.worker);
	ask_number(&scene, "dead.redrive", "{\"queue\":\"worker\",\"all\":true}", "fed");
	assert_null(peer_delivery(scene.worker));
	TURN(scene.worker, &pending->down.what.delivery.receipt, .kind = VERDICT_DONE);
	kill_one(&scene, "still no");
	assert_int_equal(count_dead(&scene), 1);
	desk_close(scene.desk);
}

static void a_redrive_outlives_a_restart(void **state)
{
	struct scene scene = set_scene(true);
	struct item *item;

	(void)state;
	SAID(scene.talker, .topic = "work");
	kill_one(&scene, "no");
	peer_goodbye(scene.worker);
	ask_number(&scene, "dead.redrive", "{\"queue\":\"worker\",\"all\":true}", "redriven");
	desk_crash(scene.desk);
	assert_int_equal(desk_start(scene.desk, desk_topology), 0);
	greet(&scene, "again");
	desk_pass(scene.desk, 4 * US_PER_S);
	item = peer_delivery(scene.worker);
	assert_non_null(item);
	assert_int_equal(item->down.what.delivery.redriven_from, 1);
	desk_close(scene.desk);
}

static size_t count_history(struct scene *scene)
{
	json_t *answer = peer_ask(scene->admin, "dead.show", "{\"queue\":\"worker\",\"seq\":1}");
	size_t count = json_array_size(json_object_get(answer, "history"));

	assert_non_null(answer);
	json_decref(answer);
	return count;
}

static void what_is_refused_for_good_has_a_history_too_that_no_redrive_and_no_restart_ends(void **state)
{
	struct scene scene = set_scene(true);

	(void)state;
	SAID(scene.talker, .topic = "work");
	kill_one(&scene, "no such cart");
	assert_int_equal(count_history(&scene), 1);
	peer_goodbye(scene.worker);
	ask_number(&scene, "dead.redrive", "{\"queue\":\"worker\",\"seq\":1}", "redriven");
	desk_crash(scene.desk);
	assert_int_equal(desk_start(scene.desk, desk_topology), 0);
	greet(&scene, "again");
	desk_pass(scene.desk, 4 * US_PER_S);
	kill_one(&scene, "still no such cart");
	assert_int_equal(count_history(&scene), 2);
	desk_close(scene.desk);
}

static void of_a_long_history_the_last_failures_are_kept_in_their_order(void **state)
{
	enum { KEPT = 8, DEATHS = KEPT + 3 };
	struct scene scene = set_scene(false);
	json_t *answer, *failure;
	char reason[32];
	size_t i;

	(void)state;
	SAID(scene.talker, .topic = "work");
	for (int death = 1; death <= DEATHS; death++) {
		snprintf(reason, sizeof(reason), "death %d", death);
		kill_one(&scene, reason);
		if (death < DEATHS)
			ask_number(&scene, "dead.redrive", "{\"queue\":\"worker\",\"seq\":1}", "redriven");
	}
	answer = peer_ask(scene.admin, "dead.show", "{\"queue\":\"worker\",\"seq\":1}");
	assert_int_equal(json_array_size(json_object_get(answer, "history")), KEPT);
	json_array_foreach(json_object_get(answer, "history"), i, failure)
	{
		snprintf(reason, sizeof(reason), "death %zu", DEATHS - KEPT + 1 + i);
		assert_string_equal(json_string_value(json_object_get(failure, "reason")), reason);
		assert_string_equal(json_string_value(json_object_get(failure, "by")), "w");
	}
	json_decref(answer);
	desk_close(scene.desk);
}

/* After a restart the worker still has it in hand, while a newer one of its key has come. */
static void a_redriven_letter_in_hand_over_a_restart_is_still_its_holders(void **state)
{
	struct scene scene = set_scene(true);
	Hello *hello = calloc(1, sizeof(*hello));
	Receipt receipt;

	(void)state;
	SAID(scene.talker, .topic = "work");
	kill_one(&scene, "no");
	ask_number(&scene, "dead.redrive", "{\"queue\":\"worker\",\"seq\":1}", "redriven");
	receipt = peer_delivery(scene.worker)->down.what.delivery.receipt;
	SAID(scene.talker, .topic = "work");
	desk_crash(scene.desk);
	assert_int_equal(desk_start(scene.desk, desk_topology), 0);
	TEXT_COPY(hello->run, "run");
	hello->held_count = 1;
	TEXT_COPY(hello->held[0].queue, "worker");
	hello->held[0].seq = receipt.seq;
	hello->held[0].attempt = receipt.attempt;
	peer_say_hello(scene.worker, hello);
	peer_credit(scene.worker, 100, 100);
	receipt.epoch = scene.worker->epoch;
	assert_int_equal(TURN(scene.worker, &receipt, .kind = VERDICT_DONE).kind, CONFIRM_FRESH);
	peer_hello(scene.admin, "again", 0);
	assert_null(peer_ask(scene.admin, "dead.show", "{\"queue\":\"worker\",\"seq\":1}"));
	desk_pass(scene.desk, 4 * US_PER_S);
	assert_string_equal(
		peer_delivery(scene.worker)->envelope.topic, "work"); /* the newer one, now that it is its turn */
	free(hello);
	desk_close(scene.desk);
}

static void a_letter_that_is_redriven_is_not_redriven_again(void **state)
{
	struct scene scene = set_scene(false);
	struct item *item;

	(void)state;
	SAID(scene.talker, .topic = "work");
	kill_one(&scene, "no");
	assert_int_equal(ask_number(&scene, "dead.redrive", "{\"queue\":\"worker\",\"seq\":1}", "redriven"), 1);
	item = peer_delivery(scene.worker);
	assert_non_null(item);
	assert_null(peer_ask(scene.admin, "dead.redrive", "{\"queue\":\"worker\",\"seq\":1}"));
	assert_int_equal(
		TURN(scene.worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE).kind, CONFIRM_FRESH);
	assert_null(peer_delivery(scene.worker));
	desk_close(scene.desk);
}

static bool item_says(const struct item *item, const char *dropped)
{
	DeadLetter fact = { 0 };
	Envelope envelope;
	struct bytes payload;
	pb_istream_t stream;

	if (strcmp(item->envelope.topic, "dead.letter") != 0 ||
		message_read(buffer_bytes(&item->body), &envelope, &payload) < 0)
		return false;
	stream = pb_istream_from_buffer(payload.data, payload.len);
	return pb_decode(&stream, DeadLetter_fields, &fact) && strcmp(fact.dropped, dropped) == 0;
}

static void a_letter_is_dropped_only_with_a_reason_which_the_log_keeps(void **state)
{
	struct scene scene = set_scene(false);
	struct item *item;

	(void)state;
	SAID(scene.talker, .topic = "work");
	kill_one(&scene, "no");
	assert_null(peer_ask(scene.admin, "dead.drop", "{\"queue\":\"worker\",\"seq\":1}"));
	assert_int_equal(count_dead(&scene), 1);
	assert_int_equal(
		ask_number(&scene, "dead.drop", "{\"queue\":\"worker\",\"seq\":1,\"why\":\"test\"}", "dropped"), 1);
	assert_int_equal(count_dead(&scene), 0);
	while ((item = peer_projection(scene.reader)) && !item_says(item, "test"))
		;
	assert_non_null(item);
	assert_int_equal(item->envelope.cause, 1);
	desk_close(scene.desk);
}

static void ask_to_drop(const struct scene *scene)
{
	Control *said = calloc(1, sizeof(*said));

	said->which_what = Control_question_tag;
	TEXT_COPY(said->what.question.verb, "dead.drop");
	TEXT_COPY(said->what.question.argument, "{\"queue\":\"worker\",\"seq\":1,\"why\":\"test\"}");
	peer_control(scene->admin, said);
	free(said);
}

static void a_letter_that_two_drop_at_once_is_dropped_once(void **state)
{
	struct scene scene = set_scene(false);
	struct item *item;
	int told = 0;

	(void)state;
	SAID(scene.talker, .topic = "work");
	kill_one(&scene, "no");
	SAID(scene.talker, .topic = "work");
	kill_one(&scene, "no");
	ask_to_drop(&scene);
	ask_to_drop(&scene);
	desk_work(scene.desk);
	assert_false(scene.admin->answer_ok);
	assert_int_equal(count_dead(&scene), 1);
	while ((item = peer_projection(scene.reader)))
		told += item_says(item, "test");
	assert_int_equal(told, 1);
	desk_close(scene.desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dead_letter_frees_its_key_and_is_itself_a_message),
		cmocka_unit_test(a_dead_letter_keeps_payload_reason_and_history),
		cmocka_unit_test(a_redriven_letter_comes_late_with_its_old_number_and_then_is_gone),
		cmocka_unit_test(a_redriven_letter_waits_behind_its_key_and_can_die_again),
		cmocka_unit_test(a_redrive_outlives_a_restart),
		cmocka_unit_test(what_is_refused_for_good_has_a_history_too_that_no_redrive_and_no_restart_ends),
		cmocka_unit_test(of_a_long_history_the_last_failures_are_kept_in_their_order),
		cmocka_unit_test(a_redriven_letter_in_hand_over_a_restart_is_still_its_holders),
		cmocka_unit_test(a_letter_that_is_redriven_is_not_redriven_again),
		cmocka_unit_test(a_letter_is_dropped_only_with_a_reason_which_the_log_keeps),
		cmocka_unit_test(a_letter_that_two_drop_at_once_is_dropped_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
