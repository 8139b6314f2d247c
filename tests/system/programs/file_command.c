/* file_command.c: the command cartbus with the topic of file_endpoint.c, as if that system were registered with it */
#include "file_topic.h"
#include "proto/topics.h"

extern const struct topic *const platform_topics[], *const cart_topics[];

const struct topic *const *const registered_topics[] = { platform_topics, cart_topics, file_topics, NULL };
