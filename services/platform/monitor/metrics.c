/*
 * metrics.c: writes the broker's answer and the monitor's folds (mails, timers, the budget, alarms) as text
 * for Prometheus
 *
 * Promises:  pure; one table for each part of the answer, so that a metric is a row. Without an answer the
 *            text says of the broker only that it is away: old numbers would look as if all were well.
 * Read next: metrics_processes.c (the counts of each process), totals.c (the folded counts), page.c (serves
 *            the text)
 */
#include "services/platform/monitor/metrics.h"

#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/platform/monitor/alarm_state.h"
#include "services/platform/monitor/backups.h"
#include "services/platform/monitor/recovered.h"
#include "services/platform/monitor/rows.h"
#include "services/platform/monitor/totals.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- the folds ---- */

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
	one(to, "cartbus_reminders_oldest_seconds", "gauge", "How long the oldest of them has been due.",
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
	one(to, "cartbus_timers_overdue_seconds", "gauge", "How long the first timer has been due; 0 if none is due.",
		first_us < metrics->now_us ? (double)(metrics->now_us - first_us) / US_PER_S : 0);
	write_lateness(&timers, to);
}

static void write_budget(const struct metrics *metrics, struct buffer *to)
{
	struct spend spend = spend_of_month(metrics->state, metrics->now_us);

	one(to, "cartbus_budget_spent_dollars", "gauge", "What models and mails cost this calendar month (UTC).",
		(double)spend_nano_usd(&metrics->budget, &spend) / NANO);
	one(to, "cartbus_budget_limit_dollars", "gauge", "The limit of [budget] usd.",
		(double)metrics->budget.nano_usd / NANO);
	one(to, "cartbus_budget_spent_tokens", "gauge", "Tokens that models took and gave this month.",
		(double)spend.tokens);
	one(to, "cartbus_budget_limit_tokens", "gauge", "The limit of [budget] tokens.",
		(double)metrics->budget.tokens);
	one(to, "cartbus_budget_used_ratio", "gauge",
		"Used share of the budget of dollars or tokens, whichever is larger; from 1 on no model is asked.",
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

static void metrics_of_totals(const struct metrics *metrics, struct buffer *to)
{
	write_mails(metrics, to);
	write_timers(metrics, to);
	write_budget(metrics, to);
	write_models(metrics, to);
	write_backups(metrics, to);
	metric_begin(to, "cartbus_alarms_raised", "gauge", "In how many shops an alarm of that kind stands.");
	alarm_state_each_kind(metrics->state, write_alarm, to);
}

void metrics_tell_folded(const struct state *state, int64_t now_us, struct metrics_sink *told)
{
	struct totals_mails mails = totals_mails(state);
	struct rows_mailing day = rows_mailing(state, now_us), hour = rows_mailing_hour(state, now_us);
	struct recovered recovered = recovered_carts(state, now_us);
	int64_t next_us = rows_first_cart_us(state);

	metrics_add(told, "mails_sent", mails.outcomes[OUTCOME_SENT]);
	metrics_add(told, "mails_day", day.tried - day.failed);
	metrics_add(told, "mails_hour", hour.tried - hour.failed);
	metrics_add(told, "mails_failed_day", day.failed);
	metrics_add(told, "recovered", recovered.ever);
	metrics_add(told, "recovered_day", recovered.today);
	metrics_add(told, "timers_pending", totals_timers(state).pending);
	metrics_add(told, "next_cart_us", next_us == INT64_MAX ? 0 : (uint64_t)next_us);
}

/* ---- the text, and the broker's answer ---- */

void metric_begin(struct buffer *to, const char *name, const char *type, const char *help)
{
	buffer_printf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metric_value(struct buffer *to, const char *name, const char *labels, double value)
{
	buffer_printf(to, *labels ? "%s{%s} %.17g\n" : "%s%s %.17g\n", name, labels, value);
}

void metric_label(char labels[METRIC_LABELS_MAX], const char *name, const char *value)
{
	enum { LABEL_MAX = 64, ESCAPED_MAX = 2 * LABEL_MAX + 1 };
	char shown[LABEL_MAX + 1], escaped[ESCAPED_MAX];
	size_t len = 0, used = strlen(labels);

	TEXT_COPY(shown, value); /* Prometheus refuses a page with half a character */
	for (const char *at = shown; *at; at++) {
		if (strchr("\\\"\n", *at))
			escaped[len++] = '\\';
		escaped[len++] = *at == '\n' ? 'n' : *at;
	}
	escaped[len] = '\0';
	snprintf(labels + used, METRIC_LABELS_MAX - used, "%s%s=\"%s\"", used ? "," : "", name, escaped);
}

static double shaped(const json_t *value, enum metric_shape shape, int64_t now_us)
{
	double number = json_number_value(value);

	switch (shape) {
	case METRIC_NUMBER:
		return number;
	case METRIC_SECONDS:
		return number / US_PER_S;
	case METRIC_AGE:
		return number > 0 && (double)now_us > number ? ((double)now_us - number) / US_PER_S : 0;
	case METRIC_FLAG:
		return json_is_true(value) || number != 0.0 || json_string_length(value) > 0;
	}
	return 0;
}

void metric_json(struct buffer *to, const char *name, const char *labels, const json_t *value, enum metric_shape shape,
	int64_t now_us)
{
	metric_value(to, name, labels, shaped(value, shape, now_us));
}

struct metric {
	const char *name, *type, *field;
	enum metric_shape shape;
	const char *help;
};

static const struct metric of_queues[] = {
	{ "cartbus_queue_ready_messages", "gauge", "ready", METRIC_NUMBER, "Messages that wait to be handed out." },
	{ "cartbus_queue_leased_messages", "gauge", "leased", METRIC_NUMBER, "Messages that a service is working on." },
	{ "cartbus_queue_delayed_messages", "gauge", "delayed", METRIC_NUMBER,
		"Messages that failed or were put off, and wait for their time." },
	{ "cartbus_queue_unread_messages", "gauge", "unread", METRIC_NUMBER,
		"Messages of the log that the queue has not looked at yet." },
	{ "cartbus_queue_dead_letters", "gauge", "dead", METRIC_NUMBER, "Messages that could not be handled." },
	{ "cartbus_queue_oldest_seconds", "gauge", "oldest_us", METRIC_AGE,
		"Age of the oldest message in the queue; 0 when it is empty." },
	{ "cartbus_queue_failures_total", "counter", "failures", METRIC_NUMBER,
		"Decisions that failed since the broker started." },
	{ "cartbus_queue_paused", "gauge", "paused_us", METRIC_FLAG,
		"1 while the queue is paused because everything in it failed." },
};

static const struct metric of_gateways[] = {
	{ "cartbus_gateway_up", "gauge", "alive", METRIC_FLAG, "1 if a gateway that the broker knows has a session." },
	{ "cartbus_gateway_spooled_messages", "gauge", "spooled", METRIC_NUMBER,
		"Messages in the gateway's spool, which the broker has not got yet." },
};

static const struct metric of_broker[] = {
	{ "cartbus_log_messages_total", "counter", "head", METRIC_NUMBER,
		"Messages that the log ever took: the number of the last one." },
	{ "cartbus_broker_uptime_seconds", "gauge", "uptime_us", METRIC_SECONDS, "Time since the broker started." },
	{ "cartbus_claims_parked", "gauge", "parked_claims", METRIC_NUMBER,
		"Claims of mails that wait for a gateway's spool to be empty." },
	{ "cartbus_claims_held", "gauge", "claims_held", METRIC_FLAG,
		"1 while no mail is claimed because a restore is not released." },
};

static const struct metric of_disk[] = {
	{ "cartbus_log_disk_free_bytes", "gauge", "free_bytes", METRIC_NUMBER, "Free bytes on the disk of the log." },
	{ "cartbus_log_disk_headroom_bytes", "gauge", "headroom_bytes", METRIC_NUMBER,
		"With less than that free nothing new is taken." },
	{ "cartbus_log_disk_short", "gauge", "short", METRIC_FLAG,
		"1 while the broker takes no new events because the disk is short." },
};

static const struct metric of_clock[] = {
	{ "cartbus_clock_jump_seconds", "gauge", "jump_us", METRIC_SECONDS,
		"How far the wall clock jumped against the time since boot; while it is not 0 no timer fires." },
};

static const struct metric of_sidelog[] = {
	{ "cartbus_side_log_damaged_files", "gauge", "damaged", METRIC_NUMBER,
		"Files of the side log that were damaged and lie beside it." },
};

static const struct metric of_connections[] = {
	{ "cartbus_broker_connections", "gauge", "open", METRIC_NUMBER, "Connections to the broker's sockets." },
	{ "cartbus_broker_connections_turned_away_total", "counter", "turned_away", METRIC_NUMBER,
		"Connections that the broker closed at once because there were too many, since it started." },
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static void write_object(
	const struct metrics *metrics, const struct metric *table, size_t rows, const json_t *object, struct buffer *to)
{
	for (size_t i = 0; i < rows; i++) {
		metric_begin(to, table[i].name, table[i].type, table[i].help);
		metric_json(to, table[i].name, "", json_object_get(object, table[i].field), table[i].shape,
			metrics->now_us);
	}
}

static void write_named(const struct metrics *metrics, const struct metric *table, size_t rows, const json_t *objects,
	const char *label, struct buffer *to)
{
	for (size_t i = 0; i < rows; i++) {
		size_t nth;
		json_t *object;

		metric_begin(to, table[i].name, table[i].type, table[i].help);
		json_array_foreach(objects, nth, object)
		{
			const char *name = json_string_value(json_object_get(object, "name"));
			char labels[METRIC_LABELS_MAX] = "";

			metric_label(labels, label, name ? name : "");
			metric_json(to, table[i].name, labels, json_object_get(object, table[i].field), table[i].shape,
				metrics->now_us);
		}
	}
}

static void write_refused(const json_t *refused, struct buffer *to)
{
	static const char name[] = "cartbus_broker_refused_total";
	const char *kind;
	json_t *value;

	metric_begin(to, name, "counter",
		"Frames that the broker refused because they made no sense, by kind, since it started.");
	json_object_foreach((json_t *)refused, kind, value)
	{
		char labels[METRIC_LABELS_MAX] = "";

		metric_label(labels, "kind", kind);
		metric_json(to, name, labels, value, METRIC_NUMBER, 0);
	}
}

static void write_status(const struct metrics *metrics, struct buffer *to)
{
	const json_t *status = metrics->status;

	write_named(metrics, of_queues, ROWS(of_queues), json_object_get(status, "queues"), "queue", to);
	write_named(metrics, of_gateways, ROWS(of_gateways), json_object_get(status, "gateways"), "process", to);
	write_object(metrics, of_broker, ROWS(of_broker), status, to);
	write_object(metrics, of_disk, ROWS(of_disk), json_object_get(status, "disk"), to);
	write_object(metrics, of_clock, ROWS(of_clock), json_object_get(status, "clock"), to);
	write_object(metrics, of_sidelog, ROWS(of_sidelog), json_object_get(status, "side_log"), to);
	write_object(metrics, of_connections, ROWS(of_connections), json_object_get(status, "connections"), to);
	write_refused(json_object_get(status, "refused"), to);
	metrics_of_processes(metrics, to);
}

static void write_tracing(const struct tracing_counts *counts, struct buffer *to)
{
	static const char name[] = "cartbus_trace_spans_total";
	const struct {
		const char *outcome;
		uint64_t count;
	} rows[] = { { "sent", counts->sent }, { "refused", counts->refused }, { "dropped", counts->dropped } };

	metric_begin(
		to, name, "counter", "Spans for [trace] collector; dropped: there was no room while it took none.");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char labels[METRIC_LABELS_MAX] = "";

		metric_label(labels, "outcome", rows[i].outcome);
		metric_value(to, name, labels, (double)rows[i].count);
	}
	metric_begin(to, "cartbus_trace_missed_messages_total", "counter",
		"Messages that were committed faster than traces were made of them.");
	metric_value(to, "cartbus_trace_missed_messages_total", "", (double)counts->missed);
}

void metrics_write(const struct metrics *metrics, struct buffer *to)
{
	char labels[METRIC_LABELS_MAX] = "";

	metric_label(labels, "version", CARTBUS_VERSION);
	metric_begin(to, "cartbus_build_info", "gauge", "1, and the release of this monitor.");
	metric_value(to, "cartbus_build_info", labels, 1);
	metric_begin(to, "cartbus_broker_up", "gauge", "1 while the broker answers.");
	metric_value(to, "cartbus_broker_up", "", metrics->status != NULL);
	if (metrics->status)
		write_status(metrics, to);
	metrics_of_totals(metrics, to);
	write_tracing(&metrics->tracing, to);
}
