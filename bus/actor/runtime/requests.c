/*
 * requests.c: units that this process has said and that are not settled yet
 *
 * Owns:      every unit that waits for the broker's Confirm; the turns whose facts have not come back as
 *            projections.
 * Promises:  a turn's rows leave the overlay only when the log has brought its facts; an outcome is said in
 *            every session until it is confirmed; a caller that said something unprompted is answered exactly
 *            once.
 * Fails by:  a refused turn: the session ends, and uncommitted turns are decided anew.
 * Read next: delivery.c, effects.c
 */
#include "bus/actor/runtime/runtime_inside.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include "bus/wire/message.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURN_BYTES_MAX = 3 << 20 }; /* of all its facts: they travel in one frame */

struct publish_request *request_new(struct runtime *runtime, enum request_kind kind)
{
	struct publish_request *request = pool_take(&runtime->requests.pool);

	request->kind = kind;
	list_append(&runtime->requests.unconfirmed, &request->hook);
	return request;
}

static bool is_of_the_clock(const struct publish_request *request)
{
	return request->kind == REQUEST_TURN && request->receipt.seq == 0;
}

static void request_free(struct runtime *runtime, struct publish_request *request)
{
	if (is_of_the_clock(request))
		runtime->requests.clock_turns--;
	list_remove(&request->hook);
	buffer_free(&request->message);
	buffer_free(&request->trace_log);
	pool_give(&runtime->requests.pool, request);
}

void request_publish(struct runtime *runtime, struct publish_request *request, struct bytes message)
{
	Up up = { .which_what = Up_publish_tag };

	request->number = ++runtime->requests.numbers;
	up.what.publish.request = request->number;
	session_add(runtime->session, &up, message, false);
	list_remove(&request->hook);
	list_append(&runtime->requests.unconfirmed, &request->hook);
}

/* --- committing a turn --- */

static bool is_remembered(const struct runtime *runtime, struct bytes fact)
{
	Envelope envelope;
	struct bytes payload;

	return message_read(fact, &envelope, &payload) == 0 && table_remembers(runtime->table, envelope.topic);
}

/* The last fact that this service remembers, counted from 1; 0: it remembers none. */
static uint32_t last_remembered(const struct runtime *runtime, const struct buffer *facts, uint32_t count)
{
	while (count > 0 && !is_remembered(runtime, turn_fact(facts, count - 1)))
		count--;
	return count;
}

static void say_turn(struct runtime *runtime, struct publish_request *request, const struct turn *turn, Up *up)
{
	request->number = ++runtime->requests.numbers;
	request->turn = runtime->turns;
	request->facts = turn->fact_count;
	request->last_remembered = last_remembered(runtime, &turn->facts, turn->fact_count);
	request->receipt = up->what.turn.receipt;
	up->what.turn.request = request->number;
	up->what.turn.facts = turn->fact_count;
	session_add(runtime->session, up, BYTES("", 0), turn->fact_count > 0);
	for (uint32_t i = 0; i < turn->fact_count; i++) {
		Up fact = { .which_what = Up_fact_tag, .what.fact.index = i };

		session_add(runtime->session, &fact, turn_fact(&turn->facts, i), i + 1 < turn->fact_count);
		trace_log_note(runtime, request, turn_fact(&turn->facts, i), i);
	}
	runtime->requests.turns++;
	if (is_of_the_clock(request))
		runtime->requests.clock_turns++;
	runtime->counts.turns++;
}

static void set_verdict(struct runtime *runtime, const struct turn *turn, enum verdict verdict, UpTurn *ret)
{
	TEXT_COPY(ret->reason, turn->reason);
	switch (verdict) {
	case TURN_DONE:
		ret->verdict = VERDICT_DONE;
		break;
	case TURN_RETRY:
		ret->verdict = VERDICT_RETURN;
		ret->delay_us = turn->delay_us;
		ret->failed = turn->failed;
		break;
	case TURN_DEAD_LETTER:
		ret->verdict = VERDICT_DEAD;
		break;
	case TURN_PENDING:
		assert(!"a turn that works on is not committed");
		break;
	}
	if (verdict == TURN_DEAD_LETTER || (verdict == TURN_RETRY && turn->failed))
		runtime->counts.failures++;
}

