/*
 * codec_table.c: the tables, made of nanopb's descriptors
 *
 * Owns:      a table per kind of message that was asked for, for the life of the process.
 * Promises:  any thread may ask; who asks a second time waits for nobody.
 * Fails by:  an assertion, on a kind of field that nobody needed yet, so in the first test that has one.
 * Read next: codec.c
 */
#include "bus/wire/codec_table.h"
#include "bus/base/memory.h"
#include <assert.h>
#include <pb_common.h>
#include <pthread.h>
#include <stdatomic.h>

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

/* NULL: none yet; ret_slot: where it is to be. */
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
	static uint8_t base[STRUCT_BYTES_MAX]; /* a struct to measure in; nobody reads or writes it */
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
	find(fields, &slot); /* those that are nested took theirs */
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
