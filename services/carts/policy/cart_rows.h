/*
 * cart_rows.h: the carts, as a service has folded them from cart.state
 */
#ifndef CARTS_POLICY_CART_ROWS_H
#define CARTS_POLICY_CART_ROWS_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

STATE_TABLE(cart_rows, "cart", CartState); /* by the cart's id */

/* Part of a fold. false: a newer state of this cart is known, and nothing was changed. */
bool cart_rows_remember(struct state *state, const struct message_meta *said, const CartState *cart);

#endif
