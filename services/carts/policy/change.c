/*
 * change.c: reads from an event its cart, the shopper's part in it, and its time
 *
 * Promises:  pure; the digest is the same for the same goods, in every topic of a platform and in any order.
 * Read next: stops.c, services/carts/intake/upsert.c
 */
#include "services/carts/policy/change.h"
#include "bus/base/bytes.h"
#include "bus/base/text.h"
#include <stdio.h>
#include <string.h>

static int64_t plausible(int64_t platform_us, int64_t heard_us)
{
	return platform_us > 0 && (heard_us == 0 || platform_us <= heard_us) ? platform_us : heard_us;
}

int64_t change_us(const CartChanged *changed)
{
	return plausible(changed->changed_us, changed->heard_us);
}

int64_t purchase_us(const CartCheckout *checkout)
{
	return plausible(checkout->bought_us, checkout->heard_us);
}

bool checkout_proves_purchase(const CartCheckout *checkout)
{
	return checkout->kind == CHECKOUT_BOUGHT || checkout->was_bought;
}

int64_t checkout_ordered_us(const CartCheckout *checkout)
{
	if (checkout->kind == CHECKOUT_BOUGHT)
		return purchase_us(checkout);
	return checkout->ordered_us > 0 ? plausible(checkout->ordered_us, checkout->heard_us) : 0;
}

int64_t consent_us(const CartState *cart)
{
	if (cart->consent == CONSENT_UNKNOWN)
		return INT64_MIN;
	return cart->consent_us ? cart->consent_us : cart->changed_us; /* 0: a release before 0.3 wrote the row */
}

bool change_empties(const CartChanged *changed)
{
	return changed->has_items && changed->items_count == 0 && changed->items_left_out == 0;
}

static const char *identity(const Item *item)
{
	if (*item->variant_id)
		return item->variant_id;
	if (*item->sku)
		return item->sku;
	return *item->product_id ? item->product_id : item->title;
}

/* The digest is a sum, so that the order in which a platform lists items does not matter. */
uint64_t change_items_digest(const Item *items, int count, uint32_t left_out)
{
	uint64_t sum = left_out;

	for (int i = 0; i < count; i++) {
		char line[256];

		snprintf(line, sizeof(line), "%u %s", (unsigned)items[i].quantity, identity(&items[i]));
		sum += text_hash(bytes_of(line));
	}
	return sum ? sum : 1;
}

/*
 * The cart of an event
 *
 * Promises:  pure; a name carries its kind, so a checkout id never equals an order id of the same digits.
 */

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
