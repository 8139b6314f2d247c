/*
 * unused.h: claims of a sender that was killed, of which it is known that their last byte did not go
 */
#ifndef CARTS_SENDER_UNUSED_H
#define CARTS_SENDER_UNUSED_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"
#include "services/kit/effect/claim.h"

void unused_say(struct turn *turn, const struct claim_note *claim);
void unused_remember(struct state *state, const struct message_meta *said, const SendUnused *unused);
bool unused_is(const struct state *state, const struct claim_row *claim);

#endif
