/*
 * state.h: what a service has folded from the log
 *
 * Rows in tables, keyed by (table, shop, key), sorted by key within a table and shop. Only folds write. Two layers: facts that
 * the broker has projected lie in the service's store; facts that this session said and that were not projected yet lie over
 * it, so that a decision sees the ones before it. If a turn is refused the upper layer is dropped.
 *
 * Names contain no NUL. Values are nanopb messages or plain bytes of at most 64 KB.
 */
#ifndef ACTOR_STATE_H
#define ACTOR_STATE_H

#include "bus/base/bytes.h"
#include <pb.h>

struct state;

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
typedef bool state_each_fn(const char *shop, const char *key, struct bytes value, void *context);
void state_each(const struct state *state, const char *table, const char *shop, const char *prefix, state_each_fn *each,
	void *context);
/* The same for one shop, starting at the first key that is not before `from`: what lies before it is not even looked at. */
void state_each_from(const struct state *state, const char *table, const char *shop, const char *from,
	state_each_fn *each, void *context);
/* Calls each() once for every shop that has a row in the table. */
void state_each_shop(
	const struct state *state, const char *table, void (*each)(const char *shop, void *context), void *context);
bool state_row(struct bytes value, const pb_msgdesc_t *fields, void *ret_row);

/* The projections have passed this sequence number. */
uint64_t state_cursor(const struct state *state);

#endif
