/*
 * intake.c: the canonical list of carts: one row per cart, found under every id that a storefront gave it
 *
 * Hears:     cart.changed, cart.checkout, cart.closed, admin.action
 * Remembers: cart.state, document
 * Says:      cart.state, timer.set, timer.cancel, audit
 * Owns:      cart.state: which cart an id means, and since when that cart has been left.
 * Promises:  an event changes the row once, in any order of events. A change by the shopper restarts the
 *            waits. A checkout stops the reminders even if it comes before its cart. An audit records each
 *            write with the row before and after it.
 * Fails by:  dead-lettering a message that names no cart. An action on an unknown cart is retried first.
 * Read next: upsert.c (applies a change to a row), merge.c, rows.c (finds a row), facts.c (publishes it)
 */
#include "services/carts/intake/intake.h"
#include "bus/base/text.h"
#include "services/carts/intake/facts.h"
#include "services/carts/intake/unpaid.h"
#include "services/carts/policy/change.h"
#include "services/kit/documents/docs.h"
#include <stdio.h>
#include <string.h>

#define ADMIN_RETRY_US (30 * US_PER_S) /* an action may overtake the webhook of the cart it names */
enum { PURCHASES_BY_ADDRESS_MOST = 64 };

/* ---- cart.changed ---- */

static const char *why_first(const CartState *row, const CartChanged *changed, char ret[160])
{
	if (change_empties(changed))
		return "first heard of when it was emptied";
	if (row->status != CART_OPEN)
		return "its last change was old when it was first heard of: an import or a replay is not chased";
	snprintf(ret, 160, "a new cart, heard of by %s%s",
		*changed->platform_topic ? changed->platform_topic : "a change",
		cart_has_address(row)             ? ""
			: row->ids.email_unusable ? "; its address cannot be mailed, and it waits for another"
						  : "; it has no address yet, and waits for one");
	return ret;
}

/*
 * Marks the cart as bought if an order that shares only its address came first: the order may arrive before
 * the cart's first event, or another clock may date it a little before the cart's last change. Waiter and
 * sender stop the mail in that case anyway; the row then says why.
 */
static bool buy_with_earlier(const struct state *state, const char *shop, CartState *row, char ret_grounds[160])
{
	int64_t since_us = row->abandoned_us - CLOCKS_DIFFER_US;
	CartState by;
	bool found;

	if (row->status != CART_OPEN)
		return false;
	found = rows_bought_since(state, shop, row->ids.email_hash, since_us, &by);
	for (int i = 0; !found && i < row->also_count; i++)
		found = rows_bought_since(state, shop, row->also[i].email_hash, since_us, &by);
	if (!found)
		return false;
	cart_bought_with(row, &by);
	snprintf(ret_grounds, 160, "order %s by the same address", *by.order_id ? by.order_id : "(no id)");
	return true;
}

static enum verdict open_row(const struct state *state, const CartChanged *changed, struct turn *turn)
{
	char cart_id[CART_ID_MAX], grounds[160];
	struct cart_change what;
	const char *action;
	CartState row;

	choose_cart_id(state, turn_message(turn)->shop, &changed->ids, cart_id);
	what = cart_first_seen(&row, cart_id, changed, turn_now_us(turn));
	if (buy_with_earlier(state, turn_message(turn)->shop, &row, grounds)) {
		say_row(turn, &row);
		say_audit(turn, &row, &(struct note){ .action = "bought", .grounds = grounds });
		return TURN_DONE;
	}
	say_row(turn, &row);
	if (row.status == CART_OPEN)
		say_timer(state, turn, &row);
	action = what.emptied ? "emptied" : row.status != CART_OPEN ? "closed" : "opened";
	if (row.status == CART_OPEN && !cart_has_address(&row))
		action = "waiting_for_address";
	say_audit(turn, &row, &(struct note){ .action = action, .grounds = why_first(&row, changed, grounds) });
	return TURN_DONE;
}

