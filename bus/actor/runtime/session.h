/*
 * session.h: one process's session with the broker: hello, heartbeats, numbered frames both ways
 *
 * It knows nothing of turns. It hands items of the mailbox to its owner in order, and takes items for the
 * ingress. When a session breaks, the owner is told exactly once; then the session says hello again by
 * itself.
 */
#ifndef ACTOR_RUNTIME_SESSION_H
#define ACTOR_RUNTIME_SESSION_H

#include "bus.pb.h"
#include "bus/actor/runtime/runtime.h"

struct service_session;

struct session_owner {
	void *self;
	void (*hello)(void *self, Hello *hello); /* fill in what changes between hellos */
	/* false: this is not the log it was; ret_why gives the reason */
	bool (*recognise)(void *self, const Welcome *welcome, char ret_why[256]);
	void (*opened)(void *self, const Welcome *welcome);
	void (*lost)(void *self, const char *why); /* nothing more will come for this epoch */
	/* forget the folded state, because the log no longer has the messages that follow it */
	void (*rebuild)(void *self);
	void (*item)(void *self, const Down *item, struct bytes body);
	/* fill in the credit and the number of spooled messages */
	void (*heartbeat)(void *self, Heartbeat *heartbeat);
	void (*answer)(void *self, const Answer *answer);
};

struct service_session *session_new(const struct service *service, const struct runtime_settings *settings,
	const char *run, struct link *link, const struct clock *clock, const struct session_owner *owner);
void session_free(struct service_session *session); /* takes NULL; closes the link */

/* Reads everything that has arrived. */
void session_hear(struct service_session *session);
/* Sends everything that was added, and heartbeats and hellos that are due. */
void session_send(struct service_session *session);
int64_t session_wait_us(const struct service_session *session);

/* Items that are added with more = true travel in one frame with the next item. */
void session_add(struct service_session *session, const Up *item, struct bytes body, bool more);
/* -ENOTCONN: no session is open */
int session_ask(struct service_session *session, const Question *question);
/* ends this session and says a new hello */
void session_break(struct service_session *session, const char *why);
void session_goodbye(struct service_session *session);
void session_beat_soon(struct service_session *session); /* sends the next heartbeat at once */

bool session_is_open(const struct service_session *session);
uint64_t session_epoch(const struct service_session *session); /* 0: no session */
enum runtime_phase session_phase(
	const struct service_session *session); /* RUNTIME_CATCHING_UP while it is open; never RUNTIME_READY */
const char *session_why(const struct service_session *session);
/* refuses for good: the process must exit */
void session_refuse(struct service_session *session, const char *why);
/*
 * The boot time at which the last heartbeat with an echo of the broker's ping was sent; before the first one,
 * the start of the process.
 */
int64_t session_echoed_us(const struct service_session *session);

#endif
