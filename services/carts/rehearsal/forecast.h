/*
 * forecast.h: predicts from the log when the next mail of a cart is sent
 *
 * It runs the waiter's own folds over the log and asks for its decision in advance (carts/policy/plan.h). It
 * publishes nothing.
 */
#ifndef CARTS_REHEARSAL_FORECAST_H
#define CARTS_REHEARSAL_FORECAST_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"
#include "services/carts/words/next_mail.h"

struct forecast;

/*
 * `folder`: a place for the folded state; NULL: in memory. Returns NULL on failure; ret_why gives the reason.
 */
struct forecast *forecast_new(const char *folder, char ret_why[512]);
void forecast_free(struct forecast *forecast); /* takes NULL */

/* Takes every message of the wanted shops and of SHOP_OF_ALL, from the beginning of the log to its end. */
void forecast_hear(struct forecast *forecast, const struct message_meta *said, struct bytes payload);

/*
 * Asks by the timer of a cart. false: it is no cart's timer, or belongs to an older state of the cart and has
 * no effect.
 */
bool forecast_ask(
	const struct forecast *forecast, const char *shop, const TimerSet *timer, int64_t now_us, struct foreseen *ret);

#endif
