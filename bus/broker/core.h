/*
 * core.h: declarations that the files of the broker share
 *
 * The broker is one thread and one struct. Another thread may write a sealed batch meanwhile, and touches
 * nothing else. A received frame changes memory at once (a settled lease is settled) and is staged for the
 * store. Nothing is sent before it is synced. So memory never has to be rolled back: a failed sync ends the
 * process.
 *
 * Read next: broker.c (the conductor), commit.c, ingress.c (what sessions say), queue.h, session.h
 */
#ifndef BROKER_CORE_H
#define BROKER_CORE_H

#include "bus/base/clock.h"
#include "bus/base/list.h"
#include "bus/base/map.h"
#include "bus/broker/broker.h"
#include "bus/broker/log/log.h"
#include "bus/wire/frame.h"
#include "bus/wire/message.h"
#include "bus/wire/registry.h"

struct answer;
struct queue;
struct session;
struct sidelog;

/* Free space on the log's disk (disk_space.c). */
struct disk_space {
	bool is_short;
	uint64_t free_bytes, headroom_bytes;
	int64_t looked_boot_us;
};

struct broker {
	struct store *store;
	struct topology topology; /* borrowed */
	struct broker_settings settings;
	const struct clock *clock;
	struct monotonic_wall monotonic_wall; /* wall time */
	bool was_behind;                      /* wall time was behind the log at the start */
	int64_t trusted_from_us;              /* log time before which nothing is forgotten by its age */
	struct broker_out out;
	const struct registry *registry; /* NULL: every peer is admitted */
	reload_fn *reload;
	void *reload_context;
	struct log *log;
	struct store_batch *batch;        /* rows that the next commit writes beside the log's frames */
	struct store_batch *sealed_batch; /* rows that the current commit writes */
	/* a negative errno: the log cannot be trusted, and the next commit fails ... */
	int broken;
	char why[512]; /* ... with this reason */
	int64_t opened_boot_us;
	uint64_t opened_head; /* the head at the start; leases on earlier messages may still be held */

	bool needs_dispatch;    /* something outside a commit may have let mailboxes take more frames */
	bool grace_over;        /* the grace period is over */
	int64_t leases_look_us; /* when expired leases are looked for again */

	struct queue **queues;  /* by the peer's index; NULL: the peer hears nothing */
	struct topic_set heard; /* topics that any peer hears or remembers */
	struct topic_set every; /* all declared topics */
	/* by the peer's index: the last committed message that the peer remembers */
	uint64_t *remembered_last;

	/* Each of these parts has an owner: its file or its header holds the struct. */
	struct claims *claims;       /* queue/claim.h */
	struct idem *idem;           /* log/idem.h */
	struct latest *latest;       /* log/latest.h */
	struct retention *retention; /* log/retain.h */
	struct erasure *erasure;     /* admin/erase.h */
	struct admission *admission; /* session/refused.h */
	struct commit *commit;       /* commit.h */
	struct sessions *sessions;   /* session/session.h */
	struct disk_space disk_space;
	struct rate_limit of_dead_letters; /* limits the log lines about dead letters */
	struct sidelog *sidelog;           /* sidelog.h; NULL: none */
};

static inline int64_t broker_wall_us(const struct broker *broker)
{
	return log_time_us(broker->log, monotonic_wall_us(&broker->monotonic_wall));
}

static inline int64_t broker_boot_us(const struct broker *broker)
{
	return clock_boot_us(broker->clock);
}

/* stage.c: makes a message that passed every check part of the next commit. Returns its number. */
uint64_t stage_message(
	struct broker *broker, int topic, const Envelope *envelope, const char *said_by, struct bytes message);
uint64_t key_hash(const Envelope *envelope);
/* Reads and checks one message of a peer. 0, or -EINVAL: it is refused for good; ret_reason tells why. */
int judge_message(struct broker *broker, const struct session *session, struct bytes message, Envelope *ret_envelope,
	int *ret_topic, char ret_reason[256]);

/* ingress.c: handles the frames that had to wait for the end of a commit, before all later frames. */
void hear_put_off(struct broker *broker);
void put_off_drop(struct broker *broker);

/* ingress.c: one unit */
void hear_publish(struct broker *broker, struct session *session, uint64_t request, struct bytes message);

/* disk_space.c */
void disk_space_look(struct broker *broker); /* checks the free space from time to time */
bool disk_space_refuses(struct broker *broker, const struct session *session, char ret_reason[256]);

/* clocks.c */
int clocks_open(struct broker *broker);
void clocks_look(struct broker *broker);
bool clocks_are_trusted(const struct broker *broker);
bool clocks_are_wrong(const struct broker *broker,
	char ret_why[256]); /* true: something is wrong with the clock; ret_why says what to do */

/* deliver.c, project.c: fill the mailboxes up to their credit */
void deliver_all(struct broker *broker);
void project_all(struct broker *broker);
void progress_due(struct broker *broker, struct session *session);

/* answer_admin.c */
bool rebuild_is_due(struct broker *broker, int peer, const char *instance);

/* question.c */
void hear_question(struct broker *broker, struct bytes peer, const char *who, const Question *question);

/* session.c: sends on the control socket */
void control_now(struct broker *broker, struct bytes peer, const Control *control);
void control_later(struct broker *broker, struct bytes peer, const Control *control); /* with the next commit */
void control_flush(struct broker *broker);
void control_free(struct broker *broker);
void tap(struct broker *broker, const struct logged *logged);

#endif
