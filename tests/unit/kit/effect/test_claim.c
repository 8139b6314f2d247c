/* test_claim.c: what follows in the machine of claims, for every state, event and way of reading */
#include "services/kit/effect/claim.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

/* ---- the table: one line for each event, one word for each state ---- */

static const char *const state_names[CLAIM_STATES] = { [CLAIM_IS_ASKED] = "asked",
	[CLAIM_IS_CLAIMED] = "claimed",
	[CLAIM_IS_DONE] = "done",
	[CLAIM_IS_RELEASED] = "released",
	[CLAIM_IS_REFUSED] = "refused",
	[CLAIM_IS_AMBIGUOUS] = "ambiguous",
	[CLAIM_IS_SKIPPED] = "skipped",
	[CLAIM_IS_UNCERTAIN] = "uncertain",
	[CLAIM_IS_OPENED] = "opened",
	[CLAIM_IS_HANDED_OVER] = "handed-over" };

/*
 * The words, in the order of the states above: "-" nothing; "=X" the row becomes X; "+X" X is said; else what is done.
 * `back`: of a driver that looks before a second try; `first`: of one that looks before every try. NULL: as of one that never looks.
 */
static const struct {
	const char *name, *never, *back, *first;
} expected[CLAIM_EVENTS] = {
	/* asked claimed done released refused ambiguous skipped uncertain opened handed-over */
	[CLAIM_FACT_CLAIMED] = { "claimed", .never = "=claimed =claimed - =claimed - - =claimed =claimed - -" },
	[CLAIM_FACT_DONE] = { "done", .never = "=done =done - =done =done =done =done =done - -" },
	[CLAIM_FACT_RELEASED] = { "released", .never = "=released =released - =released - - =released =released - -" },
	[CLAIM_FACT_REFUSED] = { "refused", .never = "=refused =refused - =refused - - =refused =refused - -" },
	[CLAIM_FACT_AMBIGUOUS] = { "ambiguous",
		.never = "=ambiguous =ambiguous - =ambiguous - - =ambiguous =ambiguous - -" },
	[CLAIM_FACT_SKIPPED] = { "skipped", .never = "=skipped - - =skipped - - - - - -" },
	[CLAIM_FACT_UNCERTAIN] = { "uncertain",
		.never = "=uncertain =uncertain - =uncertain - - =uncertain =uncertain - -" },
	[CLAIM_MET] = { "met", "open wait end open end end end +ambiguous - -",
		"open look end open end end end look - -", "look look end look end end end look - -" },
	[CLAIM_MET_UNUSED] = { "met, unused", "open +released end open end end end +ambiguous - -",
		"open +released end open end end end look - -", "look +released end look end end end look - -" },
	[CLAIM_MET_SILENT] = { "met, silent", "open +ambiguous end open end end end +ambiguous - -",
		"open look end open end end end look - -", "look look end look end end end look - -" },
	[CLAIM_LOOK_FOUND] = { "found", .never = "+done +done end +done end end end +done - -" },
	[CLAIM_LOOK_ABSENT] = { "absent", .never = "open open end open end end end open - -" },
	[CLAIM_LOOK_TOO_SOON] = { "too soon", .never = "open wait end open end end end wait - -" },
	[CLAIM_LOOK_FAILED] = { "look failed", "+released +ambiguous end +released end end end +ambiguous - -",
		"+released +uncertain end +released end end end +uncertain - -",
		"+released +uncertain end +released end end end +uncertain - -" },
	[CLAIM_LAST_BYTE] = { "last byte", .never = "stop go stop stop stop stop stop stop - -" },
	[CLAIM_OTHERS] = { "others", .never = "- meet - - - - - - meet -" },
	[CLAIM_BARRED] = { "barred", .never = "- fail - - - - - - fail -" },
	[CLAIM_END_DONE] = { "end: done", .never = "- +done - - - - - - +done +done" },
	[CLAIM_END_NOT_DONE] = { "end: not done", .never = "- +released - - - - - - +released +released" },
	[CLAIM_END_REFUSED] = { "end: refused", .never = "- +refused - - - - - - +refused +refused" },
	[CLAIM_END_UNKNOWN] = { "end: unknown", "- +ambiguous - - - - - - +ambiguous +ambiguous",
		"- +uncertain - - - - - - +uncertain +uncertain", "- +uncertain - - - - - - +uncertain +uncertain" },
	[CLAIM_END_NONE] = { "end: none", "- +released - - - - - - +released +ambiguous",
		"- +released - - - - - - +released +uncertain", "- +released - - - - - - +released +uncertain" },
	[CLAIM_END_AWAY] = { "end: away", .never = "- +released - - - - - - wait +released" },
};

static enum claim_state state_named(const char *name)
{
	for (int state = 0; state < CLAIM_STATES; state++)
		if (strcmp(state_names[state], name) == 0)
			return (enum claim_state)state;
	fail_msg("no state %s", name);
	return CLAIM_IS_ASKED;
}

