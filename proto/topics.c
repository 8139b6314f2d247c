/* topics.c: the table of topics.h, spelled out once */
#include "proto/topics.h"
#include "proto/events.h"

#define CART_SHOWN_FIELD(message, field) { &message##_msg, message##_##field##_tag },
static const struct topic_shown shown[] = { CART_SHOWN(CART_SHOWN_FIELD){ NULL, 0 } };

#define CART_TOPIC_TOLD(name, cart, word) { &topic_##name, (cart), (word), event_##name },
#define CART_TOPIC_KNOWN(name, cart) { &topic_##name, (cart), TOPIC_NOWHERE, NULL },
static const struct topic_told told[] = { CART_TOLD(CART_TOPIC_TOLD) CART_KNOWN(CART_TOPIC_KNOWN){ NULL, 0, 0, NULL } };

#define CART_TOPIC_STOPS(name) &topic_##name,
static const struct topic *const stops[] = { CART_STOPS(CART_TOPIC_STOPS) NULL };

#define CART_TOPIC_DEFINE(name, topic, message, class, group)                                                          \
	TOPIC_DEFINE_SHOWN(name, topic, message, class, group, stops, shown, told);
CART_TOPICS(CART_TOPIC_DEFINE)

#define CART_TOPIC_LIST(name, topic, message, class, group) &topic_##name,
const struct topic *const cart_topics[] = { CART_TOPICS(CART_TOPIC_LIST) NULL };

CART_EVENTS(LOG_EVENT_DEFINE)
