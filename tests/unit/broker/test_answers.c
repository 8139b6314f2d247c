/* test_answers.c: what the operator is told of dead letters and of erasures, field by field and page by page */
#include "bus/broker/admin/erase.h"
#include "bus/broker/core.h"
#include "desk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct scene {
	struct desk *desk;
	struct peer *talker, *worker, *single, *admin;
};

static struct scene set_scene(bool on_disk)
{
	struct scene scene = { .desk = on_disk ? desk_open_disk() : desk_open() };

	scene.talker = peer_new(scene.desk, "talker", "t");
	scene.worker = peer_new(scene.desk, "worker", "w");
	scene.single = peer_new(scene.desk, "single", "s");
	scene.admin = peer_new(scene.desk, "admin", "a");
	peer_hello(scene.talker, "run", 0);
	peer_hello(scene.admin, "run", 0);
	return scene;
}

static json_t *ask(struct scene *scene, const char *verb, const char *argument)
{
	json_t *answer = peer_ask(scene->admin, verb, argument);

	if (!answer)
		fail_msg("%s %s: %s", verb, argument,
			scene->admin->answer.len ? buffer_text(&scene->admin->answer) : "");
	return answer;
}

static void expect_refused(struct scene *scene, const char *verb, const char *argument, const char *words)
{
	assert_null(peer_ask(scene->admin, verb, argument));
	assert_non_null(strstr(buffer_text(&scene->admin->answer), words));
}

/* What it was handed dies. */
static void let_die(struct peer *peer, const char *reason)
{
	for (struct item *item; (item = peer_delivery(peer));) {
		Receipt receipt = item->down.what.delivery.receipt;

		TURN(peer, &receipt, .kind = VERDICT_DEAD, .reason = reason);
	}
}

/* ---- dead letters ---- */

/* "worker/1 single/2" */
static void expect_letters(struct scene *scene, const char *argument, const char *wanted, const char *next)
{
	json_t *answer = ask(scene, "dead.list", argument), *letter, *from = json_object_get(answer, "next");
	char found[2000] = "", place[100] = "";
	size_t i;

	json_array_foreach(json_object_get(answer, "dead"), i, letter)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s/%lld", i ? " " : "",
			json_string_value(json_object_get(letter, "queue")),
			json_integer_value(json_object_get(letter, "seq")));
	assert_string_equal(found, wanted);
	if (!json_is_null(from))
		snprintf(place, sizeof(place), "%s/%lld", json_string_value(json_object_get(from, "queue")),
			json_integer_value(json_object_get(from, "seq")));
	assert_string_equal(place, next);
	json_decref(answer);
}

