/*
 * report_fold.c: folds carts, their mails and clicks, and people's opt-outs and complaints into rows for
 * reports
 *
 * Owns:      of a service's state the tables
 *              ledger          cart id -> struct cart_row
 *              ledger.mails    cart id -> struct mails_row
 *              ledger.clicks   cart id -> struct clicks_row
 *              ledger.merged   cart id -> ids of the carts that were merged into it, each with its NUL
 *              ledger.people   a suppression's address hash, or the number of a complaint or bounce ->
 *                              struct person_row
 * Promises:  a sent mail is never overwritten by a lesser outcome. Carts, mails and clicks have rows of their
 *            own, so their order does not matter. A cart and its clicks are forgotten some time after its
 *            last change, its mails together with their facts.
 * Read next: report.c, services/carts/exporter, services/carts/summarizer
 */
#include "services/carts/report/report_fold.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct cart_row {
	CartStatus status;
	ClosedReason closed_reason;
	int64_t first_seen_us, abandoned_us, bought_us, closed_us;
	int64_t total_minor, order_total_minor;
	char currency[4], order_currency[4];
	bool test;
	int64_t order_refunded_minor, order_cancelled_us; /* an older program's rows end before this field */
	char address_hash[40];
	int64_t own_first_us, own_second_us; /* some older programs' rows end before this field */
};

struct mails_row {
	struct report_fold_mail mails[2];
};
STATE_STRUCTS(mails, "ledger.mails", struct mails_row);

struct clicks_row {
	int count;
	struct report_fold_click clicks[REPORT_FOLD_CLICKS_MAX];
};
STATE_STRUCTS(clicks, "ledger.clicks", struct clicks_row);

enum deed { DEED_OPTED_OUT = 1, DEED_COMPLAINED, DEED_BOUNCED };

struct person_row {
	enum deed deed;
	int64_t at_us;
};
STATE_STRUCTS(people, "ledger.people", struct person_row);
STATE_STRINGS(merged, "ledger.merged"); /* ids, each with its NUL */

static bool row_of(struct bytes value, struct cart_row *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (value.len != sizeof(*ret) && value.len != offsetof(struct cart_row, order_refunded_minor) &&
		value.len != offsetof(struct cart_row, own_first_us))
		return false;
	memcpy(ret, value.data, value.len);
	return true;
}

static void remember_merged(struct state *state, const struct message_meta *said, const CartState *cart)
{
	_cleanup_(buffer_free) struct buffer ids = { 0 };

	for (int i = 0; i < cart->merged_from_count; i++)
		buffer_add(&ids, cart->merged_from[i], strlen(cart->merged_from[i]) + 1);
	if (ids.len)
		STATE_PUT_STRING(state, merged, said->shop, cart->ids.cart_id, buffer_bytes(&ids));
}

void report_fold_remember_cart(struct state *state, const struct message_meta *said, const CartState *cart)
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
	row.order_refunded_minor = cart->order_refunded_minor;
	row.order_cancelled_us = cart->order_cancelled_us;
	row.own_first_us = cart->has_wait_override ? cart->wait_override.first_us : 0;
	row.own_second_us = cart->has_wait_override ? cart->wait_override.second_us : 0;
	row.test = cart->test;
	TEXT_COPY(row.currency, cart->currency);
	TEXT_COPY(row.order_currency, cart->order_currency);
	TEXT_COPY(row.address_hash, cart->ids.email_hash);
	STATE_PUT_STRING(state, report_fold_carts, said->shop, cart->ids.cart_id, BYTES(&row, sizeof(row)));
	remember_merged(state, said, cart);
}

static enum send_phase phase_of(const char *topic)
{
	if (strcmp(topic, topic_reminder_sent.name) == 0)
		return SEND_SENT;
	if (strcmp(topic, topic_reminder_refused.name) == 0)
		return SEND_REFUSED;
	return strcmp(topic, topic_reminder_ambiguous.name) == 0 ? SEND_AMBIGUOUS : SEND_SKIPPED;
}

