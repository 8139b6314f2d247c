/*
 * conditions.c: checks each condition, and publishes an alarm when it begins and when it ends
 *
 * Owns:      the time since when each condition holds, and the count of published messages that are not
 *            confirmed yet.
 * Promises:  a change is published once, when it has lasted for the condition's patience; nothing is checked
 *            again until it is folded.
 * Read next: check.c (the conditions), alarm_state.c (which alarms stand), monitor.c (tells the admin)
 */
#include "services/platform/monitor/conditions.h"

#include "bus/base/log.h"
#include "bus/base/text.h"
#include "proto/platform_events.h"
#include "services/platform/monitor/alarm_state.h"
#include "services/platform/monitor/astray.h"
#include "services/platform/monitor/failing.h"
#include "services/platform/monitor/webhook_health.h"
#include <string.h>

#define FIGURES_EVERY_US (5 * US_PER_MINUTE)

struct look {
	struct conditions *conditions;
	struct circumstances now;
};

/* ---- saying ---- */

static void was_said(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct conditions *conditions = context;

	conditions->saying--;
	if (result == SAID_FRESH && seq > conditions->said_seq)
		conditions->said_seq = seq;
	if (result == SAID_REFUSED)
		log_event(LOG_ERROR, "what the monitor says was refused: %s", reason);
}

static bool publish(struct conditions *conditions, const struct topic *topic, const struct publish_options *how,
	const void *message)
{
	if (runtime_publish(conditions->runtime, topic, how, NULL, message, was_said, conditions) < 0)
		return false;
	conditions->saying++;
	return true;
}

static void say_alarm(struct conditions *conditions, const char *shop, const Alarm *alarm)
{
	struct publish_options how = { .shop = shop, .key = alarm->kind, .version = (uint64_t)alarm->at_us };

	publish(conditions, &topic_alarm, &how, alarm);
}

static void say_news(struct conditions *conditions, const char *shop, const Alarm *alarm)
{
	say_alarm(conditions, shop, alarm);
	log_event_about(alarm->raised ? LOG_ERROR : LOG_NOTICE,
		&(struct log_about){ .event = alarm->raised ? event_alarm_raised : event_alarm_over, .shop = shop },
		"alarm %s %s shop=%s: %s", alarm->kind, alarm->raised ? "raised" : "over", shop, alarm->text);
}

/*
 * Publishes a standing alarm again if its figures have changed. That is no news for the admin, so it is done
 * only now and then, and the alarm keeps the name of the admin who has seen it.
 */
static void say_figures(const struct look *look, const char *shop, Alarm *alarm)
{
	Alarm standing;

	if (!alarm_state_standing(look->now.state, shop, alarm->kind, &standing) ||
		strcmp(standing.text, alarm->text) == 0 || alarm->at_us - standing.at_us < FIGURES_EVERY_US)
		return;
	TEXT_COPY(alarm->acknowledged_by, standing.acknowledged_by);
	say_alarm(look->conditions, shop, alarm);
}

/* true: the broker counted failures that are no facts yet. */
static bool say_failures(struct conditions *conditions, const struct view *view, const struct state *state)
{
	bool said = false;

	for (int i = 0; i < view->queue_count; i++) {
		const struct view_queue *queue = &view->queues[i];
		struct publish_options how = { .shop = SHOP_OF_ALL, .key = queue->name };
		QueueFailed failed;

		if (failing_news(state, queue->name, queue->failures, clock_wall_us(conditions->clock), &failed))
			said |= publish(conditions, &topic_queue_failed, &how, &failed);
	}
	return said;
}

/* ---- looking ---- */

static void look_at(enum condition condition, const struct look *look)
{
	int64_t boot_us = clock_boot_us(look->conditions->clock), *since_us = &look->conditions->since_us[condition];
	Alarm alarm;
	bool is_so = check(condition, &look->now, &alarm), raised, wanted;

	if (!is_so)
		*since_us = 0;
	else if (!*since_us)
		*since_us = boot_us;
	raised = alarm_state_raised(look->now.state, SHOP_OF_ALL, alarm.kind);
	wanted = is_so && (raised || boot_us - *since_us >= condition_patience_us(condition));
	if (wanted == raised)
		return;
	alarm.raised = wanted;
	alarm.at_us = look->now.now_us;
	say_news(look->conditions, SHOP_OF_ALL, &alarm);
}

/*
 * These conditions need no patience: each covers a period of its own, or what stands now. true: the alarm
 * stood already.
 */
static bool look_at_one(const struct look *look, const char *shop, enum shop_condition condition, Alarm *ret)
{
	bool is_so = check_shop(look->now.state, shop, condition, look->now.now_us, ret);

	ret->raised = is_so;
	ret->at_us = look->now.now_us;
	if (is_so == alarm_state_raised(look->now.state, shop, ret->kind))
		return is_so;
	say_news(look->conditions, shop, ret);
	return false;
}

static void look_at_webhooks(const char *shop, void *context)
{
	static const enum shop_condition of_door[] = { SHOP_SIGNATURES, SHOP_PREVIOUS_SECRET, SHOP_SILENT };
	Alarm alarm;

	for (size_t i = 0; i < sizeof(of_door) / sizeof(of_door[0]); i++)
		look_at_one(context, shop, of_door[i], &alarm);
}

static void look_at_links(const char *shop, void *context)
{
	const struct look *look = context;
	Alarm alarm;

	if (look_at_one(look, shop, SHOP_LINKS, &alarm))
		say_figures(look, shop, &alarm);
}

bool conditions_look(struct conditions *conditions, const struct view *view)
{
	const struct state *state = runtime_state(conditions->runtime);
	struct look look = { .conditions = conditions,
		.now = { .state = state,
			.view = view,
			.channels = conditions->channels,
			.sender_failures_least = conditions->sender_failures_least,
			.now_us = clock_wall_us(conditions->clock),
			.budget = conditions->budget,
			.no_backups = conditions->no_backups,
			.clock_rate = conditions->clock->rate } };

	if (conditions->saying || state_cursor(state) < conditions->said_seq)
		return false;
	if (say_failures(conditions, view, state))
		return true;
	for (int condition = 0; condition < CONDITION_COUNT; condition++)
		look_at((enum condition)condition, &look);
	webhook_health_each_shop(state, look_at_webhooks, &look);
	astray_each_shop(state, look_at_links, &look);
	return false;
}

void conditions_configure(struct conditions *conditions, const struct config *config)
{
	conditions->sender_failures_least = (uint32_t)config_number(config, "monitor", NULL, "sender-failures");
	conditions->budget = budget_of(config);
	conditions->no_backups = config_number(config, "backup", NULL, "keep") == 0;
}
