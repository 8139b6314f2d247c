/*
 * cart_rows.h: the carts, and which of them turned out to be one, as a service has folded them from cart.state
 */
#ifndef CARTS_POLICY_CART_ROWS_H
#define CARTS_POLICY_CART_ROWS_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

STATE_TABLE(cart_rows, "cart", CartState); /* by the cart's id */

/* Part of a fold. false: a newer state of this cart is known, and nothing was changed. */
bool cart_rows_remember(struct state *state, const struct message_meta *said, const CartState *cart);

/*
 * Which carts turned out to be one: folded from cart.state by services that still hold a decision about the separate ones
 *
 * A cart's row names what was merged into it, but a decision carries the row as it was then: a cart may have been merged since.
 */

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
