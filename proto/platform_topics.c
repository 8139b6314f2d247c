/* platform_topics.c: the table of platform_topics.h, spelled out once */
#include "proto/platform_topics.h"
#include "proto/platform_events.h"

#define SHOWN_FIELD(message, field) { &message##_msg, message##_##field##_tag },
static const struct topic_shown shown[] = { PLATFORM_SHOWN(SHOWN_FIELD){ NULL, 0 } };

#define TOPIC_LOG_ROW(name, cart, word) { &topic_##name, (cart), (word), event_##name },
#define TOPIC_KNOWN(name, cart) { &topic_##name, (cart), TOPIC_NOWHERE, NULL },
static const struct topic_log_row log_rows[] = { PLATFORM_LOG_ROWS(TOPIC_LOG_ROW)
		PLATFORM_KNOWN(TOPIC_KNOWN){ NULL, 0, 0, NULL } };

#define TOPIC_STOPS(name) &topic_##name,
static const struct topic *const stops[] = { PLATFORM_STOPS(TOPIC_STOPS) NULL };

#define TOPIC_DEFINED(name, topic, message, class, group)                                                              \
	TOPIC_DEFINE_SHOWN(name, topic, message, class, group, stops, shown, log_rows);
PLATFORM_TOPICS(TOPIC_DEFINED)

#define TOPIC_LISTED(name, topic, message, class, group) &topic_##name,
const struct topic *const platform_topics[] = { PLATFORM_TOPICS(TOPIC_LISTED) NULL };

PLATFORM_EVENTS(LOG_EVENT_DEFINE)
