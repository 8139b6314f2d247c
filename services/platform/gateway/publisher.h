/*
 * publisher.h: from an authentic message to the bus, or into the spool
 *
 * Every message that an endpoint lets in is published here. Each is answered exactly once.
 */
#ifndef PLATFORM_GATEWAY_PUBLISHER_H
#define PLATFORM_GATEWAY_PUBLISHER_H

#include "bus/actor/runtime/runtime.h"
#include "services/kit/endpoint/submission.h"

struct publisher;

typedef void publisher_fn(void *context, enum submission_end end, uint64_t seq, const char *why);

/*
 * `folder` is <state>/<instance>; the spool is opened in it, and die()s when it is damaged. `wake` is called when publisher_work has
 * something to do although nothing was added (from within runtime_work). Everything but `folder` is borrowed.
 */
struct publisher *publisher_open(const char *folder, struct runtime *runtime, const struct clock *clock,
	struct counters *counters, void (*wake)(void *context), void *context);
/*
 * Before the first publisher_work: this goes into the spool, so that it is the first thing said, and claims wait for it. die()s when it
 * cannot be kept; a gateway that never met its broker has nothing to say yet.
 */
void publisher_begin_with(struct publisher *publisher, struct bytes message);
/* Answers what still waits with SUBMISSION_REFUSED. The runtime must not call back after this. */
void publisher_close(struct publisher *publisher);

/* Takes the encoded message. `stop`: it forbids a mail (a checkout, an opt-out, an emptied cart). Answered from publisher_work or runtime_work. */
void publisher_add(struct publisher *publisher, struct buffer *message, bool stop, publisher_fn *answer, void *context);
/* Everything that can be done now; returns in how many boot microseconds it wants to be called again, -1: no hurry. */
int64_t publisher_work(struct publisher *publisher);

bool publisher_live(const struct publisher *publisher);           /* a session with the broker */
uint64_t publisher_spooled(const struct publisher *publisher);    /* messages in the spool */
const char *publisher_trouble(const struct publisher *publisher); /* why nothing can be let in now; NULL: it can */

#endif
