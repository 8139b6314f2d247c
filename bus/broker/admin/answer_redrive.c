/*
 * answer_redrive.c: the operator begins, watches, cancels and resumes a redrive of many letters or a replay
 */
#include "bus/base/text.h"
#include "bus/broker/admin/question.h"
#include "bus/broker/queue/redrive.h"
#include <stdio.h>

enum { LOOK_AT_MOST = 5000 /* messages per question */, RATE_MOST = 100000 };

static json_t *describe(const struct queue *queue)
{
	const struct redrive *redrive = queue->redrive;

	if (!redrive)
		return json_pack("{s:s,s:s}", "queue", queue->peer->name, "state", "none");
	return json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:I}", "queue", queue->peer->name, "what",
		redrive->what.replay ? "replay" : "redrive", "state",
		redrive->finished                 ? "finished"
			: redrive->what.cancelled ? "cancelled"
						  : "running",
		"fed", (json_int_t)redrive->what.fed, "next", (json_int_t)redrive->what.next, "rate",
		(json_int_t)redrive->what.rate, "waiting", (json_int_t)queue->redriven_count);
}

json_t *begin_redrive(struct broker *broker, struct queue *queue, const Feed *what, char ret_error[256])
{
	if (redrive_is_running(queue)) {
		snprintf(ret_error, 256, "queue %s is being fed by a %s already; wait for its end, or cancel it",
			queue->peer->name, queue->redrive->what.replay ? "replay" : "redrive");
		return NULL;
	}
	if (what->rate > RATE_MOST) {
		snprintf(ret_error, 256, "at most %d a second", RATE_MOST);
		return NULL;
	}
	redrive_begin(broker, queue, what);
	return describe(queue);
}

json_t *answer_redrive(struct broker *broker, json_t *argument, char ret_error[256])
{
	struct queue *queue = argument_queue(broker, argument, ret_error);

	return queue ? describe(queue) : NULL;
}

static json_t *cancel(struct broker *broker, json_t *argument, bool cancelled, char ret_error[256])
{
	struct queue *queue = argument_queue(broker, argument, ret_error);

	if (!queue)
		return NULL;
	if (!redrive_cancel(broker, queue, cancelled)) {
		snprintf(ret_error, 256, "queue %s is not being fed: there is nothing to %s", queue->peer->name,
			cancelled ? "cancel" : "resume");
		return NULL;
	}
	return describe(queue);
}

json_t *answer_redrive_cancel(struct broker *broker, json_t *argument, char ret_error[256])
{
	return cancel(broker, argument, true, ret_error);
}

json_t *answer_redrive_resume(struct broker *broker, json_t *argument, char ret_error[256])
{
	return cancel(broker, argument, false, ret_error);
}

/* --- replay --- */

/* The first message at or after this log time; head + 1: there is none. Log time never goes backwards. */
static uint64_t first_since(struct broker *broker, int64_t time_us)
{
	uint64_t low = 1, high = log_head(broker->log) + 1;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct logged logged;

		if (log_find(broker->log, middle, &broker->every, &logged) < 0 || logged.time_us >= time_us)
			high = middle;
		else
			low = logged.seq + 1;
	}
	return low;
}

/* Reads both ends from the argument, each a number or a time; neither: the whole log. */
static bool read_range(struct broker *broker, json_t *argument, Feed *ret, char ret_error[256])
{
	uint64_t head = log_head(broker->log);

	ret->next = argument_number(argument, "from", 1);
	ret->to = argument_number(argument, "to", head);
	if (json_object_get(argument, "from_us"))
		ret->next = first_since(broker, (int64_t)argument_number(argument, "from_us", 0));
	if (json_object_get(argument, "to_us"))
		ret->to = first_since(broker, (int64_t)argument_number(argument, "to_us", 0) + 1) - 1;
	if (ret->to > head)
		ret->to = head; /* the queue hears later messages anyway */
	if (ret->next > 0)
		return true;
	snprintf(ret_error, 256, "the first message of the log has number 1");
	return false;
}

static struct queue *read_replay(struct broker *broker, json_t *argument, Feed *ret, char ret_error[256])
{
	struct queue *queue = argument_queue(broker, argument, ret_error);
	int topic;

	if (!queue || !read_range(broker, argument, ret, ret_error))
		return NULL;
	argument_filter(argument, ret);
	ret->replay = true;
	ret->rate = (uint32_t)argument_number(argument, "rate", 0);
	topic = ret->topic[0] ? topology_topic(&broker->topology, ret->topic) : -1;
	if (ret->topic[0] && (topic < 0 || !topic_set_has(&queue->peer->hears, topic))) {
		snprintf(ret_error, 256, "%s does not hear \"%s\"", queue->peer->name, ret->topic);
		return NULL;
	}
	return queue;
}

json_t *answer_replay(struct broker *broker, json_t *argument, char ret_error[256])
{
	Feed what = { 0 };
	struct queue *queue = read_replay(broker, argument, &what, ret_error);

	return queue ? begin_redrive(broker, queue, &what, ret_error) : NULL;
}

/* Counts the messages that a replay would look at, a page at a time: "next" is where to go on. */
json_t *answer_replay_count(struct broker *broker, json_t *argument, char ret_error[256])
{
	Feed what = { 0 };
	struct queue *queue = read_replay(broker, argument, &what, ret_error);
	uint64_t count = 0;
	struct logged logged;
	int looked = 0, r = 0;

	if (!queue)
		return NULL;
	while (looked < LOOK_AT_MOST && (r = redrive_find(broker, queue, &what, &logged)) == 0) {
		looked++;
		what.next = logged.seq + 1;
		if (log_read(broker->log, logged.seq, &logged) == 0 && ack_bitmap_has(queue, logged.seq) &&
			redrive_wants_logged(&what, &logged))
			count++;
	}
	return json_pack("{s:I,s:o,s:I}", "would", (json_int_t)count, "next",
		r == 0 ? json_integer((json_int_t)what.next) : json_null(), "to", (json_int_t)what.to);
}
