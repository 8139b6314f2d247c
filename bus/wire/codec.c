/*
 * codec.c: protobuf by tables that are made once
 *
 * Owns:      one table per kind of message, for the life of the process: a row per field, found by the field's number.
 * Promises:  reads and writes exactly what nanopb would, for messages of numbers, texts and single messages; another kind of field
 *            ends the process when the tables are made (assert), that is in every test.
 * Fails by:  -EBADMSG on what came from outside.
 * Read next: frame.c, message.c
 */
#include "bus/wire/codec.h"
#include "bus.pb.h"
#include <assert.h>
#include <errno.h>
#include <pb_common.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
	FIELDS_MAX = 16,   /* of one message, numbers from 1 */
	MESSAGES_MAX = 16, /* nested ones included */
	STRUCT_BYTES_MAX = 2048,
	VARINT_MOST = 10,
	NOWHERE = UINT16_MAX,
};

enum kind { UNKNOWN, BOOLEAN, NUMBER_32, SIGNED_32, NUMBER_64, TEXT, MESSAGE };
enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct row {
	enum kind kind;
	uint16_t at, room;  /* of the value in the struct */
	uint16_t has_at;    /* of a bool that says whether it is there, or NOWHERE */
	uint16_t choice_at; /* of the number of the field that is there, or NOWHERE */
	const struct codec *nested;
};

struct codec {
	const pb_msgdesc_t *fields;
	size_t size;    /* of the struct */
	size_t most;    /* encoded */
	bool is_choice; /* of one field among all of its own */
	uint16_t choice_at;
	uint32_t last;
	struct row rows[FIELDS_MAX];
};

static struct codec codecs[MESSAGES_MAX];
static size_t codec_count;
static pthread_once_t made = PTHREAD_ONCE_INIT;

/* What is asked for with every message: looked up without a call. */
enum { ROOTS = 4 };
static const struct codec *roots[ROOTS];
static atomic_bool are_made;

/* --- the tables --- */

static enum kind kind_of(const pb_field_iter_t *field)
{
	bool is_small = field->data_size == sizeof(uint32_t);

	assert(PB_ATYPE(field->type) == PB_ATYPE_STATIC && PB_HTYPE(field->type) != PB_HTYPE_REPEATED);
	switch (PB_LTYPE(field->type)) {
	case PB_LTYPE_BOOL:
		return BOOLEAN;
	case PB_LTYPE_VARINT:
		return is_small ? SIGNED_32 : NUMBER_64;
	case PB_LTYPE_UVARINT:
		return is_small ? NUMBER_32 : NUMBER_64;
	case PB_LTYPE_STRING:
		return TEXT;
	case PB_LTYPE_SUBMESSAGE:
		return MESSAGE;
	}
	assert(!"a head has a kind of field that this file does not know");
	return UNKNOWN;
}

static const struct codec *make(const pb_msgdesc_t *fields, size_t size);

static void make_row(struct codec *codec, const pb_field_iter_t *field, const uint8_t *base)
{
	struct row *row = &codec->rows[field->tag];
	bool optional = PB_HTYPE(field->type) == PB_HTYPE_OPTIONAL, choice = PB_HTYPE(field->type) == PB_HTYPE_ONEOF;
	uint16_t presence_at = field->pSize ? (uint16_t)((const uint8_t *)field->pSize - base) : NOWHERE;

	assert(field->tag < FIELDS_MAX && field->tag < 16); /* so that a tag is one byte */
	row->kind = kind_of(field);
	row->at = (uint16_t)((const uint8_t *)field->pData - base);
	row->room = (uint16_t)field->data_size;
	row->has_at = optional ? presence_at : NOWHERE;
	row->choice_at = choice ? presence_at : NOWHERE;
	if (row->kind == MESSAGE)
		row->nested = make(field->submsg_desc, field->data_size);
	codec->most += 1 + VARINT_MOST + (row->kind == TEXT ? row->room : row->nested ? row->nested->most : 0);
	codec->is_choice = choice && (codec->last == 0 || codec->is_choice);
	codec->choice_at = row->choice_at;
	if (field->tag > codec->last)
		codec->last = field->tag;
}

