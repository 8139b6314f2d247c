/*
 * service.h: a service is a table of pure functions
 *
 * One table declares what a service hears (its queue), remembers (its projections) and says (its rights), with the function for
 * each. Subscriptions, decoding, routing, the bus's rights (topology.conf) and the README's map are derived from it.
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

enum { SERVICE_HEARS_MAX = 16, SERVICE_REMEMBERS_MAX = 24, SERVICE_SAYS_MAX = 24, SERVICE_EFFECTS_MAX = 4 };

typedef enum verdict hear_fn(const struct state *state, const void *message, struct turn *turn);
typedef void fold_fn(struct state *state, const struct message_meta *said, const void *fact);

struct service {
	const char *name;
	bool exclusive; /* each decision must see the ones before it: one instance is active, the others stand by */
	bool gateway;   /* has a spool: claims wait until it has drained */
	bool operator_; /* the operator's command: it may ask and say everything on the control socket */
	bool unhurried; /* its projections may come in batches, a moment late; before a delivery they are still complete */
	unsigned
		layout; /* to be raised when folds write other rows than before: a store of another layout is folded anew */
	struct hears {
		const struct topic *topic;
		hear_fn *hear;
	} hears[SERVICE_HEARS_MAX];
	struct remembers {
		const struct topic *topic;
		fold_fn *fold;
		bool passing; /* the topic is kept for ever, but this service forgets it like a row that has ended */
	} remembers[SERVICE_REMEMBERS_MAX];
	const struct topic *says[SERVICE_SAYS_MAX];
	const struct effect_kind *effects[SERVICE_EFFECTS_MAX];
	/* For services that keep notes about their claims: says that a claim of an earlier run was not used (claim_notes.h). NULL: no notes. */
	void (*unused)(struct turn *turn, const struct claim_note *claim);

	/* For services that act by the clock: when the next thing is due (wall time; INT64_MAX: never), and the turn for it. */
	int64_t (*next_due_us)(const struct state *state);
	void (*due)(const struct state *state, struct turn *turn);
};

/*
 * HEARS(cart_changed, hear_changed): the handler takes `const CartChanged *`; the conditional makes the compiler check that.
 * REMEMBERS likewise.
 */
#define HEARS(name, function)                                                                                          \
	{                                                                                                              \
		.topic = &topic_##name,                                                                                \
		.hear = (hear_fn *)(1 ? (function)                                                                     \
				      : (enum verdict(*)(                                                              \
						const struct state *, const topic_message_##name *, struct turn *))0)  \
	}
#define REMEMBERS(name, function)                                                                                      \
	{                                                                                                              \
		.topic = &topic_##name,                                                                                \
		.fold = (fold_fn *)(1 ? (function)                                                                     \
				      : (void (*)(struct state *, const struct message_meta *,                         \
						const topic_message_##name *))0)                                       \
	}
#define REMEMBERS_FOR_A_WHILE(name, function)                                                                          \
	{                                                                                                              \
		.topic = &topic_##name,                                                                                \
		.fold = (fold_fn *)(1 ? (function)                                                                     \
				      : (void (*)(struct state *, const struct message_meta *,                         \
						const topic_message_##name *))0),                                      \
		.passing = true                                                                                        \
	}
#define SAYS(name) &topic_##name

/* Appends this service's part of topology.conf: its peer section and the topics that it names. */
void service_manifest(const struct service *service, struct buffer *ret);
void topic_manifest(const struct topic *topic, struct buffer *ret); /* appends one topic's section of topology.conf */

#endif
