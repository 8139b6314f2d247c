/*
 * return_link.h: GET /r/<token>?to=<URL>: the way from a mail back to the basket
 */
#ifndef CARTS_ENDPOINTS_RETURN_LINK_H
#define CARTS_ENDPOINTS_RETURN_LINK_H

#include "services/kit/endpoint/endpoint.h"

extern const struct endpoint carts_return_endpoints[];

#endif
