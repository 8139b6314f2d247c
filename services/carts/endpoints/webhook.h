/*
 * webhook.h: a storefront's webhook: proven, read, said to the bus
 */
#ifndef CARTS_ENDPOINTS_WEBHOOK_H
#define CARTS_ENDPOINTS_WEBHOOK_H

#include "services/kit/endpoint/endpoint.h"

extern const struct endpoint carts_webhook_endpoints[];

#endif
