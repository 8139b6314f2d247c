/* view.c: reads the broker's answer to "status" */
#include "services/monitor/view.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

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

/* "a, b, c" as far as it fits */
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
	if (view->queue_count < VIEW_QUEUES_MAX) {
		struct view_queue *seen = &view->queues[view->queue_count++];
		snprintf(seen->name, sizeof(seen->name), "%.31s", name);
		seen->failures = number(queue, "failures");
	}
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

int view_read(const char *json, struct view *ret)
{
	json_t *status = json_loads(json, 0, NULL), *item;
	size_t i;
	*ret = (struct view){ 0 };
	if (!json_is_array(json_object_get(status, "queues"))) {
		json_decref(status);
		return -EINVAL;
	}
	json_array_foreach(json_object_get(status, "queues"), i, item) read_queue(status, item, ret);
	json_array_foreach(
		json_object_get(status, "gateways"), i, item) if (!json_is_true(json_object_get(item, "alive")))
		add_name(ret->away, sizeof(ret->away), text(item, "name"));
	ret->parked_claims = number(status, "parked_claims");
	item = json_object_get(status, "disk");
	ret->free_bytes = number(item, "free_bytes");
	ret->headroom_bytes = number(item, "headroom_bytes");
	ret->is_short = json_is_true(json_object_get(item, "short"));
	item = json_object_get(status, "clock");
	ret->clock_jumped = json_integer_value(json_object_get(item, "jump_us")) != 0;
	snprintf(ret->clock, sizeof(ret->clock), "%s", text(item, "why"));
	json_decref(status);
	return 0;
}
