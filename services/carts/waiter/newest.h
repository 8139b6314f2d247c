/* newest.h: a shopper with several carts is chased for the newest of them */
#ifndef CARTS_WAITER_NEWEST_H
#define CARTS_WAITER_NEWEST_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

void newest_remember(struct state *state, const struct message_meta *said, const CartState *cart);

/* The id of the newest cart of the same address or customer that is open or bought and newer than this one; false: this is the newest. */
bool newest_other(const struct state *state, const char *shop, const CartState *cart, char ret_cart_id[72]);

#endif