static const char *why_changed(const CartState *row, const struct cart_change *what, bool merged)
{
	if (what->emptied)
		return "the shopper emptied it: the chase ends";
	if (what->reopened)
		return "the shopper is back: it is open again and its clock starts anew; steps already mailed stay "
		       "spent";
	if (what->restarted)
		return "the shopper changed it: its clock starts anew; steps already mailed stay spent";
	if (merged)
		return "this change ties several ids together: they are one cart";
	if (what->reachable)
		return "it has an address now; its clock goes on";
	if (what->retimed)
		return "it has waits of its own now";
	return row->status == CART_OPEN ? "nothing the shopper did: its clock goes on" : "noted; it stays as it is";
}

static void say_change(const struct state *state, struct turn *turn, const CartState *row, const CartState *before,
	const struct cart_change *what, bool merged)
{
	bool open = row->status == CART_OPEN;

	if (open && (what->restarted || what->reachable || what->retimed || merged))
		say_timer(state, turn, row);
	if (!open && (what->emptied || merged))
		say_timer(state, turn, row);
	say_audit(turn, row,
		&(struct note){ .action = what->emptied ? "emptied" : "changed",
			.grounds = why_changed(row, what, merged),
			.before = before });
}

static enum verdict hear_changed(const struct state *state, const CartChanged *changed, struct turn *turn)
{
	char cart_ids[ROWS_MOST][CART_ID_MAX];
	int count = rows_find(state, turn_message(turn)->shop, &changed->ids, cart_ids);
	struct cart_change what;
	CartState row, before;
	char names[JOIN_NAMES_MAX][80], grounds[160];

	if (join_names(&changed->ids, names) == 0)
		return turn_dead_letter(turn, "this change names no cart: it has no id or token at all");
	if (count == 0)
		return open_row(state, changed, turn);
	count = gather_rows(state, turn, cart_ids, count, &row);
	before = row;
	what = cart_upsert(&row, changed, turn_now_us(turn));
	if (!what.changed && count == 1)
		return TURN_DONE;
	if (buy_with_earlier(state, turn_message(turn)->shop, &row, grounds)) {
		say_row(turn, &row);
		say_timer(state, turn, &row);
		say_audit(turn, &row, &(struct note){ .action = "bought", .grounds = grounds, .before = &before });
		return TURN_DONE;
	}
	say_row(turn, &row);
	say_change(state, turn, &row, &before, &what, count > 1);
	return TURN_DONE;
}

/* ---- cart.checkout ---- */

static void say_purchase(const struct state *state, struct turn *turn, CartState *row, const CartState *before,
	const CartCheckout *checkout, const char *how)
{
	static const char *const ends[] = { [CHECKOUT_BOUGHT] = "",
		[CHECKOUT_CANCELLED] = "; it was cancelled: no chase is taken up again",
		[CHECKOUT_REFUNDED] = "; money went back: reports count what the shop kept" };
	bool flipped = row->status == CART_BOUGHT && before->status != CART_BOUGHT;
	struct payment payment = payment_of(docs_shop(state, turn_message(turn)->shop), checkout);
	char grounds[200];

	if (flipped)
		say_unknown_status(state, turn, row, &payment);
	say_row(turn, row);
	if (flipped)
		say_timer(state, turn, row);
	snprintf(grounds, sizeof(grounds), "order %s%s%s", *checkout->ids.order_id ? checkout->ids.order_id : "(no id)",
		how, ends[checkout->kind < sizeof(ends) / sizeof(*ends) ? checkout->kind : CHECKOUT_BOUGHT]);
	say_audit(turn, row,
		&(struct note){ .action = flipped ? "bought" : "changed", .grounds = grounds, .before = before });
}

/*
 * A checkout may come before its cart: the row says that it was bought, so that a late change does not open
 * it.
 */
static void say_bought_row(const struct state *state, const CartCheckout *checkout, struct turn *turn)
{
	char cart_id[CART_ID_MAX];
	CartState row = { .revision = 1,
		.first_seen_us = turn_now_us(turn),
		.abandoned_us = purchase_us(checkout),
		.platform = checkout->platform,
		.test = checkout->test };

	choose_cart_id(state, turn_message(turn)->shop, &checkout->ids, cart_id);
	TEXT_COPY(row.ids.cart_id, cart_id);
	struct payment payment = payment_of(docs_shop(state, turn_message(turn)->shop), checkout);
	cart_bought(&row, checkout, true);
	say_unknown_status(state, turn, &row, &payment);
	say_row(turn, &row);
	say_audit(turn, &row,
		&(struct note){ .action = "bought", .grounds = "an order of a cart that was not heard of before" });
}

