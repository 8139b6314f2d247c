/* sessions: who may come, who is active, who is dead */
#include "bus/base/text.h"
#include "bus/broker/log/log.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void hello_with(struct peer *peer, const char *log, uint64_t remembered)
{
	Hello *hello = calloc(1, sizeof(*hello));

	TEXT_COPY(hello->log, log);
	hello->remembered = remembered;
	peer_say_hello(peer, hello);
	free(hello);
}

static void an_unknown_service_is_refused_for_good(void **state)
{
	struct desk *desk = desk_open();
	struct peer *stranger = peer_new(desk, "stranger", "s");

	(void)state;
	peer_hello(stranger, "run", 0);
	assert_true(stranger->refused);
	assert_true(stranger->refused_final);
	desk_close(desk);
}

static void a_peer_of_another_release_is_refused_until_both_speak_one_version(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	Hello hello = { .service = "talker", .instance = "t", .run = "run", .version = 9, .version_least = 8 };

	(void)state;
	peer_say_hello(talker, &hello);
	assert_true(talker->refused);
	assert_false(talker->refused_final);
	assert_non_null(strstr(talker->reason, "t speaks versions 8 to 9 of the protocol and this broker 1 to 1"));
	assert_false(talker->welcomed);
	assert_int_equal(status_refused(desk, "hello"), 1);
	hello.version_least = 0;
	peer_say_hello(talker, &hello);
	assert_true(talker->welcomed);
	desk_close(desk);
}

static void a_peer_of_another_log_is_refused_and_the_broker_goes_on(void **state)
{
	struct desk *desk = desk_open();
	struct peer *peer = peer_new(desk, "reader", "r");

	(void)state;
	hello_with(peer, "another", 0);
	assert_true(peer->refused_final);
	assert_int_equal(desk->commit_result, 0);
	hello_with(peer, broker_log_id(desk->broker), 0);
	assert_true(peer->welcomed);
	desk_close(desk);
}

static void a_log_shorter_than_a_peer_remembers_stops_the_broker(void **state)
{
	struct desk *desk = desk_open();
	struct peer *peer = peer_new(desk, "reader", "r");

	(void)state;
	hello_with(peer, broker_log_id(desk->broker), 7);
	assert_true(peer->refused_final);
	assert_int_equal(desk->commit_result, -EUCLEAN);
	assert_non_null(strstr(broker_why(desk->broker), "7"));
	desk_close(desk);
}

static void hello_remembering(struct peer *peer, uint64_t remembered, uint64_t opening)
{
	Hello *hello = calloc(1, sizeof(*hello));

	TEXT_COPY(hello->log, broker_log_id(peer->desk->broker));
	hello->remembered = remembered;
	hello->opening = opening;
	peer_say_hello(peer, hello);
	free(hello);
}

static void say_facts(struct desk *desk, int count)
{
	struct peer *talker = peer_new(desk, "talker", "t");

	peer_hello(talker, "run", 0);
	for (int i = 0; i < count; i++)
		SAID(talker, .topic = "fact");
}

static void start_again(struct desk *desk)
{
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), 0);
}

/* Whoever is let in could end the broker with one number; where the broker can prove it wrong, it is the peer that is refused. */
static void a_memory_that_this_start_disproves_ends_nobody_but_its_owner(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *peer = peer_new(desk, "reader", "r"), *other = peer_new(desk, "half", "h");
	uint64_t before;

	(void)state;
	say_facts(desk, 3);
	peer_hello(peer, "run", 0);
	before = peer->opening;
	hello_remembering(peer, 4, before); /* 3 are all there ever were */
	assert_true(peer->refused_final);
	assert_non_null(strstr(peer->reason, "message 4"));
	assert_int_equal(desk->commit_result, 0);
	hello_with(peer, "", 1000000); /* of which log? */
	assert_true(peer->refused_final);
	assert_int_equal(desk->commit_result, 0);
	assert_int_equal(status_refused(desk, "hello"), 2);
	hello_remembering(other, 3, before);
	assert_false(other->refused);

	start_again(desk); /* and nothing was written down */
	hello_remembering(other, 3, before);
	assert_false(other->refused);
	hello_remembering(peer, 4, before); /* now it may be true: the log's end may be lost */
	assert_int_equal(desk->commit_result, -EUCLEAN);
	desk_close(desk);
}

static void a_log_that_lost_its_end_and_grew_again_is_found_out(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *peer = peer_new(desk, "reader", "r");
	uint64_t first, second;

	(void)state;
	say_facts(desk, 3);
	peer_hello(peer, "run", 0);
	first = peer->opening;
	start_again(desk); /* what was learnt in the first opening ends at 3 */
	say_facts(desk, 3);
	peer_hello(peer, "run", 0);
	second = peer->opening;
	start_again(desk);
	hello_remembering(peer, 3, first);
	assert_true(peer->welcomed);
	hello_remembering(peer, 6, second);
	assert_false(peer->refused);
	hello_remembering(peer, 4, first);
	assert_true(peer->refused_final);
	assert_int_equal(desk->commit_result, -EUCLEAN);
	assert_non_null(strstr(broker_why(desk->broker), "lost its end"));
	desk_close(desk);
}

