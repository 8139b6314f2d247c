/*
 * ledger.h: what became of each cart, one row each: what reports are made from
 */
#ifndef KIT_LEDGER_H
#define KIT_LEDGER_H

#include "bus/actor/service.h"
#include "proto/topics.h"
#include "services/kit/sends.h"

void ledger_remember_cart(struct state *state, const struct said *said, const CartState *cart);
void ledger_remember_outcome(
	struct state *state, const struct said *said, const ReminderOutcome *outcome); /* any but claims */

#define LEDGER_REMEMBERED                                                                                              \
	REMEMBERS(cart_state, ledger_remember_cart), REMEMBERS_FOR_A_WHILE(reminder_sent, ledger_remember_outcome),    \
		REMEMBERS_FOR_A_WHILE(reminder_refused, ledger_remember_outcome),                                      \
		REMEMBERS_FOR_A_WHILE(reminder_ambiguous, ledger_remember_outcome),                                    \
		REMEMBERS_FOR_A_WHILE(reminder_skipped, ledger_remember_outcome)

struct ledger_row {
	CartStatus status;
	ClosedReason closed_reason;
	int64_t first_seen_us, abandoned_us, bought_us, closed_us;
	int64_t total_minor, order_total_minor;
	char currency[4], order_currency[4];
	struct ledger_mail {
		enum send_phase phase; /* SENT, REFUSED, AMBIGUOUS, SKIPPED or NONE */
		int64_t at_us;
		bool to_owner;
	} mails[2];
};

/* In order of cart id; merged carts, which are told by the one they became, and test carts are left out. */
typedef void ledger_each_fn(const char *cart_id, const struct ledger_row *row, void *context);
void ledger_each(const struct state *state, const char *shop, ledger_each_fn *each, void *context);

bool ledger_recovered(const struct ledger_row *row); /* bought after the shopper was mailed */
/* Part of a fold: drops the carts that had come to their end by then. */
void ledger_forget(struct state *state, const char *shop, int64_t before_us);

#endif
