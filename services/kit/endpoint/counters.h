/*
 * counters.h: what came through the door since the start
 */
#ifndef KIT_ENDPOINT_COUNTERS_H
#define KIT_ENDPOINT_COUNTERS_H

#include "bus/actor/runtime/runtime.h"

#define GATEWAY_COUNTERS(X)                                                                                            \
	X(requests)                                                                                                    \
	X(accepted)                                                                                                    \
	X(duplicates)                                                                                                  \
	X(spooled)                                                                                                     \
	X(drained)                                                                                                     \
	X(ignored)             /* authentic, of no interest: unknown topics, order statuses that mean nothing */       \
	X(rejected)            /* authentic, never readable; kept in rejected/ */                                      \
	X(consents_unreadable) /* carts that are not mailed, because nobody can tell a yes from a no */                \
	X(bad_signatures)                                                                                              \
	X(previous_secret)  /* right with the secret that is being rotated out */                                      \
	X(refused)          /* 503 */                                                                                  \
	X(malformed)        /* 400, 404, 405, 413 */                                                                   \
	X(misnamed)         /* a trusted proxy named the client in words that cannot be read */                        \
	X(cut_off)          /* too slow, or the body too long */                                                       \
	X(crowded_out)      /* the longest without a request when there was no room for another connection */          \
	X(turned_away)      /* not let in, or their bodies dropped: their network, or all together, held too much */   \
	X(feedback)         /* recipients of whom SES told a bounce or a complaint */                                  \
	X(feedback_refused) /* 403: not signed by SNS, or of a topic that is not the shop's */                         \
	X(optouts)                                                                                                     \
	X(taken_back) /* undone by the shopper */                                                                      \
	X(actions)    /* by the owner's links */                                                                       \
	X(links_used) /* an owner's link that was used before */                                                       \
	X(links_expired)                                                                                               \
	X(links_forged) /* or cut, or of a shop that is not here */                                                    \
	X(privacy)      /* requests of storefronts */                                                                  \
	X(clicks)

struct counters {
#define COUNTER_FIELD(name) uint64_t name;
	GATEWAY_COUNTERS(COUNTER_FIELD)
#undef COUNTER_FIELD
};

void counters_tell(struct counts_told *told, void *counters);                /* a counts_fn */
void counters_log(const struct counters *counters, struct counters *logged); /* if there is news */

#endif