static void refused_as_a_copy(uint64_t difference)
{
	struct desk *desk = desk_open_disk();
	struct peer *peer = peer_new(desk, "reader", "r");

	say_facts(desk, 3);
	peer_hello(peer, "run", 0);
	hello_remembering(peer, 2, peer->opening);
	assert_false(peer->refused);
	hello_remembering(peer, 2, peer->opening + difference);
	assert_true(peer->refused_final);
	assert_int_equal(desk->commit_result, -EUCLEAN);
	assert_non_null(strstr(broker_why(desk->broker), "older copy"));
	desk_close(desk);
}

static void an_older_copy_of_the_log_is_found_out(void **state)
{
	(void)state;
	refused_as_a_copy(UINT64_C(1) << 32); /* opened once more, elsewhere */
	refused_as_a_copy(1);                 /* opened as often, elsewhere */
}

static void a_memory_without_a_log_is_no_memory(void **state)
{
	struct desk *desk = desk_open();
	struct peer *peer = peer_new(desk, "reader", "r");
	static const struct {
		uint64_t remembered, opening;
	} told[] = { { 0, UINT64_C(7) << 32 }, { 0, 1 }, { 9, 0 }, { 2, UINT64_C(1) << 40 } };

	(void)state;
	say_facts(desk, 3);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		Hello *hello = calloc(1, sizeof(*hello));

		hello->remembered = told[i].remembered;
		hello->opening = told[i].opening;
		peer_say_hello(peer, hello);
		assert_true(peer->refused);
		assert_int_equal(desk->commit_result, 0);
		free(hello);
	}
	peer_hello(peer, "run", 0);
	assert_true(peer->welcomed);
	desk_close(desk);
}

static void a_log_found_out_once_stays_shut_until_it_is_another_one(void **state)
{
	struct desk *desk = desk_open_disk();
	struct peer *peer = peer_new(desk, "reader", "r");
	char before[40], after[40], known[40];
	struct store *store;

	(void)state;
	say_facts(desk, 3);
	TEXT_COPY(known, broker_log_id(desk->broker));
	hello_remembering(peer, 4, 0);
	desk_crash(desk);
	assert_int_equal(desk_start(desk, desk_topology), -EUCLEAN);
	assert_non_null(strstr(desk->why, "message 4 of it was confirmed (r says so)"));
	assert_non_null(strstr(desk->why, "--new-identity"));
	assert_int_equal(store_open(desk->path, &broker_store_options, &store, desk->why), 0);
	assert_int_equal(log_new_identity(store, before, after), 0);
	store_close(store);
	assert_string_equal(before, known);
	assert_int_equal(desk_start(desk, desk_topology), 0);
	assert_string_equal(broker_log_id(desk->broker), after);
	hello_with(peer, before, 0);
	assert_true(peer->refused_final);
	assert_int_equal(desk->commit_result, 0);
	desk_close(desk);
}

static void an_exclusive_service_has_one_active_instance(void **state)
{
	struct desk *desk = desk_open();
	struct peer *one = peer_new(desk, "single", "1"), *other = peer_new(desk, "single", "2");

	(void)state;
	peer_hello(one, "run", 0);
	peer_hello(other, "run", 0);
	assert_true(one->welcomed);
	assert_true(other->standby);
	assert_false(other->welcomed);
	one->mailbox_open = false; /* it goes silent */
	desk_pass(desk, 2 * US_PER_S);
	peer_hello(other, "run", 0);
	assert_true(other->welcomed);
	desk_close(desk);
}

static void an_instance_that_was_replaced_is_fenced_by_its_epoch(void **state)
{
	struct desk *desk = desk_open();
	struct peer *before = peer_new(desk, "single", "1"), *after = peer_new(desk, "single", "1");
	const struct words row = { .topic = "row" };

	(void)state;
	peer_hello(before, "run 1", 0);
	peer_hello(after, "run 2", 0);
	assert_true(after->epoch != before->epoch);
	peer_turn(before, NULL, &(struct verdict_words){ .facts = &row, .fact_count = 1 });
	desk_work(desk);
	assert_int_equal(broker_head(desk->broker), 0);
	peer_heartbeat(before, 0);
	assert_true(before->lost);
	assert_int_equal(TURN(after, NULL, .facts = &row, .fact_count = 1).kind, CONFIRM_FRESH);
	desk_close(desk);
}

static void a_session_silent_for_five_heartbeats_is_dead(void **state)
{
	struct desk *desk = desk_open();
	struct peer *reader = peer_new(desk, "reader", "r");

	(void)state;
	peer_hello(reader, "run", 0);
	desk_pass(desk, 5 * US_PER_S);
	peer_heartbeat(reader, 0);
	assert_false(reader->lost);
	desk_pass_silent(desk, 1400 * US_PER_MS);
	peer_heartbeat(reader, 0);
	assert_false(reader->lost);
	desk_pass_silent(desk, 1900 * US_PER_MS);
	peer_heartbeat(reader, 0);
	assert_true(reader->lost);
	desk_close(desk);
}

