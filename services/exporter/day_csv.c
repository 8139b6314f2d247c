/*
 * day_csv.c: from the ledger to a table
 *
 * Promises:  same ledger and day, same bytes; times are local, amounts are plain decimals, text of shoppers is never a formula.
 * Read next: exporter.c
 */
#include "services/exporter/day_csv.h"
#include "services/kit/ledger.h"
#include "services/kit/money.h"
#include "services/kit/zone.h"
#include <errno.h>
#include <stdio.h>

int day_before(const char *zone, int64_t us, struct day *ret)
{
	struct local_time now;
	int r = zone_local(zone, us, &now);
	if (r < 0)
		return r;
	struct local_time start = { .year = now.year, .month = now.month, .day = now.day - 1 };
	struct local_time end = { .year = now.year, .month = now.month, .day = now.day };
	*ret = (struct day){ 0 };
	r = zone_moment(zone, &start, &ret->from_us);
	if (r == 0)
		r = zone_moment(zone, &end, &ret->to_us);
	if (r == 0)
		r = zone_local(zone, ret->from_us, &start);
	if (r < 0)
		return r;
	snprintf(
		ret->name, sizeof(ret->name), "%04d-%02d-%02d", start.year % 10000, start.month % 100, start.day % 100);
	return 0;
}

struct table {
	const struct shop *shop;
	struct day *day;
	struct buffer *out;
};

static bool on_day(const struct day *day, int64_t us)
{
	return us >= day->from_us && us < day->to_us;
}

static bool belongs(const struct day *day, const struct ledger_row *row)
{
	return on_day(day, row->abandoned_us) || on_day(day, row->bought_us) || on_day(day, row->closed_us) ||
		on_day(day, row->mails[0].at_us) || on_day(day, row->mails[1].at_us);
}

static void add_text(struct buffer *out, const char *text)
{
	buffer_add_text(out, *text && strchr("=+-@\t\r", *text) ? "\"'" : "\"");
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

static const char *status_word(const struct ledger_row *row)
{
	static const char *const closed[] = { [CLOSED_NOT] = "closed",
		[CLOSED_GAVE_UP] = "gave up",
		[CLOSED_NO_ADDRESS] = "no address",
		[CLOSED_EMPTIED] = "emptied",
		[CLOSED_MERGED] = "merged",
		[CLOSED_OPTED_OUT] = "opted out",
		[CLOSED_BY_OWNER] = "closed by owner",
		[CLOSED_TOO_LATE] = "too late",
		[CLOSED_NOT_CHASED] = "not chased" };
	if (row->status == CART_BOUGHT)
		return "bought";
	if (row->status == CART_OPEN)
		return "open";
	return row->closed_reason < sizeof(closed) / sizeof(closed[0]) ? closed[row->closed_reason] : "closed";
}

static const char *mail_word(const struct ledger_mail *mail)
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

static void add_mail(struct table *table, const struct ledger_mail *mail)
{
	buffer_add_text(table->out, ",");
	add_time(table->out, table->shop->zone, mail->at_us);
	buffer_printf(table->out, ",%s", mail_word(mail));
	table->day->mails += mail->phase == SEND_SENT && on_day(table->day, mail->at_us);
}

static void add_row(const char *cart_id, const struct ledger_row *row, void *context)
{
	struct table *table = context;
	char total[40];
	if (!belongs(table->day, row))
		return;
	table->day->carts++;
	money_plain(row->total_minor, row->currency, total, sizeof(total));
	add_text(table->out, cart_id);
	buffer_printf(table->out, ",%s,", status_word(row));
	add_time(table->out, table->shop->zone, row->abandoned_us);
	buffer_printf(table->out, ",%s,%s", total, row->currency);
	add_mail(table, &row->mails[0]);
	add_mail(table, &row->mails[1]);
	buffer_add_text(table->out, ",");
	add_time(table->out, table->shop->zone, row->bought_us);
	buffer_printf(table->out, ",%s\r\n", ledger_recovered(row) ? "yes" : "no");
}

void day_csv(const struct state *state, const struct shop *shop, struct day *day, struct buffer *ret)
{
	struct table table = { .shop = shop, .day = day, .out = ret };
	buffer_add_text(ret,
		"cart,status,abandoned,total,currency,first_mail,first_outcome,second_mail,second_outcome,"
		"bought,recovered\r\n");
	ledger_each(state, shop->name, add_row, &table);
}
