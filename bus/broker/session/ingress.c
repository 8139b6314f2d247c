/*
 * ingress.c: parses frames from sessions, and takes or refuses their units as a whole
 *
 * Promises:  frames of a session are accepted in order only; a malformed frame is refused and counted. A
 *            session whose frames are malformed or have a gap is ended: its peer says hello again and repeats
 *            what was not confirmed. While a commit is under way, frames of services with a queue are put
 *            off: a verdict lets the next item of its key out, and that may leave only when the verdict is
 *            synced.
 * Read next: stage.c, log/idem.c, queue/claim.c, queue/lease.c
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/commit.h"
#include "bus/broker/log/idem.h"
#include "bus/broker/queue/claim.h"
#include "bus/broker/session/refused.h"
#include "bus/broker/session/session.h"
#include "bus/wire/frame.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * --- units ---
 *
 * Promises:  a turn's verdict and facts are committed together; a stale receipt refuses the whole turn; a publish
 *            with a key is committed once and answered with its number ever after.
 * Fails by:  refusing the unit with a reason; `poisoned` when repeating it is of no use.
 */

static const char *peer_name(const struct broker *broker, const struct session *session)
{
	return broker->topology.peers[session->peer].name;
}

/*
 * A claim that is repeated byte for byte is the same claim, whose answer was lost with its session: it is
 * still fresh. Another claim under the same key is a duplicate.
 */
static void answer_repeat(struct broker *broker, const struct session *session, uint64_t request,
	const Envelope *envelope, uint64_t seq, bool same)
{
	if (envelope->claim && same)
		answer_later(broker, session, request, CONFIRM_FRESH, seq, true);
	else
		answer_later(broker, session, request, CONFIRM_DUPLICATE, seq, envelope->claim);
}

void hear_publish(struct broker *broker, struct session *session, uint64_t request, struct bytes message)
{
	Envelope envelope;
	char reason[256];
	uint64_t before;
	bool same = false;
	int topic;

	if (judge_message(broker, session, message, &envelope, &topic, reason) < 0) {
		answer_refused(broker, session, request, reason, true);
		return;
	}
	before = envelope.idem[0] != '\0' ? idem_find(broker, topic, &envelope, message, &same) : 0;
	if (before > 0)
		answer_repeat(broker, session, request, &envelope, before, same);
	else if (disk_space_refuses(broker, session, reason))
		answer_refused(broker, session, request, reason, false);
	else if (envelope.claim && !gateways_drained(broker))
		claim_park(broker, session, request, message);
	else
		answer_later(broker, session, request, CONFIRM_FRESH,
			stage_message(broker, topic, &envelope, peer_name(broker, session), message), envelope.claim);
}

/* One fact of a turn; judged before any of them is staged. */
struct judged {
	Envelope envelope;
	int topic;
	struct bytes message;
	bool repeated; /* said before under its key: it is in the log already, and left out here */
};

static int judge_facts(struct broker *broker, struct session *session, const UpTurn *up, const struct bytes *facts,
	struct judged *ret, char reason[256])
{
	for (uint32_t i = 0; i < up->facts; i++) {
		bool same;

		ret[i].message = facts[i];
		if (judge_message(broker, session, facts[i], &ret[i].envelope, &ret[i].topic, reason) < 0)
			return -EINVAL;
		if (ret[i].envelope.claim) {
			snprintf(reason, 256, "a claim is said by itself, not within a turn");
			refused(broker, REFUSED_ITEM, session->who, session, "%s", reason);
			return -EINVAL;
		}
		ret[i].repeated = ret[i].envelope.idem[0] != '\0' &&
			idem_find(broker, ret[i].topic, &ret[i].envelope, facts[i], &same) > 0;
	}
	return 0;
}

static uint64_t stage_facts(struct broker *broker, struct session *session, const struct judged *facts, uint32_t count)
{
	uint64_t first = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t seq;

		if (facts[i].repeated)
			continue;
		seq = stage_message(
			broker, facts[i].topic, &facts[i].envelope, peer_name(broker, session), facts[i].message);
		if (first == 0)
			first = seq;
	}
	return first;
}

