/*
 * stage.c: checks a message, numbers it, and adds it to the next commit
 *
 * Promises:  a message is staged only if its sender has the right to say it, and a declared peer hears or
 *            remembers it.
 * Read next: ingress.c (whole units), idem.c (said before?), log.c
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/commit.h"
#include "bus/broker/log/idem.h"
#include "bus/broker/session/refused.h"
#include "bus/broker/session/session.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t key_hash(const Envelope *envelope)
{
	char text[sizeof(envelope->shop) + sizeof(envelope->key)];
	size_t shop_len = strlen(envelope->shop), key_len = strlen(envelope->key);

	memcpy(text, envelope->shop, shop_len + 1);
	memcpy(text + shop_len + 1, envelope->key, key_len);
	return text_hash(BYTES(text, shop_len + 1 + key_len));
}

__attribute__((format(printf, 5, 6))) static int refuse(struct broker *broker, const struct session *session,
	enum refused what, char reason[256], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, 256, format, arguments);
	va_end(arguments);
	refused(broker, what, session->who, session, "%s", reason);
	return -EINVAL;
}

int judge_message(struct broker *broker, const struct session *session, struct bytes message, Envelope *ret_envelope,
	int *ret_topic, char ret_reason[256])
{
	const struct topology_peer *peer = &broker->topology.peers[session->peer];
	struct bytes payload;

	if (message_read(message, ret_envelope, &payload) < 0)
		return refuse(broker, session, REFUSED_MESSAGE, ret_reason, "the envelope does not add up");
	*ret_topic = topology_topic(&broker->topology, ret_envelope->topic);
	if (*ret_topic < 0)
		return refuse(broker, session, REFUSED_TOPIC, ret_reason, "topic %s is not declared: see topology.conf",
			ret_envelope->topic);
	if (!session_may(session, ret_envelope->claim ? RIGHT_CLAIM : RIGHT_PUBLISH))
		return refuse(broker, session, REFUSED_RIGHT, ret_reason, "the identity of %s has no right to %s",
			session->instance, ret_envelope->claim ? "claim" : "publish");
	if (!topic_set_has(&peer->says, *ret_topic))
		return refuse(broker, session, REFUSED_RIGHT, ret_reason, "%s has no right to say %s", peer->name,
			ret_envelope->topic);
	if (broker->topology.topics[*ret_topic].claim != ret_envelope->claim)
		return refuse(broker, session, REFUSED_MESSAGE, ret_reason, "%s is %s, and this was said as %s",
			ret_envelope->topic, ret_envelope->claim ? "no claim" : "a claim",
			ret_envelope->claim ? "one" : "none");
	if (!topic_set_has(&broker->heard, *ret_topic))
		return refuse(broker, session, REFUSED_TOPIC, ret_reason, "nothing is declared to hear or remember %s",
			ret_envelope->topic);
	return 0;
}

uint64_t stage_message(
	struct broker *broker, int topic, const Envelope *envelope, const char *said_by, struct bytes message)
{
	uint8_t flags = (uint8_t)((envelope->tombstone ? FLAG_TOMBSTONE : 0) | (envelope->claim ? FLAG_CLAIM : 0));
	uint64_t seq = log_stage(broker->log, topic, flags, key_hash(envelope), said_by, message);

	if (envelope->idem[0] != '\0')
		idem_stage(broker, topic, envelope, message, seq);
	return seq;
}

static struct answer *add_answer(
	struct broker *broker, const struct session *session, uint64_t request, ConfirmKind kind)
{
	struct answer *answer = memory_new(sizeof(*answer));

	answer->epoch = session->epoch;
	answer->request = request;
	answer->kind = kind;
	list_append(&broker->commit->answers, &answer->hook);
	broker->commit->answer_count++;
	return answer;
}

/*
 * The last answer, if this request and its number are the next ones after it: then that answer covers this
 * request too.
 */
static struct answer *answered_along(
	const struct broker *broker, const struct session *session, uint64_t request, uint64_t seq)
{
	struct answer *last;

	if (list_empty(&broker->commit->answers) || !session->hears_further)
		return NULL;
	last = LIST_ENTRY(broker->commit->answers.prev, struct answer, hook);
	if (last->epoch != session->epoch || last->kind != CONFIRM_FRESH || last->claim)
		return NULL;
	if (request != last->request + last->further + 1 || seq != (last->seq ? last->seq + last->further + 1 : 0))
		return NULL;
	return last;
}

void answer_later(struct broker *broker, const struct session *session, uint64_t request, ConfirmKind kind,
	uint64_t seq, bool claim)
{
	struct answer *answer;

	if (kind == CONFIRM_FRESH && !claim && (answer = answered_along(broker, session, request, seq))) {
		answer->further++;
		broker->commit->answer_count++;
		return;
	}
	answer = add_answer(broker, session, request, kind);
	answer->seq = seq;
	answer->claim = claim;
}

void answer_refused(
	struct broker *broker, const struct session *session, uint64_t request, const char *reason, bool poisoned)
{
	struct answer *answer = add_answer(broker, session, request, CONFIRM_REFUSED);

	answer->poisoned = poisoned;
	answer->reason = memory_copy_text(reason);
}

/* Sets each field by itself: most of a Confirm is room for a reason. */
void answer_send(struct broker *broker, struct session *session, const struct answer *answer)
{
	Down down;
	Confirm *confirm = &down.what.confirm;

	down.which_what = Down_confirm_tag;
	confirm->request = answer->request;
	confirm->kind = answer->kind;
	confirm->seq = answer->seq;
	confirm->head = log_head(broker->log);
	confirm->poisoned = answer->poisoned;
	confirm->further = answer->further;
	TEXT_COPY(confirm->reason, answer->reason ? answer->reason : "");
	session_put(broker, session, &down, BYTES(NULL, 0));
}

void answer_free(struct answer *answer)
{
	list_remove(&answer->hook);
	free(answer->reason);
	free(answer);
}
