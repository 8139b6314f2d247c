/*
 * answer_status.c: the state of the broker, its sessions, queues and gateways
 */
#include "bus/broker/admin/question.h"
#include "bus/broker/commit.h"
#include "bus/broker/log/sidelog.h"
#include "bus/broker/queue/claim.h"
#include "bus/broker/session/refused.h"
#include <stdio.h>
#include <unistd.h>

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *describe_counts(const struct session *session)
{
	json_t *object = json_object();

	for (int i = 0; i < session->count_count; i++)
		json_object_set_new(object, session->counts[i].name, number(session->counts[i].value));
	return object;
}

static json_t *describe_session(struct broker *broker, const struct session *session)
{
	json_t *object = json_object();
	uint64_t head = log_head(broker->log);

	json_object_set_new(object, "service", json_string(broker->topology.peers[session->peer].name));
	json_object_set_new(object, "instance", json_string(session->instance));
	json_object_set_new(object, "run", json_string(session->run)); /* the owner named in its claims */
	json_object_set_new(object, "host", json_string(session->host));
	json_object_set_new(object, "epoch", number(session->epoch));
	json_object_set_new(object, "active", json_true());
	json_object_set_new(object, "in_flight", number(session->leased_count));
	json_object_set_new(object, "cursor", number(session->cursor));
	json_object_set_new(object, "lag", number(head > session->cursor ? head - session->cursor : 0));
	json_object_set_new(object, "spooled", number(session->spooled));
	json_object_set_new(object, "silent_us", number((uint64_t)(broker_boot_us(broker) - session->heard_boot_us)));
	json_object_set_new(object, "clock_off_us", json_integer(session->clock_off_us));
	json_object_set_new(object, "who", json_string(session->who));
	json_object_set_new(object, "counts", describe_counts(session));
	return object;
}

static json_t *describe_queue(struct broker *broker, const struct queue *queue)
{
	json_t *object = json_object();
	uint64_t items = u64map_count(queue->by_seq);
	bool paused = breaker_is_open(&queue->breaker);

	json_object_set_new(object, "name", json_string(queue->peer->name));
	json_object_set_new(object, "ready", number(items - queue->leased_count - queue->delayed_count));
	json_object_set_new(object, "leased", number(queue->leased_count));
	json_object_set_new(object, "delayed", number(queue->delayed_count));
	json_object_set_new(object, "dead", number(queue->dead_count));
	json_object_set_new(object, "oldest_us", json_integer(queue_oldest_us(broker, queue)));
	json_object_set_new(object, "failures", number(queue->failures));
	json_object_set_new(object, "paused_us", json_integer(queue->breaker.since_us));
	json_object_set_new(object, "tries", number(queue->breaker.probes));
	json_object_set_new(object, "outage", json_string(paused ? queue->pause_reason : ""));
	json_object_set_new(object, "unread", number(log_head(broker->log) - queue->scanned));
	return object;
}

static json_t *describe_queues(struct broker *broker)
{
	json_t *array = json_array();

	for (int i = 0; i < broker->topology.peer_count; i++)
		if (broker->queues[i])
			json_array_append_new(array, describe_queue(broker, broker->queues[i]));
	return array;
}

static json_t *describe_sessions(struct broker *broker)
{
	json_t *array = json_array();

	LIST_EACH (hook, &broker->sessions->all)
		json_array_append_new(array, describe_session(broker, LIST_ENTRY(hook, struct session, hook)));
	return array;
}

struct describing {
	struct broker *broker;
	json_t *array;
};

static void describe_gateway(struct bytes name, void *value, void *context)
{
	struct describing *describing = context;
	json_t *object = json_object();
	const struct session *found = NULL;

	(void)value;
	LIST_EACH (hook, &describing->broker->sessions->all) {
		const struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (session->gateway && bytes_equal(bytes_of(session->instance), name))
			found = session;
	}
	json_object_set_new(object, "name", json_stringn(name.data, name.len));
	json_object_set_new(object, "alive", json_boolean(found != NULL));
	json_object_set_new(object, "spooled", found ? number(found->spooled) : json_null());
	json_array_append_new(describing->array, object);
}

static json_t *describe_refused(const struct broker *broker)
{
	static const char *const names[REFUSED_COUNT] = {
		[REFUSED_FRAME] = "frame",
		[REFUSED_EPOCH] = "epoch",
		[REFUSED_NUMBER] = "number",
		[REFUSED_ITEM] = "item",
		[REFUSED_MESSAGE] = "message",
		[REFUSED_TOPIC] = "topic",
		[REFUSED_RIGHT] = "right",
		[REFUSED_RECEIPT] = "receipt",
		[REFUSED_CONTROL] = "control",
		[REFUSED_HELLO] = "hello",
		[REFUSED_QUESTION] = "question",
		[REFUSED_ROOM] = "room",
		[REFUSED_CONNECTION] = "connection",
	};
	json_t *object = json_object();

	for (int i = 0; i < REFUSED_COUNT; i++)
		json_object_set_new(object, names[i], number(broker->admission->refused[i]));
	return object;
}

