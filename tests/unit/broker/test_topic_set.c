/* test_topic_set.c: a set of topics (topology.h) holds what was added to it, below and beyond its first two words */
#include "bus/broker/topology.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TOPICS = 1000 };

static const int at_the_seams[] = { 0, 1, 63, 64, 127, 128, 191, 192, 200, 999 };
enum { SEAMS = sizeof(at_the_seams) / sizeof(at_the_seams[0]) };

static void what_was_added_is_in_it_and_nothing_else(void **state)
{
	(void)state;
	for (int i = 0; i < SEAMS; i++) {
		struct topic_set set = { 0 };

		topic_set_add(&set, at_the_seams[i]);
		for (int topic = 0; topic < TOPICS; topic++)
			assert_int_equal(topic_set_has(&set, topic), topic == at_the_seams[i]);
		assert_true(topic_set_any(&set));
		topic_set_clear(&set);
	}
}

static void an_empty_set_holds_nothing_even_when_it_had_grown(void **state)
{
	struct topic_set set = { 0 };

	(void)state;
	assert_false(topic_set_any(&set));
	assert_int_equal(topic_set_next(&set, 0), -1);
	assert_int_equal(topic_set_next(&set, 500), -1);
	topic_set_add(&set, 500);
	topic_set_clear(&set);
	assert_false(topic_set_any(&set));
	assert_false(topic_set_has(&set, 500));
	topic_set_clear(&set);
}

static void two_sets_meet_where_both_hold_one_topic(void **state)
{
	(void)state;
	for (int i = 0; i < SEAMS; i++)
		for (int j = 0; j < SEAMS; j++) {
			struct topic_set one = { 0 }, other = { 0 };

			topic_set_add(&one, at_the_seams[i]);
			topic_set_add(&other, at_the_seams[j]);
			assert_int_equal(topic_set_meet(&one, &other), i == j);
			assert_int_equal(topic_set_meet(&other, &one), i == j);
			topic_set_clear(&one);
			topic_set_clear(&other);
		}
}

static void a_union_holds_both_and_leaves_the_other_as_it_was(void **state)
{
	struct topic_set one = { 0 }, other = { 0 };

	(void)state;
	for (int topic = 0; topic < TOPICS; topic += 3)
		topic_set_add(topic % 2 ? &one : &other, topic);
	topic_set_add_all(&one, &other);
	for (int topic = 0; topic < TOPICS; topic++) {
		assert_int_equal(topic_set_has(&one, topic), topic % 3 == 0);
		assert_int_equal(topic_set_has(&other, topic), topic % 3 == 0 && topic % 2 == 0);
	}
	topic_set_clear(&one);
	topic_set_clear(&other);
}

static void each_topic_comes_once_and_in_order(void **state)
{
	struct topic_set set = { 0 };
	int at = 0;

	(void)state;
	for (int i = SEAMS - 1; i >= 0; i--)
		topic_set_add(&set, at_the_seams[i]);
	for (TOPIC_SET_EACH(topic, &set))
		assert_int_equal(topic, at_the_seams[at++]);
	assert_int_equal(at, SEAMS);
	topic_set_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_is_in_it_and_nothing_else),
		cmocka_unit_test(an_empty_set_holds_nothing_even_when_it_had_grown),
		cmocka_unit_test(two_sets_meet_where_both_hold_one_topic),
		cmocka_unit_test(a_union_holds_both_and_leaves_the_other_as_it_was),
		cmocka_unit_test(each_topic_comes_once_and_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
