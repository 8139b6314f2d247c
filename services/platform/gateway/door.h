/*
 * door.h: from an authentic message to the bus, or into the spool
 *
 * Everything that was let in passes here, one message at a time, and is answered exactly once.
 */
#ifndef PLATFORM_GATEWAY_DOOR_H
#define PLATFORM_GATEWAY_DOOR_H

#include "bus/actor/runtime/runtime.h"
#include "services/platform/gateway/counters.h"

struct door;

enum door_end {
	DOOR_ACCEPTED,  /* confirmed by the broker as seq */
	DOOR_DUPLICATE, /* it was there already, as seq */
	DOOR_SPOOLED,   /* synced on our disk */
	DOOR_REFUSED    /* neither; why says so. Nothing is promised, the sender must repeat it */
};
typedef void door_fn(void *context, enum door_end end, uint64_t seq, const char *why);

/*
 * `folder` is <state>/<instance>; the spool is opened in it, and die()s when it is damaged. `wake` is called when door_work has
 * something to do although nobody knocked (from within runtime_work). Everything but `folder` is borrowed.
 */
struct door *door_open(const char *folder, struct runtime *runtime, const struct clock *clock,
	struct counters *counters, void (*wake)(void *context), void *context);
/*
 * Before the first door_work: this goes into the spool, so that it is the first thing said, and claims wait for it. die()s when it
 * cannot be kept; a gateway that never met its broker has nothing to say yet.
 */
void door_begin_with(struct door *door, struct bytes message);
/* Answers what still waits with DOOR_REFUSED. The runtime must not call back after this. */
void door_close(struct door *door);

/* Takes the encoded message. `stop`: it forbids a mail (a checkout, an opt-out, an emptied cart). Answered from door_work or runtime_work. */
void door_knock(struct door *door, struct buffer *message, bool stop, door_fn *answer, void *context);
/* Everything that can be done now; returns in how many boot microseconds it wants to be called again, -1: no hurry. */
int64_t door_work(struct door *door);

bool door_live(const struct door *door);           /* a session with the broker */
uint64_t door_spooled(const struct door *door);    /* messages in the spool */
const char *door_trouble(const struct door *door); /* why nothing can be let in now; NULL: it can */

#endif
