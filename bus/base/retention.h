/*
 * retention.h: how long what is kept in the log, from the section [retention] of cartbus.conf
 *
 * Three classes of topics (bus/actor/topic.h): raw messages carry what storefronts and shoppers sent; facts are what was made of
 * it; what is to be kept stays for ever. The broker drops by this, and the log tells the services (bus/broker/log/retain.c).
 */
#ifndef BASE_RETENTION_H
#define BASE_RETENTION_H

#include "bus/base/clock.h"
#include "bus/base/config.h"

/* Folds may still need what is younger than this, so the limits of size do not drop it. */
#define RETENTION_RAW_LEAST_US (21 * US_PER_DAY)
#define RETENTION_RAW_MOST_US (30 * US_PER_DAY) /* personal payloads */
#define RETENTION_FACTS_LEAST_US (120 * US_PER_DAY)

struct retention_limits {
	int64_t raw_us;       /* 30 days */
	int64_t facts_us;     /* 400 days: also how long a row that has ended is remembered; one that stands, stays */
	uint64_t raw_bytes;   /* 0: no limit */
	uint64_t facts_bytes; /* of the facts in the log; rows of compacted topics are dropped by age alone */
};

struct retention_limits retention_read(const struct config *config);

#endif
