/*
 * ingress.c: frames from sessions, taken apart
 *
 * Promises:  frames of a session are accepted in order only; a frame that does not add up is refused and counted. A session whose
 *            frames make no sense or have a gap is ended: its peer says hello again and repeats what was not confirmed. While a
 *            commit is on its way, frames of services that have a queue are put off: a verdict lets the next letter of its key
 *            out, and that may leave only when the verdict is synced.
 * Read next: turn.c
 */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/session/session.h"
#include "bus/wire/frame.h"
#include <errno.h>
#include <stdlib.h>

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

/* A running total: it counts at once, and lets more out with the commit that is on its way. */
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
	list_append(&broker->put_off, &later->hook);
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
	if (broker->is_committing && broker->queues[session->peer]) {
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
	while (!broker->is_committing && !list_empty(&broker->put_off)) {
		struct put_off *later = LIST_ENTRY(broker->put_off.next, struct put_off, hook);

		hear_frame(broker, later->who, buffer_bytes(&later->frame));
		put_off_free(later);
	}
}

void put_off_drop(struct broker *broker)
{
	LIST_EACH_SAFE (hook, &broker->put_off)
		put_off_free(LIST_ENTRY(hook, struct put_off, hook));
}

void broker_hear_frame(struct broker *broker, const char *who, struct bytes frame)
{
	hear_put_off(broker);
	hear_frame(broker, who, frame);
}
