/*
 * service.h: a service is a table of pure functions
 *
 * One table declares what a service hears (its queue), remembers (its projections) and says (its rights), with the function for
 * each. Subscriptions, decoding, routing and the bus's rights (topology.conf) are derived from it; the table of processes in
 * services/README.md is held against it.
 *
 * Read next: turn.h (what a decision can do), state.h, effect.h, process.h (what main.c calls), sim.h (the same in memory)
 */
#ifndef ACTOR_SERVICE_H
#define ACTOR_SERVICE_H

#include "bus/actor/effect.h"
#include "bus/actor/runtime/claim_notes.h"
#include "bus/actor/state.h"
#include "bus/actor/topic.h"
#include "bus/actor/turn.h"

/* The rows of a service's tables. An empty row ends a table; a service may have as many as it needs. */
struct hears {
	const struct topic *topic;
	topic_handler *hear;
};
struct remembers {
	const struct topic *topic;
	topic_handler *fold;
	bool passing; /* the topic is kept for ever, but this service forgets it like a row that has ended */
};

struct service {
	const char *name;
	/*
	 * each decision must see the decisions before it, so one instance is active and the others stand by
	 */
	bool exclusive;
	bool gateway;   /* has a spool: claims wait until it has drained */
	bool operator_; /* the operator's command: it may ask and say everything on the control socket */
	/* its projections may come late and in batches; a delivery still waits until they are complete */
	bool batch_projections;
	/* raise it when folds write other rows than before: a store of another layout is folded anew */
	unsigned layout;
	/*
	 * The settings of its queue (bus/wire/protocol.h). 0: the default, which the manifest leaves out.
	 * Only a service that hears something has a queue.
	 */
	/* after this many failures a message becomes a dead letter: 1 to 1000; default 5 */
	uint32_t failures_max;
	/*
	 * a message is leased to one process for this time, unless the process renews the lease: 100 to 86
	 * 400 000 ms; default 30 000
	 */
	uint32_t lease_ms;
	/* NULL: none. Made by HEARING, REMEMBERING, SAYING and RUNNING. */
	const struct hears *hears;
	const struct remembers *remembers;
	const struct topic *const *says;
	/*
	 * More tables of these kinds, which systems register; each list ends with NULL. NULL: none. Several tables of `remembers` may
	 * have one topic: then the fold of each is called, first that of `remembers`, then those of remembers_also in their order. Each
	 * gives the rows that it writes their own life (`passing`).
	 */
	const struct hears *const *hears_also;
	const struct remembers *const *remembers_also;
	const struct topic *const *const *says_also;
	const struct effect_kind *const *effects;
	/*
	 * For services that keep notes about their claims: the turn says that a claim of an earlier run was
	 * not used (claim_notes.h). NULL: the service keeps no notes.
	 */
	void (*unused)(struct turn *turn, const struct claim_note *claim);

	/* For services that act by the clock: when the next thing is due (wall time; INT64_MAX: never), and the turn for it. */
	int64_t (*next_due_us)(const struct state *state);
	void (*due)(const struct state *state, struct turn *turn);
};

/*
 * HEARS(document, hear_document): the handler takes `const Document *`; the conditional makes the compiler check that.
 * REMEMBERS likewise. The topic calls the handler, by the type that was checked here (topic.h).
 */
#define HEARS(name, function)                                                                                          \
	{                                                                                                              \
		.topic = &topic_##name, .hear = (topic_handler *)(1 ? (function) : (topic_hears_##name *)0)            \
	}
#define REMEMBERS(name, function)                                                                                      \
	{                                                                                                              \
		.topic = &topic_##name, .fold = (topic_handler *)(1 ? (function) : (topic_folds_##name *)0)            \
	}
#define REMEMBERS_FOR_A_WHILE(name, function)                                                                          \
	{                                                                                                              \
		.topic = &topic_##name, .fold = (topic_handler *)(1 ? (function) : (topic_folds_##name *)0),           \
		.passing = true                                                                                        \
	}
#define SAYS(name) &topic_##name

/* .hears = HEARING(HEARS(...), HEARS(...)) and so on: the rows, and the empty row that ends them. */
#define HEARING(...) ((const struct hears[]){ __VA_ARGS__, { .topic = NULL } })
#define REMEMBERING(...) ((const struct remembers[]){ __VA_ARGS__, { .topic = NULL } })
#define SAYING(...) ((const struct topic *const[]){ __VA_ARGS__, NULL })
#define RUNNING(...) ((const struct effect_kind *const[]){ __VA_ARGS__, NULL })

/*
 * A context holds what an instance of a service needs before its first message: folders, keys, limits,
 * clocks. main.c makes it from the configuration; a test makes its own. Two instances in one process have one
 * context each. The owner must keep it until the instance is freed. Decisions, checks of claims and turns on
 * the clock may read it; folds must not.
 *
 *     extern const struct service exporter;
 *     struct exporter { char folder[256]; ... };
 *     SERVICE_CONTEXT(exporter, struct exporter);
 *
 * This makes two functions, which accept and return no other type:
 *
 *     const struct exporter *exporter_context(const struct state *state);      in the service; NULL: none was handed in
 *     struct service_context exporter_in(const struct exporter *context);      for who starts it (process.h, sim.h, harness.h)
 */
struct service_context {
	const struct service *service; /* the service that the context belongs to */
	const void *context;           /* borrowed; NULL: none */
};

#define SERVICE_CONTEXT(name, type)                                                                                    \
	__attribute__((unused)) static inline const type *name##_context(const struct state *state)                    \
	{                                                                                                              \
		return state_context(state, &(name));                                                                  \
	}                                                                                                              \
	__attribute__((unused)) static inline struct service_context name##_in(const type *context)                    \
	{                                                                                                              \
		return (struct service_context){ &(name), context };                                                   \
	}                                                                                                              \
	_Static_assert(sizeof(type) > 0, "a context has a type")

/* for (SERVICE_ROWS(hears, row, service->hears)): each row of such a table, which may be NULL. */
#define SERVICE_ROWS(kind, row, table)                                                                                 \
	const struct kind *row = (table);                                                                              \
	row && row->topic;                                                                                             \
	row++

/* The nth row (from 0) that the service hears or remembers, over all its tables; NULL: there are no more. */
const struct hears *service_hears(const struct service *service, size_t n);
const struct remembers *service_remembers(const struct service *service, size_t n);
/* The row that hears the topic of this name, or the first row that remembers it; NULL: there is none. */
const struct hears *service_hears_topic(const struct service *service, const char *name);
const struct remembers *service_remembers_topic(const struct service *service, const char *name);
/* The nth row (from 0) that remembers the topic of this name, one for each table that has it; NULL: there are no more. */
const struct remembers *service_remembers_topic_nth(const struct service *service, const char *name, size_t n);
/* The nth topic (from 0) that the service says, over all its tables; NULL: there are no more. */
const struct topic *service_says(const struct service *service, size_t n);
/* The topic of this name that it says; NULL: it does not say it. */
const struct topic *service_says_topic(const struct service *service, const char *name);

/*
 * Checks the service's table. -EINVAL: a setting of its queue is out of range, or it sets one without having
 * a queue. -EEXIST: two rows hear one topic, or two rows of one table remember it. ret_why gives the reason.
 * Each process checks its table when it starts; the simulator and the harness do the same.
 */
int service_judge(const struct service *service, char ret_why[256]);
/* Appends this service's part of topology.conf: its peer section and the topics that it names. */
void service_manifest(const struct service *service, struct buffer *ret);
void topic_manifest(const struct topic *topic, struct buffer *ret); /* appends one topic's section of topology.conf */

#endif