/*
 * Facts about the world get a key, so that they can be said again if no answer tells whether the turn was
 * committed. The key is that of this turn of this run: attempts are counted anew when the broker restarts or
 * the message is redriven, and the outcomes of two attempts differ.
 */
static void key_outcomes(const struct runtime *runtime, struct turn *turn, const Delivery *delivery)
{
	struct buffer keyed = { 0 };

	for (uint32_t i = 0; i < turn->fact_count; i++) {
		_cleanup_(buffer_free) struct buffer message = { 0 };
		Envelope envelope;
		struct bytes payload;
		int r = message_read(turn_fact(&turn->facts, i), &envelope, &payload);

		assert(r == 0);
		if (!envelope.idem[0])
			snprintf(envelope.idem, sizeof(envelope.idem), "outcome/%s/%llu/%s/%llu/%u",
				delivery->receipt.queue, (unsigned long long)delivery->receipt.seq, runtime->run,
				(unsigned long long)runtime->turns, i);
		r = message_write(&envelope, payload, &message);
		assert(r == 0);
		(void)r;
		buffer_add_u32(&keyed, (uint32_t)message.len);
		buffer_add(&keyed, message.data, message.len);
	}
	buffer_free(&turn->facts);
	turn->facts = keyed;
}

/*
 * Says each fact by itself, until it is confirmed. They come back in order: the last fact that this service
 * remembers takes the turn's rows out of the overlay; if it remembers none, the last fact does.
 */
static void say_outcomes(struct runtime *runtime, const struct buffer *facts, uint32_t count, uint64_t turn)
{
	uint32_t remembered = last_remembered(runtime, facts, count), ends_turn = remembered ? remembered : count;

	for (uint32_t i = 0; i < count; i++) {
		struct publish_request *request = request_new(runtime, REQUEST_OUTCOME);
		struct bytes fact = turn_fact(facts, i);

		buffer_add(&request->message, fact.data, fact.len);
		request->turn = i + 1 == ends_turn ? turn : 0;
		request->facts = 1;
		request->last_remembered = is_remembered(runtime, fact);
		trace_log_note(runtime, request, fact, 0);
		if (session_is_open(runtime->session))
			request_publish(runtime, request, fact);
	}
}

void turn_publish_outcomes(struct runtime *runtime, struct turn *turn)
{
	say_outcomes(runtime, &turn->facts, turn->fact_count, runtime->turns);
	turn_end(turn);
}

bool turn_clear_too_large(struct runtime *runtime, struct turn *turn, char ret_why[TURN_REASON_MAX])
{
	if (turn->facts.len > TURN_BYTES_MAX)
		text_copy(ret_why, TURN_REASON_MAX, "the decision says more than fits into one turn");
	else if (turn->fact_count > TURN_FACTS_MAX)
		snprintf(ret_why, TURN_REASON_MAX, "the decision says %u facts, and a turn holds at most %d",
			turn->fact_count, TURN_FACTS_MAX);
	else if (!state_take_refused(runtime->state, runtime->turns, ret_why, TURN_REASON_MAX))
		return false;
	state_drop_turn(runtime->state, runtime->turns);
	buffer_clear(&turn->facts);
	turn->fact_count = 0;
	return true;
}

/*
 * An outcome has happened already, so its facts are said even if a row would be too large. The fold logs that
 * row (runtime_tell_large_row).
 */
static void limit_size(struct runtime *runtime, struct turn *turn, enum verdict *verdict, bool outcome)
{
	char why[TURN_REASON_MAX];

	if (outcome && turn->facts.len <= TURN_BYTES_MAX && turn->fact_count <= TURN_FACTS_MAX)
		return;
	if (turn_clear_too_large(runtime, turn, why))
		*verdict = turn_dead_letter(turn, why);
}

void turn_commit(
	struct runtime *runtime, struct turn *turn, enum verdict verdict, const Delivery *delivery, bool outcome)
{
	Up up = { .which_what = Up_turn_tag };
	struct publish_request *request;

	if (outcome)
		key_outcomes(runtime, turn, delivery);
	if (delivery && !runtime_leases_live(runtime, delivery->receipt.epoch)) {
		say_outcomes(runtime, &turn->facts, turn->fact_count, runtime->turns);
		turn_end(turn);
		return;
	}
	limit_size(runtime, turn, &verdict, outcome);
	if (delivery) {
		up.what.turn.has_receipt = true;
		up.what.turn.receipt = delivery->receipt;
	}
	set_verdict(runtime, turn, verdict, &up.what.turn);
	trace_log_failed(runtime, turn, verdict);
	request = request_new(runtime, REQUEST_TURN);
	say_turn(runtime, request, turn, &up);
	if (outcome)
		buffer_add(&request->message, turn->facts.data, turn->facts.len);
	turn_end(turn);
}

