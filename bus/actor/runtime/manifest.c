/*
 * manifest.c: service_manifest: a service's part of topology.conf, from its table; service_judge: checks that
 * table
 */
#include "bus/actor/service.h"
#include "bus/base/memory.h"
#include "bus/wire/protocol.h"
#include <errno.h>
#include <pb_common.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_LEN = 24 };
/* The broker of v0.2.0 knows no other name for it, and refuses a key that it does not know. */
static const char KEY_OF_SUBJECT[] = "cart";

static bool is_shown(const struct topic *topic, const pb_msgdesc_t *message, const pb_field_iter_t *field)
{
	if (PB_LTYPE(field->type) <= PB_LTYPE_LAST_PACKABLE)
		return PB_HTYPE(field->type) == PB_HTYPE_REPEATED; /* a number that is not repeated needs no question */
	for (const struct topic_shown *shown = topic->shown; shown && shown->message; shown++)
		if (shown->message == message && shown->tag == field->tag)
			return true;
	return false;
}

/*
 * The broker has no descriptors: it gets the field numbers. `value` only gives the iterator a struct to point
 * into.
 */
static void add_shown(
	struct buffer *ret, const struct topic *topic, const pb_msgdesc_t *message, void *value, const char *above)
{
	pb_field_iter_t field;

	for (bool more = pb_field_iter_begin(&field, message, value); more; more = pb_field_iter_next(&field)) {
		char path[PATH_LEN];
		bool inside = PB_LTYPE_IS_SUBMSG(field.type);

		snprintf(path, sizeof(path), inside ? "%s%u/" : "%s%u", above, (unsigned)field.tag);
		if (inside || is_shown(topic, message, &field))
			buffer_printf(ret, "shown = %s\n", path);
		if (inside)
			add_shown(ret, topic, field.submsg_desc, field.pData, path);
	}
}

/* `at` points to a string inside `value` that occurs there once. */
static void add_subject(struct buffer *ret, const pb_msgdesc_t *message, void *value, const char *at, const char *above)
{
	pb_field_iter_t field;

	for (bool more = pb_field_iter_begin(&field, message, value); more; more = pb_field_iter_next(&field)) {
		char path[PATH_LEN];

		if (PB_HTYPE(field.type) == PB_HTYPE_REPEATED)
			continue;
		snprintf(path, sizeof(path), "%s%u", above, (unsigned)field.tag);
		if (PB_ATYPE(field.type) == PB_ATYPE_STATIC && PB_LTYPE(field.type) == PB_LTYPE_STRING &&
			field.pData == at)
			buffer_printf(ret, "%s = %s\n", KEY_OF_SUBJECT, path);
		if (!PB_LTYPE_IS_SUBMSG(field.type))
			continue;
		snprintf(path, sizeof(path), "%s%u/", above, (unsigned)field.tag);
		add_subject(ret, field.submsg_desc, field.pData, at, path);
	}
}

static size_t subject_of(const struct topic *topic)
{
	for (const struct topic_log_row *log_row = topic->log_rows; log_row && log_row->topic; log_row++)
		if (log_row->topic == topic)
			return log_row->subject;
	return TOPIC_NOWHERE;
}

static bool outlives(const struct topic *topic)
{
	for (const struct topic *const *one = topic->outliving; one && *one; one++)
		if (*one == topic)
			return true;
	return false;
}

void topic_manifest(const struct topic *topic, struct buffer *ret)
{
	static const char *const retentions[] = { "raw", "fact", "keep", "claim" };

	buffer_printf(ret, "[topic %s]\nretention = %s\n", topic->name, retentions[topic->retention]);
	if (topic->group)
		buffer_printf(ret, "group = %s\n", topic->group);
	if (outlives(topic))
		buffer_add_text(ret, "sidelog = yes\n");
	if (topic->shown) {
		void *value = memory_new(topic->size);

		add_shown(ret, topic, topic->message, value, "");
		if (subject_of(topic) != TOPIC_NOWHERE)
			add_subject(ret, topic->message, value, (char *)value + subject_of(topic), "");
		free(value);
	}
}

/* false: an earlier table of the service remembers the same topic. */
static bool is_first(const struct service *service, const struct remembers *row)
{
	return service_remembers_topic(service, row->topic->name) == row;
}

