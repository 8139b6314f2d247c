#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/sources.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>

static const struct source_limits limits = { .connections_each = 4,
	.connections_all = 10,
	.bytes_each = 1000,
	.bytes_all = 3000,
	.work_percent_each = 10,
	.work_percent_all = 50,
	.work_burst_us = 1000,
	.sources_most = 20 };

static struct source_key key_of(const char *text)
{
	struct source_key key = { 0 };

	assert_true(source_key_of_text(text, &key));
	return key;
}

static struct source_key u64map(uint32_t number)
{
	char text[40];

	snprintf(text, sizeof(text), "10.%u.%u.%u", number >> 16 & 255, number >> 8 & 255, number & 255);
	return key_of(text);
}

static bool same(const char *a, const char *b)
{
	struct source_key one = key_of(a), other = key_of(b);

	return memcmp(&one, &other, sizeof(one)) == 0;
}

static void a_source_is_an_ipv4_address_or_an_ipv6_network(void **state)
{
	struct source_key key;

	(void)state;
	assert_true(same("192.0.2.1", "::ffff:192.0.2.1"));
	assert_false(same("192.0.2.1", "192.0.2.2"));
	assert_true(same("2001:db8:0:1::1", "2001:db8:0:1:ffff::2"));
	assert_false(same("2001:db8:0:1::1", "2001:db8:0:2::1"));
	assert_false(same("::", "0.0.0.0"));
	assert_false(source_key_of_text("example.org", &key));
	assert_false(source_key_of_text("192.0.2.1:80", &key));
	assert_false(source_key_of_text("", &key));
	assert_false(source_key_of_address(&(struct sockaddr){ .sa_family = AF_UNIX }, &key));
}

static void a_source_is_told_as_a_person_writes_it(void **state)
{
	const struct source_key keys[] = { key_of("192.0.2.1"), key_of("2001:db8:0:1::7"), source_key_of_user(1000),
		{ { 0 } } };
	static const char *const texts[] = { "192.0.2.1", "2001:db8:0:1::/64", "uid:1000", "" };
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		source_key_text(&keys[i], text);
		assert_string_equal(text, texts[i]);
	}
}

static unsigned enter_many(struct sources *sources, struct source_key key, unsigned tries, struct source **ret_last)
{
	unsigned in = 0;
	struct source *source;

	for (; tries > 0; tries--)
		if (source_enter(sources, &key, 0, &source) == SOURCE_WELCOME) {
			*ret_last = source;
			in++;
		}
	return in;
}

static void one_source_gets_its_share_of_connections_and_others_get_theirs(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source *first = NULL, *second = NULL, *third = NULL;
	struct source_figures figures;

	(void)state;
	assert_int_equal(enter_many(sources, key_of("192.0.2.1"), 9, &first), 4);
	assert_int_equal(enter_many(sources, key_of("192.0.2.2"), 9, &second), 4);
	assert_int_equal(enter_many(sources, key_of("192.0.2.3"), 9, &third), 2);
	sources_figures(sources, &figures);
	assert_int_equal(figures.connections, 10);
	assert_int_equal(figures.crowded, 10);
	assert_int_equal(figures.full, 7);
	source_leave(sources, first, 0);
	assert_int_equal(enter_many(sources, key_of("192.0.2.3"), 2, &third), 1);
	sources_free(sources);
}

static void whoever_has_no_name_is_held_to_the_sum_alone(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source *source;

	(void)state;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(source_enter(sources, NULL, 0, &source), SOURCE_WELCOME);
		assert_null(source);
	}
	assert_int_equal(source_enter(sources, NULL, 0, &source), SOURCE_FULL);
	source_leave(sources, NULL, 0);
	assert_int_equal(source_enter(sources, NULL, 0, &source), SOURCE_WELCOME);
	sources_free(sources);
}

