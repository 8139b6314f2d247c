/* the side log's file: what is whole is read, whatever lies before or behind it */
#include "bus/wire/sidelog_file.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGES = 20 };

static struct buffer written(void)
{
	struct sidelog_head head = { .log = "this log", .origin = "the first" };
	struct buffer file = { 0 };

	sidelog_write_head(&head, &file);
	for (uint64_t i = 1; i <= MESSAGES; i++) {
		char text[40];

		snprintf(text, sizeof(text), "message %d", (int)i);
		sidelog_write(
			&(struct sidelog_record){ .seq = 10 * i, .time_us = (int64_t)i, .message = bytes_of(text) },
			&file);
	}
	return file;
}

static void count(const struct sidelog_record *record, void *context)
{
	char text[40];

	snprintf(text, sizeof(text), "message %d", (int)(record->seq / 10));
	assert_true(bytes_equal(record->message, bytes_of(text)));
	(*(int *)context)++;
}

static void what_was_written_is_read(void **state)
{
	struct buffer file = written();
	struct sidelog_read read;
	int found = 0;

	(void)state;
	assert_int_equal(sidelog_read(buffer_bytes(&file), count, &found, &read), 0);
	assert_int_equal(found, MESSAGES);
	assert_string_equal(read.head.log, "this log");
	assert_string_equal(read.head.origin, "the first");
	assert_true(read.last == 10 * MESSAGES && read.last_us == MESSAGES);
	assert_true(read.whole == file.len && read.damages == 0 && !read.is_torn);
	buffer_free(&file);
}

static void wherever_it_is_cut_off_all_before_that_is_read_and_it_is_no_damage(void **state)
{
	struct buffer file = written();
	struct sidelog_read read;

	(void)state;
	for (size_t len = 0; len < file.len; len++) {
		int found = 0, r = sidelog_read(BYTES(file.data, len), count, &found, &read);

		if (r == -EBADMSG)
			continue;
		assert_int_equal(r, 0);
		assert_true(read.whole <= len && read.damages == 0 && read.is_torn == (read.whole < len));
		assert_int_equal((int)read.count, found);
	}
	buffer_free(&file);
}

static void wherever_a_bit_is_flipped_one_message_is_lost_and_told(void **state)
{
	struct buffer file = written();
	struct sidelog_read read;
	size_t head_len = 12 + 81;

	(void)state;
	for (size_t at = 0; at < file.len; at++) {
		int found = 0, r;

		file.data[at] ^= 1;
		r = sidelog_read(buffer_bytes(&file), count, &found, &read);
		file.data[at] ^= 1;
		if (at < head_len) {
			assert_int_equal(r, -EBADMSG);
			continue;
		}
		assert_int_equal(r, 0);
		assert_int_equal(found, MESSAGES - 1);
		assert_true(read.damages == 1 || read.is_torn);
	}
	buffer_free(&file);
}

enum { HEAD_LEN = 12 + 81, MESSAGE_LEN = 12 + 1 + 8 + 8 };

/* A message may be as long as a head, and is none. */
static void what_does_not_begin_with_a_head_is_no_side_log(void **state)
{
	struct buffer file = { 0 };
	struct sidelog_read read;
	char text[HEAD_LEN - MESSAGE_LEN];

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(sidelog_read(buffer_bytes(&file), NULL, NULL, &read), -EBADMSG);
	sidelog_write(&(struct sidelog_record){ .seq = 1, .message = BYTES(text, sizeof(text)) }, &file);
	assert_int_equal(file.len, HEAD_LEN);
	assert_int_equal(sidelog_read(buffer_bytes(&file), NULL, NULL, &read), -EBADMSG);
	buffer_clear(&file);
	sidelog_write(&(struct sidelog_record){ .seq = 1, .message = bytes_of("short") }, &file);
	assert_int_equal(sidelog_read(buffer_bytes(&file), NULL, NULL, &read), -EBADMSG);
	buffer_free(&file);
}

static void a_head_alone_is_a_whole_side_log_that_says_nothing(void **state)
{
	struct sidelog_head head = { .log = "this log", .origin = "the first" };
	struct buffer file = { 0 };
	struct sidelog_read read;

	(void)state;
	sidelog_write_head(&head, &file);
	assert_int_equal(sidelog_read(buffer_bytes(&file), NULL, NULL, &read), 0);
	assert_int_equal(read.whole, HEAD_LEN);
	assert_true(read.count == 0 && read.last == 0 && read.damages == 0 && !read.is_torn);
	sidelog_write(
		&(struct sidelog_record){ .seq = 9, .message = bytes_of("") }, &file); /* there is no such message */
	assert_int_equal(sidelog_read(buffer_bytes(&file), NULL, NULL, &read), 0);
	assert_true(read.count == 0 && read.last == 0 && read.whole == file.len);
	buffer_free(&file);
}

/* Rows of what is older are written behind what is newer. */
static void the_highest_number_counts_with_its_own_time(void **state)
{
	static const uint64_t numbers[] = { 5, 9, 9, 7 };
	struct sidelog_head head = { .log = "this log" };
	struct buffer file = { 0 };
	struct sidelog_read read;

	(void)state;
	sidelog_write_head(&head, &file);
	for (size_t i = 0; i < 4; i++)
		sidelog_write(
			&(struct sidelog_record){
				.seq = numbers[i], .time_us = 100 + (int64_t)i, .message = bytes_of("x") },
			&file);
	assert_int_equal(sidelog_read(buffer_bytes(&file), NULL, NULL, &read), 0);
	assert_int_equal(read.last, 9);
	assert_int_equal(read.last_us, 101);
	assert_int_equal(read.count, 4);
	buffer_free(&file);
}

static void each_damage_counts_and_what_is_in_order_ends_at_the_first(void **state)
{
	struct buffer file = written();
	struct sidelog_read read;
	size_t record = MESSAGE_LEN + strlen("message 1");
	int found = 0;

	(void)state;
	file.data[HEAD_LEN + 2 * record + 20] ^= 1; /* the third */
	file.data[HEAD_LEN + 5 * record + 20] ^= 1; /* the sixth */
	file.data[HEAD_LEN + 6 * record + 20] ^= 1; /* and the seventh: one place with it */
	assert_int_equal(sidelog_read(buffer_bytes(&file), count, &found, &read), 0);
	assert_int_equal(found, MESSAGES - 3);
	assert_int_equal(read.count, MESSAGES - 3);
	assert_int_equal(read.damages, 2);
	assert_int_equal(read.whole, HEAD_LEN + 2 * record);
	assert_false(read.is_torn);
	buffer_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(wherever_it_is_cut_off_all_before_that_is_read_and_it_is_no_damage),
		cmocka_unit_test(wherever_a_bit_is_flipped_one_message_is_lost_and_told),
		cmocka_unit_test(what_does_not_begin_with_a_head_is_no_side_log),
		cmocka_unit_test(a_head_alone_is_a_whole_side_log_that_says_nothing),
		cmocka_unit_test(the_highest_number_counts_with_its_own_time),
		cmocka_unit_test(each_damage_counts_and_what_is_in_order_ends_at_the_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
