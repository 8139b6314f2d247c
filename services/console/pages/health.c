/*
 * health.c: whether all is well, for the operator: alarms that stand, processes and queues, as the broker tells them
 *
 * Fails by:  while the broker is away it shows the alarms alone, and says so.
 */
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/console/pages/pages.h"
#include "services/console/status.h"

extern const struct markup health_markup, queues_markup;

/* ---- the alarms ---- */

static bool add_alarm(const char *shop, const char *kind, const Alarm *alarm, void *context)
{
	(void)kind;
	json_array_append_new(context,
		json_pack("{s:s,s:s,s:I,s:s,s:s,s:s}", "kind", alarm->kind, "shop",
			strcmp(shop, SHOP_OF_ALL) == 0 ? "" : shop, "since_us", (json_int_t)alarm->at_us, "text",
			alarm->text, "remedy", alarm->remedy, "seen_by", alarm->acknowledged_by));
	return true;
}

static unsigned act_seen(struct page_call *call)
{
	const char *shop = page_field(call, "shop"), *kind = page_name(call, "kind");
	Audit audit = { .at_us = call->now_us };
	Alarm alarm;

	if (!*shop)
		shop = SHOP_OF_ALL;
	if (!STATE_GET(call->state, standing_alarms, shop, kind, &alarm))
		return page_refuse(call, 409, "this alarm is over already");
	TEXT_COPY(alarm.acknowledged_by, call->person);
	alarm.at_us = call->now_us;
	TEXT_COPY(audit.action, "alarm_seen");
	TEXT_COPY(audit.who, call->person);
	TEXT_COPY(audit.grounds, kind);
	PAGE_SAY(call, audit, &audit, .shop = shop, .key = shop);
	PAGE_SAY(call, alarm, &alarm, .shop = shop, .key = kind, .version = (uint64_t)alarm.at_us);
	page_then(call, "/o/");
	return 0;
}

/* ---- the broker's own words ---- */

static const char *ask_status(struct page_call *call, json_t **ret_what)
{
	(void)call;
	*ret_what = json_object();
	return "status";
}

static const char *text_in(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static json_int_t number_in(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static json_t *processes_of(const json_t *status)
{
	json_t *list = json_array();
	const json_t *session;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		if (strcmp(text_in(session, "service"), "cartbus") == 0)
			continue;
		json_array_append_new(list,
			json_pack("{s:s,s:s,s:b,s:I,s:I,s:I,s:s}", "instance", text_in(session, "instance"), "service",
				text_in(session, "service"), "active", json_is_true(json_object_get(session, "active")),
				"lag", number_in(session, "lag"), "in_flight", number_in(session, "in_flight"),
				"memory_bytes", number_in(json_object_get(session, "counts"), "memory_bytes"), "host",
				text_in(session, "host")));
	}
	return list;
}

static json_t *queues_of(const json_t *status)
{
	json_t *list = json_array();
	const json_t *queue;
	size_t i;

	json_array_foreach(json_object_get(status, "queues"), i, queue) json_array_append_new(list,
		json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:b}", "queue", text_in(queue, "name"), "ready",
			number_in(queue, "ready"), "leased", number_in(queue, "leased"), "delayed",
			number_in(queue, "delayed"), "failures", number_in(queue, "failures"), "dead",
			number_in(queue, "dead"), "paused", number_in(queue, "paused_us") > 0));
	return list;
}

static unsigned query_health(struct page_call *call, json_t *ret)
{
	json_t *alarms = json_array();

	STATE_EACH(call->state, standing_alarms, NULL, NULL, add_alarm, alarms);
	json_object_set_new(ret, "alarms", alarms);
	json_object_set_new(ret, "known", json_boolean(call->answer != NULL));
	json_object_set_new(ret, "processes", processes_of(call->answer));
	json_object_set_new(ret, "head", json_integer(number_in(call->answer, "head")));
	json_object_set_new(ret, "uptime_us", json_integer(number_in(call->answer, "uptime_us")));
	json_object_set_new(ret, "well",
		json_boolean(
			call->answer && json_array_size(alarms) == 0 && !number_in(call->answer, "parked_claims")));
	return 0;
}

static unsigned query_queues(struct page_call *call, json_t *ret)
{
	json_object_set_new(ret, "known", json_boolean(call->answer != NULL));
	json_object_set_new(ret, "queues", queues_of(call->answer));
	return 0;
}

const struct page health_pages[] = {
	{ "/o/", PAGE_READS, RIGHT_HEALTH, .markup = &health_markup, .ask = ask_status, .query = query_health,
		.title = "Health", .menu = PAGE_MENU_OPERATOR, .help = "monitor.md" },
	{ "/o/queues", PAGE_READS, RIGHT_QUEUE, .markup = &queues_markup, .ask = ask_status, .query = query_queues,
		.title = "Queues", .menu = PAGE_MENU_OPERATOR, .help = "dead-letters.md" },
	{ "/o/alarms/<kind>/seen", PAGE_ACTS, RIGHT_HEALTH, .act = act_seen },
	{ NULL },
};
