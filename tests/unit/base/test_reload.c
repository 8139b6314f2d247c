/*
 * test_reload.c: a changed configuration is used only if the process that judges it ended well
 *
 * The process that judges is this program again (reload.c starts /proc/self/exe), which ends as its first argument says.
 */
#include "bus/base/clock.h"
#include "bus/base/reload.h"
#include "tests/unit/cmocka_all.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t BEGUN_US = 5 * US_PER_S, TOO_LATE_US = 16 * US_PER_S;
static const char SILENT[] = "it could not be judged";

/* What judges: it ends as the test wants. */
static int judge(const char *end)
{
	const struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	if (strcmp(end, "killed") == 0)
		raise(SIGKILL); /* as by the kernel when memory is short */
	if (strcmp(end, "late") == 0)
		pause();
	if (strcmp(end, "words") == 0)
		fputs("<6>waiter: reads\n<2>waiter: shop.conf:3: there is no such key\n", stderr);
	if (strcmp(end, "plain") == 0)
		fputs("first\nplain: words\n\n", stderr);
	if (strcmp(end, "odd") == 0)
		fputs("<2>odd", stderr);
	if (strcmp(end, "warned") == 0)
		fputs("<4>waiter: this is an odd time zone\n", stderr);
	return strcmp(end, "fine") != 0 && strcmp(end, "warned") != 0;
}

/* Why the configuration may not be used, "" if it may. */
static const char *judged(const char *end, int64_t now_us)
{
	static char why[RELOAD_WHY];
	char again[RELOAD_WHY];
	char *const words[] = { (char *)"test", (char *)"--judge", (char *)end, NULL };
	struct reload reload = { 0 };
	siginfo_t ended;

	assert_int_equal(reload_begin(&reload, words, BEGUN_US), 0);
	if (now_us < TOO_LATE_US)
		assert_int_equal(waitid(P_PID, (id_t)reload.child, &ended, WEXITED | WNOWAIT), 0);
	assert_true(reload_judged(&reload, now_us, why));
	assert_int_equal(reload.child, 0);
	assert_false(reload_judged(&reload, now_us, again)); /* it is told once */
	return why;
}

static void a_configuration_that_was_judged_well_is_used(void **state)
{
	(void)state;
	assert_string_equal(judged("fine", BEGUN_US), "");
	assert_string_equal(judged("warned", BEGUN_US), ""); /* a warning is no refusal */
}

static void one_that_was_refused_is_not_used_and_the_last_line_says_why(void **state)
{
	(void)state;
	assert_string_equal(judged("words", BEGUN_US), "shop.conf:3: there is no such key");
	assert_string_equal(judged("plain", BEGUN_US), "plain: words");
	assert_string_equal(judged("odd", BEGUN_US), "<2>odd");
}

static void one_whose_judge_died_without_a_word_is_not_used(void **state)
{
	(void)state;
	assert_string_equal(judged("silent", BEGUN_US), SILENT);
	assert_string_equal(judged("killed", BEGUN_US), SILENT);
}

static void one_whose_judge_does_not_end_is_not_used(void **state)
{
	(void)state;
	assert_string_equal(judged("late", TOO_LATE_US), "it could not be judged within ten seconds");
}

static void a_judge_has_ten_seconds(void **state)
{
	char *const words[] = { (char *)"test", (char *)"--judge", (char *)"late", NULL };
	struct reload reload = { 0 };
	char why[RELOAD_WHY];

	(void)state;
	assert_false(reload_judged(&reload, BEGUN_US, why)); /* none was begun */
	assert_int_equal(reload_begin(&reload, words, BEGUN_US), 0);
	assert_false(reload_judged(&reload, BEGUN_US + 10 * US_PER_S - 1, why));
	assert_true(reload.child > 0);
	assert_true(reload_judged(&reload, BEGUN_US + 10 * US_PER_S, why));
	assert_string_equal(why, "it could not be judged within ten seconds");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_configuration_that_was_judged_well_is_used),
		cmocka_unit_test(one_that_was_refused_is_not_used_and_the_last_line_says_why),
		cmocka_unit_test(one_whose_judge_died_without_a_word_is_not_used),
		cmocka_unit_test(one_whose_judge_does_not_end_is_not_used),
		cmocka_unit_test(a_judge_has_ten_seconds),
	};

	if (argc == 3 && strcmp(argv[1], "--judge") == 0)
		return judge(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
