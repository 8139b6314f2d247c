/*
 * the on-disk format: logs that older programs wrote open and are brought up to date; what a newer one wrote is refused
 *
 * The recorded logs (tests/fixtures) all hold this. A talker said: 1 raw; 2 and 3 work; 4 fact, with the key "once"; 5 row x
 * version 7; 6 row y version 1; 7 row.end y version 2; 8 claim cart/1/1. A worker was done with 1, refused 2 for good (9 is its
 * dead letter) and failed 3. Then the broker was killed and opened once more, and 10 is work that nobody was handed.
 */
#include "bus/base/text.h"
#include "bus/store/store.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { META = 0, LATEST = 8, RECORDED_HEAD = 10 };

static const char *const recorded[] = { "2", "3", "4", "5" };

static struct desk *unpack(const char *format)
{
	struct desk *desk = desk_open_disk();
	char command[512];

	desk_crash(desk);
	snprintf(command, sizeof(command), "rm -rf '%s'/* && tar -xzf '%s/log-format-%s.tar.gz' -C '%s'", desk->path,
		FIXTURES, format, desk->path);
	assert_int_equal(system(command), 0);
	desk->clock.virtual_us += US_PER_HOUR;
	return desk;
}

static void check_says(struct desk *desk)
{
	struct peer *talker = peer_new(desk, "talker", "t");
	Confirm again;

	peer_hello(talker, "run", 0);
	again = SAID(talker, .topic = "fact", .key = "f", .idem = "once", .text = "a fact");
	assert_int_equal(again.kind, CONFIRM_DUPLICATE);
	assert_int_equal(again.seq, 4);
	again = SAID(talker, .topic = "claim", .key = "cart/1", .idem = "cart/1/1", .claim = true, .text = "another");
	assert_int_equal(again.kind, CONFIRM_DUPLICATE);
	assert_int_equal(again.seq, 8);
	assert_int_equal(SAID(talker, .topic = "work", .key = "new").seq, RECORDED_HEAD + 1);
}

static void check_queue(struct desk *desk)
{
	struct peer *worker = peer_new(desk, "worker", "w"), *admin = peer_new(desk, "admin", "a");
	struct item *item;

	peer_hello(worker, "run", 0);
	desk_pass(desk, 4 * US_PER_S); /* the grace period */
	item = peer_delivery(worker);
	assert_int_equal(item->down.what.delivery.receipt.seq, RECORDED_HEAD + 1); /* nobody can hold it */
	item = peer_delivery(worker);
	assert_int_equal(item->down.what.delivery.receipt.seq, 10);
	item = peer_delivery(worker);
	assert_int_equal(item->down.what.delivery.receipt.seq, 3); /* it waited its minute */
	assert_int_equal(item->down.what.delivery.failures, 1);
	assert_null(peer_delivery(worker));

	peer_hello(admin, "run", 0);
	json_decref(peer_ask(admin, "dead.redrive", "{\"queue\":\"worker\",\"seq\":2}"));
	desk_work(desk);
	item = peer_delivery(worker);
	assert_int_equal(item->down.what.delivery.receipt.seq, 2);
}

/* What is pending holds the facts back. */
static void settle(struct desk *desk, const char *service)
{
	struct peer *worker = peer_new(desk, service, service);
	struct item *item;

	peer_hello(worker, "run", 0);
	desk_pass(desk, 4 * US_PER_S);
	while ((item = peer_delivery(worker)))
		TURN(worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
	peer_goodbye(worker);
}

static void check_projections(struct desk *desk)
{
	static const uint64_t expected[] = { 1, 2, 3, 4, 5, 7, 8, 9, 10, 11 }; /* 6 was ended by 7 */
	struct peer *reader = peer_new(desk, "reader", "r");

	peer_hello(reader, "run", 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(peer_projection(reader)->down.what.projection.seq, expected[i]);
}

static void a_log_that_an_older_program_wrote_opens_with_all_it_holds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		struct desk *desk = unpack(recorded[i]);

		assert_int_equal(desk_start(desk, desk_topology), 0);
		assert_int_equal(broker_head(desk->broker), RECORDED_HEAD);
		check_says(desk);
		check_queue(desk);
		check_projections(desk);
		desk_close(desk);
	}
}

static void read_format(struct desk *desk, char ret[16])
{
	struct buffer format = { 0 };
	struct store *store;

	assert_int_equal(store_open(desk->path, &broker_store_options, &store, desk->why), 0);
	assert_int_equal(store_get(store, META, bytes_of("format"), &format), 0);
	text_copy(ret, 16, buffer_text(&format));
	buffer_free(&format);
	store_close(store);
}

