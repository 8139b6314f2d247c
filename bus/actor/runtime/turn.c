/*
 * turn.c: one decision, and the encoding of its facts
 *
 * Promises:  facts of a decision are encoded at once, and the same decision's reads see them; a decision can
 *            say only what the service's table declares.
 * Fails by:  an assertion: a fact that cannot be encoded or may not be said is a bug of the service, not a
 *            condition.
 * Read next: runtime.c (what it does with a turn), state.c (where its facts are folded)
 */
#include "bus/actor/runtime/runtime.h"
#include "bus/actor/runtime/turns.h"
#include "bus/base/text.h"
#include "bus/wire/codec.h"
#include "bus/wire/frame.h"
#include "bus/wire/message.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* --- from a service's struct to a message in the form of the wire --- */

bool turn_encode(const struct topic *topic, const void *message, struct buffer *ret)
{
	const struct codec *codec = codec_of(topic->message);
	size_t size = codec_size(codec, message);

	if (size > MESSAGE_BYTES_MAX)
		return false;
	ret->len += codec_write(codec, message, buffer_grow(ret, size));
	return true;
}

static bool fits(char *to, size_t room, const char *from)
{
	return text_copy(to, room, from ? from : "");
}

/* The caller sets cause, trace, claim and said_us of the envelope; -EMSGSIZE. */
static int message_encode_with(Envelope *envelope, const struct topic *topic, const struct publish_options *how,
	const void *message, struct buffer *ret)
{
	size_t before = ret->len;
	int r;

	if (!fits(envelope->topic, sizeof(envelope->topic), topic->name) ||
		!fits(envelope->shop, sizeof(envelope->shop), how->shop) ||
		!fits(envelope->key, sizeof(envelope->key), how->key) ||
		!fits(envelope->idem, sizeof(envelope->idem), how->idem))
		return -EMSGSIZE;
	envelope->version = how->version;
	envelope->tombstone = how->tombstone;
	r = message_write(envelope, BYTES(NULL, 0), ret);
	if (r == 0 && turn_encode(topic, message, ret) && ret->len - before <= MESSAGE_BYTES_MAX)
		return 0;
	ret->len = before;
	return -EMSGSIZE;
}

int message_encode(const struct topic *topic, const struct publish_options *how, const char *trace, int64_t said_us,
	const void *message, struct buffer *ret)
{
	Envelope envelope = { .said_us = said_us };

	if (!fits(envelope.trace, sizeof(envelope.trace), trace))
		return -EMSGSIZE;
	return message_encode_with(&envelope, topic, how, message, ret);
}

/* --- the facts, effects and verdict of a decision --- */

int64_t turn_now_us(const struct turn *turn)
{
	return turn->now_us;
}

const struct message_meta *turn_message(const struct turn *turn)
{
	return &turn->message;
}

uint32_t turn_failures(const struct turn *turn)
{
	return turn->failures;
}

const char *turn_run(const struct turn *turn)
{
	return turn->run;
}

int64_t turn_began_us(const struct turn *turn)
{
	return turn->began_us;
}

uint64_t turn_seen(const struct turn *turn)
{
	uint64_t cursor = state_cursor(turn->state);

	return cursor > turn->message.seq ? cursor : turn->message.seq;
}

static enum verdict later(struct turn *turn, bool failed, int64_t delay_us, const char *reason)
{
	turn->failed = failed;
	turn->delay_us = delay_us;
	TEXT_COPY(turn->reason, reason);
	return TURN_RETRY;
}

enum verdict turn_failed(struct turn *turn, int64_t delay_us, const char *reason)
{
	return later(turn, true, delay_us, reason);
}

enum verdict turn_wait(struct turn *turn, int64_t delay_us, const char *reason)
{
	return later(turn, false, delay_us, reason);
}

enum verdict turn_dead_letter(struct turn *turn, const char *reason)
{
	TEXT_COPY(turn->reason, reason);
	return TURN_DEAD_LETTER;
}

