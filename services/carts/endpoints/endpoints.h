/* endpoints.h: the endpoints that the carts register with the gateway (services/kit/endpoint/endpoint.h) */
#ifndef CARTS_ENDPOINTS_ENDPOINTS_H
#define CARTS_ENDPOINTS_ENDPOINTS_H

#include "services/kit/endpoint/endpoint.h"

/* a storefront's webhook: proven, read, and published */
extern const struct endpoint carts_webhook_endpoints[];
extern const struct endpoint
	carts_return_endpoints[]; /* GET /r/<token>?to=<URL>: the way from a mail back to the basket */

#endif