/* --- the broker's answers --- */

/*
 * The overlay holds the request's rows until the projections have passed its last fact that this service
 * remembers.
 */
static void await_return(struct runtime *runtime, struct publish_request *request, uint64_t first_seq)
{
	if (request->last_remembered == 0 || runtime_passed(runtime, first_seq + request->last_remembered - 1)) {
		state_drop_turn(runtime->state, request->turn);
		request_free(runtime, request);
		return;
	}
	request->number = first_seq + request->last_remembered - 1;
	list_remove(&request->hook);
	list_append(&runtime->requests.returning, &request->hook);
}

/* The decision is made anew; outcomes in the world have happened, and are said again. */
static void turn_lost(struct runtime *runtime, struct publish_request *request)
{
	say_outcomes(runtime, &request->message, request->message.len > 0 ? request->facts : 0, 0);
	request_free(runtime, request);
}

/*
 * Refused for good: the message goes to the dead letters when it comes again. A turn on the clock would come
 * again for ever.
 */
static void turn_refused(struct runtime *runtime, struct publish_request *request, const Confirm *confirm)
{
	bool by_clock = is_of_the_clock(request);
	char why[300];

	if (confirm->poisoned && !by_clock)
		delivery_poisoned(runtime, &request->receipt, confirm->reason);
	turn_lost(runtime, request);
	snprintf(why, sizeof(why), "a turn was refused: %s", confirm->reason);
	if (confirm->poisoned && by_clock)
		session_refuse(runtime->session, why);
	else
		session_break(runtime->session, why);
}

static void turn_confirmed(struct runtime *runtime, struct publish_request *request, const Confirm *confirm)
{
	runtime->requests.turns--;
	if (confirm->kind == CONFIRM_REFUSED) {
		turn_refused(runtime, request, confirm);
		return;
	}
	trace_log_tell(runtime, request, confirm);
	await_return(runtime, request, confirm->seq);
}

static void outcome_confirmed(struct runtime *runtime, struct publish_request *request, const Confirm *confirm)
{
	char why[300];

	if (confirm->kind != CONFIRM_REFUSED) {
		trace_log_tell(runtime, request, confirm);
		await_return(runtime, request, confirm->seq);
		return;
	}
	if (!confirm->poisoned) {
		session_break(runtime->session, confirm->reason);
		return;
	}
	snprintf(why, sizeof(why), "an outcome cannot be said: %s", confirm->reason);
	request_free(runtime, request);
	session_refuse(runtime->session, why);
}

static void say_confirmed(struct runtime *runtime, struct publish_request *request, const Confirm *confirm)
{
	static const enum said_result results[] = {
		[CONFIRM_FRESH] = SAID_FRESH, [CONFIRM_DUPLICATE] = SAID_DUPLICATE, [CONFIRM_REFUSED] = SAID_REFUSED
	};
	enum said_result result = results[confirm->kind];
	said_fn *answer = request->answer;
	void *context = request->context;

	if (result == SAID_REFUSED && !confirm->poisoned)
		result = SAID_UNKNOWN;
	trace_log_tell(runtime, request, confirm);
	request_free(runtime, request);
	if (answer)
		answer(context, result, confirm->seq, confirm->reason);
}

static void claim_confirmed(struct runtime *runtime, struct publish_request *request, const Confirm *confirm)
{
	struct effect *effect = request->effect;

	request_free(runtime, request);
	effect_claim_answered(effect, confirm);
}

static struct publish_request *find(struct runtime *runtime, uint64_t number)
{
	LIST_EACH (hook, &runtime->requests.unconfirmed) {
		struct publish_request *request = LIST_ENTRY(hook, struct publish_request, hook);

		if (request->number == number)
			return request;
	}
	return NULL;
}

