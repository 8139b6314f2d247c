/* erasing: what a message held is nowhere any more, everything else is as it was, and nothing stops it half way */
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/broker/admin/erase.h"
#include "bus/broker/core.h"
#include "desk.h"
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Nothing that could be said shorter: wherever it lies, it lies there as it is. */
#define SECRET "q7Zk2mVx9Lr4Tb8N"
enum { LOOKS = 100000, FILE_MOST = 16 << 20 };

#ifdef __SANITIZE_THREAD__
enum { STEPS_APART = 9 }; /* it looks for races, at a tenth of the speed */
#else
enum { STEPS_APART = 3 };
#endif

struct scene {
	struct desk *desk;
	struct peer *talker, *worker, *admin;
};

static void greet(struct scene *scene)
{
	scene->talker = peer_new(scene->desk, "talker", "t");
	scene->worker = peer_new(scene->desk, "worker", "w");
	scene->admin = peer_new(scene->desk, "admin", "a");
	peer_hello(scene->talker, "run", 0);
	peer_hello(scene->admin, "run", 0);
}

/*
 * 1 raw of somebody, 2 raw of another, 3 work of somebody that dies, 4 a fact with a key that stays, 5 a row, 6 a row of another, 7 a
 * claim whose key names somebody, 8 work that waits an hour after a failure, 9 the dead letter of 3; 10 work that nobody was handed.
 */
static struct scene set_scene(void)
{
	struct scene scene = { .desk = desk_open_disk() };
	Receipt receipts[4];

	greet(&scene);
	SAID(scene.talker, .topic = "raw", .key = SECRET "a", .text = SECRET "1");
	SAID(scene.talker, .topic = "raw", .key = "other", .text = "other 2");
	SAID(scene.talker, .topic = "work", .key = SECRET "b", .text = SECRET "3");
	SAID(scene.talker, .topic = "fact", .key = SECRET "c", .idem = "webhook-1", .text = SECRET "4");
	SAID(scene.talker, .topic = "row", .key = SECRET "d", .version = 7, .text = SECRET "5");
	SAID(scene.talker, .topic = "row", .key = "other", .version = 7, .text = "other 6");
	SAID(scene.talker, .topic = "claim", .key = SECRET "e", .idem = SECRET "f", .claim = true, .text = SECRET "7");
	SAID(scene.talker, .topic = "work", .key = SECRET "g", .text = SECRET "8");
	peer_hello(scene.worker, "run", 8);
	for (int i = 0; i < 4; i++)
		receipts[i] = peer_delivery(scene.worker)->down.what.delivery.receipt;
	TURN(scene.worker, &receipts[0], .kind = VERDICT_DONE);
	TURN(scene.worker, &receipts[1], .kind = VERDICT_DONE);
	TURN(scene.worker, &receipts[2], .kind = VERDICT_DEAD, .reason = SECRET "h");
	TURN(scene.worker, &receipts[3], .kind = VERDICT_RETURN, .failed = true, .delay_us = US_PER_HOUR,
		.reason = SECRET "i");
	desk_pass(scene.desk, US_PER_S); /* the rows are folded */
	peer_goodbye(scene.worker);
	desk_work(scene.desk);
	SAID(scene.talker, .topic = "work", .key = SECRET "j", .text = SECRET "10");
	assert_int_equal(broker_head(scene.desk->broker), 10);
	return scene;
}

static const char ALL_OF_HIM[] = "{\"begin\":true,\"messages\":[10,9,8,5,4,3,1],\"with_keys\":[7],\"run\":true}";

static void ask(struct scene *scene, const char *argument)
{
	json_t *answer = peer_ask(scene->admin, "erase", argument);

	if (!answer)
		fail_msg("%s", scene->admin->reason);
	json_decref(answer);
}