static void a_letter_is_told_with_all_that_is_known_of_it(void **state)
{
	struct scene scene = set_scene(false);
	int64_t said_us = clock_wall_us(&scene.desk->clock), died_us;
	json_t *answer, *letter, *event;
	Receipt receipt;

	(void)state;
	SAID(scene.talker, .topic = "fact", .shop = "demo", .key = "c-1");
	peer_hello(scene.single, "run", 0);
	desk_pass(scene.desk, US_PER_S);
	receipt = peer_delivery(scene.single)->down.what.delivery.receipt;
	TURN(scene.single, &receipt, .kind = VERDICT_RETURN, .failed = true, .reason = "not this time");
	desk_pass(scene.desk, US_PER_S);
	died_us = clock_wall_us(&scene.desk->clock);
	receipt = peer_delivery(scene.single)->down.what.delivery.receipt;
	TURN(scene.single, &receipt, .kind = VERDICT_DEAD, .reason = "nobody can decide on this");
	answer = ask(&scene, "dead.list", "{}");
	letter = json_array_get(json_object_get(answer, "dead"), 0);
	assert_string_equal(json_string_value(json_object_get(letter, "queue")), "single");
	assert_int_equal(json_integer_value(json_object_get(letter, "seq")), 1);
	assert_string_equal(json_string_value(json_object_get(letter, "topic")), "fact");
	assert_string_equal(json_string_value(json_object_get(letter, "shop")), "demo");
	assert_string_equal(json_string_value(json_object_get(letter, "key")), "c-1");
	assert_string_equal(json_string_value(json_object_get(letter, "reason")),
		"nobody can decide on this (s)"); /* and who said so */
	assert_in_range(json_integer_value(json_object_get(letter, "time_us")), said_us, said_us + US_PER_S / 2);
	assert_in_range(json_integer_value(json_object_get(letter, "died_us")), died_us, died_us + US_PER_S / 2);
	assert_true(json_is_false(json_object_get(letter, "replayed")));
	event = json_array_get(json_object_get(letter, "history"), 0);
	assert_string_equal(json_string_value(json_object_get(event, "reason")), "not this time");
	assert_string_equal(json_string_value(json_object_get(event, "by")), "s");
	assert_in_range(json_integer_value(json_object_get(event, "at_us")), said_us + US_PER_S, died_us);
	assert_null(json_object_get(letter, "payload")); /* in a list there may be many */
	json_decref(answer);
	answer = ask(&scene, "dead.show", "{\"queue\":\"single\",\"seq\":1}");
	assert_string_equal(json_string_value(json_object_get(answer, "payload")), "dGV4dA=="); /* text */
	assert_string_equal(json_string_value(json_object_get(answer, "key")), "c-1");
	json_decref(answer);
	desk_close(scene.desk);
}

static void letters_come_queue_by_queue_and_page_by_page(void **state)
{
	struct scene scene = set_scene(false);

	(void)state;
	peer_hello(scene.worker, "run", 0);
	peer_hello(scene.single, "run", 0);
	expect_letters(&scene, "{}", "", "");
	for (int i = 0; i < 6; i++)
		SAID(scene.talker, .topic = i % 2 ? "fact" : "work", .key = i < 3 ? "a" : "b",
			.shop = i < 4 ? "s" : "other");
	for (int i = 0; i < 3; i++) {
		let_die(scene.worker, "bad work");
		let_die(scene.single, "bad fact");
		desk_work(scene.desk);
	}
	expect_letters(&scene, "{}", "single/2 single/4 single/6 worker/1 worker/3 worker/5", "");
	expect_letters(&scene, "{\"queue\":\"single\"}", "single/2 single/4 single/6", "");
	expect_letters(&scene, "{\"queue\":\"worker\"}", "worker/1 worker/3 worker/5", "");
	expect_letters(&scene, "{\"limit\":2}", "single/2 single/4", "single/6");
	expect_letters(
		&scene, "{\"limit\":2,\"from\":{\"queue\":\"single\",\"seq\":6}}", "single/6 worker/1", "worker/3");
	expect_letters(&scene, "{\"limit\":2,\"from\":{\"queue\":\"worker\",\"seq\":3}}", "worker/3 worker/5", "");
	expect_letters(&scene, "{\"queue\":\"worker\",\"limit\":1}", "worker/1", "worker/3");
	expect_letters(&scene, "{\"queue\":\"worker\",\"limit\":3}", "worker/1 worker/3 worker/5", "");
	expect_letters(&scene, "{\"queue\":\"worker\",\"limit\":0}", "worker/1 worker/3 worker/5", "");
	expect_letters(&scene, "{\"shop\":\"other\"}", "single/6 worker/5", "");
	expect_letters(&scene, "{\"topic\":\"work\"}", "worker/1 worker/3 worker/5", "");
	expect_letters(&scene, "{\"reason\":\"bad fact\"}", "single/2 single/4 single/6", "");
	expect_refused(&scene, "dead.list", "{\"queue\":\"nobody\"}", "nobody");
	desk_close(scene.desk);
}

