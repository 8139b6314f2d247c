/* many messages are handed out once more: a redrive of dead ones, a replay of the log */
#include "bus/base/text.h"
#include "desk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct scene {
	struct desk *desk;
	struct peer *talker, *worker, *admin;
};

static void greet(struct scene *scene, const char *run)
{
	peer_hello(scene->talker, run, 0);
	peer_hello(scene->worker, run, 0);
	peer_hello(scene->admin, run, 0);
	peer_credit(scene->worker, 10000, 10000);
}

static struct scene set_scene(bool disk)
{
	struct scene scene = { .desk = disk ? desk_open_disk() : desk_open() };

	scene.talker = peer_new(scene.desk, "talker", "t");
	scene.worker = peer_new(scene.desk, "worker", "w");
	scene.admin = peer_new(scene.desk, "admin", "a");
	greet(&scene, "run");
	return scene;
}

static void restart(struct scene *scene)
{
	desk_crash(scene->desk);
	assert_int_equal(desk_start(scene->desk, desk_topology), 0);
	greet(scene, "again");
	desk_pass(scene->desk, 4 * US_PER_S); /* the grace period */
}

/* Takes what was handed out; how many. */
static int take(struct scene *scene, VerdictKind verdict, const char *reason, const char *only_shop)
{
	struct item *item;
	int count = 0;

	while ((item = peer_delivery(scene->worker))) {
		bool other = only_shop && strcmp(item->envelope.shop, only_shop) != 0;

		TURN(scene->worker, &item->down.what.delivery.receipt, .kind = other ? VERDICT_DONE : verdict,
			.reason = reason);
		count++;
	}
	return count;
}

/* `count` dead letters of shop "s", keys of their own; something that works between them, or it would be an outage. */
static void bury(struct scene *scene, int count, const char *shop, const char *reason)
{
	char key[16];

	for (int i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		PUBLISH(scene->talker, .topic = "work", .key = key, .shop = shop);
		PUBLISH(scene->talker, .topic = "raw", .key = key, .shop = "fine");
		desk_work(scene->desk);
		take(scene, VERDICT_DEAD, reason, shop);
	}
}

static json_t *ask(struct scene *scene, const char *verb, const char *argument)
{
	json_t *answer = peer_ask(scene->admin, verb, argument);

	if (!answer)
		fail_msg("%s %s: %s", verb, argument, buffer_text(&scene->admin->answer));
	return answer;
}

static json_int_t number(struct scene *scene, const char *verb, const char *argument, const char *name)
{
	json_t *answer = ask(scene, verb, argument);
	json_int_t value = json_integer_value(json_object_get(answer, name));

	json_decref(answer);
	return value;
}

static bool is_state(struct scene *scene, const char *state)
{
	json_t *answer = ask(scene, "feed", "{\"queue\":\"worker\"}");
	bool is = strcmp(json_string_value(json_object_get(answer, "state")), state) == 0;

	json_decref(answer);
	return is;
}

static size_t count_dead(struct scene *scene, const char *filter)
{
	json_t *answer = ask(scene, "dead.list", filter);
	size_t count = json_array_size(json_object_get(answer, "dead"));

	json_decref(answer);
	return count;
}

static void dead_letters_are_found_by_topic_shop_reason_and_age(void **state)
{
	struct scene scene = set_scene(false);
	char filter[128];

	(void)state;
	bury(&scene, 2, "one", "the disk is full");
	desk_pass(scene.desk, US_PER_HOUR);
	bury(&scene, 3, "two", "no such cart");
	assert_int_equal(count_dead(&scene, "{}"), 5);
	assert_int_equal(count_dead(&scene, "{\"queue\":\"worker\",\"topic\":\"work\"}"), 5);
	assert_int_equal(count_dead(&scene, "{\"topic\":\"raw\"}"), 0);
	assert_int_equal(count_dead(&scene, "{\"shop\":\"one\"}"), 2);
	assert_int_equal(count_dead(&scene, "{\"reason\":\"No Such\"}"), 3);
	assert_int_equal(count_dead(&scene, "{\"reason\":\"no such\",\"shop\":\"one\"}"), 0);
	snprintf(filter, sizeof(filter), "{\"died_before_us\":%lld}",
		(long long)(scene.desk->clock.virtual_us - US_PER_MINUTE));
	assert_int_equal(count_dead(&scene, filter), 2);
	snprintf(filter, sizeof(filter), "{\"died_after_us\":%lld}",
		(long long)(scene.desk->clock.virtual_us - US_PER_MINUTE));
	assert_int_equal(count_dead(&scene, filter), 3);
	assert_null(peer_ask(scene.admin, "dead.list", "{\"queue\":\"nobody\"}"));
	desk_close(scene.desk);
}

