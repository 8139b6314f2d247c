/* explanation.h: explains a move in one sentence, with the numbers of the decision */
#ifndef CARTS_WAITER_EXPLANATION_H
#define CARTS_WAITER_EXPLANATION_H

#include "services/carts/policy/decision.h"

struct choice {          /* the source of the waits */
	bool overridden; /* the cart has waits of its own */
	struct rules_choice rules;
};

enum { EXPLANATION_MAX = 400 };
const char *explanation_line(const struct decision_facts *facts, const struct decision *decision,
	const struct choice *choice, const CartState *cart, char ret[EXPLANATION_MAX]);

/* The audit's word: "first_reminder", "would_send_first", "skipped" ... */
const char *explanation_action(const struct decision *decision);

#endif
