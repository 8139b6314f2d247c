/*
 * unsubscribe.h: the link at the foot of each mail
 */
#ifndef GATEWAY_UNSUBSCRIBE_H
#define GATEWAY_UNSUBSCRIBE_H

#include "services/gateway/page.h"
#include "services/gateway/reception.h"
#include "services/gateway/route.h"

/* As reception_receive and reception_finish. */
bool unsubscribe_receive(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish);
void unsubscribe_finish(struct reception *reception, const struct wish *wish, enum door_end end, struct answer *answer);

/* 404: a page about a link that is none, in the reader's language. */
void unsubscribe_show(
	const struct reception *reception, enum page page, const struct request *request, struct answer *answer);

#endif
