/*
 * main.c: the process cartbus-monitor
 *
 * Owns:      the broker's last answer, and the rhythm: every few seconds the broker is asked how it is, and each condition is looked at; what to do without it.
 * Promises:  a change is said once, when it has held for the condition's patience, and not looked at again until it is folded.
 * Read next: check.c, monitor.c, broker_away.c, page.c
 */
#include "bus/actor/process.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/platform_events.h"
#include "services/kit/mail/message.h"
#include "services/kit/settings/settings.h"
#include "services/kit/web/turned_away.h"
#include "services/platform/monitor/astray.h"
#include "services/platform/monitor/broker_away.h"
#include "services/platform/monitor/check.h"
#include "services/platform/monitor/door.h"
#include "services/platform/monitor/episodes.h"
#include "services/platform/monitor/failing.h"
#include "services/platform/monitor/metrics.h"
#include "services/platform/monitor/monitor.h"
#include "services/platform/monitor/page.h"
#include "services/platform/monitor/recovered.h"
#include "services/platform/monitor/rows.h"
#include "services/platform/monitor/totals.h"
#include "services/platform/monitor/tracing.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ASK_EVERY_US (5 * US_PER_S)
#define ANSWER_GOOD_US (30 * US_PER_S) /* an older one is none */
#define ASK_SOON_US (100 * US_PER_MS)  /* what was just said is folded first */
#define FIGURES_EVERY_US (5 * US_PER_MINUTE)

static struct monitor monitor_here;

static struct {
	struct runtime *runtime;
	const struct clock *clock;
	bool asked;                        /* an answer is on its way */
	int64_t ask_at_us;                 /* boot time */
	int64_t since_us[CONDITION_COUNT]; /* boot time since when it is so; 0: it is not */
	int saying;                        /* messages not confirmed yet */
	uint64_t said_seq;                 /* the latest confirmed: its fold must be seen before one looks again */
	uint32_t sender_failures_least;
	struct budget budget;
	bool no_backups;
	int64_t patience_us; /* with the broker */
	struct broker_away *away;
	json_t *status;                 /* the broker's last answer; NULL: none yet */
	int64_t answered_us;            /* boot time */
	struct turned_away turned_away; /* by the page */
} watch;

static void was_said(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)context;
	watch.saying--;
	if (result == SAID_FRESH && seq > watch.said_seq)
		watch.said_seq = seq;
	if (result == SAID_REFUSED)
		log_event(LOG_ERROR, "what the monitor says was refused: %s", reason);
}

static void say(const char *shop, const Alarm *alarm)
{
	struct publish_options how = { .shop = shop, .key = alarm->kind, .version = (uint64_t)alarm->at_us };
	if (runtime_publish(watch.runtime, &topic_alarm, &how, NULL, alarm, was_said, NULL) == 0)
		watch.saying++;
}

static void say_news(const char *shop, const Alarm *alarm)
{
	say(shop, alarm);
	log_event_about(alarm->raised ? LOG_ERROR : LOG_NOTICE,
		&(struct log_about){ .event = alarm->raised ? event_alarm_raised : event_alarm_over, .shop = shop },
		"alarm %s %s shop=%s: %s", alarm->kind, alarm->raised ? "raised" : "over", shop, alarm->text);
}

static void look_at(enum condition condition, const struct circumstances *now)
{
	int64_t boot_us = clock_boot_us(watch.clock);
	Alarm alarm;
	bool is_so = check(condition, now, &alarm);
	if (!is_so)
		watch.since_us[condition] = 0;
	else if (!watch.since_us[condition])
		watch.since_us[condition] = boot_us;
	bool raised = episodes_raised(now->state, SHOP_OF_ALL, alarm.kind);
	bool wanted = is_so && (raised || boot_us - watch.since_us[condition] >= condition_patience_us(condition));
	if (wanted == raised)
		return;
	alarm.raised = wanted;
	alarm.at_us = now->now_us;
	say_news(SHOP_OF_ALL, &alarm);
}

