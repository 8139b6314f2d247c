/*
 * state.h: what a service has folded from the log
 *
 * Rows in tables, keyed by (table, shop, key), sorted by key within a table and shop. Only folds write. There
 * are two layers: rows of facts that the broker has projected are in the service's store; rows of facts that
 * this session said and that were not projected yet lie over it, so that a decision sees the decisions before
 * it. If a turn is refused, the upper layer is dropped.
 *
 * A table is declared once, with the name that it has on disk and the type of its rows:
 *
 *     STATE_TABLE(suppressed, "suppressed", Suppression);      rows are messages of this type
 *     STATE_BORROWING(documents, "document", Document);        rows are messages with a borrowed field (proto/borrowed.h)
 *     STATE_STRUCTS(pace, "pace", struct pace_row);            rows are plain structs, see below
 *     STATE_NUMBERS(version, "version");                       rows are numbers
 *     STATE_STRINGS(zone, "zone");                             rows are plain bytes, perhaps none
 *
 * and used by that identifier. A table that is not declared, and a row of another type, do not compile:
 *
 *     STATE_GET(state, suppressed, shop, key, &row)            false: no such row; `row` is then all zero
 *     STATE_GET_BORROWED(state, documents, shop, key, &bytes, &row)    the same: `row` points into `bytes`, a buffer that the caller
 *                                                              frees after its last use of `row`
 *     STATE_PUT(state, suppressed, shop, key, &row)
 *     STATE_HAS, STATE_DELETE(state, suppressed, shop, key)
 *     STATE_NUMBER(state, version, shop, key)                  0 when there is none
 *     STATE_PUT_NUMBER(state, version, shop, key, 7)
 *     STATE_GET_STRING(state, zone, shop, key, &buffer)        appends; false: no such row
 *     STATE_PUT_STRING(state, zone, shop, key, bytes)
 *     STATE_EACH(state, suppressed, shop, prefix, each, context)
 *
 * A row of STATE_STRUCTS is the bytes of a struct in the store of one machine, never sent anywhere. The
 * struct must have no padding, or must be zeroed as a whole (by STATE_GET), because rows are compared as
 * bytes. A row of another size was written by another version and reads as missing.
 *
 * Names contain no NUL. A row has at most STATE_ROW_BYTES_MAX bytes.
 */
#ifndef ACTOR_STATE_H
#define ACTOR_STATE_H

#include "bus/base/bytes.h"
#include <pb.h>

struct state;

/*
 * As large as a message may be (bus/wire/frame.h), so a row that keeps one message always fits. A larger row
 * is not written; the row that was there stays. If the facts of a decision would fold to such a row, the
 * message becomes a dead letter and the facts are not said.
 */
enum { STATE_ROW_BYTES_MAX = 1 << 20 };

struct state_table {
	const char *name;            /* on disk */
	const pb_msgdesc_t *message; /* of STATE_TABLE; else NULL */
	size_t size;                 /* of a decoded row or a struct; 0: it varies */
};
/* The rows of tables of these kinds have no type of their own. Never defined. */
struct state_number_row;
struct state_string_row;

#define STATE_TABLE(name, text, type)                                                                                  \
	typedef type state_owned_##name;                                                                               \
	STATE_BORROWING(name, text, type)
