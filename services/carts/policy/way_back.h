/*
 * way_back.h: where the link in a mail about a cart leads, and whether that is allowed
 *
 * A reminder has the storefront's recovery URL. A cart is never mailed if it has none, if it is no clean
 * https address, or if its host is not the shop's. Decisions, displays and counts all use this check.
 */
#ifndef CARTS_POLICY_WAY_BACK_H
#define CARTS_POLICY_WAY_BACK_H

#include "cart.pb.h"
#include "services/kit/http/url.h"
#include "services/kit/shop/shop.h"

enum way_back_kind { WAY_BACK_LEADS, WAY_BACK_MISSING, WAY_BACK_UNCLEAN };

/*
 * The data of a cart for this check, without the part of the URL that names a basket: a row for a service's
 * state (bus/actor/state.h).
 */
struct way_back {
	uint32_t kind;            /* enum way_back_kind */
	uint32_t platform;        /* of the cart: Platform */
	char host[URL_HOST_ROOM]; /* of WAY_BACK_LEADS; "": the URL has a user's name or no valid host */
};

/* Zeroes and fills *ret. */
void way_back_of(const CartState *cart, struct way_back *ret);
/* Why it cannot be used, as a constant; NULL: it leads to the shop. */
const char *way_back_fault(const struct shop *shop, const struct way_back *way);

#endif
