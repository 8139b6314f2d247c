/*
 * answer_admin.c: the operator's care for the disk: a snapshot for a backup, and a service's state folded
 * anew
 *
 * Promises:  a snapshot holds everything that was ever confirmed before its answer, and nothing of it is
 *            still in a buffer. It shares its files with the log as long as both exist, so it takes moments,
 *            for a large log too.
 * Read next: services/cartbus/backup/backup.c (copies it away), services/cartbus/recover/rebuild.c
 */
#include "bus/base/text.h"
#include "bus/broker/admin/question.h"
#include "bus/broker/queue/claim.h"
#include <errno.h>
#include <stdio.h>

json_t *answer_snapshot(struct broker *broker, json_t *argument, char ret_error[256])
{
	char path[600];
	int r;

	(void)argument;
	if (!broker->settings.snapshots) {
		snprintf(ret_error, 256, "this broker has no folder for snapshots");
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/snapshot-%llu-%llu", broker->settings.snapshots,
		(unsigned long long)log_opening(broker->log), (unsigned long long)broker_boot_us(broker));
	r = store_flush(broker->store);
	if (r == 0)
		r = store_checkpoint(broker->store, path);
	if (r < 0) {
		snprintf(ret_error, 256, "no snapshot could be made: %.200s", store_why(broker->store));
		return NULL;
	}
	return json_pack("{s:s,s:s,s:s,s:I,s:I}", "path", path, "log", log_id(broker->log), "origin",
		log_origin(broker->log), "head", (json_int_t)log_head(broker->log), "at_us",
		(json_int_t)broker_wall_us(broker));
}

json_t *answer_release(struct broker *broker, json_t *argument, char ret_error[256])
{
	(void)argument;
	(void)ret_error;
	return json_pack("{s:b}", "were_held", (int)claims_free_again(broker));
}

static bool is_spooling(const struct broker *broker, int peer)
{
	LIST_EACH (hook, &broker->sessions->all) {
		const struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (session->peer == peer && session->spooled > 0)
			return true;
	}
	return false;
}

static void rebuild_key(const struct broker *broker, int peer, const char *instance, struct buffer *ret)
{
	buffer_printf(ret, "%s/%s", broker->topology.peers[peer].name, instance);
}

/* Ends each session of the service. The answer to its next hello tells it to fold anew. */
static json_t *end_sessions(struct broker *broker, int peer)
{
	json_t *ended = json_array();

	LIST_EACH_SAFE (hook, &broker->sessions->all) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);
		struct buffer key = { 0 };

		if (session->peer != peer)
			continue;
		rebuild_key(broker, peer, session->instance, &key);
		map_put(broker->sessions->rebuilding, buffer_bytes(&key), broker);
		buffer_free(&key);
		json_array_append_new(ended,
			json_pack("{s:s,s:I}", "instance", session->instance, "epoch", (json_int_t)session->epoch));
		session_end(broker, session, PARTING_GOODBYE);
	}
	return ended;
}

json_t *answer_rebuild(struct broker *broker, json_t *argument, char ret_error[256])
{
	const char *service = argument_text(argument, "service");
	int peer = service ? topology_peer(&broker->topology, service) : -1;
	json_t *ended;

	if (peer < 0 || !topic_set_any(&broker->topology.peers[peer].remembers)) {
		snprintf(ret_error, 256, "no service \"%.64s\" folds anything", service ? service : "");
		return NULL;
	}
	if (is_spooling(broker, peer)) {
		snprintf(ret_error, 256, "%.64s holds accepted messages in its spool: wait until it has drained",
			service);
		return NULL;
	}
	ended = end_sessions(broker, peer);
	if (json_array_size(ended) == 0) {
		json_decref(ended);
		snprintf(ret_error, 256, "no %.64s is running: start it first", service);
		return NULL;
	}
	return json_pack("{s:o,s:I}", "ended", ended, "head", (json_int_t)log_head(broker->log));
}

bool rebuild_is_due(struct broker *broker, int peer, const char *instance)
{
	struct buffer key = { 0 };
	bool due;

	rebuild_key(broker, peer, instance, &key);
	due = map_remove(broker->sessions->rebuilding, buffer_bytes(&key)) != NULL;
	buffer_free(&key);
	return due;
}
