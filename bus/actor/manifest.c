/*
 * manifest.c: service_manifest: a service's part of topology.conf, from its table
 */
#include "bus/actor/service.h"

static void add_topic(struct buffer *ret, const struct topic *topic)
{
	static const char *const retentions[] = { "raw", "fact", "keep" };

	buffer_printf(ret, "[topic %s]\nretention = %s\n", topic->name, retentions[topic->retention]);
	if (topic->group)
		buffer_printf(ret, "group = %s\n", topic->group);
}

/* A topic may be declared many times over, by every service that meets it; it is the same each time. */
static void add_topics(struct buffer *ret, const struct service *service)
{
	for (int i = 0; i < SERVICE_HEARS_MAX && service->hears[i].topic; i++)
		add_topic(ret, service->hears[i].topic);
	for (int i = 0; i < SERVICE_REMEMBERS_MAX && service->remembers[i].topic; i++)
		add_topic(ret, service->remembers[i].topic);
	for (int i = 0; i < SERVICE_SAYS_MAX && service->says[i]; i++)
		add_topic(ret, service->says[i]);
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
