/* rights.c: the topics that a timer may fire, and the services that may set such a timer, from the tables of all systems */
#include "services/platform/timer/rights.h"
#include "services/kit/time/timer_setter.h"
#include "services/platform/timer/timer.h"
#include <string.h>

const struct topic *rights_topic(const char *name)
{
	const struct topic *found = NULL;

	for (const struct topic *const *const *table = registered_timers; !found && *table; table++)
		found = topic_named(*table, name);
	return found;
}

bool rights_is_timer(const char *service)
{
	return strcmp(service, timer.name) == 0;
}

bool rights_allow(const char *service, const char *topic)
{
	if (rights_is_timer(service))
		return rights_topic(topic) != NULL;
	for (const struct timer_setter *const *table = registered_timer_setters; *table; table++)
		for (const struct timer_setter *row = *table; row->service; row++)
			if (strcmp(row->service, service) == 0 && strcmp(row->fires->name, topic) == 0)
				return true;
	return false;
}