/* false: no request of that number waits for an answer */
static bool confirm_one(struct runtime *runtime, const Confirm *confirm)
{
	struct publish_request *request = find(runtime, confirm->request);

	if (!request)
		return false;
	switch (request->kind) {
	case REQUEST_TURN:
		turn_confirmed(runtime, request, confirm);
		break;
	case REQUEST_SAY:
		say_confirmed(runtime, request, confirm);
		break;
	case REQUEST_CLAIM:
		claim_confirmed(runtime, request, confirm);
		break;
	case REQUEST_OUTCOME:
		outcome_confirmed(runtime, request, confirm);
		break;
	}
	return true;
}

/* An answer may cover many requests: each is answered by itself. */
void requests_confirm(struct runtime *runtime, const Confirm *confirm)
{
	Confirm one = *confirm;

	if (confirm->kind > CONFIRM_REFUSED)
		return;
	state_remember(runtime->state, confirm->head > confirm->seq ? confirm->head : confirm->seq);
	for (uint32_t left = confirm->further; confirm_one(runtime, &one) && left > 0; left--) {
		one.request++;
		one.seq += one.seq > 0;
	}
}

/* Requests return in the order in which they were confirmed: that of the log. */
void requests_passed(struct runtime *runtime)
{
	LIST_EACH_SAFE (hook, &runtime->requests.returning) {
		struct publish_request *request = LIST_ENTRY(hook, struct publish_request, hook);

		if (!runtime_passed(runtime, request->number))
			return;
		state_drop_turn(runtime->state, request->turn);
		request_free(runtime, request);
	}
}

/* --- between sessions --- */

static struct publish_request *first_of(struct runtime *runtime, enum request_kind kind)
{
	LIST_EACH (hook, &runtime->requests.unconfirmed) {
		struct publish_request *request = LIST_ENTRY(hook, struct publish_request, hook);

		if (request->kind == kind)
			return request;
	}
	return NULL;
}

void requests_lost(struct runtime *runtime)
{
	static const Confirm unknown = { .kind = CONFIRM_REFUSED, .reason = "the session broke" };
	struct publish_request *request;

	LIST_EACH_SAFE (hook, &runtime->requests.returning)
		request_free(runtime, LIST_ENTRY(hook, struct publish_request, hook));
	LIST_EACH (hook, &runtime->requests.unconfirmed)
		LIST_ENTRY(hook, struct publish_request, hook)->number = 0; /* no answer will come */
	while ((request = first_of(runtime, REQUEST_TURN)))
		turn_lost(runtime, request);
	runtime->requests.turns = 0;
	state_drop_turns(runtime->state);
	while ((request = first_of(runtime, REQUEST_SAY)))
		say_confirmed(runtime, request, &unknown);
}

static void fold_again(struct runtime *runtime, struct publish_request *request)
{
	Envelope envelope;
	struct bytes payload;
	struct message_meta said;

	request->turn = ++runtime->turns;
	if (message_read(buffer_bytes(&request->message), &envelope, &payload) < 0)
		return;
	said = said_from(&envelope, 0, envelope.said_us, runtime->service->name);
	state_write_turn(runtime->state, request->turn);
	table_fold(runtime->table, runtime->state, &said, payload);
}

/* Decisions of the new session must see the outcomes that the log does not have yet. */
void requests_again(struct runtime *runtime)
{
	struct list again;

	state_drop_turns(runtime->state);
	list_init(&again);
	LIST_EACH_SAFE (hook, &runtime->requests.unconfirmed) {
		list_remove(hook);
		list_append(&again, hook);
	}
	LIST_EACH_SAFE (hook, &again) {
		struct publish_request *request = LIST_ENTRY(hook, struct publish_request, hook);

		if (request->kind == REQUEST_OUTCOME)
			fold_again(runtime, request);
		request_publish(runtime, request, buffer_bytes(&request->message));
	}
}

void requests_free(struct runtime *runtime)
{
	LIST_EACH_SAFE (hook, &runtime->requests.unconfirmed)
		request_free(runtime, LIST_ENTRY(hook, struct publish_request, hook));
	LIST_EACH_SAFE (hook, &runtime->requests.returning)
		request_free(runtime, LIST_ENTRY(hook, struct publish_request, hook));
	LIST_EACH_SAFE (hook, &runtime->questions.open) {
		list_remove(hook);
		buffer_free(&LIST_ENTRY(hook, struct question, hook)->text);
		free(LIST_ENTRY(hook, struct question, hook));
	}
}
