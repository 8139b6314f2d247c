/*
 * rows.c: folds reminders, mails and timers for the monitor
 *
 * Owns:      tables waiting and ambiguous (shop, cart/step -> time), timer (shop, name -> version, due), timer.due (one list of all
 *            shops, due/shop/name), mode (shop -> mode), mailing (hour of the day, over all shops -> struct mailing_row).
 * Promises:  a reminder waits from its reminder.due until any outcome, or until an audit says that it was
 *            deferred; a timer of an older version changes nothing.
 * Read next: check.c (the conditions)
 */
#include "services/platform/monitor/rows.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "services/platform/monitor/backups.h"
#include "services/platform/monitor/monitor.h"
#include "services/platform/monitor/totals.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

STATE_NUMBERS(waiting, "waiting");
STATE_NUMBERS(ambiguous, "ambiguous");
STATE_NUMBERS(mode, "mode");
STATE_NUMBERS(timer_due, "timer.due");

enum { STEP_KEY_MAX = 100, DUE_KEY_MAX = 220 };
static const char *const everywhere = "all"; /* the index of timers is one list over all shops */

static void step_key(char ret[STEP_KEY_MAX], const char *cart_id, uint32_t step)
{
	snprintf(ret, STEP_KEY_MAX, "%s/%u", cart_id, (unsigned)step);
}

static void remember_mailing(struct state *state, const char *topic, int64_t at_us);

void rows_remember_due(struct state *state, const struct message_meta *said, const ReminderDue *due)
{
	char key[STEP_KEY_MAX];
	step_key(key, due->cart.ids.cart_id, due->step);
	STATE_PUT_NUMBER(state, waiting, said->shop, key, (uint64_t)due->decided_us);
	totals_remember_due(state);
}

void rows_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	char key[STEP_KEY_MAX];
	step_key(key, outcome->cart_id, outcome->step);
	STATE_DELETE(state, waiting, said->shop, key);
	remember_mailing(state, said->topic, outcome->at_us);
	totals_remember_outcome(state, said->topic);
	if (strcmp(said->topic, topic_reminder_ambiguous.name) == 0)
		STATE_PUT_NUMBER(state, ambiguous, said->shop, key, (uint64_t)outcome->at_us);
	else if (strcmp(said->topic, topic_reminder_sent.name) == 0)
		STATE_DELETE(state, ambiguous, said->shop, key);
}

void rows_remember_audit(struct state *state, const struct message_meta *said, const Audit *audit)
{
	backups_remember(state, audit);
	if (strcmp(audit->action, "deferred") != 0)
		return;
	for (uint32_t step = 1; step <= 2; step++) {
		char key[STEP_KEY_MAX];
		step_key(key, audit->cart_id, step);
		STATE_DELETE(state, waiting, said->shop, key);
	}
}

void rows_remember_status(struct state *state, const struct message_meta *said, const ShopStatus *status)
{
	STATE_PUT_NUMBER(state, mode, said->shop, "", (uint64_t)status->mode);
}

/* ---- timers ---- */

struct timer_row {
	uint64_t version;
	int64_t due_us; /* 0: none (any more) */
};
STATE_STRUCTS(timer, "timer", struct timer_row);

static void due_key(char ret[DUE_KEY_MAX], int64_t due_us, const char *shop, const char *name)
{
	snprintf(ret, DUE_KEY_MAX, "%016" PRIx64 "/%s/%s", (uint64_t)due_us, shop, name);
}

static void timer_put(struct state *state, const char *shop, const char *name, struct timer_row row)
{
	struct timer_row before;
	char key[DUE_KEY_MAX];
	STATE_GET(state, timer, shop, name, &before);
	if (row.version < before.version)
		return;
	totals_remember_pending(state, (row.due_us != 0) - (before.due_us != 0));
	due_key(key, before.due_us, shop, name);
	if (before.due_us)
		STATE_DELETE(state, timer_due, everywhere, key);
	due_key(key, row.due_us, shop, name);
	if (row.due_us)
		STATE_PUT_NUMBER(state, timer_due, everywhere, key, 1);
	STATE_PUT(state, timer, shop, name, &row);
}

void rows_remember_set(struct state *state, const struct message_meta *said, const TimerSet *set)
{
	int64_t due_us = set->cron[0] ? 0 : set->due_us; /* when a cron is due, only the timer knows */
	timer_put(state, said->shop, set->name, (struct timer_row){ .version = set->version, .due_us = due_us });
}

void rows_remember_cancel(struct state *state, const struct message_meta *said, const TimerCancel *cancel)
{
	timer_put(state, said->shop, cancel->name, (struct timer_row){ .version = cancel->version });
}

void rows_remember_fired(struct state *state, const struct message_meta *said, const TimerFired *fired)
{
	timer_put(state, said->shop, fired->name, (struct timer_row){ .version = fired->version });
	totals_remember_fired(state, fired);
}

