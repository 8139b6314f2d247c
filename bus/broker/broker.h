/*
 * broker.h: the broker without its sockets
 *
 * Frames and control messages go in; frames, answers and taps come out through `struct broker_out`; time comes from a clock.
 * The process (main.c) ties it to ZeroMQ, the simulator (bus/actor/sim/sim.h) to sessions in the same process: it is the same code.
 *
 * Received messages are staged. broker_commit writes all of them as one batch with one sync, and only then
 * sends confirms, deliveries, projections and taps. The caller drains its sockets, commits, and repeats. Or
 * another thread writes while the caller receives: broker_seal, broker_write in the thread, broker_let_out.
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
	bool (*is_tapped)(void *context); /* NULL means: always true */
	/* `masked`: the message for taps without the right to see payloads */
	void (*tap)(void *context, const char *topic, const char *shop, struct bytes tapped, struct bytes message,
		struct bytes masked);
};

extern const struct store_options broker_store_options;

struct broker_settings {
	/* 300 ms; a session that is silent for five intervals is dead, a command's session after fifty */
	int64_t heartbeat_us;
	int64_t gateway_promise_us; /* 1.5 s: how long a gateway stays away from its spool after its last echo */
	int64_t grace_us;           /* how long leases from before a restart are still respected: 3 s */
	/* how long a repeated message is recognised: 8 days; a repeated claim for ever */
	int64_t idem_window_us;
	struct retention_limits retention;
	/* folder for snapshots: the store's own, if the broker may write there; NULL: none */
	const char *snapshots;
	const char *sidelog;     /* folder for the side log (sidelog.h); NULL: none */
	uint64_t headroom_bytes; /* with less free disk space new messages are refused: 64 MiB ... */
	/* ... or this percentage of the file system, default 1; the larger of the two counts */
	uint32_t headroom_percent;
	size_t backfill_bytes; /* the largest index of rows for one backfill, in bytes: 16 MiB */
};
extern const struct broker_settings broker_settings_default;
/* missing keys have their default */
struct broker_settings broker_settings_read(const struct config *config);

/*
 * Takes ownership of the store. -EUCLEAN: the log is inconsistent; ret_why tells what, where, and the remedy.
 * The topology and `out` are borrowed.
 */
int broker_open(struct store **store, const struct topology *topology, const struct broker_settings *settings,
	const struct clock *clock, const struct broker_out *out, struct broker **ret, char ret_why[512]);
void broker_close(struct broker *broker);

/*
 * Sets the registry of peers; borrowed until the next call. Sessions that the registry does not admit are
 * ended. Without a registry (in the simulator, where nothing connects) every peer is admitted. The new
 * registry may replace the old one; both must live during the call.
 */
void broker_admit(struct broker *broker, const struct registry *registry);

/*
 * The function that "keys.reload" calls to read the registry anew. A negative errno; ret_why gives the reason
 * in words.
 */
typedef int reload_fn(void *context, char ret_why[256]);
void broker_on_reload(struct broker *broker, reload_fn *reload, void *context);

/* `who`: the sender, as the gate names the connection (bus/wire/gate.h). */
void broker_hear_frame(struct broker *broker, const char *who, struct bytes frame);
/* `peer` is the transport's routing id, opaque */
void broker_hear_control(struct broker *broker, struct bytes peer, const char *who, struct bytes message);

/*
 * Commits the staged messages, then sends all that is due. -EIO, -ENOSPC: the caller must report it and exit;
 * nothing uncommitted was confirmed.
 */
int broker_commit(struct broker *broker);

/*
 * The same in three steps. Between the first and the last step only broker_hear_frame may be called. Only
 * broker_write may run in another thread.
 */
int broker_seal(struct broker *broker);
int broker_write(struct broker *broker);
int broker_let_out(struct broker *broker, int written); /* written: the result of broker_write */
/* should the sealed batch be written by another thread now? */
bool broker_may_hear_on(const struct broker *broker);

/*
 * To be asked before broker_seal: how long the commit may wait, in microseconds of boot time; 0: not at all.
 * While messages stream in, verdicts alone wait for the next messages, so that one sync serves both.
 */
int64_t broker_may_wait_us(struct broker *broker);

/*
 * Heartbeats, leases, delays, parked claims. Returns after how many microseconds of boot time it must be
 * called again.
 */
int64_t broker_tick(struct broker *broker);

uint64_t broker_head(const struct broker *broker); /* the last committed sequence number */
/* Counts a peer that was turned away at a socket, and logs it at a limited rate. */
void broker_refused_connection(struct broker *broker, const char *place, const char *who, const char *why);
/* The same for `count` connections that were closed as soon as they were accepted: there were too many. */
void broker_turned_away(struct broker *broker, uint64_t count, const char *place, const char *who, const char *why);

/* The connections of the broker's sockets: `cartbus status` shows it. */
struct broker_connections {
	uint32_t open, unproven; /* connections whose peer has not shown a key yet */
	uint64_t turned_away;    /* turned away since the start, because there were too many */
	uint32_t descriptors;    /* the process's limit */
};
void broker_note_connections(struct broker *broker, const struct broker_connections *connections);

/* The remedy for a damaged log, for the admin. */
#define BROKER_REMEDY                                                                                                  \
	"Nothing was changed. See how far it goes with cartbus verify; put the newest copy of this folder back, or a " \
	"backup "                                                                                                      \
	"with cartbus restore, and keep this one for inspection."

const char *broker_why(const struct broker *broker); /* the last error of broker_commit, for the admin */
/* true: the disk has too little free space, so new messages are refused */
bool broker_is_short(const struct broker *broker, char ret_why[256]);
const char *broker_log_id(const struct broker *broker);

#endif
