/*
 * metrics.c: the counters of a process, and how the broker learns of them
 *
 * Owns:      how often each throttler slowed this process down; all other numbers lie in the runtime.
 * Promises:  a number only grows while the process runs; the broker shows it at most two seconds late.
 * Read next: bus/broker/admin/answer_status.c (shows them), services/platform/monitor/metrics_processes.c
 *            (names them)
 */
#include "bus/actor/runtime/runtime_inside.h"
#include "bus/base/text.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

static const int64_t TELL_EVERY_US = 2 * US_PER_S;
static const int64_t bounds_us[DURATION_BOUNDS] = { US_PER_MS, 10 * US_PER_MS, 100 * US_PER_MS, US_PER_S,
	10 * US_PER_S };

struct metrics_sink {
	Heartbeat *heartbeat;
};

void metrics_add(struct metrics_sink *told, const char *name, uint64_t value)
{
	Heartbeat *heartbeat = told->heartbeat;

	if (value == 0)
		return;
	assert(heartbeat->counts_count < sizeof(heartbeat->counts) / sizeof(heartbeat->counts[0]));
	TEXT_COPY(heartbeat->counts[heartbeat->counts_count].name, name);
	heartbeat->counts[heartbeat->counts_count++].value = value;
}

void metrics_took(struct durations *durations, int64_t us)
{
	us = us > 0 ? us : 0; /* another machine's clock may be ahead of ours */
	durations->count++;
	durations->sum_us += (uint64_t)us;
	for (int i = 0; i < DURATION_BOUNDS; i++)
		durations->within[i] += us <= bounds_us[i];
}

static void tell_durations(struct metrics_sink *told, const char *name, const struct durations *durations)
{
	char full[32];

	snprintf(full, sizeof(full), "%s_count", name);
	metrics_add(told, full, durations->count);
	snprintf(full, sizeof(full), "%s_sum_us", name);
	metrics_add(told, full, durations->sum_us);
	for (int i = 0; i < DURATION_BOUNDS; i++) {
		snprintf(full, sizeof(full), "%s_us_%lld", name, (long long)bounds_us[i]);
		metrics_add(told, full, durations->within[i]);
	}
}

/* Drivers belong to the process, and there is one runtime in it. */
static struct throttler {
	const char *kind;
	uint64_t count;
} throttlers[THROTTLERS_MAX];

void metrics_throttled_by(const char *kind)
{
	for (int i = 0; i < THROTTLERS_MAX; i++) {
		if (throttlers[i].kind && strcmp(throttlers[i].kind, kind) != 0)
			continue;
		throttlers[i].kind = kind;
		throttlers[i].count++;
		return;
	}
}

static void tell_throttlers(struct metrics_sink *told)
{
	for (int i = 0; i < THROTTLERS_MAX && throttlers[i].kind; i++) {
		char name[32];

		snprintf(name, sizeof(name), "throttled_%s", throttlers[i].kind);
		metrics_add(told, name, throttlers[i].count);
	}
}

void metrics_in_heartbeat(struct runtime *runtime, Heartbeat *heartbeat)
{
	const struct runtime_metrics *counts = &runtime->counts;
	struct metrics_sink told = { .heartbeat = heartbeat };

	if (boot_us(runtime) < runtime->counting.at_us)
		return;
	runtime->counting.at_us = boot_us(runtime) + TELL_EVERY_US;
	metrics_add(&told, "turns", counts->turns);
	metrics_add(&told, "failures", counts->failures);
	metrics_add(&told, "folded", counts->folded);
	metrics_add(&told, "rows_refused", counts->rows_refused);
	metrics_add(&told, "effects", counts->effects);
	metrics_add(&told, "effect_timeouts", counts->effect_timeouts);
	metrics_add(&told, "claims_fresh", counts->claims_fresh);
	metrics_add(&told, "claims_duplicate", counts->claims_duplicate);
	metrics_add(&told, "sessions", counts->sessions);
	metrics_add(&told, "config_read_us", counts->config_read_us);
	metrics_add(&told, "config_kept", counts->config_kept);
	tell_durations(&told, "deciding", &counts->deciding);
	tell_durations(&told, "waiting", &counts->waiting);
	if (counts->effects > 0)
		tell_durations(&told, "working", &counts->working);
	if (runtime->counting.memory_bytes)
		metrics_add(&told, "memory_bytes", runtime->counting.memory_bytes());
	tell_throttlers(&told);
	if (runtime->counting.beside)
		runtime->counting.beside(&told, runtime->counting.context);
}

void runtime_tell_config(struct runtime *runtime, int64_t read_us, bool kept)
{
	if (read_us)
		runtime->counts.config_read_us = (uint64_t)read_us;
	runtime->counts.config_kept = kept;
	runtime->counting.at_us = 0; /* soon */
}

struct runtime_metrics runtime_metrics(const struct runtime *runtime)
{
	return runtime->counts;
}

void runtime_metrics_beside(struct runtime *runtime, metrics_fn *tell, void *context)
{
	runtime->counting.beside = tell;
	runtime->counting.context = context;
}
