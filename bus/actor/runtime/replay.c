/*
 * replay.c: runs a service's functions over a log that the caller keeps
 *
 * Owns:      one service's state and its last turn.
 * Promises:  the same folds and decisions as under runtime.c, by the same table; no effect in the world.
 * Fails by:  die() when the store of the state breaks, as a process does.
 * Read next: turn.c, state_layers.h, replay.h
 */
#include "bus/actor/runtime/replay.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/runtime/turns.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/wire/message.h"
#include <stdlib.h>

struct replay {
	struct table *table;
	struct state *state;
	uint64_t turns;
	struct buffer facts;
	uint32_t fact_count;
	Envelope found;
};

struct replay *replay_new(const struct service *service, const char *folder, char ret_why[512])
{
	return replay_new_in((struct service_context){ .service = service }, folder, ret_why);
}

struct replay *replay_new_in(struct service_context context, const char *folder, char ret_why[512])
{
	struct replay *replay;
	struct store *store = NULL;
	int r = folder ? store_open(folder, &runtime_store_options, &store, ret_why)
		       : store_open_memory(&runtime_store_options, &store);

	if (r < 0)
		return NULL;
	replay = memory_new(sizeof(*replay));
	replay->table = table_new(context.service);
	replay->state = state_new(&store);
	state_set_context(replay->state, context.service, context.context);
	return replay;
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	state_free(replay->state);
	table_free(replay->table);
	buffer_free(&replay->facts);
	free(replay);
}

const struct state *replay_state(const struct replay *replay)
{
	return replay->state;
}

void replay_fold(struct replay *replay, const struct message_meta *said, struct bytes payload)
{
	if (table_remembers(replay->table, said->topic)) {
		state_write_projected(replay->state);
		table_fold(replay->table, replay->state, said, payload);
	}
	state_pass(replay->state, said->seq);
	if (state_wants_flush(replay->state) && state_flush(replay->state) < 0)
		die("the folded state cannot be written: check the disk");
}

bool replay_hears(const struct replay *replay, const char *topic)
{
	return table_hears(replay->table, topic) != NULL;
}

bool replay_says(const struct replay *replay, const char *topic)
{
	return service_says_topic(table_service(replay->table), topic) != NULL;
}

static struct turn open_turn(struct replay *replay, const struct message_meta *message, int64_t now_us)
{
	state_write_turn(replay->state, ++replay->turns);
	return (struct turn){ .table = replay->table,
		.state = replay->state,
		.message = *message,
		.now_us = now_us,
		.run = "alone",
		.folds = true };
}

static struct replay_turn close_turn(struct replay *replay, struct turn *turn, enum verdict verdict)
{
	struct replay_turn ended = { .verdict = verdict,
		.delay_us = turn->delay_us,
		.failed = turn->failed,
		.kind = turn->kind,
		.request = turn->request,
		.facts = turn->fact_count };

	state_drop_turns(replay->state);
	buffer_clear(&replay->facts);
	buffer_add(&replay->facts, turn->facts.data, turn->facts.len);
	replay->fact_count = turn->fact_count;
	turn->request = NULL; /* the caller owns it */
	turn_end(turn);
	return ended;
}

struct replay_turn replay_decide(
	struct replay *replay, const struct message_meta *message, struct bytes payload, int64_t now_us)
{
	struct turn turn = open_turn(replay, message, now_us);
	enum verdict verdict = turn_decide(&turn, payload);

	return close_turn(replay, &turn, verdict);
}

struct replay_turn replay_claim(struct replay *replay, const struct message_meta *message, struct bytes payload,
	const struct replay_turn *working, int64_t now_us)
{
	struct turn turn = open_turn(replay, message, now_us);

	turn.folds = false;
	turn.is_claim = true;
	turn_claim(&turn, working->kind, payload, working->request);
	return close_turn(replay, &turn, TURN_DONE);
}

struct replay_turn replay_result(struct replay *replay, const struct message_meta *message, struct bytes payload,
	struct replay_turn *working, const void *result, enum claim_answer claimed, int64_t now_us)
{
	struct turn turn = open_turn(replay, message, now_us);
	enum verdict verdict = turn_effect_result(&turn, working->kind, payload, working->request, result, claimed);

	if (working->kind->request_free)
		working->kind->request_free(working->request);
	working->request = NULL;
	return close_turn(replay, &turn, verdict);
}

struct replay_turn replay_run(struct replay *replay, int64_t now_us,
	void (*run)(const struct state *state, struct turn *turn, void *context), void *context)
{
	static const struct message_meta clock = {
		.topic = "", .shop = "", .key = "", .idem = "", .trace = "", .said_by = ""
	};
	struct turn turn = open_turn(replay, &clock, now_us);

	run(replay->state, &turn, context);
	return close_turn(replay, &turn, TURN_DONE);
}

struct bytes replay_fact(struct replay *replay, uint32_t nth, struct message_meta *ret_said)
{
	struct bytes payload;

	if (message_read(turn_fact(&replay->facts, nth), &replay->found, &payload) < 0)
		die("a fact that was just said cannot be read");
	*ret_said = said_from(&replay->found, 0, replay->found.said_us, table_service(replay->table)->name);
	return payload;
}
