/* turns.h: the runtime's side of turn.h: the dispatch table of a service, and the life of a turn */
#ifndef ACTOR_RUNTIME_TURNS_H
#define ACTOR_RUNTIME_TURNS_H

#include "bus.pb.h"
#include "bus/actor/service.h"
#include "bus/base/bytes.h"

/*
 * The dispatch table of a service: finds the function for a message and decodes the message for it
 *
 * One buffer for heard messages and one for remembered messages serve all topics, because decoded messages
 * are large (some take 50 KB) and live only for the call.
 */

struct table;

struct table *table_new(const struct service *service);
void table_free(struct table *table); /* takes NULL */
const struct service *table_service(const struct table *table);

const struct hears *table_hears(const struct table *table, const char *topic); /* NULL: not heard */
bool table_remembers(const struct table *table, const char *topic);
bool table_says(const struct table *table, const struct topic *topic);

/* Returns NULL if the payload is not a message of this topic. Borrowed until the next table_decode. */
const void *table_decode(struct table *table, const struct topic *topic, struct bytes payload);
/* -ENOENT: the service does not remember the topic. -EBADMSG: the payload is not a message of this topic. */
int table_fold(struct table *table, struct state *state, const struct message_meta *said, struct bytes payload);
/* The same for a message that is decoded already. false: the service does not remember the topic. */
bool table_fold_decoded(
	const struct table *table, struct state *state, const struct message_meta *said, const void *message);

enum { TURN_REASON_MAX = 256 };

struct turn {
	/* given */
	struct table *table;
	struct state *state;
	struct message_meta message;
	struct bytes payload; /* of the message, borrowed */
	int64_t now_us;
	uint32_t failures;
	const char *run;
	int64_t began_us; /* wall time, of the run */
	bool folds;       /* facts are folded into the state when they are said */
	bool is_claim;    /* the message waits at the broker until the gateways have drained */
	/* the result */
	struct buffer facts; /* u32 length, message, ... */
	uint32_t fact_count;
	bool failed;
	int64_t delay_us;
	char reason[TURN_REASON_MAX];
	const struct effect_kind *kind; /* of TURN_PENDING */
	void *request;
};

void turn_end(struct turn *turn); /* frees the facts and the request if they were not taken */

/* Runs the function of the table for this message; the verdict is TURN_DEAD_LETTER when nothing hears it or it does not decode. */
enum verdict turn_decide(struct turn *turn, struct bytes payload);
/* Runs the turn of a service that acts by the clock. */
void turn_tick(struct turn *turn);
/* Runs kind->claim, which must say exactly one message. */
void turn_claim(struct turn *turn, const struct effect_kind *kind, struct bytes payload, const void *request);
enum verdict turn_effect_result(struct turn *turn, const struct effect_kind *kind, struct bytes payload,
	const void *request, const void *result, enum claim_answer claimed);
bool turn_may_proceed(struct table *table, const struct state *state, const char *topic, const struct effect_kind *kind,
	struct bytes payload, const void *request, int64_t now_us);

/* The nth fact of `facts`, or {NULL, 0} if there is none. */
struct bytes turn_fact(const struct buffer *facts, uint32_t nth);

/* The metadata of an envelope as a reader sees it; borrows from the envelope. */
struct message_meta said_from(const Envelope *envelope, uint64_t seq, int64_t time_us, const char *said_by);

#endif
