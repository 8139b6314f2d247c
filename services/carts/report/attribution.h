/*
 * attribution.h: what an order owes to our mails: three classes that do not flatter
 *
 * Clicked: the shopper followed a mail's link and bought within a window. Mailed: a mail had gone to the shopper within a window
 * before the order; that it was the reason nobody knows. Anyway: all else, also where it is not known whether the mail arrived.
 *
 * Pure functions over one cart's row. What an order brought is what the shop kept of it: refunds and cancellations subtract.
 */
#ifndef CARTS_REPORT_ATTRIBUTION_H
#define CARTS_REPORT_ATTRIBUTION_H

#include "services/carts/report/ledger.h"
#include "services/kit/shop/shop.h"

enum attribution { ATTRIBUTION_CLICKED, ATTRIBUTION_MAILED, ATTRIBUTION_ANYWAY, ATTRIBUTION_CLASSES, ATTRIBUTION_NONE };

/* NONE: nothing was bought. A click within a minute of its mail is a mail scanner's and counts for nothing. */
enum attribution attribution_of(const struct ledger_row *row, const struct shop_windows *windows);
/* What the order came to and what went back of it, 0 <= back <= total, in the order's currency (the cart's when that is unknown). */
struct attribution_money {
	char currency[4];
	int64_t total_minor, back_minor;
};
struct attribution_money attribution_money(const struct ledger_row *row);
/* Nothing is left of it: cancelled, or all of the money went back. */
bool attribution_taken_back(const struct ledger_row *row);

#endif
