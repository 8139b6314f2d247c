/*
 * metrics_processes.c: writes the counts that processes sent to the broker (bus/actor/runtime/metrics.c)
 *
 * Promises:  a process sends only counts that are not 0; here every counter of a process is present from its
 *            first session on, so that a rate over it is right.
 */
#include "bus/actor/runtime/runtime.h"
#include "bus/base/clock.h"
#include "services/platform/monitor/metrics.h"
#include <stdio.h>
#include <string.h>

struct counter {
	const char *told, *name, *labels, *help; /* help NULL: of the metric before */
};

static const struct counter of_every[] = {
	{ "turns", "cartbus_service_turns_total", "", "Decisions that were committed, or put off." },
	{ "failures", "cartbus_service_failures_total", "", "Decisions that failed." },
	{ "folded", "cartbus_service_folded_total", "", "Facts that were folded." },
	{ "rows_refused", "cartbus_service_rows_refused_total", "",
		"Rows that were not written, because a row holds at most 1 MB." },
	{ "effects", "cartbus_service_effects_total", "", "Work in the world that was begun: mails, requests, files." },
	{ "effect_timeouts", "cartbus_service_effect_timeouts_total", "",
		"Of that, what did not end before its deadline." },
	{ "claims_fresh", "cartbus_service_claims_total", "answer=\"fresh\"", "Claims by their answer." },
	{ "claims_duplicate", "cartbus_service_claims_total", "answer=\"duplicate\"", NULL },
	{ "sessions", "cartbus_service_sessions_total", "", "Sessions with the broker since the process started." },
};

static const struct counter of_gateway[] = {
	{ "requests", "cartbus_gateway_requests_total", "", "Requests that were answered." },
	{ "accepted", "cartbus_gateway_accepted_total", "", "Messages that were taken and are durable." },
	{ "duplicates", "cartbus_gateway_duplicates_total", "", "Messages that had come before." },
	{ "spooled", "cartbus_gateway_spooled_total", "", "Messages that went into the spool." },
	{ "drained", "cartbus_gateway_drained_total", "", "Messages that left it for the broker." },
	{ "ignored", "cartbus_gateway_ignored_total", "", "Authentic requests of no interest." },
	{ "rejected", "cartbus_gateway_rejected_total", "",
		"Authentic requests that can never be read; they lie in rejected/." },
	{ "consents_unreadable", "cartbus_gateway_consents_unreadable_total", "",
		"Webhooks whose consent is neither a yes nor a no; their carts are not mailed." },
	{ "bad_signatures", "cartbus_gateway_bad_signatures_total", "",
		"Requests that were not signed with the shop's secret." },
	{ "previous_secret", "cartbus_gateway_previous_secret_total", "",
		"Requests signed with a secret that is being rotated out." },
	{ "refused", "cartbus_gateway_refused_total", "", "Requests that were answered 503." },
	{ "malformed", "cartbus_gateway_malformed_total", "", "Requests that were answered 400, 404, 405 or 413." },
	{ "cut_off", "cartbus_gateway_cut_off_total", "", "Connections that were too slow, or bodies too long." },
	{ "misnamed", "cartbus_gateway_misnamed_total", "",
		"Requests whose client a trusted proxy named in words that cannot be read." },
	{ "crowded_out", "cartbus_gateway_crowded_out_total", "", "Connections that made room for others." },
	{ "turned_away", "cartbus_gateway_turned_away_total", "",
		"Connections that were not let in, and bodies dropped, because a network or all of them held too "
		"much." },
	{ "feedback", "cartbus_gateway_feedback_total", "", "Recipients of whom SES told a bounce or a complaint." },
	{ "feedback_refused", "cartbus_gateway_feedback_refused_total", "",
		"Feedback that SNS did not sign for this shop." },
	{ "optouts", "cartbus_gateway_optouts_total", "", "Shoppers who unsubscribed." },
	{ "taken_back", "cartbus_gateway_optouts_taken_back_total", "", "Of them, who took it back on the page." },
	{ "actions", "cartbus_gateway_actions_total", "", "What owners did by their links." },
	{ "links_used", "cartbus_gateway_links_used_total", "", "Owner's links that had been used before." },
	{ "links_expired", "cartbus_gateway_links_expired_total", "", "Owner's links that were too old." },
	{ "links_forged", "cartbus_gateway_links_forged_total", "",
		"Owner's links that were forged, cut, or of no shop that is here." },
	{ "privacy", "cartbus_gateway_privacy_requests_total", "", "Privacy requests of storefronts." },
	{ "clicks", "cartbus_gateway_clicks_total", "", "Return links that were followed." },
	{ "blobs_refused", "cartbus_gateway_blobs_refused_total", "",
		"Files that were not taken for now, because a shop's room or the disk was full." },
	{ "blobs_aged", "cartbus_gateway_blobs_aged_total", "",
		"Files that went, because their time was over or no message named them." },
};

