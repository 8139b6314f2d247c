/*
 * question.c: the operator's questions
 *
 * Promises:  the broker answers only a peer whose declaration says operator = yes. A change is on the disk
 *            before the answer to its question leaves. A long answer comes in chunks.
 * Fails by:  an answer with ok = false and the reason in words.
 * Read next: answer_status.c, answer_read.c, answer_dead.c, answer_redrive.c, answer_erase.c
 */
#include "bus/broker/admin/question.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/session/refused.h"
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK = 32000 }; /* below the size of Answer.text */

static const struct verb {
	const char *verb;
	answer_fn *answer;
	unsigned needs; /* of enum right: clear if it shows payloads, operate if it changes something */
	bool masks;     /* a peer that lacks only clear gets masked payloads, if it accepts them */
} verbs[] = {
	{ "status", answer_status, RIGHT_ASK, false },
	{ "queues", answer_queues, RIGHT_ASK, false },
	{ "read", answer_read, RIGHT_ASK | RIGHT_CLEAR, true },
	{ "dead.list", answer_dead_list, RIGHT_ASK, false },
	{ "dead.show", answer_dead_show, RIGHT_ASK | RIGHT_CLEAR, false },
	{ "dead.redrive", answer_dead_redrive, RIGHT_OPERATE, false },
	{ "dead.drop", answer_dead_drop, RIGHT_OPERATE, false },
	{ "feed", answer_redrive, RIGHT_ASK, false },
	{ "feed.cancel", answer_redrive_cancel, RIGHT_OPERATE, false },
	{ "feed.resume", answer_redrive_resume, RIGHT_OPERATE, false },
	{ "replay", answer_replay, RIGHT_OPERATE, false },
	{ "replay.count", answer_replay_count, RIGHT_ASK, false },
	{ "gateway.strike", answer_strike, RIGHT_OPERATE, false },
	{ "queue.resume", answer_resume, RIGHT_OPERATE, false },
	{ "snapshot", answer_snapshot, RIGHT_OPERATE, false },
	{ "rebuild", answer_rebuild, RIGHT_OPERATE, false },
	{ "erase", answer_erase, RIGHT_OPERATE | RIGHT_CLEAR, false },
	{ "erasure", answer_erasure, RIGHT_ASK, false },
	{ "erased", answer_erased, RIGHT_ASK, false },
	{ "keys.reload", answer_keys_reload, RIGHT_OPERATE, false },
	{ "claims.release", answer_release, RIGHT_OPERATE, false },
};

const char *argument_text(json_t *argument, const char *name)
{
	const char *text = json_string_value(json_object_get(argument, name));

	return text && text[0] != '\0' ? text : NULL;
}

uint64_t argument_number(json_t *argument, const char *name, uint64_t otherwise)
{
	json_t *number = json_object_get(argument, name);

	if (!number)
		return otherwise;
	return json_integer_value(number) > 0 ? (uint64_t)json_integer_value(number) : 0;
}

json_t *json_base64(struct bytes bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	_cleanup_(buffer_free) struct buffer text = { 0 };
	const uint8_t *at = bytes.data;

	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t have = bytes.len - i;
		uint32_t group =
			(uint32_t)at[i] << 16 | (have > 1 ? (uint32_t)at[i + 1] << 8 : 0) | (have > 2 ? at[i + 2] : 0);
		char four[4] = { digits[group >> 18], digits[group >> 12 & 63],
			have > 1 ? digits[group >> 6 & 63] : '=', have > 2 ? digits[group & 63] : '=' };

		buffer_add(&text, four, sizeof(four));
	}
	return json_stringn(buffer_text(&text), text.len);
}

struct queue *queue_by_name(struct broker *broker, const char *name)
{
	int peer = name ? topology_peer(&broker->topology, name) : -1;

	return peer >= 0 ? broker->queues[peer] : NULL;
}

struct queue *argument_queue(struct broker *broker, json_t *argument, char ret_error[256])
{
	const char *name = argument_text(argument, "queue");
	struct queue *queue = queue_by_name(broker, name);

	if (!queue)
		snprintf(ret_error, 256, "there is no queue \"%.32s\"; `cartbus queues` names them", name ? name : "");
	return queue;
}

static void answer(struct broker *broker, struct bytes peer, uint64_t id, bool ok, const char *text)
{
	_cleanup_free_ Control *control = memory_new(sizeof(*control));
	size_t left = strlen(text);

	control->which_what = Control_answer_tag;
	control->what.answer.id = id;
	control->what.answer.ok = ok;
	do {
		size_t len = left < CHUNK ? left : CHUNK;

		memcpy(control->what.answer.text, text, len);
		control->what.answer.text[len] = '\0';
		text += len;
		left -= len;
		control->what.answer.more = left > 0;
		control_later(broker, peer, control);
	} while (left > 0);
}

static void refuse(struct broker *broker, struct bytes peer, const char *who, uint64_t id, const char *why)
{
	refused(broker, REFUSED_QUESTION, who, session_by_peer(broker, peer), "%s", why);
	answer(broker, peer, id, false, why);
}

static const struct verb *find_verb(const char *verb)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].verb, verb) == 0)
			return &verbs[i];
	return NULL;
}

/* NULL: this peer may not ask anything. */
static const struct session *find_operator(const struct broker *broker, struct bytes peer, const char *who)
{
	const struct session *session = session_by_peer(broker, peer);
	bool is_one = session && session_is_of(session, who) && broker->topology.peers[session->peer].operator_;

	return is_one ? session : NULL;
}

/* Does this peer accept masked payloads, and get them? */
static bool is_to_be_masked(const struct session *session, const struct verb *verb, const json_t *argument)
{
	return verb->masks && (verb->needs & ~session->rights) == RIGHT_CLEAR &&
		json_is_true(json_object_get(argument, "masked"));
}

/* NULL: the session may ask this; else the reason why not. */
static const char *objection(const struct session *session, const struct verb *verb, const json_t *argument)
{
	if (!session)
		return "only a peer that is declared with operator = yes may ask";
	if (!verb)
		return "unknown question";
	if ((session->rights & verb->needs) == verb->needs || is_to_be_masked(session, verb, argument))
		return NULL;
	return verb->needs & RIGHT_OPERATE ? "this identity has no right to operate: see \"rights\" of its key or user"
		: session_may(session, RIGHT_ASK)
		? "this shows payloads, and this identity has no right to see them in clear"
		: "this identity has no right to ask";
}

void hear_question(struct broker *broker, struct bytes peer, const char *who, const Question *question)
{
	const struct verb *verb = find_verb(question->verb);
	const struct session *session = find_operator(broker, peer, who);
	json_t *argument = question->argument[0] ? json_loads(question->argument, 0, NULL) : json_object();
	const char *why_not = objection(session, verb, argument);
	char error[256] = "the broker could not answer";
	json_t *result = NULL;

	if (!why_not && !json_is_object(argument))
		why_not = "the argument is not a JSON object";
	if (!why_not) {
		json_object_set_new(argument, "masked", json_boolean(!session_may(session, RIGHT_CLEAR)));
		result = verb->answer(broker, argument, error);
	}
	if (result) {
		_cleanup_free_ char *text = json_dumps(result, JSON_COMPACT | JSON_ENSURE_ASCII);

		answer(broker, peer, question->id, true, text ? text : "{}");
	} else {
		refuse(broker, peer, who, question->id, why_not ? why_not : error);
	}
	json_decref(argument);
	json_decref(result);
}
