/*
 * seen.h: what came for each shop since it was last told to the bus: signatures, secrets, topics
 */
#ifndef PLATFORM_GATEWAY_SEEN_H
#define PLATFORM_GATEWAY_SEEN_H

#include "bus/actor/runtime/runtime.h"

struct seen;

/* For the life of the process: what was said may be answered until its very end. */
struct seen *seen_new(struct runtime *runtime, const struct clock *clock);

enum seen_signature { SEEN_BAD_SIGNATURE, SEEN_CURRENT_SECRET, SEEN_PREVIOUS_SECRET };
/* Takes NULL. The shop exists: strangers cannot make up names. */
void seen_note_signature(struct seen *seen, const char *shop, enum seen_signature signature);
/* Of an authentic request; "" counts as none. */
void seen_note_topic(struct seen *seen, const char *shop, const char *topic);

/* Says what is to be said; returns in how many boot microseconds it wants to be called again, -1: not before something is noted. */
int64_t seen_work(struct seen *seen);

#endif
