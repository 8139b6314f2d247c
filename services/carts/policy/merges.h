/*
 * merges.h: which carts turned out to be one: folded from cart.state by services that still hold a decision about the separate ones
 *
 * A cart's row names what was merged into it, but a decision carries the row as it was then: a cart may have been merged since.
 */
#ifndef CARTS_POLICY_MERGES_H
#define CARTS_POLICY_MERGES_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

void merges_remember(struct state *state, const struct message_meta *said, const CartState *cart);

enum { MERGES_MOST = 4, MERGES_ID_MAX = 72 }; /* CartState.merged_from, proto/cart.options */

struct merges {
	bool away; /* it was merged into another cart, whose chase goes on instead of this one's */
	int count; /* carts that were merged into this one */
	char from[MERGES_MOST][MERGES_ID_MAX];
};

/* By the newest row that was folded; nothing is merged as far as is known: all zero. */
struct merges merges_of(const struct state *state, const char *shop, const char *cart_id);

#endif
