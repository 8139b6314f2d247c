/*
 * timers.c: `cartbus timers`: what will happen when
 *
 * Owns: the fold of timer.set, timer.cancel and timer.fired. The topics are read one after the other, so every row remembers the
 *       sequence number of its set: only what was said after it ends it.
 */
#include "services/cartbus/describe.h"
#include "services/cartbus/print.h"
#include "services/cartbus/reading.h"
#include "services/cartbus/zones.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/ordmap.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/kit/zone.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pending { /* a value in the map of timers; the key is shop, NUL, name, NUL; the tag is the set's sequence number */
	int64_t due_us;
	uint64_t version;
	char topic[32], cron[64], zone[40];
};

static struct bytes timer_key(const char *shop, const char *name, char room[200])
{
	int len = snprintf(room, 200, "%s%c%s", shop, '\0', name);

	return BYTES(room, (size_t)len + 1);
}

static struct pending pending_of(const struct ordmap_entry *entry)
{
	struct pending pending;

	memcpy(&pending, ordmap_value(entry).data, sizeof(pending));
	return pending;
}

static void keep(struct ordmap *timers, const struct entry *entry, const TimerSet *timer)
{
	char room[200];
	struct bytes key = timer_key(entry->shop, timer->name, room);
	struct ordmap_entry *known = ordmap_find(timers, key);
	struct pending pending = { .due_us = timer->due_us, .version = timer->version };

	if (known && pending_of(known).version > timer->version)
		return;
	TEXT_COPY(pending.topic, timer->topic);
	TEXT_COPY(pending.cron, timer->cron);
	TEXT_COPY(pending.zone, timer->zone);
	ordmap_put(timers, key, BYTES(&pending, sizeof(pending)), entry->seq);
}

/* A timer by cron goes on after it fired. */
static void forget(struct ordmap *timers, const struct entry *entry, const char *name, uint64_t version, bool fired)
{
	char room[200];
	struct bytes key = timer_key(entry->shop, name, room);
	struct ordmap_entry *known = ordmap_find(timers, key);

	if (!known || ordmap_tag(known) > entry->seq || pending_of(known).version > version)
		return;
	if (!fired || !pending_of(known).cron[0])
		ordmap_remove(timers, key);
}

static bool fold(const struct entry *entry, void *context)
{
	struct ordmap *timers = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;

	if (!message)
		return true;
	if (topic == &topic_timer_set)
		keep(timers, entry, message);
	else if (topic == &topic_timer_cancel)
		forget(timers, entry, ((TimerCancel *)message)->name, ((TimerCancel *)message)->version, false);
	else if (topic == &topic_timer_fired)
		forget(timers, entry, ((TimerFired *)message)->name, ((TimerFired *)message)->version, true);
	return true;
}

struct line {
	const char *shop, *name;
	struct pending pending;
};

static int by_due(const void *a, const void *b)
{
	const struct line *left = a, *right = b;

	return left->pending.due_us < right->pending.due_us ? -1 : left->pending.due_us > right->pending.due_us;
}

static int64_t due_of(const struct command *command, const struct pending *pending)
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

static struct line *sorted_lines(const struct command *command, const struct ordmap *timers)
{
	struct line *lines = memory_new(ordmap_count(timers) * sizeof(*lines));
	size_t count = 0;

	for (struct ordmap_entry *entry = ordmap_first(timers); entry; entry = ordmap_next(entry)) {
		struct line *line = &lines[count++];

		line->shop = ordmap_key(entry).data;
		line->name = line->shop + strlen(line->shop) + 1;
		line->pending = pending_of(entry);
		line->pending.due_us = due_of(command, &line->pending);
	}
	qsort(lines, count, sizeof(*lines), by_due);
	return lines;
}

static void print_line(const struct command *command, const struct line *line)
{
	char at[40];

	describe_time(zone_of_shop(command, line->shop), line->pending.due_us, at);
	printf("%s  %-12s %-36s %s%s%s\n", at, line->shop, line->name, line->pending.topic,
		line->pending.cron[0] ? "  by " : "", line->pending.cron);
}

static void print_timers(const struct command *command, const struct ordmap *timers)
{
	_cleanup_free_ struct line *lines = sorted_lines(command, timers);
	json_t *list = command->json ? json_array() : NULL;

	for (size_t i = 0; i < ordmap_count(timers); i++) {
		if (list)
			json_array_append_new(list,
				json_pack("{s:s,s:s,s:I,s:s,s:s}", "shop", lines[i].shop, "name", lines[i].name,
					"due_us", (json_int_t)lines[i].pending.due_us, "topic", lines[i].pending.topic,
					"cron", lines[i].pending.cron));
		else
			print_line(command, &lines[i]);
	}
	if (list) {
		json_print(list);
		json_decref(list);
	} else if (ordmap_count(timers) == 0) {
		puts("no timer is set");
	}
}

int command_timers(struct command *command, int argc, char **argv)
{
	static const char *const topics[] = { "timer.set", "timer.cancel", "timer.fired" };
	const char *shop = NULL;
	const struct take takes[] = { { "shop", "NAME", "only of this shop", &shop, NULL }, { 0 } };
	struct ordmap *timers = ordmap_new();
	struct client *client;
	int failed = EXIT_FINE;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Lists the timers that are set, the next one first, in each shop's own time.\v"
				"Example:\n  cartbus timers --shop demo" });
	client = command_connect(command);
	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics) && !failed; i++)
		failed = reading_each(
			command, client, &(struct reading_filter){ .topic = topics[i], .shop = shop }, fold, timers);
	client_free(client);
	if (!failed)
		print_timers(command, timers);
	ordmap_free(timers);
	return failed;
}
