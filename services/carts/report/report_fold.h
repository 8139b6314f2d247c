/* report_fold.h: the report fold: one row for each cart with its results, from which reports are made */
#ifndef CARTS_REPORT_REPORT_FOLD_H
#define CARTS_REPORT_REPORT_FOLD_H

#include "bus/actor/service.h"
#include "proto/cart_topics.h"
#include "services/carts/policy/sends.h"
#include "services/kit/shop/shop.h"

/*
 * The carts. A row is a struct of report_fold.c, or the beginning of that struct if an older program wrote
 * it.
 */
STATE_STRINGS(report_fold_carts, "ledger");

void report_fold_remember_cart(struct state *state, const struct message_meta *said, const CartState *cart);
void report_fold_remember_outcome(
	struct state *state, const struct message_meta *said, const ReminderOutcome *outcome); /* any but claims */
void report_fold_remember_click(struct state *state, const struct message_meta *said, const LinkClicked *clicked);
void report_fold_remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback);
void report_fold_remember_suppression(
	struct state *state, const struct message_meta *said, const Suppression *suppression);

#define REPORT_FOLD_REMEMBERED REPORT_FOLD_REMEMBERED_BY(report_fold_remember_cart)
/* For services that also use cart.state themselves: `cart` must call report_fold_remember_cart. */
#define REPORT_FOLD_REMEMBERED_BY(cart)                                                                                \
	REMEMBERS(cart_state, cart), REMEMBERS_FOR_A_WHILE(reminder_sent, report_fold_remember_outcome),               \
		REMEMBERS_FOR_A_WHILE(reminder_refused, report_fold_remember_outcome),                                 \
		REMEMBERS_FOR_A_WHILE(reminder_ambiguous, report_fold_remember_outcome),                               \
		REMEMBERS_FOR_A_WHILE(reminder_skipped, report_fold_remember_outcome),                                 \
		REMEMBERS(link_clicked, report_fold_remember_click)
/* For services that also count people. */
#define REPORT_FOLD_REMEMBERED_OF_PEOPLE                                                                               \
	REMEMBERS_FOR_A_WHILE(mail_feedback, report_fold_remember_feedback),                                           \
		REMEMBERS_FOR_A_WHILE(suppression, report_fold_remember_suppression)

enum { REPORT_FOLD_CLICKS_MAX = 6 };

struct report_fold_row {
	CartStatus status;
	ClosedReason closed_reason;
	int64_t first_seen_us, abandoned_us, bought_us, closed_us;
	int64_t total_minor, order_total_minor, order_refunded_minor, order_cancelled_us;
	char currency[4], order_currency[4];
	char address_hash[40];               /* "": no address yet */
	int64_t own_first_us, own_second_us; /* the cart's own waits; 0: those of the rules */
	struct report_fold_mail {
		enum send_phase phase; /* SENT, REFUSED, AMBIGUOUS, SKIPPED or NONE */
		int64_t at_us;
		bool to_owner;
	} mails[2]; /* including the mails of merged carts */
	int click_count;
	struct report_fold_click {
		uint32_t step;
		int64_t at_us;
	} clicks[REPORT_FOLD_CLICKS_MAX]; /* the first clicks, and the last one */
};

/*
 * Calls each() in order of cart id. Test carts are left out, and so are carts that were merged into another
 * one.
 */
typedef void report_fold_each_fn(const char *cart_id, const struct report_fold_row *row, void *context);
void report_fold_each(const struct state *state, const char *shop, report_fold_each_fn *each, void *context);

/* The row of one cart; false: there is none, or report_fold_each leaves it out, and *ret is all zero. */
bool report_fold_get(const struct state *state, const char *shop, const char *cart_id, struct report_fold_row *ret);

struct report_fold_people {
	uint32_t opted_out; /* the shoppers themselves: on the page, or in the mailbox */
	uint32_t complaints, bounces;
};
/* Within from_us <= t < to_us. */
struct report_fold_people report_fold_people(
	const struct state *state, const char *shop, int64_t from_us, int64_t to_us);

/* Part of a fold: drops the carts that had ended by before_us, and the rows of people. */
void report_fold_forget(struct state *state, const char *shop, int64_t before_us);

/*
 * Attribution: how far an order is due to our mails, in three cautious classes
 *
 * Clicked: the shopper followed a mail's link and bought within a window. Mailed: a mail was sent to the
 * shopper within a window before the order; nobody knows if it was the reason. Anyway: all other orders, also
 * if it is unknown whether the mail arrived.
 *
 * These are pure functions over one cart's row. Refunds and cancellations are subtracted from an order.
 */

enum attribution { ATTRIBUTION_CLICKED, ATTRIBUTION_MAILED, ATTRIBUTION_ANYWAY, ATTRIBUTION_CLASSES, ATTRIBUTION_NONE };

/*
 * NONE: nothing was bought. A click within a minute after its mail comes from a mail scanner and does not
 * count.
 */
enum attribution attribution_of(const struct report_fold_row *row, const struct shop_windows *windows);
/* The time from the last click, and from the last mail, to the purchase; INT64_MAX: none of them came before it. */
struct attribution_lags {
	int64_t clicked_us, mailed_us;
};
struct attribution_lags attribution_lags_of(const struct report_fold_row *row);
/* The class of a purchase with these lags. */
enum attribution attribution_within(const struct attribution_lags *lags, const struct shop_windows *windows);
/*
 * The total of the order and its refunds, 0 <= back <= total, in the order's currency (the cart's if that is
 * unknown).
 */
struct attribution_money {
	char currency[4];
	int64_t total_minor, back_minor;
};
struct attribution_money attribution_money(const struct report_fold_row *row);
/* true: the order was cancelled, or all the money was refunded. */
bool attribution_taken_back(const struct report_fold_row *row);

#endif
