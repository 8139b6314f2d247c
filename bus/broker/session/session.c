/*
 * session.c: the life of a session after its hello, and the messages on the control socket
 *
 * Owns:      the list of sessions and the two maps to them, their writers.
 * Promises:  a session silent for five heartbeats is dead, and its leases are free at once. A mailbox that
 *            does not take a frame ends its session: as the credit is below the socket's mark, that peer is
 *            gone. A frame that may wait for others leaves with the next frame that may not wait; their order
 *            stays.
 * Read next: hello.c
 */
#include "bus/broker/session/session.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/log/latest.h"
#include "bus/broker/queue/claim.h"
#include "bus/broker/session/refused.h"
#include <assert.h>
#include <pb_encode.h>
#include <stdlib.h>

enum { SILENT_HEARTBEATS = 5, COMMAND_PATIENCE = 10, WRITER_FULL = 1 << 20 };

/*
 * How long frames that may wait are gathered: each push wakes two threads of the peer, and small frames make
 * many pushes.
 */
static const int64_t GATHER_US = 50 * US_PER_MS;
enum { GATHER_BYTES = 64 << 10 };

struct sessions *sessions_new(int64_t now_boot_us)
{
	struct sessions *sessions = memory_new(sizeof(*sessions));

	sessions->ticked_boot_us = now_boot_us;
	sessions->by_epoch = map_new();
	sessions->by_peer = map_new();
	sessions->rebuilding = map_new();
	sessions->control_heard = memory_new(sizeof(*sessions->control_heard));
	list_init(&sessions->all);
	list_init(&sessions->put_off);
	list_init(&sessions->control);
	return sessions;
}

void sessions_free(struct sessions *sessions)
{
	map_free(sessions->rebuilding);
	map_free(sessions->by_epoch);
	map_free(sessions->by_peer);
	free(sessions->control_heard);
	free(sessions);
}

struct session *session_by_epoch(const struct broker *broker, uint64_t epoch)
{
	return map_get(broker->sessions->by_epoch, map_number(&epoch));
}

struct session *session_by_peer(const struct broker *broker, struct bytes routing)
{
	return map_get(broker->sessions->by_peer, routing);
}

bool session_is_of(const struct session *session, const char *who)
{
	return strcmp(session->who, who) == 0;
}

void hear_credit(struct session *session, const UpCredit *credit)
{
	UpCredit *known = &session->credit;

	if (credit->delivery_messages > known->delivery_messages)
		known->delivery_messages = credit->delivery_messages;
	if (credit->delivery_bytes > known->delivery_bytes)
		known->delivery_bytes = credit->delivery_bytes;
	if (credit->projection_messages > known->projection_messages)
		known->projection_messages = credit->projection_messages;
	if (credit->projection_bytes > known->projection_bytes)
		known->projection_bytes = credit->projection_bytes;
}

static void hear_echo(struct session *session, uint64_t echo)
{
	if (echo == 0 || echo > session->pings || session->pings - echo >= PINGS_REMEMBERED)
		return;
	if (session->ping_boot_us[echo % PINGS_REMEMBERED] > session->promise_from_us)
		session->promise_from_us = session->ping_boot_us[echo % PINGS_REMEMBERED];
}

static void answer_heartbeat(struct broker *broker, struct bytes peer, struct session *session, uint64_t epoch)
{
	Control control = { .which_what = Control_heartbeat_answer_tag };
	HeartbeatAnswer *answer = &control.what.heartbeat_answer;

	answer->epoch = epoch;
	answer->head = log_head(broker->log);
	answer->lost = !session;
	if (session) {
		answer->ping = ++session->pings;
		answer->received = session->up_number;
		session->ping_boot_us[session->pings % PINGS_REMEMBERED] = broker_boot_us(broker);
	}
	control_now(broker, peer, &control);
}

static void hear_counts(struct session *session, const Heartbeat *heartbeat)
{
	if (heartbeat->counts_count == 0)
		return;
	session->count_count = (int)heartbeat->counts_count;
	memcpy(session->counts, heartbeat->counts, heartbeat->counts_count * sizeof(Count));
}

static struct session *refuse_forged(struct broker *broker, const char *who, const struct session *session)
{
	refused(broker, REFUSED_EPOCH, who, NULL, "a heartbeat names the session of %s, which came otherwise",
		session->instance);
	return NULL;
}

void hear_heartbeat(struct broker *broker, struct bytes peer, const char *who, const Heartbeat *heartbeat)
{
	struct session *session = session_by_epoch(broker, heartbeat->epoch);

	if (session &&
		(!bytes_equal(peer, BYTES(session->routing, session->routing_len)) || !session_is_of(session, who)))
		session = refuse_forged(broker, who, session);
	if (session && heartbeat->goodbye) {
		session_end(broker, session, PARTING_GOODBYE);
		return;
	}
	if (session) {
		session->heard_boot_us = broker_boot_us(broker);
		session->received = heartbeat->received;
		session->spooled = heartbeat->spooled;
		if (heartbeat->has_credit)
			hear_credit(session, &heartbeat->credit);
		hear_echo(session, heartbeat->echo);
		hear_counts(session, heartbeat);
		if (heartbeat->wall_us > 0 && broker->clock->rate == 1) /* a demo's hours pass as the message travels */
			session->clock_off_us = heartbeat->wall_us - broker_wall_us(broker);
	}
	answer_heartbeat(broker, peer, session, heartbeat->epoch);
}

