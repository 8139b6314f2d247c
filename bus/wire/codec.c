/*
 * codec.c: encodes and decodes protobuf by tables, which are made of nanopb's descriptors
 *
 * Owns:      a table per kind of message that was asked for, for the life of the process.
 * Promises:  any thread may ask for a table, and waits only the first time. Reads and writes exactly what
 *            nanopb would, for messages of numbers, texts, bytes and messages, and lists of the last three;
 *            and borrowed fields as proto/borrowed.h does.
 * Fails by:  -EBADMSG on input from outside; an assertion on a kind of field that no message has used yet, so
 *            in the first test that has one.
 * Read next: frame.c, message.c
 */
#include "bus/wire/codec.h"
#include "bus/base/memory.h"
#include <assert.h>
#include <errno.h>
#include <pb_common.h>
#include <pthread.h>
#include <stdatomic.h>

/* --- the tables: a row per field --- */

/*
 * BORROWED: a struct bytes that points elsewhere (proto/borrowed.h). From TEXT on, a length goes before the
 * value.
 */
enum field_kind { UNKNOWN, BOOLEAN, NUMBER_32, SIGNED_32, NUMBER_64, TEXT, DATA, BORROWED, MESSAGE };
/* How the struct marks that a field is present. */
enum field_presence {
	VALUE,  /* present if the value is not zero */
	FLAG,   /* present if a bool is set */
	CHOICE, /* a number in the struct names the one field of several that is present */
	COUNT   /* the number of elements of a list */
};

struct row {
	enum field_kind kind;
	enum field_presence presence;
	uint32_t at, room; /* of the value in the struct; of a list's first element */
	uint32_t presence_at;
	uint32_t most; /* 1, or the most elements of a list */
	const struct codec *nested;
};

enum { STRETCHES_MAX = 16 };

/* Of a struct, in bytes. */
struct stretch {
	uint32_t from, to;
};

struct codec {
	const pb_msgdesc_t *fields;
	size_t most;    /* the most bytes when encoded */
	bool is_choice; /* its fields are one choice: at most one of them is present */
	uint32_t choice_at;
	struct stretch cleared[STRETCHES_MAX]; /* the parts that are zeroed before reading: all but the lists */
	int cleared_count;
	uint32_t last;
	struct row rows[]; /* by the field's number */
};

enum {
	STRUCT_BYTES_MAX = 1 << 16,
	SLOTS = 256, /* more than there are kinds of messages, nested ones included */
	TAG_AND_LENGTH_MOST = 15,
	PADDING_MOST = 8
};

static _Atomic(struct codec *) slots[SLOTS];
static size_t made;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static enum field_kind kind_of(const pb_field_iter_t *field)
{
	bool is_small = field->data_size == sizeof(uint32_t);

	if (PB_ATYPE(field->type) == PB_ATYPE_CALLBACK) {
		assert(field->data_size == sizeof(struct bytes) && !field->pSize);
		return BORROWED;
	}
	assert(PB_ATYPE(field->type) == PB_ATYPE_STATIC);
	switch (PB_LTYPE(field->type)) {
	case PB_LTYPE_BOOL:
		return BOOLEAN;
	case PB_LTYPE_VARINT:
		assert(is_small || field->data_size == sizeof(uint64_t));
		return is_small ? SIGNED_32 : NUMBER_64;
	case PB_LTYPE_UVARINT:
		assert(is_small || field->data_size == sizeof(uint64_t));
		return is_small ? NUMBER_32 : NUMBER_64;
	case PB_LTYPE_STRING:
		return TEXT;
	case PB_LTYPE_BYTES:
		return DATA;
	case PB_LTYPE_SUBMESSAGE:
		return MESSAGE;
	}
	assert(!"a message has a kind of field that this file does not know");
	return UNKNOWN;
}

static enum field_presence presence_of(const pb_field_iter_t *field)
{
	switch (PB_HTYPE(field->type)) {
	case PB_HTYPE_REPEATED:
		return COUNT;
	case PB_HTYPE_ONEOF:
		return CHOICE;
	}
	return field->pSize ? FLAG : VALUE;
}

static const struct codec *make(const pb_msgdesc_t *fields);

static struct row row_of(const pb_field_iter_t *field, const uint8_t *base)
{
	struct row row = { .kind = kind_of(field),
		.presence = presence_of(field),
		.at = (uint32_t)((const uint8_t *)field->pData - base),
		.room = field->data_size,
		.presence_at = field->pSize ? (uint32_t)((const uint8_t *)field->pSize - base) : 0,
		.most = PB_HTYPE(field->type) == PB_HTYPE_REPEATED ? field->array_size : 1,
		.nested = field->submsg_desc ? make(field->submsg_desc) : NULL };