static bool first_due(const char *shop, const char *key, void *context)
{
	uint64_t due = UINT64_MAX;
	(void)shop;
	if (sscanf(key, "%16" SCNx64, &due) == 1)
		*(int64_t *)context = (int64_t)due;
	return false;
}

int64_t rows_first_timer_us(const struct state *state)
{
	int64_t first_us = INT64_MAX;
	STATE_EACH_KEY(state, timer_due, everywhere, NULL, first_due, &first_us);
	return first_us;
}

/* A key is due/shop/name. Few timers belong to no cart: ticks of services, and those repeat. */
static bool first_cart_due(const char *shop, const char *key, void *context)
{
	const char *name = strchr(key, '/');

	name = name ? strchr(name + 1, '/') : NULL;
	if (!name || strncmp(name, "/cart/", 6) != 0)
		return true;
	return first_due(shop, key, context);
}

int64_t rows_first_cart_us(const struct state *state)
{
	int64_t first_us = INT64_MAX;
	STATE_EACH_KEY(state, timer_due, everywhere, NULL, first_cart_due, &first_us);
	return first_us;
}

/* ---- a day's mails, by the hour ---- */

enum { HOURS = 24 };

struct mailing_row {
	int64_t hour; /* since 1970 */
	struct rows_mailing mails;
};
STATE_STRUCTS(mailing, "mailing", struct mailing_row);

static void remember_mailing(struct state *state, const char *topic, int64_t at_us)
{
	bool failed =
		strcmp(topic, topic_reminder_refused.name) == 0 || strcmp(topic, topic_reminder_ambiguous.name) == 0;
	struct mailing_row row;
	int64_t hour = at_us / US_PER_HOUR;
	char key[8];

	if (!failed && strcmp(topic, topic_reminder_sent.name) != 0)
		return;
	snprintf(key, sizeof(key), "%02d", (int)(hour % HOURS));
	STATE_GET(state, mailing, everywhere, key, &row);
	if (row.hour > hour)
		return; /* published so late that a later hour has its place */
	if (row.hour < hour)
		row = (struct mailing_row){ .hour = hour };
	row.mails.tried++;
	row.mails.failed += failed;
	STATE_PUT(state, mailing, everywhere, key, &row);
}

struct mailing_sum {
	int64_t from_hour;
	struct rows_mailing sum;
};

static bool add_hour(const char *shop, const char *key, const struct mailing_row *row, void *context)
{
	struct mailing_sum *to = context;

	(void)shop, (void)key;
	if (row->hour >= to->from_hour) {
		to->sum.tried += row->mails.tried;
		to->sum.failed += row->mails.failed;
	}
	return true;
}

static struct rows_mailing mailing_of(const struct state *state, int64_t now_us, int hours)
{
	struct mailing_sum to = { .from_hour = now_us / US_PER_HOUR - hours + 1 };

	STATE_EACH(state, mailing, everywhere, NULL, add_hour, &to);
	return to.sum;
}

struct rows_mailing rows_mailing(const struct state *state, int64_t now_us)
{
	return mailing_of(state, now_us, HOURS);
}

struct rows_mailing rows_mailing_hour(const struct state *state, int64_t now_us)
{
	return mailing_of(state, now_us, 1);
}

/* ---- counting ---- */

struct counting {
	const struct state *state;
	int64_t from_us, to_us;
	bool skip_paused;
	struct rows_count count;
};

/* Is the shop paused, by itself or with all the others? */
static bool is_paused(const struct state *state, const char *shop)
{
	return STATE_NUMBER(state, mode, SHOP_OF_ALL, "") == MODE_PAUSED ||
		STATE_NUMBER(state, mode, shop, "") == MODE_PAUSED;
}

static bool count_row(const char *shop, const char *key, uint64_t at, void *context)
{
	struct counting *counting = context;
	struct rows_count *count = &counting->count;
	int64_t at_us = (int64_t)at;
	if (at_us < counting->from_us || at_us >= counting->to_us)
		return true;
	if (counting->skip_paused && is_paused(counting->state, shop))
		return true;
	if (!count->count || at_us < count->oldest_us) {
		count->oldest_us = at_us;
		snprintf(count->example, sizeof(count->example), "shop %.40s, cart/reminder %.99s", shop, key);
	}
	count->count++;
	return true;
}

struct rows_count rows_waiting(const struct state *state, int64_t before_us)
{
	struct counting counting = { .state = state, .from_us = INT64_MIN, .to_us = before_us, .skip_paused = true };
	STATE_EACH(state, waiting, NULL, NULL, count_row, &counting);
	return counting.count;
}

struct rows_count rows_ambiguous(const struct state *state, int64_t since_us)
{
	struct counting counting = { .state = state, .from_us = since_us, .to_us = INT64_MAX };
	STATE_EACH(state, ambiguous, NULL, NULL, count_row, &counting);
	return counting.count;
}
