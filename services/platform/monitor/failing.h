/*
 * failing.h: how many decisions failed, by queue, within the last hour
 */
#ifndef PLATFORM_MONITOR_FAILING_H
#define PLATFORM_MONITOR_FAILING_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

void failing_remember(struct state *state, const struct message_meta *said, const QueueFailed *failed);

/* The broker's count is `total` now: what there is to say of it. false: nothing, it is known. */
bool failing_news(const struct state *state, const char *queue, uint64_t total, int64_t now_us, QueueFailed *ret);
/* Failures of this queue, or of all of them (NULL), within so much time, which is an hour at most unless a clock is scaled. */
uint32_t failing_count(const struct state *state, const char *queue, int64_t now_us, int64_t within_us);

#endif
