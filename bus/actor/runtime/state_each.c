/*
 * state_each.c: walks the three layers of state.c in one order
 *
 * Owns:      the resting cursor of the last walk: a new one costs more than most walks, so the next walk
 *            takes it, until the store changes.
 * Promises:  each row once, with the uppermost layer's value, sorted by (shop, key); a walk may begin while
 *            another one goes on.
 */
#include "bus/actor/runtime/state_rows.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/text.h"

void state_end_resting(struct state *state)
{
	store_cursor_free(TAKE(state->resting));
}

struct store_cursor *state_take_cursor(const struct state *state, struct bytes prefix)
{
	struct store_cursor *cursor;

	if (!state->resting || prefix.len == 0)
		return store_cursor_new_within(state->store, FAMILY_ROWS, prefix);
	cursor = TAKE(((struct state *)state)->resting);
	store_cursor_confine(cursor, prefix);
	return cursor;
}

void state_rest_cursor(const struct state *state, struct bytes prefix, struct store_cursor *cursor)
{
	if (state->resting || prefix.len == 0)
		store_cursor_free(cursor);
	else
		((struct state *)state)->resting = cursor;
}

struct merge {
	const struct state *state;
	struct sorted_map_entry *overlay, *folded;
	struct store_cursor *store; /* NULL: the store has no row of this table */
	bool store_has;
	struct bytes prefix;
};

static bool begins_with(struct bytes key, struct bytes prefix)
{
	return key.len >= prefix.len && memcmp(key.data, prefix.data, prefix.len) == 0;
}

static void merge_open(
	struct merge *merge, const struct state *state, struct bytes prefix, struct bytes from, bool with_overlay)
{
	merge->state = state;
	merge->prefix = prefix;
	merge->overlay = with_overlay ? sorted_map_at_or_after(state->overlay, from) : NULL;
	merge->folded = sorted_map_at_or_after(state->folded, from);
	merge->store = state_store_lacks(state, prefix) ? NULL : state_take_cursor(state, prefix);
	merge->store_has = merge->store && store_cursor_seek(merge->store, from);
}

static const struct bytes *smaller(const struct bytes *a, const struct bytes *b)
{
	return !a || (b && bytes_compare(*b, *a) < 0) ? b : a;
}

/* Copies the next row that exists; false at the end. The layers move past its key. */
static bool merge_next(struct merge *merge, struct buffer *ret_key, struct buffer *ret_value)
{
	for (;;) {
		struct bytes over = merge->overlay ? sorted_map_key(merge->overlay) : BYTES(NULL, 0);
		struct bytes folded = merge->folded ? sorted_map_key(merge->folded) : BYTES(NULL, 0);
		struct bytes stored = merge->store_has ? store_cursor_key(merge->store) : BYTES(NULL, 0);
		const struct bytes *least =
			smaller(smaller(merge->overlay ? &over : NULL, merge->folded ? &folded : NULL),
				merge->store_has ? &stored : NULL);
		struct bytes layered = { 0 }, value;

		if (!least || !begins_with(*least, merge->prefix))
			return false;
		buffer_clear(ret_key);
		buffer_add(ret_key, least->data, least->len);
		buffer_clear(ret_value);
		if (merge->store_has && bytes_equal(stored, buffer_bytes(ret_key))) {
			value = store_cursor_value(merge->store);
			buffer_add(ret_value, value.data, value.len);
			merge->store_has = store_cursor_next(merge->store);
		}
		if (merge->folded && bytes_equal(folded, buffer_bytes(ret_key))) {
			layered = sorted_map_value(merge->folded);
			merge->folded = sorted_map_next(merge->folded);
		}
		if (merge->overlay && bytes_equal(over, buffer_bytes(ret_key))) {
			layered = sorted_map_value(merge->overlay);
			merge->overlay = sorted_map_next(merge->overlay);
		}
		if (!layered.data) {
			if (!row_open_stored(merge->state, buffer_bytes(ret_value), &value))
				continue;
			if (value.len > 0)
				memmove(ret_value->data, value.data, value.len);
			ret_value->len = value.len;
			return true;
		}
		if (row_is_gone(layered) || !row_open(merge->state, row_marked(layered), &value))
			continue;
		buffer_clear(ret_value);
		buffer_add(ret_value, value.data, value.len);
		return true;
	}
}

