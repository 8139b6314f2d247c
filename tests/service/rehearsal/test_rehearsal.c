/*
 * test_rehearsal.c: what other texts would have made of a week; the same texts, exactly what it was
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "lived.h"
#include "services/carts/rehearsal/rehearsal.h"
#include "services/kit/time/zone.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>

static struct lived *lived;

static int live(void **state)
{
	(void)state;
	lived = lived_new();
	return 0;
}

static int die_at_last(void **state)
{
	(void)state;
	lived_free(lived);
	return 0;
}

/* ---- a rehearsal of the week ---- */

struct hearing {
	struct rehearsal *rehearsal;
	const struct rehearsal_plan *plan;
	bool history;
	uint64_t until; /* what is played; 0: everything */
};

static bool is_of(const struct message_meta *said, const char *shop)
{
	return strcmp(said->shop, shop) == 0 || strcmp(said->shop, SHOP_OF_ALL) == 0;
}

static void hear(const struct message_meta *said, struct bytes payload, void *context)
{
	const struct hearing *hearing = context;

	if (!is_of(said, hearing->plan->shop))
		return;
	if (!hearing->history && (!hearing->until || said->seq < hearing->until))
		rehearsal_hear(hearing->rehearsal, said, payload);
	else if (hearing->history && said->seq >= hearing->plan->from_seq)
		rehearsal_history(hearing->rehearsal, said, payload);
}

static void find_start(const struct message_meta *said, struct bytes payload, void *context)
{
	struct rehearsal_plan *plan = context;

	(void)payload;
	if (plan->from_seq == 0 && said->time_us >= plan->from_us)
		plan->from_seq = said->seq;
}

static struct rehearsal *rehearse_until(struct rehearsal_plan *plan, uint64_t until)
{
	char why[512];
	struct hearing hearing = { .plan = plan, .history = true, .until = until };

	sim_log(lived->sim, find_start, plan);
	hearing.rehearsal = rehearsal_new(plan, why);
	assert_non_null(hearing.rehearsal);
	sim_log(lived->sim, hear, &hearing);
	hearing.history = false;
	sim_log(lived->sim, hear, &hearing);
	return hearing.rehearsal;
}

static struct rehearsal *rehearse(struct rehearsal_plan *plan)
{
	struct rehearsal *rehearsal = rehearse_until(plan, 0);

	rehearsal_end(rehearsal);
	return rehearsal;
}

struct comparing {
	size_t ends[STEP_SENT + 1], would[STEP_SENT + 1], different;
	bool tell;
};

static void compare(const struct rehearsed *step, void *context)
{
	struct comparing *comparing = context;

	comparing->ends[step->was.end]++;
	comparing->would[step->would.end]++;
	if (step->was.end == step->would.end && step->was.at_us == step->would.at_us)
		return;
	comparing->different++;
	if (comparing->tell && comparing->different < 20)
		print_error("%s/%d was %d at %lld, would be %d at %lld\n", step->cart_id, step->step,
			(int)step->was.end, (long long)(step->was.at_us - WEEK_START_US), (int)step->would.end,
			(long long)(step->would.at_us - WEEK_START_US));
}

static struct comparing compared(struct rehearsal_plan *plan, bool tell)
{
	struct rehearsal *rehearsal = rehearse(plan);
	struct comparing comparing = { .tell = tell };

	rehearsal_each(rehearsal, compare, &comparing);
	if (tell) {
		struct rehearsal_counts counts = rehearsal_counts(rehearsal);
		print_message("%s: %zu messages, %zu decisions as it was, %zu anew, %zu outages\n", plan->shop,
			counts.messages, counts.as_it_was, counts.anew, counts.outages);
	}
	rehearsal_free(rehearsal);
	return comparing;
}

/* ---- the promises ---- */

static void was_exactly_so(const char *shop, int64_t from_us)
{
	struct rehearsal_plan plan = { .shop = shop, .from_us = from_us };
	struct comparing comparing = compared(&plan, true);

	assert_int_equal(comparing.different, 0);
	assert_true(comparing.ends[STEP_SENT] > 10);
	assert_true(comparing.ends[STEP_MAYBE] + comparing.ends[STEP_REFUSED] > 0);
}

static void a_week_as_it_was_is_reproduced_exactly(void **state)
{
	(void)state;
	was_exactly_so("north", 0);
	was_exactly_so("south", 0);
}

static void so_is_a_part_of_it_that_begins_in_the_midst_of_things(void **state)
{
	(void)state;
	for (int hours = 7; hours < 60; hours += 24) {
		was_exactly_so("north", WEEK_START_US + hours * US_PER_HOUR);
		was_exactly_so("south", WEEK_START_US + hours * US_PER_HOUR);
	}
}

static void rules_that_nobody_edited_change_nothing(void **state)
{
	struct rehearsal_plan plan = { .shop = "north",
		.from_us = WEEK_START_US + 10 * US_PER_HOUR,
		.document_count = 1,
		.documents = { { "rules", lived_north_rules } } };

	(void)state;
	assert_int_equal(compared(&plan, true).different, 0);
}

static void other_rules_change_something(void **state)
{
	struct rehearsal_plan plan = { .shop = "north",
		.document_count = 1,
		.documents = { { "rules",
			"Small carts (under $40): remind after 4 hours, then after 24. Medium carts: 3 hours, then 22. "
			"Big carts (over $150): 1 hour, then 20. No mail between 10 pm and 8 am." } } };

	(void)state;
	struct comparing comparing = compared(&plan, false);
	print_message("%zu mails were sent, %zu would be\n", comparing.ends[STEP_SENT], comparing.would[STEP_SENT]);
	assert_true(comparing.different > 3);
	assert_true(100 * comparing.would[STEP_SENT] > 85 * comparing.ends[STEP_SENT]); /* later, and all the same */
}

static void find_due(const struct message_meta *said, struct bytes payload, void *context)
{
	uint64_t *found = context;

	(void)payload;
	if (!*found && strcmp(said->shop, "north") == 0 && strcmp(said->topic, topic_reminder_due.name) == 0)
		*found = said->seq;
}

/*
 * The waiter's turn is played before the first of its facts in history, and the others still wait for their place.
 * The sanitizer finds what is not freed.
 */
static void a_rehearsal_may_end_before_its_last_facts_are_said(void **state)
{
	struct rehearsal_plan plan = { .shop = "north" };
	uint64_t due = 0;

	(void)state;
	sim_log(lived->sim, find_due, &due);
	assert_true(due > 0);
	rehearsal_free(rehearse_until(&plan, due + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_week_as_it_was_is_reproduced_exactly),
		cmocka_unit_test(so_is_a_part_of_it_that_begins_in_the_midst_of_things),
		cmocka_unit_test(rules_that_nobody_edited_change_nothing),
		cmocka_unit_test(other_rules_change_something),
		cmocka_unit_test(a_rehearsal_may_end_before_its_last_facts_are_said),
	};

	return cmocka_run_group_tests(tests, live, die_at_last);
}
