/* view.c: reads the broker's answer to "status" */
#include "services/platform/monitor/view.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t CLOCK_OFF_US = US_PER_MINUTE;

static uint64_t number(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));
	return value > 0 ? (uint64_t)value : 0;
}

static const char *text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));
	return value ? value : "";
}

/* Adds a name to "a, b, c" if it fits. */
static void add_name(char *list, size_t room, const char *name)
{
	size_t len = strlen(list);
	if (len + strlen(name) + 3 < room)
		snprintf(list + len, room - len, "%s%s", len ? ", " : "", name);
}

static bool has_session(const json_t *status, const char *service)
{
	size_t i;
	json_t *session;
	json_array_foreach(json_object_get(status, "sessions"), i,
		session) if (strcmp(text(session, "service"), service) == 0) return true;
	return false;
}

static void read_queue(const json_t *status, const json_t *queue, struct view *view)
{
	const char *name = text(queue, "name");
	uint64_t dead = number(queue, "dead");
	int64_t oldest_us = (int64_t)number(queue, "oldest_us");
	char counted[64];
	view->dead += dead;
	struct view_queue *seen = &view->queues[view->queue_count++];
	snprintf(seen->name, sizeof(seen->name), "%.31s", name);
	seen->failures = number(queue, "failures");
	if (dead) {
		snprintf(counted, sizeof(counted), "%.31s (%llu)", name, (unsigned long long)dead);
		add_name(view->dead_queues, sizeof(view->dead_queues), counted);
	}
	if (number(queue, "ready") && oldest_us && (!view->oldest_ready_us || oldest_us < view->oldest_ready_us)) {
		view->oldest_ready_us = oldest_us;
		snprintf(view->oldest_queue, sizeof(view->oldest_queue), "%.31s", name);
	}
	if (number(queue, "paused_us"))
		add_name(view->paused, sizeof(view->paused), name);
	if (!has_session(status, name))
		add_name(view->missing, sizeof(view->missing), name);
}

/*
 * Finds the first process whose clock is far from the log's. The caller skips it if the broker's own clock
 * jumped: then that clock must be set right.
 */
static void read_clocks_off(const json_t *status, struct view *view)
{
	size_t i;
	json_t *session;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		json_int_t off_us = json_integer_value(json_object_get(session, "clock_off_us"));

		if (off_us > -CLOCK_OFF_US && off_us < CLOCK_OFF_US)
			continue;
		view->clock_jumped = true;
		snprintf(view->clock, sizeof(view->clock),
			"the clock of %.40s on %.40s is %lld s %s the log's: set it right", text(session, "instance"),
			text(session, "host"), llabs(off_us) / US_PER_S, off_us > 0 ? "ahead of" : "behind");
		return;
	}
}

static void note_refusal(struct view *view, const char *service, int64_t last_us)
{
	if (last_us <= view->blobs_refused_us)
		return;
	view->blobs_refused_us = last_us;
	snprintf(view->blobs_refused, sizeof(view->blobs_refused), "%.31s", service);
}

static void read_counts(const json_t *status, struct view *view)
{
	size_t i;
	json_t *session, *counts;
	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		counts = json_object_get(session, "counts");
		view->aside_day += number(counts, "aside_day");
		view->aside_full = view->aside_full || number(counts, "aside_full");
		note_refusal(view, text(session, "service"), (int64_t)number(counts, "blobs_refused_us"));
		if (number(counts, "secrets_unusable") > view->secrets_unusable)
			view->secrets_unusable = number(counts, "secrets_unusable");
	}
}

static void note_strangers(struct view *view, const char *service, int64_t last_us)
{
	int i = 0;

	while (i < VIEW_STRANGERS_MAX && view->strangers[i].last_us && strcmp(view->strangers[i].service, service) != 0)
		i++;
	if (i == VIEW_STRANGERS_MAX || last_us <= view->strangers[i].last_us)
		return;
	snprintf(view->strangers[i].service, sizeof(view->strangers[i].service), "%s", service);
	view->strangers[i].last_us = last_us;
}

static void read_strangers(const json_t *status, struct view *view)
{
	size_t i;
	json_t *session;

	json_array_foreach(json_object_get(status, "sessions"), i, session) note_strangers(
		view, text(session, "service"), (int64_t)number(json_object_get(session, "counts"), "turned_away_us"));
}

void view_clear(struct view *view)
{
	free(view->queues);
	view->queues = NULL;
	view->queue_count = 0;
}

int view_read(const char *json, struct view *ret)
{
	json_t *status = json_loads(json, 0, NULL), *item;
	size_t i;
	*ret = (struct view){ 0 };
	if (!json_is_array(json_object_get(status, "queues"))) {
		json_decref(status);
		return -EINVAL;
	}
	item = json_object_get(status, "queues");
	ret->queues = memory_new(json_array_size(item) * sizeof(*ret->queues) + 1); /* also if there are none */
	json_array_foreach(json_object_get(status, "queues"), i, item) read_queue(status, item, ret);
	json_array_foreach(
		json_object_get(status, "gateways"), i, item) if (!json_is_true(json_object_get(item, "alive")))
		add_name(ret->away, sizeof(ret->away), text(item, "name"));
	ret->parked_claims = number(status, "parked_claims");
	read_strangers(status, ret);
	item = json_object_get(status, "disk");
	ret->free_bytes = number(item, "free_bytes");
	ret->headroom_bytes = number(item, "headroom_bytes");
	ret->is_short = json_is_true(json_object_get(item, "short"));
	ret->damaged_side_logs = number(json_object_get(status, "side_log"), "damaged");
	item = json_object_get(status, "connections");
	ret->turned_away_us = (int64_t)number(item, "last_us");
	snprintf(ret->turned_away, sizeof(ret->turned_away), "%s", text(item, "last"));
	read_counts(status, ret);
	item = json_object_get(status, "clock");
	ret->clock_jumped = json_integer_value(json_object_get(item, "jump_us")) != 0;
	snprintf(ret->clock, sizeof(ret->clock), "%s", text(item, "why"));
	if (!ret->clock_jumped)
		read_clocks_off(status, ret);
	json_decref(status);
	return 0;
}
