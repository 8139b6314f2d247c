/*
 * outage.h: what the mails of all shops wait for: a mail server that cannot be reached, and events of a time when no gateway could be
 */
#ifndef CARTS_SENDER_OUTAGE_H
#define CARTS_SENDER_OUTAGE_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

/* ---- the mail server cannot be reached: one alarm for all senders and mails, until one is answered again ---- */

void outage_remember(struct state *state, const struct message_meta *said, const Alarm *alarm);
void say_server_away(const struct state *state, struct turn *turn, const char *words);
void say_server_back(const struct state *state, struct turn *turn);

/* ---- after nobody could reach a gateway, mails wait for what the platforms may send again ---- */

void downtime_remember(struct state *state, const struct message_meta *said, const GatewayAway *away);
int64_t downtime_holds_until_us(const struct state *state); /* of all gateways the latest; 0: none was ever away */

#endif
