/*
 * backups.h: when the log was backed up last, and whether that copy is sound
 */
#ifndef PLATFORM_MONITOR_BACKUPS_H
#define PLATFORM_MONITOR_BACKUPS_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

enum { BACKUPS_WHY_MAX = 304 };

/* Times of the record, 0: never. */
struct backups {
	int64_t expected_us; /* the first that was made, or tried, by itself: from then on there is to be one each day */
	int64_t made_us, proved_us;
	int64_t failed_us, damaged_us; /* 0 as well: it worked since */
	char why[BACKUPS_WHY_MAX];     /* it failed */
};

void backups_remember(struct state *state, const Audit *audit);
struct backups backups_of(const struct state *state);

/* What is wrong with them; false: nothing, or nobody asked for any. */
bool backups_wrong(const struct backups *backups, int64_t now_us, int64_t within_us, char ret[500]);

#endif
