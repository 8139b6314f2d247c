/*
 * change.h: the cart of an event, the shopper's part in it, and its time
 *
 * intake restarts the wait by these rules, and stops.c holds mails back by the same rules, so both always
 * agree. A shopper's action is: other items or quantities, another total or currency, an address, saving the
 * cart. All other changes (names, attributes, consent, links, prices of one item) are kept but restart
 * nothing, because shops' own programs make them too.
 */
#ifndef CARTS_POLICY_CHANGE_H
#define CARTS_POLICY_CHANGE_H

#include "bus/base/clock.h"
#include "cart.pb.h"
#include <stdbool.h>
#include <stdint.h>

/*
 * The platform's time; our time if it gave none, or one in our future. The age does not matter: a late
 * delivery keeps its old time. These times order the events of one cart, and the waits count from them.
 */
int64_t change_us(const CartChanged *changed);
int64_t purchase_us(const CartCheckout *checkout);

/*
 * Does the body prove that something was bought? An order does; so does a refunded order, and an order that
 * was cancelled after it was paid, because its own webhook may be late or lost. checkout_ordered_us: when it
 * was ordered; 0: the body does not tell.
 */
bool checkout_proves_purchase(const CartCheckout *checkout);
int64_t checkout_ordered_us(const CartCheckout *checkout);

/*
 * How far the clocks of two machines of one shop may differ; signed webhooks have the same limit. An order
 * that shares only the address with a cart may belong to the cart if its time is at most this much before the
 * cart's last change. Then it stops the cart's mails.
 */
#define CLOCKS_DIFFER_US (5 * US_PER_MINUTE)

/*
 * The platform's time of the change that set the cart's consent; INT64_MIN: none has. A no counts against an
 * older yes even if a newer change came in between that says nothing about consent.
 */
int64_t consent_us(const CartState *cart);

bool change_empties(const CartChanged *changed);
/* A digest of the items in the cart, independent of their order; never 0. */
uint64_t change_items_digest(const Item *items, int count, uint32_t left_out);

/*
 * The cart of an event: all services use this one pure function
 *
 * Two sets of ids belong to the same cart if they share a cart id, cart token, checkout token, checkout id or
 * order id. Addresses and customer ids alone do not join carts.
 */

bool join_same_cart(const CartIds *a, const CartIds *b);

/* The ids that join, as typed names ("ct:abc", "kt:def", "ci:9", "oi:7", "id:x"), for index rows. Returns how many; at most 5. */
enum { JOIN_NAMES_MAX = 5 };
int join_names(const CartIds *ids, char ret[JOIN_NAMES_MAX][80]);

#endif
