/* topics.c: looks up a topic among those of all systems */
#include "proto/topics.h"

const struct topic *topic_nth(size_t n)
{
	for (size_t i = 0; registered_topics[i]; i++)
		for (const struct topic *const *topic = registered_topics[i]; *topic; topic++)
			if (n-- == 0)
				return *topic;
	return NULL;
}

const struct topic *topic_registered(const char *name)
{
	const struct topic *found = NULL;

	for (size_t i = 0; registered_topics[i] && !found; i++)
		found = topic_named(registered_topics[i], name);
	return found;
}
