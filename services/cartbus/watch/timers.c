/*
 * timers.c: `cartbus timers`: the timers that are set, as the log tells them; what will happen when, and which mail comes of it
 *
 * Owns:      the fold of timer.set, timer.cancel and timer.fired. The topics may be read one after the other, so every row remembers the
 *            sequence number of its timer.set: only a later timer.cancel or timer.fired ends it.
 * Read next: outlook.c (what comes of them)
 */
#include "services/cartbus/watch/timers.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/watch/outlook.h"
#include "services/cartbus/watch/subcommands.h"
#include "services/carts/words/describe.h"
#include "services/kit/time/zone.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_ROOM = 200 };

static struct bytes key_of(const char *shop, const char *name, char room[KEY_ROOM])
{
	int len = snprintf(room, KEY_ROOM, "%s%c%s", shop, '\0', name);

	return BYTES(room, (size_t)len + 1);
}

static TimerSet timer_rows_value(const struct sorted_map_entry *row)
{
	TimerSet timer;

	memcpy(&timer, sorted_map_value(row).data, sizeof(timer));
	return timer;
}

static void keep(struct sorted_map *timers, const struct entry *entry, const TimerSet *timer)
{
	char room[KEY_ROOM];
	struct bytes key = key_of(entry->shop, timer->name, room);
	struct sorted_map_entry *known = sorted_map_find(timers, key);

	if (!known || timer_rows_value(known).version <= timer->version)
		sorted_map_put(timers, key, BYTES(timer, sizeof(*timer)), entry->seq);
}

/* A timer by cron goes on after it fired. */
static void forget(struct sorted_map *timers, const struct entry *entry, const char *name, uint64_t version, bool fired)
{
	char room[KEY_ROOM];
	struct bytes key = key_of(entry->shop, name, room);
	struct sorted_map_entry *known = sorted_map_find(timers, key);

	if (!known || sorted_map_tag(known) > entry->seq || timer_rows_value(known).version > version)
		return;
	if (!fired || !timer_rows_value(known).cron[0])
		sorted_map_remove(timers, key);
}

void timer_rows_fold(struct sorted_map *timers, const struct entry *entry)
{
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = NULL;

	if (topic != &topic_timer_set && topic != &topic_timer_cancel && topic != &topic_timer_fired)
		return;
	message = payload_decode(topic, entry->payload);
	if (!message)
		return;
	if (topic == &topic_timer_set)
		keep(timers, entry, message);
	else if (topic == &topic_timer_cancel)
		forget(timers, entry, ((TimerCancel *)message)->name, ((TimerCancel *)message)->version, false);
	else
		forget(timers, entry, ((TimerFired *)message)->name, ((TimerFired *)message)->version, true);
}

static bool fold_one(const struct entry *entry, void *context)
{
	timer_rows_fold(context, entry);
	return true;
}

int timer_rows_read(struct sorted_map *timers, const struct command *command, struct client *client, const char *shop)
{
	static const char *const topics[] = { "timer.set", "timer.cancel", "timer.fired" };
	int failed = EXIT_FINE;

	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics) && !failed; i++)
		failed = reading_each(command, client, &(struct reading_filter){ .topic = topics[i], .shop = shop },
			fold_one, timers);
	return failed;
}

bool timer_rows_find(const struct sorted_map *timers, const char *shop, const char *name, TimerSet *ret)
{
	char room[KEY_ROOM];
	const struct sorted_map_entry *row = sorted_map_find(timers, key_of(shop, name, room));

	if (row)
		*ret = timer_rows_value(row);
	return row != NULL;
}

/* ---- `cartbus timers` ---- */

struct line {
	const char *shop, *name;
	TimerSet timer;
};

static int by_due(const void *a, const void *b)
{
	const struct line *left = a, *right = b;

	return left->timer.due_us < right->timer.due_us ? -1 : left->timer.due_us > right->timer.due_us;
}

static int64_t due_of(const struct command *command, const TimerSet *pending)
{
	struct cron *cron = NULL;
	char why[160];
	int64_t due_us = pending->due_us;

	if (!pending->cron[0])
		return due_us;
	if (cron_parse(pending->cron, &cron, why) ||
		cron_next(cron, pending->zone, clock_wall_us(&command->clock), &due_us))
		due_us = 0;
	cron_free(cron);
	return due_us;
}

