/* clocks that jump both ways, while the broker runs and between two runs */
#include "desk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const int64_t YEAR_US = 365 * US_PER_DAY, DELAY_US = 10 * US_PER_S;

struct scene {
	struct desk *desk;
	struct peer *talker, *worker, *admin;
};

static void greet(struct scene *scene, const char *run)
{
	peer_hello(scene->talker, run, 0);
	peer_hello(scene->worker, run, 0);
	peer_hello(scene->admin, run, 0);
}

static struct scene set_scene(void)
{
	struct scene scene = { .desk = desk_open_disk() };

	scene.talker = peer_new(scene.desk, "talker", "t");
	scene.worker = peer_new(scene.desk, "worker", "w");
	scene.admin = peer_new(scene.desk, "admin", "a");
	greet(&scene, "run");
	return scene;
}

static void set_clock(struct scene *scene, int64_t ahead_us)
{
	scene->desk->clock.virtual_ahead_us = ahead_us;
	desk_work(scene->desk);
}

/* Another run, with another clock. */
static void start_again(struct scene *scene, int64_t ahead_us)
{
	static int runs;
	char run[20];

	desk_crash(scene->desk);
	scene->desk->clock.virtual_ahead_us = ahead_us;
	assert_int_equal(desk_start(scene->desk, desk_topology), 0);
	snprintf(run, sizeof(run), "again %d", ++runs);
	greet(scene, run);
	desk_pass(scene->desk, 5 * US_PER_S); /* the grace period */
}

static int64_t of_clock(struct scene *scene, char why[256])
{
	json_t *status = peer_ask(scene->admin, "status", "{}"), *clock = json_object_get(status, "clock");
	int64_t jump_us = json_integer_value(json_object_get(clock, "jump_us"));

	snprintf(why, 256, "%s", json_string_value(json_object_get(clock, "why")));
	json_decref(status);
	return jump_us;
}

static int64_t log_us(struct scene *scene)
{
	json_t *status = peer_ask(scene->admin, "status", "{}");
	int64_t us = json_integer_value(json_object_get(status, "wall_us"));

	json_decref(status);
	return us;
}

static ConfirmKind repeat(struct scene *scene)
{
	return SAID(scene->talker, .topic = "diary", .idem = "once").kind;
}

/* A letter that failed comes back when its delay is over, neither early nor late. */
static void check_delay(struct scene *scene, const char *key, int64_t set_meanwhile_us)
{
	struct item *item;

	SAID(scene->talker, .topic = "work", .key = key);
	item = peer_delivery(scene->worker);
	assert_non_null(item);
	TURN(scene->worker, &item->down.what.delivery.receipt, .kind = VERDICT_RETURN, .failed = true,
		.delay_us = DELAY_US, .reason = "not yet");
	set_clock(scene, set_meanwhile_us);
	desk_pass(scene->desk, DELAY_US / 2);
	assert_null(peer_delivery(scene->worker));
	desk_pass(scene->desk, DELAY_US);
	item = peer_delivery(scene->worker);
	assert_non_null(item);
	TURN(scene->worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
}

static void a_clock_that_is_set_while_the_broker_runs_moves_nothing_in_the_log(void **state)
{
	static const int64_t jumps[] = { 365 * US_PER_DAY, -365 * US_PER_DAY };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct scene scene = set_scene();
		int64_t before_us = log_us(&scene);
		char why[256];

		assert_int_equal(repeat(&scene), CONFIRM_FRESH);
		check_delay(&scene, "a", jumps[i]);
		assert_int_equal(repeat(&scene), CONFIRM_DUPLICATE);
		assert_int_equal(of_clock(&scene, why), jumps[i]);
		assert_non_null(strstr(why, i == 0 ? "31536000 s ahead of" : "31536000 s behind"));
		assert_non_null(strstr(why, "set the clock right"));
		assert_true(log_us(&scene) >= before_us && log_us(&scene) < before_us + US_PER_HOUR);
		check_delay(&scene, "b", 0);
		assert_int_equal(of_clock(&scene, why), 0);
		assert_string_equal(why, "");
		assert_int_equal(repeat(&scene), CONFIRM_DUPLICATE);
		check_delay(&scene, "c", jumps[i]);
		start_again(&scene, 0); /* what was said meanwhile does not stand in the way either */
		assert_int_equal(of_clock(&scene, why), 0);
		check_delay(&scene, "d", 0);
		desk_close(scene.desk);
	}
}

static void a_clock_that_is_far_ahead_at_the_start_ends_no_window_for_a_day(void **state)
{
	struct scene scene = set_scene();
	char why[256];

	(void)state;
	assert_int_equal(repeat(&scene), CONFIRM_FRESH);
	start_again(&scene, YEAR_US);
	assert_int_equal(repeat(&scene), CONFIRM_DUPLICATE);
	assert_int_equal(of_clock(&scene, why), 0);
	assert_non_null(strstr(why, "all is well if nothing ran for so long"));
	SAID(scene.talker, .topic = "diary"); /* from here on the log is of that time */
	start_again(&scene, YEAR_US);
	assert_int_equal(repeat(&scene), CONFIRM_DUPLICATE);
	of_clock(&scene, why);
	assert_non_null(strstr(why, "Nothing is forgotten")); /* still, and said so */
	scene.desk->clock.virtual_us += US_PER_DAY;
	desk_work(scene.desk);
	greet(&scene, "later");
	assert_int_equal(repeat(&scene), CONFIRM_FRESH);
	of_clock(&scene, why);
	assert_string_equal(why, "");
	desk_close(scene.desk);
}

static void a_log_that_is_ahead_of_the_clock_does_not_stand_still(void **state)
{
	struct scene scene = set_scene();
	int64_t ahead_us;
	char why[256];

	(void)state;
	assert_int_equal(repeat(&scene), CONFIRM_FRESH);
	start_again(&scene, YEAR_US);
	SAID(scene.talker, .topic = "diary");
	ahead_us = log_us(&scene);
	start_again(&scene, 0);
	assert_true(log_us(&scene) >= ahead_us);
	assert_true(of_clock(&scene, why) < -YEAR_US / 2);
	assert_non_null(strstr(why, "behind"));
	check_delay(&scene, "a", 0);
	assert_int_equal(repeat(&scene), CONFIRM_DUPLICATE);
	scene.desk->clock.virtual_us += 9 * US_PER_DAY;
	desk_work(scene.desk);
	greet(&scene, "later");
	assert_int_equal(repeat(&scene), CONFIRM_FRESH);
	desk_close(scene.desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_that_is_set_while_the_broker_runs_moves_nothing_in_the_log),
		cmocka_unit_test(a_clock_that_is_far_ahead_at_the_start_ends_no_window_for_a_day),
		cmocka_unit_test(a_log_that_is_ahead_of_the_clock_does_not_stand_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