/* A topic may be declared many times over, by every service that meets it; it is the same each time. */
static void add_topics(struct buffer *ret, const struct service *service)
{
	const struct remembers *remembered;
	const struct hears *heard;
	const struct topic *said;

	for (size_t i = 0; (heard = service_hears(service, i)); i++)
		topic_manifest(heard->topic, ret);
	for (size_t i = 0; (remembered = service_remembers(service, i)); i++)
		if (is_first(service, remembered))
			topic_manifest(remembered->topic, ret);
	for (size_t i = 0; (said = service_says(service, i)); i++)
		topic_manifest(said, ret);
}

static int refuse_twice(const struct service *service, const char *does, const struct topic *topic, char ret_why[256])
{
	snprintf(ret_why, 256,
		"the table of %s has two rows that %s %s: only the first would be called. Remove one of them, also where systems add to this table",
		service->name, does, topic->name);
	return -EEXIST;
}

/* Is this row the one of its table that is called for its topic? */
static bool is_called(const struct service *service, const struct remembers *row)
{
	const struct remembers *called;

	for (size_t n = 0; (called = service_remembers_topic_nth(service, row->topic->name, n)); n++)
		if (called == row)
			return true;
	return false;
}

/* Of two rows for one topic only the first would ever be called. */
static int judge_topics(const struct service *service, char ret_why[256])
{
	const struct hears *heard;
	const struct remembers *remembered;

	for (size_t i = 0; (heard = service_hears(service, i)); i++)
		if (service_hears_topic(service, heard->topic->name) != heard)
			return refuse_twice(service, "hear", heard->topic, ret_why);
	for (size_t i = 0; (remembered = service_remembers(service, i)); i++)
		if (!is_called(service, remembered))
			return refuse_twice(service, "remember", remembered->topic, ret_why);
	return 0;
}

int service_judge(const struct service *service, char ret_why[256])
{
	bool has_queue = service_hears(service, 0) != NULL;

	if (!has_queue && (service->failures_max || service->lease_ms)) {
		snprintf(ret_why, 256, "%s declares failures_max or lease_ms, but it hears nothing, so it has no queue",
			service->name);
		return -EINVAL;
	}
	if (service->failures_max > QUEUE_FAILURES_MOST) {
		snprintf(ret_why, 256, "failures_max of %s is %u; expected %d to %d", service->name,
			(unsigned)service->failures_max, QUEUE_FAILURES_LEAST, QUEUE_FAILURES_MOST);
		return -EINVAL;
	}
	if (service->lease_ms &&
		(service->lease_ms < QUEUE_LEASE_MS_LEAST || service->lease_ms > QUEUE_LEASE_MS_MOST)) {
		snprintf(ret_why, 256, "lease_ms of %s is %u; expected %d to %d", service->name,
			(unsigned)service->lease_ms, QUEUE_LEASE_MS_LEAST, QUEUE_LEASE_MS_MOST);
		return -EINVAL;
	}
	return judge_topics(service, ret_why);
}

void service_manifest(const struct service *service, struct buffer *ret)
{
	const struct remembers *remembered;
	const struct hears *heard;
	const struct topic *said;

	add_topics(ret, service);
	buffer_printf(ret, "[peer %s]\n", service->name);
	if (service->exclusive)
		buffer_add_text(ret, "exclusive = yes\n");
	if (service->gateway)
		buffer_add_text(ret, "gateway = yes\n");
	if (service->operator_)
		buffer_add_text(ret, "operator = yes\n");
	if (service->failures_max)
		buffer_printf(ret, "failure-limit = %u\n", (unsigned)service->failures_max);
	if (service->lease_ms)
		buffer_printf(ret, "lease = %ums\n", (unsigned)service->lease_ms);
	for (size_t i = 0; (heard = service_hears(service, i)); i++)
		buffer_printf(ret, "hears = %s\n", heard->topic->name);
	for (size_t i = 0; (remembered = service_remembers(service, i)); i++)
		if (is_first(service, remembered))
			buffer_printf(ret, "remembers = %s\n", remembered->topic->name);
	for (size_t i = 0; (said = service_says(service, i)); i++)
		buffer_printf(ret, "says = %s\n", said->name);
	buffer_add_text(ret, "\n");
}