static void finish(struct desk *desk)
{
	for (int i = 0; erase_is_running(desk->broker) && i < LOOKS; i++)
		desk_pass(desk, 20 * US_PER_MS);
	assert_false(erase_is_running(desk->broker));
	desk_work(desk);
}

static int64_t verified(struct desk *desk, const char *count)
{
	json_t *report = desk_verified(desk);
	char *text = json_dumps(report, 0);
	int64_t number = json_integer_value(json_object_get(report, count));

	if (!json_is_true(json_object_get(report, "sound")))
		fail_msg("%s", text);
	free(text);
	json_decref(report);
	return number;
}

/* How many files of the broker's folder hold it. */
static int files_with(const struct desk *desk, const char *text)
{
	DIR *listing = opendir(desk->path);
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(listing))) {
		struct buffer content = { 0 };
		char path[400];

		snprintf(path, sizeof(path), "%s/%s", desk->path, entry->d_name);
		if (entry->d_name[0] != '.') {
			assert_int_equal(file_read(path, FILE_MOST, &content), 0);
			count += memmem(content.data, content.len, text, strlen(text)) != NULL;
		}
		buffer_free(&content);
	}
	closedir(listing);
	return count;
}

static void check_erased(struct desk *desk)
{
	struct peer *reader = peer_new(desk, "reader", "new"), *worker = peer_new(desk, "worker", "w2");
	struct item *item;

	assert_int_equal(verified(desk, "erased"), 8);
	assert_int_equal(files_with(desk, SECRET), 0);
	peer_hello(reader, "run", 0);
	for (uint64_t seq = 2; seq <= 6; seq += 4) {
		item = peer_projection(reader);
		assert_int_equal(item->down.what.projection.seq, seq);
		assert_non_null(memmem(item->body.data, item->body.len, "other", 5));
	}
	while ((item = peer_projection(reader))) /* the broker's own words */
		assert_null(memmem(item->body.data, item->body.len, SECRET, sizeof(SECRET) - 1));
	desk_pass_silent(desk, 2 * US_PER_HOUR); /* what waited would be due */
	peer_hello(worker, "run", 0);
	desk_pass(desk, 2 * US_PER_S);
	assert_null(peer_delivery(worker));
}

static void what_is_erased_is_nowhere_and_all_else_is_as_it_was(void **state)
{
	struct scene scene = set_scene();
	json_t *dead;

	(void)state;
	assert_true(files_with(scene.desk, SECRET) > 0);
	ask(&scene, ALL_OF_HIM);
	finish(scene.desk);
	check_erased(scene.desk);
	dead = peer_ask(scene.admin, "dead.list", "{}");
	assert_int_equal(json_array_size(json_object_get(dead, "dead")), 0);
	json_decref(dead);
	desk_crash(scene.desk);
	assert_int_equal(desk_start(scene.desk, desk_topology), 0);
	check_erased(scene.desk);
	desk_close(scene.desk);
}

static void a_repeat_of_what_was_erased_does_not_bring_it_back(void **state)
{
	struct scene scene = set_scene();
	Confirm again;

	(void)state;
	ask(&scene, ALL_OF_HIM);
	finish(scene.desk);
	peer_hello(scene.talker, "run", 0);
	again = SAID(scene.talker, .topic = "fact", .key = SECRET "c", .idem = "webhook-1", .text = SECRET "4");
	assert_int_equal(again.kind, CONFIRM_DUPLICATE);
	assert_int_equal(again.seq, 4);
	assert_int_equal(SAID(scene.talker, .topic = "row", .key = SECRET "d", .version = 1).kind, CONFIRM_FRESH);
	desk_pass(scene.desk, US_PER_S);
	verified(scene.desk, "erased");
	desk_close(scene.desk);
}

/* As many steps as it takes, and then the process ends. */
static bool end_after(struct scene *scene, int steps)
{
	for (int i = 0; i < steps && erase_is_running(scene->desk->broker); i++) {
		assert_int_equal(broker_commit(scene->desk->broker), 0);
		broker_tick(scene->desk->broker);
	}
	return erase_is_running(scene->desk->broker);
}