static const struct counter of_mailin[] = {
	{ "readers_killed", "cartbus_mailin_readers_killed_total", "",
		"Times that a mail ended the process that reads mails." },
	{ "turned_away", "cartbus_mailin_turned_away_total", "",
		"Connections that LMTP did not let in, and mails that it did not take, because a user or all of them "
		"held too much." },
	{ "blobs_refused", "cartbus_mailin_blobs_refused_total", "",
		"Raw mails that were not taken for now, because a shop's room or the disk was full." },
	{ "blobs_aged", "cartbus_mailin_blobs_aged_total", "",
		"Raw mails that went, because their time was over or no message named them." },
};

static const struct counter of_monitor[] = {
	{ "turned_away", "cartbus_monitor_turned_away_total", "",
		"Connections that the metrics page did not let in, because a network or all of them held too much." },
};

static const struct counter gauges_of_gateway[] = {
	{ "secrets_unusable", "cartbus_gateway_unusable_secrets", "",
		"Shops whose webhooks are refused, because their secret cannot be used." },
	{ "blobs", "cartbus_gateway_blobs", "", "Files that came in requests, and are named by messages." },
	{ "blob_bytes", "cartbus_gateway_blob_bytes", "", "Bytes that they take on the disk." },
	{ "blob_age_s", "cartbus_gateway_oldest_blob_seconds", "", "Age of the oldest of them." },
};

static const struct counter gauges_of_mailin[] = {
	{ "aside_mails", "cartbus_mailin_aside_mails", "",
		"Mails that could not be read, or prove nothing, and lie aside." },
	{ "aside_bytes", "cartbus_mailin_aside_bytes", "", "What they take on the disk." },
	{ "blobs", "cartbus_mailin_blobs", "", "Raw mails that are kept as files, and named by messages." },
	{ "blob_bytes", "cartbus_mailin_blob_bytes", "", "Bytes that they take on the disk." },
	{ "blob_age_s", "cartbus_mailin_oldest_blob_seconds", "", "Age of the oldest of them." },
};

static const struct counter of_durations[] = {
	{ "deciding", "cartbus_service_decision_seconds", "", "How long decisions took." },
	{ "waiting", "cartbus_service_wait_seconds", "",
		"How long a message had been in the log when it was decided on; of first tries." },
	{ "working", "cartbus_service_effect_seconds", "", "How long work in the world took." },
};

/* The peers that a service asks, as its drivers name them (metrics_throttled_by). */
static const struct peer {
	const char *service, *kind;
} peers[] = { { "sender", "mail" }, { "sender", "storefront" }, { "sender", "model" }, { "storefront", "storefront" },
	{ "exporter", "google" }, { "mirror", "google" }, { "summarizer", "mail" }, { "summarizer", "model" },
	{ "mailin", "sns" }, { "monitor", "mail" }, { "monitor", "webhook" }, { NULL, NULL } };