static const struct codec *make(const pb_msgdesc_t *fields, size_t size)
{
	static uint8_t base[STRUCT_BYTES_MAX]; /* a struct to measure in */
	struct codec *codec = &codecs[codec_count++];
	pb_field_iter_t field;
	bool more;

	assert(codec_count <= MESSAGES_MAX && size <= sizeof(base));
	codec->fields = fields;
	codec->size = size;
	for (more = pb_field_iter_begin(&field, fields, base); more; more = pb_field_iter_next(&field))
		make_row(codec, &field, base);
	return codec;
}

static void make_all(void)
{
	roots[0] = make(Up_fields, sizeof(Up));
	roots[1] = make(Down_fields, sizeof(Down));
	roots[2] = make(Envelope_fields, sizeof(Envelope));
	roots[3] = make(FrameHead_fields, sizeof(FrameHead));
	atomic_store_explicit(&are_made, true, memory_order_release);
}

const struct codec *codec_of(const pb_msgdesc_t *fields)
{
	if (!atomic_load_explicit(&are_made, memory_order_acquire))
		pthread_once(&made, make_all);
	for (int i = 0; i < ROOTS; i++)
		if (roots[i]->fields == fields)
			return roots[i];
	assert(!"there is no codec for such messages");
	return NULL;
}

size_t codec_most(const struct codec *codec)
{
	return codec->most;
}

/* --- writing --- */

static uint8_t *write_varint(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return to;
}

static uint64_t number_at(enum kind kind, const uint8_t *at)
{
	switch (kind) {
	case BOOLEAN:
		return *(const bool *)at;
	case NUMBER_32:
		return *(const uint32_t *)(const void *)at;
	case SIGNED_32:
		return (uint64_t)(int64_t) * (const int32_t *)(const void *)at;
	default:
		return *(const uint64_t *)(const void *)at;
	}
}

static uint8_t *write_tag(uint8_t *to, uint32_t number, enum wire_type type)
{
	*to = (uint8_t)(number << 3 | type);
	return to + 1;
}

static uint8_t *write_text(uint8_t *to, uint32_t number, const struct row *row, const uint8_t *text)
{
	size_t len = strnlen((const char *)text, row->room - 1u);

	if (len == 0 && row->choice_at == NOWHERE)
		return to;
	to = write_varint(write_tag(to, number, WIRE_BYTES), len);
	memcpy(to, text, len);
	return to + len;
}

static uint8_t *write_fields(const struct codec *codec, const uint8_t *message, uint8_t *to);

/* Its length comes first and takes one byte nearly always; else what was written moves. */
static uint8_t *write_nested(uint8_t *to, uint32_t number, const struct codec *nested, const uint8_t *message)
{
	uint8_t length[VARINT_MOST], *start = write_tag(to, number, WIRE_BYTES) + 1;
	size_t len = (size_t)(write_fields(nested, message, start) - start);
	size_t taken = (size_t)(write_varint(length, len) - length);

	if (taken > 1)
		memmove(start + taken - 1, start, len);
	memcpy(start - 1, length, taken);
	return start - 1 + taken + len;
}

static bool is_there(const struct row *row, uint32_t number, const uint8_t *message)
{
	if (row->has_at != NOWHERE)
		return *(const bool *)(message + row->has_at);
	return row->choice_at == NOWHERE || *(const pb_size_t *)(const void *)(message + row->choice_at) == number;
}

static uint8_t *write_fields(const struct codec *codec, const uint8_t *message, uint8_t *to)
{
	for (uint32_t number = 1; number <= codec->last; number++) {
		const struct row *row = &codec->rows[number];
		const uint8_t *at = message + row->at;

		if (row->kind == UNKNOWN || !is_there(row, number, message))
			continue;
		if (row->kind == MESSAGE) {
			to = write_nested(to, number, row->nested, at);
		} else if (row->kind == TEXT) {
			to = write_text(to, number, row, at);
		} else {
			uint64_t value = number_at(row->kind, at);

			if (value != 0 || row->choice_at != NOWHERE)
				to = write_varint(write_tag(to, number, WIRE_VARINT), value);
		}
	}
	return to;
}

