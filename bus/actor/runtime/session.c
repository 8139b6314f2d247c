/*
 * session.c: hello, welcome, heartbeat, goodbye, and the frames that go out
 *
 * Owns:      the link, the epoch, the heartbeat's clock, the phase.
 * Promises:  a frame of another epoch or out of order ends the session; so does silence for five heartbeats;
 *            every end is reported once. Heartbeats are never further apart than the broker asks, and fall on
 *            the multiples of that in the host's boot time.
 * Fails by:  going AWAY with the reason in words; REFUSED when the broker says that trying again is of no
 *            use.
 * Read next: runtime.c (the owner of the session)
 */
#include "bus/actor/runtime/session.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/frame.h"
#include "bus/wire/protocol.h"
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FRAMES_AGAIN_US (2 * US_PER_MS) /* next try when the socket was full */

struct service_session {
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
	int64_t hello_us; /* when to say hello (again) */
	bool silent;      /* said, not answered */
	int64_t away_since_us;
	/* an open session */
	uint64_t epoch;
	uint64_t received; /* number of the last frame of the mailbox */
	uint64_t ping;     /* number of the broker's last ping */
	int64_t heartbeat_us, heartbeat_at_us;
	int64_t heard_us;  /* when the broker was last heard */
	int64_t echoed_us; /* outlives sessions */
	/* frames that go out */
	struct frame_writer writer;
	struct list frames; /* finished, waiting for the socket */
	size_t frame_count;
	uint64_t number;    /* of the last frame finished */
	int64_t stuck_us;   /* since when the socket has taken nothing; 0: it takes frames */
	uint64_t arrived;   /* the broker has received up to this number ... */
	int64_t arrived_us; /* ... since this moment */
};

static const int64_t HELLO_PATIENCE_US = 1 * US_PER_S; /* after this time without an answer the hello is said again */
static const int64_t BACKOFF_DEFAULT_US = 200 * US_PER_MS;
static const int64_t RELEASE_AGAIN_US = 2 * US_PER_S;
static const int64_t STANDBY_AGAIN_US = 300 * US_PER_MS;
enum { HEARTBEATS_UNTIL_DEAD = 5, HEARTBEAT_LEAST_MS = 10 };

static const int64_t TELL_ALONE_US = 2 * US_PER_S; /* at the start of a machine the broker comes a moment later */
static const char NOT_YET[] = "not connected yet";

static int64_t now_us(const struct service_session *session)
{
	return clock_boot_us(session->clock);
}

/*
 * Gathers the messages of a session into numbered frames
 *
 * Owns:      the frame being gathered and the finished ones that the socket has not taken yet.
 * Promises:  frames leave in order of their numbers; messages that belong together share a frame.
 * Fails by:  frames_send answering false when the socket takes nothing for seconds.
 */

static const int64_t STUCK_US = 5 * US_PER_S;
enum { FRAME_GATHERED_BYTES = 512 << 10 };

struct frame {
	struct list hook;
	struct buffer bytes;
};

static void frames_drop(struct service_session *session)
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

static void frames_open(struct service_session *session)
{
	frames_drop(session);
	session->number = 0;
	session->arrived = 0;
	session->arrived_us = clock_boot_us(session->clock);
	session->stuck_us = 0;
}

static bool push_frame(struct service_session *session, struct bytes frame)
{
	if (session->link->say(session->link, frame) < 0) {
		if (session->stuck_us == 0)
			session->stuck_us = clock_boot_us(session->clock);
		return false;
	}
	session->stuck_us = 0;
	return true;
}

static void keep(struct service_session *session, struct bytes bytes)
{
	struct frame *frame = memory_new(sizeof(*frame));

	buffer_add(&frame->bytes, bytes.data, bytes.len);
	list_append(&session->frames, &frame->hook);
	session->frame_count++;
}

/* The frame is sent from where it was gathered, unless others wait before it, or the socket takes nothing. */
static void finish(struct service_session *session)
{
	struct bytes frame;

	if (session->writer.count == 0)
		return;
	frame = frame_close(&session->writer, session->epoch, ++session->number);
	assert(frame.len <= FRAME_BYTES_MAX);
	if (!list_empty(&session->frames) || !push_frame(session, frame))
		keep(session, frame);
}

void session_add(struct service_session *session, const Up *item, struct bytes body, bool more)
{
	assert(session_is_open(session));
	frame_add(&session->writer, Up_fields, item, body);
	if (!more && session->writer.items.len >= FRAME_GATHERED_BYTES)
		finish(session);
}

