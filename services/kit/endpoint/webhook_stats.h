/*
 * webhook_stats.h: what came for each shop since it was last told to the bus: signatures, secrets, topics
 */
#ifndef KIT_ENDPOINT_WEBHOOK_STATS_H
#define KIT_ENDPOINT_WEBHOOK_STATS_H

#include "bus/actor/runtime/runtime.h"

struct webhook_stats;

/* Both are borrowed. */
struct webhook_stats *webhook_stats_new(struct runtime *runtime, const struct clock *clock);
void webhook_stats_free(struct webhook_stats *stats); /* takes NULL. The runtime must not call back after this */

enum webhook_signature { WEBHOOK_BAD_SIGNATURE, WEBHOOK_CURRENT_SECRET, WEBHOOK_PREVIOUS_SECRET };
/* Takes NULL. The shop exists: strangers cannot make up names. */
void webhook_stats_note_signature(struct webhook_stats *stats, const char *shop, enum webhook_signature signature);
/* Of an authentic request; "" counts as none. */
void webhook_stats_note_topic(struct webhook_stats *stats, const char *shop, const char *topic);

/* Says what is to be said; returns in how many boot microseconds it wants to be called again, -1: not before something is noted. */
int64_t webhook_stats_work(struct webhook_stats *stats);

#endif