size_t codec_write(const struct codec *codec, const void *message, uint8_t *to)
{
	return (size_t)(write_fields(codec, message, to) - to);
}

/* --- reading --- */

static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
		uint8_t byte = *(*at)++;

		if (shift == 63 && byte > 1)
			return false;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/* What follows a tag: a number, or bytes; of a type that no known field has, nothing but its end. */
static bool read_value(
	const uint8_t **at, const uint8_t *end, uint64_t type, uint64_t *ret_number, struct bytes *ret_bytes)
{
	size_t left, skipped = type == WIRE_64 ? 8 : 4;

	if (type == WIRE_VARINT)
		return read_varint(at, end, ret_number);
	if (type != WIRE_BYTES && type != WIRE_64 && type != WIRE_32)
		return false;
	if (type == WIRE_BYTES) {
		if (!read_varint(at, end, ret_number))
			return false;
		skipped = *ret_number;
	}
	left = (size_t)(end - *at);
	if (skipped > left)
		return false;
	*ret_bytes = BYTES(*at, skipped);
	*at += skipped;
	return true;
}

static bool put_number(const struct row *row, uint64_t value, uint8_t *at)
{
	switch (row->kind) {
	case BOOLEAN:
		*(bool *)at = value != 0;
		return value <= UINT32_MAX;
	case NUMBER_32:
		*(uint32_t *)(void *)at = (uint32_t)value;
		return value <= UINT32_MAX;
	case SIGNED_32:
		*(int32_t *)(void *)at = (int32_t)value;
		return (int64_t)value == (int32_t)value;
	default:
		*(uint64_t *)(void *)at = value;
		return true;
	}
}

static bool put_text(const struct row *row, struct bytes text, uint8_t *at)
{
	if (text.len >= row->room)
		return false;
	memcpy(at, text.data, text.len);
	at[text.len] = '\0';
	return true;
}

static bool read_fields(const struct codec *codec, struct bytes from, uint8_t *message);

static bool put(const struct row *row, uint64_t type, uint64_t number, struct bytes bytes, uint8_t *at)
{
	if (type != (row->kind == TEXT || row->kind == MESSAGE ? WIRE_BYTES : WIRE_VARINT))
		return false;
	if (row->kind == MESSAGE)
		return read_fields(row->nested, bytes, at);
	return row->kind == TEXT ? put_text(row, bytes, at) : put_number(row, number, at);
}

/* Notes that a field is there; another choice than before begins empty. */
static void note(const struct row *row, uint32_t number, uint8_t *message)
{
	pb_size_t *choice = (void *)(message + row->choice_at);

	if (row->has_at != NOWHERE)
		*(bool *)(message + row->has_at) = true;
	if (row->choice_at == NOWHERE || *choice == number)
		return;
	*choice = (pb_size_t)number;
	memset(message + row->at, 0, row->room);
}

static bool read_fields(const struct codec *codec, struct bytes from, uint8_t *message)
{
	const uint8_t *at = from.data, *end = at + from.len;

	while (at < end) {
		uint64_t tag, number = 0;
		struct bytes bytes = { 0 };

		if (!read_varint(&at, end, &tag) || tag >> 3 == 0 || tag > UINT32_MAX ||
			!read_value(&at, end, tag & 7, &number, &bytes))
			return false;
		if (tag >> 3 <= codec->last && codec->rows[tag >> 3].kind != UNKNOWN) {
			const struct row *row = &codec->rows[tag >> 3];

			note(row, (uint32_t)(tag >> 3), message);
			if (!put(row, tag & 7, number, bytes, message + row->at))
				return false;
		}
	}
	return true;
}

int codec_read(const struct codec *codec, struct bytes from, void *ret_message)
{
	if (codec->is_choice) /* note() clears what is chosen */
		memset((uint8_t *)ret_message + codec->choice_at, 0, sizeof(pb_size_t));
	else
		memset(ret_message, 0, codec->size);
	return read_fields(codec, from, ret_message) ? 0 : -EBADMSG;
}
