/*
 * astray.c: open carts that cannot be mailed, because the link back to their basket leads nowhere that is the shop's
 *
 * Owns:      the tables astray (shop, cart id -> struct astray_row) and astray.shop (shop -> 1: it had such a cart).
 * Promises:  a cart is kept when its link did not lead to the shop as the shop was configured then, and judged anew at each look: a host
 *            that is named in shop.conf ends the matter at once. Of a link only the host is kept.
 * Read next: check.c, services/carts/policy/way_back.h
 */
#include "services/platform/monitor/astray.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/carts/policy/way_back.h"
#include "services/kit/documents/docs.h"
#include <string.h>

/* A storefront may tell of a cart before it has a link for it. */
#define LINK_WITHIN_US (30 * US_PER_MINUTE)

struct astray_row {
	int64_t abandoned_us;
	struct way_back way;
};
STATE_STRUCTS(astray, "astray", struct astray_row);
STATE_NUMBERS(astray_shop, "astray.shop");

static bool would_be_mailed(const CartState *cart)
{
	return cart->status == CART_OPEN && !*cart->merged_into && *cart->ids.email_hash && !cart->test;
}

void astray_remember(struct state *state, const struct message_meta *said, const CartState *cart)
{
	const struct shop *shop = docs_shop(state, said->shop);
	const char *cart_id = cart->ids.cart_id;
	struct astray_row row;

	memset(&row, 0, sizeof(row)); /* rows are compared as bytes */
	row.abandoned_us = cart->abandoned_us;
	way_back_of(cart, &row.way);
	if (would_be_mailed(cart) && (!shop || way_back_fault(shop, &row.way))) {
		STATE_PUT(state, astray, said->shop, cart_id, &row);
		STATE_PUT_NUMBER(state, astray_shop, said->shop, "", 1);
	} else if (STATE_HAS(state, astray, said->shop, cart_id)) {
		STATE_DELETE(state, astray, said->shop, cart_id);
	}
}

struct counting {
	const struct shop *shop;
	int64_t now_us;
	struct astray found;
};

static bool count_row(const char *shop, const char *cart_id, const struct astray_row *row, void *context)
{
	struct counting *counting = context;
	struct astray *found = &counting->found;

	(void)shop;
	if (!way_back_fault(counting->shop, &row->way))
		return true;
	if (row->way.kind == WAY_BACK_LEADS && found->foreign++ == 0) {
		TEXT_COPY(found->host, row->way.host);
		TEXT_COPY(found->foreign_id, cart_id);
	} else if (row->way.kind != WAY_BACK_LEADS && counting->now_us - row->abandoned_us >= LINK_WITHIN_US &&
		found->unfit++ == 0) {
		TEXT_COPY(found->unfit_id, cart_id);
	}
	return true;
}

struct astray astray_of(const struct state *state, const char *shop, int64_t now_us)
{
	struct counting counting = { .shop = docs_shop(state, shop), .now_us = now_us };

	if (counting.shop)
		STATE_EACH(state, astray, shop, NULL, count_row, &counting);
	return counting.found;
}

void astray_each_shop(const struct state *state, void (*each)(const char *shop, void *context), void *context)
{
	STATE_EACH_SHOP(state, astray_shop, each, context);
}
