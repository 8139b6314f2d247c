/*
 * days.c: the figures of each day, as sums of the shares of carts and people
 *
 * Owns:      the tables of days.h; page.share (cart id, "to:" address hash, "#" number of a feedback -> struct share); page.calendar (the
 *            zone and the windows that the days' rows were summed with).
 * Promises:  a day's row is the sum of the shares that are known, whatever their order; so a newly folded store equals a kept one.
 * Read next: services/carts/report/report_fold.h (what a cart brought)
 */
#include "services/carts/console/days.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/sorted_map.h"
#include "bus/base/text.h"
#include "services/carts/report/report_fold.h"
#include "services/kit/documents/docs.h"
#include "services/kit/time/zone.h"
#include <inttypes.h>
#include <stdio.h>

/* Without padding; all zero: no share. */
struct share {
	int64_t left_us, mailed_us, bought_us; /* 0: it did not happen */
	int64_t clicked_lag_us, mailed_lag_us; /* of a purchase */
	int64_t kept_minor;
	int64_t said_no_us, bounced_us;
	uint32_t taken_back;
	char currency[4];
};
STATE_STRUCTS(shares, "page.share", struct share);

struct calendar {
	int64_t clicked_us, mailed_us;
	char zone[40];
};
STATE_STRUCTS(calendars, "page.calendar", struct calendar); /* by "" */

#define CLICKED_USUAL_US (7 * US_PER_DAY) /* the defaults of shop.conf, until the shop's document is known */
#define MAILED_USUAL_US (3 * US_PER_DAY)

enum { MONEY_KEY_MAX = 20, SHARE_KEY_MAX = 96, PARTS_MAX = 5 };
enum { DAY_FIGURES = sizeof(struct day_row) / sizeof(int64_t) };

struct part {
	char day[DAY_MAX], money_key[MONEY_KEY_MAX]; /* money_key "": no money */
	struct day_row row;
	struct day_money money;
};

void day_name(const char *zone, int64_t us, int later, char ret[DAY_MAX])
{
	struct local_time local = { 0 };

	zone_local(zone, us, &local);
	if (later) {
		local.day += later;
		local.hour = 12; /* exists on every day */
		zone_moment(zone, &local, &us);
		zone_local(zone, us, &local);
	}
	snprintf(ret, DAY_MAX, "%04d-%02d-%02d", local.year % 10000, local.month % 100, local.day % 100);
}

static struct calendar calendar_of(const struct state *state, const char *shop)
{
	struct calendar calendar;

	if (!STATE_GET(state, calendars, shop, "", &calendar)) {
		calendar.clicked_us = CLICKED_USUAL_US;
		calendar.mailed_us = MAILED_USUAL_US;
		TEXT_COPY(calendar.zone, "Etc/UTC");
	}
	return calendar;
}

/* ---- the parts of a share ---- */

static struct part *add_part(const struct calendar *calendar, int64_t us, struct part *parts, int *count)
{
	struct part *part = &parts[(*count)++];

	memset(part, 0, sizeof(*part));
	day_name(calendar->zone, us, 0, part->day);
	return part;
}

static void add_order(const struct calendar *calendar, const struct share *share, struct part *part)
{
	const struct attribution_lags lags = { share->clicked_lag_us, share->mailed_lag_us };
	const struct shop_windows windows = { .clicked_us = calendar->clicked_us, .mailed_us = calendar->mailed_us };
	enum attribution class = attribution_within(&lags, &windows);

	part->row.bought = class != ATTRIBUTION_ANYWAY && !share->taken_back;
	part->row.bought_anyway = class == ATTRIBUTION_ANYWAY && !share->taken_back;
	if (class == ATTRIBUTION_ANYWAY || !*share->currency || !share->kept_minor)
		return;
	part->money.clicked_minor = class == ATTRIBUTION_CLICKED ? share->kept_minor : 0;
	part->money.mailed_minor = class == ATTRIBUTION_MAILED ? share->kept_minor : 0;
	snprintf(part->money_key, sizeof(part->money_key), "%s/%.3s", part->day, share->currency);
}

static int parts_of(const struct calendar *calendar, const struct share *share, struct part ret[PARTS_MAX])
{
	int count = 0;

	if (share->left_us)
		add_part(calendar, share->left_us, ret, &count)->row.left = 1;
	if (share->mailed_us)
		add_part(calendar, share->mailed_us, ret, &count)->row.mailed = 1;
	if (share->bought_us)
		add_order(calendar, share, add_part(calendar, share->bought_us, ret, &count));
	if (share->said_no_us)
		add_part(calendar, share->said_no_us, ret, &count)->row.said_no = 1;
	if (share->bounced_us)
		add_part(calendar, share->bounced_us, ret, &count)->row.bounced = 1;
	return count;
}

