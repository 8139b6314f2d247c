/*
 * metrics.c: what the broker answered, as text for Prometheus
 *
 * Promises:  pure; a table per part of the answer, so that a metric is a row. Without an answer nothing is told of the broker but
 *            that it is away: a number that stands still would say that all is well.
 * Read next: metrics_processes.c (what each process counts), totals.c (what was folded), page.c (who is told)
 */
#include "services/platform/monitor/metrics.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include <string.h>

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

	TEXT_COPY(shown, value); /* Prometheus refuses a page in which half a letter stands */
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
	{ "cartbus_queue_leased_messages", "gauge", "leased", METRIC_NUMBER, "Messages that somebody is at work on." },
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
	{ "cartbus_log_disk_free_bytes", "gauge", "free_bytes", METRIC_NUMBER, "Free on the disk of the log." },
	{ "cartbus_log_disk_headroom_bytes", "gauge", "headroom_bytes", METRIC_NUMBER,
		"With less than that free nothing new is taken." },
	{ "cartbus_log_disk_short", "gauge", "short", METRIC_FLAG, "1 while nothing new is taken." },
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

	metric_begin(to, name, "counter", "What made no sense to the broker, by kind, since it started.");
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
