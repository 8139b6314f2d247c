/*
 * days.h: the figures of each day of a shop, by the shop's calendar
 *
 * Each cart has a share in the days on which it was left, first mailed and bought; each person in the day on which they said no, or their
 * address bounced. A day's row is the sum of these shares. When a share changes, the old one is subtracted and the new one added, so
 * a page reads one row for each day.
 *
 * The figures are those of `cartbus report` (carts/report), with two differences: a cart counts as mailed on the day of its first mail
 * alone, and a sum of money beyond 64 bits is not held back. A cart that the log has forgotten keeps its part of the days' rows, until
 * they are forgotten too; they are never younger than 400 days then.
 */
#ifndef CARTS_CONSOLE_DAYS_H
#define CARTS_CONSOLE_DAYS_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"

struct day_row {
	int64_t left, mailed;
	int64_t bought;        /* orders after a click or a mail, without those taken back */
	int64_t bought_anyway; /* all other orders, without those taken back */
	int64_t said_no;       /* opted out, or complained */
	int64_t bounced;
};
STATE_STRUCTS(days, "page.day", struct day_row); /* by "2026-11-20" */

/* The money of orders less their refunds. */
struct day_money {
	int64_t clicked_minor, mailed_minor;
};
STATE_STRUCTS(days_money, "page.money", struct day_money); /* by "2026-11-20/EUR" */

enum { DAY_MAX = 12 };
/* The local day in which `us` lies, `later` days later (or earlier, if negative). */
void day_name(const char *zone, int64_t us, int later, char ret[DAY_MAX]);

/* Parts of folds, after the report's rows were folded. */
void days_refresh_cart(
	struct state *state, const char *shop, const char *cart_id, bool ends); /* `ends`: the cart has ended */
void days_remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback);
void days_remember_suppression(struct state *state, const struct message_meta *said, const Suppression *fact);
/* Of the shop's own document: its zone, and how long a click or a mail counts. If one changes, all days are summed anew. */
void days_remember_document(struct state *state, const struct message_meta *said, const Document *document);

#endif
