/*
 * session.h: one peer, one run, one lane, one epoch
 */
#ifndef BUS_BROKER_SESSION_H
#define BUS_BROKER_SESSION_H

#include "bus/broker/queue.h"

enum { PINGS_REMEMBERED = 32 };

/* A newcomer's way through `latest`: rows in order of their numbers (latest.c). */
struct newcomer;

struct session {
	struct list hook;
	uint64_t epoch; /* random: a name that only its peer knows */
	uint64_t order; /* of its hello, this start */
	int peer;       /* index into the topology */
	char instance[64];
	char run[40];
	uint8_t routing[256];
	size_t routing_len;
	char who[WHO_MAX]; /* as the gate names its connections */
	unsigned rights;   /* of enum right */
	bool gateway;
	int64_t heard_boot_us;

	uint64_t up_number;   /* last frame accepted */
	uint64_t down_number; /* last frame sent */
	uint64_t received;    /* last frame it says it got */

	uint64_t spooled;
	uint64_t pings; /* sent */
	int64_t ping_boot_us[PINGS_REMEMBERED];
	int64_t promise_from_us; /* boot time of the last ping it echoed; 0: none yet */

	UpCredit credit;
	uint64_t delivered_messages, delivered_bytes, projected_messages, projected_bytes;

	uint64_t cursor; /* projected up to here */
	uint64_t told;   /* last number a projection or progress named */
	int64_t told_boot_us;
	bool wants_progress;       /* somebody waits for it: do not leave it to the heartbeat */
	struct newcomer *newcomer; /* NULL: it reads the log alone */
	uint64_t newcomer_log;     /* the next message for it outside of compacted topics; 0: not looked up yet */

	struct list leased; /* letters, oldest first */
	uint32_t leased_count;
	bool alone; /* what it holds was handed out alone */

	struct frame_writer writer;
	bool failing;      /* its lane did not take a frame */
	bool turn_refused; /* so are all its later ones */
};

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
void sessions_flush(struct broker *broker); /* pushes what lies in the writers */
void session_say(struct broker *broker, struct session *session, const Down *down, struct bytes body);

/* latest.c: NULL when the peer remembers nothing compacted */
struct newcomer *newcomer_new(struct broker *broker, const struct topology_peer *peer, int *ret_error);
void newcomer_free(struct newcomer *newcomer);
/* The next row at or after `from`; false: no more. `limit`: where `latest` stood; up to there the log's compacted topics are skipped. */
bool newcomer_next(struct broker *broker, struct newcomer *newcomer, uint64_t from, struct logged *ret);
uint64_t newcomer_limit(const struct newcomer *newcomer);

#endif
