/*
 * replay.c: a service's functions over a log that somebody else keeps
 *
 * Owns:      one service's state and its last turn.
 * Promises:  the same folds and decisions as under runtime.c, by the same table; nothing of the world is touched.
 * Fails by:  die() when the store of the state breaks, as a process does.
 * Read next: turn.c, layers.h, replay.h
 */
#include "bus/actor/runtime/replay.h"
#include "bus/actor/runtime/layers.h"
#include "bus/actor/runtime/runtime.h"
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
	struct replay *alone;
	struct store *store = NULL;
	int r = folder ? store_open(folder, &runtime_store_options, &store, ret_why)
		       : store_open_memory(&runtime_store_options, &store);

	if (r < 0)
		return NULL;
	alone = memory_new(sizeof(*alone));
	alone->table = table_new(context.service);
	alone->state = state_new(&store);
	state_set_context(alone->state, context.service, context.context);
	return alone;
}

void replay_free(struct replay *alone)
{
	if (!alone)
		return;
	state_free(alone->state);
	table_free(alone->table);
	buffer_free(&alone->facts);
	free(alone);
}

const struct state *replay_state(const struct replay *alone)
{
	return alone->state;
}

void replay_fold(struct replay *alone, const struct message_meta *said, struct bytes payload)
{
	if (table_remembers(alone->table, said->topic)) {
		state_write_projected(alone->state);
		table_fold(alone->table, alone->state, said, payload);
	}
	state_pass(alone->state, said->seq);
	if (state_wants_flush(alone->state) && state_flush(alone->state) < 0)
		die("the folded state cannot be written: check the disk");
}

bool replay_hears(const struct replay *alone, const char *topic)
{
	return table_hears(alone->table, topic) != NULL;
}

bool replay_says(const struct replay *alone, const char *topic)
{
	return service_says_topic(table_service(alone->table), topic) != NULL;
}

static struct turn open_turn(struct replay *alone, const struct message_meta *message, int64_t now_us)
{
	state_write_turn(alone->state, ++alone->turns);
	return (struct turn){ .table = alone->table,
		.state = alone->state,
		.message = *message,
		.now_us = now_us,
		.run = "alone",
		.folds = true };
}

static struct replay_turn close_turn(struct replay *alone, struct turn *turn, enum verdict verdict)
{
	struct replay_turn ended = { .verdict = verdict,
		.delay_us = turn->delay_us,
		.failed = turn->failed,
		.kind = turn->kind,
		.request = turn->request,
		.facts = turn->fact_count };

	state_drop_turns(alone->state);
	buffer_clear(&alone->facts);
	buffer_add(&alone->facts, turn->facts.data, turn->facts.len);
	alone->fact_count = turn->fact_count;
	turn->request = NULL; /* the caller's */
	turn_end(turn);
	return ended;
}

struct replay_turn replay_decide(
	struct replay *alone, const struct message_meta *message, struct bytes payload, int64_t now_us)
{
	struct turn turn = open_turn(alone, message, now_us);
	enum verdict verdict = turn_decide(&turn, payload);

	return close_turn(alone, &turn, verdict);
}

struct replay_turn replay_claim(struct replay *alone, const struct message_meta *message, struct bytes payload,
	const struct replay_turn *working, int64_t now_us)
{
	struct turn turn = open_turn(alone, message, now_us);

	turn.folds = false;
	turn.is_claim = true;
	turn_claim(&turn, working->kind, payload, working->request);
	return close_turn(alone, &turn, TURN_DONE);
}

struct replay_turn replay_result(struct replay *alone, const struct message_meta *message, struct bytes payload,
	struct replay_turn *working, const void *result, enum claim_answer claimed, int64_t now_us)
{
	struct turn turn = open_turn(alone, message, now_us);
	enum verdict verdict = turn_effect_result(&turn, working->kind, payload, working->request, result, claimed);

	if (working->kind->request_free)
		working->kind->request_free(working->request);
	working->request = NULL;
	return close_turn(alone, &turn, verdict);
}

struct replay_turn replay_run(struct replay *alone, int64_t now_us,
	void (*run)(const struct state *state, struct turn *turn, void *context), void *context)
{
	static const struct message_meta clock = {
		.topic = "", .shop = "", .key = "", .idem = "", .trace = "", .said_by = ""
	};
	struct turn turn = open_turn(alone, &clock, now_us);

	run(alone->state, &turn, context);
	return close_turn(alone, &turn, TURN_DONE);
}

struct bytes replay_fact(struct replay *alone, uint32_t nth, struct message_meta *ret_said)
{
	struct bytes payload;

	if (message_read(turn_fact(&alone->facts, nth), &alone->found, &payload) < 0)
		die("a fact that was just said cannot be read");
	*ret_said = said_from(&alone->found, 0, alone->found.said_us, table_service(alone->table)->name);
	return payload;
}
