/*
 * any_message.h: messages of any kind, filled by chance, through codec.c and through nanopb
 */
#ifndef WIRE_ANY_MESSAGE_H
#define WIRE_ANY_MESSAGE_H

#include "bus/wire/codec.h"
#include <pb_common.h>
#include <pb_decode.h>
#include <pb_encode.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MESSAGE_BYTES_MOST = 1 << 18, BORROWED_MOST = 1 << 17 };

static uint64_t drawn = 42;

static inline uint64_t draw(void)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 7;
	return drawn ^= drawn << 17;
}

/* Small, middling and extreme numbers alike. */
static inline uint64_t draw_number(void)
{
	return draw() % 3 == 0 ? 0 : draw() >> draw() % 64;
}

/* Short, and now and then as long as can be. */
static inline size_t draw_length(size_t most)
{
	return draw() % 8 == 0 ? most : draw() % 4 == 0 ? draw() % (most + 1) : draw() % 8 % (most + 1);
}

static inline void fill(const pb_msgdesc_t *fields, void *message);

static inline void fill_one(const pb_field_iter_t *field, void *at)
{
	uint64_t number = draw_number();
	pb_bytes_array_t *data = at;

	if (PB_ATYPE(field->type) == PB_ATYPE_CALLBACK) {
		static const char text[BORROWED_MOST] = "borrowed";

		*(struct bytes *)at = BYTES(text, draw_length(sizeof(text)));
		return;
	}
	switch (PB_LTYPE(field->type)) {
	case PB_LTYPE_BOOL:
		*(bool *)at = number % 2;
		break;
	case PB_LTYPE_VARINT:
	case PB_LTYPE_UVARINT:
		memcpy(at, &number, field->data_size);
		break;
	case PB_LTYPE_STRING:
		memset(at, 0, field->data_size);
		memset(at, 'a' + (int)(draw() % 26), draw_length(field->data_size - 1u));
		break;
	case PB_LTYPE_BYTES:
		data->size = (pb_size_t)draw_length(field->data_size - offsetof(pb_bytes_array_t, bytes));
		memset(data->bytes, (int)(draw() % 256), data->size);
		break;
	case PB_LTYPE_SUBMESSAGE:
		fill(field->submsg_desc, at);
		break;
	default:
		fail_msg("a kind of field that this test cannot fill");
	}
}

static inline void fill_field(const pb_field_iter_t *field)
{
	uint64_t count = 1;

	if (PB_HTYPE(field->type) == PB_HTYPE_REPEATED)
		count = *(pb_size_t *)field->pSize = (pb_size_t)draw_length(field->array_size);
	else if (PB_HTYPE(field->type) == PB_HTYPE_ONEOF)
		*(pb_size_t *)field->pSize = field->tag;
	else if (field->pSize)
		count = *(bool *)field->pSize = draw() % 2;
	for (uint64_t i = 0; i < count; i++)
		fill_one(field, (uint8_t *)field->pData + i * field->data_size);
}

/* `message` is zero. */
static inline void fill(const pb_msgdesc_t *fields, void *message)
{
	uint64_t chosen = fields->field_count ? draw() % fields->field_count : 0;
	pb_field_iter_t field;
	bool more = pb_field_iter_begin(&field, fields, message);

	for (uint64_t i = 0; more; i++, more = pb_field_iter_next(&field))
		if (PB_HTYPE(field.type) != PB_HTYPE_ONEOF || i == chosen)
			fill_field(&field);
}

/* nanopb does not read such a message. */
static inline bool has_borrowed(const pb_msgdesc_t *fields)
{
	return fields->field_callback != pb_default_field_callback;
}

static inline size_t write_by_nanopb(const pb_msgdesc_t *fields, const void *message, uint8_t *to)
{
	pb_ostream_t stream = pb_ostream_from_buffer(to, MESSAGE_BYTES_MOST);

	assert_true(pb_encode(&stream, fields, message));
	return stream.bytes_written;
}

static inline bool read_by_nanopb(const pb_msgdesc_t *fields, struct bytes from, void *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(from.data, from.len);

	return pb_decode(&stream, fields, ret);
}

static inline void one_is_written_and_read_as_by_nanopb(const pb_msgdesc_t *fields, size_t size)
{
	static uint8_t by_table[MESSAGE_BYTES_MOST], by_nanopb[MESSAGE_BYTES_MOST];
	void *message = calloc(1, size), *back = malloc(size);
	const struct codec *codec = codec_of(fields);
	size_t len;

	fill(fields, message);
	len = codec_write(codec, message, by_table);
	assert_int_equal(len, write_by_nanopb(fields, message, by_nanopb));
	assert_memory_equal(by_table, by_nanopb, len);
	assert_int_equal(codec_size(codec, message), len);
	assert_true(len <= codec_most(codec));
	memset(back, 0xaa, size); /* what was there before does not shine through */
	assert_int_equal(codec_read(codec, BYTES(by_table, len), back), 0);
	assert_int_equal(write_by_nanopb(fields, back, by_nanopb), len);
	assert_memory_equal(by_table, by_nanopb, len);
	free(message);
	free(back);
}

/* nanopb skips a number of any length where it knows no field, and we one of ten bytes: it must be the length alone that we refuse. */
static inline void expect_its_usual_form_read(
	const struct codec *codec, const pb_msgdesc_t *fields, const void *message, void *ret)
{
	static uint8_t written[MESSAGE_BYTES_MOST];
	size_t len = write_by_nanopb(fields, message, written);

	if (codec_read(codec, BYTES(written, len), ret) != 0)
		fail_msg("it refuses what nanopb accepts");
}

/* Some bits flipped, and maybe cut: both refuse it, or both read the same. Answers whether it was refused. */
static inline bool a_damaged_one_is_read_as_by_nanopb(const pb_msgdesc_t *fields, size_t size)
{
	static uint8_t bytes[MESSAGE_BYTES_MOST], written[2][MESSAGE_BYTES_MOST];
	void *message = calloc(1, size), *one = calloc(1, size), *other = calloc(1, size);
	const struct codec *codec = codec_of(fields);
	size_t len;
	bool accepted;

	fill(fields, message);
	len = codec_write(codec, message, bytes);
	for (uint64_t flips = 1 + draw() % 3; len > 0 && flips > 0; flips--)
		bytes[draw() % len] ^= (uint8_t)(1 << draw() % 8);
	if (len > 0 && draw() % 4 == 0)
		len = draw() % len;
	accepted = codec_read(codec, BYTES(bytes, len), one) == 0;
	if (has_borrowed(fields)) {
		memcpy(other, one, size);
	} else if (read_by_nanopb(fields, BYTES(bytes, len), other)) {
		if (!accepted)
			expect_its_usual_form_read(codec, fields, other, one);
	} else if (accepted) {
		fail_msg("it accepts what nanopb refuses");
	}
	if (accepted) {
		size_t first = write_by_nanopb(fields, one, written[0]);

		assert_int_equal(first, write_by_nanopb(fields, other, written[1]));
		assert_memory_equal(written[0], written[1], first);
	}
	free(message);
	free(one);
	free(other);
	return !accepted;
}

#endif
