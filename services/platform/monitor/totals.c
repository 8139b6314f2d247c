/*
 * totals.c: folds the counts for the metrics
 *
 * Owns:      table totals ("mails", "timers", "models", "model-ends"), kept for the installation as a whole.
 * Promises:  pure; counts only grow, except that of the pending timers. A monitor that folds the log anew
 *            counts what the log still has.
 * Read next: metrics.c
 */
#include "services/platform/monitor/totals.h"
#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include <string.h>

/* These are one table; the keys tell the rows apart. */
STATE_STRUCTS(totals_mails, "totals", struct totals_mails);
STATE_STRUCTS(totals_timers, "totals", struct totals_timers);
STATE_STRUCTS(totals_models, "totals", struct totals_models);
STATE_STRUCTS(totals_model_ends, "totals", struct totals_model_ends);

static const char *const everywhere = "all";
const int64_t lateness_bounds_us[LATENESS_BOUNDS] = { 100 * US_PER_MS, US_PER_S, 10 * US_PER_S, US_PER_MINUTE,
	10 * US_PER_MINUTE, US_PER_HOUR };

void totals_remember_due(struct state *state)
{
	struct totals_mails row = totals_mails(state);

	row.due++;
	STATE_PUT(state, totals_mails, everywhere, "mails", &row);
}

void totals_remember_outcome(struct state *state, const char *topic)
{
	const char *const topics[OUTCOMES] = { [OUTCOME_SENT] = topic_reminder_sent.name,
		[OUTCOME_REFUSED] = topic_reminder_refused.name,
		[OUTCOME_AMBIGUOUS] = topic_reminder_ambiguous.name,
		[OUTCOME_SKIPPED] = topic_reminder_skipped.name,
		[OUTCOME_RELEASED] = topic_reminder_released.name };
	struct totals_mails row = totals_mails(state);

	for (int i = 0; i < OUTCOMES; i++)
		row.outcomes[i] += strcmp(topics[i], topic) == 0;
	STATE_PUT(state, totals_mails, everywhere, "mails", &row);
}

void totals_remember_fired(struct state *state, const TimerFired *fired)
{
	struct totals_timers row = totals_timers(state);
	int64_t late_us = fired->fired_us > fired->due_us ? fired->fired_us - fired->due_us : 0;

	row.fired++;
	row.late_us += (uint64_t)late_us;
	for (int i = 0; i < LATENESS_BOUNDS; i++)
		row.within[i] += late_us <= lateness_bounds_us[i];
	STATE_PUT(state, totals_timers, everywhere, "timers", &row);
}

void totals_remember_pending(struct state *state, int more)
{
	struct totals_timers row = totals_timers(state);

	if (more == 0 || (more < 0 && row.pending == 0))
		return;
	row.pending += (uint64_t)(int64_t)more;
	STATE_PUT(state, totals_timers, everywhere, "timers", &row);
}

/* An end that only a newer release knows is not counted. */
static void remember_model_end(struct state *state, ModelEnd end)
{
	struct totals_model_ends row = totals_model_ends(state);

	if (end <= MODEL_ANSWERED || end > _ModelEnd_MAX)
		return;
	row.ends[end]++;
	STATE_PUT(state, totals_model_ends, everywhere, "model-ends", &row);
}

void totals_remember_model(struct state *state, const ModelUsed *used)
{
	struct totals_models row = totals_models(state);
	bool was_used = strcmp(used->outcome, "used") == 0;

	row.used += was_used;
	row.fallen_back += !was_used;
	row.tokens_in += used->tokens_in;
	row.tokens_out += used->tokens_out;
	STATE_PUT(state, totals_models, everywhere, "models", &row);
	remember_model_end(state, used->end);
}

struct totals_mails totals_mails(const struct state *state)
{
	struct totals_mails row;

	STATE_GET(state, totals_mails, everywhere, "mails", &row);
	return row;
}

struct totals_timers totals_timers(const struct state *state)
{
	struct totals_timers row;

	STATE_GET(state, totals_timers, everywhere, "timers", &row);
	return row;
}

struct totals_models totals_models(const struct state *state)
{
	struct totals_models row;

	STATE_GET(state, totals_models, everywhere, "models", &row);
	return row;
}

struct totals_model_ends totals_model_ends(const struct state *state)
{
	struct totals_model_ends row;

	_Static_assert((int)_ModelEnd_MAX < (int)MODEL_ENDS_ROOM, "each end has its count");
	STATE_GET(state, totals_model_ends, everywhere, "model-ends", &row);
	return row;
}
