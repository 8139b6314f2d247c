/* many topics and peers: 300 topics and 60 peers, of which each may say, hears and remembers its own and nothing else */
#include "bus/base/text.h"
#include "bus/broker/core.h"
#include "bus/broker/log/log.h"
#include "bus/broker/log/log_state.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TOPICS = 300, PEERS = 60, OF_PEER = TOPICS / PEERS };

/* Peer N says topics 5N to 5N + 4. The next peer hears the first of them and remembers all. */
static void write_topology(struct buffer *ret)
{
	for (int i = 0; i < TOPICS; i++)
		buffer_printf(ret, "[topic t%d]\nretention = %s\n", i, i % 2 ? "raw" : "fact");
	for (int i = 0; i < PEERS; i++) {
		int before = (i + PEERS - 1) % PEERS;

		buffer_printf(ret, "[peer p%d]\nhears = t%d\n", i, before * OF_PEER);
		for (int j = 0; j < OF_PEER; j++)
			buffer_printf(ret, "says = t%d\nremembers = t%d\n", i * OF_PEER + j, before * OF_PEER + j);
	}
	buffer_add_text(ret, "[peer admin]\noperator = yes\n");
}

static void start_many(struct desk *desk)
{
	struct buffer text = { 0 };

	write_topology(&text);
	assert_int_equal(desk_start(desk, buffer_text(&text)), 0);
	buffer_free(&text);
}

static struct desk *open_many(void)
{
	struct desk *desk = desk_open_disk();

	desk_crash(desk);
	start_many(desk);
	return desk;
}

static struct peer *peer_of(struct desk *desk, int number)
{
	char name[16];
	struct peer *peer;

	snprintf(name, sizeof(name), "p%d", number);
	peer = peer_new(desk, name, name);
	peer_hello(peer, "run", 0);
	assert_true(peer->mailbox_open);
	return peer;
}

static Confirm say_topic(struct peer *peer, int topic, const char *key)
{
	char name[16];

	snprintf(name, sizeof(name), "t%d", topic);
	return SAID(peer, .topic = name, .key = key);
}

static bool is_of_topic(const struct item *item, int topic)
{
	char name[16];

	snprintf(name, sizeof(name), "t%d", topic);
	return item && strcmp(item->envelope.topic, name) == 0;
}

static void each_peer_says_its_topics_and_no_other(void **state)
{
	struct desk *desk = open_many();
	struct peer *peer = peer_of(desk, 40);

	(void)state;
	for (int topic = 0; topic < TOPICS; topic++) {
		bool is_own = topic / OF_PEER == 40;

		assert_int_equal(say_topic(peer, topic, "k").kind, is_own ? CONFIRM_FRESH : CONFIRM_REFUSED);
	}
	assert_int_equal(broker_head(desk->broker), OF_PEER);
	desk_close(desk);
}

static void each_message_reaches_its_hearer_its_rememberer_and_the_taps(void **state)
{
	struct desk *desk = open_many();
	uint64_t tapped = desk->tapped;
	struct peer *sayer = peer_of(desk, 40), *hearer = peer_of(desk, 41), *other = peer_of(desk, 42);

	(void)state;
	for (int topic = 200; topic < 200 + OF_PEER; topic++)
		assert_int_equal(say_topic(sayer, topic, "k").kind, CONFIRM_FRESH);
	assert_true(is_of_topic(peer_delivery(hearer), 200));
	assert_null(peer_delivery(hearer));
	for (int topic = 200; topic < 200 + OF_PEER; topic++)
		assert_true(is_of_topic(peer_projection(hearer), topic));
	assert_null(peer_projection(hearer));
	assert_null(peer_delivery(other));
	assert_null(peer_projection(other));
	assert_int_equal(desk->tapped - tapped, OF_PEER);
	desk_close(desk);
}

static void assert_sound(struct desk *desk)
{
	json_t *report = desk_verified(desk);

	if (!json_is_true(json_object_get(report, "sound")))
		fail_msg("%s", json_dumps(report, 0));
	json_decref(report);
}

