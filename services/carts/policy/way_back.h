/*
 * way_back.h: where a mail about a cart would lead its shopper, and whether the shop lets it
 *
 * A reminder carries the recovery URL that the storefront gave. A cart without one, with one that is no clean https address, or with one
 * whose host is not the shop's is never mailed. Deciding, showing and counting use the same judgement.
 */
#ifndef CARTS_POLICY_WAY_BACK_H
#define CARTS_POLICY_WAY_BACK_H

#include "cart.pb.h"
#include "services/kit/http/url.h"
#include "services/kit/shop/shop.h"

enum way_back_kind { WAY_BACK_LEADS, WAY_BACK_MISSING, WAY_BACK_UNCLEAN };

/* What the judgement needs of a cart, and nothing of the URL that names a basket: a row for a service's state (bus/actor/state.h). */
struct way_back {
	uint32_t kind;            /* enum way_back_kind */
	uint32_t platform;        /* of the cart: Platform */
	char host[URL_HOST_ROOM]; /* of WAY_BACK_LEADS; "": its authority names a user, or is no host */
};

/* Zeroed as a whole and filled. */
void way_back_of(const CartState *cart, struct way_back *ret);
/* Why it leads nowhere, as a constant; NULL: it leads to the shop. */
const char *way_back_fault(const struct shop *shop, const struct way_back *way);

#endif
