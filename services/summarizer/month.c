/*
 * month.c: counts a month's carts and says it in sentences
 *
 * Promises:  same ledger and month, same text; a cart bought without a mail before it is never counted as recovered.
 * Read next: summarizer.c, services/kit/ledger.h
 */
#include "services/summarizer/month.h"
#include "services/kit/ledger.h"
#include "services/kit/money.h"
#include "services/kit/zone.h"
#include <errno.h>
#include <stdio.h>

int month_before(const char *zone, int64_t us, struct month *ret)
{
	struct local_time now;
	int r = zone_local(zone, us, &now);
	if (r < 0)
		return r;
	struct local_time start = { .year = now.year, .month = now.month - 1, .day = 1 };
	struct local_time end = { .year = now.year, .month = now.month, .day = 1 };
	if (start.month == 0) {
		start.month = 12;
		start.year--;
	}
	r = zone_moment(zone, &start, &ret->from_us);
	if (r == 0)
		r = zone_moment(zone, &end, &ret->to_us);
	snprintf(ret->name, sizeof(ret->name), "%04d-%02d", start.year % 10000, start.month % 100);
	return r;
}

enum { CURRENCIES_MAX = 16 };

struct sum {
	char currency[4];
	int64_t minor;
	uint32_t carts;
};

struct tally {
	const struct month *month;
	uint32_t seen, first, second, to_owner, refused, ambiguous;
	uint32_t recovered, bought_anyway, gave_up, opted_out, by_owner, no_address;
	struct sum sums[CURRENCIES_MAX]; /* of the recovered */
	int sum_count;
};

static bool in_month(const struct tally *tally, int64_t us)
{
	return us >= tally->month->from_us && us < tally->month->to_us;
}

static void add_sum(struct tally *tally, const struct ledger_row *row)
{
	bool order = row->order_currency[0] != 0;
	const char *currency = order ? row->order_currency : row->currency;
	int64_t minor = order ? row->order_total_minor : row->total_minor;
	for (int i = 0; i < CURRENCIES_MAX; i++) {
		struct sum *sum = &tally->sums[i];
		if (i == tally->sum_count) {
			memcpy(sum->currency, currency, sizeof(sum->currency));
			tally->sum_count++;
		}
		if (strcmp(sum->currency, currency) == 0) {
			if (__builtin_add_overflow(sum->minor, minor, &sum->minor))
				sum->minor = INT64_MAX;
			sum->carts++;
			return;
		}
	}
}

static void count_mail(struct tally *tally, const struct ledger_mail *mail, bool second)
{
	if (!in_month(tally, mail->at_us))
		return;
	tally->refused += mail->phase == SEND_REFUSED;
	tally->ambiguous += mail->phase == SEND_AMBIGUOUS;
	if (mail->phase != SEND_SENT)
		return;
	tally->to_owner += mail->to_owner;
	tally->first += !mail->to_owner && !second;
	tally->second += !mail->to_owner && second;
}

static void count_end(struct tally *tally, const struct ledger_row *row)
{
	if (row->status == CART_BOUGHT && in_month(tally, row->bought_us)) {
		bool recovered = ledger_recovered(row);
		tally->recovered += recovered;
		tally->bought_anyway += !recovered;
		if (recovered)
			add_sum(tally, row);
	}
	if (row->status != CART_CLOSED || !in_month(tally, row->closed_us))
		return;
	tally->gave_up += row->closed_reason == CLOSED_GAVE_UP;
	tally->opted_out += row->closed_reason == CLOSED_OPTED_OUT;
	tally->by_owner += row->closed_reason == CLOSED_BY_OWNER;
	tally->no_address += row->closed_reason == CLOSED_NO_ADDRESS;
}

static void count_cart(const char *cart_id, const struct ledger_row *row, void *context)
{
	struct tally *tally = context;
	(void)cart_id;
	tally->seen += in_month(tally, row->first_seen_us);
	count_mail(tally, &row->mails[0], false);
	count_mail(tally, &row->mails[1], true);
	count_end(tally, row);
}

static void add_line(struct buffer *ret, const char *what, uint32_t count)
{
	buffer_printf(ret, "%-44s %8u\n", what, (unsigned)count);
}

static void add_sums(struct buffer *ret, const struct shop *shop, const struct tally *tally)
{
	for (int i = 0; i < tally->sum_count; i++) {
		char amount[80];
		money_format(tally->sums[i].minor, tally->sums[i].currency, shop->locale, amount, sizeof(amount));
		buffer_printf(ret, "    %s from %u carts\n", amount, (unsigned)tally->sums[i].carts);
	}
}

static void add_troubles(struct buffer *ret, const struct tally *tally)
{
	if (tally->to_owner)
		add_line(ret, "mails that went to you (mode \"mail me\"):", tally->to_owner);
	if (tally->refused)
		add_line(ret, "mails that a mail server refused:", tally->refused);
	if (tally->ambiguous)
		add_line(ret, "mails of which it is not known:", tally->ambiguous);
}

void month_text(const struct state *state, const struct shop *shop, const struct month *month, struct buffer *ret)
{
	struct tally tally = { .month = month };
	ledger_each(state, shop->name, count_cart, &tally);
	buffer_printf(ret, "%s, %s\n\n", shop->title, month->name);
	add_line(ret, "carts seen:", tally.seen);
	add_line(ret, "first reminders sent:", tally.first);
	add_line(ret, "second reminders sent:", tally.second);
	add_troubles(ret, &tally);
	buffer_add_text(ret, "\n");
	add_line(ret, "bought after a reminder:", tally.recovered);
	add_sums(ret, shop, &tally);
	add_line(ret, "bought without one:", tally.bought_anyway);
	add_line(ret, "reminded twice and not bought:", tally.gave_up);
	add_line(ret, "never gave an address:", tally.no_address);
	add_line(ret, "opted out:", tally.opted_out);
	add_line(ret, "written off by you:", tally.by_owner);
	buffer_add_text(ret,
		"\n\"Bought after a reminder\" means that the order came after the mail, not that the mail "
		"was the reason.\n");
}
