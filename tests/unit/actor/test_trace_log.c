/*
 * test_trace_log.c: what a process tells of what it did is what the log holds, and no more lines than a journal can take
 */
#include "bus/actor/sim/sim.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/platform_events.h"
#include "tests/unit/actor/cast.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

static const int64_t START_US = INT64_C(1767225600) * US_PER_S;
enum { LINES_MOST = 4000 };

static struct line {
	enum log_level level;
	char event[40], shop[64], subject[80], topic[40], trace[60], words[500];
	uint64_t seq;
} lines[LINES_MOST];
static int line_count;

static void listen(enum log_level level, const struct log_about *about, const char *words)
{
	struct line *line = &lines[line_count++];

	assert_in_range(line_count, 1, LINES_MOST);
	*line = (struct line){ .level = level, .seq = about->seq };
	TEXT_COPY(line->event, about->event ? about->event : "");
	TEXT_COPY(line->shop, about->shop ? about->shop : "");
	TEXT_COPY(line->subject, about->subject ? about->subject : "");
	TEXT_COPY(line->topic, about->topic ? about->topic : "");
	TEXT_COPY(line->trace, about->trace ? about->trace : "");
	TEXT_COPY(line->words, words);
}

static struct sim *office(void)
{
	struct sim *sim = sim_new(cast, START_US, 7);

	line_count = 0;
	sim_listen(sim, listen);
	sim_start(sim, "clerk-a", &clerk, NULL);
	sim_run_until_idle(sim);
	return sim;
}

static void add(struct sim *sim, const char *account, enum oddity oddity)
{
	CartWake wake = { .due_us = 3, .revision = oddity };

	TEXT_COPY(wake.cart_id, account);
	while (SIM_SAY(sim, cart_wake, &wake, .shop = "demo", .key = account) == SAID_UNKNOWN)
		;
}

static int count(const char *event)
{
	int found = 0;

	for (int i = 0; i < line_count; i++)
		found += strcmp(lines[i].event, event) == 0;
	return found;
}

struct judging {
	int audits, told;
};

static void judge_audit(const struct message_meta *said, struct bytes payload, void *context)
{
	struct judging *judging = context;

	(void)payload;
	if (strcmp(said->topic, topic_audit.name) != 0)
		return;
	judging->audits++;
	for (int i = 0; i < line_count; i++)
		judging->told += lines[i].seq == said->seq && strcmp(lines[i].event, event_audit) == 0;
}

static void what_was_said_is_told_with_its_cart_and_its_number_in_the_log(void **state)
{
	struct sim *sim = office();
	struct judging judging = { 0 };

	(void)state;
	for (int i = 0; i < 5; i++)
		add(sim, "c1", ODD_NOT);
	sim_run_until_idle(sim);
	sim_log(sim, judge_audit, &judging);
	assert_int_equal(judging.audits, 5);
	assert_int_equal(judging.told, 5);
	assert_int_equal(count(event_audit), 5);
	assert_string_equal(lines[0].shop, "demo");
	assert_string_equal(lines[0].subject, "c1");
	assert_string_equal(lines[0].topic, "audit");
	assert_int_equal(lines[0].level, LOG_INFO);
	assert_non_null(strstr(lines[0].words, ": balance"));
	sim_free(sim);
}

static void what_the_log_does_not_hold_is_not_told_and_nothing_twice(void **state)
{
	struct sim *sim = office();
	struct judging judging = { 0 };

	(void)state;
	for (int i = 0; i < 60; i++) {
		add(sim, "c1", ODD_NOT);
		if (i % 5 == 0) {
			sim_kill_broker(sim); /* turns on their way are lost, and decided anew */
			sim_restart_broker(sim);
		}
	}
	sim_run_until(sim, sim_now_us(sim) + 5 * US_PER_MINUTE);
	sim_log(sim, judge_audit, &judging);
	assert_int_equal(judging.audits, 60);
	assert_int_equal(count(event_audit), judging.told); /* each that was told is there, and was told once */
	assert_in_range(judging.told, 48, 60);              /* whose confirm was lost is not told */
	sim_free(sim);
}

static void a_failure_is_told_each_time_with_its_reason_and_what_it_was_about(void **state)
{
	struct sim *sim = office();
	unsigned tries = 0;
	char words[200];

	(void)state;
	add(sim, "c2", ODD_FAILS);
	add(sim, "c3", ODD_NEVER);
	sim_run_until(sim, sim_now_us(sim) + 5 * US_PER_MINUTE);
	assert_int_equal(count(event_decision_failed), 6);
	for (int i = 0; i < line_count; i++) {
		bool gave_up = strcmp(lines[i].subject, "c3") == 0;

		assert_string_equal(lines[i].topic, "cart.wake");
		assert_int_equal(lines[i].level, gave_up ? LOG_ERROR : LOG_WARNING);
		assert_true(lines[i].seq > 0);
		snprintf(words, sizeof(words), "failed at cart.wake shop=demo seq=%llu, try %u, %s",
			(unsigned long long)lines[i].seq, gave_up ? 1 : ++tries,
			gave_up ? "gave up: nobody can decide on this" : "will try again: it fails every time");
		assert_string_equal(lines[i].words, words);
	}
	sim_free(sim);
}

static void a_flood_leaves_lines_out_and_says_how_many(void **state)
{
	enum { CARTS = 2000 };
	struct sim *sim = office();
	char account[20];

	(void)state;
	for (int i = 0; i < CARTS; i++) {
		snprintf(account, sizeof(account), "c%d", i);
		add(sim, account, ODD_NOT);
	}
	assert_in_range(count(event_audit), 400, 700);
	sim_run_until(sim, sim_now_us(sim) + US_PER_MINUTE);
	line_count = 0;
	add(sim, "last", ODD_NOT);
	sim_run_until_idle(sim);
	assert_int_equal(line_count, 2);
	assert_non_null(strstr(lines[0].words, "too much at once: of 1"));
	assert_string_equal(lines[1].subject, "last");
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_said_is_told_with_its_cart_and_its_number_in_the_log),
		cmocka_unit_test(what_the_log_does_not_hold_is_not_told_and_nothing_twice),
		cmocka_unit_test(a_failure_is_told_each_time_with_its_reason_and_what_it_was_about),
		cmocka_unit_test(a_flood_leaves_lines_out_and_says_how_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
