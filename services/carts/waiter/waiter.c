/*
 * waiter.c: wakes up for one cart at a time and decides one of four moves
 *
 * Hears:     cart.wake
 * Remembers: cart.state, send.claim, reminder.sent, reminder.released, reminder.refused, reminder.ambiguous, reminder.skipped,
 *            document, cart.changed, cart.checkout, optout.request, mail.feedback, admin.action, shop.status,
 *            privacy.request, suppression
 * Says:      reminder.due, timer.set, cart.closed, audit
 * Promises:  same facts, same clock, same rules: same move, audited with its grounds. A wake-up that belongs to an older revision of
 *            the cart is settled silently. An open cart always has a next look, or the reason why it has none.
 * Fails by:  nothing: where the shop's documents have not arrived it says so and looks again.
 * Read next: look.c (what it is made on), carts/policy/move.c (the decision), newest.c (a shopper with several carts), grounds.c (the decision in words), carts/policy/stops.h, carts/policy/sends.h
 */
#include "services/carts/waiter/waiter.h"
#include "bus/base/text.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/waiter/look.h"
#include "services/carts/waiter/newest.h"
#include "services/kit/documents/docs.h"
#include <assert.h>
#include <pb_encode.h>
#include <stdio.h>

static void say_reminder(struct turn *turn, const struct look *look, const struct move *move)
{
	ReminderDue due = { .has_cart = true,
		.cart = look->cart,
		.step = move->kind == MOVE_FIRST_REMINDER ? 1 : 2,
		.decided_us = look->facts.now_us,
		.decided_on = turn_seen(turn),
		.rules_version = look->rules_version,
		.due_us = move->due_us };

	SAY(turn, reminder_due, &due, .shop = look->shop_name, .key = look->cart.ids.email_hash);
}

/* What would have gone in a shop that is only observed is known by the timer alone: nothing is sent, so no outcome tells it. */
static void note_would(CartWake *next, const struct look *look, const struct move *move)
{
	next->would_step = look->facts.would_step;
	next->would_us = look->facts.would_us;
	if (move->say || (move->kind != MOVE_FIRST_REMINDER && move->kind != MOVE_SECOND_REMINDER))
		return;
	next->would_step = move->kind == MOVE_FIRST_REMINDER ? 1 : 2;
	next->would_us = look->facts.now_us;
}

static void say_next_look(struct turn *turn, const struct look *look, const struct move *move)
{
	CartWake next = { .revision = look->cart.revision, .due_us = move->next_us };
	TimerSet set = { .version = look->cart.revision, .due_us = move->next_us };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	note_would(&next, look, move);
	TEXT_COPY(next.cart_id, look->cart.ids.cart_id);
	snprintf(set.name, sizeof(set.name), "cart/%s", look->cart.ids.cart_id);
	TEXT_COPY(set.topic, topic_cart_wake.name);
	TEXT_COPY(set.key, look->cart.ids.cart_id);
	if (!pb_encode(&stream, &CartWake_msg, &next))
		assert(!"a wake-up always fits into a timer");
	set.payload.size = (pb_size_t)stream.bytes_written;
	SAY(turn, timer_set, &set, .shop = look->shop_name, .key = set.name, .version = set.version);
}

static void say_closed(struct turn *turn, const struct look *look, ClosedReason reason)
{
	CartClosed closed = { .revision = look->cart.revision, .reason = reason };

	TEXT_COPY(closed.cart_id, look->cart.ids.cart_id);
	SAY(turn, cart_closed, &closed, .shop = look->shop_name, .key = look->cart.ids.cart_id);
}

static void say_decision(struct turn *turn, const struct look *look, const struct move *move)
{
	Audit audit = { .at_us = look->facts.now_us,
		.decided_on = turn_seen(turn),
		.rules_version = look->rules_version,
		.next_us = move->next_us };

	TEXT_COPY(audit.action, grounds_action(move));
	TEXT_COPY(audit.who, "system");
	TEXT_COPY(audit.cart_id, look->cart.ids.cart_id);
	TEXT_COPY(audit.address_hash, look->cart.ids.email_hash);
	grounds_line(&look->facts, move, &look->choice, &look->cart, audit.grounds);
	SAY(turn, audit, &audit, .shop = look->shop_name, .key = look->cart.ids.cart_id);
}

static enum verdict hear_wake(const struct state *state, const CartWake *wake, struct turn *turn)
{
	struct look look = { .shop_name = turn_message(turn)->shop };
	struct move move;

	if (!STATE_GET(state, cart_rows, look.shop_name, wake->cart_id, &look.cart))
		return TURN_DONE; /* erased since */
	if (wake->revision != look.cart.revision)
		return TURN_DONE; /* the cart changed: a newer timer stands for it */
	look_gather(state, &look, wake, turn_now_us(turn));
	move = move_decide(&look.facts);
	if (move.say)
		say_reminder(turn, &look, &move);
	if (move.closes != CLOSED_NOT)
		say_closed(turn, &look, move.closes);
	if (move.next_us > 0)
		say_next_look(turn, &look, &move);
	say_decision(turn, &look, &move);
	return TURN_DONE;
}

static void remember_cart(struct state *state, const struct message_meta *said, const CartState *cart)
{
	if (cart_rows_remember(state, said, cart))
		newest_remember(state, said, cart);
}

const struct service waiter = {
	.name = "waiter",
	.exclusive = true,
	.layout = 2,
	.hears = HEARING(HEARS(cart_wake, hear_wake)),
	.remembers = REMEMBERING(REMEMBERS(cart_state, remember_cart), REMEMBERS(document, docs_remember),
		SENDS_REMEMBERED, STOPS_REMEMBERED),
	.says = SAYING(SAYS(reminder_due), SAYS(timer_set), SAYS(cart_closed), SAYS(audit)),
};
