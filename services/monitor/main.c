/*
 * main.c: the process cartbus-monitor
 *
 * Owns:      the rhythm: every few seconds the broker is asked how it is, and each condition is looked at.
 * Promises:  a change is said once, when it has held for the condition's patience, and not looked at again until it is folded.
 * Read next: check.c, monitor.c
 */
#include "bus/actor/process.h"
#include "bus/base/log.h"
#include "services/kit/mail.h"
#include "services/kit/settings.h"
#include "services/monitor/check.h"
#include "services/monitor/check_shop.h"
#include "services/monitor/door.h"
#include "services/monitor/episodes.h"
#include "services/monitor/monitor.h"
#include "services/monitor/rows.h"
#include "services/monitor/tell.h"

#define ASK_EVERY_US (5 * US_PER_S)
#define FAILURES_WINDOW_US (10 * US_PER_MINUTE)
#define WAITER_WINDOW_US US_PER_HOUR

/* A counter of the broker's, as it was when the window began. */
struct window {
	uint64_t before, last;
	int64_t at_us; /* boot time of `last` */
};

static struct {
	struct runtime *runtime;
	const struct clock *clock;
	bool asked;                        /* an answer is on its way */
	int64_t ask_at_us;                 /* boot time */
	int64_t since_us[CONDITION_COUNT]; /* boot time since when it is so; 0: it is not */
	int saying;                        /* alarms not confirmed yet */
	uint64_t said_seq;                 /* the latest confirmed: its fold must be seen before one looks again */
	struct window failures, waiter_failures;
	struct budget budget;
} watch;

static void alarm_said(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)context;
	watch.saying--;
	if (result == SAID_FRESH && seq > watch.said_seq)
		watch.said_seq = seq;
	if (result == SAID_REFUSED)
		log_event(LOG_ERROR, "an alarm was refused: %s", reason);
}

static void say(const char *shop, const Alarm *alarm)
{
	struct say how = { .shop = shop, .key = alarm->kind, .version = (uint64_t)alarm->at_us };
	if (runtime_say(watch.runtime, &topic_alarm, &how, NULL, alarm, alarm_said, NULL) == 0)
		watch.saying++;
	log_event(alarm->raised ? LOG_ERROR : LOG_NOTICE, "alarm %s %s shop=%s: %s", alarm->kind,
		alarm->raised ? "raised" : "over", shop, alarm->text);
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
	say(SHOP_OF_ALL, &alarm);
}

/* Each of these looks at a window of its own: there is nothing to wait for. */
static void look_at_shop(const char *shop, void *context)
{
	const struct circumstances *now = context;
	for (int condition = 0; condition < SHOP_CONDITIONS; condition++) {
		Alarm alarm;
		bool is_so = check_shop(now->state, shop, (enum shop_condition)condition, now->now_us, &alarm);
		if (is_so == episodes_raised(now->state, shop, alarm.kind))
			continue;
		alarm.raised = is_so;
		alarm.at_us = now->now_us;
		say(shop, &alarm);
	}
}

static void window_note(struct window *window, uint64_t count, int64_t span_us)
{
	int64_t boot_us = clock_boot_us(watch.clock);
	if (count < window->last) /* the broker was started anew and counts from 0 */
		window->before = window->last = 0;
	if (window->at_us && boot_us - window->at_us < span_us)
		return;
	window->before = window->at_us ? window->last : count;
	window->last = count;
	window->at_us = boot_us;
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
	const struct state *state = runtime_state(watch.runtime);
	if (watch.saying || state_cursor(state) < watch.said_seq)
		return;
	window_note(&watch.failures, view.failures, FAILURES_WINDOW_US);
	window_note(&watch.waiter_failures, view.waiter_failures, WAITER_WINDOW_US);
	struct circumstances now = { .state = state,
		.view = &view,
		.failures_before = watch.failures.before,
		.waiter_failures_before = watch.waiter_failures.before,
		.now_us = clock_wall_us(watch.clock),
		.budget = watch.budget,
		.clock_rate = watch.clock->rate };
	for (int condition = 0; condition < CONDITION_COUNT; condition++)
		look_at((enum condition)condition, &now);
	door_each_shop(state, look_at_shop, &now);
}

static int64_t before_wait(void *context)
{
	int64_t now_us = clock_boot_us(watch.clock);
	(void)context;
	if (watch.asked || runtime_phase(watch.runtime) != RUNTIME_READY)
		return ASK_EVERY_US;
	if (now_us < watch.ask_at_us)
		return watch.ask_at_us - now_us;
	watch.ask_at_us = now_us + ASK_EVERY_US;
	watch.asked = runtime_ask(watch.runtime, "status", "{}", status_answered, NULL) == 0;
	return ASK_EVERY_US;
}

static void start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	watch.runtime = runtime;
	watch.budget = budget_of(config);
	watch.clock = clock;
	loop_before_wait(loop, before_wait, NULL);
}

static struct effect_driver *const *drivers(const struct config *config, const struct clock *clock)
{
	static struct effect_driver *all[3];
	static struct ways ways;
	struct http_settings http = http_settings_of(config, clock);
	char why[300];
	if (ways_read(config, &ways, why) < 0)
		die("%s", why);
	tell_set_up(&ways, clock->rate);
	all[0] = mail_driver_new(config, clock);
	all[1] = http_driver_new("http", &http);
	return all;
}

int main(int argc, char **argv)
{
	return process_main(argc, argv,
		&(struct process){ .service = &monitor,
			.help = "Raises an alarm when there are dead letters, failures, services that are missing, or "
				"something was due and nothing was sent; tells the admin by mail and webhook, and "
				"when it is over.",
			.keys = settings_keys,
			.start = start,
			.drivers = drivers });
}
