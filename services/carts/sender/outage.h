/* outage.h: the mail server cannot be reached: an alarm, once for all senders and mails, until one is answered again */
#ifndef CARTS_SENDER_OUTAGE_H
#define CARTS_SENDER_OUTAGE_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

void outage_remember(struct state *state, const struct message_meta *said, const Alarm *alarm);
void say_server_away(const struct state *state, struct turn *turn, const char *words);
void say_server_back(const struct state *state, struct turn *turn);

#endif
