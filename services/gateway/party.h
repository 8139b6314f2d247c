/*
 * party.h: several messages of one request, let in together and answered once
 */
#ifndef GATEWAY_PARTY_H
#define GATEWAY_PARTY_H

#include "services/gateway/reception.h"

/* door_knock with all messages of the wish: what is told is the worst that became of any. Who repeats the request loses nothing. */
void party_knock(struct door *door, struct wish *wish, door_fn *answer, void *context);
void party_clear(struct wish *wish); /* frees its messages */

#endif
