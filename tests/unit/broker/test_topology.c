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
	assert_true(topic_set_has(parsed.peers[peer].hears, work));
	assert_false(topic_set_has(parsed.peers[peer].says, work));
	assert_int_equal(parsed.peers[peer].failure_limit, 5);
	assert_int_equal(parsed.peers[peer].lease_us, 10 * US_PER_S);
	assert_true(parsed.peers[topology_peer(&parsed, "single")].exclusive);
	assert_true(parsed.peers[topology_peer(&parsed, "door")].gateway);
	assert_true(parsed.peers[topology_peer(&parsed, "admin")].operator_);
	assert_string_equal(parsed.topics[topology_topic(&parsed, "row.end")].group, "row");
}

static void the_topic_of_dead_letters_is_always_there_and_kept(void **state)
{
	(void)state;
	assert_int_equal(topology_parse("", "topology.conf", &parsed, &problem), 0);
	assert_int_equal(parsed.topics[topology_topic(&parsed, "dead.letter")].retention, 2);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_declared_is_there),
		cmocka_unit_test(the_topic_of_dead_letters_is_always_there_and_kept),
		cmocka_unit_test(a_topic_may_be_declared_by_each_who_names_it),
		cmocka_unit_test(what_does_not_add_up_is_refused_with_what_was_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
