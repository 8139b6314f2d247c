/*
 * broker.h: the broker without its sockets
 *
 * Frames and control messages go in; frames, answers and taps come out through `struct broker_out`; time comes from a clock.
 * The process (main.c) ties it to ZeroMQ, the simulator (bus/actor/sim/sim.h) to sessions in the same process: it is the same code.
 *
 * What is heard is staged; broker_commit writes all of it as one batch with one sync, and only then lets confirms, deliveries,
 * projections and taps out. The caller drains its sockets, commits, and repeats. Or it has the writing done by another thread and
 * hears on meanwhile: broker_seal, broker_write there, broker_let_out.
 */
#ifndef BROKER_BROKER_H
#define BROKER_BROKER_H

#include "bus/base/clock.h"
#include "bus/base/retention.h"
#include "bus/broker/topology.h"
#include "bus/store/store.h"

struct broker;
struct registry;

struct broker_out {
	void *context;
	int (*open_mailbox)(void *context, uint64_t epoch, const char *who, char ret_endpoint[160]);
	void (*close_mailbox)(void *context, uint64_t epoch);
	int (*push)(void *context, uint64_t epoch, struct bytes frame); /* -EAGAIN: that peer is gone */
	void (*control)(void *context, struct bytes peer, struct bytes message);
	bool (*is_tapped)(void *context); /* NULL: always */
	/* `masked`: the same without what only the right to see payloads shows */
	void (*tap)(void *context, const char *topic, const char *shop, struct bytes tapped, struct bytes message,
		struct bytes masked);
};

extern const struct store_options broker_store_options;

struct broker_settings {
	int64_t heartbeat_us;       /* 300 ms; a session silent for five of them is dead, a command's for fifty */
	int64_t gateway_promise_us; /* 1.5 s: how long a gateway stays away from its spool after its last echo */
	int64_t grace_us;           /* after a restart, for leases that are still held: 3 s */
	int64_t idem_window_us;     /* how long a message is told from its repeat: 8 days; a claim for ever */
	struct retention_limits retention;
	const char *snapshots;     /* folder for them: the store's own, where the broker may write; NULL: none */
	const char *sidelog;       /* folder for the side log (sidelog.h); NULL: none */
	uint64_t headroom_bytes;   /* with less room on the disk nothing new is taken: 64 MiB ... */
	uint32_t headroom_percent; /* ... or so much of the file system; the larger of the two counts: 1 */
	size_t backfill_bytes;     /* what the index of rows takes that one newcomer reads: 16 MiB */
};
extern const struct broker_settings broker_settings_default;
struct broker_settings broker_settings_read(const struct config *config); /* what is not configured as by default */

/* Takes the store. -EUCLEAN: the log does not add up; ret_why says what, where, and the remedy. */
int broker_open(struct store **store, const struct topology *topology, const struct broker_settings *settings,
	const struct clock *clock, const struct broker_out *out, struct broker **ret, char ret_why[512]);
void broker_close(struct broker *broker);

/*
 * Who may come as what; borrowed until the next one. Sessions that it does not admit are ended. Without one (the simulator, where
 * nothing connects) everybody may be everything. The new one may be the old one's successor: both live during the call.
 */
void broker_admit(struct broker *broker, const struct registry *registry);

/* What "keys.reload" calls: reads anew who may come. A negative errno, and why in words. */
typedef int reload_fn(void *context, char ret_why[256]);
void broker_on_reload(struct broker *broker, reload_fn *reload, void *context);

/* `who` said it: as the gate names the connection (bus/wire/gate.h). */
void broker_hear_frame(struct broker *broker, const char *who, struct bytes frame);
/* `peer` is the transport's routing id, opaque */
void broker_hear_control(struct broker *broker, struct bytes peer, const char *who, struct bytes message);

/* Commits what was heard, then lets out what is due. -EIO, -ENOSPC: stop, say so, exit; nothing uncommitted was confirmed. */
int broker_commit(struct broker *broker);

/*
 * The same in three steps. Between the first and the last of them broker_hear_frame may be called, and nothing else; broker_write is
 * the one that another thread may run.
 */
int broker_seal(struct broker *broker);
int broker_write(struct broker *broker);
int broker_let_out(struct broker *broker, int written); /* written: broker_write's answer */
bool broker_may_hear_on(const struct broker *broker);   /* is what was sealed worth another thread, now? */

/*
 * Before broker_seal: how long that may be left. While messages stream in, verdicts alone go with the next of them, in one sync
 * instead of two. Boot microseconds; 0: not at all.
 */
int64_t broker_may_wait_us(struct broker *broker);

/* Heartbeats, leases, delays, parked claims. Returns in how many boot microseconds it wants to be called again. */
int64_t broker_tick(struct broker *broker);

uint64_t broker_head(const struct broker *broker); /* the last committed sequence number */
/* Counts and tells it, not too often: somebody was turned away at a socket. */
void broker_refused_connection(struct broker *broker, const char *place, const char *who, const char *why);
/* The same for `count` connections that were closed as soon as they were accepted: there were too many. */
void broker_turned_away(struct broker *broker, uint64_t count, const char *place, const char *who, const char *why);

/* What the broker's sockets hold: `cartbus status` shows it. */
struct broker_connections {
	uint32_t open, unproven; /* those that have not shown a key yet */
	uint64_t turned_away;    /* since the start: there were too many */
	uint32_t descriptors;    /* the process's limit */
};
void broker_note_connections(struct broker *broker, const struct broker_connections *connections);

/* What to do about a log that is damaged; a sentence for the admin. */
#define BROKER_REMEDY                                                                                                  \
	"Nothing was changed. See how far it goes with cartbus verify; put the newest copy of this folder back, or a " \
	"backup "                                                                                                      \
	"with cartbus restore, and keep this one for inspection."

const char *broker_why(const struct broker *broker); /* of the last error of broker_commit, for the admin */
bool broker_is_short(const struct broker *broker, char ret_why[256]); /* of room: new messages are refused */
const char *broker_log_id(const struct broker *broker);

#endif
