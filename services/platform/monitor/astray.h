/*
 * astray.h: open carts that cannot be mailed, because the link back to their basket does not lead to the shop
 */
#ifndef PLATFORM_MONITOR_ASTRAY_H
#define PLATFORM_MONITOR_ASTRAY_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/cart_topics.h"

void astray_remember(struct state *state, const struct message_meta *said, const CartState *cart); /* a fold */

/* Open carts with an address, without test carts, by the shop's present configuration. */
struct astray {
	uint32_t foreign;    /* their links lead to a host that is not the shop's */
	uint32_t unfit;      /* they have had no usable link for half an hour */
	char host[256];      /* the host of one foreign link; "": that link has a user name or no host */
	char foreign_id[72]; /* its cart id */
	char unfit_id[72];
};
/* All zero while the shop's configuration is not known. */
struct astray astray_of(const struct state *state, const char *shop, int64_t now_us);

/* Calls each() once for each shop that ever had such a cart. */
void astray_each_shop(const struct state *state, void (*each)(const char *shop, void *context), void *context);

#endif
