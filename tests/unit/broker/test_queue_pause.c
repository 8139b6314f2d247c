/* an outage: the queue is paused, nothing dies, and it goes on when one message works */
#include "bus/base/text.h"
#include "desk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LETTERS = 12 };

struct scene {
	struct desk *desk;
	struct peer *door, *worker, *admin;
	int handed_out, done;
	uint32_t failures_most; /* that a letter had when it was handed out */
};

static void greet(struct scene *scene, const char *run)
{
	peer_hello(scene->door, run, 0);
	peer_hello(scene->worker, run, 0);
	peer_hello(scene->admin, run, 0);
}

static struct scene set_scene(bool disk, int letters)
{
	struct scene scene = { .desk = disk ? desk_open_disk() : desk_open() };
	char key[16];

	scene.door = peer_new(scene.desk, "door", "d");
	scene.worker = peer_new(scene.desk, "worker", "w");
	scene.admin = peer_new(scene.desk, "admin", "a");
	greet(&scene, "run");
	for (int i = 0; i < letters; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		SAID(scene.door, .topic = "work", .key = key);
	}
	return scene;
}

static void work(struct scene *scene, struct verdict_words how)
{
	struct item *item;

	while ((item = peer_delivery(scene->worker))) {
		if (item->down.what.delivery.failures > scene->failures_most)
			scene->failures_most = item->down.what.delivery.failures;
		peer_turned(scene->worker, &item->down.what.delivery.receipt, &how);
		scene->handed_out++;
		scene->done += how.kind == VERDICT_DONE;
	}
}

static void work_for(struct scene *scene, int64_t seconds, struct verdict_words how)
{
	for (int64_t i = 0; i < seconds; i++) {
		work(scene, how);
		desk_pass(scene->desk, US_PER_S);
	}
}

static json_int_t of_queue(struct scene *scene, const char *name)
{
	json_t *answer = peer_ask(scene->admin, "queues", "{}");
	json_int_t value = -1;
	json_t *queue;
	size_t i;

	json_array_foreach(json_object_get(answer, "queues"), i,
		queue) if (strcmp(json_string_value(json_object_get(queue, "name")), "worker") == 0) value =
		json_integer_value(json_object_get(queue, name));
	json_decref(answer);
	return value;
}

static const struct verdict_words fails = { .kind = VERDICT_RETURN, .failed = true, .reason = "no disk" };
static const struct verdict_words refuses = { .kind = VERDICT_DEAD, .reason = "no sense" };
static const struct verdict_words works = { .kind = VERDICT_DONE };

static void hold_out(struct scene *scene, struct verdict_words how)
{
	work_for(scene, 600, how);
	assert_int_equal(of_queue(scene, "dead"), 0);
	assert_true(of_queue(scene, "paused_us") > 0);
	assert_true(scene->handed_out < LETTERS + 25); /* once each, then tries: 1, 2, 4 ... 60 s apart */
}

static void while_everything_fails_nothing_dies_and_then_all_of_it_is_done(void **state)
{
	struct scene scene = set_scene(false, LETTERS);

	(void)state;
	hold_out(&scene, fails);
	scene.handed_out = 0;
	work_for(&scene, 200, works);
	assert_int_equal(scene.done, LETTERS);
	assert_int_equal(
		scene.failures_most, 1); /* of those that came before it was seen; else poison is made of them now */
	assert_int_equal(of_queue(&scene, "paused_us"), 0);
	desk_close(scene.desk);
}

static void the_operator_ends_a_pause_and_what_never_failed_goes_at_once(void **state)
{
	struct scene scene = set_scene(true, LETTERS);
	json_t *answer;

	(void)state;
	work_for(&scene, 20, fails);
	answer = peer_ask(scene.admin, "queue.resume", "{\"queue\":\"worker\"}");
	assert_true(json_is_true(json_object_get(answer, "resumed")));
	json_decref(answer);
	assert_int_equal(of_queue(&scene, "paused_us"), 0);
	for (int i = 0; i < 50; i++) {
		char key[16];

		snprintf(key, sizeof(key), "new%d", i);
		SAID(scene.door, .topic = "work", .key = key);
	}
	work(&scene, works);
	assert_true(scene.done >= 50);
	answer = peer_ask(scene.admin, "queue.resume", "{\"queue\":\"worker\"}");
	assert_true(json_is_false(json_object_get(answer, "resumed")));
	json_decref(answer);
	assert_null(peer_ask(scene.admin, "queue.resume", "{\"queue\":\"nobody\"}"));
	desk_crash(scene.desk);
	assert_int_equal(desk_start(scene.desk, desk_topology), 0);
	greet(&scene, "again");
	assert_int_equal(of_queue(&scene, "paused_us"), 0);
	desk_close(scene.desk);
}

