/*
 * topology.h: which topics and queues there are, and who may do what with them
 *
 * Derived from the services' tables: each service prints its part (`<service> --manifest`), the build puts them together as
 * topology.conf, and the broker reads that. Nothing is declared twice.
 *
 *     [topic order.state]
 *     retention = fact
 *     group = order.state
 *     sidelog = yes               (also written to the side log)
 *     shown = 1/ 1/1              (repeated: see mask.h)
 *     subject = 1/1               (where the id stands by which the journal is searched; its released name is read too)
 *     [peer desk]
 *     exclusive = yes
 *     hears = order.placed        (repeated: its queue, named after it)
 *     remembers = order.state     (repeated: its projections)
 *     says = order.state          (repeated: its rights)
 */
#ifndef BROKER_TOPOLOGY_H
#define BROKER_TOPOLOGY_H

#include "bus/base/config.h"
#include "bus/broker/admin/mask.h"
#include "bus/broker/topic_set.h"
#include <stdbool.h>
#include <stdint.h>

/*
 * There may be as many peers as the file names. Topics have numbers of 16 bits in the log: TOPICS_MOST is what those can tell apart
 * (the highest number stands for "none").
 */
enum { TOPICS_MOST = UINT16_MAX };

struct topology_topic {
	char name[32];
	uint8_t retention; /* enum retention of bus/actor/topic.h: 0 raw, 1 fact, 2 keep (and claim) */
	bool claim;        /* said as claims only, and nothing else is */
	char group[32];    /* empty: not compacted */
	struct mask mask;  /* of taps without the right to see payloads */
	bool sidelog;      /* outlives the log: written to the side log as well */
	uint32_t subject;  /* where its messages hold the subject's id, for the journal (mask_find); 0: nowhere */
};

struct topology_peer {
	char name[32];
	bool exclusive; /* one active instance, others stand by */
	bool gateway;   /* has a spool: claims wait for it */
	bool operator_; /* may ask and tell everything on the control socket */
	struct topic_set hears, remembers, says;
	/* its queue, if it hears anything */
	uint32_t failure_limit; /* 5 */
	int64_t lease_us;       /* 30 s */
};

/* A struct of zeros is an empty topology. A copy of the struct borrows from the original. */
struct topology {
	struct topology_topic *topics;
	int topic_count;
	struct topology_peer *peers;
	int peer_count;
	struct map *by_name; /* of topics; NULL: there are none */
};

/* 0: topology_free gives it back. -EINVAL: ret_error says what is wrong, and *ret is empty. */
int topology_parse(const char *text, const char *name, struct topology *ret, struct config_error *ret_error);
void topology_free(struct topology *topology);                         /* leaves it empty */
int topology_topic(const struct topology *topology, const char *name); /* index, or -ENOENT */
int topology_peer(const struct topology *topology, const char *name);

#endif
