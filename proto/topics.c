/* topics.c: the table of topics.h, spelled out once */
#include "proto/topics.h"

#define CART_SHOWN_FIELD(message, field) { &message##_msg, message##_##field##_tag },
static const struct topic_shown shown[] = { CART_SHOWN(CART_SHOWN_FIELD){ NULL, 0 } };

#define CART_TOPIC_DEFINE(name, topic, message, class, group)                                                          \
	TOPIC_DEFINE_SHOWN(name, topic, message, class, group, shown);
CART_TOPICS(CART_TOPIC_DEFINE)

#define CART_TOPIC_LIST(name, topic, message, class, group) &topic_##name,
const struct topic *const cart_topics[] = { CART_TOPICS(CART_TOPIC_LIST) NULL };