static struct claim_step step_named(const char *word, enum claim_state from)
{
	static const struct {
		const char *word;
		enum claim_move move;
		enum claim_state next; /* CLAIM_STATES: as before */
	} words[] = { { "-", CLAIM_DO_NOTHING, CLAIM_STATES }, { "open", CLAIM_DO_OPEN, CLAIM_IS_OPENED },
		{ "look", CLAIM_DO_LOOK, CLAIM_STATES }, { "wait", CLAIM_DO_WAIT, CLAIM_STATES },
		{ "meet", CLAIM_DO_MEET, CLAIM_STATES }, { "end", CLAIM_DO_END, CLAIM_STATES },
		{ "fail", CLAIM_DO_FAIL, CLAIM_STATES }, { "go", CLAIM_DO_GO, CLAIM_IS_HANDED_OVER },
		{ "stop", CLAIM_DO_WITHDRAW, CLAIM_STATES }, { "+done", CLAIM_DO_SAY_DONE, CLAIM_IS_DONE },
		{ "+released", CLAIM_DO_SAY_RELEASED, CLAIM_IS_RELEASED },
		{ "+refused", CLAIM_DO_SAY_REFUSED, CLAIM_IS_REFUSED },
		{ "+ambiguous", CLAIM_DO_SAY_AMBIGUOUS, CLAIM_IS_AMBIGUOUS },
		{ "+uncertain", CLAIM_DO_SAY_UNCERTAIN, CLAIM_IS_UNCERTAIN } };

	if (*word == '=')
		return (struct claim_step){ CLAIM_DO_FOLD, state_named(word + 1) };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, word) == 0)
			return (struct claim_step){ words[i].move,
				words[i].next == CLAIM_STATES ? from : words[i].next };
	fail_msg("no word %s", word);
	return (struct claim_step){ 0 };
}

static int check_line(enum claim_event event, enum claim_reading reading, const char *line)
{
	char copy[200], *rest = copy, *word;
	int state = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (; (word = strsep(&rest, " ")); state++) {
		struct claim_step wanted = step_named(word, (enum claim_state)state);
		struct claim_step step = claim_step((enum claim_state)state, event, reading);

		if (step.move != wanted.move || step.next != wanted.next)
			fail_msg("%s at %s (reading %d): move %d next %s, expected %s", expected[event].name,
				state_names[state], reading, step.move, state_names[step.next], word);
	}
	return state;
}

static void every_state_and_event_is_decided(void **state)
{
	int pairs = 0;

	(void)state;
	for (int event = 0; event < CLAIM_EVENTS; event++) {
		const char *never = expected[event].never;

		assert_non_null(never);
		pairs += check_line((enum claim_event)event, CLAIM_READS_NEVER, never);
		pairs += check_line(
			(enum claim_event)event, CLAIM_READS_BACK, expected[event].back ? expected[event].back : never);
		pairs += check_line((enum claim_event)event, CLAIM_READS_FIRST,
			expected[event].first ? expected[event].first : never);
	}
	assert_int_equal(pairs, 3 * CLAIM_STATES * CLAIM_EVENTS);
}

/* ---- what must hold of the table, whatever its words are ---- */

static void nothing_that_may_have_happened_is_opened_without_a_look(void **state)
{
	(void)state;
	for (int from = 0; from < CLAIM_STATES; from++)
		for (int event = 0; event < CLAIM_EVENTS; event++)
			for (int reading = 0; reading <= CLAIM_READS_FIRST; reading++) {
				struct claim_step step = claim_step(
					(enum claim_state)from, (enum claim_event)event, (enum claim_reading)reading);

				if (step.move == CLAIM_DO_OPEN && claim_may_have_happened((enum claim_state)from))
					assert_int_equal(event, CLAIM_LOOK_ABSENT);
				if (step.move == CLAIM_DO_GO)
					assert_int_equal(from, CLAIM_IS_CLAIMED);
			}
}

static void what_is_done_stays_done(void **state)
{
	(void)state;
	for (int event = 0; event < CLAIM_EVENTS; event++)
		for (int reading = 0; reading <= CLAIM_READS_FIRST; reading++)
			assert_int_equal(
				claim_step(CLAIM_IS_DONE, (enum claim_event)event, (enum claim_reading)reading).next,
				CLAIM_IS_DONE);
}

/* What this process says, and what every other process folds from it, is the same state. */
static void what_is_said_is_what_others_fold(void **state)
{
	static const struct {
		enum claim_event event;
		enum claim_state becomes;
	} facts[] = { { CLAIM_FACT_DONE, CLAIM_IS_DONE }, { CLAIM_FACT_RELEASED, CLAIM_IS_RELEASED },
		{ CLAIM_FACT_REFUSED, CLAIM_IS_REFUSED }, { CLAIM_FACT_AMBIGUOUS, CLAIM_IS_AMBIGUOUS },
		{ CLAIM_FACT_UNCERTAIN, CLAIM_IS_UNCERTAIN } };

	(void)state;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		assert_int_equal(
			claim_step(CLAIM_IS_CLAIMED, facts[i].event, CLAIM_READS_NEVER).next, facts[i].becomes);
}

