/*
 * block.h: the messages of one commit, in memory and as records
 *
 * On disk a commit is one column record (12 bytes per message: topic, flags, class, key hash) and one frame
 * record per retention class in it: the unchanged messages, each with its CRC. A block that is read back has
 * its column; block_load reads the frames.
 */
#ifndef BROKER_LOG_BLOCK_H
#define BROKER_LOG_BLOCK_H

#include "bus/broker/log/log.h"

struct block_entry {
	uint64_t key_hash;
	uint32_t offset; /* of the message in the frame of its class; BLOCK_ABSENT: the frame was not read */
	uint32_t len;
	uint16_t topic_id;
	uint8_t retention;
	uint8_t flags;
	char said_by[32];
};

enum { BLOCK_ABSENT = UINT32_MAX };

struct block {
	uint64_t first;
	int64_t time_us;
	uint32_t count;
	uint32_t room;
	struct block_entry *entries;
	struct buffer frames[RETENTION_CLASSES]; /* as they are on disk */
	bool has[RETENTION_CLASSES];
};

struct block *block_new(uint64_t first);
void block_free(struct block *block); /* takes NULL */
/* reserves as much memory as `before` uses, so that the block grows only once */
void block_expect(struct block *block, const struct block *before);
void block_add(struct block *block, const struct block_entry *entry, struct bytes message);
/* adds an entry whose message was in a dropped frame */
void block_add_absent(struct block *block, const struct block_entry *entry);
size_t block_bytes(const struct block *block); /* the memory that it uses */

void block_write(const struct block *block, struct store_batch *batch);
/* Makes a block from a column record. -EUCLEAN: the record is damaged. */
int block_parse(struct bytes key, struct bytes column, struct block **ret);
/* Reads the frame of one class. -ENOENT: it was dropped. -EUCLEAN: it is damaged. */
int block_load(struct block *block, struct store *store, uint8_t retention);

static inline struct bytes block_message(const struct block *block, const struct block_entry *entry)
{
	return BYTES(block->frames[entry->retention].data + entry->offset, entry->len);
}

static inline uint64_t block_last(const struct block *block)
{
	return block->first + block->count - 1;
}

#endif
