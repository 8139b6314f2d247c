/*
 * decision.c: the four moves
 *
 * Promises:  pure. Each call gives exactly one move: never both mails at once, never a second without a
 *            first, never a third. Everything that forbids a mail is checked before any wait.
 * Read next: decision.h, plan.c (the next mail), services/carts/waiter/waiter.c (collects the facts),
 *            services/carts/waiter/explanation.c (the move in words)
 */
#include "services/carts/policy/decision.h"
#include <stddef.h>

static struct decision still(enum decision_why why, int64_t next_us)
{
	return (struct decision){ .kind = DECISION_STILL_SHOPPING, .why = why, .next_us = next_us };
}

static struct decision give_up(enum decision_why why, ClosedReason closes)
{
	return (struct decision){ .kind = DECISION_GIVE_UP, .why = why, .closes = closes };
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * After a purchase, an opt-out or a stop by the owner the cart is not looked at again. After a passing stop
 * it is.
 */
static struct decision stopped(const struct decision_facts *facts)
{
	struct decision decision = still(WHY_STOPPED, 0);

	switch (facts->stopped.stop) {
	case STOP_NONE:
	case STOP_BOUGHT:
		break;
	case STOP_OPTED_OUT:
	case STOP_COMPLAINED:
	case STOP_BOUNCED:
	case STOP_SUPPRESSED:
		decision.closes = CLOSED_OPTED_OUT;
		break;
	case STOP_BY_OWNER:
		decision.closes = CLOSED_BY_OWNER;
		break;
	case STOP_EMPTIED:
	case STOP_CHANGED:
	case STOP_PAUSED:
		decision.next_us = facts->now_us + DECISION_LOOK_AGAIN_US;
		break;
	}
	return decision;
}

static struct decision nobody_to_write_to(const struct decision_facts *facts)
{
	int64_t old_us = facts->abandoned_us + DECISION_NO_ADDRESS_US;

	if (facts->now_us >= old_us)
		return give_up(facts->bad_address ? WHY_BAD_GREW_OLD : WHY_GREW_OLD, CLOSED_NO_ADDRESS);
	return still(facts->bad_address ? WHY_BAD_ADDRESS : WHY_NO_ADDRESS, old_us);
}

/* In a shop that is only observed, a mail that would have been sent counts as sent. */
static struct send sent_or_would(const struct decision_facts *facts, uint32_t step)
{
	struct send send = step == 1 ? facts->first : facts->second;

	if (facts->mode == MODE_OBSERVE && facts->would_step >= step && !send_is_spent(send.phase))
		send = (struct send){ .phase = SEND_SENT, .at_us = facts->would_us };
	return send;
}

static int64_t sending_minute(const struct decision_facts *facts, int64_t us)
{
	return facts->rules && facts->zone ? rules_next_sending_us(facts->rules, facts->zone, us) : us;
}

/*
 * A window that the owner did not write applies only between mails about different carts: the waits, which
 * the owner did write, keep the two mails of one cart apart. In mode "mail me", which mails the owner, there
 * is no window.
 */
static int64_t window_over_us(const struct decision_facts *facts, enum decision_kind kind)
{
	bool own_first = kind == DECISION_SECOND_REMINDER && send_may_have_gone(facts->first.phase) &&
		facts->first.at_us >= facts->last_mail_us;

	if (!facts->last_mail_us || facts->mode == MODE_MAIL_ME || (own_first && !facts->window_written))
		return 0;
	return facts->last_mail_us + facts->window_us;
}

static int64_t capped_until_us(const struct decision_facts *facts)
{
	return facts->mode == MODE_MAIL_ME ? 0 : facts->capped_until_us;
}

/*
 * The time from which on a mail counts as deferred. Quiet days that the owner wrote do not count, because the
 * mail is due after them.
 */
static int64_t deferred_from_us(const struct decision_facts *facts, int64_t wait_over_us)
{
	return later(wait_over_us, sending_minute(facts, wait_over_us) - US_PER_DAY);
}

/*
 * The wait is over at wait_over_us. The mail may be due later, because this shopper got another mail, or
 * because of quiet hours.
 */
static struct decision remind(const struct decision_facts *facts, enum decision_kind kind, int64_t wait_over_us)
{
	int64_t window_us = window_over_us(facts, kind), free_us = later(window_us, capped_until_us(facts));
	int64_t due_us = sending_minute(facts, later(wait_over_us, free_us));
	struct decision decision;

	if (facts->now_us < wait_over_us) {
		decision = still(WHY_TOO_EARLY, wait_over_us);
		due_us = wait_over_us;
	} else if (facts->now_us - due_us > DECISION_LATE_US ||
		facts->now_us - deferred_from_us(facts, wait_over_us) > DECISION_DEFERRED_MOST_US) {
		decision = give_up(WHY_TOO_LATE, CLOSED_TOO_LATE);
	} else if (facts->now_us < free_us) {
		decision = still(WHY_WINDOW, due_us);
		decision.window_until_us = free_us;
		decision.is_capped = free_us > window_us;
		decision.quiet_until_us = due_us > free_us ? due_us : 0;
	} else if (sending_minute(facts, facts->now_us) > facts->now_us) {
		decision = still(WHY_QUIET, sending_minute(facts, facts->now_us));
		decision.quiet_until_us = decision.next_us;
	} else {
		decision = (struct decision){ .kind = kind, .why = WHY_DUE, .say = facts->mode != MODE_OBSERVE };
	}
	decision.due_us = due_us;
	return decision;
}

static struct decision first_reminder(const struct decision_facts *facts)
{
	struct decision decision = remind(facts, DECISION_FIRST_REMINDER, facts->abandoned_us + facts->first_us);