/* ---- the fold ---- */

static struct claim_fact fact_of(enum claim_event event, uint32_t attempt, int64_t at_us)
{
	return (struct claim_fact){
		.event = event, .attempt = attempt, .at_us = at_us, .asked_seq = 7, .owner = "run"
	};
}

static struct claim_row row_of(enum claim_state state, uint32_t attempt, int64_t at_us)
{
	return (struct claim_row){ .state = state, .attempt = attempt, .at_us = at_us };
}

static void a_fact_counts_by_its_attempt(void **state)
{
	static const struct {
		enum claim_event event;
		bool older, same, newer;
	} cases[] = { { CLAIM_FACT_CLAIMED, false, false, true }, { CLAIM_FACT_DONE, true, true, true },
		{ CLAIM_FACT_RELEASED, false, true, true }, { CLAIM_FACT_REFUSED, false, true, true },
		{ CLAIM_FACT_AMBIGUOUS, false, true, true }, { CLAIM_FACT_SKIPPED, true, true, true },
		{ CLAIM_FACT_UNCERTAIN, false, true, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool expect[] = { cases[i].older, cases[i].same, cases[i].newer };

		for (uint32_t j = 0; j < 3; j++) {
			struct claim_row row = row_of(CLAIM_IS_RELEASED, 5, 10);
			struct claim_fact fact = fact_of(cases[i].event, 4 + j, 20);

			assert_int_equal(claim_fold(&row, &fact), expect[j]);
			assert_int_equal(row.attempt, expect[j] && j == 2 ? 6 : 5);
			assert_int_equal(row.at_us, expect[j] ? 20 : 10);
			assert_int_equal(
				row.state != CLAIM_IS_RELEASED, expect[j] && cases[i].event != CLAIM_FACT_RELEASED);
		}
	}
}

static void the_first_claim_may_have_any_number(void **state)
{
	struct claim_row row = row_of(CLAIM_IS_ASKED, 0, 0);
	struct claim_fact fact = fact_of(CLAIM_FACT_CLAIMED, 0, 20);

	(void)state;
	assert_true(claim_fold(&row, &fact));
	assert_int_equal(row.state, CLAIM_IS_CLAIMED);
	assert_int_equal(row.asked_seq, 7);
	assert_string_equal(row.owner, "run");
	assert_false(claim_fold(&row, &fact));
}

static void a_correction_is_as_late_as_the_doubt_was(void **state)
{
	struct claim_row row = row_of(CLAIM_IS_AMBIGUOUS, 1, 60);
	struct claim_fact earlier = fact_of(CLAIM_FACT_DONE, 1, 55);

	(void)state;
	assert_true(claim_fold(&row, &earlier));
	assert_int_equal(row.state, CLAIM_IS_DONE);
	assert_int_equal(row.at_us, 60);
	row = row_of(CLAIM_IS_CLAIMED, 1, 60);
	assert_true(claim_fold(&row, &earlier));
	assert_int_equal(row.at_us, 55);
}

static void a_row_with_a_state_of_another_version_is_never_tried_again(void **state)
{
	(void)state;
	for (uint32_t unknown = CLAIM_IS_OPENED; unknown < CLAIM_IS_OPENED + 1000; unknown += 37) {
		struct claim_row row = { .state = unknown, .attempt = 1 };
		struct claim_fact released = fact_of(CLAIM_FACT_RELEASED, 2, 20);

		assert_false(claim_fold(&row, &released));
	}
}

static void spent_is_all_that_nobody_may_try_now(void **state)
{
	static const char spent[] = "claimed done refused ambiguous skipped uncertain handed-over";
	static const char may_have[] = "claimed done ambiguous uncertain handed-over";

	(void)state;
	for (int one = 0; one < CLAIM_STATES; one++) {
		assert_int_equal(claim_is_spent((enum claim_state)one), strstr(spent, state_names[one]) != NULL);
		assert_int_equal(
			claim_may_have_happened((enum claim_state)one), strstr(may_have, state_names[one]) != NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_and_event_is_decided),
		cmocka_unit_test(nothing_that_may_have_happened_is_opened_without_a_look),
		cmocka_unit_test(what_is_done_stays_done),
		cmocka_unit_test(what_is_said_is_what_others_fold),
		cmocka_unit_test(a_fact_counts_by_its_attempt),
		cmocka_unit_test(the_first_claim_may_have_any_number),
		cmocka_unit_test(a_correction_is_as_late_as_the_doubt_was),
		cmocka_unit_test(a_row_with_a_state_of_another_version_is_never_tried_again),
		cmocka_unit_test(spent_is_all_that_nobody_may_try_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