static void a_service_that_refuses_everything_for_good_is_not_believed(void **state)
{
	struct scene scene = set_scene(false, LETTERS);

	(void)state;
	work_for(&scene, 600, refuses);
	assert_int_equal(of_queue(&scene, "dead"), 4); /* seen at the fifth */
	work_for(&scene, 200, works);
	assert_int_equal(scene.done, LETTERS - 4);
	desk_close(scene.desk);
}

static void a_paused_queue_is_paused_after_a_restart_and_nothing_dies_of_it(void **state)
{
	struct scene scene = set_scene(true, LETTERS);

	(void)state;
	for (int i = 0; i < 8; i++) {
		work_for(&scene, 20, fails);
		assert_true(of_queue(&scene, "paused_us") > 0);
		desk_crash(scene.desk);
		assert_int_equal(desk_start(scene.desk, desk_topology), 0);
		greet(&scene, "again");
		assert_true(of_queue(&scene, "paused_us") > 0);
	}
	assert_int_equal(of_queue(&scene, "dead"), 0);
	work_for(&scene, 200, works);
	assert_int_equal(scene.done, LETTERS);
	desk_crash(scene.desk);
	assert_int_equal(desk_start(scene.desk, desk_topology), 0);
	greet(&scene, "and again");
	assert_int_equal(of_queue(&scene, "paused_us"), 0);
	desk_close(scene.desk);
}

/* What fails comes back again and again; a good one that comes later is tried soon all the same. */
static void a_good_message_behind_many_bad_ones_ends_the_pause(void **state)
{
	struct scene scene = set_scene(false, 100);
	struct item *item;
	bool good = false;

	(void)state;
	work_for(&scene, 10, fails);
	SAID(scene.door, .topic = "work", .key = "good");
	for (int i = 0; i < 60 && !good; i++) {
		while (!good && (item = peer_delivery(scene.worker))) {
			good = strcmp(item->envelope.key, "good") == 0;
			peer_turned(scene.worker, &item->down.what.delivery.receipt, good ? &works : &fails);
		}
		desk_pass(scene.desk, US_PER_S);
	}
	assert_true(good);
	assert_int_equal(of_queue(&scene, "paused_us"), 0);
	assert_int_equal(of_queue(&scene, "dead"), 0);
	desk_close(scene.desk);
}

static void poison_among_good_ones_pauses_nothing(void **state)
{
	struct scene scene = set_scene(false, 0);
	struct item *item;
	char key[16];

	(void)state;
	for (int i = 0; i < 60; i++) {
		snprintf(key, sizeof(key), "%s%d", i % 3 ? "good" : "bad", i);
		SAID(scene.door, .topic = "work", .key = key);
		while ((item = peer_delivery(scene.worker)))
			peer_turned(scene.worker, &item->down.what.delivery.receipt,
				item->envelope.key[0] == 'b' ? &fails : &works);
		assert_int_equal(of_queue(&scene, "paused_us"), 0);
		desk_pass(scene.desk, US_PER_S);
	}
	assert_true(of_queue(&scene, "dead") > 0);
	desk_close(scene.desk);
}

/* A crash loop: every message kills its worker. */
static void a_worker_that_dies_at_everything_fills_no_dead_letters(void **state)
{
	struct scene scene = set_scene(false, LETTERS);
	char run[16];

	(void)state;
	for (int i = 0; i < 600; i++) {
		if (peer_delivery(scene.worker)) {
			snprintf(run, sizeof(run), "run %d", i);
			peer_hello(scene.worker, run, 0);
			scene.handed_out++;
		}
		desk_pass(scene.desk, US_PER_S);
	}
	assert_int_equal(of_queue(&scene, "dead"), 0);
	assert_true(of_queue(&scene, "paused_us") > 0);
	assert_true(scene.handed_out < 30);
	work_for(&scene, 200, works);
	assert_int_equal(scene.done, LETTERS);
	desk_close(scene.desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(while_everything_fails_nothing_dies_and_then_all_of_it_is_done),
		cmocka_unit_test(the_operator_ends_a_pause_and_what_never_failed_goes_at_once),
		cmocka_unit_test(a_service_that_refuses_everything_for_good_is_not_believed),
		cmocka_unit_test(a_paused_queue_is_paused_after_a_restart_and_nothing_dies_of_it),
		cmocka_unit_test(a_good_message_behind_many_bad_ones_ends_the_pause),
		cmocka_unit_test(poison_among_good_ones_pauses_nothing),
		cmocka_unit_test(a_worker_that_dies_at_everything_fills_no_dead_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
