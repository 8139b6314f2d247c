/*
 * cart.h: what an event makes of one cart's row: pure functions
 *
 * Read next: upsert.c, merge.c, purchase.c; intake.c turns what they answer into facts
 */
#ifndef CARTS_INTAKE_CART_H
#define CARTS_INTAKE_CART_H

#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include <stdbool.h>

/*
 * A change that was older than HEARD_LATE_US when the storefront told of it (an import, a plugin's back-fill), or is older than
 * DECIDED_LATE_US when it is decided on (a replay, a long outage of ours): a cart that is first seen by it is recorded and never
 * chased, and it opens none again. A mail that is more than a day late is not sent anyway, and no platform delivers later than that.
 */
#define HEARD_LATE_US US_PER_DAY
#define DECIDED_LATE_US (3 * US_PER_DAY)

struct cart_change {
	bool changed;   /* anything at all */
	bool restarted; /* the clock: the shopper did something */
	bool emptied;
	bool reopened;
	bool reachable; /* it had no address, and has one now */
	bool retimed;   /* another wait override */
};

/*
 * An event newer than all before overwrites what it speaks of; an older one only adds what was not known. A cart that was bought,
 * given up, opted out or stopped by the owner learns, but is not opened again.
 */
struct cart_change cart_upsert(CartState *row, const CartChanged *changed, int64_t now_us);
/* A row for a cart that was never seen. cart_id is the caller's to choose. */
struct cart_change cart_first_seen(CartState *row, const char *cart_id, const CartChanged *changed, int64_t now_us);

bool cart_same(const CartState *a, const CartState *b);
void cart_learn_ids(CartState *row, const CartIds *ids, bool newer);
/* An answer and whether it could be read go together. */
void cart_take_consent(CartState *row, Consent consent, bool is_unreadable);
bool cart_has_address(const CartState *row);

/* Everything of `loser` that the winner should know goes into it; the loser is closed as merged. */
void cart_merge(CartState *winner, CartState *loser, int64_t now_us);
/* true: a is the older one and keeps its id. */
bool cart_is_older(const CartState *a, const CartState *b);

/* false: nothing to write. A purchase flips any row but one that says so already; ids are learnt in any case. */
bool cart_bought(CartState *row, const CartCheckout *checkout, bool by_id);

/* The order that bought `by` bought this one as well. */
void cart_bought_with(CartState *row, const CartState *by);

/* "open, 2 items, 45.00 EUR, abandoned 2026-11-20 14:05 UTC, revision 3": for audits. */
const char *cart_time(int64_t us, char ret[32]); /* "2026-11-20 14:05 UTC" */
enum { CART_LINE_MAX = 200 };
const char *cart_line(const CartState *row, char ret[CART_LINE_MAX]);

#endif
