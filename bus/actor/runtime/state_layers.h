/*
 * state_layers.h: the runtime's side of state.h
 *
 * The state has three layers: the store; the rows that were folded since the last flush, which are written to
 * the store in one batch together with the cursor; and the overlay, which has the rows that turns of this
 * session wrote and that the log has not brought back yet.
 */
#ifndef ACTOR_RUNTIME_STATE_LAYERS_H
#define ACTOR_RUNTIME_STATE_LAYERS_H

#include "bus/actor/state.h"
#include "bus/store/store.h"

struct state *state_new(struct store **store);
bool state_has_cursor(struct store *store); /* false: its rows must not be used */
/* takes NULL; rows that were not flushed are folded again at the next start */
void state_free(struct state *state);

/* --- rows of tables by their names on disk; state.h's typed tables are made of these --- */

/* `fields` describes *row. false: no such row; *ret is then all zero. */
bool state_get(const struct state *state, const char *table, const char *shop, const char *key,
	const pb_msgdesc_t *fields, void *ret_row);
bool state_has(const struct state *state, const char *table, const char *shop, const char *key);
void state_put(struct state *state, const char *table, const char *shop, const char *key, const pb_msgdesc_t *fields,
	const void *row);
void state_delete(struct state *state, const char *table, const char *shop, const char *key);

/* The same with plain bytes; state_get_bytes appends. */
bool state_get_bytes(
	const struct state *state, const char *table, const char *shop, const char *key, struct buffer *ret);
void state_put_bytes(struct state *state, const char *table, const char *shop, const char *key, struct bytes value);
/* A row whose value is a number; 0 if there is no such row. */
uint64_t state_number(const struct state *state, const char *table, const char *shop, const char *key);
void state_put_number(struct state *state, const char *table, const char *shop, const char *key, uint64_t number);

/*
 * Calls each() for the rows of a table in order of (shop, key), starting with those whose key begins with `prefix` (shop and
 * prefix may be NULL: all), until it returns false. Values are raw bytes: state_row decodes them. each() must not write.
 */
void state_each(const struct state *state, const char *table, const char *shop, const char *prefix, state_each_fn *each,
	void *context);
/* The same for one shop, starting at the first key that is not before `from`. Earlier rows are not read. */
void state_each_from(const struct state *state, const char *table, const char *shop, const char *from,
	state_each_fn *each, void *context);
/* Calls each() once for every shop that has a row in the table. */
void state_each_shop(
	const struct state *state, const char *table, void (*each)(const char *shop, void *context), void *context);
bool state_row(struct bytes value, const pb_msgdesc_t *fields, void *ret_row);

/* --- layers --- */

/* Sets the context that state_context returns to decisions of this service; `context` is borrowed. */
void state_set_context(struct state *state, const struct service *service, const void *context);
/* A fold runs between these two calls. It must not ask for the context. */
void state_begin_fold(struct state *state);
void state_end_fold(struct state *state);

/* From now on, until state_write_turn, folds write to the projected layer and read only that layer. */
void state_write_projected(struct state *state);
/*
 * From now on folds write to the overlay, tagged with this turn (> 0), and reads see all layers. Turns are
 * opened in ascending order.
 */
void state_write_turn(struct state *state, uint64_t turn);
/* drops the turn's rows, unless a later turn wrote them again */
void state_drop_turn(struct state *state, uint64_t turn);
/* drops the rows of all turns, because the session ended */
void state_drop_turns(struct state *state);

/*
 * Was a row too large to be written since the last call, in this turn (0: while a projection was folded)?
 * ret_why names the table and both sizes in bytes; `room` is the size of ret_why in bytes.
 */
bool state_take_refused(struct state *state, uint64_t turn, char *ret_why, size_t room);

/*
 * The kind of fact that wrote a row; it determines how long the row stays. state_write_fact sets it for the
 * rows that are written next. Rows of facts that the log forgets (bus.proto, Forgotten) are forgotten here at
 * the same place of the log, so a kept store and a newly folded one are equal.
 */
enum row_life {
	ROW_STAYS,  /* from a topic that is kept for ever */
	ROW_STANDS, /* from a compacted topic; it stays until a tombstone ends it */
	ROW_ENDED,  /* from a tombstone of a compacted topic */
	ROW_FACT,   /* from a fact that is not compacted */
	ROW_RAW
};
void state_write_fact(struct state *state, enum row_life life, uint64_t seq);
int state_hear_forgotten(struct state *state, struct bytes payload); /* -EBADMSG */
/* state_sweep deletes a few forgotten rows from the store; everything must have been flushed before. */
bool state_is_sweeping(const struct state *state);
int state_sweep(struct state *state);
/* an older program wrote the store: it must be folded anew, but can be read */
bool state_is_unmarked(const struct state *state);

/* moves the cursor: the projections have passed `seq`; it never goes back */
void state_pass(struct state *state, uint64_t seq);
/*
 * Writes all folded rows and the cursor in one batch, without a sync. `remembered` is the highest number that
 * this peer ever learnt.
 */
int state_flush(struct state *state);
bool state_wants_flush(const struct state *state); /* many bytes have gathered */
bool state_is_clean(const struct state *state);
/* empties the state and sets the cursor to 0; the log id and `remembered` stay */
int state_forget(struct state *state);
/* Records the layout of the rows (struct service) and forgets rows of another layout. */
int state_lay_out(struct state *state, uint64_t layout);

/*
 * What this peer knows of the log: its id, the highest number, and its opening. By this the peer notices a
 * log that has lost messages.
 */
const char *state_log_id(const struct state *state); /* "": it never met a broker */
uint64_t state_opening(const struct state *state);
uint64_t state_remembered(const struct state *state);
void state_meet(struct state *state, const char *log_id, uint64_t opening, uint64_t head);
void state_remember(struct state *state, uint64_t seq);

/* Appends every row of the projected layer, for tests: "table/shop/key value" in hex, sorted. */
void state_dump(const struct state *state, struct buffer *ret);

#endif
