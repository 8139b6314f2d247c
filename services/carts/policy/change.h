/*
 * change.h: which cart an event is about, what of it the shopper did, and when
 *
 * intake restarts the clock by this, and stops.c holds a mail back by the same, so the two never disagree about what counts.
 * The shopper's doing: other items or quantities, another total or currency, an address, saving the cart. Everything else
 * (names, attributes, consent, links, prices of one item) is kept but restarts nothing: shops' own programs change those too.
 */
#ifndef CARTS_POLICY_CHANGE_H
#define CARTS_POLICY_CHANGE_H

#include "bus/base/clock.h"
#include "platform.pb.h"
#include <stdbool.h>
#include <stdint.h>

/*
 * The platform's time; ours when it gave none or one in our future. However old it is: a late delivery is as old as it says.
 * Both are what order events of one cart, and what the waits count from.
 */
int64_t change_us(const CartChanged *changed);
int64_t purchase_us(const CartCheckout *checkout);

/*
 * Does the body prove that something was bought? An order does, and so does one that money went back of, or that was cancelled after
 * it was paid: its own webhook may be late or lost. When it was ordered; 0: the body does not say.
 */
bool checkout_proves_purchase(const CartCheckout *checkout);
int64_t checkout_ordered_us(const CartCheckout *checkout);

/*
 * How far the clocks of two machines of one shop may be apart: the bound that signed webhooks have as well. An order that shares only
 * the address with a cart, and was stamped this much before the cart's last change or later, may be about that cart: it stops.
 */
#define CLOCKS_DIFFER_US (5 * US_PER_MINUTE)

bool change_empties(const CartChanged *changed);
/* Of what lies in the cart, in any order; never 0. */
uint64_t change_items_digest(const Item *items, int count, uint32_t left_out);

/*
 * Which cart an event is about: every service asks this one pure function
 *
 * Two sets of ids belong to the same cart if they share a cart id, cart token, checkout token, checkout id or order id. Addresses
 * and customer ids alone join nothing.
 */

bool join_same_cart(const CartIds *a, const CartIds *b);

/* The ids that join, as typed names ("ct:abc", "kt:def", "ci:9", "oi:7", "id:x"), for index rows. Returns how many; at most 5. */
enum { JOIN_NAMES_MAX = 5 };
int join_names(const CartIds *ids, char ret[JOIN_NAMES_MAX][80]);

#endif
