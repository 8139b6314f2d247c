/*
 * publisher.h: brings authentic messages to the bus or into the spool
 *
 * Every message that an endpoint accepts is published here. Each is answered exactly once.
 */
#ifndef PLATFORM_GATEWAY_PUBLISHER_H
#define PLATFORM_GATEWAY_PUBLISHER_H

#include "bus/actor/runtime/runtime.h"
#include "services/kit/endpoint/submission.h"

struct publisher;

typedef void publisher_fn(void *context, enum submission_end end, uint64_t seq, const char *why);

/*
 * `folder` is <state>/<instance>; the spool is opened in it; a damaged spool makes it die(). `wake` is called
 * (inside runtime_work) when publisher_work has work although nothing was added. Everything but `folder` is
 * borrowed.
 */
struct publisher *publisher_open(const char *folder, struct runtime *runtime, const struct clock *clock,
	struct counters *counters, void (*wake)(void *context), void *context);
/*
 * To be called before the first publisher_work: puts a message into the spool, so that it is published first
 * and claims wait for it. die()s if it cannot be kept. A gateway that never met its broker has nothing to
 * publish yet.
 */
void publisher_begin_with(struct publisher *publisher, struct bytes message);
/* Answers all waiting messages with SUBMISSION_REFUSED. The runtime must not call back after this. */
void publisher_close(struct publisher *publisher);

/*
 * Takes ownership of the encoded message. `stop`: it forbids a mail (a checkout, an opt-out, an emptied
 * cart). Answered from publisher_work or runtime_work.
 */
void publisher_add(struct publisher *publisher, struct buffer *message, bool stop, publisher_fn *answer, void *context);
/*
 * Does all work that is possible now. Returns after how many microseconds of boot time to call again; -1: no
 * deadline.
 */
int64_t publisher_work(struct publisher *publisher);

bool publisher_live(const struct publisher *publisher);        /* a session with the broker */
uint64_t publisher_spooled(const struct publisher *publisher); /* messages in the spool */
/* why no message can be accepted now; NULL: it can */
const char *publisher_trouble(const struct publisher *publisher);

#endif