static const char *const bounds[DURATION_BOUNDS] = { "0.001", "0.01", "0.1", "1", "10" };
static const char *const bounds_us[DURATION_BOUNDS] = { "1000", "10000", "100000", "1000000", "10000000" };

static const char *text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "";
}

/* A session of the command `cartbus` has a new name each time, so it gets no series. */
static bool is_process(const json_t *session)
{
	return strcmp(text(session, "service"), "cartbus") != 0;
}

static void labels_of(const json_t *session, bool with_service, char ret[METRIC_LABELS_MAX])
{
	ret[0] = '\0';
	if (with_service)
		metric_label(ret, "service", text(session, "service"));
	metric_label(ret, "process", text(session, "instance"));
}

static double told(const json_t *session, const char *name)
{
	return json_number_value(json_object_get(json_object_get(session, "counts"), name));
}

static void write_values(
	const json_t *sessions, const struct counter *counter, const char *type, const char *only, struct buffer *to)
{
	size_t i;
	json_t *session;

	if (counter->help)
		metric_begin(to, counter->name, type, counter->help);
	json_array_foreach((json_t *)sessions, i, session)
	{
		char labels[METRIC_LABELS_MAX];
		size_t len;

		if (!is_process(session) || (only && strcmp(text(session, "service"), only) != 0))
			continue;
		labels_of(session, !only, labels);
		len = strlen(labels);
		if (*counter->labels)
			snprintf(labels + len, sizeof(labels) - len, ",%s", counter->labels);
		metric_value(to, counter->name, labels, told(session, counter->told));
	}
}

static void write_counter(const json_t *sessions, const struct counter *counter, const char *only, struct buffer *to)
{
	write_values(sessions, counter, "counter", only, to);
}

static void write_bucket(const json_t *session, const struct counter *durations, const char *bound, const char *told_as,
	struct buffer *to)
{
	char name[64], field[64], labels[METRIC_LABELS_MAX];

	snprintf(name, sizeof(name), "%s_bucket", durations->name);
	snprintf(field, sizeof(field), "%s_%s", durations->told, told_as);
	labels_of(session, true, labels);
	metric_label(labels, "le", bound);
	metric_value(to, name, labels, told(session, field));
}

static void write_durations_of(const json_t *session, const struct counter *durations, struct buffer *to)
{
	char name[64], field[64], labels[METRIC_LABELS_MAX];

	for (int i = 0; i < DURATION_BOUNDS; i++) {
		snprintf(field, sizeof(field), "us_%s", bounds_us[i]);
		write_bucket(session, durations, bounds[i], field, to);
	}
	write_bucket(session, durations, "+Inf", "count", to);
	labels_of(session, true, labels);
	snprintf(name, sizeof(name), "%s_sum", durations->name);
	snprintf(field, sizeof(field), "%s_sum_us", durations->told);
	metric_value(to, name, labels, told(session, field) / US_PER_S);
	snprintf(name, sizeof(name), "%s_count", durations->name);
	snprintf(field, sizeof(field), "%s_count", durations->told);
	metric_value(to, name, labels, told(session, field));
}

static void write_durations(const json_t *sessions, const struct counter *durations, struct buffer *to)
{
	size_t i;
	json_t *session;

	metric_begin(to, durations->name, "histogram", durations->help);
	json_array_foreach((json_t *)sessions, i, session)
	{
		if (is_process(session))
			write_durations_of(session, durations, to);
	}
}

static int count_sessions(const json_t *sessions, const char *service)
{
	size_t i;
	json_t *session;
	int count = 0;

	json_array_foreach((json_t *)sessions, i, session) count += strcmp(text(session, "service"), service) == 0;
	return count;
}