static void an_end_at_any_step_is_gone_on_from(void **state)
{
	bool was_running = true;

	(void)state;
	for (int steps = 0; was_running && steps < 10; steps += STEPS_APART) {
		struct scene scene = set_scene();

		ask(&scene, ALL_OF_HIM);
		was_running = end_after(&scene, steps);
		desk_crash(scene.desk);
		assert_int_equal(desk_start(scene.desk, desk_topology), 0);
		verified(scene.desk, "erased"); /* at every step it adds up */
		finish(scene.desk);
		check_erased(scene.desk);
		desk_close(scene.desk);
	}
}

static void what_was_not_asked_for_to_its_end_leaves_no_trace(void **state)
{
	struct scene scene = set_scene();

	(void)state;
	ask(&scene, "{\"begin\":true,\"messages\":[1]}");
	desk_crash(scene.desk);
	assert_int_equal(desk_start(scene.desk, desk_topology), 0);
	greet(&scene);
	assert_false(erase_is_running(scene.desk->broker));
	assert_null(peer_ask(scene.admin, "erase", "{\"messages\":[3],\"run\":true}"));
	assert_int_equal(verified(scene.desk, "erased"), 0);
	ask(&scene, "{\"begin\":true,\"messages\":[1]}");
	ask(&scene, "{\"begin\":true,\"messages\":[2]}");
	ask(&scene, "{\"messages\":[77777, 0, -4],\"run\":true}"); /* none of ours */
	finish(scene.desk);
	assert_int_equal(verified(scene.desk, "erased"), 1);
	desk_close(scene.desk);
}

static void what_somebody_is_at_work_on_is_waited_for(void **state)
{
	struct scene scene = set_scene();
	struct item *item;

	(void)state;
	peer_hello(scene.worker, "run", 10);
	item = peer_delivery(scene.worker);
	assert_int_equal(item->down.what.delivery.receipt.seq, 10);
	ask(&scene, ALL_OF_HIM);
	desk_pass(scene.desk, 2 * US_PER_S);
	assert_true(erase_is_running(scene.desk->broker));
	assert_int_equal(verified(scene.desk, "erased"), 0);
	assert_null(peer_ask(scene.admin, "erase", ALL_OF_HIM));
	assert_int_equal(
		TURN(scene.worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE).kind, CONFIRM_FRESH);
	finish(scene.desk);
	assert_int_equal(verified(scene.desk, "erased"), 8);
	desk_close(scene.desk);
}

static void who_folded_it_is_told_to_fold_anew_and_nobody_else(void **state)
{
	struct scene scene = set_scene();
	struct peer *reader = peer_new(scene.desk, "reader", "r"), *half = peer_new(scene.desk, "half", "h");
	uint64_t stood = 0;
	struct item *item;

	(void)state;
	peer_hello(reader, "run", 0);
	peer_hello(half, "run", 0);
	ask(&scene, "{\"begin\":true,\"messages\":[1],\"run\":true}"); /* raw: half remembers rows alone */
	finish(scene.desk);
	assert_false(reader->mailbox_open);
	assert_true(half->mailbox_open);
	while ((item = peer_projection(reader))) /* as far as it was shown anything */
		stood = item->down.what.projection.seq;
	assert_true(stood > 1);
	for (int i = 0; i < 2; i++) { /* remembered over a restart */
		peer_hello(reader, "again", stood);
		assert_true(reader->rebuild);
		peer_hello(half, "again", stood);
		assert_false(half->rebuild);
		desk_crash(scene.desk);
		assert_int_equal(desk_start(scene.desk, desk_topology), 0);
		reader = peer_new(scene.desk, "reader", "r");
		half = peer_new(scene.desk, "half", "h");
	}
	peer_hello(reader, "anew", 0);
	assert_false(reader->rebuild);
	peer_hello(reader, "later", broker_head(scene.desk->broker));
	assert_false(reader->rebuild);
	desk_close(scene.desk);
}