/* Rewrites the log's format behind the broker's back, as if another version had written it. */
static void write_format(struct desk *desk, const char *format)
{
	struct store *store;
	struct store_batch *batch;

	assert_int_equal(store_open(desk->path, &broker_store_options, &store, desk->why), 0);
	batch = store_batch_new(store);
	store_batch_put(batch, META, bytes_of("format"), bytes_of(format));
	assert_int_equal(store_commit(store, batch, true), 0);
	store_batch_free(batch);
	store_close(store);
}

static void opening_brings_it_up_to_date_and_it_opens_again(void **state)
{
	struct desk *today = desk_open_disk();
	char format[16], before[16], now[16];

	(void)state;
	desk_crash(today);
	read_format(today, now);
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		struct desk *desk = unpack(recorded[i]);

		read_format(desk, before);
		assert_string_equal(before, recorded[i]);
		assert_int_equal(desk_start(desk, desk_topology), 0);
		desk_crash(desk);
		read_format(desk, format);
		assert_string_equal(format, now);
		assert_int_equal(desk_start(desk, desk_topology), 0);
		assert_int_equal(broker_head(desk->broker), RECORDED_HEAD);
		check_says(desk);
		desk_close(desk);
	}
	desk_close(today);
}

static int rows_that_stand(struct desk *desk)
{
	struct store_cursor *cursor = store_cursor_new(desk->store, LATEST);
	int count = 0;

	for (bool more = store_cursor_seek(cursor, bytes_of("")); more; more = store_cursor_next(cursor))
		count++;
	store_cursor_free(cursor);
	return count;
}

/* Of what was said then nobody knows whether it ends its row: it is forgotten by its age. What is said now stands. */
static void rows_of_an_older_program_leave_by_their_age(void **state)
{
	struct desk *desk = unpack("4");
	struct peer *talker = peer_new(desk, "talker", "t");

	(void)state;
	assert_int_equal(desk_start(desk, desk_topology), 0);
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = "row", .key = "new", .version = 1);
	desk_pass_silent(desk, US_PER_S);
	assert_int_equal(rows_that_stand(desk), 3);
	for (int i = 0; i < 2; i++) {
		desk_crash(desk); /* it is remembered over a restart */
		assert_int_equal(desk_start(desk, desk_topology), 0);
		desk_pass_silent(desk, US_PER_S);
		desk->clock.virtual_us += 300 * US_PER_DAY; /* half of it */
		desk_pass_silent(desk, US_PER_S);
	}
	settle(desk, "worker");
	settle(desk, "single");
	desk_pass_silent(desk, 5 * US_PER_HOUR);
	assert_int_equal(rows_that_stand(desk), 1);
	desk_close(desk);
}

static void a_log_of_the_first_format_opens(void **state)
{
	static const uint8_t openings[] = "boot0"; /* "boot/..." to "boot0": what it did not know */
	struct desk *desk = unpack("2");
	struct store *store;

	(void)state;
	write_format(desk, "1");
	assert_int_equal(store_open(desk->path, &broker_store_options, &store, desk->why), 0);
	assert_int_equal(store_delete_range(store, 0, bytes_of("boot/"), BYTES(openings, sizeof(openings) - 1)), 0);
	store_close(store);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	assert_int_equal(broker_head(desk->broker), RECORDED_HEAD);
	check_says(desk);
	desk_close(desk);
}

static void a_log_of_a_newer_format_is_refused_untouched_with_a_remedy(void **state)
{
	struct desk *desk = unpack("3");
	char format[16];

	(void)state;
	write_format(desk, "99");
	assert_int_equal(desk_start(desk, desk_topology), -EUCLEAN);
	assert_non_null(strstr(desk->why, "format 99"));
	assert_non_null(strstr(desk->why, "Nothing was changed"));
	assert_non_null(strstr(desk->why, "or a newer one"));
	read_format(desk, format);
	assert_string_equal(format, "99");
	write_format(desk, "3");
	assert_int_equal(desk_start(desk, desk_topology), 0);
	check_says(desk);
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_that_an_older_program_wrote_opens_with_all_it_holds),
		cmocka_unit_test(opening_brings_it_up_to_date_and_it_opens_again),
		cmocka_unit_test(rows_of_an_older_program_leave_by_their_age),
		cmocka_unit_test(a_log_of_the_first_format_opens),
		cmocka_unit_test(a_log_of_a_newer_format_is_refused_untouched_with_a_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
