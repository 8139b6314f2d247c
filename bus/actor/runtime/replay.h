/*
 * replay.h: runs a service's functions over a log that the caller keeps
 *
 * There is no broker and no session. The caller says which message is folded, which message is decided on,
 * and what the clock shows. The facts of a decision are handed out encoded, with their metadata; they are
 * folded when the caller gives them back, as from a log. It is for trying out what a service would have done.
 * For a test of one decision use harness.h.
 */
#ifndef ACTOR_RUNTIME_REPLAY_H
#define ACTOR_RUNTIME_REPLAY_H

#include "bus/actor/service.h"

struct replay;

/*
 * `folder` keeps the folded state and is made if it is missing; NULL: the state is kept in memory. Returns
 * NULL on failure; ret_why gives the reason.
 */
struct replay *replay_new(const struct service *service, const char *folder, char ret_why[512]);
/* The same for a service with a context (service.h), which is borrowed. */
struct replay *replay_new_in(struct service_context context, const char *folder, char ret_why[512]);
void replay_free(struct replay *replay); /* takes NULL */
const struct state *replay_state(const struct replay *replay);

/* Folds a message of the log if the service remembers its topic. */
void replay_fold(struct replay *replay, const struct message_meta *said, struct bytes payload);
bool replay_hears(const struct replay *replay, const char *topic);
bool replay_says(const struct replay *replay, const char *topic);

/* The result of a turn; borrowed until the next turn of the same service. */
struct replay_turn {
	enum verdict verdict;
	int64_t delay_us;               /* of TURN_RETRY */
	bool failed;                    /* of TURN_RETRY: it counts towards the limit of failures */
	const struct effect_kind *kind; /* of TURN_PENDING: the effect, which replay_result ends */
	void *request;                  /* owned by the caller until replay_result */
	uint32_t facts;
};

/* Decides on this message. */
struct replay_turn replay_decide(
	struct replay *replay, const struct message_meta *message, struct bytes payload, int64_t now_us);
/* Runs the claim of a running effect. */
struct replay_turn replay_claim(struct replay *replay, const struct message_meta *message, struct bytes payload,
	const struct replay_turn *working, int64_t now_us);
/* Ends a running effect with its result and frees its request. */
struct replay_turn replay_result(struct replay *replay, const struct message_meta *message, struct bytes payload,
	struct replay_turn *working, const void *result, enum claim_answer claimed, int64_t now_us);
/* Runs `run` as a turn on the clock. */
struct replay_turn replay_run(struct replay *replay, int64_t now_us,
	void (*run)(const struct state *state, struct turn *turn, void *context), void *context);

/* The nth fact of the last turn, encoded. `ret_said` borrows from the service until the next call. */
struct bytes replay_fact(struct replay *replay, uint32_t nth, struct message_meta *ret_said);

#endif
