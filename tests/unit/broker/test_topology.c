/* topology.conf */
#include "bus/base/text.h"
#include "desk.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct topology parsed;
static struct config_error problem;

static void refuses(const char *text, const char *because)
{
	assert_int_equal(topology_parse(text, "topology.conf", &parsed, &problem), -EINVAL);
	if (!strstr(problem.text, because))
		fail_msg("expected \"%s\" in \"%s\"", because, problem.text);
}

static void what_is_declared_is_there(void **state)
{
	int work, peer;

	(void)state;
	assert_int_equal(topology_parse(desk_topology, "topology.conf", &parsed, &problem), 0);
	work = topology_topic(&parsed, "work");
	peer = topology_peer(&parsed, "worker");
	assert_true(work >= 0 && peer >= 0);
	assert_true(topic_set_has(&parsed.peers[peer].hears, work));
	assert_false(topic_set_has(&parsed.peers[peer].says, work));
	assert_int_equal(parsed.peers[peer].failure_limit, 5);
	assert_int_equal(parsed.peers[peer].lease_us, 10 * US_PER_S);
	assert_true(parsed.peers[topology_peer(&parsed, "single")].exclusive);
	assert_true(parsed.peers[topology_peer(&parsed, "door")].gateway);
	assert_true(parsed.peers[topology_peer(&parsed, "admin")].operator_);
	assert_string_equal(parsed.topics[topology_topic(&parsed, "row.end")].group, "row");
	topology_free(&parsed);
}

static void the_topic_of_dead_letters_is_always_there_and_kept(void **state)
{
	(void)state;
	assert_int_equal(topology_parse("", "topology.conf", &parsed, &problem), 0);
	assert_int_equal(parsed.topics[topology_topic(&parsed, "dead.letter")].retention, 2);
	topology_free(&parsed);
}

static void a_topic_may_be_declared_by_each_who_names_it(void **state)
{
	(void)state;
	assert_int_equal(topology_parse("[topic a]\nretention = raw\n[peer x]\nsays = a\n"
					"[topic a]\nretention = raw\n[peer y]\nhears = a\n",
				 "topology.conf", &parsed, &problem),
		0);
	assert_int_equal(parsed.topic_count, 3); /* and two of the broker's own */
	assert_int_equal(parsed.peer_count, 2);
	topology_free(&parsed);
}

static void what_does_not_add_up_is_refused_with_what_was_expected(void **state)
{
	(void)state;
	refuses("[peer x]\nhears = nothing\n", "not declared");
	refuses("[topic a]\nretention = some\n", "raw, fact, keep or claim");
	refuses("[topic a]\n[peer x]\nexclusive = perhaps\n", "yes or no");
	refuses("[topic aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\nretention = raw\n", "31 bytes");
	refuses("[peer x]\nfailure-limit = 0\n", "failure-limit");
	refuses("[peer x]\ncolour = blue\n", "colour");
}

/* As a service's manifest writes it; the ranges are those that the service judges itself by (bus/wire/protocol.h). */
static void what_a_service_declared_of_its_queue_is_read_and_judged(void **state)
{
	const struct topology_peer *peer;

	(void)state;
	assert_int_equal(
		topology_parse("[topic a]\nretention = fact\n[peer x]\nfailure-limit = 2\nlease = 1500ms\nhears = a\n"
			       "[peer y]\nhears = a\n",
			"topology.conf", &parsed, &problem),
		0);
	peer = &parsed.peers[topology_peer(&parsed, "x")];
	assert_int_equal(peer->failure_limit, 2);
	assert_int_equal(peer->lease_us, 1500 * US_PER_MS);
	peer = &parsed.peers[topology_peer(&parsed, "y")];
	assert_int_equal(peer->failure_limit, 5);
	assert_int_equal(peer->lease_us, 30 * US_PER_S);
	topology_free(&parsed);
	refuses("[peer x]\nfailure-limit = 0\n", "failure-limit");
	refuses("[peer x]\nfailure-limit = 1001\n", "failure-limit");
	refuses("[peer x]\nlease = 99ms\n", "lease");
	refuses("[peer x]\nlease = 86400001ms\n", "lease");
}

