/*
 * state_rows.h: the layout of rows, for the files of the state only (state.c, overlay.c, state_each.c,
 * row_cache.c, retention.c)
 *
 * A row's key is table NUL shop NUL key. In the two layers in memory a value begins with one byte that says
 * whether the row is there or was deleted; in the store a deleted row is simply not there. Then comes its
 * mark: the kind of the fact that wrote the row, and the fact's number. Rows of an older store have no mark.
 */
#ifndef ACTOR_RUNTIME_STATE_ROWS_H
#define ACTOR_RUNTIME_STATE_ROWS_H

#include "bus.pb.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/base/bytes.h"
#include "bus/base/list.h"
#include "bus/base/sorted_map.h"
#include <errno.h>

/*
 * A cache of rows of the store, and of keys that the store does not have
 *
 * It caches the store alone, not the folded rows or the turns above it. It answers as store_get would. An
 * entry is valid until the store changes.
 */

struct row_cache;

/* `bytes_most`: about how much memory it uses at most. */
struct row_cache *row_cache_new(size_t bytes_most);
void row_cache_free(struct row_cache *cache); /* takes NULL */

/* Notes the value that the store has under this key; data NULL: it has no such row. */
void row_cache_put(struct row_cache *cache, struct bytes key, struct bytes value);
/* true: the key is known, and *ret is the noted value, borrowed until the next call on the cache. */
bool row_cache_get(struct row_cache *cache, struct bytes key, struct bytes *ret);
/* Updates the value of a key that is cached; keys that are not cached are not added. */
void row_cache_renew(struct row_cache *cache, struct bytes key, struct bytes value);
void row_cache_clear(struct row_cache *cache);

/* Room for a table's name, a shop (64 bytes), a key of a message (200 bytes), and what folds add to it. */
enum { ROW_KEY_MAX = 512 };
enum { FAMILY_ROWS, FAMILY_META };
enum { ROW_IS_GONE = 0, ROW_IS_THERE = 1 };
enum { ROW_MARK_LEN = 9 };

struct state {
	struct store *store;
	struct sorted_map *folded;
	size_t folded_bytes;
	struct sorted_map *overlay; /* each row is tagged with the turn that wrote it last */
	struct list turns;          /* struct overlay_turn, oldest first */
	uint64_t turn;              /* the turn that writes now; 0: projections write */
	uint64_t cursor, remembered, opening;
	char log_id[40];
	bool dirty;
	struct buffer scratch;        /* the row that was read last */
	struct buffer writing;        /* a row on its way into its layer */
	struct row_cache *cache;      /* of the store's rows */
	struct map *tables;           /* by name: whether the store has rows of the table (row_cache.c) */
	struct store_cursor *resting; /* a cursor on the current store, kept for the next walk; NULL: none */
	/* rows of the store have no mark, because an older program wrote them */
	bool unmarked;
	uint64_t layout;       /* the layout number of the rows, from struct service */
	enum row_life life;    /* the life of the rows that are folded now ... */
	uint64_t seq;          /* ... and the number of their fact */
	char refused_row[200]; /* a row that was too large, in words; "": there was none ... */
	uint64_t refused_turn; /* ... and the turn that would have written it; 0: a projection */
	Forgotten forgotten;   /* the log's last Forgotten message up to the cursor */
	bool sweeping;
	const struct service *context_of; /* the service that the context belongs to; NULL: none */
	const void *context;
	bool folding; /* a fold runs */
	struct buffer sweep_at;
};

size_t row_key(char to[ROW_KEY_MAX], const char *table, const char *shop, const char *key);
void overlay_note(struct state *state, struct bytes key); /* notes that the open turn writes this row */

static inline bool row_is_gone(struct bytes layered)
{
	return *(const uint8_t *)layered.data == ROW_IS_GONE;
}

/* The value as it is stored: with its mark. */
static inline struct bytes row_marked(struct bytes layered)
{
	return BYTES((const uint8_t *)layered.data + 1, layered.len - 1);
}

/* state_each.c. A cursor for the rows whose keys begin with the prefix; it is kept between two uses. */
struct store_cursor *state_take_cursor(const struct state *state, struct bytes prefix);
void state_rest_cursor(const struct state *state, struct bytes prefix, struct store_cursor *cursor);
/* To be called whenever the store has changed, because a kept cursor sees the old content. */
void state_end_resting(struct state *state);

/* row_cache.c. True: the store has no row of the table that this key, or this beginning of keys, belongs to. */
bool state_store_lacks(const struct state *state, struct bytes key);
/* Notes that a row is put into the store. `key_before`: the row that was put just before, or empty. */
void state_put_into(struct state *state, struct bytes key, struct bytes key_before);

/* retention.c */
void row_mark(const struct state *state, uint8_t ret[ROW_MARK_LEN]);
/* The value behind the mark. false: the row is forgotten, and is treated as missing. */
bool row_open(const struct state *state, struct bytes marked, struct bytes *ret_value);
int retention_open(struct state *state);
void retention_write(const struct state *state, struct store_batch *batch);
bool row_open_stored(const struct state *state, struct bytes stored, struct bytes *ret_value);

#endif
