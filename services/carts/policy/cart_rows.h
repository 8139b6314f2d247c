/* cart_rows.h: the carts and their merges, as a service has folded them from cart.state */
#ifndef CARTS_POLICY_CART_ROWS_H
#define CARTS_POLICY_CART_ROWS_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

STATE_TABLE(cart_rows, "cart", CartState); /* by the cart's id */

/* Part of a fold. false: a newer state of this cart is known, and nothing was changed. */
bool cart_rows_remember(struct state *state, const struct message_meta *said, const CartState *cart);

/*
 * Merged carts, for services that still have a decision about the separate carts
 *
 * A cart's row names the carts that were merged into it. But a decision has the row of its time, and the cart
 * may have been merged since.
 */

void merges_remember(struct state *state, const struct message_meta *said, const CartState *cart);

enum { MERGES_MOST = 4, MERGES_ID_MAX = 72 }; /* CartState.merged_from, proto/cart.options */

struct merges {
	bool away; /* it was merged into another cart, which gets the reminders instead */
	int count; /* carts that were merged into this one */
	char from[MERGES_MOST][MERGES_ID_MAX];
};

/* From the newest folded row; all zero: no merge is known. */
struct merges merges_of(const struct state *state, const char *shop, const char *cart_id);

#endif