/* `to` and `from` are rows of `figures` numbers. A sum wraps, so that what was added can be subtracted again. */
static bool add_row(void *to, const void *from, size_t figures, int sign)
{
	int64_t sum[DAY_FIGURES], more[DAY_FIGURES];
	bool is_zero = true;

	memcpy(sum, to, figures * sizeof(*sum));
	memcpy(more, from, figures * sizeof(*more));
	for (size_t i = 0; i < figures; i++) {
		sum[i] = (int64_t)((uint64_t)sum[i] + (uint64_t)sign * (uint64_t)more[i]);
		is_zero = is_zero && sum[i] == 0;
	}
	memcpy(to, sum, figures * sizeof(*sum));
	return !is_zero;
}

static void put_part(struct state *state, const char *shop, const struct part *part, int sign)
{
	struct day_row row;
	struct day_money money;

	STATE_GET(state, days, shop, part->day, &row);
	if (add_row(&row, &part->row, DAY_FIGURES, sign))
		STATE_PUT(state, days, shop, part->day, &row);
	else
		STATE_DELETE(state, days, shop, part->day);
	if (!*part->money_key)
		return;
	STATE_GET(state, days_money, shop, part->money_key, &money);
	if (add_row(&money, &part->money, 2, sign))
		STATE_PUT(state, days_money, shop, part->money_key, &money);
	else
		STATE_DELETE(state, days_money, shop, part->money_key);
}

static void put_parts(struct state *state, const char *shop, const struct share *share, int sign)
{
	struct calendar calendar = calendar_of(state, shop);
	struct part parts[PARTS_MAX];
	int count = parts_of(&calendar, share, parts);

	for (int i = 0; i < count; i++)
		put_part(state, shop, &parts[i], sign);
}

/* `ends`: writes the share also if it is as before. */
static void replace(struct state *state, const char *shop, const char *key, const struct share *now, bool ends)
{
	static const struct share none;
	struct share old;
	bool changed;

	STATE_GET(state, shares, shop, key, &old);
	changed = memcmp(&old, now, sizeof(old)) != 0;
	if (changed) {
		put_parts(state, shop, &old, -1);
		put_parts(state, shop, now, 1);
	}
	if (memcmp(now, &none, sizeof(none)) == 0)
		STATE_DELETE(state, shares, shop, key);
	else if (changed || ends)
		STATE_PUT(state, shares, shop, key, now);
}

/* ---- carts and people ---- */

static int64_t mailed_us(const struct report_fold_row *row)
{
	int64_t first_us = 0;

	for (int i = 0; i < 2; i++)
		if (row->mails[i].phase == SEND_SENT && !row->mails[i].to_owner &&
			(!first_us || row->mails[i].at_us < first_us))
			first_us = row->mails[i].at_us;
	return first_us;
}

static struct share share_of(const struct report_fold_row *row)
{
	struct share share;
	struct attribution_lags lags = attribution_lags_of(row);
	struct attribution_money money = attribution_money(row);

	memset(&share, 0, sizeof(share));
	share.left_us = row->first_seen_us;
	share.mailed_us = mailed_us(row);
	if (row->status != CART_BOUGHT)
		return share;
	share.bought_us = row->bought_us;
	share.clicked_lag_us = lags.clicked_us;
	share.mailed_lag_us = lags.mailed_us;
	share.kept_minor = money.total_minor - money.back_minor;
	share.taken_back = attribution_taken_back(row);
	TEXT_COPY(share.currency, money.currency);
	return share;
}

void days_refresh_cart(struct state *state, const char *shop, const char *cart_id, bool ends)
{
	struct report_fold_row row;
	struct share share;

	memset(&share, 0, sizeof(share));
	if (report_fold_get(state, shop, cart_id, &row))
		share = share_of(&row);
	replace(state, shop, cart_id, &share, ends);
}

void days_remember_feedback(struct state *state, const struct message_meta *said, const MailFeedback *feedback)
{
	struct share share;
	char key[SHARE_KEY_MAX];

	memset(&share, 0, sizeof(share));
	if (feedback->kind == FEEDBACK_COMPLAINT)
		share.said_no_us = feedback->heard_us;
	else if (feedback->kind == FEEDBACK_BOUNCE_PERMANENT)
		share.bounced_us = feedback->heard_us;
	snprintf(key, sizeof(key), "#%016" PRIx64, said->seq);
	replace(state, said->shop, key, &share, false);
}

