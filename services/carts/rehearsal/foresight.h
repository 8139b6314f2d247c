/*
 * foresight.h: when the next mail of a cart goes, by what the log says so far
 *
 * The waiter's own folds over the log, and its own decision asked ahead of its time (carts/policy/plan.h). Nothing is decided.
 */
#ifndef CARTS_REHEARSAL_FORESIGHT_H
#define CARTS_REHEARSAL_FORESIGHT_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"
#include "services/carts/policy/plan.h"

struct foresight;

/* `folder`: where folded state lies meanwhile; NULL: in memory. NULL: ret_why. */
struct foresight *foresight_new(const char *folder, char ret_why[512]);
void foresight_free(struct foresight *foresight); /* takes NULL */

/* Every message of the shops that are asked about, and of SHOP_OF_ALL, from the log's beginning to its end. */
void foresight_hear(struct foresight *foresight, const struct message_meta *said, struct bytes payload);

struct foreseen {
	int with_sender; /* 1, 2: this reminder was decided and is on its way, see since_us; 0: none is, see plan */
	int64_t since_us;
	struct plan plan;
};
/* By the timer of a cart. false: it is none, or one of an older state of the cart, and wakes nobody. */
bool foresight_ask(const struct foresight *foresight, const char *shop, const TimerSet *timer, int64_t now_us,
	struct foreseen *ret);

#endif
