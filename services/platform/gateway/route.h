/* route.h: finds the endpoint of a method and a path */
#ifndef PLATFORM_GATEWAY_ROUTE_H
#define PLATFORM_GATEWAY_ROUTE_H

#include "services/kit/endpoint/endpoint.h"

/*
 * Sets the endpoint, the names, `allow` and `cors` of the submission. `tables` ends with NULL. The path is
 * compared unchanged. Names need no escapes, so a path with `%` is unknown.
 */
void route_find(const struct endpoint *const *tables, const char *method, const char *path, struct submission *ret);

/*
 * Checks the tables. NULL: each row is valid, and no two rows take the same request. Otherwise the error,
 * with the path.
 */
const char *route_check(const struct endpoint *const *tables);

bool route_any_file(const struct endpoint *const *tables); /* does any row take its body as a file? */

/* The addresses that an answer to an unknown path names, as "/hooks/SHOP/shopify, /hooks/SHOP/woocommerce or /hooks/SHOP/cart". */
void route_name_all(const struct endpoint *const *tables, struct buffer *ret);

#endif