static void merge_close(struct merge *merge)
{
	int r = merge->store ? store_cursor_status(merge->store) : 0;

	if (merge->store)
		state_rest_cursor(merge->state, merge->prefix, merge->store);
	if (r < 0)
		die("the folded state cannot be read to its end (error %d): " FOLDED_ANEW(
			    "this service's state folder") ": they are folded again",
			-r);
}

static size_t prefix_of(char to[ROW_KEY_MAX], const char *table, const char *shop, const char *prefix)
{
	if (shop)
		return row_key(to, table, shop, prefix ? prefix : "");
	return row_key(to, table, "", "") - 1; /* table NUL: any shop */
}

void state_each(const struct state *state, const char *table, const char *shop, const char *prefix, state_each_fn *each,
	void *context)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer value = { 0 };
	char at[ROW_KEY_MAX];
	struct merge merge;
	bool more = true;

	size_t len = prefix_of(at, table, shop, prefix);

	merge_open(&merge, state, BYTES(at, len), BYTES(at, len), state->turn > 0);
	while (more && merge_next(&merge, &key, &value)) {
		const char *row_shop = buffer_text(&key) + strlen(table) + 1;
		const char *row = row_shop + strlen(row_shop) + 1;

		if (shop || !prefix || strncmp(row, prefix, strlen(prefix)) == 0)
			more = each(row_shop, row, buffer_bytes(&value), context);
	}
	merge_close(&merge);
}

struct shops {
	void (*each)(const char *shop, void *context);
	void *context;
	char last[ROW_KEY_MAX];
	bool has_last; /* tells "none yet" from a shop without a name */
};

static bool first_row_of_shop(const char *shop, const char *key, struct bytes value, void *context)
{
	struct shops *shops = context;

	(void)key, (void)value;
	if (shops->has_last && strcmp(shop, shops->last) == 0)
		return true;
	TEXT_COPY(shops->last, shop);
	shops->has_last = true;
	shops->each(shop, shops->context);
	return true;
}

void state_each_shop(
	const struct state *state, const char *table, void (*each)(const char *shop, void *context), void *context)
{
	struct shops shops = { .each = each, .context = context };

	state_each(state, table, NULL, NULL, first_row_of_shop, &shops);
}

void state_each_from(const struct state *state, const char *table, const char *shop, const char *from,
	state_each_fn *each, void *context)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer value = { 0 };
	char at[ROW_KEY_MAX];
	struct merge merge;
	size_t before = row_key(at, table, shop, ""), len = row_key(at, table, shop, from);
	bool more = true;

	merge_open(&merge, state, BYTES(at, before), BYTES(at, len), state->turn > 0);
	while (more && merge_next(&merge, &key, &value))
		more = each(shop, buffer_text(&key) + before, buffer_bytes(&value), context);
	merge_close(&merge);
}

static void add_hex(struct buffer *ret, struct bytes bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		buffer_printf(ret, "%02x", ((const uint8_t *)bytes.data)[i]);
}

void state_dump(const struct state *state, struct buffer *ret)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer value = { 0 };
	struct merge merge;

	merge_open(&merge, state, BYTES("", 0), BYTES("", 0), false);
	while (merge_next(&merge, &key, &value)) {
		for (size_t i = 0; i < key.len; i++)
			buffer_add(ret, key.data[i] ? (const void *)&key.data[i] : "/", 1);
		buffer_add_text(ret, " ");
		add_hex(ret, buffer_bytes(&value));
		buffer_add_text(ret, "\n");
	}
	merge_close(&merge);
}
