/* gateway.h: the service's table */
#ifndef PLATFORM_GATEWAY_GATEWAY_H
#define PLATFORM_GATEWAY_GATEWAY_H

#include "bus/actor/service.h"

extern const struct service gateway;

#endif
