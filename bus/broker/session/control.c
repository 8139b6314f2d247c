/*
 * control.c: what leaves on the control socket, and the tap
 *
 * Promises:  a welcome and the answer to a question that changed something leave after the sync that covers them.
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/session/session.h"
#include <assert.h>
#include <pb_encode.h>
#include <stdlib.h>

struct control_answer {
	struct list hook;
	struct buffer peer, message;
};

void control_now(struct broker *broker, struct bytes peer, const Control *control)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	int r = control_encode(control, &message);

	assert(r == 0);
	if (r == 0)
		broker->out.control(broker->out.context, peer, buffer_bytes(&message));
}

void control_later(struct broker *broker, struct bytes peer, const Control *control)
{
	struct control_answer *answer = memory_new(sizeof(*answer));

	buffer_add(&answer->peer, peer.data, peer.len);
	control_encode(control, &answer->message);
	list_append(&broker->control, &answer->hook);
}

static void control_answer_free(struct control_answer *answer)
{
	list_remove(&answer->hook);
	buffer_free(&answer->peer);
	buffer_free(&answer->message);
	free(answer);
}

void control_flush(struct broker *broker)
{
	LIST_EACH_SAFE (hook, &broker->control) {
		struct control_answer *answer = LIST_ENTRY(hook, struct control_answer, hook);

		broker->out.control(broker->out.context, buffer_bytes(&answer->peer), buffer_bytes(&answer->message));
		control_answer_free(answer);
	}
}

void control_free(struct broker *broker)
{
	LIST_EACH_SAFE (hook, &broker->control)
		control_answer_free(LIST_ENTRY(hook, struct control_answer, hook));
}

/* The envelope, and of the payload what its topic's mask shows; the envelope alone if the payload does not read. */
static void make_masked(
	const struct broker *broker, const char *topic, struct bytes message, struct bytes payload, struct buffer *ret)
{
	int index = topology_topic(&broker->topology, topic);
	size_t envelope_len = message.len - payload.len;

	buffer_add(ret, message.data, message.len);
	if (index < 0 || mask_payload(&broker->topology.topics[index].mask, ret->data + envelope_len, payload.len) < 0)
		ret->len = envelope_len;
}

void tap(struct broker *broker, const struct logged *logged)
{
	_cleanup_(buffer_free) struct buffer masked = { 0 };
	Tapped tapped = { .seq = logged->seq, .time_us = logged->time_us };
	uint8_t encoded[Tapped_size];
	pb_ostream_t stream = pb_ostream_from_buffer(encoded, sizeof(encoded));
	struct logged whole;
	Envelope envelope;
	struct bytes payload;

	if (log_read(broker->log, logged->seq, &whole) < 0 || message_read(whole.message, &envelope, &payload) < 0)
		return;
	TEXT_COPY(tapped.said_by, whole.said_by);
	make_masked(broker, envelope.topic, whole.message, payload, &masked);
	if (pb_encode(&stream, Tapped_fields, &tapped))
		broker->out.tap(broker->out.context, envelope.topic, envelope.shop,
			BYTES(encoded, stream.bytes_written), whole.message, buffer_bytes(&masked));
}
