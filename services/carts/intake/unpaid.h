/*
 * unpaid.h: orders that are no purchase, because they are not paid yet or are ignored; and unknown payment
 * statuses
 */
#ifndef CARTS_INTAKE_UNPAID_H
#define CARTS_INTAKE_UNPAID_H

#include "services/carts/intake/cart.h"
#include "services/carts/policy/purchases.h"

/* Notes the order at its cart; reminders go on. */
enum verdict hear_unpaid(
	const struct state *state, const CartCheckout *checkout, enum payment_meaning meaning, struct turn *turn);

/*
 * An unknown status counts as bought. An audit reports it the first time that an order with it buys a cart.
 */
void say_unknown_status(
	const struct state *state, struct turn *turn, const CartState *row, const struct payment *payment);
void unpaid_remember(struct state *state, const char *shop, const CartState *row); /* part of the fold of cart.state */

#endif
