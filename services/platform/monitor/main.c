/*
 * main.c: the process cartbus-monitor
 *
 * Owns:      the parts of the process: the broker's status, the conditions, the channels to the admin, the
 *            metrics' page, the traces, and the watch for a broker that is away.
 * Read next: broker_status.c (asks the broker), conditions.c (publishes alarms), monitor.c (tells the admin),
 *            broker_away.c, page.c
 */
#include "bus/actor/process.h"
#include "bus/base/log.h"
#include "services/kit/settings/settings.h"
#include "services/platform/monitor/broker_away.h"
#include "services/platform/monitor/broker_status.h"
#include "services/platform/monitor/metrics.h"
#include "services/platform/monitor/monitor.h"
#include "services/platform/monitor/page.h"
#include "services/platform/monitor/tracing.h"
#include <limits.h>
#include <stdio.h>

static struct monitor monitor_here;
static struct conditions conditions;
static struct broker_status status;
static struct broker_away *away;
static struct effect_driver *all[3];

static int64_t before_wait(void *context)
{
	int64_t ask_us = broker_status_ask(&status);
	int64_t away_us = broker_away_look(away, runtime_phase(status.runtime), runtime_why(status.runtime));

	(void)context;
	return away_us >= 0 && away_us < ask_us ? away_us : ask_us;
}

static void write_metrics(struct buffer *to)
{
	metrics_write(&(struct metrics){ .status = broker_status_now(&status),
			      .state = runtime_state(status.runtime),
			      .budget = conditions.budget,
			      .tracing = tracing_counts(),
			      .now_us = clock_wall_us(status.clock) },
		to);
}

/* Tells the counts to a command that asks the broker for them (`cartbus top`). */
static void tell_counts(struct metrics_sink *told, void *context)
{
	(void)context;
	metrics_tell_folded(runtime_state(status.runtime), clock_wall_us(status.clock), told);
	page_tell_turned_away(told);
}

static struct broker_away *watch_broker(
	const struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	struct broker_away_settings settings = { .channels = &monitor_here.channels,
		.mail = all[0],
		.http = all[1],
		.clock = clock,
		.patience_us = config_number(config, "monitor", NULL, "broker-patience") };

	snprintf(settings.path, sizeof(settings.path), "%.*s/%.64s/broker-away.json", (int)(PATH_MAX - 100),
		config_get(config, "paths", NULL, "state"), runtime_instance(runtime));
	return broker_away_new(&settings);
}

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	conditions = (struct conditions){ .runtime = runtime, .clock = clock, .channels = &monitor_here.channels };
	conditions_configure(&conditions, config);
	status = (struct broker_status){ .runtime = runtime, .clock = clock, .conditions = &conditions };
	away = watch_broker(runtime, config, clock);
	runtime_metrics_beside(runtime, tell_counts, NULL);
	loop_before_wait(loop, before_wait, NULL);
	tracing_start(loop, config, clock);
	page_start(loop, config, clock, write_metrics);
}

static void stop(void)
{
	broker_away_free(away);
	away = NULL;
	page_stop();
	tracing_stop();
	broker_status_forget(&status);
}

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	struct http_settings http = http_settings_of(config, clock);
	char why[300];

	if (channels_read(config, &monitor_here.channels, why) < 0)
		die("%s", why);
	monitor_here.clock_rate = clock->rate;
	all[0] = mail_driver_new(config, clock);
	http.peer = "webhook";
	all[1] = http_driver_new("http", &http);
	return all;
}

static void check_settings(const struct config *config)
{
	struct channels channels;
	char why[512];

	if (channels_read(config, &channels, why) < 0 || mail_try(config, why) < 0)
		die("%s", why);
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &monitor,
			.context = monitor_in(&monitor_here),
			.help = "Raises an alarm when there are dead letters, failures, services that are missing, or "
				"something was due and nothing was sent; tells the admin by mail and webhook, and "
				"when it is over; also that the broker is away.",
			.keys = settings_keys,
			.start = start,
			.stop = stop,
			.check = check_settings,
			.drivers = drivers });
}