/* Of an alarm whose figures have moved: no news for the admin, so it is said again now and then only, under the name of who has seen it. */
static void say_figures(const struct state *state, const char *shop, Alarm *alarm)
{
	Alarm standing;
	if (!episodes_standing(state, shop, alarm->kind, &standing) || strcmp(standing.text, alarm->text) == 0 ||
		alarm->at_us - standing.at_us < FIGURES_EVERY_US)
		return;
	TEXT_COPY(alarm->acknowledged_by, standing.acknowledged_by);
	say(shop, alarm);
}

/* There is nothing to wait for: each of these conditions looks at a window of its own, or at what stands now. */
static bool look_at_one(const struct circumstances *now, const char *shop, enum shop_condition condition, Alarm *ret)
{
	bool is_so = check_shop(now->state, shop, condition, now->now_us, ret);
	ret->raised = is_so;
	ret->at_us = now->now_us;
	if (is_so == episodes_raised(now->state, shop, ret->kind))
		return is_so;
	say_news(shop, ret);
	return false;
}

static void look_at_door(const char *shop, void *context)
{
	static const enum shop_condition conditions[] = { SHOP_SIGNATURES, SHOP_PREVIOUS_SECRET, SHOP_SILENT };
	Alarm alarm;
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		look_at_one(context, shop, conditions[i], &alarm);
}

static void look_at_links(const char *shop, void *context)
{
	const struct circumstances *now = context;
	Alarm alarm;
	if (look_at_one(now, shop, SHOP_LINKS, &alarm))
		say_figures(now->state, shop, &alarm);
}

/* true: the broker counted failures that are no facts yet. */
static bool say_failures(const struct view *view, const struct state *state)
{
	bool said = false;
	for (int i = 0; i < view->queue_count; i++) {
		const struct view_queue *queue = &view->queues[i];
		struct publish_options how = { .shop = SHOP_OF_ALL, .key = queue->name };
		QueueFailed failed;
		if (!failing_news(state, queue->name, queue->failures, clock_wall_us(watch.clock), &failed) ||
			runtime_publish(watch.runtime, &topic_queue_failed, &how, NULL, &failed, was_said, NULL) < 0)
			continue;
		watch.saying++;
		said = true;
	}
	return said;
}

static void keep_status(const char *text)
{
	json_decref(watch.status);
	watch.status = json_loads(text, 0, NULL);
	watch.answered_us = clock_boot_us(watch.clock);
}

static void write_metrics(struct buffer *to)
{
	bool is_good = runtime_phase(watch.runtime) == RUNTIME_READY &&
		clock_boot_us(watch.clock) - watch.answered_us < ANSWER_GOOD_US;

	metrics_write(&(struct metrics){ .status = is_good ? watch.status : NULL,
			      .state = runtime_state(watch.runtime),
			      .budget = watch.budget,
			      .tracing = tracing_counts(),
			      .now_us = clock_wall_us(watch.clock) },
		to);
}

static void status_answered(void *context, bool ok, const char *text, bool more)
{
	struct view view;
	(void)context, (void)more;
	watch.asked = false;
	if (!ok || view_read(text, &view) < 0) {
		log_event(LOG_WARNING, "the broker does not say how it is: %s", ok ? "unreadable answer" : text);
		return;
	}
	keep_status(text);
	const struct state *state = runtime_state(watch.runtime);
	if (watch.saying || state_cursor(state) < watch.said_seq)
		return;
	if (say_failures(&view, state)) {
		watch.ask_at_us = clock_boot_us(watch.clock) + ASK_SOON_US;
		return;
	}
	struct circumstances now = { .state = state,
		.view = &view,
		.ways = &monitor_here.ways,
		.sender_failures_least = watch.sender_failures_least,
		.now_us = clock_wall_us(watch.clock),
		.budget = watch.budget,
		.no_backups = watch.no_backups,
		.clock_rate = watch.clock->rate };
	for (int condition = 0; condition < CONDITION_COUNT; condition++)
		look_at((enum condition)condition, &now);
	door_each_shop(state, look_at_door, &now);
	astray_each_shop(state, look_at_links, &now);
}

