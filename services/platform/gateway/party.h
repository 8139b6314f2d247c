/*
 * party.h: several messages of one request, let in together and answered once
 */
#ifndef PLATFORM_GATEWAY_PARTY_H
#define PLATFORM_GATEWAY_PARTY_H

#include "services/platform/gateway/reception.h"

/* door_knock with all messages of the wish: what is told is the worst that became of any. Who repeats the request loses nothing. */
void party_knock(struct door *door, struct wish *wish, door_fn *answer, void *context);
void party_clear(struct wish *wish); /* frees its messages */

#endif
