/*
 * health.c: whether all is well, for the operator: alarms that stand, processes and queues, as the broker tells them
 *
 * Fails by:  while the broker is away it shows the alarms alone, and says so.
 */
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/console/pages/pages.h"
#include "services/console/status.h"
#include "services/kit/words/members.h"
#include "services/kit/words/status_red.h"

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

static json_t *processes_of(const json_t *status)
{
	json_t *list = json_array();
	const json_t *session;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		if (strcmp(member_text(session, "service"), "cartbus") == 0)
			continue;
		json_array_append_new(list,
			json_pack("{s:s,s:s,s:b,s:I,s:I,s:I,s:s}", "instance", member_text(session, "instance"),
				"service", member_text(session, "service"), "active",
				json_is_true(json_object_get(session, "active")), "lag", member_number(session, "lag"),
				"in_flight", member_number(session, "in_flight"), "memory_bytes",
				member_number(json_object_get(session, "counts"), "memory_bytes"), "host",
				member_text(session, "host")));
	}
	return list;
}

static json_t *oldest_of(const json_t *queue)
{
	json_int_t oldest_us = member_number(queue, "oldest_us");

	return oldest_us ? json_integer(oldest_us) : json_null();
}

static json_t *queues_of(const json_t *status)
{
	json_t *list = json_array();
	const json_t *queue;
	size_t i;

	json_array_foreach(json_object_get(status, "queues"), i, queue) json_array_append_new(list,
		json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:b,s:o}", "queue", member_text(queue, "name"), "ready",
			member_number(queue, "ready"), "leased", member_number(queue, "leased"), "delayed",
			member_number(queue, "delayed"), "failures", member_number(queue, "failures"), "dead",
			member_number(queue, "dead"), "paused", member_number(queue, "paused_us") > 0, "oldest_us",
			oldest_of(queue)));
	return list;
}

static bool note_unseen(const char *shop, const char *kind, const Alarm *alarm, void *context)
{
	bool *unseen = context;

	(void)shop, (void)kind;
	*unseen |= !*alarm->acknowledged_by;
	return !*unseen;
}

/* [{words, remedy, severity}] */
static json_t *causes_of(const json_t *status)
{
	json_t *red = json_array(), *causes = json_array(), *one;
	size_t i;

	if (status)
		status_judge(status, red);
	else
		json_array_append_new(
			red, json_string("the broker does not answer: what is shown here was known last"));
	json_array_foreach(red, i, one)
		json_array_append_new(causes, json_pack("{s:O,s:n,s:s}", "words", one, "remedy", "severity", "red"));
	json_decref(red);
	return causes;
}

static unsigned query_health(struct page_call *call, json_t *ret)
{
	json_t *alarms = json_array(), *causes = causes_of(call->answer);
	bool unseen = false;

	STATE_EACH(call->state, standing_alarms, NULL, NULL, add_alarm, alarms);
	STATE_EACH(call->state, standing_alarms, NULL, NULL, note_unseen, &unseen);
	json_object_set_new(ret, "state",
		json_string(json_array_size(causes) || unseen ? "red"
				: json_array_size(alarms) > 0 ? "yellow"
							      : "green"));
	json_object_set_new(ret, "causes", causes);
	json_object_set_new(ret, "alarms", alarms);
	json_object_set_new(ret, "processes", processes_of(call->answer));
	json_object_set_new(ret, "broker",
		json_pack("{s:I,s:I,s:I}", "head", member_number(call->answer, "head"), "uptime_us",
			member_number(call->answer, "uptime_us"), "disk_free_bytes",
			member_number(json_object_get(call->answer, "disk"), "free_bytes")));
	return 0;
}

static unsigned query_queues(struct page_call *call, json_t *ret)
{
	json_object_set_new(ret, "queues", queues_of(call->answer));
	return 0;
}

const struct page health_pages[] = {
	{ "/o/", PAGE_READS, RIGHT_HEALTH, .markup = &health_markup, .ask = ask_status, .query = query_health,
		.title = "Health", .menu = PAGE_MENU_OPERATOR, .help = "monitor.md" },
	{ "/o/queues", PAGE_READS, RIGHT_QUEUE, .markup = &queues_markup, .ask = ask_status, .query = query_queues,
		.title = "Queues", .menu = PAGE_MENU_OPERATOR, .help = "dead-letters.md" },
	{ "/o/alarms/<kind>/seen", PAGE_ACTS, RIGHT_HEALTH, .act = act_seen },
	{ .path = NULL },
};
