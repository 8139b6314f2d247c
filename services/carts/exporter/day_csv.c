/*
 * day_csv.c: writes the carts of a day, from the report fold, as a table
 *
 * Promises:  the same fold and day give the same bytes. Times are local, amounts are plain decimals, and a
 *            text of shoppers is never a formula. A link acts on one cart or shopper, once, after a click on
 *            a button, and ends two weeks after its day.
 * Read next: exporter.c, next.c, services/kit/web/admin_link.h
 */
#include "services/carts/exporter/day_csv.h"
#include "bus/base/text.h"
#include "services/carts/exporter/next.h"
#include "services/carts/report/report_fold.h"
#include "services/kit/money/money.h"
#include "services/kit/time/zone.h"
#include "services/kit/web/admin_link.h"
#include <stdio.h>

struct table {
	const struct state *state;
	const struct shop *shop;
	const struct rules *rules;
	const struct mailed *mailed;
	const struct day_links *links;
	struct day *day;
	struct buffer *out;
};

static bool on_day(const struct day *day, int64_t us)
{
	return us >= day->period.from_us && us < day->period.to_us;
}

static bool belongs(const struct day *day, const struct report_fold_row *row)
{
	const int64_t moments[] = { row->abandoned_us, row->bought_us, row->closed_us, row->order_cancelled_us,
		row->mails[0].at_us, row->mails[1].at_us };

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		if (on_day(day, moments[i]))
			return true;
	return false;
}

/* Spreadsheets take a cell for a formula by its first character, also by that character's wide form. */
static bool looks_like_formula(const char *text)
{
	static const char *const wide[] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0" };

	text += strspn(text, " ");
	if (*text && strchr("=+-@\t\r\n|%", *text))
		return true;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (text_starts(text, wide[i]))
			return true;
	return false;
}

static void add_text(struct buffer *out, const char *text)
{
	buffer_add_text(out, looks_like_formula(text) ? "\"'" : "\"");
	for (; *text; text++) {
		if (*text == '"')
			buffer_add_text(out, "\"");
		buffer_add(out, text, 1);
	}
	buffer_add_text(out, "\"");
}

static void add_time(struct buffer *out, const char *zone, int64_t us)
{
	struct local_time local;
	if (us && zone_local(zone, us, &local) == 0)
		buffer_printf(out, "%04d-%02d-%02d %02d:%02d:%02d", local.year, local.month, local.day, local.hour,
			local.minute, local.second);
}

static const char *status_word(const struct report_fold_row *row)
{
	static const char *const closed[] = { [CLOSED_NOT] = "closed",
		[CLOSED_GAVE_UP] = "gave up",
		[CLOSED_NO_ADDRESS] = "no address",
		[CLOSED_EMPTIED] = "emptied",
		[CLOSED_MERGED] = "merged",
		[CLOSED_OPTED_OUT] = "opted out",
		[CLOSED_BY_OWNER] = "closed by owner",
		[CLOSED_TOO_LATE] = "too late",
		[CLOSED_NOT_CHASED] = "not chased",
		[CLOSED_NEWER_CART] = "newer cart" };
	if (row->status == CART_BOUGHT)
		return attribution_taken_back(row) ? "bought, taken back" : "bought";
	if (row->status == CART_OPEN)
		return "open";
	return row->closed_reason < sizeof(closed) / sizeof(closed[0]) ? closed[row->closed_reason] : "closed";
}

static const char *mail_word(const struct report_fold_mail *mail)
{
	switch (mail->phase) {
	case SEND_SENT:
		return mail->to_owner ? "sent to owner" : "sent";
	case SEND_REFUSED:
		return "refused";
	case SEND_AMBIGUOUS:
		return "ambiguous";
	case SEND_SKIPPED:
		return "skipped";
	case SEND_NONE:
	case SEND_CLAIMED:
	case SEND_RELEASED:
		break;
	}
	return "";
}

/* ---- the next step ---- */

static void add_reason(const struct table *table, const struct last *last, const char *words)
{
	char reason[sizeof(last->grounds) + PLAN_WORDS_MAX + 2];

	snprintf(reason, sizeof(reason), "%s%s%s", last->grounds, *last->grounds && *words ? "; " : "", words);
	add_text(table->out, reason);
}

