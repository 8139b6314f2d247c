/*
 * ledger.c: folds carts and what was mailed about them into rows for reports
 *
 * Owns:      the table "ledger" (cart id -> struct ledger_row) of a service's state.
 * Promises:  a sent mail is never overwritten by a lesser outcome; the cart's part and the mails' part of a row do not touch each
 *            other, so their order does not matter.
 * Read next: services/exporter, services/summarizer
 */
#include "services/kit/ledger.h"
#include "bus/base/text.h"
#include "services/kit/row.h"

static const char *const table = "ledger";

static bool row_of(struct bytes value, struct ledger_row *ret)
{
	if (value.len != sizeof(*ret))
		return false;
	memcpy(ret, value.data, sizeof(*ret));
	return true;
}

void ledger_remember_cart(struct state *state, const struct said *said, const CartState *cart)
{
	struct ledger_row row;
	if (said->tombstone) {
		state_delete(state, table, said->shop, said->key);
		return;
	}
	row_get(state, table, said->shop, cart->ids.cart_id, &row, sizeof(row));
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
	ROW_PUT(state, table, said->shop, cart->ids.cart_id, &row);
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
	struct ledger_row row;
	enum send_phase phase = phase_of(said->topic);
	if (outcome->step < 1 || outcome->step > 2)
		return;
	row_get(state, table, said->shop, outcome->cart_id, &row, sizeof(row));
	struct ledger_mail *mail = &row.mails[outcome->step - 1];
	if (mail->phase == SEND_SENT || (mail->phase != SEND_NONE && phase == SEND_SKIPPED))
		return;
	mail->phase = phase;
	mail->at_us = outcome->at_us;
	mail->to_owner = outcome->to_owner;
	ROW_PUT(state, table, said->shop, outcome->cart_id, &row);
}

struct each {
	ledger_each_fn *each;
	void *context;
};

static bool each_row(const char *shop, const char *cart_id, struct bytes value, void *context)
{
	const struct each *each = context;
	struct ledger_row row;
	(void)shop;
	if (row_of(value, &row) && row.first_seen_us && !row.test && row.closed_reason != CLOSED_MERGED)
		each->each(cart_id, &row, each->context);
	return true;
}

void ledger_each(const struct state *state, const char *shop, ledger_each_fn *each, void *context)
{
	state_each(state, table, shop, NULL, each_row, &(struct each){ .each = each, .context = context });
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

int64_t ledger_last_us(const struct ledger_row *row)
{
	const int64_t moments[] = { row->first_seen_us, row->abandoned_us, row->bought_us, row->closed_us,
		row->mails[0].at_us, row->mails[1].at_us };
	int64_t last_us = 0;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		last_us = moments[i] > last_us ? moments[i] : last_us;
	return last_us;
}

struct old {
	int64_t before_us;
	struct buffer names; /* NUL-terminated, one after the other */
};

static bool note_old(const char *shop, const char *cart_id, struct bytes value, void *context)
{
	struct old *old = context;
	struct ledger_row row;
	(void)shop;
	if (!row_of(value, &row) || ledger_last_us(&row) < old->before_us)
		buffer_add(&old->names, cart_id, strlen(cart_id) + 1);
	return true;
}

void ledger_forget(struct state *state, const char *shop, int64_t before_us)
{
	struct old old = { .before_us = before_us };
	state_each(state, table, shop, NULL, note_old, &old);
	for (size_t at = 0; at < old.names.len; at += strlen((const char *)old.names.data + at) + 1)
		state_delete(state, table, shop, (const char *)old.names.data + at);
	buffer_free(&old.names);
}