static void a_command_may_be_silent_ten_times_as_long(void **state)
{
	struct desk *desk = desk_open();
	struct peer *command = peer_new(desk, "admin", "a");

	(void)state;
	peer_hello(command, "run", 0);
	desk_pass(desk, 5 * US_PER_S);
	peer_heartbeat(command, 0);
	desk_pass_silent(desk, 14 * US_PER_S);
	peer_heartbeat(command, 0);
	assert_false(command->lost);
	desk_pass_silent(desk, 16 * US_PER_S);
	peer_heartbeat(command, 0);
	assert_true(command->lost);
	desk_close(desk);
}

static void a_broker_that_was_away_itself_declares_nobody_dead(void **state)
{
	struct desk *desk = desk_open();
	struct peer *reader = peer_new(desk, "reader", "r");

	(void)state;
	peer_hello(reader, "run", 0);
	desk->clock.virtual_us += 10 * US_PER_S;
	desk_work(desk);
	peer_heartbeat(reader, 0);
	assert_false(reader->lost);
	desk_close(desk);
}

static void a_mailbox_that_takes_nothing_ends_its_session(void **state)
{
	struct desk *desk = desk_open();
	struct peer *reader = peer_new(desk, "reader", "r"), *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(reader, "run", 0);
	reader->deaf = true;
	SAID(talker, .topic = "fact");
	assert_false(reader->mailbox_open);
	assert_true(talker->mailbox_open);
	desk_close(desk);
}

static void garbled_items_end_the_session(void **state)
{
	struct desk *desk = desk_open();
	struct peer *talker = peer_new(desk, "talker", "t");
	struct frame_writer writer = { 0 };
	Up up = { .which_what = Up_fact_tag };

	(void)state;
	peer_hello(talker, "run", 0);
	frame_add(&writer, Up_fields, &up, BYTES(NULL, 0));
	peer_push(talker, &writer);
	assert_false(talker->mailbox_open);
	desk_close(desk);
}

static void a_turn_that_promises_more_facts_than_it_brings_commits_nothing(void **state)
{
	struct desk *desk = desk_open();
	struct peer *single = peer_new(desk, "single", "1");
	struct frame_writer writer = { 0 };
	Up up = { .which_what = Up_turn_tag };

	(void)state;
	peer_hello(single, "run", 0);
	up.what.turn.facts = 2;
	frame_add(&writer, Up_fields, &up, BYTES(NULL, 0));
	peer_push(single, &writer);
	desk_work(desk);
	assert_int_equal(broker_head(desk->broker), 0);
	assert_false(single->mailbox_open);
	desk_close(desk);
}

static void credit_never_shrinks(void **state)
{
	struct desk *desk = desk_open();
	struct peer *worker = peer_new(desk, "worker", "w"), *talker = peer_new(desk, "talker", "t");

	(void)state;
	peer_hello(talker, "run", 0);
	peer_hello(worker, "run", 0);
	worker->credit = (UpCredit){ 0 }; /* an old total, late */
	peer_credit(worker, 1, 1);
	SAID(talker, .topic = "work", .key = "a");
	SAID(talker, .topic = "work", .key = "b");
	assert_int_equal(peer_count(worker, Down_delivery_tag), 2);
	desk_close(desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_service_is_refused_for_good),
		cmocka_unit_test(a_peer_of_another_release_is_refused_until_both_speak_one_version),
		cmocka_unit_test(a_peer_of_another_log_is_refused_and_the_broker_goes_on),
		cmocka_unit_test(a_log_shorter_than_a_peer_remembers_stops_the_broker),
		cmocka_unit_test(a_memory_that_this_start_disproves_ends_nobody_but_its_owner),
		cmocka_unit_test(a_log_that_lost_its_end_and_grew_again_is_found_out),
		cmocka_unit_test(an_older_copy_of_the_log_is_found_out),
		cmocka_unit_test(a_memory_without_a_log_is_no_memory),
		cmocka_unit_test(a_log_found_out_once_stays_shut_until_it_is_another_one),
		cmocka_unit_test(an_exclusive_service_has_one_active_instance),
		cmocka_unit_test(an_instance_that_was_replaced_is_fenced_by_its_epoch),
		cmocka_unit_test(a_session_silent_for_five_heartbeats_is_dead),
		cmocka_unit_test(a_command_may_be_silent_ten_times_as_long),
		cmocka_unit_test(a_broker_that_was_away_itself_declares_nobody_dead),
		cmocka_unit_test(a_mailbox_that_takes_nothing_ends_its_session),
		cmocka_unit_test(garbled_items_end_the_session),
		cmocka_unit_test(a_turn_that_promises_more_facts_than_it_brings_commits_nothing),
		cmocka_unit_test(credit_never_shrinks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