struct by_address {
	int count;
	char cart_ids[PURCHASES_BY_ADDRESS_MOST][CART_ID_MAX];
};

static bool note_cart(const char *cart_id, void *context)
{
	struct by_address *found = context;

	text_copy(found->cart_ids[found->count++], CART_ID_MAX, cart_id);
	return found->count < PURCHASES_BY_ADDRESS_MOST;
}

/*
 * The order may name none of its cart's ids. So an open cart of the same address counts as bought if it was
 * left before the order.
 */
static void buy_by_address(const struct state *state, const CartCheckout *checkout, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	struct by_address found = { 0 };

	rows_of_address(state, shop, checkout->ids.email_hash, note_cart, &found);
	for (int i = 0; i < found.count; i++) {
		CartState row, before;

		if (!rows_get(state, shop, found.cart_ids[i], &row) || row.status != CART_OPEN)
			continue;
		if (row.abandoned_us > checkout_ordered_us(checkout) + CLOCKS_DIFFER_US)
			continue;
		before = row;
		cart_bought(&row, checkout, false);
		say_purchase(state, turn, &row, &before, checkout, " by the same address");
	}
}

static void buy_rows(const struct state *state, const CartCheckout *checkout, struct turn *turn,
	char cart_ids[ROWS_MOST][CART_ID_MAX], int count)
{
	CartState row, before;

	count = gather_rows(state, turn, cart_ids, count, &row);
	before = row;
	if (!cart_bought(&row, checkout, true) && count == 1)
		return;
	say_purchase(state, turn, &row, &before, checkout, "");
	if (count > 1 && row.status == CART_OPEN)
		say_timer(state, turn, &row); /* the timers from before the merge belong to an older revision */
}

static enum verdict hear_checkout(const struct state *state, const CartCheckout *checkout, struct turn *turn)
{
	const char *shop = turn_message(turn)->shop;
	char cart_ids[ROWS_MOST][CART_ID_MAX], names[JOIN_NAMES_MAX][80];
	int count = rows_find(state, shop, &checkout->ids, cart_ids);
	bool bought = checkout_proves_purchase(checkout);
	struct payment payment = payment_of(docs_shop(state, shop), checkout);

	if (join_names(&checkout->ids, names) == 0 && !*checkout->ids.email_hash)
		return *checkout->ids.customer_id
			? TURN_DONE /* waiter and sender stop this customer's mails by the id: carts/policy/stops.c */
			: turn_dead_letter(turn, "this order names neither a cart nor a shopper");
	if (bought && payment.meaning != PAYMENT_BOUGHT)
		return hear_unpaid(state, checkout, payment.meaning, turn);
	if (count > 0)
		buy_rows(state, checkout, turn, cart_ids, count);
	else if (bought && join_names(&checkout->ids, names) > 0)
		say_bought_row(state, checkout, turn);
	if (bought)
		buy_by_address(state, checkout, turn);
	return TURN_DONE;
}

/* ---- cart.closed, which the waiter says ---- */

static void close_row(CartState *row, ClosedReason reason, int64_t now_us)
{
	row->status = CART_CLOSED;
	row->closed_reason = reason;
	row->closed_us = now_us;
}

static enum verdict hear_closed(const struct state *state, const CartClosed *closed, struct turn *turn)
{
	CartState row, before;

	if (!rows_get(state, turn_message(turn)->shop, closed->cart_id, &row))
		return TURN_DONE;
	if (row.status != CART_OPEN || row.revision > closed->revision || strcmp(row.ids.cart_id, closed->cart_id) != 0)
		return TURN_DONE; /* bought, emptied, merged or changed since the waiter looked */
	before = row;
	close_row(&row, closed->reason, turn_now_us(turn));
	say_row(turn, &row);
	say_audit(turn, &row,
		&(struct note){ .action = "closed",
			.grounds = "the waiter decided that the chase is over",
			.before = &before });
	return TURN_DONE;
}

/* ---- admin.action ---- */

