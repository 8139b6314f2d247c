/* waiter.h: the four moves, as a service */
#ifndef CARTS_WAITER_WAITER_H
#define CARTS_WAITER_WAITER_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

extern const struct service waiter;

struct plan; /* services/carts/policy/plan.h */

/*
 * When the next mail of this cart goes, by what the waiter knows, without deciding anything. `wake` and `due_us`: of the cart's timer.
 * false: the timer is an older one's, and wakes nobody.
 */
bool waiter_plan(const struct state *state, const char *shop, const CartWake *wake, int64_t due_us, int64_t now_us,
	struct plan *ret);

#endif
