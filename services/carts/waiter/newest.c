/*
 * newest.c: which carts belong to one shopper, and which of them is the newest
 *
 * Owns:      the table of.shopper (shopper/cart id -> when the cart was left): one row of each row of a cart, so that it is forgotten
 *            with it. A shopper is an address ("to:hash") and a customer ("cu:id").
 * Promises:  one that was emptied, merged away or never chased does not count: the one before it is chased then. The order in which
 *            rows are folded changes nothing.
 * Fails by:  nothing; of more than OTHERS_MOST newer carts of one shopper the first in order of their ids are looked at.
 * Read next: waiter.c
 */
#include "services/carts/waiter/newest.h"
#include "bus/base/text.h"
#include "services/carts/policy/cart_rows.h"
#include <stdio.h>

STATE_NUMBERS(of_shopper, "of.shopper");

enum { SHOPPERS = 2, SHOPPER_MAX = 64, CART_ID_MAX = 72, OTHERS_MOST = 32 };

static int shoppers_of(const CartState *cart, char ret[SHOPPERS][SHOPPER_MAX])
{
	int count = 0;

	if (*cart->ids.email_hash)
		snprintf(ret[count++], SHOPPER_MAX, "to:%s", cart->ids.email_hash);
	if (*cart->ids.customer_id)
		snprintf(ret[count++], SHOPPER_MAX, "cu:%s", cart->ids.customer_id);
	return count;
}

static bool is_newer(int64_t left_us, const char *cart_id, int64_t than_us, const char *than_id)
{
	return left_us != than_us ? left_us > than_us : strcmp(cart_id, than_id) > 0;
}

void newest_remember(struct state *state, const struct message_meta *said, const CartState *cart)
{
	char shoppers[SHOPPERS][SHOPPER_MAX], key[SHOPPER_MAX + CART_ID_MAX];
	int count = shoppers_of(cart, shoppers);

	for (int i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "%s/%s", shoppers[i], cart->ids.cart_id);
		STATE_PUT_NUMBER(state, of_shopper, said->shop, key, (uint64_t)cart->abandoned_us);
	}
}

/* ---- the question ---- */

struct others {
	const CartState *of;
	int count;
	char cart_ids[OTHERS_MOST][CART_ID_MAX];
};

static bool note_newer(const char *shop, const char *key, uint64_t left_us, void *context)
{
	struct others *others = context;
	const char *slash = strchr(key, '/');

	(void)shop;
	if (slash && is_newer((int64_t)left_us, slash + 1, others->of->abandoned_us, others->of->ids.cart_id))
		text_copy(others->cart_ids[others->count++], CART_ID_MAX, slash + 1);
	return others->count < OTHERS_MOST;
}

/* What takes the place of an older cart: one that is chased, was, or was bought. */
static bool counts(const CartState *cart)
{
	switch (cart->closed_reason) {
	case CLOSED_NOT:
	case CLOSED_GAVE_UP:
	case CLOSED_OPTED_OUT:
	case CLOSED_BY_OWNER:
		return true;
	case CLOSED_NO_ADDRESS:
	case CLOSED_EMPTIED:
	case CLOSED_MERGED:
	case CLOSED_TOO_LATE:
	case CLOSED_NOT_CHASED:
	case CLOSED_NEWER_CART:
		break;
	}
	return false;
}

static bool is_of(const CartState *cart, const char *shopper)
{
	char shoppers[SHOPPERS][SHOPPER_MAX];
	int count = shoppers_of(cart, shoppers);

	for (int i = 0; i < count; i++)
		if (strcmp(shoppers[i], shopper) == 0)
			return true;
	return false;
}

/* Its address may be another by now, and what became of it is not in the list. */
static bool is_rival(const struct state *state, const char *shop, const char *shopper, const char *cart_id,
	const CartState *of, int64_t *ret_left_us)
{
	CartState other;

	if (strcmp(cart_id, of->ids.cart_id) == 0 || !STATE_GET(state, cart_rows, shop, cart_id, &other) ||
		!counts(&other) || !is_of(&other, shopper))
		return false;
	*ret_left_us = other.abandoned_us;
	return is_newer(other.abandoned_us, cart_id, of->abandoned_us, of->ids.cart_id);
}

/* The newest of this shopper's others, if it is newer. */
static bool search(
	const struct state *state, const char *shop, const char *shopper, const CartState *cart, char ret[CART_ID_MAX])
{
	struct others others = { .of = cart };
	char prefix[SHOPPER_MAX + 1];
	int64_t newest_us = INT64_MIN, left_us = 0;

	snprintf(prefix, sizeof(prefix), "%s/", shopper);
	STATE_EACH(state, of_shopper, shop, prefix, note_newer, &others);
	for (int i = 0; i < others.count; i++) {
		if (!is_rival(state, shop, shopper, others.cart_ids[i], cart, &left_us) || left_us <= newest_us)
			continue;
		newest_us = left_us;
		text_copy(ret, CART_ID_MAX, others.cart_ids[i]);
	}
	return newest_us > INT64_MIN;
}

bool newest_other(const struct state *state, const char *shop, const CartState *cart, char ret_cart_id[72])
{
	char shoppers[SHOPPERS][SHOPPER_MAX];
	int count = shoppers_of(cart, shoppers);

	for (int i = 0; i < count; i++)
		if (search(state, shop, shoppers[i], cart, ret_cart_id))
			return true;
	return false;
}
