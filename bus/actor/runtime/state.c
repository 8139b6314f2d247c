/*
 * state.c: rows in three layers, of a process that runs or of its folder
 *
 * Owns:      the store of folded state, the rows lately read from it, the rows folded since the last flush,
 *            the overlay of unconfirmed turns.
 * Promises:  a read while a turn writes sees overlay, then folded, then store; a projection's fold never sees
 *            the overlay; rows and cursor reach the store in one batch. No other process writes to the store,
 *            so rows read from it hold until the next batch; rows of the layers above it are never cached.
 * Fails by:  ending the process when the store does not answer: a decision must not rest on state that cannot
 *            be read.
 * Read next: overlay.c, state_each.c, row_cache.c, runtime.c
 */
#include "bus/actor/state.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/runtime/state_rows.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/codec.h"
#include "bus/wire/frame.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>

enum { FLUSH_BYTES = 2 << 20 };

/*
 * A decision asks for some twenty rows, most of them twice, and again when its facts are folded: room for all
 * decisions that run at once.
 */
enum { CACHE_BYTES = 1 << 20 };

const struct store_options runtime_store_options = {
	.families = (const char *const[]){ "rows", "meta", NULL },
	.cache_bytes = 8 << 20,
	.write_buffer_bytes = 4 << 20,
	.falls_back = true,
	.asked_in_vain = 1 << FAMILY_ROWS,
};

static uint64_t meta_number(struct store *store, const char *name)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };

	if (store_get(store, FAMILY_META, bytes_of(name), &value) < 0 || value.len != 8)
		return 0;
	return get_be64(value.data);
}

void state_set_context(struct state *state, const struct service *service, const void *context)
{
	state->context_of = service;
	state->context = context;
}

const void *state_context(const struct state *state, const struct service *service)
{
	assert(!state->folding);
	assert(!state->context || state->context_of == service);
	return state->context;
}

void state_begin_fold(struct state *state)
{
	state->folding = true;
}

void state_end_fold(struct state *state)
{
	state->folding = false;
}

bool state_has_cursor(struct store *store)
{
	return meta_number(store, "cursor") > 0;
}

static int delete_rows(struct store *store)
{
	static const uint8_t last[] = { 0xff, 0xff, 0xff, 0xff };

	return store_delete_range(store, FAMILY_ROWS, BYTES("", 0), BYTES(last, sizeof(last)));
}

static const char EMPTYING[] = "emptying";

/*
 * Leaves nothing of the old rows in the files: an erased person may have been in them. A start after a crash
 * repeats it.
 */
static int empty_files(struct store *store)
{
	const struct store_range all = { .family = FAMILY_ROWS };
	struct store_batch *batch;
	int r = delete_rows(store);

	r = r ? r : store_purge(store, &all, 1);
	r = r ? r : store_reopen(store);
	if (r < 0)
		return r;
	batch = store_batch_new(store);
	store_batch_delete(batch, FAMILY_META, bytes_of(EMPTYING));
	r = store_commit(store, batch, false);
	store_batch_free(batch);
	return r;
}

/* Rows of a store without a cursor cannot be trusted. */
static int begin_empty(struct store *store)
{
	_cleanup_(buffer_free) struct buffer row = { 0 };
	int r = store_get(store, FAMILY_META, bytes_of(EMPTYING), &row);

	return r == 0 ? empty_files(store) : r == -ENOENT ? delete_rows(store) : r;
}

struct state *state_new(struct store **store)
{
	struct state *state = memory_new(sizeof(*state));
	_cleanup_(buffer_free) struct buffer log_id = { 0 };

	state->store = TAKE(*store);
	state->cache = row_cache_new(CACHE_BYTES);
	state->tables = map_new();
	state->folded = sorted_map_new();
	state->overlay = sorted_map_new();
	list_init(&state->turns);
	state->cursor = meta_number(state->store, "cursor");
	state->remembered = meta_number(state->store, "remembered");
	state->opening = meta_number(state->store, "opening");
	state->layout = meta_number(state->store, "layout");
	if (retention_open(state) < 0)
		die("the folded state cannot be read: %s", store_why(state->store));
	if (store_get(state->store, FAMILY_META, bytes_of("log"), &log_id) == 0)
		TEXT_COPY(state->log_id, buffer_text(&log_id));
	if (state->cursor == 0 && begin_empty(state->store) < 0)
		die("the folded state cannot be emptied: %s", store_why(state->store));
	return state;
}