void session_end(struct broker *broker, struct session *session, enum parting how)
{
	leases_free(broker, session, how);
	claims_forget(broker, session->epoch);
	map_remove(broker->sessions->by_epoch, map_number(&session->epoch));
	if (session_by_peer(broker, BYTES(session->routing, session->routing_len)) == session)
		map_remove(broker->sessions->by_peer, BYTES(session->routing, session->routing_len));
	list_remove(&session->hook);
	broker->out.close_mailbox(broker->out.context, session->epoch);
	backfill_free(session->backfill);
	frame_writer_free(&session->writer);
	free(session);
	broker->needs_dispatch = true;
}

/*
 * If the broker itself was away, messages sent meanwhile are not read yet: no session is declared dead for a
 * while.
 */
static bool has_grace(struct broker *broker, int64_t now_us, int64_t silent_us)
{
	if (now_us - broker->sessions->ticked_boot_us > 2 * broker->settings.heartbeat_us)
		broker->sessions->silence_grace_until_us = now_us + silent_us;
	broker->sessions->ticked_boot_us = now_us;
	return now_us < broker->sessions->silence_grace_until_us;
}

/*
 * A command holds no item, claim or spool: nothing waits for the end of its session, and its machine may be
 * busy.
 */
static bool is_command(const struct broker *broker, const struct session *session)
{
	return broker->topology.peers[session->peer].operator_ && !broker->queues[session->peer] && !session->gateway;
}

void sessions_expire(struct broker *broker)
{
	int64_t now_us = broker_boot_us(broker);
	int64_t silent_us = SILENT_HEARTBEATS * broker->settings.heartbeat_us;
	bool grace = has_grace(broker, now_us, silent_us);

	LIST_EACH_SAFE (hook, &broker->sessions->all) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);

		int64_t allowed_us = is_command(broker, session) ? COMMAND_PATIENCE * silent_us : silent_us;

		if (session->failing || (!grace && now_us - session->heard_boot_us > allowed_us))
			session_end(broker, session, PARTING_CRASH);
	}
}

int64_t session_gathers_us(const struct broker *broker, const struct session *session)
{
	int64_t left_us = session->gathers_boot_us + GATHER_US - broker_boot_us(broker);

	return session->gathers && session->writer.items.len < GATHER_BYTES && left_us > 0 ? left_us : 0;
}

static void flush(struct broker *broker, struct session *session)
{
	struct bytes frame;

	if (session->writer.count == 0 || session_gathers_us(broker, session) > 0)
		return;
	frame = frame_close(&session->writer, session->epoch, session->down_number + 1);
	if (session->failing)
		return;
	if (broker->out.push(broker->out.context, session->epoch, frame) < 0)
		session->failing = true;
	else
		session->down_number++;
}

void session_put(struct broker *broker, struct session *session, const Down *down, struct bytes body)
{
	if (session->writer.count == 0) {
		session->gathers = session->batch_projections;
		session->gathers_boot_us = broker_boot_us(broker);
	}
	if (down->which_what != Down_projection_tag)
		session->gathers = false;
	frame_add(&session->writer, Down_fields, down, body);
	if (session->writer.items.len >= WRITER_FULL)
		flush(broker, session);
}

void sessions_flush_sayers(struct broker *broker)
{
	LIST_EACH (hook, &broker->sessions->all) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (!broker->queues[session->peer])
			flush(broker, session);
	}
}

void sessions_flush(struct broker *broker)
{
	LIST_EACH_SAFE (hook, &broker->sessions->all) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);

		flush(broker, session);
		if (session->failing)
			session_end(broker, session, PARTING_CRASH);
	}
}

/*
 * The messages on the control socket, and the tap
 *
 * Promises:  a welcome and the answer to a question that changed something leave after the sync that covers them.
 */

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
	list_append(&broker->sessions->control, &answer->hook);
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
	LIST_EACH_SAFE (hook, &broker->sessions->control) {
		struct control_answer *answer = LIST_ENTRY(hook, struct control_answer, hook);

		broker->out.control(broker->out.context, buffer_bytes(&answer->peer), buffer_bytes(&answer->message));
		control_answer_free(answer);
	}
}

void control_free(struct broker *broker)
{
	LIST_EACH_SAFE (hook, &broker->sessions->control)
		control_answer_free(LIST_ENTRY(hook, struct control_answer, hook));
}

/*
 * Writes the envelope, and the payload fields that its topic's mask shows; only the envelope if the payload
 * does not decode.
 */
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
