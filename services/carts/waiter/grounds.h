/* grounds.h: a move in one sentence, with the numbers it was made on */
#ifndef CARTS_WAITER_GROUNDS_H
#define CARTS_WAITER_GROUNDS_H

#include "services/carts/policy/move.h"

struct choice {          /* where the waits come from */
	bool overridden; /* the cart has waits of its own */
	struct rules_choice rules;
};

enum { GROUNDS_MAX = 400 };
const char *grounds_line(const struct move_facts *facts, const struct move *move, const struct choice *choice,
	const CartState *cart, char ret[GROUNDS_MAX]);

/* The audit's word: "first_reminder", "would_send_first", "skipped" ... */
const char *grounds_action(const struct move *move);

#endif
