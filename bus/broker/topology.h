/*
 * topology.h: which topics and queues there are, and who may do what with them
 *
 * Derived from the services' tables: each service prints its part (`<service> --manifest`), the build puts them together as
 * topology.conf, and the broker reads that. Nothing is declared twice.
 *
 *     [topic cart.state]
 *     retention = fact
 *     group = cart.state
 *     sidelog = yes               (also written to the side log)
 *     shown = 1/ 1/1              (repeated: see mask.h)
 *     cart = 1/1                  (where the id stands by which the journal is searched)
 *     [peer intake]
 *     exclusive = yes
 *     hears = cart.changed        (repeated: its queue, named after it)
 *     remembers = cart.state      (repeated: its projections)
 *     says = cart.state           (repeated: its rights)
 */
#ifndef BROKER_TOPOLOGY_H
#define BROKER_TOPOLOGY_H

#include "bus/base/config.h"
#include "bus/broker/admin/mask.h"
#include <stdbool.h>
#include <stdint.h>

enum { TOPICS_MAX = 128, PEERS_MAX = 32 };

struct topology_topic {
	char name[32];
	uint8_t retention; /* enum retention of bus/actor/topic.h: 0 raw, 1 fact, 2 keep (and claim) */
	bool claim;        /* said as claims only, and nothing else is */
	char group[32];    /* empty: not compacted */
	struct mask mask;  /* of taps without the right to see payloads */
	bool sidelog;      /* outlives the log: written to the side log as well */
	uint32_t cart;     /* where its messages hold a cart's id, for the journal (mask_find); 0: nowhere */
};

struct topology_peer {
	char name[32];
	bool exclusive;    /* one active instance, others stand by */
	bool gateway;      /* has a spool: claims wait for it */
	bool operator_;    /* may ask and tell everything on the control socket */
	uint64_t hears[2]; /* bit sets over topics */
	uint64_t remembers[2];
	uint64_t says[2];
	/* its queue, if it hears anything */
	uint32_t failure_limit; /* 5 */
	int64_t lease_us;       /* 30 s */
};

struct topology {
	struct topology_topic topics[TOPICS_MAX];
	int topic_count;
	struct topology_peer peers[PEERS_MAX];
	int peer_count;
};

int topology_parse(const char *text, const char *name, struct topology *ret, struct config_error *ret_error);
int topology_topic(const struct topology *topology, const char *name); /* index, or -ENOENT */
int topology_peer(const struct topology *topology, const char *name);

static inline bool topic_set_has(const uint64_t set[2], int topic)
{
	return set[topic / 64] >> (topic % 64) & 1;
}

#endif
