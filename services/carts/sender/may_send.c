/*
 * may_send.c: decides if a reminder may be mailed now; if not, why, and what to do instead
 *
 * Promises:  it sees every stop, outcome and claim of this step that the projections have delivered. The same
 *            facts give the same finding. Permanent reasons come before passing ones, so that no mail is
 *            deferred that will never be sent.
 * Read next: sender.c (acts on each finding), services/carts/policy/stops.h
 */
#include "services/carts/sender/may_send.h"
#include "services/carts/policy/cart_rows.h"
#include "services/carts/policy/eligibility.h"
#include "services/carts/policy/rules_document.h"
#include "services/carts/policy/stops.h"
#include "services/carts/sender/outage.h"
#include "services/carts/sender/reminder_mail.h"
#include "services/kit/documents/docs.h"
#include "services/kit/mail/pace.h"

#define UNPAID_US (10 * US_PER_MINUTE) /* then the waiter decides again, and intake and waiter know the order */

static const char AWAY[] = "a gateway was away, and what platforms could not deliver may still come";

static struct finding found(enum send_decision decision, const char *reason)
{
	return (struct finding){ .decision = decision, .reason = reason };
}

static struct finding found_skip(const char *word, const char *reason)
{
	return (struct finding){ .decision = DECIDED_SKIP, .word = word, .reason = reason };
}

static struct finding found_send(const struct send *send)
{
	switch (send->phase) {
	case SEND_CLAIMED:
		return found(DECIDED_CLAIMED, "claimed, and its outcome is not known yet");
	case SEND_SENT:
	case SEND_REFUSED:
	case SEND_AMBIGUOUS:
	case SEND_SKIPPED:
		return found(DECIDED_SPENT, "spent");
	case SEND_NONE:
	case SEND_RELEASED:
		break;
	}
	return found(DECIDED_SEND, NULL);
}

static struct finding found_stop(enum stop stop)
{
	switch (stop) {
	case STOP_NONE:
		return found(DECIDED_SEND, NULL);
	case STOP_PAUSED:
		return found(DECIDED_PAUSED, stop_name(stop));
	case STOP_EMPTIED:
	case STOP_CHANGED:
		return found(DECIDED_LEAVE, stop_name(stop));
	case STOP_BOUGHT:
	case STOP_OPTED_OUT:
	case STOP_COMPLAINED:
	case STOP_BOUNCED:
	case STOP_SUPPRESSED:
	case STOP_BY_OWNER:
		break;
	}
	return found_skip("stopped", stop_name(stop));
}

static struct finding found_mode(ShopMode mode, const struct shop *shop)
{
	switch (mode) {
	case MODE_OBSERVE:
		return found_skip("observe", "the shop only observes");
	case MODE_PAUSED:
		return found(DECIDED_PAUSED, "the shop is paused");
	case MODE_MAIL_ME:
		if (!shop->owner[0])
			return found_skip("no_owner", "the shop mails its owner, and [mail] owner is not given");
		break;
	case MODE_LIVE:
		break;
	}
	return found(DECIDED_SEND, NULL);
}

/* The waiter checked this too, but the shop's policy may have changed since. */
static struct finding found_policy(
	const struct state *state, const struct shop *shop, ShopMode mode, const CartState *cart)
{
	if (!cart->ids.email[0])
		return found_skip("no_address", "the cart has no address");
	enum eligibility eligibility = eligibility_decide(state, shop, cart, mode).eligibility;
	return eligibility == ELIGIBILITY_YES
		? found(DECIDED_SEND, NULL)
		: found_skip(eligibility_word(eligibility), eligibility_text(eligibility));
}

/* An order that is not paid came after the decision, so the shopper is still there. */
static struct finding found_unpaid(const struct stopped *stopped, const ReminderDue *due, int64_t now_us)
{
	if (stopped->unpaid_us <= due->cart.abandoned_us || stopped->unpaid_seq <= due->decided_on)
		return found(DECIDED_SEND, NULL);
	struct finding finding = found(DECIDED_DEFER, "an order of it came that is not paid yet");
	finding.until_us = now_us + UNPAID_US;
	return finding;
}

