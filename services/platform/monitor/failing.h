/* failing.h: counts the failed decisions of the last hour by queue */
#ifndef PLATFORM_MONITOR_FAILING_H
#define PLATFORM_MONITOR_FAILING_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

void failing_remember(struct state *state, const struct message_meta *said, const QueueFailed *failed);

/* Makes the fact to say when the broker's count is `total` now. false: it is known already. */
bool failing_news(const struct state *state, const char *queue, uint64_t total, int64_t now_us, QueueFailed *ret);
/*
 * Failures of this queue (NULL: of all queues) within within_us, which is at most an hour unless a clock is
 * scaled.
 */
uint32_t failing_count(const struct state *state, const char *queue, int64_t now_us, int64_t within_us);

#endif
