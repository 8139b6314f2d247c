/*
 * session_frames.c: what a session says, gathered into numbered frames
 *
 * Owns:     the frame being gathered and the finished ones that the socket has not taken yet.
 * Promises: frames leave in order of their numbers; what belongs together is in one frame.
 * Fails by: frames_send answering false when the socket takes nothing for seconds.
 */
#include "bus/actor/session_inside.h"
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
	buffer_clear(&session->writer.items);
	session->writer.count = 0;
}

static void finish(struct session *session)
{
	struct frame *frame;

	if (session->writer.count == 0)
		return;
	frame = memory_new(sizeof(*frame));
	frame_finish(&session->writer, session->epoch, ++session->number, &frame->bytes);
	assert(frame->bytes.len <= FRAME_BYTES_MAX);
	list_append(&session->frames, &frame->hook);
	session->frame_count++;
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
	int64_t now = clock_boot_us(session->clock);

	finish(session);
	LIST_EACH_SAFE (hook, &session->frames) {
		struct frame *frame = LIST_ENTRY(hook, struct frame, hook);

		if (session->link->say(session->link, buffer_bytes(&frame->bytes)) < 0) {
			if (session->stuck_us == 0)
				session->stuck_us = now;
			return now - session->stuck_us < STUCK_US;
		}
		list_remove(hook);
		buffer_free(&frame->bytes);
		free(frame);
		session->frame_count--;
		session->stuck_us = 0;
	}
	return true;
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
