/*
 * metrics_totals.c: what the monitor folded, as text for Prometheus: mails, timers, the budget, alarms
 */
#include "bus/base/clock.h"
#include "services/platform/monitor/backups.h"
#include "services/platform/monitor/episodes.h"
#include "services/platform/monitor/metrics.h"
#include "services/platform/monitor/recovered.h"
#include "services/platform/monitor/rows.h"
#include "services/platform/monitor/totals.h"
#include <limits.h>
#include <stdio.h>

#define NANO 1e9
static const int64_t AMBIGUOUS_TOLD_US = US_PER_DAY;

static void one(struct buffer *to, const char *name, const char *type, const char *help, double value)
{
	metric_begin(to, name, type, help);
	metric_value(to, name, "", value);
}

static void labelled(struct buffer *to, const char *name, const char *label, const char *labelled_as, double value)
{
	char labels[METRIC_LABELS_MAX] = "";

	metric_label(labels, label, labelled_as);
	metric_value(to, name, labels, value);
}

static void write_mails(const struct metrics *metrics, struct buffer *to)
{
	static const char name[] = "cartbus_mails_total";
	static const char *const outcomes[OUTCOMES] = { [OUTCOME_SENT] = "sent",
		[OUTCOME_REFUSED] = "refused",
		[OUTCOME_AMBIGUOUS] = "ambiguous",
		[OUTCOME_SKIPPED] = "skipped",
		[OUTCOME_RELEASED] = "released" };
	struct totals_mails mails = totals_mails(metrics->state);
	struct rows_count waiting = rows_waiting(metrics->state, metrics->now_us);

	one(to, "cartbus_reminders_due_total", "counter", "Reminders that the waiter decided on.", (double)mails.due);
	metric_begin(to, name, "counter",
		"What became of reminders; released: did not go and is tried again; ambiguous: nobody knows.");
	for (int i = 0; i < OUTCOMES; i++)
		labelled(to, name, "outcome", outcomes[i], (double)mails.outcomes[i]);
	one(to, "cartbus_carts_recovered_total", "counter",
		"Carts that were bought within a month after a reminder; whether because of it nobody knows.",
		(double)recovered_carts(metrics->state, metrics->now_us).ever);
	one(to, "cartbus_reminders_waiting", "gauge",
		"Reminders that are due and have no outcome, in shops that are not paused.", (double)waiting.count);
	one(to, "cartbus_reminders_oldest_seconds", "gauge", "For how long the oldest of them has been due.",
		waiting.count ? (double)(metrics->now_us - waiting.oldest_us) / US_PER_S : 0);
	one(to, "cartbus_mails_ambiguous_today", "gauge",
		"Mails of the last 24 hours of which nobody knows what became of them.",
		(double)rows_ambiguous(metrics->state, metrics->now_us - AMBIGUOUS_TOLD_US).count);
}

static void write_lateness(const struct totals_timers *timers, struct buffer *to)
{
	static const char name[] = "cartbus_timer_lateness_seconds", bucket[] = "cartbus_timer_lateness_seconds_bucket";
	char bound[32];

	metric_begin(to, name, "histogram", "How long after its time a timer fired.");
	for (int i = 0; i < LATENESS_BOUNDS; i++) {
		snprintf(bound, sizeof(bound), "%g", (double)lateness_bounds_us[i] / US_PER_S);
		labelled(to, bucket, "le", bound, (double)timers->within[i]);
	}
	labelled(to, bucket, "le", "+Inf", (double)timers->fired);
	metric_value(to, "cartbus_timer_lateness_seconds_sum", "", (double)timers->late_us / US_PER_S);
	metric_value(to, "cartbus_timer_lateness_seconds_count", "", (double)timers->fired);
}

static void write_timers(const struct metrics *metrics, struct buffer *to)
{
	struct totals_timers timers = totals_timers(metrics->state);
	int64_t first_us = rows_first_timer_us(metrics->state);

	one(to, "cartbus_timers_pending", "gauge",
		"Timers that are set and did not fire yet, but for those that repeat.", (double)timers.pending);
	one(to, "cartbus_timers_overdue_seconds", "gauge", "For how long the first timer has been due; 0: none is.",
		first_us < metrics->now_us ? (double)(metrics->now_us - first_us) / US_PER_S : 0);
	write_lateness(&timers, to);
}

