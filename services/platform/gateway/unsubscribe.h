/*
 * unsubscribe.h: the link at the foot of each mail
 */
#ifndef PLATFORM_GATEWAY_UNSUBSCRIBE_H
#define PLATFORM_GATEWAY_UNSUBSCRIBE_H

#include "services/kit/endpoint/endpoint.h"

extern const struct endpoint unsubscribe_endpoints[];

#endif