void days_remember_suppression(struct state *state, const struct message_meta *said, const Suppression *fact)
{
	bool by_themselves = fact->source == OPTOUT_PAGE || fact->source == OPTOUT_ONE_CLICK;
	struct share share;
	char key[SHARE_KEY_MAX];

	memset(&share, 0, sizeof(share));
	if (by_themselves && !fact->lifted && !said->tombstone)
		share.said_no_us = fact->since_us;
	snprintf(key, sizeof(key), "to:%s", fact->address_hash);
	replace(state, said->shop, key, &share, true);
}

/* ---- another zone, or other windows ---- */

struct summing {
	const struct calendar *calendar;
	struct sorted_map *days, *money;
	struct buffer old_days, old_money; /* keys, each with its NUL */
};

static void add_to(struct sorted_map *map, const char *key, const void *more, size_t figures)
{
	struct sorted_map_entry *entry = sorted_map_find(map, bytes_of(key));
	int64_t row[DAY_FIGURES] = { 0 };

	if (entry)
		memcpy(row, sorted_map_value(entry).data, figures * sizeof(*row));
	add_row(row, more, figures, 1);
	sorted_map_put(map, bytes_of(key), BYTES(row, figures * sizeof(*row)), 0);
}

static bool sum_share(const char *shop, const char *key, const struct share *share, void *context)
{
	const struct summing *summing = context;
	struct part parts[PARTS_MAX];
	int count = parts_of(summing->calendar, share, parts);

	(void)shop, (void)key;
	for (int i = 0; i < count; i++) {
		add_to(summing->days, parts[i].day, &parts[i].row, DAY_FIGURES);
		if (*parts[i].money_key)
			add_to(summing->money, parts[i].money_key, &parts[i].money, 2);
	}
	return true;
}

static bool note_key(const char *shop, const char *key, void *context)
{
	struct buffer *keys = context;

	(void)shop;
	buffer_add(keys, key, strlen(key) + 1);
	return true;
}

static void replace_rows(struct state *state, const struct state_table *table, const char *shop,
	const struct buffer *old, const struct sorted_map *sums)
{
	static const int64_t zeros[DAY_FIGURES];

	for (size_t at = 0; at < old->len; at += strlen((const char *)old->data + at) + 1)
		state_delete_row(state, table, shop, (const char *)old->data + at);
	for (const struct sorted_map_entry *sum = sorted_map_first(sums); sum; sum = sorted_map_next(sum)) {
		char key[MONEY_KEY_MAX];

		text_copy_bytes(key, sizeof(key), sorted_map_key(sum));
		if (memcmp(sorted_map_value(sum).data, zeros, table->size) != 0)
			state_put_row(state, table, shop, key, sorted_map_value(sum).data);
	}
}

static void sum_anew(struct state *state, const char *shop, const struct calendar *calendar)
{
	struct summing summing = { .calendar = calendar, .days = sorted_map_new(), .money = sorted_map_new() };

	STATE_EACH(state, shares, shop, NULL, sum_share, &summing);
	STATE_EACH_KEY(state, days, shop, NULL, note_key, &summing.old_days);
	STATE_EACH_KEY(state, days_money, shop, NULL, note_key, &summing.old_money);
	replace_rows(state, STATE_HANDLE(days), shop, &summing.old_days, summing.days);
	replace_rows(state, STATE_HANDLE(days_money), shop, &summing.old_money, summing.money);
	sorted_map_free(summing.days);
	sorted_map_free(summing.money);
	buffer_free(&summing.old_days);
	buffer_free(&summing.old_money);
}

void days_remember_document(struct state *state, const struct message_meta *said, const Document *document)
{
	const struct shop *shop = strcmp(document->kind, "shop") == 0 ? docs_shop(state, said->shop) : NULL;
	struct calendar old = calendar_of(state, said->shop), now;

	if (!shop)
		return;
	memset(&now, 0, sizeof(now));
	now.clicked_us = shop->windows.clicked_us;
	now.mailed_us = shop->windows.mailed_us;
	TEXT_COPY(now.zone, shop->zone);
	STATE_PUT(state, calendars, said->shop, "", &now);
	if (memcmp(&old, &now, sizeof(now)) != 0)
		sum_anew(state, said->shop, &now);
}