/* false: the socket has been stuck for too long. */
static bool frames_send(struct service_session *session)
{
	LIST_EACH_SAFE (hook, &session->frames) {
		struct frame *frame = LIST_ENTRY(hook, struct frame, hook);

		if (!push_frame(session, buffer_bytes(&frame->bytes)))
			break;
		list_remove(hook);
		buffer_free(&frame->bytes);
		free(frame);
		session->frame_count--;
	}
	finish(session);
	return session->stuck_us == 0 || clock_boot_us(session->clock) - session->stuck_us < STUCK_US;
}

static bool frames_blocked(const struct service_session *session)
{
	return session->frame_count > 0;
}

/*
 * The broker has received up to `received`; false: that has not grown for `patience_us` though more was sent.
 */
static bool frames_arrive(struct service_session *session, uint64_t received, int64_t patience_us)
{
	int64_t now = clock_boot_us(session->clock);

	if (received != session->arrived || received >= session->number - session->frame_count) {
		session->arrived = received;
		session->arrived_us = now;
	}
	return now - session->arrived_us < patience_us;
}

/* --- from beginning to end --- */

struct service_session *session_new(const struct service *service, const struct runtime_settings *settings,
	const char *run, struct link *link, const struct clock *clock, const struct session_owner *owner)
{
	struct service_session *session = memory_new(sizeof(*session));

	session->service = service;
	session->run = run;
	session->instance = settings->instance;
	if (gethostname(session->host, sizeof(session->host) - 1) < 0)
		session->host[0] = '\0';
	session->backoff_us = settings->connect_backoff_us > 0 ? settings->connect_backoff_us : BACKOFF_DEFAULT_US;
	session->link = link;
	session->clock = clock;
	session->owner = *owner;
	session->out_control = memory_new(sizeof(*session->out_control));
	session->in_control = memory_new(sizeof(*session->in_control));
	session->echoed_us = now_us(session);
	list_init(&session->frames);
	session->away_since_us = now_us(session);
	TEXT_COPY(session->why, NOT_YET);
	return session;
}

void session_free(struct service_session *session)
{
	if (!session)
		return;
	frames_drop(session);
	frame_writer_free(&session->writer);
	buffer_free(&session->heard);
	buffer_free(&session->out);
	session->link->close(session->link);
	free(session->out_control);
	free(session->in_control);
	free(session);
}

/* The struct is large, most of it an answer's text: only the fields that the answer uses are cleared. */
static void *new_control(struct service_session *session, pb_size_t what, size_t size)
{
	session->out_control->which_what = what;
	return memset(&session->out_control->what, 0, size);
}

static int send_control(struct service_session *session)
{
	int r;

	buffer_clear(&session->out);
	r = control_encode(session->out_control, &session->out);
	return r < 0 ? r : session->link->control(session->link, buffer_bytes(&session->out));
}

/* --- ends --- */

static void end(struct service_session *session, enum runtime_phase phase, const char *why, int64_t again_us)
{
	bool was_open = session_is_open(session);

	TEXT_COPY(session->why, why);
	session->phase = phase;
	session->epoch = 0;
	session->away_since_us = now_us(session);
	session->hello_us = session->away_since_us + again_us;
	frames_drop(session);
	if (was_open)
		session->owner.lost(session->owner.self, session->why);
}

void session_break(struct service_session *session, const char *why)
{
	if (session_is_open(session))
		end(session, RUNTIME_AWAY, why, session->backoff_us);
}

void session_refuse(struct service_session *session, const char *why)
{
	end(session, RUNTIME_REFUSED, why, 0);
}

