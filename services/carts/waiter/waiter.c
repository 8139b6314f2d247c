/*
 * waiter.c: wakes up for one cart at a time and decides one of four moves
 *
 * Hears:     cart.wake
 * Remembers: cart.state, send.claim, reminder.sent, reminder.released, reminder.refused, reminder.ambiguous,
 *            reminder.skipped, document, cart.changed, cart.checkout, optout.request, mail.feedback,
 *            admin.action, shop.status, privacy.request, suppression
 * Says:      reminder.due, timer.set, cart.closed, audit
 * Promises:  the same facts, clock and rules give the same move, and an audit records its grounds. A wake-up
 *            for an older revision of the cart does nothing. An open cart always has a next look, or an audit
 *            that says why it has none.
 * Fails by:  nothing: while the shop's documents are missing, it says so in an audit and looks again later.
 * Read next: carts/policy/decision.c (the decision), explanation.c (the decision in words),
 *            carts/policy/stops.h, carts/policy/sends.h
 */
#include "services/carts/waiter/waiter.h"
#include "bus/actor/service.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "services/carts/letter/reminder.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/policy/plan.h"
#include "services/carts/policy/rules_document.h"
#include "services/carts/waiter/explanation.h"
#include "services/kit/documents/docs.h"
#include <assert.h>
#include <pb_encode.h>
#include <stdio.h>

/*
 * The carts of one shopper, and the newest of them
 *
 * Owns:      the table of.shopper (shopper/cart id -> when the cart was left). A shopper is an address
 *            ("to:hash") or a customer ("cu:id"). Each cart.state writes the rows of its cart, so the log
 *            forgets them together.
 * Promises:  a cart that was emptied, merged or never chased does not count, so the shopper's cart before it
 *            is chased. The order in which rows are folded does not matter.
 * Fails by:  nothing; if a shopper has more than OTHERS_MOST newer carts, only the first ones in the order of
 *            their ids are looked at.
 */

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

static void newest_remember(struct state *state, const struct message_meta *said, const CartState *cart)
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

/* true: this cart takes the place of an older one, because it is or was chased, or was bought. */
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

/* Reads the other cart's row, because its address may have changed, and the list does not have its status. */
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

/* Finds the newest of this shopper's other carts if it is newer than `cart`; false: there is none. */
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

/*
 * Finds the newest cart of the same address, else of the same customer, that counts() and is newer than this
 * one; false: there is none.
 */
static bool newest_other(const struct state *state, const char *shop, const CartState *cart, char ret_cart_id[72])
{
	char shoppers[SHOPPERS][SHOPPER_MAX];
	int count = shoppers_of(cart, shoppers);

	for (int i = 0; i < count; i++)
		if (search(state, shop, shoppers[i], cart, ret_cart_id))
			return true;
	return false;
}

/*
 * All inputs of one decision about a cart
 *
 * Promises:  it only reads the state; a decision and a plan get the same inputs.
 */

struct decision_inputs {
	const char *shop_name;
	CartState cart;
	struct decision_facts facts;
	struct choice choice;
	char newer_cart[72];
	uint32_t rules_version;
};

static void choose_waits(struct decision_inputs *inputs, const struct rules *rules)
{
	const WaitOverride *own = &inputs->cart.wait_override;

	inputs->choice.rules = rules_choose(rules, inputs->cart.total_minor, inputs->cart.currency);
	inputs->choice.overridden = inputs->cart.has_wait_override && own->first_us > 0;
	const struct rules_waits waits = rules_waits_or_own(
		inputs->choice.rules.waits, inputs->choice.overridden ? own->first_us : 0, own->second_us);
	inputs->facts.first_us = waits.first_us;
	inputs->facts.second_us = waits.second_us;
}

