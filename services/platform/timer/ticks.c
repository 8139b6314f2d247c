/*
 * ticks.c: every shop's nightly, weekly and monthly tick
 *
 * Owns:      the tables unticked (shop -> zone: shops whose ticks must be set, or set again, in this zone)
 *            and zone (shop -> its zone).
 * Promises:  a shop has its ticks as soon as its configuration is known, in its own zone, and in the new one
 *            when that changes; a shop without a valid zone has no ticks, and never those of UTC.
 * Read next: timer.c, rows.c
 */
#include "services/platform/timer/ticks.h"
#include "bus/base/text.h"
#include "services/kit/shop/shop.h"
#include "services/kit/time/zone.h"
#include "services/platform/timer/rows.h"
#include <assert.h>
#include <pb_encode.h>
#include <stdio.h>
#include <string.h>

STATE_STRINGS(unticked, "unticked");
STATE_STRINGS(zone, "zone");

static const struct tick {
	const char *timer, *name, *cron;
	const struct topic *topic;
} ticks[] = {
	{ "tick/nightly", "nightly", "0 2 * * *", &topic_tick_nightly },
	{ "tick/monthly", "monthly", "0 9 ? * 1#1", &topic_tick_monthly },
	{ "tick/weekly", "weekly", "0 9 ? * 1", &topic_tick_weekly },
};

enum { TICKS = sizeof(ticks) / sizeof(ticks[0]), ZONE_MAX = 40 };

static bool are_set_in(const struct state *state, const char *shop, const char *zone)
{
	for (int i = 0; i < TICKS; i++) {
		TimerSet set;

		if (!timers_get(state, shop, ticks[i].timer, &set) || strcmp(set.zone, zone) != 0)
			return false;
	}
	return true;
}

void ticks_remember_document(struct state *state, const struct message_meta *said, const Document *document)
{
	struct config_error error;
	struct shop shop;

	if (strcmp(document->kind, "shop") != 0)
		return;
	STATE_DELETE(state, unticked, said->shop, "");
	if (shop_parse(document->text, said->shop, document->source, &shop, &error) < 0 || !zone_valid(shop.zone))
		return;
	STATE_PUT_STRING(state, zone, said->shop, "", bytes_of(shop.zone));
	if (!are_set_in(state, said->shop, shop.zone))
		STATE_PUT_STRING(state, unticked, said->shop, "", bytes_of(shop.zone));
}

void ticks_remember_set(struct state *state, const char *shop, const TimerSet *set)
{
	struct buffer zone = { 0 };

	if (text_starts(set->name, "tick/") && STATE_GET_STRING(state, zone, shop, "", &zone) &&
		are_set_in(state, shop, buffer_text(&zone)))
		STATE_DELETE(state, unticked, shop, "");
	buffer_free(&zone);
}

struct unticked {
	char shop[TIMER_SHOP_MAX], zone[ZONE_MAX];
};

static bool first_unticked(const char *shop, const char *key, struct bytes value, void *context)
{
	struct unticked *unticked = context;

	(void)key;
	TEXT_COPY(unticked->shop, shop);
	text_copy_bytes(unticked->zone, sizeof(unticked->zone), value);
	return false;
}

bool ticks_wanted(const struct state *state)
{
	struct unticked unticked = { 0 };

	STATE_EACH(state, unticked, NULL, NULL, first_unticked, &unticked);
	return *unticked.shop;
}

static void say_tick(const struct state *state, struct turn *turn, const struct unticked *of, const struct tick *tick)
{
	TimerSet set = { .version = timers_version(state, of->shop, tick->timer) + 1 };
	Tick payload = { 0 };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	TEXT_COPY(payload.name, tick->name);
	TEXT_COPY(set.name, tick->timer);
	TEXT_COPY(set.cron, tick->cron);
	TEXT_COPY(set.zone, of->zone);
	TEXT_COPY(set.topic, tick->topic->name);
	TEXT_COPY(set.key, of->shop);
	if (!pb_encode(&stream, &Tick_msg, &payload))
		assert(!"a tick always fits into a timer");
	set.payload.size = (pb_size_t)stream.bytes_written;
	SAY(turn, timer_set, &set, .shop = of->shop, .key = set.name, .version = set.version);
}

static void add_next(char *line, size_t room, const struct turn *turn, const struct tick *tick, const char *zone)
{
	struct cron *cron = NULL;
	char why[160], at[80];
	int64_t next_us;
	size_t len = strlen(line);

	if (cron_parse(tick->cron, &cron, why) == 0 && cron_next(cron, zone, turn_now_us(turn), &next_us) == 0) {
		zone_print(zone, next_us, at, sizeof(at));
		snprintf(line + len, room - len, "; %s next %s", tick->timer, at);
	}
	cron_free(cron);
}

/* Audits a change of the zone: the times that move with it, and those that do not. */
static void say_moved(const struct state *state, struct turn *turn, const struct unticked *of)
{
	Audit audit = { .at_us = turn_now_us(turn), .decided_on = turn_seen(turn) };
	TimerSet before;

	if (!timers_get(state, of->shop, ticks[0].timer, &before) || strcmp(before.zone, of->zone) == 0)
		return;
	TEXT_COPY(audit.action, "time_zone");
	TEXT_COPY(audit.who, "owner");
	TEXT_COPY(audit.before, before.zone);
	TEXT_COPY(audit.after, of->zone);
	TEXT_COPY(audit.grounds,
		"carts' waits count from when they were left and do not move; quiet hours and the day's limit are the "
		"new zone's from the next look at a cart on");
	for (int i = 0; i < TICKS; i++)
		add_next(audit.grounds, sizeof(audit.grounds), turn, &ticks[i], of->zone);
	SAY(turn, audit, &audit, .shop = of->shop, .key = of->shop);
}

void ticks_say(const struct state *state, struct turn *turn)
{
	struct unticked unticked = { 0 };

	STATE_EACH(state, unticked, NULL, NULL, first_unticked, &unticked);
	if (*unticked.shop)
		say_moved(state, turn, &unticked);
	for (int i = 0; *unticked.shop && i < TICKS; i++)
		say_tick(state, turn, &unticked, &ticks[i]);
}
