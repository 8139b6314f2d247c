/* test_backups.c: what the records of backups add up to, and when that is wrong */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/platform/monitor/backups.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

#define DAY(n) ((n)*US_PER_DAY)
#define WITHIN_US (26 * US_PER_HOUR)

static void remember(struct state *state, const struct message_meta *said, const Audit *audit)
{
	(void)said;
	backups_remember(state, audit);
}

static const struct service watcher = { .name = "watcher", .remembers = REMEMBERING(REMEMBERS(audit, remember)) };

static struct harness *h;

static int fresh(void **state)
{
	(void)state;
	h = harness_new(&watcher, 1000);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static void given(const char *action, const char *who, int64_t at_us)
{
	Audit audit = { .at_us = at_us };

	TEXT_COPY(audit.action, action);
	TEXT_COPY(audit.who, who);
	snprintf(audit.grounds, sizeof(audit.grounds), "grounds of %s", action);
	GIVEN(h, audit, &audit, .shop = SHOP_OF_ALL, .key = SHOP_OF_ALL);
}

/* "": nothing is wrong. */
static const char *wrong_at(int64_t now_us)
{
	static char why[500];
	struct backups backups = backups_of(harness_state(h));

	why[0] = '\0';
	if (!backups_wrong(&backups, now_us, WITHIN_US, why))
		assert_string_equal(why, "");
	return why;
}

static void who_never_had_backups_by_themselves_is_not_alarmed(void **state)
{
	(void)state;
	assert_string_equal(wrong_at(DAY(1000)), "");
	given("backed_up", "ada", DAY(1));
	assert_string_equal(wrong_at(DAY(1000)), "");
	given("mailed", "system", DAY(1)); /* a record of something else */
	assert_string_equal(wrong_at(DAY(1000)), "");
}

static void once_made_by_itself_there_is_to_be_one_in_time(void **state)
{
	(void)state;
	given("backed_up", "system", DAY(1));
	assert_string_equal(wrong_at(DAY(1) + WITHIN_US), "");
	assert_string_equal(wrong_at(DAY(1) + WITHIN_US + 1), "the last backup is 26 hours old");
	assert_string_equal(wrong_at(DAY(4)), "the last backup is 72 hours old");
	given("backed_up", "ada", DAY(4)); /* by hand is as good */
	assert_string_equal(wrong_at(DAY(4) + WITHIN_US), "");
	assert_string_equal(wrong_at(DAY(4) + WITHIN_US + 1), "the last backup is 26 hours old");
	given("backed_up", "system", DAY(6));
	assert_string_equal(wrong_at(DAY(6)), "");
}

static void one_that_failed_stands_until_one_is_made(void **state)
{
	(void)state;
	given("backup_failed", "system", DAY(1));
	assert_string_equal(wrong_at(DAY(1)), "the last backup failed: grounds of backup_failed");
	given("backup_verified", "system", DAY(1)); /* of the one before */
	assert_string_equal(wrong_at(DAY(1)), "the last backup failed: grounds of backup_failed");
	given("backed_up", "system", DAY(2));
	assert_string_equal(wrong_at(DAY(2)), "");
	struct backups backups = backups_of(harness_state(h));
	assert_int_equal(backups.expected_us, DAY(1)); /* the first that was tried */
	assert_int_equal(backups.made_us, DAY(2));
	assert_int_equal(backups.proved_us, DAY(1));
	assert_int_equal(backups.failed_us, 0);
}

static void one_that_is_damaged_is_worse_than_one_that_failed(void **state)
{
	(void)state;
	given("backed_up", "ada", DAY(1));
	given("backup_damaged", "ada", DAY(1) + 5);
	assert_int_equal(backups_of(harness_state(h)).damaged_us, DAY(1) + 5);
	assert_string_equal(wrong_at(DAY(1) + 5), "the newest backup is not sound: grounds of backup_damaged");
	given("backup_failed", "ada", DAY(1) + 6);
	assert_string_equal(wrong_at(DAY(1) + 6), "the newest backup is not sound: grounds of backup_failed");
	given("backed_up", "ada", DAY(2)); /* that it is made does not say that it is sound */
	assert_string_equal(wrong_at(DAY(2)), "the newest backup is not sound: grounds of backup_failed");
	given("backup_verified", "ada", DAY(2) + 1);
	assert_string_equal(wrong_at(DAY(2) + 1), "");
	assert_int_equal(backups_of(harness_state(h)).proved_us, DAY(2) + 1);
	assert_int_equal(backups_of(harness_state(h)).expected_us, 0);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, fresh, gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(who_never_had_backups_by_themselves_is_not_alarmed),
		SCENE(once_made_by_itself_there_is_to_be_one_in_time),
		SCENE(one_that_failed_stands_until_one_is_made),
		SCENE(one_that_is_damaged_is_worse_than_one_that_failed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
