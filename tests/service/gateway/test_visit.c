/* test_visit.c: who may stay connected, and who has to go */
#include "given.h"
#include "services/gateway/visit.h"
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 100 };

static struct clock clock;
static struct visits visits;
static struct visit *visit[MOST];
static int ours[MOST], theirs[MOST];
static uint64_t counted;

static void connect_some(int count)
{
	for (int i = 0; i < count; i++) {
		int ends[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		ours[i] = ends[0];
		theirs[i] = ends[1];
		visit[i] = visit_begin(&visits, ours[i]);
		clock.virtual_us += US_PER_MS;
	}
}

static int setup(void **state)
{
	(void)state;
	clock = clock_virtual(US_PER_S);
	visits_init(&visits, &clock);
	counted = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < MOST && visit[i]; i++) {
		visit_end(visit[i]);
		visit[i] = NULL;
		close(ours[i]);
		close(theirs[i]);
	}
	assert_int_equal(visits.count, 0);
	return 0;
}

static bool was_cut(int i)
{
	char byte;

	return recv(theirs[i], &byte, 1, MSG_DONTWAIT) == 0;
}

static void who_is_the_longest_without_a_request_makes_room_for_a_newcomer(void **state)
{
	(void)state;
	connect_some(4);
	visit_answered(visit[0]); /* it came first, and has just been served */
	visits_make_room(&visits, 4, &counted);
	assert_int_equal(counted, 0);
	visits_make_room(&visits, 3, &counted);
	assert_int_equal(counted, 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(was_cut(i), i == 1);
}

static void a_request_that_is_being_decided_is_never_crowded_out(void **state)
{
	(void)state;
	connect_some(2);
	visit_hold(visit[0]);
	visit_hold(visit[1]);
	visits_make_room(&visits, 1, &counted);
	assert_int_equal(counted, 0);
	assert_false(was_cut(0) || was_cut(1));
}

static void who_is_too_slow_is_cut_after_five_seconds_and_not_before(void **state)
{
	int64_t wait_us;

	(void)state;
	connect_some(1);
	wait_us = visits_cut(&visits, &counted);
	assert_true(wait_us > 4 * US_PER_S && wait_us <= 5 * US_PER_S);
	clock.virtual_us += wait_us - 1;
	assert_int_equal(visits_cut(&visits, &counted), 1);
	assert_false(was_cut(0));
	clock.virtual_us += 1;
	assert_int_equal(visits_cut(&visits, &counted), -1);
	assert_true(was_cut(0));
	assert_int_equal(counted, 1);
}

static void many_are_cut_a_few_at_a_time_with_others_in_between(void **state)
{
	uint64_t before;
	int turns = 0;

	(void)state;
	connect_some(MOST);
	clock.virtual_us += 6 * US_PER_S;
	do {
		before = counted;
		turns++;
	} while (visits_cut(&visits, &counted) == 0 && counted - before < MOST / 2);
	assert_int_equal(counted, MOST);
	assert_true(turns > 2);
}

static void a_kept_connection_that_sends_nothing_stays(void **state)
{
	(void)state;
	connect_some(1);
	visit_answered(visit[0]);
	clock.virtual_us += 6 * US_PER_S;
	assert_true(visits_cut(&visits, &counted) > 0);
	assert_int_equal(counted, 0);
	assert_false(was_cut(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			who_is_the_longest_without_a_request_makes_room_for_a_newcomer, setup, teardown),
		cmocka_unit_test_setup_teardown(a_request_that_is_being_decided_is_never_crowded_out, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_is_too_slow_is_cut_after_five_seconds_and_not_before, setup, teardown),
		cmocka_unit_test_setup_teardown(many_are_cut_a_few_at_a_time_with_others_in_between, setup, teardown),
		cmocka_unit_test_setup_teardown(a_kept_connection_that_sends_nothing_stays, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
