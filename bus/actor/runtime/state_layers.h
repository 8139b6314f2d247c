/*
 * state_layers.h: the runtime's side of state.h
 *
 * Three layers lie over one another: the store, what was folded since the last flush (written back in one batch, together with
 * the cursor), and the overlay: rows that turns of this session wrote and that the log has not brought back yet.
 */
#ifndef ACTOR_RUNTIME_STATE_LAYERS_H
#define ACTOR_RUNTIME_STATE_LAYERS_H

#include "bus/actor/state.h"
#include "bus/store/store.h"

struct state *state_new(struct store **store);
bool state_has_cursor(struct store *store); /* false: it has no rows that anybody may believe */
void state_free(struct state *state);       /* takes NULL; what was not flushed is folded again next time */

/* --- rows of tables by their names on disk: what state.h's typed tables are made of --- */

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
/* A number as the value; 0 when there is none. */
uint64_t state_number(const struct state *state, const char *table, const char *shop, const char *key);
void state_put_number(struct state *state, const char *table, const char *shop, const char *key, uint64_t number);

/*
 * Calls each() for the rows of a table in order of (shop, key), starting with those whose key begins with `prefix` (shop and
 * prefix may be NULL: all), until it returns false. Values are raw bytes: state_row decodes them. each() must not write.
 */
void state_each(const struct state *state, const char *table, const char *shop, const char *prefix, state_each_fn *each,
	void *context);
/* The same for one shop, starting at the first key that is not before `from`: what lies before it is not even looked at. */
void state_each_from(const struct state *state, const char *table, const char *shop, const char *from,
	state_each_fn *each, void *context);
/* Calls each() once for every shop that has a row in the table. */
void state_each_shop(
	const struct state *state, const char *table, void (*each)(const char *shop, void *context), void *context);
bool state_row(struct bytes value, const pb_msgdesc_t *fields, void *ret_row);

/* --- layers --- */

/* What state_context gives to decisions of this service; `context` is borrowed. */
void state_set_context(struct state *state, const struct service *service, const void *context);
/* Between these two a fold runs, which must not ask for it. */
void state_begin_fold(struct state *state);
void state_end_fold(struct state *state);

/* Folds write to the projected layer and read nothing but it, until state_write_turn. */
void state_write_projected(struct state *state);
/* Folds write to the overlay, tagged with this turn (> 0); turns are opened in ascending order. Reads see it all. */
void state_write_turn(struct state *state, uint64_t turn);
void state_drop_turn(struct state *state, uint64_t turn); /* its rows, unless a later turn wrote them again */
void state_drop_turns(struct state *state);               /* all: the session ended */

/*
 * Was a row too large to be written since the last call, in this turn (0: while a projection was folded)? ret_why names the table and
 * both sizes.
 */
bool state_take_refused(struct state *state, uint64_t turn, char *ret_why, size_t room);

/*
 * Why a row is there, and so how long: the rows that are written next come of this fact. What the log forgets (bus.proto,
 * Forgotten) is forgotten here at the same place of the log, so that a store that was kept and one that is folded anew are the same.
 */
enum row_life {
	ROW_STAYS,  /* of what is kept for ever */
	ROW_STANDS, /* of a compacted topic: until it is ended */
	ROW_ENDED,  /* of a compacted topic, by a tombstone */
	ROW_FACT,   /* of facts that are not compacted */
	ROW_RAW
};
void state_write_fact(struct state *state, enum row_life life, uint64_t seq);
int state_hear_forgotten(struct state *state, struct bytes payload); /* -EBADMSG */
/* Takes a few forgotten rows out of the store; everything must have been flushed. */
bool state_is_sweeping(const struct state *state);
int state_sweep(struct state *state);
bool state_is_unmarked(
	const struct state *state); /* an older program wrote it: it must be folded anew, but can be read */

void state_pass(struct state *state, uint64_t seq); /* the projections have passed this; never goes back */
/* Everything folded and the cursor, in one batch without sync. `remembered`: the highest number this peer ever learnt. */
int state_flush(struct state *state);
bool state_wants_flush(const struct state *state); /* much has gathered */
bool state_is_clean(const struct state *state);
int state_forget(struct state *state); /* empty, cursor 0; log id and remembered stay */
/* From now on rows are laid out so (struct service); forgets the ones that were not. */
int state_lay_out(struct state *state, uint64_t layout);

/* What this peer knows of the log, so that it notices one that has forgotten: which, the highest number, and in which opening. */
const char *state_log_id(const struct state *state); /* "" : never met a broker */
uint64_t state_opening(const struct state *state);
uint64_t state_remembered(const struct state *state);
void state_meet(struct state *state, const char *log_id, uint64_t opening, uint64_t head);
void state_remember(struct state *state, uint64_t seq);

/* Every row of the projected layer, for tests: "table/shop/key value" in hex, sorted. */
void state_dump(const struct state *state, struct buffer *ret);

#endif