	if (decision.kind == DECISION_FIRST_REMINDER && !facts->second_us)
		decision.next_us = facts->now_us + DECISION_CLOSING_US + DECISION_CLOSING_SLACK_US;
	else if (decision.kind == DECISION_FIRST_REMINDER)
		decision.next_us = later(facts->abandoned_us + facts->second_us, facts->now_us + DECISION_BETWEEN_US);
	return decision;
}

static struct decision second_reminder(const struct decision_facts *facts, const struct send *first)
{
	int64_t wait_over_us = later(facts->abandoned_us + facts->second_us, first->at_us + DECISION_BETWEEN_US);
	struct decision decision = remind(facts, DECISION_SECOND_REMINDER, wait_over_us);

	if (decision.kind == DECISION_SECOND_REMINDER)
		decision.next_us = facts->now_us + DECISION_CLOSING_US + DECISION_CLOSING_SLACK_US;
	return decision;
}

static struct decision all_spent(
	const struct decision_facts *facts, const struct send *last, enum decision_why waits, enum decision_why over)
{
	int64_t over_us = last->at_us + DECISION_CLOSING_US;

	if (facts->now_us < over_us)
		return still(waits, over_us + DECISION_CLOSING_SLACK_US);
	return give_up(over, CLOSED_GAVE_UP);
}

struct decision decision_make(const struct decision_facts *facts)
{
	struct send first = sent_or_would(facts, 1), second = sent_or_would(facts, 2);

	if (!facts->open)
		return still(WHY_NOT_OPEN, 0);
	if (facts->stopped.stop != STOP_NONE)
		return stopped(facts);
	if (!facts->has_address)
		return nobody_to_write_to(facts);
	if (!facts->documents)
		return still(WHY_NO_DOCUMENTS, facts->now_us + DECISION_LOOK_AGAIN_US);
	if (facts->newer_cart && !send_is_spent(second.phase))
		return give_up(WHY_NEWER_CART, CLOSED_NEWER_CART);
	if (facts->eligibility.eligibility != ELIGIBILITY_YES)
		return give_up(WHY_NOT_CHASED, CLOSED_NOT_CHASED);
	if (send_is_spent(second.phase))
		return all_spent(facts, &second, WHY_WAITS_FOR_BUY, WHY_BOTH_SENT);
	if (!facts->first_us)
		return give_up(WHY_NO_REMINDER, CLOSED_NOT_CHASED);
	if (!send_is_spent(first.phase))
		return first_reminder(facts);
	if (first.phase == SEND_REFUSED || first.phase == SEND_SKIPPED)
		return give_up(WHY_FIRST_FAILED, first.phase == SEND_REFUSED ? CLOSED_GAVE_UP : CLOSED_TOO_LATE);
	if (!facts->second_us)
		return all_spent(facts, &first, WHY_WAITS_AFTER_ONE, WHY_ONE_SENT);
	return second_reminder(facts, &first);
}

const char *decision_why_text(enum decision_why why)
{
	static const char *const texts[] = { [WHY_TOO_EARLY] = "the wait is not over",
		[WHY_DUE] = "the wait is over",
		[WHY_STOPPED] = "a stop holds",
		[WHY_NOT_OPEN] = "the cart is not open any more",
		[WHY_NO_DOCUMENTS] = "the shop's rules or its configuration have not arrived yet",
		[WHY_NO_ADDRESS] = "there is no address to write to",
		[WHY_GREW_OLD] = "it waited 30 days for an address",
		[WHY_BAD_ADDRESS] = "the address that the storefront gave cannot be mailed: it is no mail address",
		[WHY_BAD_GREW_OLD] = "it waited 30 days for an address that can be mailed",
		[WHY_NOT_CHASED] = "the shop's policy is not to chase it",
		[WHY_NEWER_CART] = "this shopper has a newer cart, and is chased for that one alone",
		[WHY_QUIET] = "these are the shop's quiet hours",
		[WHY_WINDOW] = "this shopper had a mail a short while ago",
		[WHY_TOO_LATE] = "the mail would be more than a day late",
		[WHY_FIRST_FAILED] = "the first reminder did not go out, so there is no second",
		[WHY_WAITS_FOR_BUY] = "both reminders went out, and the shopper has time to buy",
		[WHY_BOTH_SENT] = "both reminders went out and nothing was bought",
		[WHY_NO_REMINDER] = "the rules have no reminder for a cart of this amount",
		[WHY_WAITS_AFTER_ONE] = "its one reminder went out, and the shopper has time to buy",
		[WHY_ONE_SENT] = "its one reminder went out and nothing was bought" };

	return texts[why];
}
