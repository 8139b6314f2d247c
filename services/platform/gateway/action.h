/*
 * action.h: the owner's links of the nightly export
 */
#ifndef PLATFORM_GATEWAY_ACTION_H
#define PLATFORM_GATEWAY_ACTION_H

#include "services/platform/gateway/reception.h"
#include "services/platform/gateway/route.h"

/* As reception_receive and reception_finish. */
bool action_receive(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish);
void action_finish(struct reception *reception, const struct wish *wish, enum door_end end, struct answer *answer);

#endif