static void bytes_are_bounded_each_and_in_all(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source *source[5];
	struct source_figures figures;
	struct source_key key;
	enum source_verdict why;

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		key = u64map(i);
		assert_int_equal(source_enter(sources, &key, 0, &source[i]), SOURCE_WELCOME);
	}
	assert_true(source_take_bytes(sources, source[0], 900, &why));
	assert_false(source_take_bytes(sources, source[0], 101, &why));
	assert_int_equal(why, SOURCE_CROWDED);
	assert_true(source_take_bytes(sources, source[0], 100, &why));
	assert_true(source_take_bytes(sources, source[1], 1000, &why));
	assert_true(source_take_bytes(sources, NULL, 1000, &why));
	assert_false(source_take_bytes(sources, source[2], 1, &why));
	assert_int_equal(why, SOURCE_FULL);
	source_give_bytes(sources, source[1], 1000);
	assert_true(source_take_bytes(sources, source[2], 1, &why));
	assert_int_equal(source_bytes(sources, NULL), 2001);
	assert_int_equal(source_bytes(sources, source[0]), 1000);
	assert_false(source_take_bytes(sources, source[3], SIZE_MAX, &why));
	assert_int_equal(why, SOURCE_CROWDED);
	assert_false(source_take_bytes(sources, NULL, SIZE_MAX, &why));
	assert_int_equal(source_bytes(sources, NULL), 2001); /* what was refused took nothing */
	assert_int_equal(source_bytes(sources, source[3]), 0);
	sources_figures(sources, &figures);
	assert_int_equal(figures.bytes, 2001);
	assert_int_equal(figures.bytes_peak, 3000);
	sources_free(sources);
}

static void work_that_proves_nothing_has_to_be_paid_back_by_time(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source_key key = key_of("192.0.2.1"), other = key_of("192.0.2.2");
	struct source *source, *stranger, *again;

	(void)state;
	assert_int_equal(source_enter(sources, &key, 0, &source), SOURCE_WELCOME);
	assert_int_equal(source_enter(sources, &other, 0, &stranger), SOURCE_WELCOME);
	source_spend(sources, source, 1000, 0);
	assert_int_equal(source_rest_us(sources, source, 0), 0);
	source_spend(sources, source, 100, 0); /* a tenth of a CPU is its: 100 us are paid back by 1,000 us */
	assert_int_equal(source_rest_us(sources, source, 0), 1000);
	assert_int_equal(
		source_enter(sources, &key, 0, &again), SOURCE_WELCOME); /* who may wait is its owner's decision */
	source_leave(sources, again, 0);
	assert_int_equal(source_rest_us(sources, stranger, 0), 200); /* and half of one is everybody's */
	assert_int_equal(source_rest_us(sources, stranger, 200), 0);
	assert_int_equal(source_rest_us(sources, source, 1000), 0);
	assert_int_equal(source_enter(sources, &key, 1000, &again), SOURCE_WELCOME);
	sources_free(sources);
}

static void what_was_proven_costs_nothing_and_does_not_wait_for_strangers(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source_key key = key_of("192.0.2.1"), other = key_of("192.0.2.2");
	struct source *good, *bad;

	(void)state;
	source_enter(sources, &key, 0, &good);
	source_enter(sources, &other, 0, &bad);
	for (int i = 0; i < 100; i++) {
		source_spend(sources, good, 900, 0);
		source_prove(sources, good, 900, 0);
	}
	assert_int_equal(source_rest_us(sources, good, 0), 0);
	assert_int_equal(source_rest_us(sources, NULL, 0), 0);
	source_spend(sources, bad, 100000, 0);
	assert_true(source_rest_us(sources, bad, 0) > 0);
	assert_int_equal(source_rest_us(sources, good, 0), 0);
	assert_true(source_rest_us(sources, NULL, 0) > 0);
	assert_true(source_is_proven(good, US_PER_HOUR - 1));
	assert_false(source_is_proven(good, US_PER_HOUR));
	sources_free(sources);
}

/* Leaving does not wipe the debt, or everybody would leave. */
static void a_debt_outlives_the_connection(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source_key key = key_of("192.0.2.1");
	struct source *source;
	struct source_figures figures;

	(void)state;
	source_enter(sources, &key, 0, &source);
	source_spend(sources, source, 2000, 0);
	source_leave(sources, source, 0);
	source_enter(sources, &key, 5000, &source);
	assert_int_equal(source_rest_us(sources, source, 5000), 5000);
	assert_int_equal(source_rest_us(sources, source, 10000), 0);
	source_leave(sources, source, 20000);
	sources_figures(sources, &figures);
	assert_int_equal(figures.remembered, 0);
	sources_free(sources);
}

