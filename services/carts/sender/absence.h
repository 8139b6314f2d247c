/*
 * absence.h: after nobody could reach a gateway, mails wait for what the platforms may send again
 */
#ifndef CARTS_SENDER_ABSENCE_H
#define CARTS_SENDER_ABSENCE_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"

void absence_remember(struct state *state, const struct message_meta *said, const GatewayAway *away);
int64_t absence_holds_until_us(const struct state *state); /* of all gateways the latest; 0: none was ever away */

#endif
