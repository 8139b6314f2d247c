/*
 * session.h: one process's session with the broker: hello, heartbeats, numbered frames both ways
 *
 * Knows nothing of turns: it brings items of the mailbox to its owner in order and takes items for the ingress. A session that
 * breaks is told to the owner exactly once; then the session says hello again by itself.
 */
#ifndef ACTOR_RUNTIME_SESSION_H
#define ACTOR_RUNTIME_SESSION_H

#include "bus.pb.h"
#include "bus/actor/runtime/runtime.h"

struct service_session;

struct session_owner {
	void *self;
	void (*hello)(void *self, Hello *hello); /* fill in what changes between hellos */
	bool (*recognise)(void *self, const Welcome *welcome, char ret_why[256]); /* false: not the log it was; why */
	void (*opened)(void *self, const Welcome *welcome);
	void (*lost)(void *self, const char *why); /* nothing more will come for this epoch */
	void (*rebuild)(void *self);               /* forget the folded state: the log has moved on too far */
	void (*item)(void *self, const Down *item, struct bytes body);
	void (*heartbeat)(void *self, Heartbeat *heartbeat); /* fill in credit and what is spooled */
	void (*answer)(void *self, const Answer *answer);
};

struct service_session *session_new(const struct service *service, const struct runtime_settings *settings,
	const char *run, struct link *link, const struct clock *clock, const struct session_owner *owner);
void session_free(struct service_session *session); /* takes NULL; closes the link */

/* Hears everything that has come. */
void session_hear(struct service_session *session);
/* Lets out everything that was added, heartbeats and hellos. */
void session_send(struct service_session *session);
int64_t session_wait_us(const struct service_session *session);

/* Items of one add..(more = true)..add travel in one frame. */
void session_add(struct service_session *session, const Up *item, struct bytes body, bool more);
int session_ask(struct service_session *session, const Question *question); /* -ENOTCONN */
void session_break(
	struct service_session *session, const char *why); /* this session is not worth keeping: a new hello */
void session_goodbye(struct service_session *session);
void session_beat_soon(struct service_session *session); /* the broker should know now */

bool session_is_open(const struct service_session *session);
uint64_t session_epoch(const struct service_session *session); /* 0: none */
enum runtime_phase session_phase(
	const struct service_session *session); /* RUNTIME_CATCHING_UP while it is open; never RUNTIME_READY */
const char *session_why(const struct service_session *session);
void session_refuse(struct service_session *session, const char *why); /* for good: the process is to exit */
/* Boot time when the last heartbeat with an echo of the broker's ping left; the start of the process at first. */
int64_t session_echoed_us(const struct service_session *session);

#endif
