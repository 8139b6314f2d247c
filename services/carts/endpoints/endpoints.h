/*
 * endpoints.h: the rows that the carts bring to the gateway (services/kit/endpoint/endpoint.h)
 */
#ifndef CARTS_ENDPOINTS_ENDPOINTS_H
#define CARTS_ENDPOINTS_ENDPOINTS_H

#include "services/kit/endpoint/endpoint.h"

extern const struct endpoint carts_webhook_endpoints[]; /* a storefront's webhook: proven, read, said to the bus */
extern const struct endpoint
	carts_return_endpoints[]; /* GET /r/<token>?to=<URL>: the way from a mail back to the basket */

#endif