static int64_t ask_when_due(int64_t now_us)
{
	if (watch.asked || runtime_phase(watch.runtime) != RUNTIME_READY)
		return ASK_EVERY_US;
	if (now_us < watch.ask_at_us)
		return watch.ask_at_us - now_us;
	watch.ask_at_us = now_us + ASK_EVERY_US;
	watch.asked = runtime_ask(watch.runtime, "status", "{}", status_answered, NULL) == 0;
	return ASK_EVERY_US;
}

static int64_t before_wait(void *context)
{
	int64_t ask_us = ask_when_due(clock_boot_us(watch.clock));
	int64_t away_us = broker_away_look(watch.away, runtime_phase(watch.runtime), runtime_why(watch.runtime));
	(void)context;
	return away_us >= 0 && away_us < ask_us ? away_us : ask_us;
}

/* What it folded, for who asks the broker how all is (`cartbus top`). */
static void tell_totals(struct counts_told *told, void *context)
{
	const struct state *state = runtime_state(watch.runtime);
	int64_t now_us = clock_wall_us(watch.clock), next_us = rows_first_cart_us(state);
	struct totals_mails mails = totals_mails(state);
	struct rows_mailing day = rows_mailing(state, now_us), hour = rows_mailing_hour(state, now_us);
	struct recovered recovered = recovered_carts(state, now_us);

	(void)context;
	counts_tell(told, "mails_sent", mails.outcomes[OUTCOME_SENT]);
	counts_tell(told, "mails_day", day.tried - day.failed);
	counts_tell(told, "mails_hour", hour.tried - hour.failed);
	counts_tell(told, "mails_failed_day", day.failed);
	counts_tell(told, "recovered", recovered.ever);
	counts_tell(told, "recovered_day", recovered.today);
	counts_tell(told, "timers_pending", totals_timers(state).pending);
	counts_tell(told, "next_cart_us", next_us == INT64_MAX ? 0 : (uint64_t)next_us);
	turned_away_tell(&watch.turned_away, page_turned_away(), told);
}

static struct effect_driver *all[3];

static void watch_broker(const struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	struct broker_away_settings settings = { .ways = &monitor_here.ways,
		.mail = all[0],
		.http = all[1],
		.clock = clock,
		.patience_us = watch.patience_us };
	snprintf(settings.path, sizeof(settings.path), "%.*s/%.64s/broker-away.json", (int)(PATH_MAX - 100),
		config_get(config, "paths", NULL, "state"), runtime_instance(runtime));
	watch.away = broker_away_new(&settings);
}

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	watch.runtime = runtime;
	watch.clock = watch.turned_away.clock = clock;
	watch_broker(runtime, config, clock);
	runtime_counts_beside(runtime, tell_totals, NULL);
	loop_before_wait(loop, before_wait, NULL);
	tracing_start(loop, config, clock);
	page_start(loop, config, clock, write_metrics);
}

static void stop(void)
{
	broker_away_free(watch.away);
	watch.away = NULL;
	page_stop();
	tracing_stop();
	json_decref(watch.status);
	watch.status = NULL;
}

static void read_numbers(const struct config *config)
{
	watch.patience_us = config_number(config, "monitor", NULL, "broker-patience");
	watch.sender_failures_least = (uint32_t)config_number(config, "monitor", NULL, "sender-failures");
	watch.budget = budget_of(config);
	watch.no_backups = config_number(config, "backup", NULL, "keep") == 0;
}

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	struct http_settings http = http_settings_of(config, clock);
	char why[300];
	read_numbers(config);
	if (ways_read(config, &monitor_here.ways, why) < 0)
		die("%s", why);
	monitor_here.clock_rate = clock->rate;
	all[0] = mail_driver_new(config, clock);
	http.peer = "webhook";
	all[1] = http_driver_new("http", &http);
	return all;
}

static void check_settings(const struct config *config)
{
	struct ways ways;
	char why[512];

	if (ways_read(config, &ways, why) < 0 || mail_try(config, why) < 0)
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
