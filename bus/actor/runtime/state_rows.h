/*
 * state_rows.h: how state.c, overlay.c and state_each.c see rows; nobody else does
 *
 * A row's key is table NUL shop NUL key. In the two layers in memory a value begins with one byte that says whether the row is
 * there or was deleted; in the store a deleted row is simply not there. Then comes its mark: which kind of fact wrote it, and that
 * one's number. Rows of an older store have none.
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
 * Rows that were read from the store, or found not to be there, until the store changes
 *
 * It stands for the store alone, below what is folded and below the turns: what it says is what store_get would say.
 */

struct row_cache;

/* `bytes_most`: about what it takes in memory, at most. */
struct row_cache *row_cache_new(size_t bytes_most);
void row_cache_free(struct row_cache *cache); /* takes NULL */

/* What the store has under this key; data NULL: it has no such row. */
void row_cache_put(struct row_cache *cache, struct bytes key, struct bytes value);
/* true: known, and then *ret is as it was put, borrowed until the cache is asked or told again. */
bool row_cache_get(struct row_cache *cache, struct bytes key, struct bytes *ret);
/* The store has this now: as row_cache_put, but what nobody asked for is not kept. */
void row_cache_renew(struct row_cache *cache, struct bytes key, struct bytes value);
void row_cache_clear(struct row_cache *cache);

/* A table's name, a shop (64) and a key (200) of a message, with room for what folds put together. */
enum { ROW_KEY_MAX = 512 };
enum { FAMILY_ROWS, FAMILY_META };
enum { ROW_IS_GONE = 0, ROW_IS_THERE = 1 };
enum { ROW_MARK_LEN = 9 };

struct state {
	struct store *store;
	struct sorted_map *folded;
	size_t folded_bytes;
	struct sorted_map *overlay; /* tag: the turn that wrote the row last */
	struct list turns;          /* struct overlay_turn, oldest first */
	uint64_t turn;              /* that writes now; 0: projections do */
	uint64_t cursor, remembered, opening;
	char log_id[40];
	bool dirty;
	struct buffer scratch;        /* what was read */
	struct buffer writing;        /* a row on its way into its layer */
	struct row_cache *cache;      /* of the store's rows */
	struct map *tables;           /* whether the store has rows of them: row_cache.c */
	struct store_cursor *resting; /* sees the store as it is now, and serves the next walk; NULL: there is none */
	bool unmarked;                /* rows of the store have no mark: an older program wrote it */
	uint64_t layout;              /* of the rows, the service's own count */
	enum row_life life;           /* of what is folded now ... */
	uint64_t seq;                 /* ... and its number */
	char refused_row[200];        /* a row that was too large, in words; "": there was none ... */
	uint64_t refused_turn;        /* ... and the turn that would have written it; 0: a projection */
	Forgotten forgotten;          /* as the log said last, up to the cursor */
	bool sweeping;
	const struct service *context_of; /* whose context this is; NULL: nobody's */
	const void *context;
	bool folding; /* a fold runs */
	struct buffer sweep_at;
};

size_t row_key(char to[ROW_KEY_MAX], const char *table, const char *shop, const char *key);
void overlay_note(struct state *state, struct bytes key); /* the open turn writes this row */

static inline bool row_is_gone(struct bytes layered)
{
	return *(const uint8_t *)layered.data == ROW_IS_GONE;
}

/* As it lies in the store. */
static inline struct bytes row_marked(struct bytes layered)
{
	return BYTES((const uint8_t *)layered.data + 1, layered.len - 1);
}

/* state_each.c. A cursor for the rows whose keys begin with the prefix; it rests between two uses. */
struct store_cursor *state_take_cursor(const struct state *state, struct bytes prefix);
void state_rest_cursor(const struct state *state, struct bytes prefix, struct store_cursor *cursor);
/* To be called whenever the store has changed: the cursor that rests sees it as it was. */
void state_end_resting(struct state *state);

/* row_cache.c. True: the store has no row of the table that this key, or this beginning of keys, belongs to. */
bool state_store_lacks(const struct state *state, struct bytes key);
/* A row is put into the store; `key_before`: the row that was put just before, or empty. */
void state_put_into(struct state *state, struct bytes key, struct bytes key_before);

/* retention.c */
void row_mark(const struct state *state, uint8_t ret[ROW_MARK_LEN]);
/* The value behind the mark; false: it is forgotten, as if it were not there. */
bool row_open(const struct state *state, struct bytes marked, struct bytes *ret_value);
int retention_open(struct state *state);
void retention_write(const struct state *state, struct store_batch *batch);
bool row_open_stored(const struct state *state, struct bytes stored, struct bytes *ret_value);

#endif
