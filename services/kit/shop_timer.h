/*
 * shop_timer.h: a report's clock: a cron timer in the shop's zone, set anew with every version of the shop's document
 */
#ifndef KIT_SHOP_TIMER_H
#define KIT_SHOP_TIMER_H

#include "bus/actor/turn.h"
#include "proto/topics.h"

struct shop_timer {
	const char *report; /* the timer is named "<report>/<shop>" */
	const char *cron;
	const struct topic *tick; /* tick.nightly or tick.monthly */
};

/* The turn hears a document; of another kind than "shop" it says nothing. */
enum verdict shop_timer_hear(
	const struct state *state, const struct shop_timer *timer, const Document *document, struct turn *turn);

#endif
