/*
 * topology.h: the topics, the queues and the rights of peers; and sets of topics
 *
 * It is derived from the services' tables, so that nothing is declared twice: each service prints its part
 * (`<service> --manifest`), the build joins the parts to topology.conf, and the broker reads that.
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
#include <stdbool.h>
#include <stdint.h>

/*
 * A set of topics, by their index in the topology
 *
 * A set of the first 128 topics is inside the struct and needs no memory of its own; the set grows when a
 * higher topic is added. A zeroed struct is the empty set. The code that fills a set must clear it; a copy of
 * the struct borrows from the original.
 */

enum { TOPIC_SET_WORD = 64, TOPIC_SET_FEW = 2 * TOPIC_SET_WORD };

struct topic_set {
	uint64_t few[2];     /* topics 0 to 127 */
	uint64_t *more;      /* topics from 128 on; NULL: none of them was ever added */
	uint32_t more_count; /* words */
};

void topic_set_add(struct topic_set *set, int topic);
void topic_set_add_all(struct topic_set *set, const struct topic_set *other); /* the union, into `set` */
/* empties the set and frees its memory */
void topic_set_clear(struct topic_set *set);
/* The part of topic_set_any and topic_set_meet for topics from 128 on. */
bool topic_set_any_more(const struct topic_set *set);
bool topic_set_meet_more(const struct topic_set *one, const struct topic_set *other);
/* The first topic of the set that is `from` or higher; -1: there is none. */
int topic_set_next(const struct topic_set *set, int from);

static inline bool topic_set_has(const struct topic_set *set, int topic)
{
	uint32_t word = (uint32_t)topic / TOPIC_SET_WORD, bit = (uint32_t)topic % TOPIC_SET_WORD;

	if (topic < TOPIC_SET_FEW)
		return set->few[word] >> bit & 1;
	return word - 2 < set->more_count && (set->more[word - 2] >> bit & 1);
}

/* Does it hold any topic? */
static inline bool topic_set_any(const struct topic_set *set)
{
	return (set->few[0] | set->few[1]) != 0 || (set->more && topic_set_any_more(set));
}

/* Do the two sets hold a topic in common? */
static inline bool topic_set_meet(const struct topic_set *one, const struct topic_set *other)
{
	return ((one->few[0] & other->few[0]) | (one->few[1] & other->few[1])) != 0 ||
		(one->more && other->more && topic_set_meet_more(one, other));
}

/* for (TOPIC_SET_EACH(topic, &set)): each topic of the set, in ascending order. */
#define TOPIC_SET_EACH(topic, set)                                                                                     \
	int topic = topic_set_next((set), 0);                                                                          \
	topic >= 0;                                                                                                    \
	topic = topic_set_next((set), topic + 1)

/*
 * The number of peers has no limit. Topics have numbers of 16 bits in the log, so TOPICS_MOST is their limit
 * (the highest number stands for "none").
 */
enum { TOPICS_MOST = UINT16_MAX };

struct topology_topic {
	char name[32];
	uint8_t retention; /* enum retention of bus/actor/topic.h: 0 raw, 1 fact, 2 keep (and claim) */
	bool claim;        /* it carries claims only */
	char group[32];    /* empty: not compacted */
	struct mask mask;  /* for taps without the right to see payloads */
	bool sidelog;      /* its messages are also written to the side log */
	/* path of the subject's id in its messages, for the journal (mask_find); 0: none */
	uint32_t subject;
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

/* 0: free it with topology_free. -EINVAL: ret_error tells what is wrong, and *ret is empty. */
int topology_parse(const char *text, const char *name, struct topology *ret, struct config_error *ret_error);
void topology_free(struct topology *topology);                         /* leaves it empty */
int topology_topic(const struct topology *topology, const char *name); /* index, or -ENOENT */
int topology_peer(const struct topology *topology, const char *name);

#endif