static void a_letter_that_there_is_not_cannot_be_acted_on(void **state)
{
	static const char *const verbs[] = { "dead.show", "dead.redrive" };
	struct scene scene = set_scene(false);
	json_t *answer;

	(void)state;
	peer_hello(scene.worker, "run", 0);
	SAID(scene.talker, .topic = "work");
	let_die(scene.worker, "bad work");
	for (size_t i = 0; i < 2; i++) {
		expect_refused(&scene, verbs[i], "{\"queue\":\"worker\"}", "which dead letter?");
		expect_refused(
			&scene, verbs[i], "{\"queue\":\"worker\",\"seq\":2}", "queue worker has no dead letter 2");
		expect_refused(
			&scene, verbs[i], "{\"queue\":\"single\",\"seq\":1}", "queue single has no dead letter 1");
		expect_refused(&scene, verbs[i], "{\"queue\":\"nobody\",\"seq\":1}", "nobody");
	}
	expect_refused(&scene, "dead.drop", "{\"queue\":\"worker\",\"seq\":1}", "say why");
	expect_refused(&scene, "dead.drop", "{\"queue\":\"worker\",\"seq\":2,\"why\":\"x\"}", "has no dead letter 2");
	answer = ask(&scene, "dead.drop", "{\"queue\":\"worker\",\"seq\":1,\"why\":\"x\"}");
	json_decref(answer);
	desk_work(scene.desk);
	expect_letters(&scene, "{}", "", "");
	expect_refused(&scene, "dead.show", "{\"queue\":\"worker\",\"seq\":1}", "has no dead letter 1");
	desk_close(scene.desk);
}

/* ---- erasures ---- */

static void expect_erasure(json_t *answer, const char *phase, bool running, int messages)
{
	assert_string_equal(json_string_value(json_object_get(answer, "phase")), phase);
	assert_int_equal(json_is_true(json_object_get(answer, "running")), running);
	assert_int_equal(json_integer_value(json_object_get(answer, "messages")), messages);
	json_decref(answer);
}

static void finish(struct scene *scene)
{
	for (int i = 0; erase_is_running(scene->desk->broker) && i < 100000; i++)
		desk_pass(scene->desk, 20 * US_PER_MS);
	assert_false(erase_is_running(scene->desk->broker));
	desk_work(scene->desk);
}

static void an_erasure_is_asked_for_bit_by_bit_and_runs_when_it_is_told_to(void **state)
{
	struct scene scene = set_scene(true);

	(void)state;
	for (int i = 0; i < 5; i++)
		SAID(scene.talker, .topic = "raw", .key = i % 2 ? "odd" : "even");
	expect_erasure(ask(&scene, "erasure", "{}"), "none", false, 0);
	expect_refused(&scene, "erase", "{\"messages\":[1]}", "no erasure has begun");
	expect_refused(&scene, "erase", "{\"run\":true}", "no erasure has begun");
	expect_erasure(ask(&scene, "erase", "{\"begin\":true}"), "asked", false, 0);
	expect_erasure(ask(&scene, "erase", "{\"messages\":[2,0,-1]}"), "asked", false, 1); /* no number of a message */
	expect_erasure(ask(&scene, "erase", "{\"with_keys\":[4]}"), "asked", false, 2);
	expect_erasure(ask(&scene, "erase", "{\"begin\":true}"), "asked", false, 0); /* anew */
	expect_erasure(ask(&scene, "erase", "{\"messages\":[2,4]}"), "asked", false, 2);
	json_decref(ask(&scene, "erase", "{\"run\":true}"));
	assert_true(erase_is_running(scene.desk->broker));
	expect_refused(&scene, "erase", "{\"begin\":true}", "an erasure is running: wait until it is done");
	expect_refused(&scene, "erase", "{\"messages\":[1]}", "an erasure is running: wait until it is done");
	finish(&scene);
	expect_erasure(ask(&scene, "erasure", "{}"), "done", false, 2);
	expect_refused(&scene, "erase", "{\"messages\":[1]}", "no erasure has begun");
	desk_close(scene.desk);
}

