/*
 * unsubscribe.h: the link at the foot of each mail
 */
#ifndef PLATFORM_GATEWAY_UNSUBSCRIBE_H
#define PLATFORM_GATEWAY_UNSUBSCRIBE_H

#include "services/platform/gateway/page.h"
#include "services/platform/gateway/reception.h"
#include "services/platform/gateway/route.h"

/* As reception_receive and reception_finish. */
bool unsubscribe_receive(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish);
void unsubscribe_finish(struct reception *reception, const struct wish *wish, enum door_end end, struct answer *answer);

/* 404: a page about a link that is none, in the reader's language. */
void unsubscribe_show(
	const struct reception *reception, enum page page, const struct request *request, struct answer *answer);

#endif
