/* frames */
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void write_three(struct buffer *ret)
{
	struct frame_writer writer = { 0 };

	for (uint64_t i = 1; i <= 3; i++) {
		Up up = { .which_what = Up_publish_tag };

		up.what.publish.request = i;
		frame_add(&writer, Up_fields, &up, BYTES("body", i));
	}
	frame_finish(&writer, 7, 42, ret);
	assert_int_equal(writer.count, 0);
	frame_writer_free(&writer);
}

static void what_was_written_is_read(void **state)
{
	struct buffer frame = { 0 };
	struct frame_reader reader;
	struct bytes body;
	Up up;

	(void)state;
	write_three(&frame);
	assert_int_equal(frame_open(buffer_bytes(&frame), &reader), 0);
	assert_int_equal(reader.head.epoch, 7);
	assert_int_equal(reader.head.number, 42);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(frame_next(&reader, Up_fields, &up, &body), 0);
		assert_int_equal(up.what.publish.request, i);
		assert_true(bytes_equal(body, BYTES("body", i)));
	}
	assert_int_equal(frame_next(&reader, Up_fields, &up, &body), -ENODATA);
	buffer_free(&frame);
}

static void an_item_may_be_empty(void **state)
{
	struct frame_writer writer = { 0 };
	struct buffer frame = { 0 };
	struct frame_reader reader;
	struct bytes body;
	Up up = { 0 };

	(void)state;
	frame_add(&writer, Up_fields, &up, BYTES(NULL, 0));
	frame_finish(&writer, 7, 42, &frame);
	assert_int_equal(frame_open(buffer_bytes(&frame), &reader), 0);
	assert_int_equal(frame_next(&reader, Up_fields, &up, &body), 0);
	assert_int_equal(body.len, 0);
	assert_int_equal(frame_next(&reader, Up_fields, &up, &body), -ENODATA);
	buffer_free(&frame);
	frame_writer_free(&writer);
}

/* 0: read to its end without complaint. The copy has no spare byte: reading past it is caught. */
static int read_all(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct frame_reader reader;
	struct bytes body;
	Up up;
	int r;

	memcpy(copy, data, len);
	r = frame_open(BYTES(copy, len), &reader);
	while (r == 0)
		r = frame_next(&reader, Up_fields, &up, &body);
	free(copy);
	return r == -ENODATA ? 0 : r;
}

static void a_frame_cut_short_anywhere_is_refused(void **state)
{
	struct buffer frame = { 0 };

	(void)state;
	write_three(&frame);
	for (size_t len = 0; len < frame.len; len++)
		assert_int_equal(read_all(frame.data, len), -EBADMSG);
	assert_int_equal(read_all(frame.data, frame.len), 0);
	buffer_free(&frame);
}

static void bytes_behind_the_last_item_are_refused(void **state)
{
	struct buffer frame = { 0 };

	(void)state;
	write_three(&frame);
	buffer_add(&frame, "x", 1);
	assert_int_equal(read_all(frame.data, frame.len), -EBADMSG);
	buffer_free(&frame);
}

static void a_flipped_byte_never_reads_out_of_bounds(void **state)
{
	struct buffer frame = { 0 };
	int survived = 0;

	(void)state;
	write_three(&frame);
	for (size_t at = 0; at < frame.len; at++) {
		for (int bit = 0; bit < 8; bit++) {
			int r;

			frame.data[at] ^= (uint8_t)(1 << bit);
			r = read_all(frame.data, frame.len);
			assert_true(r == 0 || r == -EBADMSG);
			survived++;
			frame.data[at] ^= (uint8_t)(1 << bit);
		}
	}
	assert_int_equal(survived, frame.len * 8);
	buffer_free(&frame);
}

static void a_frame_that_is_too_large_is_refused(void **state)
{
	uint8_t *huge = calloc(1, FRAME_BYTES_MAX + 1);

	(void)state;
	assert_int_equal(read_all(huge, FRAME_BYTES_MAX + 1), -EBADMSG);
	free(huge);
}

static void a_count_of_items_that_cannot_be_there_is_refused_at_once(void **state)
{
	static const uint8_t frame[] = { 6, 0, 0, 0, 0x18, 0xff, 0xff, 0xff, 0xff, 0x0f };
	struct frame_reader reader;

	(void)state;
	assert_int_equal(frame_open(BYTES(frame, sizeof(frame)), &reader), -EBADMSG);
}

static void control_messages_come_back_whole(void **state)
{
	struct buffer bytes = { 0 };
	Control *control = calloc(1, sizeof(*control)), *back = calloc(1, sizeof(*back));

	(void)state;
	control->which_what = Control_hello_tag;
	TEXT_COPY(control->what.hello.service, "intake");
	control->what.hello.held_count = 2;
	control->what.hello.held[1].seq = 9;
	assert_int_equal(control_encode(control, &bytes), 0);
	assert_int_equal(control_decode(buffer_bytes(&bytes), back), 0);
	assert_string_equal(back->what.hello.service, "intake");
	assert_int_equal(back->what.hello.held[1].seq, 9);
	assert_int_equal(control_decode(BYTES(bytes.data, bytes.len - 1), back), -EBADMSG);
	buffer_free(&bytes);
	free(control);
	free(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(an_item_may_be_empty),
		cmocka_unit_test(a_frame_cut_short_anywhere_is_refused),
		cmocka_unit_test(bytes_behind_the_last_item_are_refused),
		cmocka_unit_test(a_flipped_byte_never_reads_out_of_bounds),
		cmocka_unit_test(a_frame_that_is_too_large_is_refused),
		cmocka_unit_test(a_count_of_items_that_cannot_be_there_is_refused_at_once),
		cmocka_unit_test(control_messages_come_back_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