/* A flood of an hour does not keep its network out for hours: it may be the network of somebody honest. */
static void a_debt_is_paid_within_seconds_however_long_the_flood_was(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source_key key = key_of("192.0.2.1");
	struct source *source;

	(void)state;
	source_enter(sources, &key, 0, &source);
	for (int64_t now_us = 0; now_us < US_PER_HOUR; now_us += US_PER_S)
		source_spend(sources, source, 10 * US_PER_S, now_us);
	assert_in_range(source_rest_us(sources, source, US_PER_HOUR), 1, 10 * US_PER_S);
	source_spend(sources, source, 10 * US_PER_S, US_PER_HOUR);
	assert_int_equal(source_rest_us(sources, source, US_PER_HOUR), 10 * US_PER_S);
	assert_int_equal(source_rest_us(sources, NULL, US_PER_HOUR), 10 * US_PER_S);
	sources_free(sources);
}

static void a_client_behind_a_proxy_is_a_source_without_a_connection(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source_key key = key_of("2001:db8::1");
	struct source *source = source_attach(sources, &key, 0);
	struct source_figures figures;
	enum source_verdict why;

	(void)state;
	assert_non_null(source);
	assert_true(source_take_bytes(sources, source, 1000, &why));
	assert_false(source_take_bytes(sources, source, 1, &why));
	source_give_bytes(sources, source, 1000);
	source_detach(sources, source, 0);
	sources_figures(sources, &figures);
	assert_int_equal(figures.connections, 0);
	assert_int_equal(figures.remembered, 0);
	sources_free(sources);
}

static void ten_thousand_networks_take_no_more_memory_than_is_given(void **state)
{
	struct source_limits many = limits;
	struct sources *sources;
	struct source *source, *good;
	struct source_key key = key_of("192.0.2.1");
	struct source_figures figures;

	(void)state;
	many.sources_most = 1000;
	sources = sources_new(&many);
	source_enter(sources, &key, 0, &good);
	source_prove(sources, good, 0, 0);
	source_leave(sources, good, 0);
	for (uint32_t i = 0; i < 10000; i++) {
		struct source_key stranger = u64map(i);

		assert_int_equal(source_enter(sources, &stranger, 0, &source), SOURCE_WELCOME);
		source_spend(sources, source, 10, 0);
		source_leave(sources, source, 0);
		sources_figures(sources, &figures);
		assert_true(figures.remembered <= 1000);
	}
	assert_int_equal(figures.remembered, 1000);
	assert_int_equal(source_enter(sources, &key, 0, &good), SOURCE_WELCOME);
	assert_true(source_is_proven(good, 0)); /* it was not washed out by those who prove nothing */
	sources_free(sources);
}

static void when_all_that_can_be_remembered_hold_something_a_newcomer_is_refused(void **state)
{
	struct source_limits few = limits;
	struct sources *sources;
	struct source *source;

	(void)state;
	few.sources_most = 3;
	sources = sources_new(&few);
	for (uint32_t i = 0; i < 5; i++) {
		struct source_key key = u64map(i);

		assert_int_equal(source_enter(sources, &key, 0, &source), i < 3 ? SOURCE_WELCOME : SOURCE_FULL);
	}
	sources_free(sources);
}

static void of_those_that_proved_nothing_the_longest_unseen_is_forgotten_first(void **state)
{
	struct source_limits few = limits;
	struct sources *sources;
	struct source *source;

	(void)state;
	few.sources_most = 3;
	sources = sources_new(&few);
	for (uint32_t i = 0; i < 5; i++) {
		struct source_key key = u64map(i);

		assert_int_equal(source_enter(sources, &key, i, &source), SOURCE_WELCOME);
		source_spend(sources, source, 100, i);
		source_leave(sources, source, i);
		for (uint32_t before = 0; before <= i; before++) {
			key = u64map(before);
			assert_int_equal(source_find(sources, &key) != NULL, before + 3 > i);
		}
	}
	sources_free(sources);
}

