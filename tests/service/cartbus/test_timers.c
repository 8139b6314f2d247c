/* test_timers.c: which timers are set, whatever the order in which the log's topics are read */
#include "bus/base/text.h"
#include "services/cartbus/watch/timers.h"
#include "tests/unit/cmocka_all.h"
#include <pb_encode.h>
#include <string.h>

static struct sorted_map *timers;

static int fresh(void **state)
{
	(void)state;
	timers = sorted_map_new();
	return 0;
}

static int gone(void **state)
{
	(void)state;
	sorted_map_free(timers);
	return 0;
}

static void fold(const char *topic, const char *shop, uint64_t seq, const pb_msgdesc_t *fields, const void *message)
{
	uint8_t payload[2000];
	pb_ostream_t stream = pb_ostream_from_buffer(payload, sizeof(payload));

	assert_true(pb_encode(&stream, fields, message));
	timer_rows_fold(timers,
		&(struct entry){ .seq = seq,
			.topic = topic,
			.shop = shop,
			.key = "",
			.payload = BYTES(payload, stream.bytes_written) });
}

static void set_in(const char *shop, const char *name, uint64_t seq, uint64_t version, int64_t due_us, const char *cron)
{
	TimerSet set = { .version = version, .due_us = due_us };

	TEXT_COPY(set.name, name);
	TEXT_COPY(set.cron, cron);
	fold("timer.set", shop, seq, &TimerSet_msg, &set);
}

static void cancel(const char *name, uint64_t seq, uint64_t version)
{
	TimerCancel message = { .version = version };

	TEXT_COPY(message.name, name);
	fold("timer.cancel", "demo", seq, &TimerCancel_msg, &message);
}

static void fired(const char *name, uint64_t seq, uint64_t version)
{
	TimerFired message = { .version = version };

	TEXT_COPY(message.name, name);
	fold("timer.fired", "demo", seq, &TimerFired_msg, &message);
}

/* When it is due; 0: it is not set. */
static int64_t due(const char *shop, const char *name)
{
	TimerSet set = { .due_us = 0 };

	if (!timer_rows_find(timers, shop, name, &set))
		return 0;
	assert_string_equal(set.name, name);
	return set.due_us;
}

static void the_newest_version_holds(void **state)
{
	(void)state;
	assert_int_equal(due("demo", "cart/c1"), 0);
	set_in("demo", "cart/c1", 10, 2, 200, "");
	set_in("demo", "cart/c1", 11, 1, 100, "");
	assert_int_equal(due("demo", "cart/c1"), 200);
	set_in("demo", "cart/c1", 12, 2, 201, ""); /* the same version again: as the timer takes it */
	assert_int_equal(due("demo", "cart/c1"), 201);
	set_in("demo", "cart/c1", 13, 3, 300, "");
	assert_int_equal(due("demo", "cart/c1"), 300);
	assert_int_equal(sorted_map_count(timers), 1);
}

static void shops_and_names_are_told_apart(void **state)
{
	(void)state;
	set_in("demo", "cart/c1", 10, 1, 100, "");
	set_in("demo2", "cart/c1", 11, 1, 200, "");
	set_in("demo", "cart/c12", 12, 1, 300, "");
	assert_int_equal(due("demo", "cart/c1"), 100);
	assert_int_equal(due("demo2", "cart/c1"), 200);
	assert_int_equal(due("demo", "cart/c12"), 300);
	cancel("cart/c1", 13, 1);
	assert_int_equal(due("demo", "cart/c1"), 0);
	assert_int_equal(due("demo2", "cart/c1"), 200);
	assert_int_equal(sorted_map_count(timers), 2);
}

/* All of timer.set are read first, then all that ended them: only what came behind a set ends it. */
static void what_came_before_a_timer_was_set_does_not_end_it(void **state)
{
	(void)state;
	set_in("demo", "cart/c1", 10, 3, 100, "");
	cancel("cart/c1", 9, 3);
	fired("cart/c1", 9, 3);
	assert_int_equal(due("demo", "cart/c1"), 100);
	cancel("cart/c1", 11, 2); /* nor what is about an older version */
	fired("cart/c1", 11, 2);
	assert_int_equal(due("demo", "cart/c1"), 100);
	fired("cart/c1", 12, 3);
	assert_int_equal(due("demo", "cart/c1"), 0);
	set_in("demo", "cart/c2", 20, 3, 100, "");
	cancel("cart/c2", 21, 4);
	assert_int_equal(due("demo", "cart/c2"), 0);
	cancel("cart/c3", 22, 1); /* which was never set */
}

static void a_timer_by_cron_goes_on_after_it_fired(void **state)
{
	(void)state;
	set_in("demo", "tick/nightly", 10, 1, 100, "0 2 * * *");
	fired("tick/nightly", 11, 1);
	assert_int_equal(due("demo", "tick/nightly"), 100);
	cancel("tick/nightly", 12, 1);
	assert_int_equal(due("demo", "tick/nightly"), 0);
}

static void other_messages_and_garbage_change_nothing(void **state)
{
	(void)state;
	fold("cart.wake", "demo", 9, &TimerSet_msg, &(TimerSet){ .name = "cart/c1", .version = 1, .due_us = 5 });
	timer_rows_fold(timers,
		&(struct entry){
			.seq = 10, .topic = "timer.set", .shop = "demo", .key = "", .payload = bytes_of("\xff\xff") });
	assert_int_equal(sorted_map_count(timers), 0);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, fresh, gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(the_newest_version_holds),
		SCENE(shops_and_names_are_told_apart),
		SCENE(what_came_before_a_timer_was_set_does_not_end_it),
		SCENE(a_timer_by_cron_goes_on_after_it_fired),
		SCENE(other_messages_and_garbage_change_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
