/* gateway.h: the service's table */
#ifndef GATEWAY_GATEWAY_H
#define GATEWAY_GATEWAY_H

#include "bus/actor/service.h"

extern const struct service gateway;

#endif
