/*
 * forecast.h: when the next mail of a cart goes, by what the log says so far
 *
 * The waiter's own folds over the log, and its own decision asked ahead of its time (carts/policy/plan.h). Nothing is decided.
 */
#ifndef CARTS_REHEARSAL_FORECAST_H
#define CARTS_REHEARSAL_FORECAST_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"
#include "services/carts/policy/plan.h"

struct forecast;

/* `folder`: where folded state lies meanwhile; NULL: in memory. NULL: ret_why. */
struct forecast *forecast_new(const char *folder, char ret_why[512]);
void forecast_free(struct forecast *forecast); /* takes NULL */

/* Every message of the shops that are asked about, and of SHOP_OF_ALL, from the log's beginning to its end. */
void forecast_hear(struct forecast *forecast, const struct message_meta *said, struct bytes payload);

struct foreseen {
	int with_sender; /* 1, 2: this reminder was decided and is on its way, see since_us; 0: none is, see plan */
	int64_t since_us;
	struct plan plan;
};
/* By the timer of a cart. false: it is none, or one of an older state of the cart, and wakes nobody. */
bool forecast_ask(
	const struct forecast *forecast, const char *shop, const TimerSet *timer, int64_t now_us, struct foreseen *ret);

#endif