/*
 * A window that the rules do not write applies only between mails about *different* carts: the waits, which
 * the rules do write, keep the two mails of one cart apart. A window that the owner wrote applies to every
 * mail.
 */
static bool window_counts(
	const struct state *state, const char *shop, const ReminderDue *due, const struct rules *rules, int64_t last_us)
{
	if (due->step != 2 || (rules && rules->window_us > 0))
		return true;
	struct send first = sends_of(state, shop, &due->cart, 1);
	return !send_may_have_gone(first.phase) || first.at_us < last_us;
}

/* A reason that passes by itself, and when it has passed; quiet hours may follow. */
struct passing {
	int64_t until_us;
	const char *reason;
};

static struct passing later_one(struct passing a, struct passing b)
{
	return b.until_us > a.until_us ? b : a;
}

static struct finding found_hour(
	const struct state *state, const struct shop *shop, const ReminderDue *due, bool to_owner, int64_t now_us)
{
	static const struct rules no_rules;
	uint32_t version;
	const struct rules *rules = rules_in_use(state, shop->name, &version);
	int64_t last_us = to_owner ? 0 : sends_last_to(state, shop->name, due->cart.ids.email_hash);
	int64_t window_us = rules_window_us(rules ? rules : &no_rules);
	struct passing open = { now_us, "quiet hours" };
	if (last_us && window_counts(state, shop->name, due, rules, last_us))
		open = later_one(open, (struct passing){ last_us + window_us, "this shopper was mailed not long ago" });
	if (!to_owner && rules)
		open = later_one(open,
			(struct passing){ sends_capped_until_us(state, shop->name, due->cart.ids.email_hash, rules),
				"this shopper had as many mails as the rules allow" });
	open = later_one(open, (struct passing){ downtime_holds_until_us(state), AWAY });
	int64_t sending_us = rules ? rules_next_sending_us(rules, shop->zone, open.until_us) : open.until_us;
	struct finding finding = found(sending_us > now_us ? DECIDED_DEFER : DECIDED_SEND, open.reason);
	finding.until_us = sending_us;
	return finding;
}

static struct pace pace_of_shop(const struct sender *context, const struct shop *shop)
{
	return (struct pace){ .shop = shop->name,
		.zone = shop->zone,
		.a_minute = shop->most_a_minute,
		.a_day = shop->most_a_day,
		.under_way =
			shop->most_a_minute || shop->most_a_day ? reminder_mails_under_way(context, shop->name) : 0 };
}

static struct pace pace_of_all(const struct sender *context)
{
	return (struct pace){ .shop = SHOP_OF_ALL,
		.zone = "UTC",
		.a_minute = context->most_a_minute,
		.a_day = context->most_a_day,
		.under_way =
			context->most_a_minute || context->most_a_day ? reminder_mails_under_way(context, NULL) : 0 };
}

/*
 * Over the limit per minute a mail waits in the queue. Over the limit per day it is decided on again on the
 * next day, after the quiet hours.
 */
static struct finding found_pace(const struct state *state, const struct shop *shop, int64_t now_us)
{
	const struct sender *context = sender_context(state);
	const struct pace paces[] = { pace_of_shop(context, shop), pace_of_all(context) };
	struct finding finding = found(DECIDED_SEND, NULL);
	for (size_t i = 0; i < sizeof(paces) / sizeof(paces[0]) && finding.decision != DECIDED_DEFER; i++) {
		int64_t until_us = 0;
		enum pace_answer answer = pace_ask(state, &paces[i], now_us, &until_us);
		if (answer == PACE_GO)
			continue;
		finding = answer == PACE_DAY ? found(DECIDED_DEFER, "as many mails went today as may")
					     : found(DECIDED_WAIT, "as many mails went this minute as may");
		const struct rules *rules = answer == PACE_DAY ? rules_in_use(state, shop->name, NULL) : NULL;
		finding.until_us = rules ? rules_next_sending_us(rules, shop->zone, until_us) : until_us;
	}
	return finding;
}