static void gather_documents(const struct state *state, struct decision_inputs *inputs)
{
	const struct shop *shop = docs_shop(state, inputs->shop_name);
	const struct rules *rules = rules_in_use(state, inputs->shop_name, &inputs->rules_version);

	inputs->facts.documents = shop && rules;
	if (!inputs->facts.documents)
		return;
	choose_waits(inputs, rules);
	inputs->facts.rules = rules;
	inputs->facts.zone = shop->zone;
	inputs->facts.window_us = rules_window_us(rules);
	inputs->facts.window_written = rules->window_us > 0;
	inputs->facts.capped_until_us =
		sends_capped_until_us(state, inputs->shop_name, inputs->cart.ids.email_hash, rules);
	inputs->facts.eligibility = eligibility_decide(state, shop, &inputs->cart, inputs->facts.mode);
}

/* The caller has set shop_name and cart; all else is read from the state. */
static void decision_inputs_gather(
	const struct state *state, struct decision_inputs *inputs, const CartWake *wake, int64_t now_us)
{
	const CartState *cart = &inputs->cart;

	inputs->facts = (struct decision_facts){ .now_us = now_us,
		.open = cart->status == CART_OPEN,
		.has_address = *cart->ids.email && *cart->ids.email_hash,
		.bad_address = cart->ids.email_unusable,
		.abandoned_us = cart->abandoned_us,
		.first = sends_of(state, inputs->shop_name, cart, 1),
		.second = sends_of(state, inputs->shop_name, cart, 2),
		.stopped = stops_for(state, inputs->shop_name, cart),
		.mode = stops_mode(state, inputs->shop_name),
		.last_mail_us = sends_last_to(state, inputs->shop_name, cart->ids.email_hash),
		.would_step = wake->would_step,
		.would_us = wake->would_us };
	if (inputs->facts.stopped.unpaid_us > cart->abandoned_us)
		inputs->facts.abandoned_us = inputs->facts.stopped.unpaid_us;
	if (newest_other(state, inputs->shop_name, cart, inputs->newer_cart))
		inputs->facts.newer_cart = inputs->newer_cart;
	gather_documents(state, inputs);
}

bool waiter_plan(const struct state *state, const char *shop, const CartWake *wake, int64_t due_us, int64_t now_us,
	struct plan *ret)
{
	struct decision_inputs inputs = { .shop_name = shop };

	if (!STATE_GET(state, cart_rows, shop, wake->cart_id, &inputs.cart) || wake->revision != inputs.cart.revision)
		return false;
	decision_inputs_gather(state, &inputs, wake, now_us);
	*ret = plan_next(&inputs.facts, due_us);
	if (ret->step)
		plan_refuse(ret, mail_return_trouble(docs_shop(state, shop), &inputs.cart));
	return true;
}

/* ---- the four moves ---- */

static void say_reminder(struct turn *turn, const struct decision_inputs *inputs, const struct decision *decision)
{
	ReminderDue due = { .has_cart = true,
		.cart = inputs->cart,
		.step = decision->kind == DECISION_FIRST_REMINDER ? 1 : 2,
		.decided_us = inputs->facts.now_us,
		.decided_on = turn_seen(turn),
		.rules_version = inputs->rules_version,
		.due_us = decision->due_us };

	SAY(turn, reminder_due, &due, .shop = inputs->shop_name, .key = inputs->cart.ids.email_hash);
}

/*
 * In a shop that is only observed nothing is sent, so no outcome tells which step would have been sent. Only
 * the timer keeps it.
 */
static void note_would(CartWake *next, const struct decision_inputs *inputs, const struct decision *decision)
{
	next->would_step = inputs->facts.would_step;
	next->would_us = inputs->facts.would_us;
	if (decision->say || (decision->kind != DECISION_FIRST_REMINDER && decision->kind != DECISION_SECOND_REMINDER))
		return;
	next->would_step = decision->kind == DECISION_FIRST_REMINDER ? 1 : 2;
	next->would_us = inputs->facts.now_us;
}

