/*
 * session.h: one peer, one run, one mailbox, one epoch
 */
#ifndef BROKER_SESSION_SESSION_H
#define BROKER_SESSION_SESSION_H

#include "bus/broker/queue/queue.h"

enum { PINGS_REMEMBERED = 32 };

struct backfill; /* backfill.c */

struct session {
	struct list hook;
	uint64_t epoch; /* random: a name that only its peer knows */
	uint64_t order; /* the position of its hello since the start */
	int peer;       /* index into the topology */
	char instance[64];
	char run[40];
	/* the host name that it reports; empty: it reports none, or one that cannot be shown */
	char host[64];
	uint8_t routing[256];
	size_t routing_len;
	char who[WHO_MAX]; /* its name at the gate */
	unsigned rights;   /* of enum right */
	bool gateway;
	bool hears_further;     /* one confirm may answer many requests */
	bool batch_projections; /* frames with only projections are gathered for it */
	int64_t heard_boot_us;

	uint64_t up_number;   /* last frame accepted */
	uint64_t down_number; /* last frame sent */
	uint64_t received;    /* the last frame that it has confirmed */

	uint64_t spooled;
	uint64_t pings; /* sent */
	int64_t ping_boot_us[PINGS_REMEMBERED];
	int64_t promise_from_us; /* boot time of the last ping it echoed; 0: none yet */

	/* how far its clock is ahead of log time, as last reported; also 0 if it does not report it */
	int64_t clock_off_us;
	Count counts[sizeof((Heartbeat){ 0 }.counts) / sizeof(Count)]; /* as last reported */
	int count_count;

	UpCredit credit;
	uint64_t delivered_messages, delivered_bytes, projected_messages, projected_bytes;

	uint64_t cursor; /* it was sent the projections up to here */
	uint64_t told;   /* the last number in a projection or progress item */
	int64_t told_boot_us;
	bool wants_progress;       /* a delivery waits for it, so it must not wait for the heartbeat */
	struct backfill *backfill; /* NULL: it reads the log only */
	uint64_t backfill_looked;  /* the log was searched up to here for messages beside the rows ... */
	/* ... and this is the next one; if it is not above the cursor, none is found yet */
	uint64_t backfill_log;

	struct list leased; /* items, oldest first */
	uint32_t leased_count;
	bool alone; /* its item was handed out alone */

	struct frame_writer writer;
	bool gathers;            /* the writer has only items that may wait ... */
	int64_t gathers_boot_us; /* ... since then */
	bool failing;            /* its mailbox did not take a frame */
	bool turn_refused;       /* a turn was refused, so all its later turns are refused too */
};

/* All sessions of the broker. */
struct sessions {
	struct list all;
	struct map *by_epoch;
	struct map *by_peer; /* routing id -> session */
	uint64_t begun;      /* sessions since the start */
	int64_t ticked_boot_us;
	int64_t silence_grace_until_us; /* no session is ended for its silence before this */
	struct list put_off;            /* frames that wait, see ingress.c */
	struct map *rebuilding;         /* service/instance: its next hello is told to fold anew */
	/*
	 * the control message that is being handled; it has 32 kB, and clearing one for each heartbeat would
	 * cost too much
	 */
	Control *control_heard;
	struct list control; /* struct control_answer: sent after the next commit */
};

struct sessions *sessions_new(int64_t now_boot_us);
void sessions_free(struct sessions *sessions); /* all its sessions must have ended */
struct session *session_by_epoch(const struct broker *broker, uint64_t epoch);
struct session *session_by_peer(const struct broker *broker, struct bytes routing);
void hear_hello(struct broker *broker, struct bytes peer, const char *who, const Hello *hello);
void hear_heartbeat(struct broker *broker, struct bytes peer, const char *who, const Heartbeat *heartbeat);
static inline bool session_may(const struct session *session, enum right right)
{
	return session->rights & right;
}
bool session_is_of(const struct session *session, const char *who);
void hear_credit(struct session *session, const UpCredit *credit);
void session_end(struct broker *broker, struct session *session, enum parting how);
void sessions_expire(struct broker *broker);
void sessions_flush(struct broker *broker); /* pushes the frames of the writers, except those that may wait */
/* How long the items in its writer may still wait for more, in microseconds; 0: not at all. */
int64_t session_gathers_us(const struct broker *broker, const struct session *session);
/*
 * The same for sessions that hear nothing: they wait only for confirms, which are sent before the deliveries.
 */
void sessions_flush_sayers(struct broker *broker);
void session_put(struct broker *broker, struct session *session, const Down *down, struct bytes body);

#endif
