/*
 * facts.h: how intake says what it decided: rows, timers, audits
 */
#ifndef CARTS_INTAKE_FACTS_H
#define CARTS_INTAKE_FACTS_H

#include "services/carts/intake/cart.h"
#include "services/carts/intake/rows.h"

/* Counts the row's version up; says nothing else. */
void say_row(struct turn *turn, CartState *row);

/* The wake-up of an open cart, or the end of it. */
void say_timer(const struct state *state, struct turn *turn, const CartState *row);

/* Its wake-up now, knowing what the one that the action names knew. */
void say_look_now(struct turn *turn, const CartState *row, const AdminAction *action);

struct note {
	const char *action, *who, *grounds;     /* who NULL: the system */
	const CartState *before;                /* NULL: there was none */
	const char *before_words, *after_words; /* instead of the rows; NULL: the rows */
};
void say_audit(struct turn *turn, const CartState *row, const struct note *note);

/* The id a new cart gets for good: the first one it is known by, told apart by its kind if another cart has that. */
void choose_cart_id(const struct state *state, const char *shop, const CartIds *ids, char ret[CART_ID_MAX]);

/*
 * The row of these carts; if they are several they become one: the losers are said here, the winner is the caller's to say.
 * Returns how many rows went into it.
 */
int gather_rows(const struct state *state, struct turn *turn, char cart_ids[ROWS_MOST][CART_ID_MAX], int count,
	CartState *ret_row);

#endif
