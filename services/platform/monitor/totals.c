/*
 * totals.c: counts that are folded
 *
 * Owns:      table totals ("mails", "timers", "models"), kept for the installation as a whole.
 * Promises:  pure; what is counted only grows, but for the timers that are pending. A monitor that folds the log anew counts what the
 *            log still knows.
 * Read next: metrics_totals.c
 */
#include "services/platform/monitor/totals.h"
#include "bus/base/clock.h"
#include "services/kit/state/row.h"
#include <string.h>

static const char *const everywhere = "all";
const int64_t lateness_bounds_us[LATENESS_BOUNDS] = { 100 * US_PER_MS, US_PER_S, 10 * US_PER_S, US_PER_MINUTE,
	10 * US_PER_MINUTE, US_PER_HOUR };

void totals_remember_due(struct state *state)
{
	struct totals_mails row = totals_mails(state);

	row.due++;
	ROW_PUT(state, "totals", everywhere, "mails", &row);
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
	ROW_PUT(state, "totals", everywhere, "mails", &row);
}

void totals_remember_fired(struct state *state, const TimerFired *fired)
{
	struct totals_timers row = totals_timers(state);
	int64_t late_us = fired->fired_us > fired->due_us ? fired->fired_us - fired->due_us : 0;

	row.fired++;
	row.late_us += (uint64_t)late_us;
	for (int i = 0; i < LATENESS_BOUNDS; i++)
		row.within[i] += late_us <= lateness_bounds_us[i];
	ROW_PUT(state, "totals", everywhere, "timers", &row);
}

void totals_remember_pending(struct state *state, int more)
{
	struct totals_timers row = totals_timers(state);

	if (more == 0 || (more < 0 && row.pending == 0))
		return;
	row.pending += (uint64_t)(int64_t)more;
	ROW_PUT(state, "totals", everywhere, "timers", &row);
}

void totals_remember_model(struct state *state, const ModelUsed *used)
{
	struct totals_models row = totals_models(state);
	bool was_used = strcmp(used->outcome, "used") == 0;

	row.used += was_used;
	row.fallen_back += !was_used;
	row.tokens_in += used->tokens_in;
	row.tokens_out += used->tokens_out;
	ROW_PUT(state, "totals", everywhere, "models", &row);
}

struct totals_mails totals_mails(const struct state *state)
{
	struct totals_mails row;

	row_get(state, "totals", everywhere, "mails", &row, sizeof(row));
	return row;
}

struct totals_timers totals_timers(const struct state *state)
{
	struct totals_timers row;

	row_get(state, "totals", everywhere, "timers", &row, sizeof(row));
	return row;
}

struct totals_models totals_models(const struct state *state)
{
	struct totals_models row;

	row_get(state, "totals", everywhere, "models", &row, sizeof(row));
	return row;
}
