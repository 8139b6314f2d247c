/* test_folder.c: what becomes of the mails of a maildir: each is said, put aside, deleted, or stays for later */
#include "bus/base/file.h"
#include "given.h"
#include "services/platform/mailin/folder.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HOUR_S = 3600, MANY = 40, BLOCK = 4096 };

static struct folder *folder;

static void begin(const char *in)
{
	char path[200];

	given_begin(NULL);
	snprintf(path, sizeof(path), "%s/new", given.path);
	assert_int_equal(file_make_folders(path, 0700), 0);
	folder = folder_new(given.path, in,
		&(struct folder_needs){ .keys = &given.keys,
			.reader = given.reader,
			.routing = &given.routing,
			.quarantine = given.quarantine,
			.runtime = given.runtime,
			.clock = sim_clock(given.sim) });
}

static int setup(void **state)
{
	(void)state;
	begin("new");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_free(folder);
	given_end();
	return 0;
}

static void lay_text(const char *name, const char *text, int64_t age_s)
{
	given_lay(name, text, (int64_t)strlen(text), age_s);
}

/* The next pass over the folder, until so many mails were read. */
static void look(int read)
{
	given_pass(US_PER_S);
	assert_int_equal(folder_look(folder), US_PER_S);
	for (int i = 0; i < read; i++)
		given_read_one();
	assert_int_equal(folder_look(folder), US_PER_S);
}

static void must_lie_aside(const char *name, const char *why)
{
	char path[100];

	snprintf(path, sizeof(path), "new/%s", name);
	assert_false(given_has(path));
	snprintf(path, sizeof(path), "aside/%s", name);
	assert_true(given_has(path));
	assert_string_equal(given_note(name).why, why);
}

static void a_bounce_is_told_once_and_its_file_goes(void **state)
{
	(void)state;
	lay_text("new/1", given_bounce(given_tagged(), "failed", "w"), 0);
	lay_text("new/.2", "not there yet", HOUR_S);
	look(1);
	assert_int_equal(given_told(), 1);
	assert_false(given_has("new/1"));
	assert_false(given_has("aside/1"));
	assert_true(given_has("new/.2"));
	lay_text("new/again", given_bounce(given_tagged(), "failed", "w"), 0);
	lay_text("new/other", given_bounce(given_tagged(), "failed", "other words"), 0);
	look(2);
	assert_int_equal(given_told(), 2);
	assert_false(given_has("new/again"));
	assert_false(given_has("new/other"));
}

static void what_asks_for_nothing_goes_and_what_is_no_report_is_put_aside(void **state)
{
	char path[200];

	(void)state;
	lay_text("new/delayed", given_bounce(given_tagged(), "delayed", "w"), 0);
	lay_text("new/letter", "From: a@b.example\r\n\r\nHello\r\n", 0);
	lay_text("new/empty", "", 0);
	given_lay("new/large", "", REPORT_BYTES_MOST + 1, 0);
	given_lay("new/largest", "", REPORT_BYTES_MOST, 0);
	snprintf(path, sizeof(path), "%s/new/link", given.path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	look(4);
	assert_int_equal(given_told(), 0);
	assert_false(given_has("new/delayed"));
	assert_false(given_has("aside/delayed"));
	must_lie_aside("letter", "it is no report of a bounce or a complaint");
	must_lie_aside("empty", "it is no report of a bounce or a complaint");
	must_lie_aside("large", "it is larger than a report is");
	must_lie_aside("link", "Invalid argument");
	assert_true(given_has("aside/largest"));
	assert_string_not_equal(given_note("largest").why, "it is larger than a report is");
}

/* The word that a mail was sent may be on its way while the mail comes back already. */
static void a_mail_that_nobody_knows_waits_a_minute_and_is_put_aside(void **state)
{
	(void)state;
	lay_text("new/fresh", given_bounce("", "failed", "fresh"), 30);
	lay_text("new/ahead", given_bounce("", "failed", "ahead"), -30);
	lay_text("new/old", given_bounce("", "failed", "old"), 90);
	lay_text("new/far", given_bounce("", "failed", "far"), -90); /* somebody set the clock */
	look(4);
	must_lie_aside("old", "it is about a mail that we never sent, or proves nothing");
	must_lie_aside("far", "it is about a mail that we never sent, or proves nothing");
	assert_true(given_has("new/fresh"));
	assert_true(given_has("new/ahead"));
	look(2);
	assert_true(given_has("new/fresh"));
	assert_true(given_has("new/ahead"));
	assert_int_equal(given_told(), 0);
}

/* Of what came over LMTP the note has kept for whom it was. */
static void what_is_read_once_more_is_for_whom_its_note_says(void **state)
{
	char noted[400];

	(void)state;
	folder_free(folder);
	given_end();
	begin(QUARANTINE_RETRY);
	lay_text("retry/told", given_bounce("", "failed", "told"), 0);
	snprintf(noted, sizeof(noted), "why: w\nto: %s\n", given_tagged());
	lay_text("aside.notes/told", noted, 0);
	lay_text("retry/unknown", given_bounce("", "failed", "unknown"), 0);
	look(2);
	assert_int_equal(given_told(), 1);
	assert_false(given_has("retry/told"));
	assert_false(given_has("aside.notes/told"));
	assert_false(given_has("retry/unknown"));
	assert_string_equal(given_note("unknown").why, "it is about a mail that we never sent, or proves nothing");
}

static void all_of_many_mails_are_read_each_once(void **state)
{
	char name[30], words[30];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "new/%d", i);
		snprintf(words, sizeof(words), "the %dth", i);
		lay_text(name, given_bounce(given_tagged(), "failed", words), 0);
	}
	folder_look(folder);
	for (int i = 0; i < MANY; i++) {
		given_read_one();
		folder_look(folder);
	}
	assert_int_equal(given_told(), MANY);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "new/%d", i);
		assert_false(given_has(name));
	}
	assert_int_equal(reader_deaths(given.reader), 0);
}