static uint32_t subject_in(const char *lines)
{
	uint32_t subject;
	char text[200];

	snprintf(text, sizeof(text), "[topic a]\nretention = fact\n%s[peer x]\nsays = a\n", lines);
	assert_int_equal(topology_parse(text, "topology.conf", &parsed, &problem), 0);
	subject = parsed.topics[topology_topic(&parsed, "a")].subject;
	topology_free(&parsed);
	return subject;
}

static void the_subject_is_read_by_its_name_and_by_the_one_that_was_released(void **state)
{
	uint32_t path = subject_in("subject = 1/12\n");

	(void)state;
	assert_true(path > 0);
	assert_int_equal(subject_in("cart = 1/12\n"), path);
	assert_int_equal(subject_in("subject = 1/12\ncart = 1/12\n"), path);
	assert_int_equal(subject_in("subject =\ncart = 1/12\n"), path);
	assert_int_equal(subject_in(""), 0);
	refuses("[topic a]\nsubject = 1/12\ncart = 1/1\n", "two names of one key");
	refuses("[topic a]\nsubject = 1/x\n", "path of field numbers");
	refuses("[topic a]\ncart = 1/x\n", "path of field numbers");
}

/* `count` topics and as many peers; the last peer hears the last topic and remembers the first. */
static void write_many(struct buffer *ret, int count)
{
	for (int i = 0; i < count; i++)
		buffer_printf(ret, "[topic t%d]\nretention = fact\n[peer p%d]\nsays = t%d\n", i, i, i);
	buffer_printf(ret, "hears = t%d\nremembers = t0\n", count - 1);
}

static void there_may_be_more_topics_and_peers_than_any_bound_of_before(void **state)
{
	struct buffer text = { 0 };
	int forgotten;

	(void)state;
	write_many(&text, 2000);
	assert_int_equal(topology_parse(buffer_text(&text), "topology.conf", &parsed, &problem), 0);
	forgotten = topology_topic(&parsed, TOPIC_FORGOTTEN);
	assert_int_equal(parsed.topic_count, 2002);
	assert_int_equal(parsed.peer_count, 2000);
	for (int i = 0; i < 2000; i++) {
		const struct topology_peer *peer = &parsed.peers[i];
		char name[16];
		int topic;

		snprintf(name, sizeof(name), "t%d", i);
		topic = topology_topic(&parsed, name);
		assert_int_equal(topic_set_next(&peer->says, 0), topic);
		assert_int_equal(topic_set_next(&peer->says, topic + 1), -1);
		assert_int_equal(topic_set_has(&peer->hears, topic), i == 1999);
		assert_int_equal(topic_set_has(&peer->remembers, forgotten), i == 1999);
	}
	topology_free(&parsed);
	buffer_free(&text);
}

/* One who remembers only topics beyond the old bound must be told as well what is forgotten. */
static void who_remembers_a_high_topic_alone_is_told_what_is_forgotten(void **state)
{
	struct buffer text = { 0 };

	(void)state;
	for (int i = 0; i < 200; i++)
		buffer_printf(&text, "[topic t%d]\nretention = fact\n", i);
	buffer_add_text(&text, "[peer x]\nremembers = t199\n[peer y]\nhears = t199\n");
	assert_int_equal(topology_parse(buffer_text(&text), "topology.conf", &parsed, &problem), 0);
	assert_true(topic_set_has(&parsed.peers[0].remembers, topology_topic(&parsed, TOPIC_FORGOTTEN)));
	assert_false(topic_set_has(&parsed.peers[1].remembers, topology_topic(&parsed, TOPIC_FORGOTTEN)));
	topology_free(&parsed);
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_declared_is_there),
		cmocka_unit_test(the_topic_of_dead_letters_is_always_there_and_kept),
		cmocka_unit_test(a_topic_may_be_declared_by_each_who_names_it),
		cmocka_unit_test(what_a_service_declared_of_its_queue_is_read_and_judged),
		cmocka_unit_test(the_subject_is_read_by_its_name_and_by_the_one_that_was_released),
		cmocka_unit_test(what_does_not_add_up_is_refused_with_what_was_expected),
		cmocka_unit_test(there_may_be_more_topics_and_peers_than_any_bound_of_before),
		cmocka_unit_test(who_remembers_a_high_topic_alone_is_told_what_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