static struct line *sorted_lines(const struct command *command, const struct sorted_map *timers)
{
	struct line *lines = memory_new(sorted_map_count(timers) * sizeof(*lines));
	size_t count = 0;

	for (struct sorted_map_entry *entry = sorted_map_first(timers); entry; entry = sorted_map_next(entry)) {
		struct line *line = &lines[count++];

		line->shop = sorted_map_key(entry).data;
		line->name = line->shop + strlen(line->shop) + 1;
		line->timer = timer_rows_value(entry);
		line->timer.due_us = due_of(command, &line->timer);
	}
	qsort(lines, count, sizeof(*lines), by_due);
	return lines;
}

struct listing {
	struct command *command;
	struct sorted_map *timers;
	struct outlook outlook; /* foresight NULL: only looks */
};

static void print_line(const struct listing *listing, const struct line *line)
{
	const char *zone = zone_of_shop(listing->command, line->shop);
	struct next_mail_line outlook;
	char at[40];

	describe_time(zone, line->timer.due_us, at);
	printf("%s  %-12s %-36s %s%s%s\n", at, line->shop, line->name, line->timer.topic,
		line->timer.cron[0] ? "  by " : "", line->timer.cron);
	if (listing->outlook.forecast && outlook_line(&listing->outlook, line->shop, zone, &line->timer, &outlook))
		printf("    %-19s  %s\n", outlook.at, outlook.words);
}

static json_t *line_json(const struct listing *listing, const struct line *line)
{
	json_t *json = json_pack("{s:s,s:s,s:I,s:s,s:s}", "shop", line->shop, "name", line->name, "due_us",
		(json_int_t)line->timer.due_us, "topic", line->timer.topic, "cron", line->timer.cron);
	json_t *send = NULL;

	if (listing->outlook.forecast)
		send = outlook_json(
			&listing->outlook, line->shop, zone_of_shop(listing->command, line->shop), &line->timer);
	if (send)
		json_object_set_new(json, "send", send);
	return json;
}

static void print_timers(const struct listing *listing)
{
	_cleanup_free_ struct line *lines = sorted_lines(listing->command, listing->timers);
	json_t *list = listing->command->json ? json_array() : NULL;

	for (size_t i = 0; i < sorted_map_count(listing->timers); i++) {
		if (list)
			json_array_append_new(list, line_json(listing, &lines[i]));
		else
			print_line(listing, &lines[i]);
	}
	if (list)
		json_print_list("timers", list);
	else if (sorted_map_count(listing->timers) == 0)
		puts("no timer is set");
}

static bool hear(const struct entry *entry, void *context)
{
	struct listing *listing = context;

	outlook_hear(&listing->outlook, entry);
	timer_rows_fold(listing->timers, entry);
	return !scratch_interrupted();
}

static int read_all(struct listing *listing, struct client *client, const char *shop)
{
	int failed = reading_each(listing->command, client,
		&(struct reading_filter){ .from = 1, .shop = shop, .or_shop = shop ? SHOP_OF_ALL : NULL }, hear,
		listing);

	return !failed && scratch_interrupted() ? EXIT_NO : failed;
}

int command_timers(struct command *command, int argc, char **argv)
{
	const char *shop = NULL, *scratch = scratch_usual();
	bool looks = false;
	const struct take takes[] = { { "shop", "NAME", "only of this shop", &shop, NULL },
		{ "looks", NULL, "only when carts are looked at, not when mails go: faster on a long log", NULL,
			&looks },
		SCRATCH_TAKE(scratch), { 0 } };
	struct listing listing = { .command = command, .timers = sorted_map_new() };
	struct client *client;
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Lists the timers that are set, the next one first, in each shop's own time. Below a "
				"cart's timer stands when its next mail goes, as far as that is known: after the "
				"wait, the shopper's window and the quiet hours.\v"
				"Example:\n  cartbus timers --shop demo" });
	client = command_connect(command);
	failed = shop ? shops_know(command, client, shop) : EXIT_FINE;
	if (!failed && !looks)
		failed = outlook_begin(command, scratch, &listing.outlook);
	if (!failed)
		failed = looks ? timer_rows_read(listing.timers, command, client, shop)
			       : read_all(&listing, client, shop);
	client_free(client);
	if (!failed)
		print_timers(&listing);
	outlook_end(&listing.outlook);
	sorted_map_free(listing.timers);
	return failed;
}
