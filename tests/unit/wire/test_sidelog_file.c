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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(wherever_it_is_cut_off_all_before_that_is_read_and_it_is_no_damage),
		cmocka_unit_test(wherever_a_bit_is_flipped_one_message_is_lost_and_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