static void settle(struct broker *broker, struct session *session, struct queue *queue, struct queue_item *queue_item,
	const UpTurn *up)
{
	queue_item->suspect = false;
	queue_item->uncounted_crashes = 0;
	queue_item->shared_crash_id = 0;
	queue_item->suspected_at_us = 0;
	if (up->verdict == VERDICT_DONE || (up->verdict == VERDICT_RETURN && !up->failed))
		queue_pause_worked(broker, queue);
	switch (up->verdict) {
	case VERDICT_DONE:
		queue_settle(broker, queue, queue_item);
		break;
	case VERDICT_RETURN:
		if (up->failed)
			retry_failed(broker, queue, queue_item, up->delay_us, up->reason, session->instance);
		else
			retry_waits(broker, queue, queue_item, up->delay_us);
		break;
	case VERDICT_DEAD:
		retry_refused(broker, queue, queue_item, up->reason, session->instance);
		break;
	}
}

/* 0: the turn is accepted; *ret_item is the item that it settles, NULL for a turn on the clock. */
static int check_receipt(struct broker *broker, struct session *session, const UpTurn *up, struct queue **ret_queue,
	struct queue_item **ret_item, char reason[256])
{
	const struct topology_peer *peer = &broker->topology.peers[session->peer];

	*ret_item = NULL;
	if (up->receipt.seq == 0) {
		if (peer->exclusive)
			return 0;
		snprintf(reason, 256, "%s is not exclusive: it has no turns on the clock", peer->name);
		refused(broker, REFUSED_RIGHT, session->who, session, "%s", reason);
		return -EPERM;
	}
	*ret_item = lease_find(broker, session, &up->receipt, ret_queue);
	if (*ret_item)
		return 0;
	snprintf(reason, 256, "stale receipt: message %llu of queue %s, attempt %u, is not leased to this session",
		(unsigned long long)up->receipt.seq, up->receipt.queue, up->receipt.attempt);
	refused(broker, REFUSED_RECEIPT, session->who, session, "%s", reason);
	return -ESTALE;
}

/*
 * Frames that the session has under way may rest on this turn's facts: none of them counts until the next
 * hello.
 */
static void refuse_turn(
	struct broker *broker, struct session *session, const UpTurn *up, const char *reason, bool poisoned)
{
	session->turn_refused = true;
	answer_refused(broker, session, up->request, reason, poisoned);
}

/* `facts` holds up->facts messages. */
static void hear_turn(struct broker *broker, struct session *session, const UpTurn *up, const struct bytes *facts)
{
	struct judged *judged = NULL;
	struct queue *queue = NULL;
	struct queue_item *queue_item = NULL;
	char reason[256];

	if (session->turn_refused) {
		refuse_turn(broker, session, up, "it may be decided on a turn before it that was refused", false);
		return;
	}
	if (check_receipt(broker, session, up, &queue, &queue_item, reason) < 0) {
		refuse_turn(broker, session, up, reason, false);
		return;
	}
	if (up->facts > 0)
		judged = memory_new(up->facts * sizeof(*judged));
	if (judge_facts(broker, session, up, facts, judged, reason) < 0) {
		refuse_turn(broker, session, up, reason, true);
		if (queue_item)
			retry_refused(broker, queue, queue_item, reason, session->instance);
	} else {
		answer_later(broker, session, up->request, CONFIRM_FRESH,
			stage_facts(broker, session, judged, up->facts), false);
		broker->commit->verdict_count++;
		if (queue_item)
			settle(broker, session, queue, queue_item, up);
	}
	free(judged);
}

/* --- frames --- */

/* A turn and the facts that follow it in the frame. */
static int hear_whole_turn(
	struct broker *broker, struct session *session, const UpTurn *up, struct frame_reader *reader)
{
	struct bytes *facts = NULL;
	Up item;
	int r = 0;

	if (up->facts > TURN_FACTS_MAX || up->facts > reader->left)
		return -EBADMSG;
	if (up->facts > 0)
		facts = memory_new(up->facts * sizeof(*facts));
	for (uint32_t i = 0; r == 0 && i < up->facts; i++) {
		r = frame_next(reader, Up_fields, &item, &facts[i]);
		if (r == 0 && (item.which_what != Up_fact_tag || item.what.fact.index != i))
			r = -EBADMSG;
	}
	if (r == 0)
		hear_turn(broker, session, up, facts);
	free(facts);
	return r;
}

