/*
 * totals.h: the results of all mails and timers since the beginning; folded, so that they survive restarts.
 * They are for display only
 */
#ifndef PLATFORM_MONITOR_TOTALS_H
#define PLATFORM_MONITOR_TOTALS_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

enum mail_outcome { OUTCOME_SENT, OUTCOME_REFUSED, OUTCOME_AMBIGUOUS, OUTCOME_SKIPPED, OUTCOME_RELEASED, OUTCOMES };
enum { LATENESS_BOUNDS = 6 };
extern const int64_t lateness_bounds_us[LATENESS_BOUNDS];

struct totals_mails {
	uint64_t due, outcomes[OUTCOMES];
};
struct totals_timers {
	uint64_t pending; /* one-off timers that are set */
	uint64_t fired, late_us, within[LATENESS_BOUNDS];
};
struct totals_models {
	uint64_t used, fallen_back, tokens_in, tokens_out;
};
enum { MODEL_ENDS_ROOM = 16 }; /* more than there are, because a row of another size would be lost */
struct totals_model_ends {
	uint64_t ends[MODEL_ENDS_ROOM]; /* by ModelEnd */
};

void totals_remember_due(struct state *state);
void totals_remember_outcome(struct state *state, const char *topic);
void totals_remember_fired(struct state *state, const TimerFired *fired);
void totals_remember_pending(struct state *state, int more);
void totals_remember_model(struct state *state, const ModelUsed *used);

struct totals_mails totals_mails(const struct state *state);
struct totals_timers totals_timers(const struct state *state);
struct totals_models totals_models(const struct state *state);
struct totals_model_ends totals_model_ends(const struct state *state);

#endif
