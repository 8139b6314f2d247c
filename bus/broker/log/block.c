/*
 * block.c: one commit's messages, as records and back
 *
 * Promises:  a block reads back byte for byte as it was written: every record and every message has a CRC.
 * Fails by:  -EUCLEAN.
 * Read next: log.c
 */
#include "bus/broker/log/block.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdlib.h>

enum {
	COLUMN_HEAD = 12,  /* crc, time */
	COLUMN_ENTRY = 12, /* topic, flags, class, key hash */
	ITEM_HEAD = 15,    /* crc, delta, length, flags, length of said_by */
	CRC = 4,
};

struct block *block_new(uint64_t first)
{
	struct block *block = memory_new(sizeof(*block));

	block->first = first;
	return block;
}

void block_free(struct block *block)
{
	if (!block)
		return;
	for (int i = 0; i < RETENTION_CLASSES; i++)
		buffer_free(&block->frames[i]);
	free(block->entries);
	free(block);
}

void block_expect(struct block *block, const struct block *before)
{
	for (int i = 0; i < RETENTION_CLASSES; i++)
		if (before->frames[i].len > 0)
			buffer_grow(&block->frames[i], before->frames[i].len);
}

static struct block_entry *add_entry(struct block *block)
{
	if (block->count == block->room) {
		block->room = block->room ? 2 * block->room : 16;
		block->entries = memory_resize(block->entries, block->room * sizeof(*block->entries));
	}
	return &block->entries[block->count++];
}

size_t block_bytes(const struct block *block)
{
	size_t bytes = sizeof(*block) + block->room * sizeof(*block->entries);

	for (int i = 0; i < RETENTION_CLASSES; i++)
		bytes += block->frames[i].room;
	return bytes;
}

static void set_crc(struct buffer *buffer, size_t at)
{
	uint32_t crc = text_crc(BYTES(buffer->data + at + CRC, buffer->len - at - CRC));

	for (int i = 0; i < CRC; i++)
		buffer->data[at + (size_t)i] = (uint8_t)(crc >> (8 * i));
}

/*
 * Adds the item in the form of the disk: it is written once, and read from there for as long as the block is
 * remembered.
 */
void block_add(struct block *block, const struct block_entry *entry, struct bytes message)
{
	struct buffer *frame = &block->frames[entry->retention];
	struct block_entry *added = add_entry(block);
	uint8_t said_len = (uint8_t)strlen(entry->said_by);
	size_t at = frame->len;

	*added = *entry;
	added->len = (uint32_t)message.len;
	buffer_add_u32(frame, 0);
	buffer_add_u32(frame, block->count - 1);
	buffer_add_u32(frame, added->len);
	buffer_add_u16(frame, entry->flags);
	buffer_add(frame, &said_len, 1);
	buffer_add(frame, entry->said_by, said_len);
	added->offset = (uint32_t)frame->len;
	buffer_add(frame, message.data, message.len);
	set_crc(frame, at);
	block->has[entry->retention] = true;
}

void block_add_absent(struct block *block, const struct block_entry *entry)
{
	struct block_entry *added = add_entry(block);

	*added = *entry;
	added->offset = BLOCK_ABSENT;
}

static void write_column(const struct block *block, struct store_batch *batch)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };
	uint8_t key[8];

	buffer_add_u32(&value, 0);
	buffer_add_be64(&value, (uint64_t)block->time_us);
	for (uint32_t i = 0; i < block->count; i++) {
		const struct block_entry *entry = &block->entries[i];
		uint8_t marks[2] = { entry->flags, entry->retention };

		buffer_add_u16(&value, entry->topic_id);
		buffer_add(&value, marks, sizeof(marks));
		buffer_add_be64(&value, entry->key_hash);
	}
	set_crc(&value, 0);
	put_be64(key, block->first);
	store_batch_put(batch, FAMILY_COLUMN, BYTES(key, sizeof(key)), buffer_bytes(&value));
}

