/*
 * turn.h: one decision: what it is about, what it says, how it ends
 *
 * A turn's verdict and facts travel as one unit and are committed together or not at all. What it says is folded into this
 * service's own state at once. A decision takes its time from turn_now_us and nowhere else.
 */
#ifndef ACTOR_TURN_H
#define ACTOR_TURN_H

#include "bus/actor/state.h"
#include "bus/actor/topic.h"
#include "bus/base/bytes.h"
#include <stdint.h>

struct turn;
struct effect_kind;

/* What is known of a message besides its payload. Strings are borrowed for the call. */
struct message_meta {
	const char *topic, *shop, *key, *idem, *trace, *said_by;
	uint64_t seq;     /* 0: said by ourselves and not confirmed yet */
	uint64_t version; /* the envelope's */
	bool tombstone;
	uint64_t cause;
	int64_t time_us; /* log time; of what is not confirmed yet: the turn's */
};

int64_t turn_now_us(const struct turn *turn); /* wall time of this decision */
const struct message_meta *turn_message(
	const struct turn *turn);                /* what is decided on; a turn on the clock: seq 0, names "" */
uint32_t turn_failures(const struct turn *turn); /* of this message so far */
const char *turn_run(const struct turn *turn);   /* a name of this run of the process */
int64_t turn_began_us(const struct turn *turn);  /* wall time at which this run began; 0: unknown */
/* The highest sequence number this decision can have seen. */
uint64_t turn_seen(const struct turn *turn);

/* Return the message: a failure counts towards the queue's limit, a wait does not. `reason` is copied. */
enum verdict turn_failed(struct turn *turn, int64_t delay_us, const char *reason);
enum verdict turn_wait(struct turn *turn, int64_t delay_us, const char *reason);
enum verdict turn_dead_letter(struct turn *turn, const char *reason);

struct publish_options {
	const char *shop, *key;
	const char *idem; /* NULL: none. Within a turn rarely needed: the receipt fences it. */
	uint64_t version;
	bool tombstone;
	/* In a turn on the clock: what was asked for by an earlier message goes on with its trace. NULL, 0: what is decided on says it. */
	const char *trace;
	uint64_t cause;
};

/* Appends a message as it would be said, without its envelope. false: it is longer than a message may be. */
bool turn_encode(const struct topic *topic, const void *message, struct buffer *ret);
/* The message is encoded at once; a string that does not fit is a bug (assert). */
void turn_publish(struct turn *turn, const struct topic *topic, const struct publish_options *how, const void *message);

/* SAY(turn, document, &document, .shop = shop, .key = name, .version = 7): checks the message's type against the topic. */
#define SAY(turn, topic, message, ...)                                                                                 \
	turn_publish((turn), &topic_##topic, &(struct publish_options){ __VA_ARGS__ },                                 \
		(const topic_message_##topic *)(message))

/*
 * Asks the runtime to run an effect for this message, then return TURN_PENDING. Takes the request (effect.h). A turn that works on is
 * not committed: nothing may be said in it, what there is to say is said by the decision on the result.
 */
enum verdict turn_effect(struct turn *turn, const struct effect_kind *kind, void **request);

#endif