static void while_the_broker_is_away_all_stays_and_is_told_later(void **state)
{
	(void)state;
	sim_kill_broker(given.sim);
	given_pass(US_PER_MINUTE);
	lay_text("new/1", given_bounce(given_tagged(), "failed", "w"), 0);
	lay_text("new/2", "no report", 0);
	assert_int_equal(folder_look(folder), US_PER_S);
	assert_true(given_has("new/1"));
	assert_true(given_has("new/2"));
	sim_restart_broker(given.sim);
	given_pass(US_PER_MINUTE);
	look(2);
	assert_int_equal(given_told(), 1);
	assert_false(given_has("new/1"));
	must_lie_aside("2", "it is no report of a bounce or a complaint");
}

/* What it says, nobody can know any more: it lies there still. */
static void what_was_read_when_the_broker_went_stays_too(void **state)
{
	(void)state;
	lay_text("new/1", given_bounce(given_tagged(), "failed", "w"), 0);
	lay_text("new/2", "no report", 0);
	given_pass(US_PER_S);
	folder_look(folder);
	sim_kill_broker(given.sim);
	given_pass(US_PER_MINUTE);
	given_read_one();
	given_read_one();
	assert_true(given_has("new/1"));
	assert_true(given_has("new/2"));
}

static void what_has_no_room_aside_stays_unread_until_there_is_some(void **state)
{
	char path[200];

	(void)state;
	given_lay("aside/much", "", (int64_t)QUARANTINE_BYTES_MOST - BLOCK, 0);
	given_pass(US_PER_MINUTE);
	quarantine_look(given.quarantine);
	lay_text("new/letter", "no report", 0);
	look(1);
	assert_true(given_has("new/letter"));
	look(0);
	look(0);
	assert_true(given_has("new/letter"));
	snprintf(path, sizeof(path), "%s/aside/much", given.path);
	assert_int_equal(unlink(path), 0);
	given_pass(US_PER_MINUTE);
	quarantine_look(given.quarantine);
	look(1);
	must_lie_aside("letter", "it is no report of a bounce or a complaint");
}

static void a_mail_that_ends_who_reads_it_is_put_aside(void **state)
{
	(void)state;
	given_let_readers_hang();
	lay_text("new/1", "a mail", 0);
	look(0);
	given_give_up_one();
	must_lie_aside("1", "it ended the process that read it, twice");
	assert_int_equal(reader_deaths(given.reader), 2);
}

/* The reader may be at one of its mails. */
static void a_folder_may_be_closed_at_any_time(void **state)
{
	(void)state;
	lay_text("new/1", given_bounce(given_tagged(), "failed", "1"), 0);
	lay_text("new/2", given_bounce(given_tagged(), "failed", "2"), 0);
	given_pass(US_PER_S);
	folder_look(folder);
	folder_free(folder);
	folder = NULL;
	given_read_one();
	assert_int_equal(given_told(), 0);
	assert_true(given_has("new/1"));
	assert_true(given_has("new/2"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int run(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_bounce_is_told_once_and_its_file_goes),
		TEST(what_asks_for_nothing_goes_and_what_is_no_report_is_put_aside),
		TEST(a_mail_that_nobody_knows_waits_a_minute_and_is_put_aside),
		TEST(what_is_read_once_more_is_for_whom_its_note_says),
		TEST(all_of_many_mails_are_read_each_once),
		TEST(while_the_broker_is_away_all_stays_and_is_told_later),
		TEST(what_was_read_when_the_broker_went_stays_too),
		TEST(what_has_no_room_aside_stays_unread_until_there_is_some),
		TEST(a_mail_that_ends_who_reads_it_is_put_aside),
		TEST(a_folder_may_be_closed_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	return given_main(argc, argv, run);
}
