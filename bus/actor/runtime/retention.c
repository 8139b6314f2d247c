/*
 * retention.c: forgets the rows that came of messages which the log has forgotten
 *
 * Owns:      the mark of each row; how far the log has forgotten (rows "forgotten" and "rows" of the store's
 *            family meta); the sweep.
 * Promises:  from the moment the log says so, a row that came of a forgotten message reads as if it were not
 *            there, whether it still lies in the store or not. So reads depend on the log alone, never on a
 *            clock or on when rows are swept. The store loses such rows a few at a time, and only when it
 *            holds the reason: after the flush that holds the cursor.
 * Read next: state.c, bus/broker/log/retain.c (the broker's side)
 */
#include "bus/actor/runtime/state_rows.h"
#include <pb_decode.h>
#include <pb_encode.h>

enum { SWEEP_ROWS = 4096 };

static const char FORGOTTEN[] = "forgotten", ROWS[] = "rows", MARKED[] = "2";

void row_mark(const struct state *state, uint8_t ret[ROW_MARK_LEN])
{
	ret[0] = state->turn > 0 ? ROW_STAYS : (uint8_t)state->life; /* a row not yet in the log is not forgotten */
	put_be64(ret + 1, state->seq);
}

static bool is_forgotten(const Forgotten *forgotten, uint8_t life, uint64_t seq)
{
	switch ((enum row_life)life) {
	case ROW_STAYS:
		return false;
	case ROW_STANDS:
		return seq < forgotten->rows_before && seq < forgotten->ends_from;
	case ROW_ENDED:
		return seq < forgotten->rows_before;
	case ROW_FACT:
		return seq < forgotten->facts_before;
	case ROW_RAW:
		return seq < forgotten->raw_before;
	}
	return false;
}

bool row_open(const struct state *state, struct bytes marked, struct bytes *ret_value)
{
	const uint8_t *mark = marked.data;

	if (marked.len < ROW_MARK_LEN || is_forgotten(&state->forgotten, mark[0], get_be64(mark + 1)))
		return false;
	*ret_value = BYTES(mark + ROW_MARK_LEN, marked.len - ROW_MARK_LEN);
	return true;
}

bool row_open_stored(const struct state *state, struct bytes stored, struct bytes *ret_value)
{
	if (!state->unmarked)
		return row_open(state, stored, ret_value);
	*ret_value = stored;
	return true;
}

void state_write_fact(struct state *state, enum row_life life, uint64_t seq)
{
	state->life = life;
	state->seq = seq;
}

static bool decode(struct bytes payload, Forgotten *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(payload.data, payload.len);

	return pb_decode(&stream, Forgotten_fields, ret);
}

int state_hear_forgotten(struct state *state, struct bytes payload)
{
	Forgotten forgotten;

	if (!decode(payload, &forgotten))
		return -EBADMSG;
	state->forgotten = forgotten;
	state->sweeping = true;
	state->dirty = true;
	buffer_clear(&state->sweep_at);
	return 0;
}

/* --- in the store --- */

int retention_open(struct state *state)
{
	struct buffer row = { 0 };
	int r = store_get(state->store, FAMILY_META, bytes_of(FORGOTTEN), &row);

	if (r == 0 && !decode(buffer_bytes(&row), &state->forgotten))
		r = -EUCLEAN;
	buffer_clear(&row);
	if (r == 0 || r == -ENOENT)
		r = store_get(state->store, FAMILY_META, bytes_of(ROWS), &row);
	state->unmarked = r == -ENOENT && state->cursor > 0;
	buffer_free(&row);
	return r == -ENOENT ? 0 : r;
}

void retention_write(const struct state *state, struct store_batch *batch)
{
	uint8_t row[Forgotten_size];
	pb_ostream_t stream = pb_ostream_from_buffer(row, sizeof(row));

	if (pb_encode(&stream, Forgotten_fields, &state->forgotten))
		store_batch_put(batch, FAMILY_META, bytes_of(FORGOTTEN), BYTES(row, stream.bytes_written));
	if (!state->unmarked)
		store_batch_put(batch, FAMILY_META, bytes_of(ROWS), bytes_of(MARKED));
}

bool state_is_unmarked(const struct state *state)
{
	return state->unmarked;
}

bool state_is_sweeping(const struct state *state)
{
	return state->sweeping;
}

static bool sweep_some(struct state *state, struct store_cursor *cursor, struct store_batch *batch)
{
	bool more = store_cursor_seek(cursor, buffer_bytes(&state->sweep_at));
	struct bytes value;

	for (int i = 0; more && i < SWEEP_ROWS; i++) {
		if (!row_open_stored(state, store_cursor_value(cursor), &value))
			store_batch_delete(batch, FAMILY_ROWS, store_cursor_key(cursor));
		more = store_cursor_next(cursor);
	}
	buffer_clear(&state->sweep_at);
	if (more)
		buffer_add(&state->sweep_at, store_cursor_key(cursor).data, store_cursor_key(cursor).len);
	return more;
}

int state_sweep(struct state *state)
{
	struct store_cursor *cursor;
	struct store_batch *batch;
	int r;

	if (!state->sweeping || state->dirty)
		return 0;
	cursor = store_cursor_new(state->store, FAMILY_ROWS);
	batch = store_batch_new(state->store);
	state->sweeping = sweep_some(state, cursor, batch);
	r = store_cursor_status(cursor);
	store_cursor_free(cursor);
	if (r == 0 && store_batch_count(batch) > 0)
		r = store_commit(state->store, batch, false);
	row_cache_clear(state->cache);
	state_end_resting(state);
	store_batch_free(batch);
	return r;
}