/* What a copy of the log must lose as well: the hash of its key tells that it is the same message. */
static void what_was_erased_is_told_with_its_time_and_the_hash_of_its_key(void **state)
{
	struct scene scene = set_scene(true);
	json_t *answer, *list;

	(void)state;
	for (int i = 0; i < 5; i++)
		SAID(scene.talker, .topic = "raw", .key = i == 4 ? "other" : "same");
	answer = ask(&scene, "erased", "{}");
	assert_int_equal(json_array_size(json_object_get(answer, "erased")), 0);
	assert_true(json_is_null(json_object_get(answer, "next")));
	assert_true(json_string_length(json_object_get(answer, "log")) > 0);
	json_decref(answer);
	json_decref(ask(&scene, "erase", "{\"begin\":true,\"messages\":[1,3,5],\"run\":true}"));
	finish(&scene);
	answer = ask(&scene, "erased", "{}");
	list = json_object_get(answer, "erased");
	assert_int_equal(json_array_size(list), 3);
	for (size_t i = 0; i < 3; i++) {
		json_t *one = json_array_get(list, i), *first = json_array_get(list, 0);

		assert_int_equal(json_integer_value(json_object_get(one, "seq")), 1 + 2 * i);
		assert_int_equal(json_string_length(json_object_get(one, "hash")), 16);
		assert_int_equal(json_equal(json_object_get(one, "hash"), json_object_get(first, "hash")), i < 2);
		assert_true(json_integer_value(json_object_get(one, "time_us")) > 0);
	}
	json_decref(answer);
	static const struct {
		const char *argument;
		size_t count;
	} cases[] = { { "{\"from\":1}", 3 }, { "{\"from\":2}", 2 }, { "{\"from\":5}", 1 }, { "{\"from\":6}", 0 },
		{ "{\"from\":1000}", 0 }, { "{\"from\":0}", 0 } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		answer = ask(&scene, "erased", cases[i].argument);
		assert_int_equal(json_array_size(json_object_get(answer, "erased")), cases[i].count);
		assert_true(json_is_null(json_object_get(answer, "next")));
		json_decref(answer);
	}
	desk_close(scene.desk);
}

/* A page ends after five hundred, or when enough was looked at: nothing else waits for it meanwhile. */
static void of_many_that_were_erased_a_page_is_told(void **state)
{
	enum { MANY = 501 };
	struct scene scene = set_scene(true);
	struct buffer argument = { 0 };
	json_t *answer;

	(void)state;
	buffer_add_text(&argument, "{\"begin\":true,\"run\":true,\"messages\":[0");
	for (int i = 1; i <= MANY; i++) {
		PUBLISH(scene.talker, .topic = "raw");
		buffer_printf(&argument, ",%d", i);
	}
	desk_work(scene.desk);
	buffer_add_text(&argument, "]}");
	json_decref(ask(&scene, "erase", buffer_text(&argument)));
	finish(&scene);
	answer = ask(&scene, "erased", "{}");
	assert_int_equal(json_array_size(json_object_get(answer, "erased")), MANY - 1);
	assert_int_equal(json_integer_value(json_object_get(answer, "next")), MANY);
	json_decref(answer);
	answer = ask(&scene, "erased", "{\"from\":501}");
	assert_int_equal(json_array_size(json_object_get(answer, "erased")), 1);
	assert_true(json_is_null(json_object_get(answer, "next")));
	json_decref(answer);
	buffer_free(&argument);
	desk_close(scene.desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_letter_is_told_with_all_that_is_known_of_it),
		cmocka_unit_test(letters_come_queue_by_queue_and_page_by_page),
		cmocka_unit_test(a_letter_that_there_is_not_cannot_be_acted_on),
		cmocka_unit_test(an_erasure_is_asked_for_bit_by_bit_and_runs_when_it_is_told_to),
		cmocka_unit_test(what_was_erased_is_told_with_its_time_and_the_hash_of_its_key),
		cmocka_unit_test(of_many_that_were_erased_a_page_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