void state_free(struct state *state)
{
	if (!state)
		return;
	state_drop_turns(state);
	sorted_map_free(state->overlay);
	sorted_map_free(state->folded);
	row_cache_free(state->cache);
	map_free(state->tables);
	state_end_resting(state);
	store_close(state->store);
	buffer_free(&state->scratch);
	buffer_free(&state->writing);
	buffer_free(&state->sweep_at);
	free(state);
}

size_t row_key(char to[ROW_KEY_MAX], const char *table, const char *shop, const char *key)
{
	size_t table_len = strlen(table) + 1, shop_len = strlen(shop) + 1, key_len = strlen(key);

	assert(table_len + shop_len + key_len <= ROW_KEY_MAX);
	memcpy(to, table, table_len);
	memcpy(to + table_len, shop, shop_len);
	memcpy(to + table_len + shop_len, key, key_len);
	return table_len + shop_len + key_len;
}

/* data NULL: the store has no such row. */
static struct bytes find_stored(const struct state *state, struct bytes key)
{
	struct buffer *scratch = (struct buffer *)&state->scratch;
	struct bytes row;
	int r;

	if (state_store_lacks(state, key))
		return BYTES(NULL, 0);
	if (row_cache_get(state->cache, key, &row))
		return row;
	buffer_clear(scratch);
	r = store_get(state->store, FAMILY_ROWS, key, scratch);
	if (r < 0 && r != -ENOENT)
		die("the folded state cannot be read: %s", store_why(state->store));
	row = r == 0 ? BYTES(buffer_text(scratch), scratch->len) : BYTES(NULL, 0);
	row_cache_put(state->cache, key, row);
	return row;
}

/* The result is borrowed until the next read or write. */
static bool find_row(const struct state *state, struct bytes key, struct bytes *ret)
{
	struct sorted_map_entry *entry = state->turn > 0 ? sorted_map_find(state->overlay, key) : NULL;
	struct bytes stored;

	if (!entry)
		entry = sorted_map_find(state->folded, key);
	if (entry)
		return !row_is_gone(sorted_map_value(entry)) &&
			row_open(state, row_marked(sorted_map_value(entry)), ret);
	stored = find_stored(state, key);
	return stored.data && row_open_stored(state, stored, ret);
}

static void write_row(struct state *state, struct bytes key, struct bytes value)
{
	if (state->turn > 0) {
		overlay_note(state, key);
		sorted_map_put(state->overlay, key, value, state->turn);
		return;
	}
	sorted_map_put(state->folded, key, value, 0);
	state->folded_bytes += key.len + value.len + 64;
	state->dirty = true;
}

bool state_row(struct bytes value, const pb_msgdesc_t *fields, void *ret_row)
{
	return codec_read(codec_of(fields), value, ret_row) == 0;
}

bool state_get(const struct state *state, const char *table, const char *shop, const char *key,
	const pb_msgdesc_t *fields, void *ret_row)
{
	char at[ROW_KEY_MAX];
	struct bytes value;

	if (!find_row(state, BYTES(at, row_key(at, table, shop, key)), &value)) {
		state_row(BYTES("", 0), fields, ret_row);
		return false;
	}
	if (!state_row(value, fields, ret_row))
		die("a row of table %s does not decode: " FOLDED_ANEW(
			    "this service's state folder") ": they are folded again",
			table);
	return true;
}

bool state_has(const struct state *state, const char *table, const char *shop, const char *key)
{
	char at[ROW_KEY_MAX];
	struct bytes value;

	return find_row(state, BYTES(at, row_key(at, table, shop, key)), &value);
}

bool state_get_bytes(
	const struct state *state, const char *table, const char *shop, const char *key, struct buffer *ret)
{
	char at[ROW_KEY_MAX];
	struct bytes value;

	if (!find_row(state, BYTES(at, row_key(at, table, shop, key)), &value))
		return false;
	buffer_add(ret, value.data, value.len);
	return true;
}

