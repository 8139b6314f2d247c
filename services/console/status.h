/* status.h: the shops' modes and the alarms that stand, as the console has folded them */
#ifndef CONSOLE_STATUS_H
#define CONSOLE_STATUS_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

STATE_TABLE(shop_modes, "mode", ShopStatus);  /* by "mode" */
STATE_TABLE(standing_alarms, "alarm", Alarm); /* by kind; only those that stand */

void status_remember_mode(struct state *state, const struct message_meta *said, const ShopStatus *status);
void status_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);
#define STATUS_REMEMBERED REMEMBERS(shop_status, status_remember_mode), REMEMBERS(alarm, status_remember_alarm)

/* false: none was said; *ret is then all zero, which is observe. */
bool status_mode(const struct state *state, const char *shop, ShopStatus *ret);
/* The pause of all shops; false: none. */
bool status_all_stopped(const struct state *state, ShopStatus *ret);

#endif
