/*
 * store.h: a sorted map in families, on disk (RocksDB) or in memory
 *
 * The broker keeps its log in a store, and the runtime its folded state. A batch is applied whole or not at
 * all; with `sync` it is on disk when the call returns. After a failed commit (-ENOSPC: the disk is full;
 * else -EIO) it is unknown whether the batch was applied. The store then refuses everything with -EIO, and
 * the process must report it and exit. Keys sort as bytes.
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
	/* names, ends with NULL; `family` below is an index into it; missing ones are created */
	const char *const *families;
	size_t cache_bytes;        /* block cache, all families together */
	size_t write_buffer_bytes; /* per family */
	/* the store may open at an earlier consistent point, because lost rows are folded again */
	bool falls_back;
	/*
	 * Open although synced data was lost. Until the next synced commit, an opening without this option
	 * still fails.
	 */
	bool accepts_loss;
	/*
	 * Bit n: family n is often asked for keys that it does not have. A filter over the data in memory
	 * answers that; it costs a fiftieth of the write buffer from the start.
	 */
	uint32_t asked_in_vain;
};

/*
 * -EBUSY: another process has the store. -EUCLEAN: it is corrupt. -ENOSPC: the disk has no space. ret_why
 * (may be NULL) gets the place and RocksDB's text. On success ret_why is empty, or tells that the last record
 * was cut short by a kill or a power cut and was left out. The caller should log that as a warning, because
 * only a peer that remembers a record can notice that it is missing. A store without falls_back can tell a
 * torn record from corruption only if each of its commits is synced.
 */
int store_open(const char *path, const struct store_options *options, struct store **ret, char ret_why[512]);
/*
 * The same without changing the disk; commits are not allowed. -EUCLEAN also if there is no store. -ENOENT:
 * the store was never finished, and nothing was committed to it.
 */
int store_open_read_only(const char *path, const struct store_options *options, struct store **ret, char ret_why[512]);
/* Does another process have the store open? The check changes nothing. A reader does not count. */
bool store_is_in_use(const char *path);
int store_open_memory(const struct store_options *options, struct store **ret);
/*
 * Adds an owner to a store in memory, which lives until its last owner has closed it. So the simulator can
 * kill a process and keep its disk.
 */
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
int store_commit(struct store *store, struct store_batch *batch, bool sync); /* clears the batch on success */
/* syncs all commits so far to disk */
int store_flush(struct store *store);
/* deletes from <= key < to; slow, for rare use */
int store_delete_range(struct store *store, int family, struct bytes from, struct bytes to);
/*
 * Removes overwritten and deleted values of these keys from the files before it returns. Only names of keys
 * in the engine's own notes may remain; store_reopen renews those. It may take minutes; another thread may
 * commit and read meanwhile. An empty `to` means the end of the family.
 */
struct store_range {
	int family;
	struct bytes from, to;
};
int store_purge(struct store *store, const struct store_range *ranges, size_t count);
/*
 * Closes the store and opens it again in place. Nobody may use it meanwhile, and no cursor may be open. After
 * a failure the store refuses everything.
 */
int store_reopen(struct store *store);
/* an estimate, in bytes */
int store_size(struct store *store, int family, struct bytes from, struct bytes to, uint64_t *ret_bytes);
int store_disk_space(
	const struct store *store, uint64_t *ret_free, uint64_t *ret_total); /* bytes; -ENOTSUP in memory */
int store_checkpoint(struct store *store, const char *path);                 /* a consistent copy; -ENOTSUP in memory */
/* the last error, in words; borrowed */
const char *store_why(const struct store *store);

/* A cursor sees the store as it was when the cursor was made (in memory: as it is now). */
struct store_cursor *store_cursor_new(struct store *store, int family);
/*
 * The same for rows whose keys begin with `prefix`. It need not show later rows, and deleted rows outside the
 * prefix cost nothing.
 */
struct store_cursor *store_cursor_new_within(struct store *store, int family, struct bytes prefix);
/*
 * Moves a cursor that was made within a prefix to another prefix. It sees the same version of the store and
 * is much cheaper than a new cursor. Neither prefix may be empty or consist of 0xff bytes only.
 */
void store_cursor_confine(struct store_cursor *cursor, struct bytes prefix);
void store_cursor_free(struct store_cursor *cursor); /* takes NULL */
/* to the first key >= `key`; false: none */
bool store_cursor_seek(struct store_cursor *cursor, struct bytes key);
/* to the last key <= `key`; false: none */
bool store_cursor_seek_before(struct store_cursor *cursor, struct bytes key);
bool store_cursor_last(struct store_cursor *cursor);
bool store_cursor_next(struct store_cursor *cursor);
struct bytes store_cursor_key(const struct store_cursor *cursor); /* borrowed until the cursor moves */
struct bytes store_cursor_value(const struct store_cursor *cursor);
int store_cursor_status(const struct store_cursor *cursor); /* 0, or the negative errno that ended it early */

#endif