struct message_meta said_from(const Envelope *envelope, uint64_t seq, int64_t time_us, const char *said_by)
{
	return (struct message_meta){ .topic = envelope->topic,
		.shop = envelope->shop,
		.key = envelope->key,
		.idem = envelope->idem,
		.trace = envelope->trace,
		.said_by = said_by,
		.seq = seq,
		.version = envelope->version,
		.tombstone = envelope->tombstone,
		.cause = envelope->cause,
		.time_us = time_us };
}

void turn_publish(struct turn *turn, const struct topic *topic, const struct publish_options *how, const void *message)
{
	Envelope envelope = { .cause = turn->message.seq, .claim = turn->is_claim, .said_us = turn->now_us };
	size_t start = turn->facts.len;
	int r;

	assert(table_says(turn->table, topic));
	assert(turn->is_claim == (topic->retention == RETAIN_CLAIM));
	TEXT_COPY(envelope.trace, how->trace ? how->trace : turn->message.trace ? turn->message.trace : "");
	if (turn->message.seq == 0)
		envelope.cause = how->cause;
	buffer_add_u32(&turn->facts, 0);
	r = message_encode_with(&envelope, topic, how, message, &turn->facts);
	assert(r == 0);
	(void)r;
	for (int i = 0; i < 4; i++)
		turn->facts.data[start + i] = (uint8_t)((turn->facts.len - start - 4) >> (8 * i));
	turn->fact_count++;
	if (turn->folds) {
		struct message_meta said = said_from(&envelope, 0, turn->now_us, table_service(turn->table)->name);

		table_fold_decoded(turn->table, turn->state, &said, message);
	}
}

enum verdict turn_effect(struct turn *turn, const struct effect_kind *kind, void **request)
{
	assert(!turn->kind);
	turn->kind = kind;
	turn->request = *request;
	*request = NULL;
	return TURN_PENDING;
}

struct bytes turn_fact(const struct buffer *facts, uint32_t nth)
{
	for (size_t at = 0; at < facts->len; nth--) {
		struct bytes fact = BYTES(facts->data + at + 4, get_u32(facts->data + at));

		if (nth == 0)
			return fact;
		at += 4 + fact.len;
	}
	return BYTES(NULL, 0);
}

void turn_end(struct turn *turn)
{
	if (turn->request && turn->kind->request_free)
		turn->kind->request_free(turn->request);
	turn->request = NULL;
	buffer_free(&turn->facts);
}

enum verdict turn_decide(struct turn *turn, struct bytes payload)
{
	const struct hears *row = table_hears(turn->table, turn->message.topic);
	const void *message = row ? table_decode(turn->table, row->topic, payload) : NULL;
	enum verdict verdict;

	turn->payload = payload;
	if (!row)
		return turn_dead_letter(turn, "this service does not hear such a message");
	if (!message)
		return turn_dead_letter(turn, "the payload does not decode as its topic's message");
	verdict = row->topic->hear(row->hear, turn->state, message, turn);
	assert((verdict == TURN_PENDING) == (turn->kind != NULL));
	assert(verdict != TURN_PENDING || turn->fact_count == 0);
	return verdict;
}

void turn_tick(struct turn *turn)
{
	table_service(turn->table)->due(turn->state, turn);
	assert(!turn->kind);
}

static const void *decoded(struct table *table, const char *topic, struct bytes payload)
{
	const struct hears *row = table_hears(table, topic);
	const void *message = row ? table_decode(table, row->topic, payload) : NULL;

	assert(message); /* it decoded before, when the turn asked for the effect */
	return message;
}

void turn_claim(struct turn *turn, const struct effect_kind *kind, struct bytes payload, const void *request)
{
	kind->claim(turn->state, decoded(turn->table, turn->message.topic, payload), request, turn);
	assert(turn->fact_count == 1);
}

enum verdict turn_effect_result(struct turn *turn, const struct effect_kind *kind, struct bytes payload,
	const void *request, const void *result, enum claim_answer claimed)
{
	turn->payload = payload;
	return kind->decide(
		turn->state, decoded(turn->table, turn->message.topic, payload), request, result, claimed, turn);
}

bool turn_may_proceed(struct table *table, const struct state *state, const char *topic, const struct effect_kind *kind,
	struct bytes payload, const void *request, int64_t now_us)
{
	return !kind->may_proceed || kind->may_proceed(state, decoded(table, topic, payload), request, now_us);
}