/* As many rows as are shown at a time, and more: the next ones are in the broker's hands when they go. */
static struct peer *read_half(struct scene *scene)
{
	struct peer *reader = peer_new(scene->desk, "reader", "r");
	Hello *hello = calloc(1, sizeof(*hello));

	TEXT_COPY(hello->run, "run");
	peer_say_hello(reader, hello);
	free(hello);
	peer_credit(reader, 0, 1);
	desk_work(scene->desk);
	assert_non_null(peer_projection(reader));
	assert_null(peer_projection(reader));
	return reader;
}

static void who_is_being_shown_what_goes_is_not_shown_the_rest_of_it(void **state)
{
	struct scene scene = set_scene();
	struct peer *reader = read_half(&scene);
	struct item *item;

	(void)state;
	ask(&scene, ALL_OF_HIM);
	for (int i = 0; erase_is_running(scene.desk->broker) && i < LOOKS; i++) {
		if (reader->mailbox_open)
			peer_credit(reader, 0, 1); /* it reads on, all the while */
		desk_pass(scene.desk, 20 * US_PER_MS);
	}
	assert_false(erase_is_running(scene.desk->broker));
	while ((item = peer_projection(reader))) /* up to the end of its session */
		;
	assert_false(reader->mailbox_open);
	peer_hello(reader, "run", 1);
	assert_true(reader->rebuild);
	peer_hello(reader, "anew", 0);
	while ((item = peer_projection(reader)))
		assert_null(memmem(item->body.data, item->body.len, SECRET, sizeof(SECRET) - 1));
	check_erased(scene.desk);
	desk_close(scene.desk);
}

static void a_row_that_was_written_again_meanwhile_stands(void **state)
{
	struct scene scene = set_scene();
	struct peer *reader;
	struct item *item;
	int found = 0;

	(void)state;
	SAID(scene.talker, .topic = "row", .key = SECRET "d", .version = 8, .text = "somebody new");
	desk_pass(scene.desk, US_PER_S);
	ask(&scene, ALL_OF_HIM);
	finish(scene.desk);
	reader = peer_new(scene.desk, "half", "h");
	peer_hello(reader, "run", 0);
	while ((item = peer_projection(reader)))
		found += memmem(item->body.data, item->body.len, "somebody new", 12) != NULL;
	assert_int_equal(found, 1);
	verified(scene.desk, "erased");
	assert_int_equal(files_with(scene.desk, SECRET "5"), 0); /* nor what the row said before */
	desk_close(scene.desk);
}

static void a_copy_can_be_told_what_was_erased(void **state)
{
	struct scene scene = set_scene();
	json_t *answer;

	(void)state;
	ask(&scene, ALL_OF_HIM);
	finish(scene.desk);
	peer_hello(scene.admin, "run", 0);
	answer = peer_ask(scene.admin, "erased", "{}");
	assert_int_equal(json_array_size(json_object_get(answer, "erased")), 8);
	json_decref(answer);
	desk_close(scene.desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_erased_is_nowhere_and_all_else_is_as_it_was),
		cmocka_unit_test(a_repeat_of_what_was_erased_does_not_bring_it_back),
		cmocka_unit_test(an_end_at_any_step_is_gone_on_from),
		cmocka_unit_test(what_was_not_asked_for_to_its_end_leaves_no_trace),
		cmocka_unit_test(what_somebody_is_at_work_on_is_waited_for),
		cmocka_unit_test(who_folded_it_is_told_to_fold_anew_and_nobody_else),
		cmocka_unit_test(who_is_being_shown_what_goes_is_not_shown_the_rest_of_it),
		cmocka_unit_test(a_row_that_was_written_again_meanwhile_stands),
		cmocka_unit_test(a_copy_can_be_told_what_was_erased),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