/* Writes a value for every service that has a queue, also if no instance runs: then the value matters. */
static void write_running(const struct metrics *metrics, const json_t *sessions, struct buffer *to)
{
	static const char name[] = "cartbus_service_instances";
	size_t i;
	json_t *queue;

	metric_begin(to, name, "gauge", "Instances of a service that decide on its queue's messages now.");
	json_array_foreach(json_object_get(metrics->status, "queues"), i, queue)
	{
		char labels[METRIC_LABELS_MAX] = "";

		metric_label(labels, "service", text(queue, "name"));
		metric_value(to, name, labels, count_sessions(sessions, text(queue, "name")));
	}
}

static void write_lag(const json_t *sessions, struct buffer *to)
{
	static const char name[] = "cartbus_service_lag_messages";
	size_t i;
	json_t *session;

	metric_begin(to, name, "gauge", "Messages of the log that were not sent to the instance's projections yet.");
	json_array_foreach((json_t *)sessions, i, session)
	{
		char labels[METRIC_LABELS_MAX];

		if (!is_process(session))
			continue;
		labels_of(session, true, labels);
		metric_json(to, name, labels, json_object_get(session, "lag"), METRIC_NUMBER, 0);
	}
}

/* Writes a value for each peer of a service from its first session on, so the first throttling counts. */
static void write_throttles(const json_t *sessions, struct buffer *to)
{
	static const char metric[] = "cartbus_service_throttled_total";
	json_t *session;
	size_t i;

	metric_begin(
		to, metric, "counter", "How often somebody asked to be left alone for a while: HTTP 429, SMTP 4.7.x.");
	json_array_foreach((json_t *)sessions, i, session)
	{
		for (const struct peer *peer = peers; peer->service; peer++) {
			char labels[METRIC_LABELS_MAX], field[64];

			if (strcmp(text(session, "service"), peer->service) != 0)
				continue;
			labels_of(session, true, labels);
			metric_label(labels, "peer", peer->kind);
			snprintf(field, sizeof(field), "throttled_%s", peer->kind);
			metric_value(to, metric, labels, told(session, field));
		}
	}
}

static void write_memory(const json_t *sessions, struct buffer *to)
{
	static const char metric[] = "cartbus_service_memory_bytes";
	json_t *session;
	size_t i;

	metric_begin(to, metric, "gauge", "Memory of the machine that the process takes.");
	json_array_foreach((json_t *)sessions, i, session)
	{
		char labels[METRIC_LABELS_MAX];

		if (!is_process(session) || told(session, "memory_bytes") <= 0)
			continue;
		labels_of(session, true, labels);
		metric_value(to, metric, labels, told(session, "memory_bytes"));
	}
}

void metrics_of_processes(const struct metrics *metrics, struct buffer *to)
{
	const json_t *sessions = json_object_get(metrics->status, "sessions");

	write_running(metrics, sessions, to);
	write_lag(sessions, to);
	write_memory(sessions, to);
	write_throttles(sessions, to);
	for (size_t i = 0; i < sizeof(of_every) / sizeof(of_every[0]); i++)
		write_counter(sessions, &of_every[i], NULL, to);
	for (size_t i = 0; i < sizeof(of_durations) / sizeof(of_durations[0]); i++)
		write_durations(sessions, &of_durations[i], to);
	for (size_t i = 0; i < sizeof(of_gateway) / sizeof(of_gateway[0]); i++)
		write_counter(sessions, &of_gateway[i], "gateway", to);
	for (size_t i = 0; i < sizeof(of_mailin) / sizeof(of_mailin[0]); i++)
		write_counter(sessions, &of_mailin[i], "mailin", to);
	for (size_t i = 0; i < sizeof(of_monitor) / sizeof(of_monitor[0]); i++)
		write_counter(sessions, &of_monitor[i], "monitor", to);
	for (size_t i = 0; i < sizeof(gauges_of_gateway) / sizeof(gauges_of_gateway[0]); i++)
		write_values(sessions, &gauges_of_gateway[i], "gauge", "gateway", to);
	for (size_t i = 0; i < sizeof(gauges_of_mailin) / sizeof(gauges_of_mailin[0]); i++)
		write_values(sessions, &gauges_of_mailin[i], "gauge", "mailin", to);
}
