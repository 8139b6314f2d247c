/*
 * overlay.c: the rows that unconfirmed turns wrote
 *
 * Owns:      for each turn of this session that is not projected yet, the keys of the rows it wrote.
 * Promises:  dropping a turn drops exactly the rows of which it was the last writer.
 */
#include "bus/actor/runtime/state_rows.h"
#include "bus/base/memory.h"
#include <assert.h>
#include <stdlib.h>

struct overlay_turn {
	struct list hook;
	uint64_t turn;
	struct buffer keys; /* u32 length, key, ... */
};

static struct overlay_turn *newest(const struct state *state)
{
	if (list_empty(&state->turns))
		return NULL;
	return LIST_ENTRY(state->turns.prev, struct overlay_turn, hook);
}

void state_write_projected(struct state *state)
{
	state->turn = 0;
}

void state_write_turn(struct state *state, uint64_t turn)
{
	assert(turn > 0 && (!newest(state) || newest(state)->turn <= turn));
	state->turn = turn;
}

void overlay_note(struct state *state, struct bytes key)
{
	struct overlay_turn *open = newest(state);

	if (!open || open->turn != state->turn) {
		open = memory_new(sizeof(*open));
		open->turn = state->turn;
		list_append(&state->turns, &open->hook);
	}
	buffer_add_u32(&open->keys, (uint32_t)key.len);
	buffer_add(&open->keys, key.data, key.len);
}

static void turn_free(struct overlay_turn *turn)
{
	list_remove(&turn->hook);
	buffer_free(&turn->keys);
	free(turn);
}

static void drop_rows(struct state *state, const struct overlay_turn *turn)
{
	for (size_t at = 0; at < turn->keys.len;) {
		struct bytes key = BYTES(turn->keys.data + at + 4, get_u32(turn->keys.data + at));
		struct sorted_map_entry *entry = sorted_map_find(state->overlay, key);

		if (entry && sorted_map_tag(entry) == turn->turn)
			sorted_map_remove(state->overlay, key);
		at += 4 + key.len;
	}
}

void state_drop_turn(struct state *state, uint64_t turn)
{
	LIST_EACH_SAFE (hook, &state->turns) {
		struct overlay_turn *at = LIST_ENTRY(hook, struct overlay_turn, hook);

		if (at->turn > turn)
			return;
		if (at->turn == turn) {
			drop_rows(state, at);
			turn_free(at);
			return;
		}
	}
}

void state_drop_turns(struct state *state)
{
	LIST_EACH_SAFE (hook, &state->turns)
		turn_free(LIST_ENTRY(hook, struct overlay_turn, hook));
	sorted_map_clear(state->overlay);
	state->turn = 0;
}
