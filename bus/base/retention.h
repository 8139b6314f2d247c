/*
 * retention.h: how long the log keeps each class of topics, from the section [retention] of cartbus.conf
 *
 * Three classes of topics (bus/actor/topic.h): raw messages carry the data that storefronts and shoppers
 * sent; facts are derived from it; kept topics stay for ever. The broker drops messages by these limits, and
 * the log tells the services (bus/broker/log/retain.c).
 */
#ifndef BASE_RETENTION_H
#define BASE_RETENTION_H

#include "bus/base/clock.h"
#include "bus/base/config.h"

/* Folds may still need raw messages younger than this, so the size limits do not drop them. */
#define RETENTION_RAW_LEAST_US (21 * US_PER_DAY)
#define RETENTION_RAW_MOST_US (30 * US_PER_DAY) /* personal payloads */
#define RETENTION_FACTS_LEAST_US (120 * US_PER_DAY)

struct retention_limits {
	int64_t raw_us;       /* 30 days */
	int64_t facts_us;     /* 400 days; also how long an ended row is remembered; a standing row stays */
	uint64_t raw_bytes;   /* 0: no limit */
	uint64_t facts_bytes; /* of the facts in the log; rows of compacted topics are dropped by age alone */
};

struct retention_limits retention_read(const struct config *config);

#endif