static void write_budget(const struct metrics *metrics, struct buffer *to)
{
	struct spend spend = spend_of_month(metrics->state, metrics->now_us);

	one(to, "cartbus_budget_spent_dollars", "gauge", "What models and mails cost this calendar month (UTC).",
		(double)spend_nano_usd(&metrics->budget, &spend) / NANO);
	one(to, "cartbus_budget_limit_dollars", "gauge", "[budget] usd.", (double)metrics->budget.nano_usd / NANO);
	one(to, "cartbus_budget_spent_tokens", "gauge", "Tokens that models took and gave this month.",
		(double)spend.tokens);
	one(to, "cartbus_budget_limit_tokens", "gauge", "[budget] tokens.", (double)metrics->budget.tokens);
	one(to, "cartbus_budget_used_ratio", "gauge", "The fuller of the two; from 1 on no model is asked.",
		budget_used_percent(&metrics->budget, &spend) / 100.0);
}

static void write_model_ends(const struct metrics *metrics, struct buffer *to)
{
	static const char name[] = "cartbus_model_failures_total";
	static const char *const reasons[] = { [MODEL_SILENT] = "silent",
		[MODEL_NOT_ASKED] = "not_asked",
		[MODEL_FAILED] = "failed",
		[MODEL_REFUSED] = "refused",
		[MODEL_CUT_OFF] = "cut_off",
		[MODEL_TOO_LARGE] = "too_large",
		[MODEL_NO_JSON] = "no_json",
		[MODEL_OTHER_FORM] = "other_form",
		[MODEL_UNREADABLE] = "unreadable" };
	struct totals_model_ends models = totals_model_ends(metrics->state);

	_Static_assert(sizeof(reasons) / sizeof(reasons[0]) == _ModelEnd_MAX + 1, "each end has its word");
	metric_begin(to, name, "counter",
		"Questions to a model that brought no whole answer of the form that was asked for.");
	for (int end = MODEL_SILENT; end <= _ModelEnd_MAX; end++)
		labelled(to, name, "reason", reasons[end], (double)models.ends[end]);
}

static void write_models(const struct metrics *metrics, struct buffer *to)
{
	static const char asked[] = "cartbus_model_questions_total", tokens[] = "cartbus_model_tokens_total";
	struct totals_models models = totals_models(metrics->state);

	metric_begin(
		to, asked, "counter", "Questions to a model: what it said was used, or the template's own words went.");
	labelled(to, asked, "outcome", "used", (double)models.used);
	labelled(to, asked, "outcome", "fallen_back", (double)models.fallen_back);
	metric_begin(to, tokens, "counter", "Tokens that models took and gave.");
	labelled(to, tokens, "direction", "in", (double)models.tokens_in);
	labelled(to, tokens, "direction", "out", (double)models.tokens_out);
	write_model_ends(metrics, to);
}

static void write_backups(const struct metrics *metrics, struct buffer *to)
{
	struct backups backups = backups_of(metrics->state);

	one(to, "cartbus_backup_last_success_timestamp_seconds", "gauge",
		"When the log was backed up last, since 1970; 0: never.", (double)backups.made_us / US_PER_S);
	one(to, "cartbus_backup_last_verified_timestamp_seconds", "gauge",
		"When a backup was last read as a whole and found sound; 0: never.",
		(double)backups.proved_us / US_PER_S);
	one(to, "cartbus_backup_failed", "gauge", "1 if the last backup failed, or the newest is not sound.",
		backups.failed_us || backups.damaged_us);
}

static void write_alarm(const char *kind, unsigned shops, void *to)
{
	labelled(to, "cartbus_alarms_raised", "kind", kind, shops);
}

void metrics_of_totals(const struct metrics *metrics, struct buffer *to)
{
	write_mails(metrics, to);
	write_timers(metrics, to);
	write_budget(metrics, to);
	write_models(metrics, to);
	write_backups(metrics, to);
	metric_begin(to, "cartbus_alarms_raised", "gauge", "In how many shops an alarm of that kind stands.");
	episodes_each_kind(metrics->state, write_alarm, to);
}
