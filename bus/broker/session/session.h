/*
 * session.h: one peer, one run, one mailbox, one epoch
 */
#ifndef BROKER_SESSION_SESSION_H
#define BROKER_SESSION_SESSION_H

#include "bus/broker/queue/queue.h"

enum { PINGS_REMEMBERED = 32 };

struct backfill; /* latest.h */

struct session {
	struct list hook;
	uint64_t epoch; /* random: a name that only its peer knows */
	uint64_t order; /* of its hello, this start */
	int peer;       /* index into the topology */
	char instance[64];
	char run[40];
	char host[64]; /* as it says itself; empty: it does not, or not so that it could be shown */
	uint8_t routing[256];
	size_t routing_len;
	char who[WHO_MAX]; /* as the gate names its connections */
	unsigned rights;   /* of enum right */
	bool gateway;
	bool hears_further;     /* one confirm may answer many requests */
	bool batch_projections; /* projections alone are gathered for it */
	int64_t heard_boot_us;

	uint64_t up_number;   /* last frame accepted */
	uint64_t down_number; /* last frame sent */
	uint64_t received;    /* last frame it says it got */

	uint64_t spooled;
	uint64_t pings; /* sent */
	int64_t ping_boot_us[PINGS_REMEMBERED];
	int64_t promise_from_us; /* boot time of the last ping it echoed; 0: none yet */

	int64_t clock_off_us; /* how far its clock is ahead of the log's, as it last said; 0 also: it does not say */
	Count counts[sizeof((Heartbeat){ 0 }.counts) / sizeof(Count)]; /* as it last told them */
	int count_count;

	UpCredit credit;
	uint64_t delivered_messages, delivered_bytes, projected_messages, projected_bytes;

	uint64_t cursor; /* projected up to here */
	uint64_t told;   /* last number a projection or progress named */
	int64_t told_boot_us;
	bool wants_progress;       /* somebody waits for it: do not leave it to the heartbeat */
	struct backfill *backfill; /* NULL: it reads the log alone */
	uint64_t backfill_looked;  /* up to here the log was searched for what it reads beside rows ... */
	uint64_t backfill_log;     /* ... and this is the next; not above the cursor: not found yet */

	struct list leased; /* items, oldest first */
	uint32_t leased_count;
	bool alone; /* what it holds was handed out alone */

	struct frame_writer writer;
	bool gathers;            /* nothing lies in the writer that it waits for ... */
	int64_t gathers_boot_us; /* ... since then */
	bool failing;            /* its mailbox did not take a frame */
	bool turn_refused;       /* so are all its later ones */
};

/* All that the broker knows of its peers. */
struct sessions {
	struct list all;
	struct map *by_epoch;
	struct map *by_peer; /* routing id -> session */
	uint64_t begun;      /* this start */
	int64_t ticked_boot_us;
	int64_t silence_grace_until_us; /* no session is ended for its silence before this */
	struct list put_off;            /* frames, see ingress.c */
	struct map *rebuilding;         /* service/instance: its next hello is told to fold anew */
	Control *control_heard; /* the one that is being heard: 32 kB, cleared for each would be most of a heartbeat */
	struct list control;    /* struct control_answer: leave with the next commit */
};

struct sessions *sessions_new(int64_t now_boot_us);
void sessions_free(struct sessions *sessions); /* whose sessions have ended */
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
void sessions_flush(struct broker *broker); /* pushes what lies in the writers, but for what may wait */
/* How long what lies in its writer may still wait for company; 0: not at all. */
int64_t session_gathers_us(const struct broker *broker, const struct session *session);
/* The same for those who hear nothing: confirms are all they wait for, so these do not wait for the deliveries. */
void sessions_flush_sayers(struct broker *broker);
void session_put(struct broker *broker, struct session *session, const Down *down, struct bytes body);

#endif