void report_fold_remember_outcome(struct state *state, const struct message_meta *said, const ReminderOutcome *outcome)
{
	struct mails_row row;
	enum send_phase phase = phase_of(said->topic);
	if (outcome->step < 1 || outcome->step > 2)
		return;
	STATE_GET(state, mails, said->shop, outcome->cart_id, &row);
	struct report_fold_mail *mail = &row.mails[outcome->step - 1];
	if (mail->phase == SEND_SENT || (mail->phase != SEND_NONE && phase == SEND_SKIPPED))
		return;
	mail->phase = phase;
	mail->at_us = outcome->at_us;
	mail->to_owner = outcome->to_owner;
	STATE_PUT(state, mails, said->shop, outcome->cart_id, &row);
}

void report_fold_remember_click(struct state *state, const struct message_meta *said, const LinkClicked *clicked)
{
	struct clicks_row row;
	STATE_GET(state, clicks, said->shop, clicked->cart_id, &row);
	if (row.count < REPORT_FOLD_CLICKS_MAX)
		row.count++;
	row.clicks[row.count - 1].step = clicked->step;
	row.clicks[row.count - 1].at_us = clicked->at_us;
	STATE_PUT(state, clicks, said->shop, clicked->cart_id, &row);
}

static void remember_deed(struct state *state, const char *shop, const char *key, enum deed deed, int64_t at_us)
{
	struct person_row row;
	memset(&row, 0, sizeof(row));
	row.deed = deed;
	row.at_us = at_us;
	STATE_PUT(state, people, shop, key, &row);
}

void report_fold_remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback)
{
	char key[32];
	snprintf(key, sizeof(key), "#%016" PRIx64, said->seq);
	if (feedback->kind != FEEDBACK_BOUNCE_TRANSIENT)
		remember_deed(state, said->shop, key,
			feedback->kind == FEEDBACK_COMPLAINT ? DEED_COMPLAINED : DEED_BOUNCED, feedback->heard_us);
}

void report_fold_remember_suppression(
	struct state *state, const struct message_meta *said, const Suppression *suppression)
{
	bool by_themselves = suppression->source == OPTOUT_PAGE || suppression->source == OPTOUT_ONE_CLICK;
	if (suppression->lifted || said->tombstone)
		STATE_DELETE(state, people, said->shop, suppression->address_hash);
	else if (by_themselves)
		remember_deed(state, said->shop, suppression->address_hash, DEED_OPTED_OUT, suppression->since_us);
}

/* ---- reading ---- */

struct each {
	const struct state *state;
	report_fold_each_fn *each;
	void *context;
};

static void take_mails(const struct each *each, const char *shop, const char *cart_id, struct report_fold_row *row)
{
	struct mails_row mailed;
	STATE_GET(each->state, mails, shop, cart_id, &mailed);
	for (int i = 0; i < 2; i++)
		if (row->mails[i].phase != SEND_SENT && mailed.mails[i].phase != SEND_NONE)
			row->mails[i] = mailed.mails[i];
}

static void take_clicks(const struct each *each, const char *shop, const char *cart_id, struct report_fold_row *row)
{
	struct clicks_row clicked;
	STATE_GET(each->state, clicks, shop, cart_id, &clicked);
	for (int i = 0; i < clicked.count && row->click_count < REPORT_FOLD_CLICKS_MAX; i++)
		row->clicks[row->click_count++] = clicked.clicks[i];
}

static void take_merged(const struct each *each, const char *shop, const char *cart_id, struct report_fold_row *row)
{
	_cleanup_(buffer_free) struct buffer ids = { 0 };
	if (!STATE_GET_STRING(each->state, merged, shop, cart_id, &ids))
		return;
	for (size_t at = 0; at < ids.len; at += strlen((const char *)ids.data + at) + 1) {
		take_mails(each, shop, (const char *)ids.data + at, row);
		take_clicks(each, shop, (const char *)ids.data + at, row);
	}
}

