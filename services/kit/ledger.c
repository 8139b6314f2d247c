/*
 * ledger.c: folds carts and what was mailed about them into rows for reports
 *
 * Owns:      the tables "ledger" (cart id -> struct cart_row) and "ledger.mails" (cart id -> struct mails_row) of a service's state.
 * Promises:  a sent mail is never overwritten by a lesser outcome; carts and mails do not touch each other, so their order does not
 *            matter, and each is forgotten for itself: a cart some time after its last word, what was mailed with the facts.
 * Read next: services/exporter, services/summarizer
 */
#include "services/kit/ledger.h"
#include "bus/base/text.h"
#include "services/kit/row.h"

static const char *const carts = "ledger", *const mails = "ledger.mails";

struct cart_row {
	CartStatus status;
	ClosedReason closed_reason;
	int64_t first_seen_us, abandoned_us, bought_us, closed_us;
	int64_t total_minor, order_total_minor;
	char currency[4], order_currency[4];
	bool test;
};

struct mails_row {
	struct ledger_mail mails[2];
};

static bool row_of(struct bytes value, struct cart_row *ret)
{
	if (value.len != sizeof(*ret))
		return false;
	memcpy(ret, value.data, sizeof(*ret));
	return true;
}

void ledger_remember_cart(struct state *state, const struct said *said, const CartState *cart)
{
	struct cart_row row;
	memset(&row, 0, sizeof(row)); /* rows are compared as bytes */
	row.status = cart->status;
	row.closed_reason = cart->closed_reason;
	row.first_seen_us = cart->first_seen_us;
	row.abandoned_us = cart->abandoned_us;
	row.bought_us = cart->bought_us;
	row.closed_us = cart->closed_us;
	row.total_minor = cart->total_minor;
	row.order_total_minor = cart->order_total_minor;
	row.test = cart->test;
	TEXT_COPY(row.currency, cart->currency);
	TEXT_COPY(row.order_currency, cart->order_currency);
	ROW_PUT(state, carts, said->shop, cart->ids.cart_id, &row);
}

static enum send_phase phase_of(const char *topic)
{
	if (strcmp(topic, topic_reminder_sent.name) == 0)
		return SEND_SENT;
	if (strcmp(topic, topic_reminder_refused.name) == 0)
		return SEND_REFUSED;
	return strcmp(topic, topic_reminder_ambiguous.name) == 0 ? SEND_AMBIGUOUS : SEND_SKIPPED;
}

void ledger_remember_outcome(struct state *state, const struct said *said, const ReminderOutcome *outcome)
{
	struct mails_row row;
	enum send_phase phase = phase_of(said->topic);
	if (outcome->step < 1 || outcome->step > 2)
		return;
	row_get(state, mails, said->shop, outcome->cart_id, &row, sizeof(row));
	struct ledger_mail *mail = &row.mails[outcome->step - 1];
	if (mail->phase == SEND_SENT || (mail->phase != SEND_NONE && phase == SEND_SKIPPED))
		return;
	mail->phase = phase;
	mail->at_us = outcome->at_us;
	mail->to_owner = outcome->to_owner;
	ROW_PUT(state, mails, said->shop, outcome->cart_id, &row);
}

struct each {
	const struct state *state;
	ledger_each_fn *each;
	void *context;
};

static struct ledger_row join(const struct cart_row *cart, const struct mails_row *mailed)
{
	struct ledger_row row = { .status = cart->status,
		.closed_reason = cart->closed_reason,
		.first_seen_us = cart->first_seen_us,
		.abandoned_us = cart->abandoned_us,
		.bought_us = cart->bought_us,
		.closed_us = cart->closed_us,
		.total_minor = cart->total_minor,
		.order_total_minor = cart->order_total_minor,
		.mails = { mailed->mails[0], mailed->mails[1] } };
	TEXT_COPY(row.currency, cart->currency);
	TEXT_COPY(row.order_currency, cart->order_currency);
	return row;
}

static bool each_row(const char *shop, const char *cart_id, struct bytes value, void *context)
{
	const struct each *each = context;
	struct cart_row cart;
	struct mails_row mailed;
	struct ledger_row row;
	if (!row_of(value, &cart) || !cart.first_seen_us || cart.test || cart.closed_reason == CLOSED_MERGED)
		return true;
	row_get(each->state, mails, shop, cart_id, &mailed, sizeof(mailed));
	row = join(&cart, &mailed);
	each->each(cart_id, &row, each->context);
	return true;
}

void ledger_each(const struct state *state, const char *shop, ledger_each_fn *each, void *context)
{
	state_each(
		state, carts, shop, NULL, each_row, &(struct each){ .state = state, .each = each, .context = context });
}

bool ledger_recovered(const struct ledger_row *row)
{
	if (row->status != CART_BOUGHT)
		return false;
	for (int i = 0; i < 2; i++) {
		const struct ledger_mail *mail = &row->mails[i];
		if (mail->phase == SEND_SENT && !mail->to_owner && mail->at_us <= row->bought_us)
			return true;
	}
	return false;
}

struct old {
	int64_t before_us;
	struct buffer names; /* NUL-terminated, one after the other */
};

static int64_t last_word_us(const struct cart_row *row)
{
	const int64_t moments[] = { row->first_seen_us, row->abandoned_us, row->bought_us, row->closed_us };
	int64_t last_us = 0;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		last_us = moments[i] > last_us ? moments[i] : last_us;
	return last_us;
}

/* An open cart is looked at again, however long its waits are. */
static bool note_old(const char *shop, const char *cart_id, struct bytes value, void *context)
{
	struct old *old = context;
	struct cart_row row;
	(void)shop;
	if (!row_of(value, &row) || (row.status != CART_OPEN && last_word_us(&row) < old->before_us))
		buffer_add(&old->names, cart_id, strlen(cart_id) + 1);
	return true;
}

void ledger_forget(struct state *state, const char *shop, int64_t before_us)
{
	struct old old = { .before_us = before_us };
	state_each(state, carts, shop, NULL, note_old, &old);
	for (size_t at = 0; at < old.names.len; at += strlen((const char *)old.names.data + at) + 1)
		state_delete(state, carts, shop, (const char *)old.names.data + at);
	buffer_free(&old.names);
}
