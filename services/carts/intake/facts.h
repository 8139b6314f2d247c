/* facts.h: how intake publishes its decisions: rows, timers, audits */
#ifndef CARTS_INTAKE_FACTS_H
#define CARTS_INTAKE_FACTS_H

#include "services/carts/intake/cart.h"
#include "services/carts/intake/rows.h"

/* Raises the row's version and says the row. */
void say_row(struct turn *turn, CartState *row);

/* Sets the timer of an open cart, or cancels it. */
void say_timer(const struct state *state, struct turn *turn, const CartState *row);

/* Sets the cart's timer to now, with the data of the timer that the action names. */
void say_look_now(struct turn *turn, const CartState *row, const AdminAction *action);

struct note {
	const char *action, *who, *grounds;     /* who: NULL means the system */
	const CartState *before;                /* NULL: there was none */
	const char *before_words, *after_words; /* words instead of the rows; NULL: the rows */
};
void say_audit(struct turn *turn, const CartState *row, const struct note *note);

/*
 * Chooses the permanent id of a new cart: the first of its ids; if another cart has that id, with its kind
 * added.
 */
void choose_cart_id(const struct state *state, const char *shop, const CartIds *ids, char ret[CART_ID_MAX]);

/*
 * Gets the row of these carts. Several carts are merged into one: the losers are said here, and the caller
 * must say the winner. Returns how many rows were merged.
 */
int gather_rows(const struct state *state, struct turn *turn, char cart_ids[ROWS_MOST][CART_ID_MAX], int count,
	CartState *ret_row);

#endif
