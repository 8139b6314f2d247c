/*
 * sim_inside.h: the simulator's own memory, shared by sim.c and memory_link.c
 */
#ifndef ACTOR_SIM_SIM_INSIDE_H
#define ACTOR_SIM_SIM_INSIDE_H

#include "bus/actor/sim/sim.h"
#include "bus/base/list.h"
#include "bus/broker/broker.h"

/* Frames in transit, first in first out. */
struct pipe {
	struct list frames;
	size_t count;
};

void pipe_init(struct pipe *pipe);
bool pipe_take(struct pipe *pipe, struct buffer *ret); /* replaces the content of ret */
/* keeps the oldest `keep` frames and drops the newer ones */
void pipe_cut(struct pipe *pipe, size_t keep);

/* A mailbox as the broker sees it. */
struct mailbox {
	struct list hook;
	uint64_t epoch;
	struct instance *instance; /* the instance that opened it; NULL: none yet */
	bool dead;                 /* its reader is gone */
	struct pipe frames;
};

struct instance {
	struct list hook;
	struct sim *sim;
	char name[64], run[40];
	const struct service *service;
	struct service_context context; /* of the service */
	struct effect_driver *const *drivers;
	struct store *kept;        /* outlives the process */
	struct claim_notes *notes; /* likewise */
	struct runtime *runtime;   /* NULL: not running */
	uint64_t peer;             /* routing id of this connection */
	uint64_t runs;
	int64_t wake_us;
	bool paused;
	struct pipe said, asked, told; /* frames and control to the broker, control from it */
	struct mailbox *mailbox;
};

struct sim {
	struct clock clock;
	uint64_t random;
	struct topology topology;
	struct broker_settings settings;
	struct store *log_kept;
	struct broker *broker; /* NULL: killed */
	int64_t broker_wake_us;
	struct list instances, mailboxes;
	struct instance *outside;
	uint64_t peers;
	struct buffer frame; /* scratch */
	struct buffer log;   /* u64 seq, i64 time, said_by NUL, u32 length, message, ... */
	uint64_t hash;
	tell_fn *tell;
};

struct link *memory_link_new(struct instance *instance);
bool instance_has_heard(const struct instance *instance); /* frames wait for it */
/* the instance was killed: frames that it sent last may be lost */
void instance_cut_off(struct instance *instance);
struct broker_out sim_broker_out(struct sim *sim);
void mailboxes_free(struct sim *sim);

#endif
