/* workers die: what that says about the messages they had */
#include "desk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct scene {
	struct desk *desk;
	struct peer *gateway, *worker, *admin;
};

static struct scene set_scene(void)
{
	struct scene scene = { .desk = desk_open() };

	scene.gateway = peer_new(scene.desk, "door", "d");
	scene.worker = peer_new(scene.desk, "worker", "w1");
	scene.admin = peer_new(scene.desk, "admin", "a");
	peer_hello(scene.gateway, "run", 0);
	peer_hello(scene.worker, "run", 0);
	peer_hello(scene.admin, "run", 0);
	return scene;
}

/* Its process is killed and started again: the hello of another run tells. */
static void die(struct peer *worker)
{
	static int runs;
	char run[16];

	snprintf(run, sizeof(run), "run %d", ++runs);
	peer_hello(worker, run, 0);
}

static size_t count_dead(struct scene *scene)
{
	json_t *answer = peer_ask(scene->admin, "dead.list", "{}");
	size_t count = json_array_size(json_object_get(answer, "dead"));

	json_decref(answer);
	return count;
}

static void leases_of_a_dead_session_are_free_at_once_and_each_of_them_goes_alone(void **state)
{
	struct scene scene = set_scene();
	struct peer *second = peer_new(scene.desk, "worker", "w2");
	struct item *item;

	(void)state;
	SAID(scene.gateway, .topic = "work", .key = "a");
	SAID(scene.gateway, .topic = "work", .key = "b");
	SAID(scene.gateway, .topic = "work", .key = "c");
	assert_int_equal(peer_count(scene.worker, Down_delivery_tag), 3);
	scene.worker->deaf = true;
	scene.worker->mailbox_open = false;
	peer_hello(second, "run", 0);
	desk_pass(scene.desk, 3 * US_PER_S);
	assert_int_equal(peer_count(second, Down_delivery_tag), 1);
	item = peer_delivery(second);
	assert_int_equal(item->down.what.delivery.receipt.seq, 1);
	assert_int_equal(item->down.what.delivery.failures, 0); /* it had neighbours */
	for (uint64_t seq = 2; seq <= 3; seq++) {
		TURN(second, &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
		assert_int_equal(peer_count(second, Down_delivery_tag), 1);
		item = peer_delivery(second);
		assert_int_equal(item->down.what.delivery.receipt.seq, seq);
		assert_int_equal(item->down.what.delivery.failures, 0);
	}
	desk_close(scene.desk);
}

/* Works off its tray; dies at a poisoned message. The number of that, 0: there was none. */
static uint64_t work_until_poisoned(struct peer *worker, uint64_t poison, uint64_t other_poison, int *ret_done)
{
	struct item *item;

	while ((item = peer_delivery(worker))) {
		uint64_t seq = item->down.what.delivery.receipt.seq;

		if (seq == poison || seq == other_poison)
			return seq;
		TURN(worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
		(*ret_done)++;
	}
	return 0;
}

static void what_kills_its_worker_is_dead_after_five_and_its_neighbours_live(void **state)
{
	struct scene scene = set_scene();
	int deaths = 0, done = 0;

	(void)state;
	SAID(scene.gateway, .topic = "work", .key = "poison");
	SAID(scene.gateway, .topic = "work", .key = "good");
	for (int64_t i = 0; i < 60; i++) {
		if (work_until_poisoned(scene.worker, 1, 1, &done) == 1) {
			deaths++;
			die(scene.worker);
		}
		if (deaths == 2)
			assert_int_equal(peer_count(scene.worker, Down_delivery_tag) + done, 1);
		desk_pass(scene.desk, US_PER_S);
	}
	assert_int_equal(deaths, 5); /* its limit, the first included, when it had a neighbour */
	assert_int_equal(done, 1);
	assert_int_equal(count_dead(&scene), 1);
	desk_close(scene.desk);
}

/* A worker that says its verdicts in one go: of ten that it had begun, none is finished when the seventh kills it. */
static void neighbours_of_poison_wait_for_one_restart_and_no_more(void **state)
{
	struct scene scene = set_scene();
	int done = 0, deaths = 1;
	char key[16];

	(void)state;
	for (int i = 0; i < 10; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		SAID(scene.gateway, .topic = "work", .key = key);
	}
	assert_int_equal(peer_count(scene.worker, Down_delivery_tag), 10);
	die(scene.worker);
	for (int64_t i = 0; i < 60; i++) {
		if (work_until_poisoned(scene.worker, 7, 7, &done)) {
			assert_int_equal(done, deaths == 1 ? 6 : 9);
			deaths++;
			die(scene.worker);
			work_until_poisoned(scene.worker, 7, 7, &done);
			assert_int_equal(done, 9);
		}
		desk_pass(scene.desk, US_PER_S);
	}
	assert_int_equal(deaths, 5);
	assert_int_equal(count_dead(&scene), 1);
	desk_close(scene.desk);
}

static void two_poisons_at_once_excuse_each_other_only_for_a_while(void **state)
{
	struct scene scene = set_scene();
	int done = 0;

	(void)state;
	SAID(scene.gateway, .topic = "work", .key = "one");
	SAID(scene.gateway, .topic = "work", .key = "two");
	SAID(scene.gateway, .topic = "work", .key = "good");
	for (int64_t i = 0; i < 3600 && count_dead(&scene) < 2; i++) {
		if (work_until_poisoned(scene.worker, 1, 2, &done))
			die(scene.worker);
		desk_pass(scene.desk, US_PER_S);
	}
	assert_int_equal(count_dead(&scene), 2);
	assert_int_equal(done, 1);
	desk_close(scene.desk);
}

/* Two hundred kills whose moments have nothing to do with what is worked on, which takes as long as two of them are apart. */
static void a_storm_of_random_kills_makes_no_dead_letter(void **state)
{
	struct scene scene = set_scene();
	struct peer *workers[3] = { scene.worker, peer_new(scene.desk, "worker", "w2"),
		peer_new(scene.desk, "worker", "w3") };
	int done = 0;
	char key[16];

	(void)state;
	srand(7);
	peer_hello(workers[1], "run", 0);
	peer_hello(workers[2], "run", 0);
	for (int i = 0; i < 200; i++) {
		snprintf(key, sizeof(key), "k%d", i % 90);
		SAID(scene.gateway, .topic = "work", .key = key);
		for (int j = 0; j < 3; j++) {
			struct item *item = rand() % 2 ? peer_delivery(workers[j]) : NULL;

			if (item)
				done += TURN(workers[j], &item->down.what.delivery.receipt, .kind = VERDICT_DONE)
						.kind == CONFIRM_FRESH;
		}
		die(workers[rand() % 3]);
		desk_pass(scene.desk, 250 * US_PER_MS);
	}
	for (int i = 0; i < 600; i++) {
		for (int j = 0; j < 3; j++)
			work_until_poisoned(workers[j], 0, 0, &done);
		desk_pass(scene.desk, US_PER_S);
	}
	assert_int_equal(count_dead(&scene), 0);
	assert_int_equal(done, 200);
	desk_close(scene.desk);
}

/* The same with the only worker there is and work that never ends in time: the hardest to tell from poison. */
static void who_is_killed_all_the_time_has_no_poison_in_hand(void **state)
{
	struct scene scene = set_scene();
	int done = 0;

	(void)state;
	SAID(scene.gateway, .topic = "work");
	for (int i = 0; i < 200; i++) {
		die(scene.worker);
		desk_pass(scene.desk, 250 * US_PER_MS);
	}
	assert_int_equal(count_dead(&scene), 0);
	for (int i = 0; i < 600; i++) {
		work_until_poisoned(scene.worker, 0, 0, &done);
		desk_pass(scene.desk, US_PER_S);
	}
	assert_int_equal(done, 1);
	desk_close(scene.desk);
}

static void a_goodbye_makes_nobody_a_suspect(void **state)
{
	struct scene scene = set_scene();
	struct item *item;

	(void)state;
	SAID(scene.gateway, .topic = "work", .key = "a");
	SAID(scene.gateway, .topic = "work", .key = "b");
	peer_goodbye(scene.worker);
	peer_hello(scene.worker, "run 2", 0);
	assert_int_equal(peer_count(scene.worker, Down_delivery_tag), 2);
	item = peer_delivery(scene.worker);
	assert_int_equal(item->down.what.delivery.failures, 0);
	desk_close(scene.desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leases_of_a_dead_session_are_free_at_once_and_each_of_them_goes_alone),
		cmocka_unit_test(what_kills_its_worker_is_dead_after_five_and_its_neighbours_live),
		cmocka_unit_test(neighbours_of_poison_wait_for_one_restart_and_no_more),
		cmocka_unit_test(two_poisons_at_once_excuse_each_other_only_for_a_while),
		cmocka_unit_test(a_storm_of_random_kills_makes_no_dead_letter),
		cmocka_unit_test(who_is_killed_all_the_time_has_no_poison_in_hand),
		cmocka_unit_test(a_goodbye_makes_nobody_a_suspect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