static void write_frame(const struct block *block, uint8_t retention, struct store_batch *batch)
{
	uint8_t key[8];

	put_be64(key, block->first);
	store_batch_put(
		batch, FAMILY_RAW + retention, BYTES(key, sizeof(key)), buffer_bytes(&block->frames[retention]));
}

void block_write(const struct block *block, struct store_batch *batch)
{
	write_column(block, batch);
	for (uint8_t i = 0; i < RETENTION_CLASSES; i++)
		if (block->has[i])
			write_frame(block, i, batch);
}

static void parse_entry(struct block *block, const uint8_t *at)
{
	struct block_entry *entry = add_entry(block);

	*entry = (struct block_entry){
		.topic_id = get_u16(at),
		.flags = at[2],
		.retention = at[3],
		.key_hash = get_be64(at + 4),
		.offset = BLOCK_ABSENT,
	};
}

int block_parse(struct bytes key, struct bytes column, struct block **ret)
{
	const uint8_t *at = column.data;
	struct block *block;

	if (key.len != 8 || column.len < COLUMN_HEAD + COLUMN_ENTRY || (column.len - COLUMN_HEAD) % COLUMN_ENTRY != 0)
		return -EUCLEAN;
	if (get_u32(at) != text_crc(BYTES(at + CRC, column.len - CRC)))
		return -EUCLEAN;
	block = block_new(get_be64(key.data));
	block->time_us = (int64_t)get_be64(at + CRC);
	for (size_t i = COLUMN_HEAD; i < column.len; i += COLUMN_ENTRY) {
		if (at[i + 3] >= RETENTION_CLASSES) {
			block_free(block);
			return -EUCLEAN;
		}
		parse_entry(block, at + i);
	}
	*ret = block;
	return 0;
}

/* Loads one item of a frame at `from`; returns its length, or -EUCLEAN. */
static ssize_t load_item(struct block *block, uint8_t retention, size_t from)
{
	const struct buffer *frame = &block->frames[retention];
	const uint8_t *at = frame->data + from;
	size_t rest = frame->len - from, said_len, len;
	struct block_entry *entry;

	if (rest < ITEM_HEAD)
		return -EUCLEAN;
	len = get_u32(at + 8);
	said_len = at[ITEM_HEAD - 1];
	if (said_len >= sizeof(entry->said_by) || len > rest - ITEM_HEAD || said_len > rest - ITEM_HEAD - len)
		return -EUCLEAN;
	if (get_u32(at) != text_crc(BYTES(at + CRC, ITEM_HEAD - CRC + said_len + len)))
		return -EUCLEAN;
	if (get_u32(at + 4) >= block->count)
		return -EUCLEAN;
	entry = &block->entries[get_u32(at + 4)];
	if (entry->retention != retention)
		return -EUCLEAN;
	memcpy(entry->said_by, at + ITEM_HEAD, said_len);
	entry->said_by[said_len] = '\0';
	entry->offset = (uint32_t)(from + ITEM_HEAD + said_len);
	entry->len = (uint32_t)len;
	return (ssize_t)(ITEM_HEAD + said_len + len);
}

static bool all_present(const struct block *block, uint8_t retention)
{
	for (uint32_t i = 0; i < block->count; i++)
		if (block->entries[i].retention == retention && block->entries[i].offset == BLOCK_ABSENT)
			return false;
	return true;
}

int block_load(struct block *block, struct store *store, uint8_t retention)
{
	struct buffer *frame = &block->frames[retention];
	uint8_t key[8];
	int r;

	if (block->has[retention])
		return 0;
	put_be64(key, block->first);
	buffer_clear(frame);
	r = store_get(store, FAMILY_RAW + retention, BYTES(key, sizeof(key)), frame);
	if (r < 0)
		return r;
	for (size_t at = 0; at < frame->len;) {
		ssize_t len = load_item(block, retention, at);

		if (len < 0)
			return (int)len;
		at += (size_t)len;
	}
	block->has[retention] = true;
	return all_present(block, retention) ? 0 : -EUCLEAN;
}