static int hear_item(
	struct broker *broker, struct session *session, const Up *up, struct bytes body, struct frame_reader *reader)
{
	switch (up->which_what) {
	case Up_publish_tag:
		hear_publish(broker, session, up->what.publish.request, body);
		return 0;
	case Up_turn_tag:
		if (up->what.turn.verdict > VERDICT_DEAD)
			return -EBADMSG;
		return hear_whole_turn(broker, session, &up->what.turn, reader);
	case Up_credit_tag:
		hear_credit(session, &up->what.credit);
		return 0;
	case Up_renew_tag:
		lease_renew(broker, session, &up->what.renew);
		return 0;
	}
	return -EBADMSG;
}

static void hear_items(struct broker *broker, struct session *session, struct frame_reader *reader)
{
	struct bytes body;
	Up up;
	int r;

	while ((r = frame_next(reader, Up_fields, &up, &body)) == 0) {
		r = hear_item(broker, session, &up, body, reader);
		if (r < 0)
			break;
	}
	if (r != -ENODATA) {
		refused(broker, REFUSED_ITEM, session->who, session,
			"it is garbled, or of a kind that this version does not know: the session ends");
		session_end(broker, session, PARTING_AGAIN);
	}
}

struct put_off {
	struct list hook;
	char who[WHO_MAX];
	struct buffer frame;
};

/* The credit is a running total: it counts at once, and lets more out with the commit that is under way. */
static void take_credit(struct session *session, struct frame_reader reader)
{
	struct bytes body;
	Up up;

	while (frame_next(&reader, Up_fields, &up, &body) == 0)
		if (up.which_what == Up_credit_tag)
			hear_credit(session, &up.what.credit);
}

static void put_off(struct broker *broker, const char *who, struct bytes frame)
{
	struct put_off *later = memory_new(sizeof(*later));

	TEXT_COPY(later->who, who);
	buffer_add(&later->frame, frame.data, frame.len);
	list_append(&broker->sessions->put_off, &later->hook);
}

static void put_off_free(struct put_off *later)
{
	list_remove(&later->hook);
	buffer_free(&later->frame);
	free(later);
}

static void hear_frame(struct broker *broker, const char *who, struct bytes frame)
{
	struct frame_reader reader;
	struct session *session;

	if (frame_open(frame, &reader) < 0) {
		refused(broker, REFUSED_FRAME, who, NULL,
			"its %zu bytes are no frame, or too many, or in several parts", frame.len);
		return;
	}
	session = session_by_epoch(broker, reader.head.epoch);
	if (!session || !session_is_of(session, who)) {
		refused(broker, REFUSED_EPOCH, who, NULL,
			session ? "it names a session of %s, which came otherwise" : "it names no live session%s",
			session ? session->instance : "");
		return;
	}
	if (broker->commit->is_committing && broker->queues[session->peer]) {
		take_credit(session, reader);
		put_off(broker, who, frame);
		return;
	}
	if (reader.head.number != session->up_number + 1) {
		refused(broker, REFUSED_NUMBER, session->who, session, "it has number %llu, and %llu is next",
			(unsigned long long)reader.head.number, (unsigned long long)session->up_number + 1);
		if (reader.head.number > session->up_number)
			session_end(broker, session, PARTING_AGAIN);
		return;
	}
	session->up_number++;
	session->heard_boot_us = broker_boot_us(broker);
	hear_items(broker, session, &reader);
}

void hear_put_off(struct broker *broker)
{
	while (!broker->commit->is_committing && !list_empty(&broker->sessions->put_off)) {
		struct put_off *later = LIST_ENTRY(broker->sessions->put_off.next, struct put_off, hook);

		hear_frame(broker, later->who, buffer_bytes(&later->frame));
		put_off_free(later);
	}
}

void put_off_drop(struct broker *broker)
{
	LIST_EACH_SAFE (hook, &broker->sessions->put_off)
		put_off_free(LIST_ENTRY(hook, struct put_off, hook));
}

void broker_hear_frame(struct broker *broker, const char *who, struct bytes frame)
{
	hear_put_off(broker);
	hear_frame(broker, who, frame);
}
