/*
 * cart.h: how an event changes one cart's row: pure functions
 *
 * Read next: upsert.c, merge.c, purchase.c; intake.c turns their results into facts
 */
#ifndef CARTS_INTAKE_CART_H
#define CARTS_INTAKE_CART_H

#include "bus/base/clock.h"
#include "proto/cart_topics.h"
#include <stdbool.h>

/*
 * A change is late if it was older than HEARD_LATE_US when the storefront reported it (an import, a plugin's
 * back-fill), or is older than DECIDED_LATE_US when it is decided on (a replay, a long downtime of ours). A
 * cart that is first seen by a late change is recorded but never gets reminders, and a late change does not
 * open a cart again. A mail that is more than a day late is not sent anyway, and no platform delivers later
 * than that.
 */
#define HEARD_LATE_US US_PER_DAY
#define DECIDED_LATE_US (3 * US_PER_DAY)

struct cart_change {
	bool changed;   /* anything at all */
	bool restarted; /* the wait begins again, because the shopper did something */
	bool emptied;
	bool reopened;
	bool reachable; /* it had no address and now has one */
	bool retimed;   /* its own waits have changed */
};

/*
 * An event that is newer than all before overwrites the fields that it has; an older one only adds missing
 * fields. A cart that was bought, given up, opted out or stopped by the owner takes new fields too, but is
 * not opened again.
 */
struct cart_change cart_upsert(CartState *row, const CartChanged *changed, int64_t now_us);
/* Makes the row of a new cart. The caller chooses cart_id. */
struct cart_change cart_first_seen(CartState *row, const char *cart_id, const CartChanged *changed, int64_t now_us);

bool cart_same(const CartState *a, const CartState *b);
void cart_learn_ids(CartState *row, const CartIds *ids, bool newer);
/*
 * Sets the consent together with whether it could be read, if it is known and newer than the row's; of two at
 * one time a no counts. `at_us` is the platform's time.
 */
void cart_take_consent(CartState *row, Consent consent, bool is_unreadable, int64_t at_us);
/* Sets the time of the row's newest change. The consent in a row of a release before 0.3 keeps its time. */
void cart_set_changed(CartState *row, int64_t at_us);
/* `url` may be "". The platform of a row is that of its URL: it decides to which hosts the URL may lead. */
void cart_take_way_back(CartState *row, const char *url, Platform platform, bool newer);
bool cart_has_address(const CartState *row);

/* Adds the fields of `loser` to the winner as far as it needs them, and closes the loser as merged. */
void cart_merge(CartState *winner, CartState *loser, int64_t now_us);
/* true: a is the older one and keeps its id. */
bool cart_is_older(const CartState *a, const CartState *b);

/*
 * Applies a purchase. false: nothing has changed. Every row that is not bought yet becomes bought; ids are
 * added in any case.
 */
bool cart_bought(CartState *row, const CartCheckout *checkout, bool by_id);

/* Marks this cart as bought by the same order as the cart `by`. */
void cart_bought_with(CartState *row, const CartState *by);

/* cart_line writes, for audits: "open, 2 items, 45.00 EUR, abandoned 2026-11-20 14:05 UTC, revision 3". */
const char *cart_time(int64_t us, char ret[32]); /* "2026-11-20 14:05 UTC" */
enum { CART_LINE_MAX = 200 };
const char *cart_line(const CartState *row, char ret[CART_LINE_MAX]);

#endif