static void a_client_behind_a_proxy_finds_no_room_where_all_hold_something(void **state)
{
	struct source_limits one = limits;
	struct source_key key = key_of("192.0.2.1"), other = key_of("192.0.2.2");
	struct sources *sources;
	struct source *source;

	(void)state;
	one.sources_most = 1;
	sources = sources_new(&one);
	source = source_attach(sources, &key, 0);
	assert_non_null(source);
	assert_ptr_equal(source_attach(sources, &key, 0), source);
	assert_null(source_attach(sources, &other, 0));
	source_detach(sources, source, 0);
	assert_null(source_attach(sources, &other, 0)); /* it was there twice */
	source_detach(sources, source, 0);
	assert_non_null(source_attach(sources, &other, 0));
	sources_free(sources);
}

/* Else a full table of old proofs would wash each debt out as soon as its source hangs up. */
static void a_debt_is_kept_rather_than_a_proof_that_counts_no_longer(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source_key debtor = key_of("192.0.2.1"), newcomer = key_of("192.0.2.2");
	struct source *source;
	const int64_t later_us = 2 * US_PER_HOUR;

	(void)state;
	for (uint32_t i = 0; i < limits.sources_most; i++) {
		struct source_key good = u64map(i);

		source_enter(sources, &good, 0, &source);
		source_prove(sources, source, 0, 0);
		source_leave(sources, source, 0);
	}
	source_enter(sources, &debtor, later_us, &source);
	source_spend(sources, source, 2000, later_us);
	source_leave(sources, source, later_us);
	source_enter(sources, &newcomer, later_us, &source);
	assert_non_null(source_find(sources, &debtor));
	assert_true(source_rest_us(sources, source_find(sources, &debtor), later_us) > 0);
	sources_free(sources);
}

static void asking_whether_one_may_enter_changes_nothing(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source_key key = key_of("192.0.2.1");
	struct source *source = NULL;
	struct source_figures figures;

	(void)state;
	assert_int_equal(source_may_enter(sources, &key), SOURCE_WELCOME);
	assert_int_equal(enter_many(sources, key, 4, &source), 4);
	assert_int_equal(source_may_enter(sources, &key), SOURCE_CROWDED);
	assert_int_equal(source_may_enter(sources, NULL), SOURCE_WELCOME);
	sources_figures(sources, &figures);
	assert_int_equal(figures.turned_away, 0);
	assert_int_equal(figures.remembered, 1);
	assert_memory_equal(source_key(source), &key, sizeof(key));
	assert_null(source_key(NULL));
	sources_free(sources);
}

/* Its owner lets the oldest of all make room when all is full, and the oldest of that source when it is crowded. */
static void a_source_that_has_its_share_is_crowded_also_when_all_is_full(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source_key greedy = key_of("192.0.2.1"), newcomer = key_of("192.0.2.9");
	struct source *source = NULL;

	(void)state;
	enter_many(sources, greedy, 4, &source);
	enter_many(sources, key_of("192.0.2.2"), 4, &source);
	enter_many(sources, key_of("192.0.2.3"), 2, &source);
	assert_int_equal(source_may_enter(sources, &greedy), SOURCE_CROWDED);
	assert_int_equal(source_may_enter(sources, &newcomer), SOURCE_FULL);
	sources_free(sources);
}

static void who_was_turned_away_is_told_once_with_the_reason_and_how_often(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source_key network = key_of("2001:db8:0:1::7"), user = source_key_of_user(1000);
	struct source *source = NULL;
	struct source_turned_away told;
	struct source_figures figures;

	(void)state;
	assert_false(sources_take_turned_away(sources, &told));
	enter_many(sources, network, 7, &source);
	source_turn_away(sources, &user, SOURCE_WITHOUT_DESCRIPTOR);
	sources_turned_away(sources, SOURCE_FULL);
	assert_true(sources_take_turned_away(sources, &told));
	assert_string_equal(told.who, "2001:db8:0:1::/64");
	assert_int_equal(told.why, SOURCE_CROWDED);
	assert_int_equal(told.count, 3);
	assert_true(sources_take_turned_away(sources, &told));
	assert_string_equal(told.who, "uid:1000");
	assert_non_null(strstr(source_verdict_text(told.why), "LimitNOFILE"));
	assert_true(sources_take_turned_away(sources, &told));
	assert_string_equal(told.who, "");
	assert_false(sources_take_turned_away(sources, &told));
	sources_figures(sources, &figures);
	assert_int_equal(figures.turned_away, 5);
	assert_int_equal(figures.crowded, 3);
	assert_int_equal(figures.full, 1);
	assert_int_equal(figures.resting, 0);
	assert_int_equal(figures.without_descriptor, 1);
	source_turn_away(sources, &user, SOURCE_RESTING); /* from one again, and for another reason */
	assert_true(sources_take_turned_away(sources, &told));
	assert_string_equal(told.who, "uid:1000");
	assert_int_equal(told.why, SOURCE_RESTING);
	assert_int_equal(told.count, 1);
	sources_free(sources);
}