/* For each class with limited retention: the message and the moment from which on the log holds all of it. */
static json_t *describe_kept(struct broker *broker)
{
	static const char *const names[RETENTION_KEEP] = { "raw", "facts" };
	const struct retention_limits *retention = &broker->settings.retention;
	json_t *object = json_object();

	for (uint8_t i = 0; i < RETENTION_KEEP; i++)
		json_object_set_new(object, names[i],
			json_pack("{s:I,s:I,s:I}", "from", (json_int_t)log_kept_from(broker->log, i), "from_us",
				(json_int_t)log_kept_from_us(broker->log, i), "age_us",
				(json_int_t)(i == 0 ? retention->raw_us : retention->facts_us)));
	return object;
}

static json_t *describe_disk(const struct broker *broker)
{
	char why[256];

	if (!broker_is_short(broker, why))
		why[0] = '\0';
	return json_pack("{s:I,s:I,s:b,s:s}", "free_bytes", (json_int_t)broker->disk_space.free_bytes, "headroom_bytes",
		(json_int_t)broker->disk_space.headroom_bytes, "short", broker->disk_space.is_short, "why", why);
}

static json_t *describe_clock(const struct broker *broker)
{
	char why[256];

	if (!clocks_are_wrong(broker, why))
		why[0] = '\0';
	return json_pack("{s:I,s:s}", "jump_us", (json_int_t)broker->monotonic_wall.jump_us, "why", why);
}

static json_t *describe_connections(const struct broker *broker)
{
	const struct broker_connections *connections = &broker->admission->connections;

	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:s}", "open", (json_int_t)connections->open, "unproven",
		(json_int_t)connections->unproven, "turned_away", (json_int_t)connections->turned_away, "descriptors",
		(json_int_t)connections->descriptors, "last_us", (json_int_t)broker->admission->turned_away_us, "last",
		broker->admission->turned_away);
}

static json_t *describe_sidelog(const struct broker *broker)
{
	return json_pack("{s:i}", "damaged", sidelog_damaged(broker->sidelog));
}

/* "": the host has no name that could be shown. */
static json_t *describe_host(void)
{
	char host[64] = "";
	json_t *name = gethostname(host, sizeof(host) - 1) == 0 ? json_string(host) : NULL;

	return name ? name : json_string("");
}

json_t *answer_status(struct broker *broker, json_t *argument, char ret_error[256])
{
	json_t *object = json_object();
	struct describing gateways = { .broker = broker, .array = json_array() };

	(void)argument;
	(void)ret_error;
	gateways_each(broker, describe_gateway, &gateways);
	json_object_set_new(object, "host", describe_host());
	json_object_set_new(object, "log", json_string(log_id(broker->log)));
	json_object_set_new(object, "head", number(log_head(broker->log)));
	json_object_set_new(object, "wall_us", json_integer(broker_wall_us(broker)));
	json_object_set_new(object, "uptime_us", json_integer(broker_boot_us(broker) - broker->opened_boot_us));
	json_object_set_new(object, "committed", number(broker->commit->messages));
	json_object_set_new(object, "parked_claims", number(claims_parked(broker)));
	json_object_set_new(object, "claims_held", json_boolean(claims_are_held(broker)));
	json_object_set_new(object, "sessions", describe_sessions(broker));
	json_object_set_new(object, "queues", describe_queues(broker));
	json_object_set_new(object, "gateways", gateways.array);
	json_object_set_new(object, "disk", describe_disk(broker));
	json_object_set_new(object, "clock", describe_clock(broker));
	json_object_set_new(object, "side_log", describe_sidelog(broker));
	json_object_set_new(object, "refused", describe_refused(broker));
	json_object_set_new(object, "connections", describe_connections(broker));
	json_object_set_new(object, "kept", describe_kept(broker));
	return object;
}

json_t *answer_queues(struct broker *broker, json_t *argument, char ret_error[256])
{
	json_t *object = json_object();

	(void)argument;
	(void)ret_error;
	json_object_set_new(object, "queues", describe_queues(broker));
	return object;
}

json_t *answer_strike(struct broker *broker, json_t *argument, char ret_error[256])
{
	const char *name = argument_text(argument, "name");

	if (!name || strlen(name) >= 64) {
		snprintf(ret_error, 256, "say which: {\"name\":\"gateway-1\"}");
		return NULL;
	}
	return json_pack("{s:b}", "struck", gateway_strike(broker, name));
}

json_t *answer_resume(struct broker *broker, json_t *argument, char ret_error[256])
{
	struct queue *queue = argument_queue(broker, argument, ret_error);

	return queue ? json_pack("{s:b}", "resumed", queue_pause_end(broker, queue)) : NULL;
}

json_t *answer_keys_reload(struct broker *broker, json_t *argument, char ret_error[256])
{
	(void)argument;
	if (!broker->reload) {
		snprintf(ret_error, 256, "this broker has no list of who may come");
		return NULL;
	}
	if (broker->reload(broker->reload_context, ret_error) < 0)
		return NULL;
	return json_pack("{s:b}", "reloaded", true);
}
