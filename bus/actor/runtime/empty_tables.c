/*
 * empty_tables.c: which tables the store has no row of
 *
 * Owns:     of each (table, shop) that was asked for, and of each table over all shops, whether the store has a row of it.
 * Promises: a table that is called empty has no row in the store: it was looked for once, and state_flush, which alone puts rows
 *           there, tells the tables it puts into. One whose rows were all deleted since is not called empty until the next start.
 *           Most decisions ask for a dozen tables that hold a few rows, or none: a get or a seek each.
 * Read next: state.c, state_each.c (the callers)
 */
#include "bus/actor/runtime/state_rows.h"
#include "bus/base/folded.h"
#include "bus/base/log.h"
#include "bus/base/map.h"

enum { TABLES_MOST = 4096 }; /* of many shops: then all are looked for anew */

static const char EMPTY[] = "empty", HAS_ROWS[] = "has rows";

/* table NUL: of any shop. */
static struct bytes of_any_shop(struct bytes key)
{
	const uint8_t *end = memchr(key.data, '\0', key.len);

	return BYTES(key.data, end ? (size_t)(end - (const uint8_t *)key.data) + 1 : key.len);
}

/* table NUL shop NUL, or all that there is of it. */
static struct bytes of_one_shop(struct bytes key)
{
	size_t table_len = of_any_shop(key).len;
	const uint8_t *shop = (const uint8_t *)key.data + table_len, *end = memchr(shop, '\0', key.len - table_len);

	return BYTES(key.data, end ? (size_t)(end - shop) + table_len + 1 : key.len);
}

static void forget_all(struct state *state)
{
	map_free(state->tables);
	state->tables = map_new();
}

static void set(const struct state *state, struct bytes table, const char *known)
{
	if (map_count(state->tables) >= TABLES_MOST && !map_get(state->tables, table))
		forget_all((struct state *)state);
	map_put(state->tables, table, (void *)known);
}

static const char *look(const struct state *state, struct bytes table)
{
	struct store_cursor *cursor = state_take_cursor(state, table);
	bool has = store_cursor_seek(cursor, table);
	int r = store_cursor_status(cursor);

	state_rest_cursor(state, table, cursor);
	if (r < 0)
		die("the folded state cannot be read (error %d): " FOLDED_ANEW(
			    "this service's state folder") ": they are folded again",
			-r);
	set(state, table, has ? HAS_ROWS : EMPTY);
	return has ? HAS_ROWS : EMPTY;
}

bool state_store_lacks(const struct state *state, struct bytes key)
{
	struct bytes table = of_one_shop(key);
	const char *known;

	if (table.len == 0)
		return false;
	known = map_get(state->tables, table);
	return (known ? known : look(state, table)) == EMPTY;
}

void state_put_into(struct state *state, struct bytes key, struct bytes key_before)
{
	struct bytes table = of_one_shop(key);

	if (key_before.len >= table.len && memcmp(key_before.data, table.data, table.len) == 0)
		return;
	set(state, table, HAS_ROWS);
	set(state, of_any_shop(key), HAS_ROWS);
}
