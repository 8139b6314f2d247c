/*
 * fuzz_records.c: a record of the log reads back as it was written, or is refused
 *
 * Input: a byte that says which record is changed, where (u16), how (xor); then messages, each topic, class, length (a byte each)
 * and so many bytes. And the same bytes as a column of their own whose checksum is right: no field of it is believed for that.
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "bus/broker/broker.h"
#include "bus/broker/log/block.h"
#include "tests/fuzz/fuzz.h"
#include <errno.h>

enum { FIRST = 7, HEAD = 4 };

DEFINE_CLEANUP(struct store *, store_close)
DEFINE_CLEANUP(struct store_batch *, store_batch_free)
DEFINE_CLEANUP(struct block *, block_free)

static struct block *written(const uint8_t *data, size_t len)
{
	struct block *block = block_new(FIRST);

	while (len >= 3) {
		size_t body = data[2] < len - 3 ? data[2] : len - 3;
		struct block_entry entry = {
			.topic_id = data[0], .retention = data[1] % RETENTION_CLASSES, .said_by = "fuzz"
		};

		block_add(block, &entry, BYTES(data + 2, 1 + body)); /* a message is never empty */
		data += 3 + body;
		len -= 3 + body;
	}
	return block;
}

/* One byte of one record becomes another. */
static void change(struct store *store, const uint8_t *how)
{
	static const int families[] = { FAMILY_COLUMN, FAMILY_RAW, FAMILY_FACT, FAMILY_KEEP };
	int family = families[how[0] % 4];
	_cleanup_(buffer_free) struct buffer record = { 0 };
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	uint8_t key[8];

	put_be64(key, FIRST);
	if (store_get(store, family, BYTES(key, 8), &record) < 0 || record.len == 0)
		return;
	record.data[(how[1] | how[2] << 8) % record.len] ^= how[3];
	store_batch_put(batch, family, BYTES(key, 8), buffer_bytes(&record));
	MUST(store_commit(store, batch, false) == 0);
}

static int read_back(struct store *store, struct block **ret)
{
	_cleanup_(buffer_free) struct buffer column = { 0 };
	uint8_t key[8];
	int r;

	put_be64(key, FIRST);
	MUST(store_get(store, FAMILY_COLUMN, BYTES(key, 8), &column) == 0);
	r = block_parse(BYTES(key, 8), buffer_bytes(&column), ret);
	for (uint32_t i = 0; r == 0 && i < (*ret)->count; i++)
		r = block_load(*ret, store, (*ret)->entries[i].retention);
	MUST(r == 0 || r == -EUCLEAN || r == -ENOENT);
	return r;
}

static void must_be_same(const struct block *was, const struct block *is)
{
	MUST(is->first == was->first && is->count == was->count);
	for (uint32_t i = 0; i < was->count; i++) {
		const struct block_entry *a = &was->entries[i], *b = &is->entries[i];

		MUST(a->topic_id == b->topic_id && a->retention == b->retention && a->len == b->len);
		MUST(bytes_equal(block_message(was, a), block_message(is, b)));
	}
}

static void read_column_of_its_own(const uint8_t *data, size_t len)
{
	_cleanup_(buffer_free) struct buffer column = { 0 };
	struct block *block = NULL;
	uint32_t crc = text_crc(BYTES(data, len));
	uint8_t key[8];

	put_be64(key, FIRST);
	buffer_add_u32(&column, crc);
	buffer_add(&column, data, len);
	if (block_parse(BYTES(key, 8), buffer_bytes(&column), &block) == 0)
		MUST(block->count > 0 && block_last(block) >= block->first);
	block_free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(block_freep) struct block *was = NULL, *is = NULL;

	read_column_of_its_own(data, len);
	if (len < HEAD + 3)
		return 0;
	MUST(store_open_memory(&broker_store_options, &store) == 0);
	was = written(data + HEAD, len - HEAD);
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	block_write(was, batch);
	MUST(store_commit(store, batch, false) == 0);
	change(store, data);
	if (read_back(store, &is) == 0)
		must_be_same(was, is);
	else
		MUST(data[3] != 0); /* unchanged, and yet refused */
	return 0;
}
