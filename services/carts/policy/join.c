/*
 * join.c: which cart an event is about
 *
 * Promises:  pure; a name carries its kind, so a checkout id never meets an order id of the same digits.
 * Read next: stops.c (ties between names), services/carts/intake/rows.c (rows by name)
 */
#include "services/carts/policy/join.h"
#include "bus/base/text.h"
#include <stdio.h>
#include <string.h>

static bool same(const char *a, const char *b)
{
	return *a && strcmp(a, b) == 0;
}

bool join_same_cart(const CartIds *a, const CartIds *b)
{
	return same(a->cart_id, b->cart_id) || same(a->cart_token, b->cart_token) ||
		same(a->checkout_token, b->checkout_token) || same(a->checkout_id, b->checkout_id) ||
		same(a->order_id, b->order_id);
}

int join_names(const CartIds *ids, char ret[JOIN_NAMES_MAX][80])
{
	const struct {
		const char *kind, *id;
	} all[JOIN_NAMES_MAX] = { { "id", ids->cart_id }, { "ct", ids->cart_token }, { "kt", ids->checkout_token },
		{ "ci", ids->checkout_id }, { "oi", ids->order_id } };
	int count = 0;

	for (int i = 0; i < JOIN_NAMES_MAX; i++) {
		if (*all[i].id)
			snprintf(ret[count++], 80, "%s:%s", all[i].kind, all[i].id);
	}
	return count;
}
