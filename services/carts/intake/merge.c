/*
 * merge.c: merges two rows that turn out to be one cart
 *
 * Promises:  pure. The older cart keeps its id. The winner takes every spent step of the loser, and its ids
 *            as far as the row has room for them. If either cart was bought, opted out or stopped by the
 *            owner, so is the winner. What was taken back of an order stays, whichever row knew it.
 * Read next: cart.h, carts/policy/sends.h (merged_from)
 */
#include "bus/base/text.h"
#include "services/carts/intake/cart.h"
#include "services/carts/policy/change.h"
#include <string.h>

bool cart_is_older(const CartState *a, const CartState *b)
{
	if (a->first_seen_us != b->first_seen_us)
		return a->first_seen_us < b->first_seen_us;
	return strcmp(a->ids.cart_id, b->ids.cart_id) < 0;
}

/* The rank of a row's end: the end with the higher rank holds for the merged cart. */
static int how_final(const CartState *row)
{
	static const int rank[] = { [CLOSED_NOT] = 0,
		[CLOSED_GAVE_UP] = 2,
		[CLOSED_NO_ADDRESS] = 0,
		[CLOSED_EMPTIED] = 0,
		[CLOSED_MERGED] = 0,
		[CLOSED_OPTED_OUT] = 3,
		[CLOSED_BY_OWNER] = 4,
		[CLOSED_TOO_LATE] = 0,
		[CLOSED_NOT_CHASED] = 0,
		[CLOSED_NEWER_CART] = 0 };

	return row->status == CART_BOUGHT ? 5 : rank[row->closed_reason];
}

/*
 * Adds to the order of `to` what the row `from` knows to be taken back of it. A row may know this before its
 * purchase, and then names the order (purchase.c).
 */
static void take_back(CartState *to, const CartState *from)
{
	if (*to->order_id && *from->order_id && strcmp(to->order_id, from->order_id) != 0)
		return;
	if (!*to->order_id)
		TEXT_COPY(to->order_id, from->order_id);
	if (!to->order_cancelled_us)
		to->order_cancelled_us = from->order_cancelled_us;
	if (from->order_refunded_minor > to->order_refunded_minor)
		to->order_refunded_minor = from->order_refunded_minor;
}

static void take_purchase(CartState *winner, const CartState *loser)
{
	const CartState before = *winner;

	winner->bought_us = loser->bought_us;
	TEXT_COPY(winner->payment_status, loser->payment_status);
	TEXT_COPY(winner->order_id, loser->order_id);
	winner->order_total_minor = loser->order_total_minor;
	winner->order_refunded_minor = loser->order_refunded_minor;
	winner->order_cancelled_us = loser->order_cancelled_us;
	TEXT_COPY(winner->order_currency, loser->order_currency);
	take_back(winner, &before);
}

static void take_end(CartState *winner, const CartState *loser, bool loser_newer)
{
	int winners = how_final(winner), losers = how_final(loser);
	bool takes = losers > winners || (losers == winners && loser_newer);

	if (takes) {
		winner->status = loser->status;
		winner->closed_reason = loser->closed_reason;
		winner->closed_us = loser->closed_us;
	}
	if (takes && loser->status == CART_BOUGHT)
		take_purchase(winner, loser);
	else
		take_back(winner, loser);
}

/*
 * merged_from names the carts whose spent steps count for the winner. If it has no room for another one, the
 * winner is closed, because otherwise a spent step could be mailed again.
 */
static void take_spent_steps(CartState *winner, const char *cart_id, int64_t now_us)
{
	const int most = (int)(sizeof(winner->merged_from) / sizeof(winner->merged_from[0]));

	for (int i = 0; i < winner->merged_from_count; i++) {
		if (strcmp(winner->merged_from[i], cart_id) == 0)
			return;
	}
	if (winner->merged_from_count < most) {
		TEXT_COPY(winner->merged_from[winner->merged_from_count++], cart_id);
		return;
	}
	if (winner->status == CART_OPEN) {
		winner->status = CART_CLOSED;
		winner->closed_reason = CLOSED_GAVE_UP;
		winner->closed_us = now_us;
	}
}

static void take_newer_contents(CartState *winner, const CartState *loser, bool newer)
{
	if (loser->items_count > 0 && (newer || winner->items_count == 0)) {
		memcpy(winner->items, loser->items, sizeof(winner->items));
		winner->items_count = loser->items_count;
		winner->items_left_out = loser->items_left_out;
	}
	if (*loser->currency && (newer || !*winner->currency)) {
		winner->total_minor = loser->total_minor;
		TEXT_COPY(winner->currency, loser->currency);
	}
	if (loser->discount_codes_count > 0 && (newer || winner->discount_codes_count == 0)) {
		memcpy(winner->discount_codes, loser->discount_codes, sizeof(winner->discount_codes));
		winner->discount_codes_count = loser->discount_codes_count;
	}
	if (loser->note_attributes_count > 0 && (newer || winner->note_attributes_count == 0)) {
		memcpy(winner->note_attributes, loser->note_attributes, sizeof(winner->note_attributes));
		winner->note_attributes_count = loser->note_attributes_count;
	}
	if (loser->tags_count > 0 && (newer || winner->tags_count == 0)) {
		memcpy(winner->tags, loser->tags, sizeof(winner->tags));
		winner->tags_count = loser->tags_count;
		winner->tags_left_out = loser->tags_left_out;
	}
}

#define NEWER_TEXT(winner, loser, field, newer)                                                                        \
	do {                                                                                                           \
		if (*(loser)->field && ((newer) || !*(winner)->field))                                                 \
			TEXT_COPY((winner)->field, (loser)->field);                                                    \
	} while (0)

static void take_newer_words(CartState *winner, const CartState *loser, bool newer)
{
	cart_take_way_back(winner, loser->recovery_url, loser->platform, newer);
	NEWER_TEXT(winner, loser, locale, newer);
	NEWER_TEXT(winner, loser, first_name, newer);
	cart_take_consent(winner, loser->consent, loser->consent_unreadable, consent_us(loser));
	if (loser->has_wait_override && (newer || !winner->has_wait_override)) {
		winner->has_wait_override = true;
		winner->wait_override = loser->wait_override;
	}
	winner->saved_link |= loser->saved_link;
	winner->test |= loser->test;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void close_merged(CartState *loser, const char *into, int64_t now_us)
{
	loser->status = CART_CLOSED;
	loser->closed_reason = CLOSED_MERGED;
	loser->closed_us = now_us;
	TEXT_COPY(loser->merged_into, into);
}

void cart_merge(CartState *winner, CartState *loser, int64_t now_us)
{
	bool newer = loser->changed_us > winner->changed_us;

	take_newer_contents(winner, loser, newer);
	take_newer_words(winner, loser, newer);
	take_end(winner, loser, newer);
	cart_learn_ids(winner, &loser->ids, newer);
	for (int i = 0; i < loser->also_count; i++)
		cart_learn_ids(winner, &loser->also[i], false);
	take_spent_steps(winner, loser->ids.cart_id, now_us);
	for (int i = 0; i < loser->merged_from_count; i++)
		take_spent_steps(winner, loser->merged_from[i], now_us);
	winner->abandoned_us = later(winner->abandoned_us, loser->abandoned_us);
	cart_set_changed(winner, later(winner->changed_us, loser->changed_us));
	winner->revision = (winner->revision > loser->revision ? winner->revision : loser->revision) + 1;
	close_merged(loser, winner->ids.cart_id, now_us);
}
