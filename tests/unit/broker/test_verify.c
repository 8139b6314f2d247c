/* a log that is sound is called sound, and each damage that can be told is told, with its place */
#include "bus/broker/core.h"
#include "damages.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Of everything a little: see the numbers above. Each message is a commit of its own. */
static struct desk *open_log(void)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	Receipt receipts[4];

	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "work", .key = "a", .idem = "first");
	SAID(talker, .topic = "work", .key = "b");
	SAID(talker, .topic = "raw", .key = "c");
	SAID(talker, .topic = "work", .key = "d");
	SAID(talker, .topic = "row", .key = "r", .version = 5);
	SAID(talker, .topic = "fact", .key = "f");
	SAID(talker, .topic = "claim", .key = "g", .idem = "claimed", .claim = true);
	peer_hello(worker, "run", 0);
	for (int i = 0; i < 4; i++)
		receipts[i] = peer_delivery(worker)->down.what.delivery.receipt;
	TURN(worker, &receipts[0], .kind = VERDICT_DONE);
	TURN(worker, &receipts[1], .kind = VERDICT_DEAD, .reason = "bad");
	TURN(worker, &receipts[2], .kind = VERDICT_RETURN, .failed = true, .delay_us = US_PER_HOUR);
	desk_pass(desk, US_PER_S);
	assert_int_equal(broker_head(desk->broker), HEAD);
	return desk;
}

static int64_t number(const json_t *object, const char *name)
{
	assert_true(json_is_integer(json_object_get(object, name)));
	return json_integer_value(json_object_get(object, name));
}

static const json_t *queue_of(const json_t *report, const char *name)
{
	const json_t *queue;
	size_t i;

	json_array_foreach(json_object_get(report, "queues"), i, queue)
	{
		if (strcmp(json_string_value(json_object_get(queue, "name")), name) == 0)
			return queue;
	}
	fail_msg("there is no queue %s", name);
	return NULL;
}

static void assert_sound(struct desk *desk)
{
	json_t *report = desk_verified(desk);
	char *text = json_dumps(json_object_get(report, "problems"), 0);

	if (!json_is_true(json_object_get(report, "sound")))
		fail_msg("%s", text);
	free(text);
	json_decref(report);
}

static void every_message_ends_once_per_queue(void **state)
{
	struct desk *desk = open_log();
	json_t *report = desk_verified(desk);
	const json_t *queue = queue_of(report, "worker");

	(void)state;
	assert_int_equal(number(report, "head"), HEAD);
	assert_int_equal(number(report, "messages"), HEAD);
	assert_int_equal(number(queue, "heard"), 4);
	assert_int_equal(number(queue, "done"), 1);
	assert_int_equal(number(queue, "dead"), 1);
	assert_int_equal(number(queue, "redriven"), 0);
	assert_int_equal(number(queue, "pending"), 2);
	assert_int_equal(number(queue_of(report, "single"), "pending"), 1);
	assert_int_equal(number(report, "idempotency_keys"), 2);
	assert_int_equal(number(report, "compacted_rows"), 1);
	json_decref(report);
	assert_sound(desk);
	desk_close(desk);
}

static void a_letter_that_is_redriven_and_fails_again_is_one_letter(void **state)
{
	struct desk *desk = open_log();
	struct peer *admin = peer_new(desk, "admin", "a"), *worker = peer_new(desk, "worker", "again");
	struct item *item;
	json_t *report;

	(void)state;
	peer_hello(admin, "run", 0);
	peer_hello(worker, "run", 0);
	json_decref(peer_ask(admin, "dead.redrive", "{\"queue\": \"worker\", \"seq\": 2}"));
	desk_work(desk);
	item = peer_delivery(worker);
	assert_int_equal(item->down.what.delivery.receipt.seq, DEAD);
	TURN(worker, &item->down.what.delivery.receipt, .kind = VERDICT_RETURN, .failed = true, .delay_us = US_PER_S);
	report = desk_verified(desk);
	assert_int_equal(number(queue_of(report, "worker"), "heard"), 4);
	assert_int_equal(number(queue_of(report, "worker"), "redriven"), 1);
	assert_int_equal(number(queue_of(report, "worker"), "dead"), 0);
	json_decref(report);
	assert_sound(desk);
	desk_close(desk);
}

static void what_was_dropped_for_its_age_is_missed_by_nobody(void **state)
{
	struct desk *desk = open_log();
	struct peer *worker = peer_new(desk, "worker", "again");
	json_t *report;

	(void)state;
	desk->clock.virtual_us += 2 * US_PER_HOUR;
	desk_pass(desk, US_PER_S);
	peer_hello(worker, "run", 0);
	for (struct item *item; (item = peer_delivery(worker));)
		TURN(worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
	desk->clock.virtual_us += 40 * US_PER_DAY;
	for (int i = 0; i < 3; i++)
		desk_pass_silent(desk, US_PER_MINUTE);
	report = desk_verified(desk);
	assert_true(number(report, "dropped") > 0);
	json_decref(report);
	assert_sound(desk);
	desk_close(desk);
}

static bool is_told(const json_t *report, const struct damage *damage)
{
	const json_t *problem;
	size_t i;

	json_array_foreach(json_object_get(report, "problems"), i, problem)
	{
		if (strstr(json_string_value(json_object_get(problem, "what")), damage->told) &&
			number(problem, "message") == (int64_t)damage->seq)
			return true;
	}
	return false;
}

static void each_damage_is_told_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < damage_count; i++) {
		struct desk *desk = open_log();
		json_t *report;
		char *text;

		damages[i].plant(desk);
		report = desk_verified(desk);
		text = json_dumps(json_object_get(report, "problems"), 0);
		if (!is_told(report, &damages[i]))
			fail_msg("\"%s\" of message %llu was not told, but %s", damages[i].told,
				(unsigned long long)damages[i].seq, text);
		assert_false(json_is_true(json_object_get(report, "sound")));
		free(text);
		json_decref(report);
		desk_close(desk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_ends_once_per_queue),
		cmocka_unit_test(a_letter_that_is_redriven_and_fails_again_is_one_letter),
		cmocka_unit_test(what_was_dropped_for_its_age_is_missed_by_nobody),
		cmocka_unit_test(each_damage_is_told_with_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
