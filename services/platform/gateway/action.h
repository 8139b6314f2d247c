/*
 * action.h: the owner's links of the nightly export
 */
#ifndef PLATFORM_GATEWAY_ACTION_H
#define PLATFORM_GATEWAY_ACTION_H

#include "services/kit/endpoint/endpoint.h"

STATE_NUMBERS(used_links, "used"); /* by a link's id: when it was used */

extern const struct endpoint action_endpoints[];

#endif
