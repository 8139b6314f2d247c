/*
 * store.h: a sorted map in families, on disk (RocksDB) or in memory
 *
 * What the broker keeps its log in and the runtime its folded state. A batch is applied whole or not at all; with `sync` it is
 * on the disk when the call returns. After a failed commit (-ENOSPC: the disk is full; else -EIO) the store refuses everything
 * (-EIO): whether the batch is there is unknown, so the process must say so and exit. Keys sort as bytes.
 *
 * One thread may commit a batch while another reads (store_get, cursors) and fills another batch.
 *
 * Read next: rocks_open.c and rocks.c (on disk), memory.c (its twin)
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "bus/base/bytes.h"

enum { STORE_FAMILIES_MAX = 16 };

struct store;
struct store_batch;
struct store_cursor;

struct store_options {
	const char *const *families; /* NULL-terminated; indexes into it are the `family` below; created when missing */
	size_t cache_bytes;          /* block cache, all families together */
	size_t write_buffer_bytes;   /* per family */
	bool falls_back;             /* an earlier consistent point will do: what is lost is folded again */
	/* What was synced and is gone is not missed. Until the next synced commit an opening without this still misses it. */
	bool accepts_loss;
	/*
	 * Bit n: family n is often asked for a key that it does not have. A filter over what is not written out yet answers that,
	 * and costs a fiftieth of the write buffer from the start.
	 */
	uint32_t asked_in_vain;
};

/*
 * -EBUSY: another process has it; -EUCLEAN: corrupt; -ENOSPC: no room; ret_why (may be NULL) gets the place and RocksDB's
 * words. With 0 it is empty, or tells that the last record was cut short by a kill or a power cut and left out: worth a warning,
 * since a confirmed record that is missing shows only to those who remember it. A store that is not to fall back tells a torn
 * record from corruption only if each of its commits is synced.
 */
int store_open(const char *path, const struct store_options *options, struct store **ret, char ret_why[512]);
/*
 * The same, but nothing on the disk is changed, and nothing may be committed. -EUCLEAN too where there is no store; -ENOENT: it was never
 * finished, and nothing was committed to it.
 */
int store_open_read_only(const char *path, const struct store_options *options, struct store **ret, char ret_why[512]);
/* Does another process have it open? It is asked without touching anything; a reader alone has it not open. */
bool store_is_in_use(const char *path);
int store_open_memory(const struct store_options *options, struct store **ret);
/* One more owner of a store in memory, which lives until the last one has closed it: a simulated process dies, its disk stays. */
struct store *store_share_memory(struct store *store);
void store_close(struct store *store); /* takes NULL */

/* Appends the value to `ret`. -ENOENT: no such key. */
int store_get(struct store *store, int family, struct bytes key, struct buffer *ret);

struct store_batch *store_batch_new(struct store *store);
void store_batch_put(struct store_batch *batch, int family, struct bytes key, struct bytes value);
void store_batch_delete(struct store_batch *batch, int family, struct bytes key);
void store_batch_clear(struct store_batch *batch);
size_t store_batch_count(const struct store_batch *batch);
void store_batch_free(struct store_batch *batch);
int store_commit(struct store *store, struct store_batch *batch, bool sync); /* clears the batch when it worked */
int store_flush(struct store *store);                                        /* everything so far is on the disk */
int store_delete_range(struct store *store, int family, struct bytes from, struct bytes to); /* whole ranges, seldom */
/*
 * What was overwritten or deleted within these keys is gone from the files as well when it returns, but for names of keys in the
 * engine's own notes: store_reopen renews those. It may take minutes; another thread may commit and read meanwhile. An empty `to`:
 * all from there on.
 */
struct store_range {
	int family;
	struct bytes from, to;
};
int store_purge(struct store *store, const struct store_range *ranges, size_t count);
/* Closes and opens it, in place; nobody may use it meanwhile, and no cursor may be open. After a failure it refuses everything. */
int store_reopen(struct store *store);
int store_size(struct store *store, int family, struct bytes from, struct bytes to, uint64_t *ret_bytes); /* about */
int store_disk_space(
	const struct store *store, uint64_t *ret_free, uint64_t *ret_total); /* bytes; -ENOTSUP in memory */
int store_checkpoint(struct store *store, const char *path);                 /* a consistent copy; -ENOTSUP in memory */
const char *store_why(const struct store *store);                            /* of the last error, in words */

/* A cursor sees the store as it was when it was made (in memory: as it is). */
struct store_cursor *store_cursor_new(struct store *store, int family);
/* The same for rows whose keys begin with `prefix`: those behind it need not be seen, and what was deleted there costs nothing. */
struct store_cursor *store_cursor_new_within(struct store *store, int family, struct bytes prefix);
/* One that was made within a prefix goes to other rows, and sees the same store: much cheaper than a new one. Neither prefix may be
 * empty or nothing but 0xff. */
void store_cursor_confine(struct store_cursor *cursor, struct bytes prefix);
void store_cursor_free(struct store_cursor *cursor);                          /* takes NULL */
bool store_cursor_seek(struct store_cursor *cursor, struct bytes key);        /* at or after */
bool store_cursor_seek_before(struct store_cursor *cursor, struct bytes key); /* at or before */
bool store_cursor_last(struct store_cursor *cursor);
bool store_cursor_next(struct store_cursor *cursor);
struct bytes store_cursor_key(const struct store_cursor *cursor); /* borrowed until the cursor moves */
struct bytes store_cursor_value(const struct store_cursor *cursor);
int store_cursor_status(const struct store_cursor *cursor); /* 0, or why it ended early */

#endif
