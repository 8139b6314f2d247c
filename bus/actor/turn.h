/*
 * turn.h: one decision: its message, its facts and its verdict
 *
 * A turn's verdict and facts travel as one unit and are committed together or not at all. Its facts are
 * folded into this service's own state at once. A decision takes its time from turn_now_us and nowhere else.
 */
#ifndef ACTOR_TURN_H
#define ACTOR_TURN_H

#include "bus/actor/state.h"
#include "bus/actor/topic.h"
#include "bus/base/bytes.h"
#include <stdint.h>

struct turn;
struct effect_kind;

/* The metadata of a message. Strings are borrowed for the call. */
struct message_meta {
	const char *topic, *shop, *key, *idem, *trace, *said_by;
	uint64_t seq;     /* 0: this service said it, and it is not confirmed yet */
	uint64_t version; /* the envelope's */
	bool tombstone;
	uint64_t cause;
	int64_t time_us; /* log time; before it is confirmed: the time of the turn */
};

int64_t turn_now_us(const struct turn *turn); /* wall time of this decision */
/* the message to decide on; in a turn on the clock seq is 0 and the strings are "" */
const struct message_meta *turn_message(const struct turn *turn);
uint32_t turn_failures(const struct turn *turn); /* how many decisions on this message have failed so far */
const char *turn_run(const struct turn *turn);   /* a name of this run of the process */
int64_t turn_began_us(const struct turn *turn);  /* wall time at which this run began; 0: unknown */
/* The highest sequence number this decision can have seen. */
uint64_t turn_seen(const struct turn *turn);

/*
 * Both return the message to the queue for delay_us. A failure counts towards the queue's limit; a wait does
 * not. `reason` is copied.
 */
enum verdict turn_failed(struct turn *turn, int64_t delay_us, const char *reason);
enum verdict turn_wait(struct turn *turn, int64_t delay_us, const char *reason);
enum verdict turn_dead_letter(struct turn *turn, const char *reason);

struct publish_options {
	const char *shop, *key;
	const char *idem; /* NULL: none. A turn rarely needs one, because the receipt fences its facts. */
	uint64_t version;
	bool tombstone;
	/*
	 * For a turn on the clock: the trace and the cause of the earlier message that asked for this one.
	 * NULL, 0: those of the message that is decided on.
	 */
	const char *trace;
	uint64_t cause;
};

/* Appends the encoded message without its envelope. false: it is too long for a message. */
bool turn_encode(const struct topic *topic, const void *message, struct buffer *ret);
/* The message is encoded at once; a string that does not fit is a bug (assert). */
void turn_publish(struct turn *turn, const struct topic *topic, const struct publish_options *how, const void *message);

/* SAY(turn, document, &document, .shop = shop, .key = name, .version = 7): checks the message's type against the topic. */
#define SAY(turn, topic, message, ...)                                                                                 \
	turn_publish((turn), &topic_##topic, &(struct publish_options){ __VA_ARGS__ },                                 \
		(const topic_message_##topic *)(message))

/*
 * Asks the runtime to run an effect for this message, then return TURN_PENDING. Takes ownership of the
 * request (effect.h). The turn is not committed, so it must not say anything; the decision on the result says
 * the facts.
 */
enum verdict turn_effect(struct turn *turn, const struct effect_kind *kind, void **request);

#endif
