/*
 * unpaid.c: orders that are no purchase (shop.conf [payment], carts/policy/purchases.h)
 *
 * Owns:      the table status (payment status -> 1): the payment statuses with which carts have been bought.
 * Promises:  an order that is not paid, or that the shop ignores, does not stop the reminders. Its ids are
 *            added to the row, so that a later payment finds the cart. The waiter starts the waits again,
 *            because it folds the orders itself.
 * Read next: intake.c, services/carts/waiter/waiter.c
 */
#include "services/carts/intake/unpaid.h"
#include "bus/base/text.h"
#include "services/carts/intake/facts.h"
#include <stdio.h>

STATE_NUMBERS(payment_status, "status");

static void note_order(CartState *row, const CartCheckout *checkout)
{
	cart_learn_ids(row, &checkout->ids, false);
	if (row->status != CART_BOUGHT)
		TEXT_COPY(row->payment_status, checkout->payment_status);
}

static void say_order(struct turn *turn, const CartState *row, const CartState *before, const CartCheckout *checkout,
	enum payment_meaning meaning)
{
	bool not_yet = meaning == PAYMENT_NOT_YET;
	char grounds[200];

	snprintf(grounds, sizeof(grounds), "order %s is %s: %s",
		*checkout->ids.order_id ? checkout->ids.order_id : "(no id)",
		*checkout->payment_status ? checkout->payment_status : "without a status",
		not_yet ? "not paid, so the chase goes on, and its waits count from the order"
			: "that means nothing here, and the chase goes on");
	say_audit(turn, row,
		&(struct note){
			.action = not_yet ? "not_paid" : "order_ignored", .grounds = grounds, .before = before });
}

enum verdict hear_unpaid(
	const struct state *state, const CartCheckout *checkout, enum payment_meaning meaning, struct turn *turn)
{
	char cart_ids[ROWS_MOST][CART_ID_MAX];
	int count = rows_find(state, turn_message(turn)->shop, &checkout->ids, cart_ids);
	CartState row, before;

	if (count == 0)
		return TURN_DONE; /* its cart may still come, and its payment comes as another event */
	count = gather_rows(state, turn, cart_ids, count, &row);
	before = row;
	note_order(&row, checkout);
	if (count == 1 && cart_same(&before, &row))
		return TURN_DONE;
	say_row(turn, &row);
	if (count > 1)
		say_timer(state, turn, &row);
	say_order(turn, &row, &before, checkout, meaning);
	return TURN_DONE;
}

void say_unknown_status(
	const struct state *state, struct turn *turn, const CartState *row, const struct payment *payment)
{
	char grounds[240];

	if (!payment->unknown || STATE_HAS(state, payment_status, turn_message(turn)->shop, row->payment_status))
		return;
	snprintf(grounds, sizeof(grounds),
		"\"%s\" is a payment status that neither cartbus nor [payment] of shop.conf knows: orders with it "
		"count as bought; name it there if they are not",
		row->payment_status);
	say_audit(turn, row, &(struct note){ .action = "unknown_payment_status", .grounds = grounds });
}

void unpaid_remember(struct state *state, const char *shop, const CartState *row)
{
	if (row->status == CART_BOUGHT && *row->payment_status)
		STATE_PUT_NUMBER(state, payment_status, shop, row->payment_status, 1);
}