static struct report_fold_row row_from(const struct cart_row *cart)
{
	struct report_fold_row row = { .status = cart->status,
		.closed_reason = cart->closed_reason,
		.first_seen_us = cart->first_seen_us,
		.abandoned_us = cart->abandoned_us,
		.bought_us = cart->bought_us,
		.closed_us = cart->closed_us,
		.total_minor = cart->total_minor,
		.order_total_minor = cart->order_total_minor,
		.order_refunded_minor = cart->order_refunded_minor,
		.order_cancelled_us = cart->order_cancelled_us,
		.own_first_us = cart->own_first_us,
		.own_second_us = cart->own_second_us };
	TEXT_COPY(row.currency, cart->currency);
	TEXT_COPY(row.order_currency, cart->order_currency);
	TEXT_COPY(row.address_hash, cart->address_hash);
	return row;
}

/* false: the row cannot be read, or is of a cart that reports leave out. */
static bool row_read(
	const struct each *each, const char *shop, const char *cart_id, struct bytes value, struct report_fold_row *ret)
{
	struct cart_row cart;
	if (!row_of(value, &cart) || !cart.first_seen_us || cart.test || cart.closed_reason == CLOSED_MERGED)
		return false;
	*ret = row_from(&cart);
	take_mails(each, shop, cart_id, ret);
	take_clicks(each, shop, cart_id, ret);
	take_merged(each, shop, cart_id, ret);
	return true;
}

static bool each_row(const char *shop, const char *cart_id, struct bytes value, void *context)
{
	const struct each *each = context;
	struct report_fold_row row;
	if (row_read(each, shop, cart_id, value, &row))
		each->each(cart_id, &row, each->context);
	return true;
}

bool report_fold_get(const struct state *state, const char *shop, const char *cart_id, struct report_fold_row *ret)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };

	*ret = (struct report_fold_row){ 0 };
	return STATE_GET_STRING(state, report_fold_carts, shop, cart_id, &value) &&
		row_read(&(struct each){ .state = state }, shop, cart_id, buffer_bytes(&value), ret);
}

void report_fold_each(const struct state *state, const char *shop, report_fold_each_fn *each, void *context)
{
	struct each of = { .state = state, .each = each, .context = context };

	STATE_EACH(state, report_fold_carts, shop, NULL, each_row, &of);
}

struct counting {
	int64_t from_us, to_us;
	struct report_fold_people people;
};

static bool count_person(const char *shop, const char *key, const struct person_row *row, void *context)
{
	struct counting *counting = context;
	(void)shop, (void)key;
	if (row->at_us < counting->from_us || row->at_us >= counting->to_us)
		return true;
	counting->people.opted_out += row->deed == DEED_OPTED_OUT;
	counting->people.complaints += row->deed == DEED_COMPLAINED;
	counting->people.bounces += row->deed == DEED_BOUNCED;
	return true;
}

struct report_fold_people report_fold_people(
	const struct state *state, const char *shop, int64_t from_us, int64_t to_us)
{
	struct counting counting = { .from_us = from_us, .to_us = to_us };
	STATE_EACH(state, people, shop, NULL, count_person, &counting);
	return counting.people;
}

/* ---- forgetting ---- */

struct old {
	int64_t before_us;
	struct buffer names; /* NUL-terminated, one after the other */
};

static int64_t last_word_us(const struct cart_row *row)
{
	const int64_t moments[] = { row->first_seen_us, row->abandoned_us, row->bought_us, row->closed_us,
		row->order_cancelled_us };
	int64_t last_us = 0;
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		last_us = moments[i] > last_us ? moments[i] : last_us;
	return last_us;
}

/* An open cart stays, however long its waits are, because it is looked at again. */
static bool note_old(const char *shop, const char *cart_id, struct bytes value, void *context)
{
	struct old *old = context;
	struct cart_row row;
	(void)shop;
	if (!row_of(value, &row) || (row.status != CART_OPEN && last_word_us(&row) < old->before_us))
		buffer_add(&old->names, cart_id, strlen(cart_id) + 1);
	return true;
}

static bool note_old_person(const char *shop, const char *key, const struct person_row *row, void *context)
{
	struct old *old = context;
	(void)shop;
	if (row->at_us < old->before_us)
		buffer_add(&old->names, key, strlen(key) + 1);
	return true;
}

static void forget(struct state *state, const char *shop, const struct state_table *const *tables, struct buffer *names)
{
	for (size_t at = 0; at < names->len; at += strlen((const char *)names->data + at) + 1)
		for (const struct state_table *const *table = tables; *table; table++)
			state_delete_row(state, *table, shop, (const char *)names->data + at);
	buffer_free(names);
}

