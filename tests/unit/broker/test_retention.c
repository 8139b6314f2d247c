/* retention: what is old goes in whole ranges, never what somebody still needs, and the log stays a log */
#include "bus/base/text.h"
#include "bus/broker/core.h"
#include "bus/broker/log/log.h"
#include "bus/store/store.h"
#include "desk.h"
#include <errno.h>
#include <pb_decode.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Everybody falls silent meanwhile. */
static void days_later(struct desk *desk, int days)
{
	desk->clock.virtual_us += days * US_PER_DAY;
	desk_work(desk);
	desk_work(desk);
}

static void say(struct peer *talker, const char *topic, const char *key, uint64_t version)
{
	peer_hello(talker, "run", 0);
	SAID(talker, .topic = topic, .key = key, .version = version, .text = "a person lives here");
}

static void settle_all(struct desk *desk, struct peer *worker)
{
	struct item *item;

	peer_hello(worker, "run", broker_head(desk->broker));
	while ((item = peer_delivery(worker)))
		TURN(worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
}

static int rows_of(struct desk *desk, int family)
{
	struct store_cursor *cursor = store_cursor_new(desk->store, family);
	int count = 0;

	for (bool more = store_cursor_seek(cursor, bytes_of("")); more; more = store_cursor_next(cursor))
		count++;
	store_cursor_free(cursor);
	return count;
}

static json_int_t kept_from(struct desk *desk, const char *class)
{
	struct peer *admin = peer_new(desk, "admin", "a");
	json_t *status;
	json_int_t from;

	peer_hello(admin, "run", 0);
	status = peer_ask(admin, "status", "{}");
	from = json_integer_value(json_object_get(json_object_get(json_object_get(status, "kept"), class), "from"));
	json_decref(status);
	return from;
}

/* Of what was said; the broker's own word of what it has forgotten is asked for by said_forgotten. */
static uint64_t next_seq(struct peer *peer)
{
	struct item *item = peer_projection(peer);

	while (item && strcmp(item->envelope.topic, TOPIC_FORGOTTEN) == 0)
		item = peer_projection(peer);
	return item ? item->down.what.projection.seq : 0;
}

/* The next word of what the log has forgotten; its number, 0: there is none. */
static uint64_t said_forgotten(struct peer *peer, Forgotten *ret)
{
	struct item *item = peer_projection(peer);
	Envelope envelope;
	struct bytes payload;
	pb_istream_t stream;

	while (item && strcmp(item->envelope.topic, TOPIC_FORGOTTEN) != 0)
		item = peer_projection(peer);
	if (!item)
		return 0;
	assert_int_equal(message_read(buffer_bytes(&item->body), &envelope, &payload), 0);
	stream = pb_istream_from_buffer(payload.data, payload.len);
	assert_true(pb_decode(&stream, Forgotten_fields, ret));
	return item->down.what.projection.seq;
}

static void what_is_raw_goes_after_its_days_and_the_rest_stays(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct peer *reader = peer_new(desk, "reader", "r");

	(void)state;
	say(talker, "raw", "a", 0);
	say(talker, "fact", "a", 0);
	say(talker, "diary", "a", 0);
	settle_all(desk, worker);
	days_later(desk, 20);
	say(talker, "raw", "b", 0);
	settle_all(desk, worker);
	assert_int_equal(rows_of(desk, FAMILY_RAW), 2);
	days_later(desk, 10);
	assert_int_equal(rows_of(desk, FAMILY_RAW), 1);
	assert_int_equal(rows_of(desk, FAMILY_FACT), 1);
	assert_int_equal(kept_from(desk, "raw"), 4);
	assert_int_equal(kept_from(desk, "facts"), 1);

	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	assert_int_equal(kept_from(desk, "raw"), 4);
	peer_hello(reader, "run", 0);
	assert_int_equal(next_seq(reader), 2);
	assert_int_equal(next_seq(reader), 4);
	assert_int_equal(next_seq(reader), 0);
	desk_close(desk);
}

static void a_log_of_which_everything_raw_was_dropped_opens(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");

	(void)state;
	say(talker, "raw", "a", 0);
	settle_all(desk, worker);
	days_later(desk, 31);
	assert_int_equal(rows_of(desk, FAMILY_RAW), 0);
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	assert_int_equal(kept_from(desk, "raw"), 2);
	say(talker, "raw", "b", 0);
	assert_int_equal(broker_head(desk->broker), 3); /* with its own word that 1 is forgotten */
	desk_close(desk);
}

static void what_a_queue_has_not_settled_stays_however_old(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct item *item;

	(void)state;
	say(talker, "raw", "a", 0);
	say(talker, "raw", "b", 0);
	peer_hello(worker, "run", 0);
	item = peer_delivery(worker);
	TURN(worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
	days_later(desk, 40);
	assert_int_equal(rows_of(desk, FAMILY_RAW), 1);
	peer_hello(worker, "run", 0);
	item = peer_delivery(worker);
	assert_non_null(item);
	assert_int_equal(item->down.what.delivery.receipt.seq, 2);
	TURN(worker, &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
	days_later(desk, 1);
	assert_int_equal(rows_of(desk, FAMILY_RAW), 0);
	desk_close(desk);
}

static void a_dead_letter_outlives_what_it_was_about(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct peer *admin = peer_new(desk, "admin", "a");
	struct item *item;

	(void)state;
	say(talker, "raw", "a", 0);
	peer_hello(worker, "run", 0);
	item = peer_delivery(worker);
	TURN(worker, &item->down.what.delivery.receipt, .kind = VERDICT_DEAD, .reason = "unreadable");
	days_later(desk, 40);
	assert_int_equal(rows_of(desk, FAMILY_RAW), 0);
	peer_hello(admin, "run", 0);
	json_decref(peer_ask(admin, "dead.redrive", "{\"queue\":\"worker\",\"seq\":1}"));
	peer_hello(worker, "run", 0);
	item = peer_delivery(worker);
	assert_non_null(item);
	assert_string_equal(item->envelope.key, "a");
	desk_close(desk);
}

static void a_session_that_is_behind_holds_what_it_was_not_shown(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker, *worker, *reader;
	Hello *hello = calloc(1, sizeof(*hello)); /* without credit it is shown nothing */

	(void)state;
	desk->settings.retention.raw_us = 5 * US_PER_HOUR;
	desk->settings.heartbeat_us = 5 * US_PER_MINUTE;
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	talker = peer_new(desk, "talker", "t"), worker = peer_new(desk, "worker", "w");
	reader = peer_new(desk, "reader", "r");
	say(talker, "raw", "a", 0);
	settle_all(desk, worker);
	peer_say_hello(reader, hello);
	desk_pass(desk, 9 * US_PER_HOUR);
	assert_int_equal(rows_of(desk, FAMILY_RAW), 1);
	peer_credit(reader, 0, 10);
	desk_work(desk);
	assert_int_equal(next_seq(reader), 1);
	desk_pass(desk, 5 * US_PER_HOUR);
	assert_int_equal(rows_of(desk, FAMILY_RAW), 0);
	free(hello);
	desk_close(desk);
}

static void a_store_that_missed_what_was_dropped_is_to_fold_anew(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct peer *reader = peer_new(desk, "reader", "r"), *half = peer_new(desk, "half", "h");

	(void)state;
	for (int i = 0; i < 3; i++)
		say(talker, "raw", "a", 0);
	settle_all(desk, worker);
	days_later(desk, 31);
	peer_hello(reader, "run", 1);
	assert_true(reader->rebuild);
	assert_false(reader->welcomed);
	peer_hello(reader, "run", 0);
	assert_true(reader->welcomed);
	peer_hello(half, "run", 1); /* remembers nothing raw */
	assert_true(half->welcomed);
	desk_close(desk);
}

static void a_newcomer_gets_the_rows_that_stand_although_the_log_dropped_them(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *single = peer_new(desk, "single", "s");
	Forgotten forgotten;

	(void)state;
	desk->settings.retention.facts_bytes = 1;
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	say(talker, "row", "a", 1);
	days_later(desk, 130);
	say(talker, "row", "b", 1);
	days_later(desk, 1);
	assert_int_equal(rows_of(desk, FAMILY_FACT), 1);
	peer_hello(single, "run", 0);
	assert_int_equal(next_seq(single), 1);
	assert_int_equal(next_seq(single), 3);
	assert_int_equal(next_seq(single), 0);
	peer_hello(single, "run", 0); /* by size the log is shortened, and no row is forgotten before its age */
	assert_int_not_equal(said_forgotten(single, &forgotten), 0);
	assert_int_equal(forgotten.facts_before, 2);
	assert_int_equal(forgotten.rows_before, 1);
	desk_close(desk);
}

static void what_the_log_forgets_it_says_first_and_where(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");
	struct peer *reader = peer_new(desk, "reader", "r"), *late = peer_new(desk, "half", "h");
	Forgotten forgotten;

	(void)state;
	say(talker, "raw", "a", 0);
	say(talker, "fact", "a", 0);
	settle_all(desk, worker);
	days_later(desk, 10);
	say(talker, "raw", "b", 0);
	settle_all(desk, worker);
	peer_hello(reader, "run", 2);
	desk_pass(desk, US_PER_S);
	assert_int_equal(said_forgotten(reader, &forgotten), 0);
	days_later(desk, 20);
	peer_hello(reader, "run", 3); /* it kept what it was shown, and is told to forget it */
	assert_true(reader->welcomed);
	assert_int_equal(said_forgotten(reader, &forgotten), 4);
	assert_int_equal(forgotten.raw_before, 3);
	assert_int_equal(forgotten.facts_before, 1);
	days_later(desk, 1);
	assert_int_equal(broker_head(desk->broker), 4); /* nothing new: nothing said */
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	days_later(desk, 1);
	assert_int_equal(broker_head(desk->broker), 4);
	peer_hello(late, "run", 0); /* remembers rows alone, and is told all the same */
	assert_int_equal(said_forgotten(late, &forgotten), 4);
	desk_close(desk);
}

/* A row that is ended is forgotten in the order of the log, wherever the folding of `latest` stands when it happens. */
static void a_row_that_is_forgotten_outranks_nothing_from_there_on(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *single = peer_new(desk, "single", "s");

	(void)state;
	say(talker, "row", "a", 8);
	SAID(talker, .topic = "row.end", .key = "a", .version = 9, .tombstone = true);
	say(talker, "row", "a", 5); /* late: it is ended */
	days_later(desk, 401);      /* 4 says so */
	say(talker, "row", "a", 1);
	peer_hello(single, "run", 0);
	assert_int_equal(next_seq(single), 5);
	assert_int_equal(next_seq(single), 0);
	desk_close(desk);
}

static void rows_that_ended_leave_with_the_facts_and_a_claim_and_the_record_stay(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *single = peer_new(desk, "single", "s");
	struct logged logged;
	Confirm again;

	(void)state;
	say(talker, "row.end", "stands", 1);
	SAID(talker, .topic = "claim", .idem = "one", .claim = true);
	SAID(talker, .topic = "diary", .idem = "one");
	SAID(talker, .topic = "row.end", .key = "a", .version = 7, .tombstone = true);
	days_later(desk, 399);
	desk_pass(desk, 15 * US_PER_S);
	assert_int_equal(rows_of(desk, FAMILY_LATEST), 2);
	assert_int_equal(rows_of(desk, FAMILY_IDEM), 1); /* the claim's: what is only kept for ever has a window */
	days_later(desk, 2);
	desk_pass(desk, 15 * US_PER_S);
	assert_int_equal(rows_of(desk, FAMILY_FACT), 0);
	assert_int_equal(rows_of(desk, FAMILY_LATEST), 1);
	say(talker, "row", "a", 1); /* the key comes back, from the start */
	peer_hello(single, "run", 0);
	assert_int_equal(next_seq(single), 1);
	assert_int_equal(next_seq(single), broker_head(desk->broker));
	days_later(desk, 1000);
	desk_pass(desk, 15 * US_PER_S);
	peer_hello(talker, "run", 0);
	again = SAID(talker, .topic = "claim", .idem = "one", .claim = true, .text = "another process");
	assert_int_equal(again.kind, CONFIRM_DUPLICATE);
	assert_int_equal(again.seq, 2);
	assert_int_equal(log_read(desk->broker->log, 1, &logged), -ENOENT); /* a fact */
	assert_int_equal(log_read(desk->broker->log, 3, &logged), 0);       /* the diary, 1,400 days later */
	assert_string_equal(desk->broker->topology.topics[logged.topic].name, "diary");
	desk_close(desk);
}

/* So many at once that `latest` has not come to the last of them when it is looked what may go. */
static void a_row_that_was_not_folded_yet_stays_however_old(void **state)
{
	enum { MANY = 6000, AT_ONCE = 100 }; /* a tick folds 4,096 */
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t"), *single = peer_new(desk, "single", "s");
	uint64_t seq, shown = 0;
	char key[20];

	(void)state;
	peer_hello(talker, "run", 0);
	for (int i = 0; i < MANY; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		PUBLISH(talker, .topic = "row", .key = key, .version = 1);
		if (i % AT_ONCE == AT_ONCE - 1)
			assert_int_equal(broker_commit(desk->broker), 0); /* no tick: nothing is folded */
	}
	assert_int_equal(broker_head(desk->broker), MANY);
	days_later(desk, 401);
	assert_in_range(kept_from(desk, "facts"), 2, MANY); /* so it was looked at, and some of it went */
	peer_hello(single, "run", 0);
	while ((seq = next_seq(single)) > 0)
		shown++;
	assert_int_equal(shown, MANY);
	desk_close(desk);
}

/* Else the fold of the next start would look for what is gone. */
static void what_is_dropped_is_folded_over_on_the_disk_too(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	struct buffer cursor = { 0 };

	(void)state;
	say(talker, "diary", "a", 1);
	SAID(talker, .topic = "diary");
	desk_pass(desk, US_PER_S); /* folded over: there is no row in them */
	days_later(desk, 401);
	assert_int_equal(store_get(desk->store, 0, bytes_of("folded"), &cursor), 0);
	assert_true(get_be64(cursor.data) + 1 >= (uint64_t)kept_from(desk, "facts"));
	assert_true(kept_from(desk, "facts") > 2);
	buffer_free(&cursor);
	desk_close(desk);
}

static void a_clock_that_jumps_drops_nothing_for_a_day(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *talker = peer_new(desk, "talker", "t"), *worker = peer_new(desk, "worker", "w");

	(void)state;
	say(talker, "raw", "a", 0);
	settle_all(desk, worker);
	desk_crash(desk);
	desk->clock.virtual_us += 40 * US_PER_DAY; /* to a broker that starts, all of it is a jump */
	assert_int_equal(desk_start(desk, desk_topology), 0);
	desk_work(desk);
	desk->clock.virtual_us += 5 * US_PER_HOUR;
	desk_work(desk);
	assert_int_equal(rows_of(desk, FAMILY_RAW), 1);
	days_later(desk, 1);
	assert_int_equal(rows_of(desk, FAMILY_RAW), 0);
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_raw_goes_after_its_days_and_the_rest_stays),
		cmocka_unit_test(a_log_of_which_everything_raw_was_dropped_opens),
		cmocka_unit_test(what_a_queue_has_not_settled_stays_however_old),
		cmocka_unit_test(a_dead_letter_outlives_what_it_was_about),
		cmocka_unit_test(a_session_that_is_behind_holds_what_it_was_not_shown),
		cmocka_unit_test(a_store_that_missed_what_was_dropped_is_to_fold_anew),
		cmocka_unit_test(a_newcomer_gets_the_rows_that_stand_although_the_log_dropped_them),
		cmocka_unit_test(what_the_log_forgets_it_says_first_and_where),
		cmocka_unit_test(a_row_that_is_forgotten_outranks_nothing_from_there_on),
		cmocka_unit_test(rows_that_ended_leave_with_the_facts_and_a_claim_and_the_record_stay),
		cmocka_unit_test(a_row_that_was_not_folded_yet_stays_however_old),
		cmocka_unit_test(what_is_dropped_is_folded_over_on_the_disk_too),
		cmocka_unit_test(a_clock_that_jumps_drops_nothing_for_a_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
