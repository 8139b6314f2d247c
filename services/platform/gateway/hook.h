/* hook.h: a storefront's webhook: proven, read, encoded */
#ifndef PLATFORM_GATEWAY_HOOK_H
#define PLATFORM_GATEWAY_HOOK_H

#include "services/platform/gateway/reception.h"
#include "services/platform/gateway/route.h"

/* As reception_judge_head: is there such a shop, and a signature that could be right? */
bool hook_judge_head(
	struct reception *reception, const struct route *route, const struct request *request, struct answer *answer);
/* As reception_receive. */
bool hook_receive(struct reception *reception, const struct route *route, const struct request *request,
	struct answer *answer, struct wish *wish);

/* A refusal in the log: of each kind one a second, and how many were not told. Words only: never a header's value, a body, an address. */
void hook_warn(struct reception *reception, struct warnings *warnings, const char *shop, const char *words);

#endif
