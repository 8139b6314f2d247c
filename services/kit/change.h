/*
 * change.h: what of a cart.changed or cart.checkout the shopper did, and when
 *
 * intake restarts the clock by this, and stops.c holds a mail back by the same, so the two never disagree about what counts.
 * The shopper's doing: other items or quantities, another total or currency, an address, saving the cart. Everything else
 * (names, attributes, consent, links, prices of one item) is kept but restarts nothing: shops' own programs change those too.
 */
#ifndef KIT_CHANGE_H
#define KIT_CHANGE_H

#include "cart.pb.h"
#include <stdbool.h>
#include <stdint.h>

/*
 * The platform's time; ours when it gave none or one in our future. However old it is: a late delivery is as old as it says.
 * Both are what order events of one cart, and what the waits count from.
 */
int64_t change_us(const CartChanged *changed);
int64_t purchase_us(const CartCheckout *checkout);

bool change_empties(const CartChanged *changed);
/* Of what lies in the cart, in any order; never 0. */
uint64_t change_items_digest(const Item *items, int count, uint32_t left_out);

#endif