	assert(row.most == 1 || row.kind >= TEXT); /* numbers in lists are packed */
	return row;
}

static void clear_too(struct codec *codec, uint32_t from, uint32_t to)
{
	struct stretch *last = codec->cleared_count ? &codec->cleared[codec->cleared_count - 1] : NULL;

	if (last && from <= last->to + PADDING_MOST) {
		last->from = from < last->from ? from : last->from;
		last->to = to > last->to ? to : last->to;
		return;
	}
	assert(codec->cleared_count < STRETCHES_MAX);
	codec->cleared[codec->cleared_count++] = (struct stretch){ from, to };
}

static void clear_field(struct codec *codec, const struct row *row)
{
	uint32_t presence_ends = row->presence_at +
		(uint32_t)(row->presence == FLAG         ? sizeof(bool)
				: row->presence == VALUE ? 0
							 : sizeof(pb_size_t));

	if (presence_ends)
		clear_too(codec, row->presence_at, presence_ends);
	if (row->presence == COUNT)
		return;
	if (!row->nested)
		clear_too(codec, row->at, row->at + row->room);
	for (int i = 0; row->nested && i < row->nested->cleared_count; i++)
		clear_too(codec, row->at + row->nested->cleared[i].from, row->at + row->nested->cleared[i].to);
}

static void add_row(struct codec *codec, uint32_t number, const struct row *row)
{
	size_t value_most = row->nested ? row->nested->most
		: row->kind == BORROWED ? CODEC_BORROWED_MAX
		: row->kind >= TEXT     ? row->room
					: 0;
	bool choice = row->presence == CHOICE;

	codec->rows[number] = *row;
	codec->most += row->most * (TAG_AND_LENGTH_MOST + value_most);
	codec->is_choice = choice && (codec->last == 0 || codec->is_choice);
	codec->choice_at = row->presence_at;
	codec->last = number > codec->last ? number : codec->last;
	clear_field(codec, row);
}

/* NULL: there is no table yet; ret_slot: its place. */
static struct codec *find(const pb_msgdesc_t *fields, size_t *ret_slot)
{
	size_t slot = (uintptr_t)fields / sizeof(*fields) % SLOTS;
	struct codec *codec;

	while ((codec = atomic_load_explicit(&slots[slot], memory_order_acquire)) && codec->fields != fields)
		slot = (slot + 1) % SLOTS;
	*ret_slot = slot;
	return codec;
}

static const struct codec *make(const pb_msgdesc_t *fields)
{
	static uint8_t base[STRUCT_BYTES_MAX]; /* a struct to measure in; no code reads or writes it */
	size_t slot;
	struct codec *codec = find(fields, &slot);
	pb_field_iter_t field;
	bool more;

	if (codec)
		return codec;
	codec = memory_new(sizeof(*codec) + (fields->largest_tag + 1u) * sizeof(codec->rows[0]));
	codec->fields = fields;
	for (more = pb_field_iter_begin(&field, fields, base); more; more = pb_field_iter_next(&field)) {
		struct row row = row_of(&field, base);

		add_row(codec, field.tag, &row);
	}
	made++;
	assert(made < SLOTS);
	find(fields, &slot); /* nested tables took their slots meanwhile */
	atomic_store_explicit(&slots[slot], codec, memory_order_release);
	return codec;
}

const struct codec *codec_of(const pb_msgdesc_t *fields)
{
	size_t slot;
	const struct codec *codec = find(fields, &slot);

	if (codec)
		return codec;
	pthread_mutex_lock(&making);
	codec = make(fields);
	pthread_mutex_unlock(&making);
	return codec;
}

size_t codec_most(const struct codec *codec)
{
	return codec->most;
}

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

/* The bytes of a TEXT, DATA or BORROWED field. */
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

/* The length comes first and nearly always takes one byte; else the written bytes move. */
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

/* Reads the value after a tag: a number, or bytes; for a type that no known field has, only finds its end. */
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

/* The next element of a list, cleared; NULL: the list is full. */
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

/* Marks the field as present and returns its place; a choice that changes begins empty. */
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
	if (codec->is_choice) /* note() clears the chosen field */
		memset((uint8_t *)ret_message + codec->choice_at, 0, sizeof(pb_size_t));
	else
		clear(codec, ret_message);
	return read_fields(codec, from, ret_message) ? 0 : -EBADMSG;
}