static void broken(struct service_session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void broken(struct service_session *session, const char *format, ...)
{
	char why[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	session_break(session, why);
}

/* --- hello --- */

static const char *obstacle_to(const struct service_session *session)
{
	return session->link->obstacle ? session->link->obstacle(session->link) : NULL;
}

static bool is_long_alone(const struct service_session *session)
{
	return now_us(session) - session->away_since_us >= TELL_ALONE_US;
}

/* The reason why the session ended before says more, and was reported. */
static void note_unreachable(struct service_session *session)
{
	const char *obstacle = obstacle_to(session);

	if (obstacle && session->phase == RUNTIME_STANDBY)
		session->phase = RUNTIME_AWAY;
	if (session->phase != RUNTIME_AWAY)
		return;
	if (obstacle)
		TEXT_COPY(session->why, obstacle);
	else if (session->link->why && is_long_alone(session) && strcmp(session->why, NOT_YET) == 0)
		session->link->why(session->link, session->why);
	else if (session->silent && !session->link->why)
		TEXT_COPY(session->why, "the broker cannot be reached");
}

static void note_unanswered(struct service_session *session)
{
	if (session->phase == RUNTIME_AWAY && session->silent && is_long_alone(session) &&
		strcmp(session->why, NOT_YET) == 0)
		TEXT_COPY(session->why, "the broker takes a hello and does not answer");
}

static void say_hello(struct service_session *session)
{
	Hello *hello = new_control(session, Control_hello_tag, sizeof(*hello));

	TEXT_COPY(hello->service, session->service->name);
	TEXT_COPY(hello->instance, session->instance);
	TEXT_COPY(hello->run, session->run);
	TEXT_COPY(hello->host, session->host);
	hello->gateway = session->service->gateway;
	hello->version = PROTOCOL_MOST;
	hello->version_least = PROTOCOL_LEAST;
	hello->hears_further = true;
	hello->unhurried = session->service->batch_projections;
	session->owner.hello(session->owner.self, hello);
	if (send_control(session) < 0) {
		note_unreachable(session);
		session->hello_us = now_us(session) + session->backoff_us;
		return;
	}
	note_unanswered(session);
	session->silent = true;
	session->hello_us = now_us(session) + HELLO_PATIENCE_US;
}

/* A broker that knows no versions takes every hello. */
static bool is_of_another_release(const Welcome *welcome, char why[256])
{
	uint32_t version = protocol_named(welcome->version);

	if (protocol_common(version, version) > 0)
		return false;
	snprintf(why, 256,
		"the broker speaks version %u of the protocol and this program %d to %d: install the same release of "
		"cartbus on both sides",
		version, PROTOCOL_LEAST, PROTOCOL_MOST);
	return true;
}

static void hear_welcome(struct service_session *session, const Welcome *welcome)
{
	int64_t now = now_us(session);
	char why[256];

	session->silent = false;
	if (session_is_open(session) && welcome->epoch == session->epoch)
		return;
	if (is_of_another_release(welcome, why)) {
		end(session, RUNTIME_AWAY, why, RELEASE_AGAIN_US);
		return;
	}
	if (!session->owner.recognise(session->owner.self, welcome, why)) {
		session_refuse(session, why);
		return;
	}
	if (session_is_open(session)) {
		end(session, RUNTIME_AWAY, "the broker opened a newer session", 0);
	}
	if (welcome->rebuild) {
		session->owner.rebuild(session->owner.self);
		end(session, RUNTIME_AWAY, "the log has moved on: folding anew", 0);
		return;
	}
	if (!welcome->active) {
		end(session, RUNTIME_STANDBY, "another instance is active", STANDBY_AGAIN_US);
		return;
	}
	if (session->link->open_mailbox(session->link, welcome->lane) < 0) {
		end(session, RUNTIME_AWAY, "the lane cannot be opened", session->backoff_us);
		return;
	}
	session->phase = RUNTIME_CATCHING_UP;
	session->epoch = welcome->epoch;
	session->heartbeat_us =
		US_PER_MS * (welcome->heartbeat_ms > HEARTBEAT_LEAST_MS ? welcome->heartbeat_ms : HEARTBEAT_LEAST_MS);
	session->heartbeat_at_us = now;
	session->heard_us = now;
	session->received = 0;
	session->ping = 0;
	frames_open(session);
	session->owner.opened(session->owner.self, welcome);
}

static void hear_refusal(struct service_session *session, const Refusal *refusal)
{
	session->silent = false;
	if (refusal->final)
		session_refuse(session, refusal->reason);
	else
		end(session, RUNTIME_AWAY, refusal->reason, session->backoff_us);
}

/* --- heartbeat --- */

static void give_up_on_broker(struct service_session *session, int64_t silent_us)
{
	const char *obstacle = obstacle_to(session);

	if (obstacle)
		session_break(session, obstacle);
	else
		broken(session, "the broker has been silent for %lld ms", (long long)(silent_us / US_PER_MS));
}

/*
 * Heartbeats fall on the same moment in all processes of a host: the broker wakes once to hear them all, not
 * once for each.
 */
static int64_t next_beat_us(const struct service_session *session)
{
	int64_t now = now_us(session);

	return now - now % session->heartbeat_us + session->heartbeat_us;
}

static void beat(struct service_session *session, bool goodbye)
{
	Heartbeat *heartbeat = new_control(session, Control_heartbeat_tag, sizeof(*heartbeat));

	heartbeat->epoch = session->epoch;
	heartbeat->received = session->received;
	heartbeat->echo = session->ping;
	heartbeat->goodbye = goodbye;
	heartbeat->wall_us = clock_wall_us(session->clock);
	session->owner.heartbeat(session->owner.self, heartbeat);
	session->heartbeat_at_us = next_beat_us(session);
	if (send_control(session) == 0 && session->ping > 0)
		session->echoed_us = now_us(session);
}

static void hear_heartbeat(struct service_session *session, const HeartbeatAnswer *answer)
{
	if (!session_is_open(session) || answer->epoch != session->epoch)
		return;
	session->heard_us = now_us(session);
	session->ping = answer->ping;
	if (answer->lost)
		session_break(session, "the broker has given this session up");
	else if (!frames_arrive(session, answer->received, HEARTBEATS_UNTIL_DEAD * session->heartbeat_us))
		session_break(session, "frames to the broker were lost");
}

void session_beat_soon(struct service_session *session)
{
	session->heartbeat_at_us = now_us(session);
}

void session_goodbye(struct service_session *session)
{
	if (!session_is_open(session))
		return;
	beat(session, true);
	end(session, RUNTIME_AWAY, "stopped", INT64_MAX / 2);
}

/* --- hearing --- */

static void hear_control(struct service_session *session)
{
	const Control *control = session->in_control;

	if (session->phase == RUNTIME_REFUSED || control_decode(buffer_bytes(&session->heard), session->in_control) < 0)
		return;
	switch (control->which_what) {
	case Control_welcome_tag:
		hear_welcome(session, &control->what.welcome);
		break;
	case Control_refusal_tag:
		hear_refusal(session, &control->what.refusal);
		break;
	case Control_heartbeat_answer_tag:
		hear_heartbeat(session, &control->what.heartbeat_answer);
		break;
	case Control_answer_tag:
		session->owner.answer(session->owner.self, &control->what.answer);
		break;
	}
}

static void hear_frame(struct service_session *session)
{
	struct frame_reader reader;
	struct bytes body;
	Down item;
	int r = frame_open(buffer_bytes(&session->heard), &reader);

	if (r == 0 && reader.head.epoch != session->epoch)
		return;
	if (r == 0 && reader.head.number != session->received + 1) {
		broken(session, "a gap on the lane: frame %llu after %llu", (unsigned long long)reader.head.number,
			(unsigned long long)session->received);
		return;
	}
	session->received++;
	session->heard_us = now_us(session);
	while (r == 0 && session_is_open(session) && (r = frame_next(&reader, Down_fields, &item, &body)) == 0)
		session->owner.item(session->owner.self, &item, body);
	if (r < 0 && r != -ENODATA)
		session_break(session, "a frame of the broker does not add up");
}

void session_hear(struct service_session *session)
{
	while (session->link->hear_control(session->link, &session->heard) == 0)
		hear_control(session);
	while (session->link->hear_mailbox(session->link, &session->heard) == 0)
		hear_frame(session); /* also after the end: frames left in a mailbox must not wake this process again */
}

/* --- sending, and when --- */

void session_send(struct service_session *session)
{
	int64_t now = now_us(session);

	if (session_is_open(session)) {
		if (now - session->heard_us >= HEARTBEATS_UNTIL_DEAD * session->heartbeat_us)
			give_up_on_broker(session, now - session->heard_us);
		else if (!frames_send(session))
			session_break(session, "the broker does not take what is said");
	}
	if (session_is_open(session)) {
		if (now >= session->heartbeat_at_us)
			beat(session, false);
	} else if (session->phase != RUNTIME_REFUSED && now >= session->hello_us) {
		say_hello(session);
	}
}

int64_t session_wait_us(const struct service_session *session)
{
	int64_t now = now_us(session), at = session->hello_us;

	if (session->phase == RUNTIME_REFUSED)
		return INT64_MAX;
	if (session_is_open(session)) {
		int64_t dead = session->heard_us + HEARTBEATS_UNTIL_DEAD * session->heartbeat_us;

		at = session->heartbeat_at_us < dead ? session->heartbeat_at_us : dead;
		if (frames_blocked(session) && at > now + FRAMES_AGAIN_US)
			at = now + FRAMES_AGAIN_US;
	}
	return at > now ? at - now : 0;
}

int session_ask(struct service_session *session, const Question *question)
{
	memcpy(new_control(session, Control_question_tag, sizeof(*question)), question, sizeof(*question));
	return send_control(session) < 0 ? -ENOTCONN : 0;
}

bool session_is_open(const struct service_session *session)
{
	return session->epoch != 0;
}

uint64_t session_epoch(const struct service_session *session)
{
	return session->epoch;
}

enum runtime_phase session_phase(const struct service_session *session)
{
	return session->phase;
}

const char *session_why(const struct service_session *session)
{
	return session->why;
}

int64_t session_echoed_us(const struct service_session *session)
{
	return session->echoed_us;
}