static void say_next_look(struct turn *turn, const struct decision_inputs *inputs, const struct decision *decision)
{
	CartWake next = { .revision = inputs->cart.revision, .due_us = decision->next_us };
	TimerSet set = { .version = inputs->cart.revision, .due_us = decision->next_us };
	pb_ostream_t stream = pb_ostream_from_buffer(set.payload.bytes, sizeof(set.payload.bytes));

	note_would(&next, inputs, decision);
	TEXT_COPY(next.cart_id, inputs->cart.ids.cart_id);
	snprintf(set.name, sizeof(set.name), "cart/%s", inputs->cart.ids.cart_id);
	TEXT_COPY(set.topic, topic_cart_wake.name);
	TEXT_COPY(set.key, inputs->cart.ids.cart_id);
	if (!pb_encode(&stream, &CartWake_msg, &next))
		assert(!"a wake-up always fits into a timer");
	set.payload.size = (pb_size_t)stream.bytes_written;
	SAY(turn, timer_set, &set, .shop = inputs->shop_name, .key = set.name, .version = set.version);
}

static void say_closed(struct turn *turn, const struct decision_inputs *inputs, ClosedReason reason)
{
	CartClosed closed = { .revision = inputs->cart.revision, .reason = reason };

	TEXT_COPY(closed.cart_id, inputs->cart.ids.cart_id);
	SAY(turn, cart_closed, &closed, .shop = inputs->shop_name, .key = inputs->cart.ids.cart_id);
}

static void say_decision(struct turn *turn, const struct decision_inputs *inputs, const struct decision *decision)
{
	Audit audit = { .at_us = inputs->facts.now_us,
		.decided_on = turn_seen(turn),
		.rules_version = inputs->rules_version,
		.next_us = decision->next_us };

	TEXT_COPY(audit.action, explanation_action(decision));
	TEXT_COPY(audit.who, "system");
	TEXT_COPY(audit.cart_id, inputs->cart.ids.cart_id);
	TEXT_COPY(audit.address_hash, inputs->cart.ids.email_hash);
	explanation_line(&inputs->facts, decision, &inputs->choice, &inputs->cart, audit.grounds);
	SAY(turn, audit, &audit, .shop = inputs->shop_name, .key = inputs->cart.ids.cart_id);
}

static enum verdict hear_wake(const struct state *state, const CartWake *wake, struct turn *turn)
{
	struct decision_inputs inputs = { .shop_name = turn_message(turn)->shop };
	struct decision decision;

	if (!STATE_GET(state, cart_rows, inputs.shop_name, wake->cart_id, &inputs.cart))
		return TURN_DONE; /* the cart was erased since */
	if (wake->revision != inputs.cart.revision)
		return TURN_DONE; /* the cart has changed, and a newer timer is set for it */
	decision_inputs_gather(state, &inputs, wake, turn_now_us(turn));
	decision = decision_make(&inputs.facts);
	if (decision.say)
		say_reminder(turn, &inputs, &decision);
	if (decision.closes != CLOSED_NOT)
		say_closed(turn, &inputs, decision.closes);
	if (decision.next_us > 0)
		say_next_look(turn, &inputs, &decision);
	say_decision(turn, &inputs, &decision);
	return TURN_DONE;
}

static void remember_cart(struct state *state, const struct message_meta *said, const CartState *cart)
{
	if (cart_rows_remember(state, said, cart))
		newest_remember(state, said, cart);
}

const struct remembers waiter_remembers[] = { REMEMBERS(cart_state, remember_cart), REMEMBERS(document, docs_remember),
	SENDS_REMEMBERED, STOPS_REMEMBERED, { .topic = NULL } };

const struct service waiter = {
	.name = "waiter",
	.exclusive = true,
	.layout = 2,
	.hears = HEARING(HEARS(cart_wake, hear_wake)),
	.remembers = waiter_remembers,
	.says = SAYING(SAYS(reminder_due), SAYS(timer_set), SAYS(cart_closed), SAYS(audit)),
};
