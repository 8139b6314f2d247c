/*
 * metrics.h: the state of the system as text for Prometheus
 *
 * Names begin with cartbus_, units are seconds, bytes, messages and dollars, counters end with _total. Labels are queues, services,
 * processes, kinds and outcomes: no shop, cart, address or number of a message.
 */
#ifndef PLATFORM_MONITOR_METRICS_H
#define PLATFORM_MONITOR_METRICS_H

#include "bus/actor/state.h"
#include "services/kit/model/spend.h"
#include "services/platform/monitor/tracing.h"
#include <jansson.h>

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct metrics {
	/* the broker's answer to "status"; NULL: it does not answer, and its metrics are left out */
	const json_t *status;
	const struct state *state;
	struct budget budget;
	struct tracing_counts tracing;
	int64_t now_us;
};
void metrics_write(const struct metrics *metrics, struct buffer *to);
/* Reports folded counts as metrics of the process, for readers of the broker's status (`cartbus top`). */
void metrics_tell_folded(const struct state *state, int64_t now_us, struct metrics_sink *told);

/* ---- for the parts of the metrics ---- */

enum metric_shape {
	METRIC_NUMBER,
	METRIC_SECONDS /* microseconds, written as seconds */,
	METRIC_AGE /* a time, written as its age; 0: none */,
	METRIC_FLAG
};

void metric_begin(struct buffer *to, const char *name, const char *type, const char *help);
/* `labels` is "", or made by metric_label: {queue="sender"} without the braces. */
void metric_value(struct buffer *to, const char *name, const char *labels, double value);
void metric_json(struct buffer *to, const char *name, const char *labels, const json_t *value, enum metric_shape shape,
	int64_t now_us);
enum { METRIC_LABELS_MAX = 300 };
void metric_label(char labels[METRIC_LABELS_MAX], const char *name, const char *value); /* appends, escaped */

void metrics_of_processes(const struct metrics *metrics, struct buffer *to);

#endif
