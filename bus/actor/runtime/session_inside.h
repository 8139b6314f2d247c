/*
 * session_inside.h: a session's own memory, shared by session.c and session_frames.c
 */
#ifndef ACTOR_RUNTIME_SESSION_INSIDE_H
#define ACTOR_RUNTIME_SESSION_INSIDE_H

#include "bus/actor/runtime/session.h"
#include "bus/base/list.h"
#include "bus/wire/frame.h"

#define FRAMES_AGAIN_US (2 * US_PER_MS) /* when the socket was full */

struct session {
	const struct service *service;
	const char *instance, *run;
	char host[64]; /* this one's name */
	struct link *link;
	const struct clock *clock;
	struct session_owner owner;
	enum runtime_phase phase;
	char why[256];
	Control *in_control, *out_control; /* large: 33 KB each */
	struct buffer heard, out;
	/* hello */
	int64_t backoff_us;
	int64_t hello_us; /* when to say it (again) */
	bool silent;      /* said, not answered */
	int64_t away_since_us;
	/* an open session */
	uint64_t epoch;
	uint64_t received; /* number of the last frame of the lane */
	uint64_t ping;     /* the broker's last */
	int64_t heartbeat_us, heartbeat_at_us;
	int64_t heard_us;  /* the broker, last */
	int64_t echoed_us; /* outlives sessions */
	/* session_frames.c */
	struct frame_writer writer;
	struct list frames; /* finished, waiting for the socket */
	size_t frame_count;
	uint64_t number;    /* of the last frame finished */
	int64_t stuck_us;   /* since when the socket takes nothing; 0: it does */
	uint64_t arrived;   /* the broker has received up to here ... */
	int64_t arrived_us; /* ... which last changed then */
};

void frames_open(struct session *session);
void frames_drop(struct session *session);
bool frames_send(struct session *session); /* false: the socket has been stuck for too long */
bool frames_blocked(const struct session *session);
/* The broker has received up to `received`; false: it has stood still for `patience_us` though more was sent. */
bool frames_arrive(struct session *session, uint64_t received, int64_t patience_us);

#endif