static void a_list_comes_in_pages_and_none_is_left_out(void **state)
{
	struct scene scene = set_scene(false);
	char question[128] = "{\"limit\":3}";
	json_int_t last = 0;
	int pages = 0, letters = 0;

	(void)state;
	bury(&scene, 8, "s", "no");
	for (bool more = true; more; pages++) {
		json_t *answer = ask(&scene, "dead.list", question), *letter;
		json_t *next = json_object_get(answer, "next");
		size_t i;

		json_array_foreach(json_object_get(answer, "dead"), i, letter)
		{
			json_int_t seq = json_integer_value(json_object_get(letter, "seq"));

			assert_true(seq > last);
			last = seq;
			letters++;
		}
		more = !json_is_null(next);
		snprintf(question, sizeof(question), "{\"limit\":3,\"from\":{\"queue\":\"worker\",\"seq\":%lld}}",
			(long long)json_integer_value(json_object_get(next, "seq")));
		json_decref(answer);
	}
	assert_int_equal(letters, 8);
	assert_int_equal(pages, 3);
	desk_close(scene.desk);
}

static void a_page_has_as_many_letters_as_fit_where_none_or_too_many_are_asked_for(void **state)
{
	enum { PAGE_MOST = 1000 };
	struct scene scene = set_scene(false);

	(void)state;
	bury(&scene, PAGE_MOST + 2, "s", "no");
	assert_int_equal(count_dead(&scene, "{}"), 100);
	assert_int_equal(count_dead(&scene, "{\"limit\":0}"), PAGE_MOST);
	assert_int_equal(count_dead(&scene, "{\"limit\":1000}"), PAGE_MOST);
	assert_int_equal(count_dead(&scene, "{\"limit\":1001}"), PAGE_MOST);
	assert_int_equal(count_dead(&scene, "{\"limit\":1}"), 1);
	desk_close(scene.desk);
}

static void assert_refused(struct scene *scene, const char *verb, const char *argument, const char *words)
{
	json_t *answer = peer_ask(scene->admin, verb, argument);

	if (answer)
		fail_msg("%s %s was not refused", verb, argument);
	if (!strstr(buffer_text(&scene->admin->answer), words))
		fail_msg("%s %s: \"%s\" and not \"%s\"", verb, argument, buffer_text(&scene->admin->answer), words);
}

static void a_queue_is_fed_once_at_a_time_and_a_refusal_says_why(void **state)
{
	struct scene scene = set_scene(false);

	(void)state;
	bury(&scene, 3, "s", "no");
	assert_refused(
		&scene, "feed.cancel", "{\"queue\":\"worker\"}", "worker is not being fed: there is nothing to cancel");
	assert_refused(
		&scene, "feed.resume", "{\"queue\":\"worker\"}", "worker is not being fed: there is nothing to resume");
	assert_refused(&scene, "dead.redrive", "{\"queue\":\"worker\",\"all\":true,\"rate\":100001}",
		"at most 100000 a second");
	json_decref(ask(&scene, "dead.redrive", "{\"queue\":\"worker\",\"all\":true,\"rate\":1}"));
	assert_true(is_state(&scene, "running"));
	assert_refused(&scene, "dead.redrive", "{\"queue\":\"worker\",\"all\":true}",
		"queue worker is being fed by a redrive already; wait for its end, or cancel it");
	assert_refused(&scene, "replay", "{\"queue\":\"worker\",\"from\":1,\"to\":2}", "fed by a redrive already");
	json_decref(ask(&scene, "feed.cancel", "{\"queue\":\"worker\"}"));
	assert_true(is_state(&scene, "cancelled"));
	desk_close(scene.desk);
}

static void a_redrive_of_many_takes_those_that_are_meant_and_each_once(void **state)
{
	struct scene scene = set_scene(false);

	(void)state;
	bury(&scene, 5, "one", "no");
	bury(&scene, 4, "two", "no");
	json_decref(ask(&scene, "dead.redrive", "{\"queue\":\"worker\",\"all\":true,\"shop\":\"two\"}"));
	assert_int_equal(take(&scene, VERDICT_DEAD, "still no", NULL), 4);
	desk_pass(scene.desk, US_PER_S);
	assert_int_equal(take(&scene, VERDICT_DONE, NULL, NULL), 0); /* what died again is left alone */
	assert_true(is_state(&scene, "finished"));
	assert_int_equal(number(&scene, "feed", "{\"queue\":\"worker\"}", "fed"), 4);
	assert_int_equal(count_dead(&scene, "{}"), 9);
	desk_close(scene.desk);
}

