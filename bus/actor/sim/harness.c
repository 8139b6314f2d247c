/*
 * harness.c: runs a service's functions alone, without a broker
 *
 * Owns:      an in-memory state, the last turn.
 * Promises:  its input is encoded and decoded as on the way through the broker; the facts of a turn are
 *            folded as the log would bring them back, after the turn.
 * Read next: turn.c, runtime.c (the real thing)
 */
#include "bus/actor/sim/harness.h"
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/runtime/turns.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/wire/message.h"
#include <assert.h>
#include <errno.h>

enum { TICKS_MOST = 1000 };

struct harness {
	struct table *table;
	struct state *state;
	int64_t now_us, began_us;
	const char *said_by; /* sender of the given messages; borrowed */
	uint64_t seq;        /* the last number given */
	uint64_t turns;      /* so far */
	/* the message last decided on */
	struct buffer message;
	uint64_t message_seq;
	uint32_t failures; /* failures of that message */
	/* the last turn */
	struct buffer facts;
	uint32_t fact_count;
	uint64_t facts_from; /* number of the first fact */
	char reason[TURN_REASON_MAX];
	int64_t delay_us;
	const struct effect_kind *kind;
	void *request;
	bool claimed;
	Envelope heard, found; /* structs that pointers given to the test borrow from */
};

struct harness *harness_new(const struct service *service, int64_t now_us)
{
	return harness_new_in((struct service_context){ .service = service }, now_us);
}

struct harness *harness_new_in(struct service_context context, int64_t now_us)
{
	struct harness *harness = memory_new(sizeof(*harness));
	struct store *store = NULL;
	char why[256];

	if (service_judge(context.service, why) < 0)
		die("%s", why);
	if (store_open_memory(&runtime_store_options, &store) < 0)
		die("the store in memory does not open");
	harness->table = table_new(context.service);
	harness->state = state_new(&store);
	state_set_context(harness->state, context.service, context.context);
	harness->now_us = now_us;
	harness->said_by = "harness";
	return harness;
}

static void drop_request(struct harness *harness)
{
	if (harness->request && harness->kind->request_free)
		harness->kind->request_free(harness->request);
	harness->request = NULL;
	harness->kind = NULL;
	harness->claimed = false;
}

void harness_free(struct harness *harness)
{
	if (!harness)
		return;
	drop_request(harness);
	state_free(harness->state);
	table_free(harness->table);
	buffer_free(&harness->message);
	buffer_free(&harness->facts);
	free(harness);
}

void harness_now(struct harness *harness, int64_t now_us)
{
	harness->now_us = now_us;
}

void harness_said_by(struct harness *harness, const char *service)
{
	harness->said_by = service;
}

void harness_began(struct harness *harness, int64_t began_us)
{
	harness->began_us = began_us;
}

static void encode(const struct harness *harness, const struct topic *topic, const struct publish_options *how,
	const void *message, struct buffer *ret)
{
	int r = message_encode(topic, how, how->trace, harness->now_us, message, ret);

	assert(r == 0);
	(void)r;
}

/* As the log would project it: with number and time, and after everything said before. */
static int project(struct harness *harness, struct bytes message, const char *said_by)
{
	Envelope envelope;
	struct bytes payload;
	struct message_meta said;
	int r = message_read(message, &envelope, &payload);

	assert(r == 0);
	harness->seq++;
	said = said_from(&envelope, harness->seq, harness->now_us, said_by);
	state_write_projected(harness->state);
	r = table_fold(harness->table, harness->state, &said, payload);
	assert(r != -EBADMSG);
	state_pass(harness->state, harness->seq);
	return r;
}

void harness_given(
	struct harness *harness, const struct topic *topic, const struct publish_options *how, const void *fact)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	int r;

	encode(harness, topic, how, fact, &message);
	r = project(harness, buffer_bytes(&message), harness->said_by);
	assert(r == 0); /* the service does not remember this topic */
	(void)r;
}

static struct turn open_turn(struct harness *harness, const struct message_meta *message)
{
	harness->turns++;
	state_write_turn(harness->state, harness->turns);
	return (struct turn){ .table = harness->table,
		.state = harness->state,
		.message = *message,
		.now_us = harness->now_us,
		.began_us = harness->began_us,
		.failures = harness->failures,
		.run = "harness",
		.folds = true };
}

/* Keeps the turn's facts for the test and folds them as the log brings them back. */
static void close_turn(struct harness *harness, struct turn *turn, bool append)
{
	state_drop_turns(harness->state);
	if (!append) {
		buffer_clear(&harness->facts);
		harness->fact_count = 0;
		harness->facts_from = harness->seq + 1;
	}
	buffer_add(&harness->facts, turn->facts.data, turn->facts.len);
	harness->fact_count += turn->fact_count;
	for (uint32_t i = 0; i < turn->fact_count; i++)
		project(harness, turn_fact(&turn->facts, i), table_service(harness->table)->name);
	memcpy(harness->reason, turn->reason, sizeof(harness->reason));
	harness->delay_us = turn->delay_us;
	harness->failures += turn->failed;
	turn_end(turn);
}