_Static_assert((int)STATE_ROW_BYTES_MAX == (int)MESSAGE_BYTES_MAX, "a row holds whatever a message holds");

static bool fits(struct state *state, const char *table, size_t size)
{
	if (size <= STATE_ROW_BYTES_MAX)
		return true;
	snprintf(state->refused_row, sizeof(state->refused_row),
		"a row of table %.40s would have %zu bytes, and a row holds at most %d", table, size,
		STATE_ROW_BYTES_MAX);
	state->refused_turn = state->turn;
	return false;
}

bool state_take_refused(struct state *state, uint64_t turn, char *ret_why, size_t room)
{
	if (state->refused_row[0] == '\0' || state->refused_turn != turn)
		return false;
	text_copy(ret_why, room, state->refused_row);
	state->refused_row[0] = '\0';
	return true;
}

/* A row without its value, which is to be added. */
static struct buffer *begin_row(struct state *state)
{
	const uint8_t there = ROW_IS_THERE;
	uint8_t mark[ROW_MARK_LEN];

	row_mark(state, mark);
	buffer_clear(&state->writing);
	buffer_add(&state->writing, &there, 1);
	buffer_add(&state->writing, mark, sizeof(mark));
	return &state->writing;
}

void state_put_bytes(struct state *state, const char *table, const char *shop, const char *key, struct bytes value)
{
	struct buffer *row = begin_row(state);
	char at[ROW_KEY_MAX];

	if (!fits(state, table, value.len))
		return;
	buffer_add(row, value.data, value.len);
	write_row(state, BYTES(at, row_key(at, table, shop, key)), buffer_bytes(row));
}

void state_put(struct state *state, const char *table, const char *shop, const char *key, const pb_msgdesc_t *fields,
	const void *row)
{
	struct buffer *written = begin_row(state);
	const struct codec *codec = codec_of(fields);
	size_t size = codec_size(codec, row);
	char at[ROW_KEY_MAX];

	if (!fits(state, table, size))
		return;
	written->len += codec_write(codec, row, buffer_grow(written, size));
	write_row(state, BYTES(at, row_key(at, table, shop, key)), buffer_bytes(written));
}

void state_delete(struct state *state, const char *table, const char *shop, const char *key)
{
	char at[ROW_KEY_MAX];
	const uint8_t gone = ROW_IS_GONE;

	write_row(state, BYTES(at, row_key(at, table, shop, key)), BYTES(&gone, 1));
}

uint64_t state_number(const struct state *state, const char *table, const char *shop, const char *key)
{
	char at[ROW_KEY_MAX];
	struct bytes value;

	if (!find_row(state, BYTES(at, row_key(at, table, shop, key)), &value) || value.len != 8)
		return 0;
	return get_be64(value.data);
}

void state_put_number(struct state *state, const char *table, const char *shop, const char *key, uint64_t number)
{
	uint8_t value[8];

	put_be64(value, number);
	state_put_bytes(state, table, shop, key, BYTES(value, sizeof(value)));
}

uint64_t state_cursor(const struct state *state)
{
	return state->cursor;
}

void state_pass(struct state *state, uint64_t seq)
{
	if (seq <= state->cursor)
		return;
	state->cursor = seq;
	state->dirty = true;
	state_remember(state, seq);
}

uint64_t state_remembered(const struct state *state)
{
	return state->remembered;
}

void state_remember(struct state *state, uint64_t seq)
{
	if (seq <= state->remembered)
		return;
	state->remembered = seq;
	state->dirty = true;
}

const char *state_log_id(const struct state *state)
{
	return state->log_id;
}

uint64_t state_opening(const struct state *state)
{
	return state->opening;
}

void state_meet(struct state *state, const char *log_id, uint64_t opening, uint64_t head)
{
	state_remember(state, head);
	if (strcmp(state->log_id, log_id) == 0 && state->opening == opening)
		return;
	TEXT_COPY(state->log_id, log_id);
	state->opening = opening;
	state->dirty = true;
}