static void a_redrive_keeps_its_rate_is_cancelled_and_goes_on_over_a_restart(void **state)
{
	struct scene scene = set_scene(true);
	int got;

	(void)state;
	bury(&scene, 30, "s", "no");
	json_decref(ask(&scene, "dead.redrive", "{\"queue\":\"worker\",\"all\":true,\"rate\":2}"));
	assert_null(peer_ask(scene.admin, "dead.redrive", "{\"queue\":\"worker\",\"all\":true}")); /* one at a time */
	desk_pass(scene.desk, 5 * US_PER_S);
	got = take(&scene, VERDICT_DONE, NULL, NULL);
	assert_in_range(got, 9, 12);
	json_decref(ask(&scene, "feed.cancel", "{\"queue\":\"worker\"}"));
	desk_pass(scene.desk, 10 * US_PER_S);
	assert_int_equal(take(&scene, VERDICT_DONE, NULL, NULL), 0);
	restart(&scene);
	assert_true(is_state(&scene, "cancelled"));
	assert_int_equal(take(&scene, VERDICT_DONE, NULL, NULL), 0);
	json_decref(ask(&scene, "feed.resume", "{\"queue\":\"worker\"}"));
	desk_pass(scene.desk, 5 * US_PER_S);
	got += take(&scene, VERDICT_DONE, NULL, NULL);
	assert_in_range(got, 18, 24);
	restart(&scene); /* while it runs */
	for (int i = 0; i < 20; i++) {
		got += take(&scene, VERDICT_DONE, NULL, NULL);
		desk_pass(scene.desk, US_PER_S);
	}
	assert_int_equal(got, 30);
	assert_int_equal(count_dead(&scene, "{}"), 0);
	assert_null(peer_ask(scene.admin, "feed.resume", "{\"queue\":\"worker\"}"));
	desk_close(scene.desk);
}

static void work_off(struct scene *scene, int count)
{
	char key[16];

	for (int i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		PUBLISH(scene->talker, .topic = i % 2 ? "work" : "raw", .key = key, .shop = i % 3 ? "one" : "two");
	}
	desk_work(scene->desk);
	assert_int_equal(take(scene, VERDICT_DONE, NULL, NULL), count);
}

