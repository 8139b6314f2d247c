/*
 * outage.h: what delays the mails of all shops: an unreachable mail server, and late events after a time
 * without gateways
 */
#ifndef CARTS_SENDER_OUTAGE_H
#define CARTS_SENDER_OUTAGE_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

/*
 * ---- an unreachable mail server: one alarm for all senders and mails, until the server answers again
 */

void outage_remember(struct state *state, const struct message_meta *said, const Alarm *alarm);
void say_server_away(const struct state *state, struct turn *turn, const char *words);
void say_server_back(const struct state *state, struct turn *turn);

/*
 * ---- after a time without reachable gateways, mails wait for the events that the platforms may repeat
 */

void downtime_remember(struct state *state, const struct message_meta *said, const GatewayAway *away);
/* the latest end of all gateways; 0: none was ever away */
int64_t downtime_holds_until_us(const struct state *state);

#endif
