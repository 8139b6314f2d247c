/*
 * grounds.c: a move in one sentence, for `cartbus why`
 *
 * Promises:  says every number the decision was made on: how long ago the cart was left, its size and waits, what went out when.
 * Read next: services/carts/policy/move.c
 */
#include "services/carts/waiter/grounds.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/money/money.h"
#include "services/kit/time/moment.h"
#include <stdio.h>

static void waits_words(const struct move_facts *facts, char ret[80])
{
	char first[24], second[24];

	span_words(facts->first_us, first);
	span_words(facts->second_us, second);
	if (!facts->first_us)
		snprintf(ret, 80, "no reminder");
	else if (!facts->second_us)
		snprintf(ret, 80, "%s, one reminder only", first);
	else
		snprintf(ret, 80, "%s then %s", first, second);
}

static void total_words(const CartState *cart, char ret[48])
{
	char amount[40];

	if (!cart->total_minor || !cart->currency[0]) {
		snprintf(ret, 48, "a total that was not given");
		return;
	}
	money_plain(cart->total_minor, cart->currency, amount, sizeof(amount));
	snprintf(ret, 48, "%s %s", amount, cart->currency);
}

static void add_waits(
	struct buffer *line, const struct move_facts *facts, const struct choice *choice, const CartState *cart)
{
	char waits[80], size[96], total[48];

	waits_words(facts, waits);
	total_words(cart, total);
	if (choice->overridden)
		buffer_printf(line, ", %s, with waits of its own: %s", total, waits);
	else
		buffer_printf(line, ", %s is %s%s: %s%s", total, rules_size_words(&choice->rules, size),
			choice->rules.unknown_currency ? " (its currency has no threshold)" : "",
			facts->first_us ? "waits " : "", waits);
}

static const char *phase_words(enum send_phase phase)
{
	switch (phase) {
	case SEND_NONE:
		return "not sent";
	case SEND_CLAIMED:
		return "being sent since";
	case SEND_SENT:
		return "sent";
	case SEND_RELEASED:
		return "tried and not delivered";
	case SEND_REFUSED:
		return "refused";
	case SEND_AMBIGUOUS:
		return "sent perhaps";
	case SEND_SKIPPED:
		return "skipped";
	}
	return "not sent";
}

static void add_send(struct buffer *line, const struct move_facts *facts, const char *which, const struct send *send)
{
	char ago[24];

	buffer_printf(line, "; %s %s", which, phase_words(send->phase));
	if (send->phase != SEND_NONE)
		buffer_printf(line, " %s ago", span_words(facts->now_us - send->at_us, ago));
}

static void add_why(struct buffer *line, const struct move_facts *facts, const struct move *move)
{
	char span[24];

	buffer_printf(line, "; %s",
		move->why == WHY_STOPPED              ? stop_name(facts->stopped.stop)
			: move->why == WHY_NOT_CHASED ? chase_text(facts->chase.chase)
						      : move_why_text(move->why));
	if (move->why == WHY_NOT_CHASED && *facts->chase.what)
		buffer_printf(line, ": %.80s", facts->chase.what);
	if (move->why == WHY_NEWER_CART)
		buffer_printf(line, " (%s)", facts->newer_cart);
	if (move->why == WHY_STOPPED)
		buffer_printf(line, " (message %llu)", (unsigned long long)facts->stopped.seq);
	if (move->why == WHY_WINDOW && move->is_capped)
		buffer_add_text(line, " (as many as the rules allow)");
	else if (move->why == WHY_WINDOW)
		buffer_printf(line, " (%s ago; at most one in %s)",
			span_words(facts->now_us - facts->last_mail_us, (char[24]){ 0 }),
			span_words(facts->window_us, span));
	if (move->why == WHY_TOO_LATE)
		buffer_printf(line, " (%s)", span_words(facts->now_us - move->due_us, span));
	if (move->kind == MOVE_FIRST_REMINDER || move->kind == MOVE_SECOND_REMINDER)
		buffer_add_text(line, move->say ? "" : "; the shop is only observed, nothing is sent");
}

const char *grounds_line(const struct move_facts *facts, const struct move *move, const struct choice *choice,
	const CartState *cart, char ret[GROUNDS_MAX])
{
	_cleanup_(buffer_free) struct buffer line = { 0 };
	char ago[24];

	buffer_printf(&line, "%s %s ago",
		facts->stopped.unpaid_us >= facts->abandoned_us ? "ordered and not paid" : "left",
		span_words(facts->now_us - facts->abandoned_us, ago));
	if (facts->documents && facts->open && facts->has_address) {
		add_waits(&line, facts, choice, cart);
		add_send(&line, facts, "first", &facts->first);
		add_send(&line, facts, "second", &facts->second);
	}
	add_why(&line, facts, move);
	text_copy(ret, GROUNDS_MAX, buffer_text(&line));
	return ret;
}

const char *grounds_action(const struct move *move)
{
	switch (move->kind) {
	case MOVE_STILL_SHOPPING:
		return move->why == WHY_QUIET || move->why == WHY_WINDOW ? "deferred" : "still_shopping";
	case MOVE_FIRST_REMINDER:
		return move->say ? "first_reminder" : "would_send_first";
	case MOVE_SECOND_REMINDER:
		return move->say ? "second_reminder" : "would_send_second";
	case MOVE_GIVE_UP:
		return move->why == WHY_TOO_LATE ? "skipped" : "give_up";
	}
	return "still_shopping";
}
