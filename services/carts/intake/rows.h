/* rows.h: the canonical carts as intake has folded them, found by any of their ids */
#ifndef CARTS_INTAKE_ROWS_H
#define CARTS_INTAKE_ROWS_H

#include "bus/actor/turn.h"
#include "proto/cart_topics.h"

enum { ROWS_MOST = 8, CART_ID_MAX = 72 };

void rows_remember(
	struct state *state, const struct message_meta *said, const CartState *row); /* the fold of cart.state */

/* For a merged cart it gives the cart that it was merged into. false: the cart was never seen. */
bool rows_get(const struct state *state, const char *shop, const char *cart_id, CartState *ret_row);

/* The distinct carts that share an id with these; returns how many. */
int rows_find(
	const struct state *state, const char *shop, const CartIds *ids, char ret_cart_ids[ROWS_MOST][CART_ID_MAX]);

/* Calls each() for every open cart that was ever given this address. each() must not write. */
typedef bool rows_each_fn(const char *cart_id, void *context);
void rows_of_address(
	const struct state *state, const char *shop, const char *address_hash, rows_each_fn *each, void *context);

/* Finds a cart that was bought under this address at at_us or later; false: there is none. */
bool rows_bought_since(
	const struct state *state, const char *shop, const char *address_hash, int64_t at_us, CartState *ret_row);

#endif
