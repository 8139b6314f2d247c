/*
 * health.h: GET /healthz: whether the gateway can take something in now
 */
#ifndef PLATFORM_GATEWAY_HEALTH_H
#define PLATFORM_GATEWAY_HEALTH_H

#include "services/kit/endpoint/endpoint.h"

extern const struct endpoint health_endpoints[];

#endif
