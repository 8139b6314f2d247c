/*
 * standing.h: what stands about a shop: its mode, its alarms, and mails of which nobody knows if they were sent
 */
#ifndef CARTS_CONSOLE_STANDING_H
#define CARTS_CONSOLE_STANDING_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

STATE_TABLE(page_modes, "page.mode", ShopStatus); /* by "", also of SHOP_OF_ALL */
STATE_TABLE(page_alarms, "page.alarm", Alarm);    /* by kind; only those that are raised */
STATE_STRINGS(page_unclear, "page.unclear");      /* inverted time/cart id/step */

void standing_remember_status(struct state *state, const struct message_meta *said, const ShopStatus *status);
void standing_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);
/* After the waiter's row of this mail was folded. */
void standing_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome);

#endif