bool state_wants_flush(const struct state *state)
{
	return state->folded_bytes >= FLUSH_BYTES;
}

bool state_is_clean(const struct state *state)
{
	return !state->dirty;
}

static void batch_number(struct store_batch *batch, const char *name, uint64_t number)
{
	uint8_t value[8];

	put_be64(value, number);
	store_batch_put(batch, FAMILY_META, bytes_of(name), BYTES(value, sizeof(value)));
}

static int commit(struct state *state, struct store_batch *batch)
{
	int r;

	batch_number(batch, "cursor", state->cursor);
	batch_number(batch, "remembered", state->remembered);
	batch_number(batch, "opening", state->opening);
	batch_number(batch, "layout", state->layout);
	retention_write(state, batch);
	store_batch_put(batch, FAMILY_META, bytes_of("log"), bytes_of(state->log_id));
	r = store_commit(state->store, batch, false);
	state_end_resting(state);
	if (r == 0)
		state->dirty = false;
	return r;
}

static void renew_cache(struct state *state)
{
	for (struct sorted_map_entry *at = sorted_map_first(state->folded); at; at = sorted_map_next(at)) {
		struct bytes row = sorted_map_value(at);

		row_cache_renew(state->cache, sorted_map_key(at), row_is_gone(row) ? BYTES(NULL, 0) : row_marked(row));
	}
}

static void batch_folded(struct state *state, struct store_batch *batch)
{
	struct bytes put = { 0 };

	for (struct sorted_map_entry *at = sorted_map_first(state->folded); at; at = sorted_map_next(at)) {
		if (row_is_gone(sorted_map_value(at))) {
			store_batch_delete(batch, FAMILY_ROWS, sorted_map_key(at));
			continue;
		}
		store_batch_put(batch, FAMILY_ROWS, sorted_map_key(at), row_marked(sorted_map_value(at)));
		state_put_into(state, sorted_map_key(at), put);
		put = sorted_map_key(at);
	}
}

int state_flush(struct state *state)
{
	struct store_batch *batch;
	int r;

	if (!state->dirty)
		return 0;
	batch = store_batch_new(state->store);
	batch_folded(state, batch);
	r = commit(state, batch);
	store_batch_free(batch);
	if (r < 0)
		return r;
	renew_cache(state);
	sorted_map_clear(state->folded);
	state->folded_bytes = 0;
	return 0;
}

/*
 * Deletes the cursor first: rows without a cursor are thrown away when the store is opened, a cursor without
 * rows would be trusted.
 */
int state_forget(struct state *state)
{
	struct store_batch *batch;
	int r;

	state_drop_turns(state);
	sorted_map_clear(state->folded);
	state->folded_bytes = 0;
	row_cache_clear(state->cache);
	state->cursor = 0;
	state->forgotten = (Forgotten){ 0 };
	state->unmarked = state->sweeping = false;
	batch = store_batch_new(state->store);
	store_batch_put(batch, FAMILY_META, bytes_of(EMPTYING), bytes_of("1"));
	r = commit(state, batch);
	store_batch_free(batch);
	return r < 0 ? r : empty_files(state->store);
}

int state_lay_out(struct state *state, uint64_t layout)
{
	bool other = state->layout != layout && state->cursor > 0;

	state->layout = layout;
	return other ? state_forget(state) : 0;
}

/* The folded state of a process that does not run. */

bool state_folder_is_in_use(const char *path)
{
	return store_is_in_use(path);
}

int state_open_folder(const char *path, struct state **ret, char ret_why[512])
{
	struct store *store = NULL;
	int r = store_open_read_only(path, &runtime_store_options, &store, ret_why);
	bool is_empty = r == -ENOENT || (r == 0 && !state_has_cursor(store));

	if (is_empty) { /* the service itself would empty it, and this process may not write */
		store_close(store);
		r = store_open_memory(&runtime_store_options, &store);
	}
	if (r == 0)
		*ret = state_new(&store);
	return r;
}

void state_close_folder(struct state *state)
{
	state_free(state);
}

const char *state_folder_log_id(const struct state *state)
{
	return state_log_id(state);
}
