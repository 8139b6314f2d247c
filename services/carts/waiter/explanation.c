/*
 * explanation.c: explains a decision in one sentence, for `cartbus why`
 *
 * Promises:  names every number that the decision used: how long ago the cart was left, its total and waits,
 *            and when each mail was sent.
 * Read next: services/carts/policy/decision.c
 */
#include "services/carts/waiter/explanation.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/money/money.h"
#include "services/kit/time/timestamp.h"
#include <stdio.h>

static void waits_words(const struct decision_facts *facts, char ret[80])
{
	char first[24], second[24];

	duration_words(facts->first_us, first);
	duration_words(facts->second_us, second);
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
	struct buffer *line, const struct decision_facts *facts, const struct choice *choice, const CartState *cart)
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

static void add_send(
	struct buffer *line, const struct decision_facts *facts, const char *which, const struct send *send)
{
	char ago[24];

	buffer_printf(line, "; %s %s", which, phase_words(send->phase));
	if (send->phase != SEND_NONE)
		buffer_printf(line, " %s ago", duration_words(facts->now_us - send->at_us, ago));
}

enum { PATTERN_ROOM = 81 }; /* in bytes; a longer pattern is cut */

static void add_why(struct buffer *line, const struct decision_facts *facts, const struct decision *decision)
{
	char span[24], what[PATTERN_ROOM];

	buffer_printf(line, "; %s",
		decision->why == WHY_STOPPED              ? stop_name(facts->stopped.stop)
			: decision->why == WHY_NOT_CHASED ? eligibility_text(facts->eligibility.eligibility)
							  : decision_why_text(decision->why));
	if (decision->why == WHY_NOT_CHASED && *facts->eligibility.what) {
		TEXT_COPY(what, facts->eligibility.what);
		buffer_printf(line, ": %s", what);
	}
	if (decision->why == WHY_NEWER_CART)
		buffer_printf(line, " (%s)", facts->newer_cart);
	if (decision->why == WHY_STOPPED)
		buffer_printf(line, " (message %llu)", (unsigned long long)facts->stopped.seq);
	if (decision->why == WHY_WINDOW && decision->is_capped)
		buffer_add_text(line, " (as many as the rules allow)");
	else if (decision->why == WHY_WINDOW)
		buffer_printf(line, " (%s ago; at most one in %s)",
			duration_words(facts->now_us - facts->last_mail_us, (char[24]){ 0 }),
			duration_words(facts->window_us, span));
	if (decision->why == WHY_TOO_LATE)
		buffer_printf(line, " (%s)", duration_words(facts->now_us - decision->due_us, span));
	if (decision->kind == DECISION_FIRST_REMINDER || decision->kind == DECISION_SECOND_REMINDER)
		buffer_add_text(line, decision->say ? "" : "; the shop is only observed, nothing is sent");
}

const char *explanation_line(const struct decision_facts *facts, const struct decision *decision,
	const struct choice *choice, const CartState *cart, char ret[EXPLANATION_MAX])
{
	_cleanup_(buffer_free) struct buffer line = { 0 };
	char ago[24];

	buffer_printf(&line, "%s %s ago",
		facts->stopped.unpaid_us >= facts->abandoned_us ? "ordered and not paid" : "left",
		duration_words(facts->now_us - facts->abandoned_us, ago));
	if (facts->documents && facts->open && facts->has_address) {
		add_waits(&line, facts, choice, cart);
		add_send(&line, facts, "first", &facts->first);
		add_send(&line, facts, "second", &facts->second);
	}
	add_why(&line, facts, decision);
	text_copy(ret, EXPLANATION_MAX, buffer_text(&line));
	return ret;
}

const char *explanation_action(const struct decision *decision)
{
	switch (decision->kind) {
	case DECISION_STILL_SHOPPING:
		return decision->why == WHY_QUIET || decision->why == WHY_WINDOW ? "deferred" : "still_shopping";
	case DECISION_FIRST_REMINDER:
		return decision->say ? "first_reminder" : "would_send_first";
	case DECISION_SECOND_REMINDER:
		return decision->say ? "second_reminder" : "would_send_second";
	case DECISION_GIVE_UP:
		return decision->why == WHY_TOO_LATE ? "skipped" : "give_up";
	}
	return "still_shopping";
}