static enum verdict stop_cart(const AdminAction *action, struct turn *turn, CartState *row, const char *word)
{
	const CartState before = *row;

	if (row->status == CART_OPEN) {
		close_row(row, CLOSED_BY_OWNER, turn_now_us(turn));
		say_row(turn, row);
		say_timer(NULL, turn, row);
	}
	say_audit(turn, row,
		&(struct note){ .action = word,
			.who = action->who,
			.grounds = *action->reason ? action->reason : "no reason given",
			.before = &before });
	return TURN_DONE;
}

static enum verdict override_wait(
	const struct state *state, const AdminAction *action, struct turn *turn, CartState *row)
{
	const CartState before = *row;

	if (!action->has_wait_override || action->wait_override.first_us <= 0 ||
		action->wait_override.second_us < action->wait_override.first_us)
		return turn_dead_letter(turn, "an override needs two waits, the second not shorter than the first");
	row->has_wait_override = true;
	row->wait_override = action->wait_override;
	say_row(turn, row);
	if (row->status == CART_OPEN)
		say_timer(state, turn, row);
	say_audit(turn, row,
		&(struct note){ .action = "override",
			.who = action->who,
			.grounds = *action->reason ? action->reason : "no reason given",
			.before = &before });
	return TURN_DONE;
}

/*
 * The rules changed while the timer of this cart was set. The timer is set to now, so that the waiter decides
 * by the new rules and sets the timer that they ask for. A cart that changed since has a newer timer, which
 * was set by the newer rules.
 */
static enum verdict retime(const AdminAction *action, struct turn *turn, const CartState *row)
{
	char before[64], after[64];

	if (row->status != CART_OPEN || row->revision != action->revision)
		return TURN_DONE;
	say_look_now(turn, row, action);
	snprintf(before, sizeof(before), "looked at next %s", cart_time(action->due_us, (char[32]){ 0 }));
	snprintf(after, sizeof(after), "looked at %s", cart_time(turn_now_us(turn), (char[32]){ 0 }));
	say_audit(turn, row,
		&(struct note){ .action = "retimed",
			.who = action->who,
			.grounds = *action->reason ? action->reason : "the rules changed while its timer was set",
			.before_words = before,
			.after_words = after });
	return TURN_DONE;
}

static enum verdict act_on_cart(const struct state *state, const AdminAction *action, struct turn *turn)
{
	CartState row;

	if (!rows_get(state, turn_message(turn)->shop, action->cart_id, &row))
		return turn_failed(turn, ADMIN_RETRY_US, "no cart with this id was ever heard of");
	if (action->verb == ADMIN_RETIME)
		return retime(action, turn, &row);
	if (action->verb == ADMIN_OVERRIDE_WAIT)
		return override_wait(state, action, turn, &row);
	return stop_cart(action, turn, &row, action->verb == ADMIN_WRITE_OFF ? "written_off" : "suppressed_cart");
}

static enum verdict hear_action(const struct state *state, const AdminAction *action, struct turn *turn)
{
	switch (action->verb) {
	case ADMIN_SUPPRESS_CART:
	case ADMIN_WRITE_OFF:
	case ADMIN_OVERRIDE_WAIT:
	case ADMIN_RETIME:
		return act_on_cart(state, action, turn);
	case ADMIN_UNSUBSCRIBE:
	case ADMIN_LIFT_SUPPRESSION:
	case ADMIN_TAKE_BACK:
	case ADMIN_SETTLE_PRIVACY:
		return TURN_DONE; /* the service unsub handles these */
	}
	return turn_dead_letter(turn, "an action that intake does not know");
}

const struct service intake = {
	.name = "intake",
	.exclusive = true,
	.layout = 2,
	.hears = HEARING(HEARS(cart_changed, hear_changed), HEARS(cart_checkout, hear_checkout),
		HEARS(cart_closed, hear_closed), HEARS(admin_action, hear_action)),
	.remembers = REMEMBERING(REMEMBERS(cart_state, rows_remember), REMEMBERS(document, docs_remember)),
	.says = SAYING(SAYS(cart_state), SAYS(timer_set), SAYS(timer_cancel), SAYS(audit)),
};
