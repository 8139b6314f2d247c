/*
 * attribution.c: three classes of orders, and what was kept of them
 *
 * Promises:  pure; a purchase before the mail, a mail to the owner and a window that is over credit nothing; a click proves that
 *            a mail arrived of which nothing else is known.
 * Read next: figures.c (who counts them)
 */
#include "services/carts/report/attribution.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"

/* Mail scanners follow the links of a mail as well, within seconds of its delivery: nobody reads and clicks that fast. */
#define SCANNERS_CLICK_US US_PER_MINUTE

static bool within(int64_t cause_us, int64_t bought_us, int64_t window_us)
{
	return cause_us > 0 && cause_us <= bought_us && bought_us - cause_us <= window_us;
}

static bool may_have_arrived(const struct ledger_mail *mail)
{
	return (mail->phase == SEND_SENT || mail->phase == SEND_AMBIGUOUS) && !mail->to_owner;
}

/* A click is of a mail that went: a link that the owner tried, or that a machine followed, is none. */
static bool click_counts(const struct ledger_row *row, const struct ledger_click *click)
{
	if (click->step < 1 || click->step > 2)
		return false;
	const struct ledger_mail *mail = &row->mails[click->step - 1];
	return may_have_arrived(mail) && click->at_us >= mail->at_us + SCANNERS_CLICK_US;
}

enum attribution attribution_of(const struct ledger_row *row, const struct shop_windows *windows)
{
	if (row->status != CART_BOUGHT)
		return ATTRIBUTION_NONE;
	for (int i = 0; i < row->click_count; i++)
		if (click_counts(row, &row->clicks[i]) &&
			within(row->clicks[i].at_us, row->bought_us, windows->clicked_us))
			return ATTRIBUTION_CLICKED;
	for (int i = 0; i < 2; i++)
		if (row->mails[i].phase == SEND_SENT && !row->mails[i].to_owner &&
			within(row->mails[i].at_us, row->bought_us, windows->mailed_us))
			return ATTRIBUTION_MAILED;
	return ATTRIBUTION_ANYWAY;
}

struct attribution_money attribution_money(const struct ledger_row *row)
{
	bool known = row->order_currency[0] != 0;
	struct attribution_money money = { .total_minor = known ? row->order_total_minor : row->total_minor };

	TEXT_COPY(money.currency, known ? row->order_currency : row->currency);
	money.back_minor = row->order_cancelled_us ? money.total_minor : row->order_refunded_minor;
	if (money.back_minor > money.total_minor)
		money.back_minor = money.total_minor;
	return money;
}

bool attribution_taken_back(const struct ledger_row *row)
{
	struct attribution_money money = attribution_money(row);

	return row->order_cancelled_us || (row->order_refunded_minor && money.back_minor == money.total_minor);
}
