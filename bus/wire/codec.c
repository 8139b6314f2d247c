/*
 * codec.c: protobuf by tables
 *
 * Promises:  reads and writes exactly what nanopb would, for messages of numbers, texts, bytes and messages, and lists of the last
 *            three; and of borrowed fields as proto/borrowed.h does.
 * Fails by:  -EBADMSG on what came from outside.
 * Read next: codec_table.c, frame.c, message.c
 */
#include "bus/wire/codec_table.h"
#include <assert.h>
#include <errno.h>

enum { VARINT_MOST = 10 };
enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* --- writing --- */

static uint8_t *write_varint(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return to;
}

static size_t varint_size(uint64_t value)
{
	return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

static uint64_t number_at(enum field_kind kind, const uint8_t *at)
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

/* Of a TEXT, DATA or BORROWED. */
static struct bytes bytes_at(const struct row *row, const uint8_t *at)
{
	const pb_bytes_array_t *data = (const void *)at;

	if (row->kind == BORROWED)
		return *(const struct bytes *)(const void *)at;
	if (row->kind == TEXT)
		return BYTES(at, strnlen((const char *)at, row->room - 1u));
	return BYTES(data->bytes, data->size);
}

static uint32_t count_of(const struct row *row, uint32_t number, const uint8_t *message)
{
	const uint8_t *presence = message + row->presence_at;

	switch (row->presence) {
	case VALUE:
		return 1;
	case FLAG:
		return *(const bool *)presence;
	case CHOICE:
		return *(const pb_size_t *)(const void *)presence == number;
	case COUNT:
		return *(const pb_size_t *)(const void *)presence;
	}
	return 0;
}

static uint8_t *write_tag(uint8_t *to, uint32_t number, enum wire_type type)
{
	return write_varint(to, number << 3 | type);
}

static uint8_t *write_fields(const struct codec *codec, const uint8_t *message, uint8_t *to);

/* Its length comes first and takes one byte nearly always; else what was written moves. */
static uint8_t *write_nested(uint8_t *to, const struct codec *nested, const uint8_t *message)
{
	uint8_t length[VARINT_MOST], *start = to + 1;
	size_t len = (size_t)(write_fields(nested, message, start) - start);
	size_t taken = (size_t)(write_varint(length, len) - length);

	if (taken > 1)
		memmove(start + taken - 1, start, len);
	memcpy(start - 1, length, taken);
	return start - 1 + taken + len;
}

static uint8_t *write_value(uint8_t *to, uint32_t number, const struct row *row, const uint8_t *at)
{
	if (row->kind == MESSAGE)
		return write_nested(write_tag(to, number, WIRE_BYTES), row->nested, at);
	if (row->kind < TEXT) {
		uint64_t value = number_at(row->kind, at);

		return value == 0 && row->presence == VALUE ? to
							    : write_varint(write_tag(to, number, WIRE_VARINT), value);
	}
	struct bytes bytes = bytes_at(row, at);

	if (bytes.len == 0 && row->presence == VALUE)
		return to;
	to = write_varint(write_tag(to, number, WIRE_BYTES), bytes.len);
	memcpy(to, bytes.data, bytes.len);
	return to + bytes.len;
}

static uint8_t *write_fields(const struct codec *codec, const uint8_t *message, uint8_t *to)
{
	for (uint32_t number = 1; number <= codec->last; number++) {
		const struct row *row = &codec->rows[number];
		uint32_t count = row->kind == UNKNOWN ? 0 : count_of(row, number, message);

		for (uint32_t i = 0; i < count; i++)
			to = write_value(to, number, row, message + row->at + (size_t)i * row->room);
	}
	return to;
}

size_t codec_write(const struct codec *codec, const void *message, uint8_t *to)
{
	return (size_t)(write_fields(codec, message, to) - to);
}

/* --- how long it will be --- */

static size_t size_of_value(uint32_t number, const struct row *row, const uint8_t *at)
{
	size_t tag = varint_size((uint64_t)number << 3);

	if (row->kind < TEXT) {
		uint64_t value = number_at(row->kind, at);

		return value == 0 && row->presence == VALUE ? 0 : tag + varint_size(value);
	}
	size_t len = row->kind == MESSAGE ? codec_size(row->nested, at) : bytes_at(row, at).len;

	return len == 0 && row->presence == VALUE ? 0 : tag + varint_size(len) + len;
}

size_t codec_size(const struct codec *codec, const void *message)
{
	size_t size = 0;

	for (uint32_t number = 1; number <= codec->last; number++) {
		const struct row *row = &codec->rows[number];
		uint32_t count = row->kind == UNKNOWN ? 0 : count_of(row, number, message);

		for (uint32_t i = 0; i < count; i++)
			size += size_of_value(number, row, (const uint8_t *)message + row->at + (size_t)i * row->room);
	}
	return size;
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

static bool put_bytes(const struct row *row, struct bytes bytes, uint8_t *at)
{
	pb_bytes_array_t *data = (void *)at;

	if (row->kind == BORROWED) {
		*(struct bytes *)(void *)at = bytes;
		return bytes.len <= CODEC_BORROWED_MAX;
	}
	if (row->kind == TEXT && bytes.len < row->room) {
		memcpy(at, bytes.data, bytes.len);
		at[bytes.len] = '\0';
		return true;
	}
	if (row->kind == TEXT || bytes.len > row->room - offsetof(pb_bytes_array_t, bytes))
		return false;
	data->size = (pb_size_t)bytes.len;
	memcpy(data->bytes, bytes.data, bytes.len);
	return true;
}

static bool read_fields(const struct codec *codec, struct bytes from, uint8_t *message);

static bool put(const struct row *row, uint64_t type, uint64_t number, struct bytes bytes, uint8_t *at)
{
	if (type != (row->kind >= TEXT ? WIRE_BYTES : WIRE_VARINT))
		return false;
	if (row->kind == MESSAGE)
		return read_fields(row->nested, bytes, at);
	return row->kind >= TEXT ? put_bytes(row, bytes, at) : put_number(row, number, at);
}

static void clear(const struct codec *codec, uint8_t *message)
{
	for (int i = 0; i < codec->cleared_count; i++)
		memset(message + codec->cleared[i].from, 0, codec->cleared[i].to - codec->cleared[i].from);
}

/* The next one of a list, cleared; NULL: it is full. */
static uint8_t *add_one(const struct row *row, uint8_t *message)
{
	pb_size_t *count = (void *)(message + row->presence_at);
	uint8_t *at = message + row->at + (size_t)*count * row->room;

	if (*count >= row->most)
		return NULL;
	(*count)++;
	if (row->nested)
		clear(row->nested, at);
	return at;
}

/* Where it goes, having noted that it is there; another choice than before begins empty. */
static uint8_t *note(const struct row *row, uint32_t number, uint8_t *message)
{
	pb_size_t *choice = (void *)(message + row->presence_at);

	switch (row->presence) {
	case VALUE:
		break;
	case FLAG:
		*(bool *)(message + row->presence_at) = true;
		break;
	case CHOICE:
		if (*choice != number)
			memset(message + row->at, 0, row->room);
		*choice = (pb_size_t)number;
		break;
	case COUNT:
		return add_one(row, message);
	}
	return message + row->at;
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
			uint8_t *to = note(row, (uint32_t)(tag >> 3), message);

			if (!to || !put(row, tag & 7, number, bytes, to))
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
		clear(codec, ret_message);
	return read_fields(codec, from, ret_message) ? 0 : -EBADMSG;
}