static bool pace_lets(const struct state *state, const struct shop *shop, const ReminderDue *due, uint32_t attempt)
{
	const struct sender *context = sender_context(state);
	const struct pace of_shop = pace_of_shop(context, shop), of_all = pace_of_all(context);
	const struct pace_claim claim = {
		.shop = shop->name, .cart_id = due->cart.ids.cart_id, .step = due->step, .attempt = attempt
	};
	return pace_holds(state, &of_shop, &claim) && pace_holds(state, &of_all, &claim);
}

/*
 * The checks of the cart, its shopper, the policy and the mode: not the step's own sends, its lateness, the
 * hours and the pace.
 */
static struct finding found_now(
	const struct state *state, const struct shop *shop, ShopMode mode, const ReminderDue *due, int64_t now_us)
{
	if (merges_of(state, shop->name, due->cart.ids.cart_id).away)
		return found(DECIDED_LEAVE, "merged into another cart");
	struct stopped stopped = stops_for(state, shop->name, &due->cart);
	struct finding finding = found_stop(stopped.stop);
	if (finding.decision == DECIDED_SEND)
		finding = found_policy(state, shop, mode, &due->cart);
	if (finding.decision == DECIDED_SEND)
		finding = found_mode(mode, shop);
	return finding.decision == DECIDED_SEND ? found_unpaid(&stopped, due, now_us) : finding;
}

/* The order of the checks: spent? shop known? stopped for good? late? paused or not paid? hours? pace? */
static struct finding find(
	const struct state *state, const struct finding *known, ShopMode mode, const ReminderDue *due, int64_t now_us)
{
	struct finding finding = found_send(&known->send);
	if (finding.decision != DECIDED_SEND)
		return finding;
	if (!known->shop)
		return found(DECIDED_NO_SHOP, "the shop's configuration has not come yet");
	finding = found_now(state, known->shop, mode, due, now_us);
	if (finding.decision == DECIDED_SKIP || finding.decision == DECIDED_LEAVE)
		return finding;
	if (now_us - due->decided_us > LATE_US)
		return found_skip("late", "more than a day after it was decided");
	if (finding.decision != DECIDED_SEND)
		return finding;
	finding = found_hour(state, known->shop, due, known->to_owner, now_us);
	return finding.decision == DECIDED_SEND ? found_pace(state, known->shop, now_us) : finding;
}

struct finding may_send(const struct state *state, const char *shop_name, const ReminderDue *due, int64_t now_us)
{
	ShopMode mode = stops_mode(state, shop_name);
	struct finding known = { .shop = docs_shop(state, shop_name),
		.send = sends_of(state, shop_name, &due->cart, (int)due->step),
		.to_owner = mode == MODE_MAIL_ME };
	struct finding finding = find(state, &known, mode, due, now_us);
	finding.shop = known.shop;
	finding.send = known.send;
	finding.to_owner = known.to_owner;
	return finding;
}

bool may_still_send(const struct state *state, const char *shop_name, const ReminderDue *due, uint32_t attempt,
	bool to_owner, int64_t now_us)
{
	const struct shop *shop = docs_shop(state, shop_name);
	ShopMode mode = stops_mode(state, shop_name);
	bool ours = sends_claimed_alone(state, shop_name, &due->cart, (int)due->step, attempt);
	if (!ours || !shop || now_us - due->decided_us > LATE_US)
		return false;
	if (found_now(state, shop, mode, due, now_us).decision != DECIDED_SEND ||
		downtime_holds_until_us(state) > now_us)
		return false;
	uint32_t version;
	const struct rules *rules = rules_in_use(state, shop_name, &version);
	if (rules && rules_next_sending_us(rules, shop->zone, now_us) > now_us)
		return false;
	return to_owner == (mode == MODE_MAIL_ME) && pace_lets(state, shop, due, attempt);
}