void report_fold_forget(struct state *state, const char *shop, int64_t before_us)
{
	struct old old = { .before_us = before_us };
	STATE_EACH(state, report_fold_carts, shop, NULL, note_old, &old);
	forget(state, shop,
		(const struct state_table *const[]){
			STATE_HANDLE(report_fold_carts), STATE_HANDLE(clicks), STATE_HANDLE(merged), NULL },
		&old.names);
	old.names = (struct buffer){ 0 };
	STATE_EACH(state, people, shop, NULL, note_old_person, &old);
	forget(state, shop, (const struct state_table *const[]){ STATE_HANDLE(people), NULL }, &old.names);
}

/*
 * The three classes of orders, and the money that the shop kept
 *
 * Promises:  pure. A purchase before the mail, a mail to the owner and a window that is over give no credit.
 *            A click proves that a mail with an unknown result arrived.
 */

/*
 * Mail scanners follow the links of a mail too, within seconds of its delivery. No shopper reads and clicks
 * that fast.
 */
#define SCANNERS_CLICK_US US_PER_MINUTE

/* The shorter of `than_us` and the time from the cause to the purchase; a cause after it does not count. */
static int64_t shorter_lag(int64_t cause_us, int64_t bought_us, int64_t than_us)
{
	bool counts = cause_us > 0 && cause_us <= bought_us && bought_us - cause_us < than_us;

	return counts ? bought_us - cause_us : than_us;
}

static bool may_have_arrived(const struct report_fold_mail *mail)
{
	return (mail->phase == SEND_SENT || mail->phase == SEND_AMBIGUOUS) && !mail->to_owner;
}

/*
 * A click counts only if the shopper's mail may have arrived: clicks of the owner and of scanners do not
 * count.
 */
static bool click_counts(const struct report_fold_row *row, const struct report_fold_click *click)
{
	if (click->step < 1 || click->step > 2)
		return false;
	const struct report_fold_mail *mail = &row->mails[click->step - 1];
	return may_have_arrived(mail) && click->at_us >= mail->at_us + SCANNERS_CLICK_US;
}

struct attribution_lags attribution_lags_of(const struct report_fold_row *row)
{
	struct attribution_lags lags = { .clicked_us = INT64_MAX, .mailed_us = INT64_MAX };

	for (int i = 0; i < row->click_count; i++)
		if (click_counts(row, &row->clicks[i]))
			lags.clicked_us = shorter_lag(row->clicks[i].at_us, row->bought_us, lags.clicked_us);
	for (int i = 0; i < 2; i++)
		if (row->mails[i].phase == SEND_SENT && !row->mails[i].to_owner)
			lags.mailed_us = shorter_lag(row->mails[i].at_us, row->bought_us, lags.mailed_us);
	return lags;
}

enum attribution attribution_within(const struct attribution_lags *lags, const struct shop_windows *windows)
{
	if (lags->clicked_us <= windows->clicked_us)
		return ATTRIBUTION_CLICKED;
	return lags->mailed_us <= windows->mailed_us ? ATTRIBUTION_MAILED : ATTRIBUTION_ANYWAY;
}

enum attribution attribution_of(const struct report_fold_row *row, const struct shop_windows *windows)
{
	struct attribution_lags lags = attribution_lags_of(row);

	return row->status == CART_BOUGHT ? attribution_within(&lags, windows) : ATTRIBUTION_NONE;
}

struct attribution_money attribution_money(const struct report_fold_row *row)
{
	bool known = row->order_currency[0] != 0;
	struct attribution_money money = { .total_minor = known ? row->order_total_minor : row->total_minor };

	TEXT_COPY(money.currency, known ? row->order_currency : row->currency);
	money.back_minor = row->order_cancelled_us ? money.total_minor : row->order_refunded_minor;
	if (money.back_minor > money.total_minor)
		money.back_minor = money.total_minor;
	return money;
}

bool attribution_taken_back(const struct report_fold_row *row)
{
	struct attribution_money money = attribution_money(row);

	return row->order_cancelled_us || (row->order_refunded_minor && money.back_minor == money.total_minor);
}
