/*
 * purchase.c: applies a cart.checkout to a row, and prints a row in one line for audits
 *
 * Promises:  pure. A purchase marks a row of any status as bought, once; the first order that bought a cart
 *            stays its order. A cancellation or refund counts only for the order that it names, even if it
 *            comes before the purchase.
 * Read next: cart.h
 */
#include "bus/base/text.h"
#include "services/carts/intake/cart.h"
#include "services/carts/policy/change.h"
#include "services/kit/money/money.h"
#include <stdio.h>
#include <time.h>

static bool is_other_order(const CartState *row, const CartCheckout *checkout)
{
	return *row->order_id && *checkout->ids.order_id && strcmp(row->order_id, checkout->ids.order_id) != 0;
}

static void take_back(CartState *row, const CartCheckout *checkout)
{
	if (is_other_order(row, checkout))
		return;
	if (!*row->order_id)
		TEXT_COPY(row->order_id, checkout->ids.order_id);
	if (checkout->kind == CHECKOUT_CANCELLED && !row->order_cancelled_us)
		row->order_cancelled_us = purchase_us(checkout);
	if (checkout->refunded_minor > row->order_refunded_minor)
		row->order_refunded_minor = checkout->refunded_minor;
}

bool cart_bought(CartState *row, const CartCheckout *checkout, bool by_id)
{
	const CartState before = *row;

	if (by_id) /* an order that was found by the address alone may have ids of another cart */
		cart_learn_ids(row, &checkout->ids, false);
	if (checkout_proves_purchase(checkout) && row->status != CART_BOUGHT) {
		int64_t ordered_us = checkout_ordered_us(checkout);
		row->status = CART_BOUGHT;
		row->closed_reason = CLOSED_NOT;
		row->closed_us = 0;
		row->bought_us = ordered_us ? ordered_us : purchase_us(checkout);
		if (is_other_order(row, checkout))
			row->order_refunded_minor = row->order_cancelled_us = 0;
		TEXT_COPY(row->payment_status, checkout->payment_status);
		TEXT_COPY(row->order_id, checkout->ids.order_id);
		row->order_total_minor = checkout->total_minor;
		TEXT_COPY(row->order_currency, checkout->currency);
	}
	if (checkout->kind != CHECKOUT_BOUGHT || checkout->refunded_minor > 0)
		take_back(row, checkout);
	return !cart_same(&before, row);
}

void cart_bought_with(CartState *row, const CartState *by)
{
	row->status = CART_BOUGHT;
	row->closed_reason = CLOSED_NOT;
	row->closed_us = 0;
	row->bought_us = by->bought_us;
	row->order_total_minor = by->order_total_minor;
	row->order_refunded_minor = by->order_refunded_minor;
	row->order_cancelled_us = by->order_cancelled_us;
	TEXT_COPY(row->payment_status, by->payment_status);
	TEXT_COPY(row->order_id, by->order_id);
	TEXT_COPY(row->order_currency, by->order_currency);
}

const char *cart_time(int64_t us, char ret[32])
{
	time_t seconds = (time_t)(us / US_PER_S);
	struct tm utc;

	gmtime_r(&seconds, &utc);
	if (strftime(ret, 32, "%Y-%m-%d %H:%M UTC", &utc) == 0)
		*ret = '\0';
	return ret;
}

static const char *status_name(const CartState *row)
{
	static const char *const closed[] = { [CLOSED_NOT] = "closed",
		[CLOSED_GAVE_UP] = "given up",
		[CLOSED_NO_ADDRESS] = "closed without an address",
		[CLOSED_EMPTIED] = "emptied",
		[CLOSED_MERGED] = "merged",
		[CLOSED_OPTED_OUT] = "closed after an opt-out",
		[CLOSED_BY_OWNER] = "closed by the owner",
		[CLOSED_TOO_LATE] = "closed as too late",
		[CLOSED_NOT_CHASED] = "not chased",
		[CLOSED_NEWER_CART] = "left for a newer cart" };

	switch (row->status) {
	case CART_OPEN:
		return cart_has_address(row)      ? "open"
			: row->ids.email_unusable ? "open with an address that cannot be mailed"
						  : "open without an address";
	case CART_BOUGHT:
		return "bought";
	case CART_CLOSED:
		return closed[row->closed_reason];
	}
	return "closed";
}

const char *cart_line(const CartState *row, char ret[CART_LINE_MAX])
{
	char total[40] = "no total", abandoned[32];

	if (*row->currency) {
		money_plain(row->total_minor, row->currency, total, 32);
		snprintf(total + strlen(total), sizeof(total) - strlen(total), " %s", row->currency);
	}
	cart_time(row->abandoned_us, abandoned);
	snprintf(ret, CART_LINE_MAX, "%s, %u item%s, %s, abandoned %s, revision %llu", status_name(row),
		(unsigned)(row->items_count + row->items_left_out),
		row->items_count + row->items_left_out == 1 ? "" : "s", total, abandoned,
		(unsigned long long)row->revision);
	return ret;
}
