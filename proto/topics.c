/* topics.c: the table of topics.h, spelled out once */
#include "proto/topics.h"

#define CART_TOPIC_DEFINE(name, topic, message, class, group) TOPIC_DEFINE(name, topic, message, class, group);
CART_TOPICS(CART_TOPIC_DEFINE)

#define CART_TOPIC_LIST(name, topic, message, class, group) &topic_##name,
const struct topic *const cart_topics[] = { CART_TOPICS(CART_TOPIC_LIST) NULL };