static void a_replay_hands_out_what_was_done_with_its_number_and_time_marked(void **state)
{
	struct scene scene = set_scene(true);
	int64_t said_us = scene.desk->clock.virtual_us;
	struct item *item;

	(void)state;
	work_off(&scene, 10);
	desk_pass(scene.desk, US_PER_HOUR);
	json_decref(ask(&scene, "replay", "{\"queue\":\"worker\",\"from\":3,\"to\":8,\"topic\":\"work\"}"));
	for (uint64_t seq = 4; seq <= 8; seq += 2) {
		item = peer_delivery(scene.worker);
		assert_non_null(item);
		assert_int_equal(item->down.what.delivery.receipt.seq, seq);
		assert_true(item->down.what.delivery.replayed);
		assert_in_range(item->down.what.delivery.time_us, said_us, said_us + US_PER_S);
		if (seq == 6) { /* this one dies of it, and is told apart there too */
			TURN(scene.worker, &item->down.what.delivery.receipt, .kind = VERDICT_DEAD, .reason = "no");
			continue;
		}
		TURN(scene.worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
	}
	assert_null(peer_delivery(scene.worker));
	assert_int_equal(count_dead(&scene, "{}"), 1);
	restart(&scene);
	assert_null(peer_delivery(scene.worker)); /* what was replayed and done is done */
	desk_close(scene.desk);
}

static void a_replay_leaves_alone_what_is_pending_or_dead_and_outlives_a_restart(void **state)
{
	struct scene scene = set_scene(true);

	(void)state;
	work_off(&scene, 4);
	SAID(scene.talker, .topic = "work", .key = "dead");
	take(&scene, VERDICT_DEAD, "no", NULL);
	SAID(scene.talker, .topic = "work", .key = "pending");
	json_decref(ask(&scene, "replay", "{\"queue\":\"worker\"}"));
	assert_int_equal(number(&scene, "feed", "{\"queue\":\"worker\"}", "fed"), 4);
	restart(&scene);
	assert_int_equal(take(&scene, VERDICT_DONE, NULL, NULL), 5); /* the four, and the pending one */
	assert_int_equal(count_dead(&scene, "{}"), 1);
	desk_close(scene.desk);
}

static void a_long_replay_is_fed_as_it_is_taken(void **state)
{
	struct scene scene = set_scene(false);
	int got = 0;

	(void)state;
	work_off(&scene, 3000);
	peer_goodbye(scene.worker);
	json_decref(ask(&scene, "replay", "{\"queue\":\"worker\"}"));
	desk_pass(scene.desk, US_PER_S);
	assert_in_range(number(&scene, "feed", "{\"queue\":\"worker\"}", "waiting"), 1000, 1001);
	peer_hello(scene.worker, "run 2", 0);
	peer_credit(scene.worker, 10000, 10000);
	for (int i = 0; i < 20; i++) {
		desk_pass(scene.desk, US_PER_S);
		got += take(&scene, VERDICT_DONE, NULL, NULL);
	}
	assert_int_equal(got, 3000);
	assert_true(is_state(&scene, "finished"));
	desk_close(scene.desk);
}

static void a_range_may_be_given_in_times_and_is_counted_first(void **state)
{
	struct scene scene = set_scene(false);
	int64_t noon_us;
	char range[200];

	(void)state;
	work_off(&scene, 6);
	desk_pass(scene.desk, US_PER_HOUR);
	noon_us = scene.desk->clock.virtual_us;
	work_off(&scene, 9);
	desk_pass(scene.desk, US_PER_HOUR);
	work_off(&scene, 6);
	snprintf(range, sizeof(range), "{\"queue\":\"worker\",\"from_us\":%lld,\"to_us\":%lld,\"shop\":\"two\"}",
		(long long)noon_us, (long long)(noon_us + US_PER_MINUTE));
	assert_int_equal(number(&scene, "replay.count", range, "would"), 3);
	assert_int_equal(peer_count(scene.worker, Down_delivery_tag), 0);
	json_decref(ask(&scene, "replay", range));
	assert_int_equal(take(&scene, VERDICT_DONE, NULL, NULL), 3);
	assert_int_equal(number(&scene, "replay.count", "{\"queue\":\"worker\",\"from\":22}", "would"), 0);
	desk_close(scene.desk);
}

static void only_an_operator_may_replay_and_only_what_the_queue_hears(void **state)
{
	struct scene scene = set_scene(false);

	(void)state;
	work_off(&scene, 2);
	assert_null(peer_ask(scene.worker, "replay", "{\"queue\":\"worker\"}"));
	assert_null(peer_ask(scene.talker, "replay", "{\"queue\":\"worker\"}"));
	assert_non_null(strstr(buffer_text(&scene.talker->answer), "operator"));
	assert_null(peer_ask(scene.worker, "replay.count", "{\"queue\":\"worker\"}"));
	assert_null(peer_ask(scene.worker, "dead.redrive", "{\"queue\":\"worker\",\"all\":true}"));
	assert_null(peer_ask(scene.worker, "feed.cancel", "{\"queue\":\"worker\"}"));
	assert_null(peer_ask(scene.admin, "replay", "{\"queue\":\"worker\",\"topic\":\"diary\"}"));
	assert_null(peer_ask(scene.admin, "replay", "{\"queue\":\"worker\",\"from\":-1}"));
	assert_null(peer_ask(scene.admin, "replay", "{\"queue\":\"worker\",\"rate\":1000000}"));
	assert_null(peer_ask(scene.admin, "replay", "{}"));
	assert_int_equal(peer_count(scene.worker, Down_delivery_tag), 0);
	desk_close(scene.desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dead_letters_are_found_by_topic_shop_reason_and_age),
		cmocka_unit_test(a_list_comes_in_pages_and_none_is_left_out),
		cmocka_unit_test(a_page_has_as_many_letters_as_fit_where_none_or_too_many_are_asked_for),
		cmocka_unit_test(a_queue_is_fed_once_at_a_time_and_a_refusal_says_why),
		cmocka_unit_test(a_redrive_of_many_takes_those_that_are_meant_and_each_once),
		cmocka_unit_test(a_redrive_keeps_its_rate_is_cancelled_and_goes_on_over_a_restart),
		cmocka_unit_test(a_replay_hands_out_what_was_done_with_its_number_and_time_marked),
		cmocka_unit_test(a_replay_leaves_alone_what_is_pending_or_dead_and_outlives_a_restart),
		cmocka_unit_test(a_long_replay_is_fed_as_it_is_taken),
		cmocka_unit_test(a_range_may_be_given_in_times_and_is_counted_first),
		cmocka_unit_test(only_an_operator_may_replay_and_only_what_the_queue_hears),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
