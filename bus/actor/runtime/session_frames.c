/*
 * session_frames.c: what a session says, gathered into numbered frames
 *
 * Owns:     the frame being gathered and the finished ones that the socket has not taken yet.
 * Promises: frames leave in order of their numbers; what belongs together is in one frame.
 * Fails by: frames_send answering false when the socket takes nothing for seconds.
 */
#include "bus/actor/runtime/session_inside.h"
#include "bus/base/memory.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static const int64_t STUCK_US = 5 * US_PER_S;
enum { FRAME_GATHERED_BYTES = 512 << 10 };

struct frame {
	struct list hook;
	struct buffer bytes;
};

void frames_open(struct session *session)
{
	frames_drop(session);
	session->number = 0;
	session->arrived = 0;
	session->arrived_us = clock_boot_us(session->clock);
	session->stuck_us = 0;
}

void frames_drop(struct session *session)
{
	LIST_EACH_SAFE (hook, &session->frames) {
		struct frame *frame = LIST_ENTRY(hook, struct frame, hook);

		list_remove(hook);
		buffer_free(&frame->bytes);
		free(frame);
	}
	session->frame_count = 0;
	frame_writer_clear(&session->writer);
}

static bool say(struct session *session, struct bytes frame)
{
	if (session->link->say(session->link, frame) < 0) {
		if (session->stuck_us == 0)
			session->stuck_us = clock_boot_us(session->clock);
		return false;
	}
	session->stuck_us = 0;
	return true;
}

static void keep(struct session *session, struct bytes bytes)
{
	struct frame *frame = memory_new(sizeof(*frame));

	buffer_add(&frame->bytes, bytes.data, bytes.len);
	list_append(&session->frames, &frame->hook);
	session->frame_count++;
}

/* It leaves from where it was gathered, unless others wait before it, or the socket takes nothing. */
static void finish(struct session *session)
{
	struct bytes frame;

	if (session->writer.count == 0)
		return;
	frame = frame_close(&session->writer, session->epoch, ++session->number);
	assert(frame.len <= FRAME_BYTES_MAX);
	if (!list_empty(&session->frames) || !say(session, frame))
		keep(session, frame);
}

void session_add(struct session *session, const Up *item, struct bytes body, bool more)
{
	assert(session_is_open(session));
	frame_add(&session->writer, Up_fields, item, body);
	if (!more && session->writer.items.len >= FRAME_GATHERED_BYTES)
		finish(session);
}

bool frames_send(struct session *session)
{
	LIST_EACH_SAFE (hook, &session->frames) {
		struct frame *frame = LIST_ENTRY(hook, struct frame, hook);

		if (!say(session, buffer_bytes(&frame->bytes)))
			break;
		list_remove(hook);
		buffer_free(&frame->bytes);
		free(frame);
		session->frame_count--;
	}
	finish(session);
	return session->stuck_us == 0 || clock_boot_us(session->clock) - session->stuck_us < STUCK_US;
}

bool frames_blocked(const struct session *session)
{
	return session->frame_count > 0;
}

bool frames_arrive(struct session *session, uint64_t received, int64_t patience_us)
{
	int64_t now = clock_boot_us(session->clock);

	if (received != session->arrived || received >= session->number - session->frame_count) {
		session->arrived = received;
		session->arrived_us = now;
	}
	return now - session->arrived_us < patience_us;
}
