/*
 * timer_rows.c: the timers that are set, as the log tells them
 *
 * Owns: the fold of timer.set, timer.cancel and timer.fired. The topics may be read one after the other, so every row remembers the
 *       sequence number of its timer.set: only a later timer.cancel or timer.fired ends it.
 */
#include "services/cartbus/watch/timer_rows.h"
#include "services/cartbus/core/print.h"

#include "bus/base/cleanup.h"
#include <stdio.h>
#include <string.h>

enum { KEY_ROOM = 200 };

static struct bytes key_of(const char *shop, const char *name, char room[KEY_ROOM])
{
	int len = snprintf(room, KEY_ROOM, "%s%c%s", shop, '\0', name);

	return BYTES(room, (size_t)len + 1);
}

TimerSet timer_rows_value(const struct sorted_map_entry *row)
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