#define STATE_BORROWING(name, text, type)                                                                              \
	STATE_DECLARE(name, type, text, &type##_msg, sizeof(type));                                                    \
	STATE_DECLARE_WALK(name, const type *, type row, state_read_row(&state_table_##name, value, &row), &row)
#define STATE_STRUCTS(name, text, type)                                                                                \
	typedef type state_owned_##name;                                                                               \
	STATE_DECLARE(name, type, text, NULL, sizeof(type));                                                           \
	STATE_DECLARE_WALK(name, const type *, type row, state_read_row(&state_table_##name, value, &row), &row)
#define STATE_NUMBERS(name, text)                                                                                      \
	STATE_DECLARE(name, struct state_number_row, text, NULL, 0);                                                   \
	STATE_DECLARE_WALK(name, uint64_t, uint64_t row, state_read_number(value, &row), row)
#define STATE_STRINGS(name, text)                                                                                      \
	STATE_DECLARE(name, struct state_string_row, text, NULL, 0);                                                   \
	STATE_DECLARE_WALK(name, struct bytes, struct bytes row = value, true, row)

#define STATE_GET(state, table, shop, key, ret_row)                                                                    \
	state_get_row((state), &state_table_##table, (shop), (key),                                                    \
		_Generic((ret_row), state_owned_##table *                                                              \
			 : (ret_row)))
#define STATE_GET_BORROWED(state, table, shop, key, ret_bytes, ret_row)                                                \
	state_get_borrowed((state), &state_table_##table, (shop), (key), (ret_bytes),                                  \
		_Generic((ret_row), state_row_##table *                                                                \
			 : (ret_row)))
#define STATE_PUT(state, table, shop, key, row)                                                                        \
	state_put_row((state), &state_table_##table, (shop), (key),                                                    \
		_Generic((row), state_row_##table * : (row), const state_row_##table * : (row)))
#define STATE_HAS(state, table, shop, key) state_has_row((state), &state_table_##table, (shop), (key))
#define STATE_DELETE(state, table, shop, key) state_delete_row((state), &state_table_##table, (shop), (key))

#define STATE_NUMBER(state, table, shop, key)                                                                          \
	state_get_number((state), STATE_OF_KIND(table, state_number_row), (shop), (key))
#define STATE_PUT_NUMBER(state, table, shop, key, number)                                                              \
	state_set_number((state), STATE_OF_KIND(table, state_number_row), (shop), (key), (number))
#define STATE_GET_STRING(state, table, shop, key, ret)                                                                 \
	state_get_string((state), STATE_OF_KIND(table, state_string_row), (shop), (key), (ret))
#define STATE_PUT_STRING(state, table, shop, key, value)                                                               \
	state_put_string((state), STATE_OF_KIND(table, state_string_row), (shop), (key), (value))

/*
 * Calls each(shop, key, row, context) for the rows in order of (shop, key), those whose key begins with
 * `prefix` (shop and prefix may be NULL: all), until it returns false. `row` is a const pointer of the
 * table's type, the number, or the bytes. each() must not write. A row that cannot be decoded is skipped.
 */
#define STATE_EACH(state, table, shop, prefix, each, context)                                                          \
	state_walk((state), &state_table_##table, (shop), (prefix), state_step_##table,                                \
		&(struct state_walk_##table){ (each), (context) })
/* The same for one shop, starting at the first key that is not before `from`. Earlier rows are not read. */
#define STATE_EACH_FROM(state, table, shop, from, each, context)                                                       \
	state_walk_from((state), &state_table_##table, (shop), (from), state_step_##table,                             \
		&(struct state_walk_##table){ (each), (context) })
/* The same without the rows, which are not decoded: each(shop, key, context). */
typedef bool state_each_key_fn(const char *shop, const char *key, void *context);
#define STATE_EACH_KEY(state, table, shop, prefix, each, context)                                                      \
	state_walk_keys((state), &state_table_##table, (shop), (prefix), (each), (context))
/* Calls each() once for every shop that has a row in the table. */
#define STATE_EACH_SHOP(state, table, each, context) state_walk_shops((state), &state_table_##table, (each), (context))

/* For functions that take any table and do not read its rows. */
#define STATE_HANDLE(table) (&state_table_##table)

/* --- the functions behind the macros --- */

#define STATE_DECLARE(identifier, type, text, descriptor, room)                                                        \
	typedef type state_row_##identifier;                                                                           \
	static const struct state_table state_table_##identifier                                                       \
		__attribute__((unused)) = { .name = (text), .message = (descriptor), .size = (room) }
/* Turns a row's bytes into the argument of each(). */
#define STATE_DECLARE_WALK(name, type, declare_row, read, row_given)                                                   \
	struct state_walk_##name {                                                                                     \
		bool (*each)(const char *shop, const char *key, type row, void *context);                              \
		void *context;                                                                                         \
	};                                                                                                             \
	__attribute__((unused)) static bool state_step_##name(                                                         \
		const char *shop, const char *key, struct bytes value, void *context)                                  \
	{                                                                                                              \
		struct state_walk_##name *walk = context;                                                              \
		declare_row;                                                                                           \
                                                                                                                       \
		return !(read) || walk->each(shop, key, row_given, walk->context);                                     \
	}                                                                                                              \
	_Static_assert(sizeof(struct state_walk_##name) > 0, "")
#define STATE_OF_KIND(table, kind) _Generic((state_row_##table *)0, struct kind * : &state_table_##table)

bool state_get_row(
	const struct state *state, const struct state_table *table, const char *shop, const char *key, void *ret_row);
bool state_get_borrowed(const struct state *state, const struct state_table *table, const char *shop, const char *key,
	struct buffer *ret_bytes, void *ret_row);
void state_put_row(
	struct state *state, const struct state_table *table, const char *shop, const char *key, const void *row);
bool state_has_row(const struct state *state, const struct state_table *table, const char *shop, const char *key);
void state_delete_row(struct state *state, const struct state_table *table, const char *shop, const char *key);
uint64_t state_get_number(
	const struct state *state, const struct state_table *table, const char *shop, const char *key);
void state_set_number(
	struct state *state, const struct state_table *table, const char *shop, const char *key, uint64_t number);
bool state_get_string(const struct state *state, const struct state_table *table, const char *shop, const char *key,
	struct buffer *ret);
void state_put_string(
	struct state *state, const struct state_table *table, const char *shop, const char *key, struct bytes value);

bool state_read_row(const struct state_table *table, struct bytes value, void *ret_row);
bool state_read_number(struct bytes value, uint64_t *ret);
typedef bool state_each_fn(const char *shop, const char *key, struct bytes value, void *context);
void state_walk(const struct state *state, const struct state_table *table, const char *shop, const char *prefix,
	state_each_fn *step, void *walk);
void state_walk_from(const struct state *state, const struct state_table *table, const char *shop, const char *from,
	state_each_fn *step, void *walk);
void state_walk_keys(const struct state *state, const struct state_table *table, const char *shop, const char *prefix,
	state_each_key_fn *each, void *context);
void state_walk_shops(const struct state *state, const struct state_table *table,
	void (*each)(const char *shop, void *context), void *context);

/*
 * The context that this instance of `service` was given at its start; NULL: none. Only the typed accessor of
 * SERVICE_CONTEXT (service.h) calls this. It is a bug (assert) to ask for another service's context, or to
 * ask in a fold, because rows must depend on the log alone.
 */
struct service;
const void *state_context(const struct state *state, const struct service *service);

/* The projections have passed this sequence number. */
uint64_t state_cursor(const struct state *state);

/* The folded state of a process that does not run, for the operator's command. */
bool state_folder_is_in_use(const char *path); /* true: its process runs */
/*
 * Opens the state without changing the folder; later writes stay in memory. A negative value: it cannot be
 * read; ret_why gives the reason in words.
 */
int state_open_folder(const char *path, struct state **ret, char ret_why[512]);
void state_close_folder(struct state *state);               /* takes NULL */
const char *state_folder_log_id(const struct state *state); /* of the log it was folded from; "": none yet */

#endif