static void of_ten_thousand_networks_that_are_turned_away_few_are_named_and_all_are_counted(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct source_turned_away told;
	struct source_figures figures;
	int named = 0;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		struct source_key key = u64map(i);

		source_turn_away(sources, &key, SOURCE_FULL);
	}
	while (sources_take_turned_away(sources, &told))
		named++;
	assert_int_equal(named, 64);
	sources_figures(sources, &figures);
	assert_int_equal(figures.full, 10000);
	assert_int_equal(figures.remembered, 0);
	sources_free(sources);
}

/* Whatever happens in whatever order, the sums are those of what is held. */
static void the_sums_are_right_after_any_history(void **state)
{
	struct sources *sources = sources_new(&limits);
	struct {
		struct source *source;
		size_t bytes;
	} held[10];
	int count = 0;
	int64_t now_us = 0;
	struct source_figures figures;

	(void)state;
	srand(7);
	for (int round = 0; round < 20000; round++) {
		struct source_key key = u64map((uint32_t)rand() % 30);
		enum source_verdict why;

		now_us += rand() % 50;
		if (rand() % 2 && count < 10) {
			if (source_enter(sources, &key, now_us, &held[count].source) == SOURCE_WELCOME) {
				held[count].bytes = (size_t)rand() % 600;
				if (!source_take_bytes(sources, held[count].source, held[count].bytes, &why))
					held[count].bytes = 0;
				source_spend(sources, held[count++].source, rand() % 20, now_us);
			}
		} else if (count > 0) {
			int which = rand() % count;

			source_give_bytes(sources, held[which].source, held[which].bytes);
			source_leave(sources, held[which].source, now_us);
			held[which] = held[--count];
		}
		size_t bytes = 0;
		for (int i = 0; i < count; i++)
			bytes += held[i].bytes;
		sources_figures(sources, &figures);
		assert_int_equal(figures.connections, count);
		assert_int_equal(figures.bytes, bytes);
	}
	sources_free(sources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_is_an_ipv4_address_or_an_ipv6_network),
		cmocka_unit_test(a_source_is_told_as_a_person_writes_it),
		cmocka_unit_test(of_those_that_proved_nothing_the_longest_unseen_is_forgotten_first),
		cmocka_unit_test(a_client_behind_a_proxy_finds_no_room_where_all_hold_something),
		cmocka_unit_test(one_source_gets_its_share_of_connections_and_others_get_theirs),
		cmocka_unit_test(whoever_has_no_name_is_held_to_the_sum_alone),
		cmocka_unit_test(bytes_are_bounded_each_and_in_all),
		cmocka_unit_test(work_that_proves_nothing_has_to_be_paid_back_by_time),
		cmocka_unit_test(what_was_proven_costs_nothing_and_does_not_wait_for_strangers),
		cmocka_unit_test(a_debt_outlives_the_connection),
		cmocka_unit_test(a_debt_is_paid_within_seconds_however_long_the_flood_was),
		cmocka_unit_test(a_client_behind_a_proxy_is_a_source_without_a_connection),
		cmocka_unit_test(ten_thousand_networks_take_no_more_memory_than_is_given),
		cmocka_unit_test(when_all_that_can_be_remembered_hold_something_a_newcomer_is_refused),
		cmocka_unit_test(a_debt_is_kept_rather_than_a_proof_that_counts_no_longer),
		cmocka_unit_test(asking_whether_one_may_enter_changes_nothing),
		cmocka_unit_test(a_source_that_has_its_share_is_crowded_also_when_all_is_full),
		cmocka_unit_test(who_was_turned_away_is_told_once_with_the_reason_and_how_often),
		cmocka_unit_test(of_ten_thousand_networks_that_are_turned_away_few_are_named_and_all_are_counted),
		cmocka_unit_test(the_sums_are_right_after_any_history),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
