/*
 * manifest.c: service_manifest: a service's part of topology.conf, from its table
 */
#include "bus/actor/service.h"
#include "bus/base/memory.h"
#include <pb_common.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_LEN = 24 };

static bool is_shown(const struct topic *topic, const pb_msgdesc_t *message, const pb_field_iter_t *field)
{
	if (PB_LTYPE(field->type) <= PB_LTYPE_LAST_PACKABLE)
		return PB_HTYPE(field->type) == PB_HTYPE_REPEATED; /* one alone is a number, and not asked for */
	for (const struct topic_shown *shown = topic->shown; shown && shown->message; shown++)
		if (shown->message == message && shown->tag == field->tag)
			return true;
	return false;
}

/* The broker knows no descriptors: it is told the field numbers. `value` only gives the iterator ground to stand on. */
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

/* `at` points into `value`, at a string that stands there once. */
static void add_cart(struct buffer *ret, const pb_msgdesc_t *message, void *value, const char *at, const char *above)
{
	pb_field_iter_t field;

	for (bool more = pb_field_iter_begin(&field, message, value); more; more = pb_field_iter_next(&field)) {
		char path[PATH_LEN];

		if (PB_HTYPE(field.type) == PB_HTYPE_REPEATED)
			continue;
		snprintf(path, sizeof(path), "%s%u", above, (unsigned)field.tag);
		if (PB_LTYPE(field.type) == PB_LTYPE_STRING && field.pData == at)
			buffer_printf(ret, "cart = %s\n", path);
		if (!PB_LTYPE_IS_SUBMSG(field.type))
			continue;
		snprintf(path, sizeof(path), "%s%u/", above, (unsigned)field.tag);
		add_cart(ret, field.submsg_desc, field.pData, at, path);
	}
}

static size_t cart_of(const struct topic *topic)
{
	for (const struct topic_told *told = topic->told; told && told->topic; told++)
		if (told->topic == topic)
			return told->cart;
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
		if (cart_of(topic) != TOPIC_NOWHERE)
			add_cart(ret, topic->message, value, (char *)value + cart_of(topic), "");
		free(value);
	}
}

/* A topic may be declared many times over, by every service that meets it; it is the same each time. */
static void add_topics(struct buffer *ret, const struct service *service)
{
	for (int i = 0; i < SERVICE_HEARS_MAX && service->hears[i].topic; i++)
		topic_manifest(service->hears[i].topic, ret);
	for (int i = 0; i < SERVICE_REMEMBERS_MAX && service->remembers[i].topic; i++)
		topic_manifest(service->remembers[i].topic, ret);
	for (int i = 0; i < SERVICE_SAYS_MAX && service->says[i]; i++)
		topic_manifest(service->says[i], ret);
}

void service_manifest(const struct service *service, struct buffer *ret)
{
	add_topics(ret, service);
	buffer_printf(ret, "[peer %s]\n", service->name);
	if (service->exclusive)
		buffer_add_text(ret, "exclusive = yes\n");
	if (service->gateway)
		buffer_add_text(ret, "gateway = yes\n");
	if (service->operator_)
		buffer_add_text(ret, "operator = yes\n");
	for (int i = 0; i < SERVICE_HEARS_MAX && service->hears[i].topic; i++)
		buffer_printf(ret, "hears = %s\n", service->hears[i].topic->name);
	for (int i = 0; i < SERVICE_REMEMBERS_MAX && service->remembers[i].topic; i++)
		buffer_printf(ret, "remembers = %s\n", service->remembers[i].topic->name);
	for (int i = 0; i < SERVICE_SAYS_MAX && service->says[i]; i++)
		buffer_printf(ret, "says = %s\n", service->says[i]->name);
	buffer_add_text(ret, "\n");
}
