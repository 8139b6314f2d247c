/* test_quarantine.c: what is put aside is kept for its time, with its note, and no more of it than there is room for */
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/platform/mailin/quarantine.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { BLOCK = 4096, DAY_S = 24 * 3600, KEPT_S = 30 * DAY_S, NEAR_S = 600 };

static struct folder folder;
static struct clock now;
static struct quarantine *quarantine;

static int setup(void **state)
{
	(void)state;
	folder = folder_new();
	now = clock_virtual(US_PER_S);
	quarantine = quarantine_new(folder.path, &now);
	assert_non_null(quarantine);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	quarantine_free(quarantine);
	folder_remove(&folder);
	return 0;
}

static void look_again(void)
{
	int64_t left_us = quarantine_look(quarantine);

	assert_in_range(left_us, 1, US_PER_MINUTE);
	now.virtual_us += left_us;
	quarantine_look(quarantine);
}

/* A file of this size, that was written so long ago. It takes no room on the disk. */
static void lay(const char *name, off_t size, time_t age_s)
{
	char path[200];

	FOLDER_PATH(path, folder, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(
		futimens(
			fd, (struct timespec[2]){ { .tv_sec = time(NULL) - age_s }, { .tv_sec = time(NULL) - age_s } }),
		0);
	close(fd);
}

static bool is_there(const char *name)
{
	char path[200];

	FOLDER_PATH(path, folder, name);
	return access(path, F_OK) == 0;
}

static void must_tally(uint64_t mails, uint64_t bytes, uint64_t day)
{
	const struct quarantine_tally tally = quarantine_tally(quarantine);

	assert_int_equal(tally.mails, mails);
	assert_int_equal(tally.bytes, bytes);
	assert_int_equal(tally.day, day);
}

static void a_mail_is_there_once_with_its_note(void **state)
{
	const struct quarantine_note note = {
		.why = "a reason", .count = 2, .recipients = { "a@x.example", "b@x.example" }
	};
	struct quarantine_note other = note, read;
	char path[200];

	(void)state;
	assert_int_equal(quarantine_write(quarantine, bytes_of("a mail"), &note), 0);
	assert_int_equal(quarantine_write(quarantine, bytes_of("a mail"), &note), 0);
	must_tally(1, BLOCK, 1);
	TEXT_COPY(other.recipients[1], "c@x.example");
	assert_int_equal(quarantine_write(quarantine, bytes_of("a mail"), &other), 0);
	assert_int_equal(quarantine_write(quarantine, bytes_of("another"), &note), 0);
	must_tally(3, 3 * BLOCK, 3);
	look_again();
	must_tally(3, 3 * BLOCK, 3);

	FOLDER_PATH(path, folder, "came");
	lay("came", BLOCK - 1, 2 * DAY_S);
	assert_int_equal(quarantine_move(quarantine, path, "7", &note), 0);
	assert_false(is_there("came"));
	assert_true(is_there("aside/7"));
	must_tally(4, 4 * BLOCK, 4);
	look_again(); /* the file came today, also where its own time is older */
	must_tally(4, 4 * BLOCK, 4);
	quarantine_read_note(quarantine, "7", &read);
	assert_string_equal(read.why, "a reason");
	assert_int_equal(read.count, 2);
	assert_string_equal(read.recipients[0], "a@x.example");
	assert_string_equal(read.recipients[1], "b@x.example");
	quarantine_forget_note(quarantine, "7");
	quarantine_read_note(quarantine, "7", &read);
	assert_string_equal(read.why, "");
	assert_int_equal(read.count, 0);
	assert_true(is_there("aside/7"));
}

/* Another program, or a person, may have written it. */
static void a_note_is_read_as_far_as_it_is_one(void **state)
{
	struct buffer text = { 0 };
	struct quarantine_note read;
	char path[200];

	(void)state;
	FOLDER_PATH(path, folder, "aside.notes/1");
	buffer_add_text(&text, "why: \nto: \n\nelse: b@x.example\n\n");
	for (int i = 0; i <= LMTP_RECIPIENTS_MOST; i++)
		buffer_printf(&text, "to: %d@x.example\n", i);
	buffer_add_text(&text, "why: w");
	assert_int_equal(file_write_new(path, buffer_bytes(&text), 0600), 0);
	buffer_free(&text);
	quarantine_read_note(quarantine, "1", &read);
	assert_string_equal(read.why, "w");
	assert_int_equal(read.count, LMTP_RECIPIENTS_MOST);
	assert_string_equal(read.recipients[0], "0@x.example");
	assert_string_equal(read.recipients[LMTP_RECIPIENTS_MOST - 1], "15@x.example");
}

static void nothing_is_deleted_before_its_time_and_a_note_goes_with_its_mail(void **state)
{
	(void)state;
	lay("aside/young", 1, KEPT_S - NEAR_S);
	lay("aside.notes/young", 1, KEPT_S - NEAR_S);
	lay("aside/old", 1, KEPT_S + NEAR_S);
	lay("aside.notes/old", 1, NEAR_S);
	lay("aside.notes/left", 1, KEPT_S + NEAR_S);
	lay("aside/.hidden", 1, KEPT_S + NEAR_S);
	lay("retry/old", 1, KEPT_S + NEAR_S);
	look_again();
	assert_true(is_there("aside/young"));
	assert_true(is_there("aside.notes/young"));
	assert_false(is_there("aside/old"));
	assert_false(is_there("aside.notes/old"));
	assert_false(is_there("aside.notes/left"));
	assert_true(is_there("aside/.hidden"));
	assert_true(is_there("retry/old"));
	must_tally(1, BLOCK, 1);
}

/* Once a minute, as each look reads all of it. */
static void it_is_looked_through_once_a_minute(void **state)
{
	(void)state;
	lay("aside/late", 1, 0);
	assert_int_equal(quarantine_look(quarantine), US_PER_MINUTE);
	now.virtual_us += US_PER_MINUTE - 1;
	assert_int_equal(quarantine_look(quarantine), 1);
	must_tally(0, 0, 0);
	now.virtual_us += 1;
	assert_int_equal(quarantine_look(quarantine), US_PER_MINUTE);
	must_tally(1, BLOCK, 1);
}

/* A sparse file leaves room for one block. */
static void what_has_no_room_is_not_taken_and_stays_where_it_was(void **state)
{
	const struct quarantine_note note = { .why = "w" };
	static char mail[BLOCK];
	char path[200];

	(void)state;
	lay("aside/much", (off_t)QUARANTINE_BYTES_MOST - 2 * BLOCK, 0);
	look_again();
	must_tally(1, QUARANTINE_BYTES_MOST - BLOCK, 1);
	assert_true(quarantine_has_room(quarantine));
	assert_int_equal(quarantine_write(quarantine, BYTES(mail, BLOCK), &note), -EDQUOT);
	lay("came", BLOCK, 0);
	FOLDER_PATH(path, folder, "came");
	assert_int_equal(quarantine_move(quarantine, path, "came", &note), -EDQUOT);
	assert_true(is_there("came"));
	assert_false(is_there("aside.notes/came"));
	must_tally(1, QUARANTINE_BYTES_MOST - BLOCK, 1);
	assert_int_equal(quarantine_write(quarantine, BYTES(mail, BLOCK - 1), &note), 0);
	assert_false(quarantine_has_room(quarantine));
	assert_int_equal(quarantine_write(quarantine, BYTES(mail, BLOCK - 1), &note), 0); /* it lies there already */
	assert_int_equal(quarantine_write(quarantine, BYTES(mail, 1), &note), -EDQUOT);
	must_tally(2, QUARANTINE_BYTES_MOST, 2);
}

static void what_cannot_be_kept_is_said(void **state)
{
	const struct quarantine_note note = { .why = "w" };
	char path[200], file[200];

	(void)state;
	FOLDER_PATH(path, folder, "nothing");
	assert_int_equal(quarantine_move(quarantine, path, "nothing", &note), -ENOENT);
	must_tally(0, 0, 0);
	lay("file", 1, 0);
	FOLDER_PATH(file, folder, "file");
	assert_null(quarantine_new(file, &now));
	assert_int_equal(errno, ENOTDIR);
	quarantine_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_mail_is_there_once_with_its_note),
		TEST(a_note_is_read_as_far_as_it_is_one),
		TEST(nothing_is_deleted_before_its_time_and_a_note_goes_with_its_mail),
		TEST(it_is_looked_through_once_a_minute),
		TEST(what_has_no_room_is_not_taken_and_stays_where_it_was),
		TEST(what_cannot_be_kept_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
