/* look.h: everything one decision is made on */
#ifndef CARTS_WAITER_LOOK_H
#define CARTS_WAITER_LOOK_H

#include "bus/actor/service.h"
#include "services/carts/waiter/grounds.h"

struct look {
	const char *shop_name;
	CartState cart;
	struct move_facts facts;
	struct choice choice;
	char newer_cart[72];
	uint32_t rules_version;
};

/* shop_name and cart are there; all else is read from the state. */
void look_gather(const struct state *state, struct look *look, const CartWake *wake, int64_t now_us);

#endif
