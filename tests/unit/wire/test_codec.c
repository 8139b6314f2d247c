/* heads and envelopes by tables: what nanopb writes and reads, and nothing else */
#include "bus.pb.h"
#include "bus/wire/codec.h"
#include <errno.h>
#include <pb_common.h>
#include <pb_decode.h>
#include <pb_encode.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROUNDS = 20000, BYTES_MOST = 4096 };

static uint64_t drawn = 42;

static uint64_t draw(void)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 7;
	return drawn ^= drawn << 17;
}

/* Small, middling and extreme numbers alike. */
static uint64_t draw_number(void)
{
	return draw() >> draw() % 64;
}

static void fill(const pb_msgdesc_t *fields, void *message);

static void fill_field(pb_field_iter_t *field)
{
	size_t len = field->data_size ? draw() % field->data_size : 0;
	uint64_t number = draw() % 3 == 0 ? 0 : draw_number();

	switch (PB_LTYPE(field->type)) {
	case PB_LTYPE_BOOL:
		*(bool *)field->pData = number % 2;
		break;
	case PB_LTYPE_VARINT:
	case PB_LTYPE_UVARINT:
		memcpy(field->pData, &number, field->data_size);
		break;
	case PB_LTYPE_STRING:
		len = draw() % 4 == 0 ? len : len % 8;
		memset(field->pData, 'a' + (int)(draw() % 26), len);
		((char *)field->pData)[len] = '\0';
		break;
	case PB_LTYPE_SUBMESSAGE:
		fill(field->submsg_desc, field->pData);
		break;
	default:
		fail_msg("a kind of field that this test cannot fill");
	}
}

static void fill(const pb_msgdesc_t *fields, void *message)
{
	uint64_t chosen = fields->field_count ? draw() % fields->field_count : 0;
	pb_field_iter_t field;
	bool more = pb_field_iter_begin(&field, fields, message);

	for (uint64_t i = 0; more; i++, more = pb_field_iter_next(&field)) {
		if (PB_HTYPE(field.type) == PB_HTYPE_ONEOF && i != chosen)
			continue;
		if (PB_HTYPE(field.type) == PB_HTYPE_ONEOF)
			*(pb_size_t *)field.pSize = field.tag;
		if (PB_HTYPE(field.type) != PB_HTYPE_ONEOF && field.pSize && !(*(bool *)field.pSize = draw() % 2))
			continue;
		fill_field(&field);
	}
}

static size_t write_by_nanopb(const pb_msgdesc_t *fields, const void *message, uint8_t *to)
{
	pb_ostream_t stream = pb_ostream_from_buffer(to, BYTES_MOST);

	assert_true(pb_encode(&stream, fields, message));
	return stream.bytes_written;
}

static bool read_by_nanopb(const pb_msgdesc_t *fields, struct bytes from, void *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(from.data, from.len);

	return pb_decode(&stream, fields, ret);
}

union any {
	Up up;
	Down down;
	Envelope envelope;
	FrameHead head;
};

static const pb_msgdesc_t *const kinds[] = { Up_fields, Down_fields, Envelope_fields, FrameHead_fields };
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void it_writes_and_reads_what_nanopb_does(void **state)
{
	uint8_t by_table[BYTES_MOST], by_nanopb[BYTES_MOST], again[BYTES_MOST];

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		const pb_msgdesc_t *fields = kinds[i % KINDS];
		union any message = { 0 }, back;
		size_t len, expected;

		fill(fields, &message);
		len = codec_write(codec_of(fields), &message, by_table);
		expected = write_by_nanopb(fields, &message, by_nanopb);
		assert_int_equal(len, expected);
		assert_memory_equal(by_table, by_nanopb, len);
		assert_true(len <= codec_most(codec_of(fields)));
		memset(&back, 0xaa, sizeof(back)); /* what was there before does not shine through */
		assert_int_equal(codec_read(codec_of(fields), BYTES(by_table, len), &back), 0);
		assert_int_equal(write_by_nanopb(fields, &back, again), len);
		assert_memory_equal(again, by_nanopb, len);
	}
}

static void what_nanopb_refuses_it_refuses(void **state)
{
	int refused = 0;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		const pb_msgdesc_t *fields = kinds[i % KINDS];
		union any message = { 0 }, one = { 0 }, other = { 0 };
		uint8_t bytes[BYTES_MOST], written[2][BYTES_MOST];
		size_t len;
		bool accepted;

		fill(fields, &message);
		len = codec_write(codec_of(fields), &message, bytes);
		for (uint64_t flips = 1 + draw() % 3; len > 0 && flips > 0; flips--)
			bytes[draw() % len] ^= (uint8_t)(1 << draw() % 8);
		if (len > 0 && draw() % 4 == 0)
			len = draw() % len;
		accepted = codec_read(codec_of(fields), BYTES(bytes, len), &one) == 0;
		if (accepted && read_by_nanopb(fields, BYTES(bytes, len), &other)) {
			size_t first = write_by_nanopb(fields, &one, written[0]);

			assert_int_equal(first, write_by_nanopb(fields, &other, written[1]));
			assert_memory_equal(written[0], written[1], first);
		} else if (accepted) {
			fail_msg("it accepts what nanopb refuses");
		}
		refused += !accepted;
	}
	assert_in_range(refused, ROUNDS / 20, ROUNDS - ROUNDS / 20);
}

static void what_is_not_known_is_skipped(void **state)
{
	static const uint8_t bytes[] = { 0x7a, 3, 'n', 'e', 'w', 0x71, 1, 2, 3, 4, 5, 6, 7, 8, 0x75, 1, 2, 3, 4, 0x68,
		5, 0x08, 9 };
	FrameHead head;

	(void)state;
	assert_int_equal(codec_read(codec_of(FrameHead_fields), BYTES(bytes, sizeof(bytes)), &head), 0);
	assert_int_equal(head.epoch, 9);
}

static void a_text_that_does_not_fit_is_refused(void **state)
{
	uint8_t bytes[2 + sizeof(((Envelope *)0)->topic)] = { 0x0a, sizeof(((Envelope *)0)->topic) };
	Envelope envelope;

	(void)state;
	memset(bytes + 2, 't', sizeof(bytes) - 2);
	assert_int_equal(codec_read(codec_of(Envelope_fields), BYTES(bytes, sizeof(bytes)), &envelope), -EBADMSG);
	bytes[1]--;
	assert_int_equal(codec_read(codec_of(Envelope_fields), BYTES(bytes, sizeof(bytes) - 1), &envelope), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_writes_and_reads_what_nanopb_does),
		cmocka_unit_test(what_nanopb_refuses_it_refuses),
		cmocka_unit_test(what_is_not_known_is_skipped),
		cmocka_unit_test(a_text_that_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
