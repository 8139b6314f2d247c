/*
 * move.c: the four moves
 *
 * Promises:  pure; exactly one move; never both mails at once, never a second without a first, never a third; what
 *            forbids a mail is asked about before any wait.
 * Read next: move.h, plan.c (the next mail), services/carts/waiter/waiter.c (where the facts come from), services/carts/waiter/grounds.c (the move in words)
 */
#include "services/carts/policy/move.h"
#include <stddef.h>

static struct move still(enum move_why why, int64_t next_us)
{
	return (struct move){ .kind = MOVE_STILL_SHOPPING, .why = why, .next_us = next_us };
}

static struct move give_up(enum move_why why, ClosedReason closes)
{
	return (struct move){ .kind = MOVE_GIVE_UP, .why = why, .closes = closes };
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Who bought, opted out or was stopped is left alone, and is not looked at again. */
static struct move stopped(const struct move_facts *facts)
{
	struct move move = still(WHY_STOPPED, 0);

	switch (facts->stopped.stop) {
	case STOP_NONE:
	case STOP_BOUGHT:
		break;
	case STOP_OPTED_OUT:
	case STOP_COMPLAINED:
	case STOP_BOUNCED:
	case STOP_SUPPRESSED:
		move.closes = CLOSED_OPTED_OUT;
		break;
	case STOP_BY_OWNER:
		move.closes = CLOSED_BY_OWNER;
		break;
	case STOP_EMPTIED:
	case STOP_CHANGED:
	case STOP_PAUSED:
		move.next_us = facts->now_us + MOVE_LOOK_AGAIN_US;
		break;
	}
	return move;
}

static struct move nobody_to_write_to(const struct move_facts *facts)
{
	int64_t old_us = facts->abandoned_us + MOVE_NO_ADDRESS_US;

	if (facts->now_us >= old_us)
		return give_up(facts->bad_address ? WHY_BAD_GREW_OLD : WHY_GREW_OLD, CLOSED_NO_ADDRESS);
	return still(facts->bad_address ? WHY_BAD_ADDRESS : WHY_NO_ADDRESS, old_us);
}

/* In a shop that is only observed, what would have gone counts as gone. */
static struct send sent_or_would(const struct move_facts *facts, uint32_t step)
{
	struct send send = step == 1 ? facts->first : facts->second;

	if (facts->mode == MODE_OBSERVE && facts->would_step >= step && !send_is_spent(send.phase))
		send = (struct send){ .phase = SEND_SENT, .at_us = facts->would_us };
	return send;
}

static int64_t sending_minute(const struct move_facts *facts, int64_t us)
{
	return facts->rules && facts->zone ? rules_next_sending_us(facts->rules, facts->zone, us) : us;
}

/*
 * A window that the owner did not write keeps mails about other carts apart: between the two of one cart lie the waits, which the
 * owner did write. The owner's own mailbox ("mail me") has none.
 */
static int64_t window_over_us(const struct move_facts *facts, enum move_kind kind)
{
	bool own_first = kind == MOVE_SECOND_REMINDER && send_may_have_gone(facts->first.phase) &&
		facts->first.at_us >= facts->last_mail_us;

	if (!facts->last_mail_us || facts->mode == MODE_MAIL_ME || (own_first && !facts->window_written))
		return 0;
	return facts->last_mail_us + facts->window_us;
}

static int64_t capped_until_us(const struct move_facts *facts)
{
	return facts->mode == MODE_MAIL_ME ? 0 : facts->capped_until_us;
}

/* From when on a mail that was pushed back is too late. Quiet days that the owner wrote push nothing back: the mail is due behind them. */
static int64_t deferred_from_us(const struct move_facts *facts, int64_t wait_over_us)
{
	return later(wait_over_us, sending_minute(facts, wait_over_us) - US_PER_DAY);
}

/* The wait is over at wait_over_us; the mail may be due later, because this shopper had another one, or the shop sleeps. */
static struct move remind(const struct move_facts *facts, enum move_kind kind, int64_t wait_over_us)
{
	int64_t window_us = window_over_us(facts, kind), free_us = later(window_us, capped_until_us(facts));
	int64_t due_us = sending_minute(facts, later(wait_over_us, free_us));
	struct move move;

	if (facts->now_us < wait_over_us) {
		move = still(WHY_TOO_EARLY, wait_over_us);
		due_us = wait_over_us;
	} else if (facts->now_us - due_us > MOVE_LATE_US ||
		facts->now_us - deferred_from_us(facts, wait_over_us) > MOVE_DEFERRED_MOST_US) {
		move = give_up(WHY_TOO_LATE, CLOSED_TOO_LATE);
	} else if (facts->now_us < free_us) {
		move = still(WHY_WINDOW, due_us);
		move.window_until_us = free_us;
		move.is_capped = free_us > window_us;
		move.quiet_until_us = due_us > free_us ? due_us : 0;
	} else if (sending_minute(facts, facts->now_us) > facts->now_us) {
		move = still(WHY_QUIET, sending_minute(facts, facts->now_us));
		move.quiet_until_us = move.next_us;
	} else {
		move = (struct move){ .kind = kind, .why = WHY_DUE, .say = facts->mode != MODE_OBSERVE };
	}
	move.due_us = due_us;
	return move;
}

static struct move first_reminder(const struct move_facts *facts)
{
	struct move move = remind(facts, MOVE_FIRST_REMINDER, facts->abandoned_us + facts->first_us);

	if (move.kind == MOVE_FIRST_REMINDER && !facts->second_us)
		move.next_us = facts->now_us + MOVE_CLOSING_US + MOVE_CLOSING_SLACK_US;
	else if (move.kind == MOVE_FIRST_REMINDER)
		move.next_us = later(facts->abandoned_us + facts->second_us, facts->now_us + MOVE_BETWEEN_US);
	return move;
}

static struct move second_reminder(const struct move_facts *facts, const struct send *first)
{
	int64_t wait_over_us = later(facts->abandoned_us + facts->second_us, first->at_us + MOVE_BETWEEN_US);
	struct move move = remind(facts, MOVE_SECOND_REMINDER, wait_over_us);

	if (move.kind == MOVE_SECOND_REMINDER)
		move.next_us = facts->now_us + MOVE_CLOSING_US + MOVE_CLOSING_SLACK_US;
	return move;
}

static struct move all_spent(
	const struct move_facts *facts, const struct send *last, enum move_why waits, enum move_why over)
{
	int64_t over_us = last->at_us + MOVE_CLOSING_US;

	if (facts->now_us < over_us)
		return still(waits, over_us + MOVE_CLOSING_SLACK_US);
	return give_up(over, CLOSED_GAVE_UP);
}

struct move move_decide(const struct move_facts *facts)
{
	struct send first = sent_or_would(facts, 1), second = sent_or_would(facts, 2);

	if (!facts->open)
		return still(WHY_NOT_OPEN, 0);
	if (facts->stopped.stop != STOP_NONE)
		return stopped(facts);
	if (!facts->has_address)
		return nobody_to_write_to(facts);
	if (!facts->documents)
		return still(WHY_NO_DOCUMENTS, facts->now_us + MOVE_LOOK_AGAIN_US);
	if (facts->newer_cart && !send_is_spent(second.phase))
		return give_up(WHY_NEWER_CART, CLOSED_NEWER_CART);
	if (facts->chase.chase != CHASE_YES)
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

const char *move_why_text(enum move_why why)
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