static void add_next(
	const struct table *table, const char *cart_id, const struct report_fold_row *row, const struct last *last)
{
	static const char *const steps[] = { "give up", "first reminder", "second reminder" };
	struct next next = { 0 };

	if (row->status != CART_OPEN) {
		buffer_add_text(table->out, ",,");
	} else if (!row->address_hash[0]) {
		buffer_add_text(table->out, ",wait for an address,");
	} else {
		next = next_of(table->state, table->mailed, table->shop, table->rules, cart_id, row, last);
		buffer_printf(table->out, ",%s,", next.is_unmailable ? "no reminder" : steps[next.step]);
		if (!next.is_unmailable)
			add_time(table->out, table->shop->zone, next.step ? next.at_us : last->next_us);
	}
	buffer_add_text(table->out, ",");
	add_reason(table, last, next.words);
}

/* ---- the owner's links ---- */

static void add_link(const struct table *table, AdminVerb verb, const char *cart_id, const char *address_hash)
{
	struct admin_link link = { .verb = verb, .expires_us = table->day->period.to_us + ADMIN_LINK_LASTS_US };
	char url[ADMIN_LINK_URL_MAX + 1];

	buffer_add_text(table->out, ",");
	if (!table->links->key_len || (!*cart_id && !*address_hash))
		return;
	TEXT_COPY(link.shop, table->shop->name);
	TEXT_COPY(link.cart_id, cart_id);
	TEXT_COPY(link.address_hash, address_hash);
	if (admin_link_url(BYTES(table->links->key, table->links->key_len), table->links->public_url, &link, url) == 0)
		buffer_add_text(table->out, url);
}

static void add_links(const struct table *table, const char *cart_id, const struct report_fold_row *row)
{
	bool open = row->status == CART_OPEN;

	add_link(table, ADMIN_SUPPRESS_CART, open ? cart_id : "", "");
	add_link(table, ADMIN_WRITE_OFF, open ? cart_id : "", "");
	add_link(table, ADMIN_UNSUBSCRIBE, "", row->address_hash);
}

/* ---- a row ---- */

static void add_mail(struct table *table, const struct report_fold_mail *mail)
{
	buffer_add_text(table->out, ",");
	add_time(table->out, table->shop->zone, mail->at_us);
	buffer_printf(table->out, ",%s", mail_word(mail));
	table->day->mails += mail->phase == SEND_SENT && on_day(table->day, mail->at_us);
}

static void add_purchase(const struct table *table, const struct report_fold_row *row)
{
	static const char *const words[] = { [ATTRIBUTION_CLICKED] = "clicked then bought",
		[ATTRIBUTION_MAILED] = "mailed then bought",
		[ATTRIBUTION_ANYWAY] = "bought anyway",
		[ATTRIBUTION_NONE] = "" };
	struct attribution_money money = attribution_money(row);
	char kept[40] = "";

	buffer_add_text(table->out, ",");
	add_time(table->out, table->shop->zone, row->bought_us);
	if (row->status == CART_BOUGHT)
		money_plain(money.total_minor - money.back_minor, money.currency, kept, sizeof(kept));
	buffer_printf(table->out, ",%s,%s,%s", kept, *kept ? money.currency : "",
		words[attribution_of(row, &table->shop->windows)]);
}

static void add_row(const char *cart_id, const struct report_fold_row *row, void *context)
{
	struct table *table = context;
	struct last last;
	char total[40];
	if (!belongs(table->day, row))
		return;
	table->day->carts++;
	last = last_of(table->state, table->shop->name, cart_id);
	money_plain(row->total_minor, row->currency, total, sizeof(total));
	add_text(table->out, cart_id);
	buffer_printf(table->out, ",\"%s\"", status_word(row));
	add_next(table, cart_id, row, &last);
	buffer_add_text(table->out, ",");
	add_time(table->out, table->shop->zone, row->abandoned_us);
	buffer_printf(table->out, ",%s,%s", total, row->currency);
	add_mail(table, &row->mails[0]);
	add_mail(table, &row->mails[1]);
	add_purchase(table, row);
	add_links(table, cart_id, row);
	buffer_add_text(table->out, "\r\n");
}

void day_csv(const struct state *state, const struct shop *shop, const struct rules *rules,
	const struct day_links *links, struct day *day, struct buffer *ret)
{
	struct mailed *mailed = mailed_new(state, shop->name);
	struct table table = {
		.state = state, .shop = shop, .rules = rules, .mailed = mailed, .links = links, .day = day, .out = ret
	};
	buffer_add_text(ret,
		"cart,status,next_step,next_at,reason,abandoned,total,currency,first_mail,first_outcome,second_mail,"
		"second_outcome,bought,kept,order_currency,credit,suppress_cart,write_off,unsubscribe\r\n");
	report_fold_each(state, shop->name, add_row, &table);
	mailed_free(mailed);
}