static void after_a_crash_everything_is_where_it_was(void **state)
{
	struct desk *desk = open_many();
	struct peer *peers[3];
	struct item *item;

	(void)state;
	for (int i = 0; i < 3; i++)
		peers[i] = peer_of(desk, 57 + i);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < OF_PEER; j++)
			assert_int_equal(say_topic(peers[i], (57 + i) * OF_PEER + j, "k").kind, CONFIRM_FRESH);
	item = peer_delivery(peers[1]);
	TURN(peers[1], &item->down.what.delivery.receipt, .kind = VERDICT_DONE);
	assert_sound(desk);
	desk_crash(desk);
	start_many(desk);
	assert_sound(desk);
	desk_pass(desk, desk->settings.grace_us); /* what was leased is handed out again */
	for (int i = 1; i < 3; i++) {
		peer_hello(peers[i], "again", 0);
		item = peer_delivery(peers[i]);
		assert_int_equal(item != NULL, i == 2); /* the other is done with */
		for (int j = 0; j < OF_PEER; j++)
			assert_true(is_of_topic(peer_projection(peers[i]), (56 + i) * OF_PEER + j));
	}
	desk_close(desk);
}

/* --- the log's numbers of topics --- */

static void a_topic_keeps_its_number_when_many_are_declared_before_it(void **state)
{
	struct desk *desk = desk_open_disk();
	struct buffer text = { 0 };
	uint16_t work = log_topic_id(desk->broker->log, topology_topic(&desk->topology, "work"));

	(void)state;
	desk_crash(desk);
	for (int i = 0; i < TOPICS; i++)
		buffer_printf(&text, "[topic new%d]\nretention = raw\n", i);
	buffer_add_text(&text, desk_topology);
	assert_int_equal(desk_start(desk, buffer_text(&text)), 0);
	assert_true(topology_topic(&desk->topology, "work") > TOPICS);
	assert_int_equal(log_topic_id(desk->broker->log, topology_topic(&desk->topology, "work")), work);
	desk_close(desk);
	buffer_free(&text);
}

/* A row of family meta under which the log finds a topic's name. */
static void put_name(struct desk *desk, uint64_t id, const char *name)
{
	struct store_batch *batch = store_batch_new(desk->store);
	uint8_t key[sizeof("topic/") - 1 + 8];

	memcpy(key, "topic/", sizeof("topic/") - 1);
	put_be64(key + sizeof("topic/") - 1, id);
	store_batch_put(batch, FAMILY_META, BYTES(key, sizeof(key)), bytes_of(name));
	assert_int_equal(store_commit(desk->store, batch, true), 0);
	store_batch_free(batch);
}

static void a_log_takes_numbers_up_to_the_last_and_then_says_that_there_are_no_more(void **state)
{
	struct desk *desk = desk_open_disk();
	struct buffer text = { 0 };
	struct peer *talker;

	(void)state;
	put_name(desk, TOPICS_MOST - 2, "long.gone");
	desk_crash(desk);
	buffer_printf(&text, "%s[topic newest]\nretention = fact\n[peer late]\nsays = newest\nremembers = newest\n",
		desk_topology);
	assert_int_equal(desk_start(desk, buffer_text(&text)), 0);
	assert_int_equal(log_topic_id(desk->broker->log, topology_topic(&desk->topology, "newest")), TOPICS_MOST - 1);
	talker = peer_new(desk, "late", "l");
	peer_hello(talker, "run", 0);
	assert_int_equal(SAID(talker, .topic = "newest").kind, CONFIRM_FRESH);
	assert_non_null(peer_projection(talker));
	assert_sound(desk);
	desk_crash(desk);
	buffer_add_text(&text, "[topic one.too.many]\nretention = fact\n");
	assert_int_equal(desk_start(desk, buffer_text(&text)), -ENOSPC);
	assert_non_null(strstr(desk->why, "Their numbers have 16 bits"));
	desk_close(desk);
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_peer_says_its_topics_and_no_other),
		cmocka_unit_test(each_message_reaches_its_hearer_its_rememberer_and_the_taps),
		cmocka_unit_test(after_a_crash_everything_is_where_it_was),
		cmocka_unit_test(a_topic_keeps_its_number_when_many_are_declared_before_it),
		cmocka_unit_test(a_log_takes_numbers_up_to_the_last_and_then_says_that_there_are_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
