/* waiter.h: the four moves, as a service */
#ifndef CARTS_WAITER_WAITER_H
#define CARTS_WAITER_WAITER_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

extern const struct service waiter;
extern const struct remembers waiter_remembers[]; /* its folds, for who asks waiter_plan without deciding */

struct plan; /* services/carts/policy/plan.h */

/*
 * Predicts when the next mail of this cart is sent, from the waiter's state, without deciding anything.
 * `wake` and `due_us` belong to the cart's timer. false: the timer belongs to an older state of the cart and
 * has no effect.
 */
bool waiter_plan(const struct state *state, const char *shop, const CartWake *wake, int64_t due_us, int64_t now_us,
	struct plan *ret);

#endif