static struct message_meta heard_message(struct harness *harness, struct bytes *ret_payload)
{
	int r = message_read(buffer_bytes(&harness->message), &harness->heard, ret_payload);

	assert(r == 0);
	(void)r;
	return said_from(&harness->heard, harness->message_seq, harness->now_us, harness->said_by);
}

static void take_request(struct harness *harness, struct turn *turn)
{
	drop_request(harness);
	harness->kind = turn->kind;
	harness->request = TAKE(turn->request);
}

enum verdict harness_again(struct harness *harness)
{
	struct bytes payload;
	struct message_meta said = heard_message(harness, &payload);
	struct turn turn = open_turn(harness, &said);
	enum verdict verdict = turn_decide(&turn, payload);

	take_request(harness, &turn);
	close_turn(harness, &turn, false);
	return verdict;
}

enum verdict harness_when(
	struct harness *harness, const struct topic *topic, const struct publish_options *how, const void *message)
{
	buffer_clear(&harness->message);
	encode(harness, topic, how, message, &harness->message);
	if (table_remembers(harness->table, topic->name))
		project(harness, buffer_bytes(&harness->message), harness->said_by);
	else
		state_pass(harness->state, ++harness->seq);
	harness->message_seq = harness->seq;
	harness->failures = 0;
	return harness_again(harness);
}

uint64_t harness_message_seq(const struct harness *harness)
{
	return harness->message_seq;
}

/* The cause of a turn that no message began. */
static const struct message_meta nothing = {
	.topic = "", .shop = "", .key = "", .idem = "", .trace = "", .said_by = ""
};

void harness_unused(struct harness *harness, const struct claim_note *note)
{
	struct turn turn = open_turn(harness, &nothing);

	table_service(harness->table)->unused(&turn, note);
	close_turn(harness, &turn, false);
}

void harness_tick(struct harness *harness, int64_t now_us)
{
	const struct service *service = table_service(harness->table);

	for (int i = 0;; i++) {
		int64_t due_us = service->next_due_us(harness->state);
		struct turn turn;

		if (due_us > now_us)
			break;
		assert(i < TICKS_MOST); /* rows that are due stay due */
		if (due_us > harness->now_us)
			harness->now_us = due_us;
		turn = open_turn(harness, &nothing);
		turn_tick(&turn);
		close_turn(harness, &turn, i > 0);
	}
	harness->now_us = now_us;
}

size_t harness_count(const struct harness *harness, const struct topic *topic)
{
	size_t count = 0;

	if (!topic)
		return harness->fact_count;
	while (harness_said(harness, topic, count, NULL, NULL))
		count++;
	return count;
}

bool harness_said(const struct harness *harness, const struct topic *topic, size_t nth, void *ret_message,
	struct message_meta *ret_how)
{
	Envelope *envelope = (Envelope *)&harness->found;
	struct bytes payload;

	for (uint32_t i = 0; i < harness->fact_count; i++) {
		if (message_read(turn_fact(&harness->facts, i), envelope, &payload) < 0)
			return false;
		if (strcmp(envelope->topic, topic->name) != 0 || nth-- > 0)
			continue;
		if (ret_how)
			*ret_how = said_from(envelope, harness->facts_from + i, harness->now_us, "harness");
		return !ret_message || state_row(payload, topic->message, ret_message);
	}
	return false;
}

const char *harness_reason(const struct harness *harness)
{
	return harness->reason;
}

int64_t harness_delay_us(const struct harness *harness)
{
	return harness->delay_us;
}

const void *harness_effect_request(const struct harness *harness)
{
	return harness->request;
}

/* The claim is fresh: said, and projected, before the harness asks whether the effect may proceed. */
static void claim(struct harness *harness)
{
	struct bytes payload;
	struct message_meta said = heard_message(harness, &payload);
	struct turn turn;

	if (harness->claimed || !harness->kind->claim)
		return;
	turn = open_turn(harness, &said);
	turn.folds = false;
	turn.is_claim = true;
	turn_claim(&turn, harness->kind, payload, harness->request);
	close_turn(harness, &turn, false);
	harness->claimed = true;
}

bool harness_may_proceed(struct harness *harness)
{
	struct bytes payload;
	struct message_meta said = heard_message(harness, &payload);

	assert(harness->kind);
	claim(harness);
	state_write_turn(harness->state, ++harness->turns);
	return turn_may_proceed(
		harness->table, harness->state, said.topic, harness->kind, payload, harness->request, harness->now_us);
}

enum verdict harness_result(struct harness *harness, const void *result, enum claim_answer claimed)
{
	struct bytes payload;
	struct message_meta said = heard_message(harness, &payload);
	const struct effect_kind *kind = harness->kind;
	void *request;
	struct turn turn;
	enum verdict verdict;

	assert(kind);
	if (claimed == CLAIM_FRESH || claimed == CLAIM_UNUSED)
		claim(harness);
	request = TAKE(harness->request);
	turn = open_turn(harness, &said);
	verdict = turn_effect_result(&turn, kind, payload, request, result, claimed);
	if (kind->request_free)
		kind->request_free(request);
	take_request(harness, &turn);
	close_turn(harness, &turn, false);
	return verdict;
}

const struct state *harness_state(const struct harness *harness)
{
	return harness->state;
}
