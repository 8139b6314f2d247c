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
	bool exclusive; /* each decision must see the ones before it: one instance is active, the others stand by */
	bool gateway;   /* has a spool: claims wait until it has drained */
	bool operator_; /* the operator's command: it may ask and say everything on the control socket */
	bool batch_projections; /* its projections may come in batches, a moment late; before a delivery they are still complete */
	unsigned
		layout; /* to be raised when folds write other rows than before: a store of another layout is folded anew */
	/* Of its queue (bus/wire/protocol.h). 0: the usual, which its manifest leaves out. Only a service that hears something has one. */
	uint32_t failures_max; /* so many failures make a message a dead letter: 1 to 1000; usually 5 */
	uint32_t
		lease_ms; /* so long a message is handed to one process alone, unless it renews: 100 to 86 400 000; usually 30 000 */
	/* NULL: none. Made by HEARING, REMEMBERING, SAYING and RUNNING. */
	const struct hears *hears;
	const struct remembers *remembers;
	const struct topic *const *says;
	/* Further such tables, which systems register, each list ended by a NULL. NULL: none. */
	const struct hears *const *hears_also;
	const struct remembers *const *remembers_also;
	const struct topic *const *const *says_also;
	const struct effect_kind *const *effects;
	/* For services that keep notes about their claims: says that a claim of an earlier run was not used (claim_notes.h). NULL: no notes. */
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

/* .hears = HEARING(HEARS(...), HEARS(...)) and so on: the rows, and what ends them. */
#define HEARING(...) ((const struct hears[]){ __VA_ARGS__, { .topic = NULL } })
#define REMEMBERING(...) ((const struct remembers[]){ __VA_ARGS__, { .topic = NULL } })
#define SAYING(...) ((const struct topic *const[]){ __VA_ARGS__, NULL })
#define RUNNING(...) ((const struct effect_kind *const[]){ __VA_ARGS__, NULL })

/*
 * A context is what an instance of a service knows before the first message: folders, keys, limits, clocks. main.c makes it from the
 * configuration, a test makes one of its own, and two instances in one process have one each. Its owner keeps it until the instance
 * is gone. Decisions, checks of claims and turns on the clock read it; folds must not.
 *
 *     extern const struct service exporter;
 *     struct exporter { char folder[256]; ... };
 *     SERVICE_CONTEXT(exporter, struct exporter);
 *
 * makes two functions, and with them no other type goes in or comes out:
 *
 *     const struct exporter *exporter_context(const struct state *state);      in the service; NULL: none was handed in
 *     struct service_context exporter_in(const struct exporter *context);      for who starts it (process.h, sim.h, harness.h)
 */
struct service_context {
	const struct service *service; /* whose it is */
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

/* The nth row of what the service hears, or remembers, of all its tables; NULL: there are no more. */
const struct hears *service_hears(const struct service *service, size_t n);
const struct remembers *service_remembers(const struct service *service, size_t n);
/* The row that hears, or remembers, the topic of this name; NULL: there is none. */
const struct hears *service_hears_topic(const struct service *service, const char *name);
const struct remembers *service_remembers_topic(const struct service *service, const char *name);
/* The nth topic that the service says, of all its tables; NULL: it says no more. */
const struct topic *service_says(const struct service *service, size_t n);
/* The topic of this name that it says; NULL: it does not say it. */
const struct topic *service_says_topic(const struct service *service, const char *name);

/*
 * May the table be as it is? -EINVAL: what it declares of its queue is out of range, or it has no queue. -EEXIST: two rows hear one
 * topic, or two remember it. ret_why says what. Each process asks when it starts, and so do the simulator and the harness.
 */
int service_judge(const struct service *service, char ret_why[256]);
/* Appends this service's part of topology.conf: its peer section and the topics that it names. */
void service_manifest(const struct service *service, struct buffer *ret);
void topic_manifest(const struct topic *topic, struct buffer *ret); /* appends one topic's section of topology.conf */

#endif
