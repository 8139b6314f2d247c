/*
 * webhook_stats.h: counts for each shop what its webhooks had since the last report to the bus: signatures,
 * secrets, topics
 */
#ifndef KIT_ENDPOINT_WEBHOOK_STATS_H
#define KIT_ENDPOINT_WEBHOOK_STATS_H

#include "bus/actor/runtime/runtime.h"

struct webhook_stats;

/* Both are borrowed. */
struct webhook_stats *webhook_stats_new(struct runtime *runtime, const struct clock *clock);
void webhook_stats_free(struct webhook_stats *stats); /* takes NULL. The runtime must not call back after this */

enum webhook_signature { WEBHOOK_BAD_SIGNATURE, WEBHOOK_CURRENT_SECRET, WEBHOOK_PREVIOUS_SECRET };
/* Takes NULL. The shop must exist, so that strangers cannot invent names. */
void webhook_stats_note_signature(struct webhook_stats *stats, const char *shop, enum webhook_signature signature);
/* For an authentic request; "" means no topic. */
void webhook_stats_note_topic(struct webhook_stats *stats, const char *shop, const char *topic);

/*
 * Publishes the due reports. Returns after how many microseconds of boot time to call again; -1: not before
 * something is noted.
 */
int64_t webhook_stats_work(struct webhook_stats *stats);

#endif
