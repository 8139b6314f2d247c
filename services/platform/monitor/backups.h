/* backups.h: the time of the last backup of the log, and whether the copy is sound */
#ifndef PLATFORM_MONITOR_BACKUPS_H
#define PLATFORM_MONITOR_BACKUPS_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

enum { BACKUPS_WHY_MAX = 304 };

/* Log times; 0: never. */
struct backups {
	/* the first scheduled backup, made or tried: from then on one is expected each day */
	int64_t expected_us;
	int64_t made_us, proved_us;
	int64_t failed_us, damaged_us; /* also 0 if it has succeeded since */
	char why[BACKUPS_WHY_MAX];     /* why it failed */
};

void backups_remember(struct state *state, const Audit *audit);
struct backups backups_of(const struct state *state);

/* true: ret tells what is wrong. false: nothing is, or no backups are expected. */
bool backups_wrong(const struct backups *backups, int64_t now_us, int64_t within_us, char ret[500]);

#endif
