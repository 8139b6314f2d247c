/*
 * today.c: the figures of the last days, the next mails, and what needs a hand
 *
 * Read next: days.h (where the figures come from), looks.h, standing.h
 */
#include "services/carts/console/today.h"
#include "bus/base/clock.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/console/days.h"
#include "services/carts/console/looks.h"
#include "services/carts/console/standing.h"
#include "services/carts/policy/stops.h"
#include "services/kit/shop/mode.h"
#include "services/kit/time/zone.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMERS_MOST = 300, HANDS_MOST = 50, CURRENCIES_MOST = 16 };

/* ---- the days ---- */

struct money {
	char currency[4];
	int64_t minor, before_minor, clicked_minor, mailed_minor;
	int64_t days[TODAY_DAYS];
};

struct figures {
	char begin[DAY_MAX], turn[DAY_MAX], end[DAY_MAX]; /* begin <= before < turn <= now <= end */
	char names[TODAY_DAYS][DAY_MAX];
	struct day_row now, before;
	int money_count;
	struct money money[CURRENCIES_MOST];
};

static void add_days(struct day_row *to, const struct day_row *day)
{
	to->left += day->left;
	to->mailed += day->mailed;
	to->bought += day->bought;
	to->bought_anyway += day->bought_anyway;
	to->said_no += day->said_no;
	to->bounced += day->bounced;
}

static bool sum_day(const char *shop, const char *key, const struct day_row *row, void *context)
{
	struct figures *figures = context;

	(void)shop;
	if (strcmp(key, figures->end) > 0)
		return false;
	add_days(strcmp(key, figures->turn) < 0 ? &figures->before : &figures->now, row);
	return true;
}

static struct money *money_in(struct figures *figures, const char *currency)
{
	for (int i = 0; i < figures->money_count; i++)
		if (strcmp(figures->money[i].currency, currency) == 0)
			return &figures->money[i];
	if (figures->money_count == CURRENCIES_MOST)
		return NULL;
	TEXT_COPY(figures->money[figures->money_count].currency, currency);
	return &figures->money[figures->money_count++];
}

static void add_money(struct money *money, const struct figures *figures, const char *day, const struct day_money *row)
{
	int64_t minor = row->clicked_minor + row->mailed_minor;

	if (strcmp(day, figures->turn) < 0) {
		money->before_minor += minor;
		return;
	}
	money->minor += minor;
	money->clicked_minor += row->clicked_minor;
	money->mailed_minor += row->mailed_minor;
	for (int i = 0; i < TODAY_DAYS; i++)
		if (strcmp(figures->names[i], day) == 0)
			money->days[i] += minor;
}

static bool sum_money(const char *shop, const char *key, const struct day_money *row, void *context)
{
	struct figures *figures = context;
	const char *slash = strchr(key, '/');
	struct money *money;
	char day[DAY_MAX];

	(void)shop;
	if (!slash || !text_copy_bytes(day, sizeof(day), BYTES(key, (size_t)(slash - key))))
		return true;
	if (strcmp(day, figures->end) > 0)
		return false;
	money = money_in(figures, slash + 1);
	if (money)
		add_money(money, figures, day, row);
	return true;
}

static void figures_read(const struct page_asked *asked, struct figures *ret)
{
	memset(ret, 0, sizeof(*ret));
	day_name(asked->zone, asked->now_us, 1 - 2 * TODAY_DAYS, ret->begin);
	for (int i = 0; i < TODAY_DAYS; i++)
		day_name(asked->zone, asked->now_us, i + 1 - TODAY_DAYS, ret->names[i]);
	TEXT_COPY(ret->turn, ret->names[0]);
	TEXT_COPY(ret->end, ret->names[TODAY_DAYS - 1]);
	STATE_EACH_FROM(asked->state, days, asked->shop, ret->begin, sum_day, ret);
	STATE_EACH_FROM(asked->state, days_money, asked->shop, ret->begin, sum_money, ret);
}

static int by_currency(const void *a, const void *b)
{
	return strcmp(((const struct money *)a)->currency, ((const struct money *)b)->currency);
}

static json_t *show_won(struct figures *figures)
{
	json_t *won = json_array();

	qsort(figures->money, (size_t)figures->money_count, sizeof(figures->money[0]), by_currency);
	for (int i = 0; i < figures->money_count; i++) {
		const struct money *money = &figures->money[i];
		json_t *days = json_array();

		for (int day = 0; day < TODAY_DAYS; day++)
			json_array_append_new(days, json_integer((json_int_t)money->days[day]));
		json_array_append_new(won,
			json_pack("{s:o,s:I,s:I,s:I,s:I,s:o}", "currency", show_text(money->currency), "minor",
				(json_int_t)money->minor, "before_minor", (json_int_t)money->before_minor,
				"clicked_minor", (json_int_t)money->clicked_minor, "mailed_minor",
				(json_int_t)money->mailed_minor, "days", days));
	}
	return won;
}

static json_t *pair(int64_t now, int64_t before)
{
	return json_pack("{s:I,s:I}", "now", (json_int_t)now, "before", (json_int_t)before);
}

/* null: there is nothing to have a share of. */
static json_t *share(int64_t part, int64_t whole)
{
	return whole > 0 ? json_real((double)part / (double)whole) : json_null();
}

static json_t *show_figures(const struct day_row *now, const struct day_row *before)
{
	return json_pack("{s:o,s:o,s:{s:o,s:o},s:o,s:{s:o,s:o},s:o,s:o,s:o}", "left", pair(now->left, before->left),
		"mailed", pair(now->mailed, before->mailed), "mailed_share", "now", share(now->mailed, now->left),
		"before", share(before->mailed, before->left), "bought", pair(now->bought, before->bought),
		"bought_share", "now", share(now->bought, now->mailed), "before", share(before->bought, before->mailed),
		"bought_anyway", pair(now->bought_anyway, before->bought_anyway), "said_no",
		pair(now->said_no, before->said_no), "bounced", pair(now->bounced, before->bounced));
}

/* ---- the mode ---- */

static json_t *show_mode(const struct page_asked *asked)
{
	ShopMode mode = stops_mode(asked->state, asked->shop);
	ShopStatus status, of_all;
	bool all_stopped;

	STATE_GET(asked->state, page_modes, SHOP_OF_ALL, "", &of_all);
	all_stopped = of_all.mode == MODE_PAUSED;
	STATE_GET(asked->state, page_modes, asked->shop, "", &status);
	if (all_stopped && status.mode != MODE_PAUSED)
		status = of_all;
	return json_pack("{s:s,s:o,s:o,s:o,s:b}", "mode", mode_name(mode), "who", show_text(status.who), "reason",
		show_text(status.reason), "at_us", show_time(status.at_us), "all_stopped", (int)all_stopped);
}

/* ---- the next mails ---- */

struct coming {
	char cart_id[LINE_ID_MAX];
	int64_t at_us;
	struct foreseen foreseen;
};

struct agenda {
	const struct page_asked *asked;
	int looked_at, count;
	bool more;
	struct coming each[TIMERS_MOST];
};

static bool note_timer(const char *shop, const char *key, void *context)
{
	struct agenda *agenda = context;
	struct coming *coming = &agenda->each[agenda->count];
	const char *slash = strchr(key, '/');
	struct next_mail_line line;

	if (agenda->looked_at == TIMERS_MOST) {
		agenda->more = true;
		return false;
	}
	agenda->looked_at++;
	if (!slash || !look_foresee(agenda->asked->state, shop, slash + 1, agenda->asked->now_us, &coming->foreseen))
		return true;
	next_mail_line(&coming->foreseen, agenda->asked->zone, &line);
	if (!line.comes)
		return true;
	TEXT_COPY(coming->cart_id, slash + 1);
	coming->at_us = coming->foreseen.with_sender ? coming->foreseen.since_us : coming->foreseen.plan.send_us;
	agenda->count++;
	return true;
}

/* What is held by a pause has no time, and comes last. */
static int soonest_first(const void *a, const void *b)
{
	const struct coming *left = a, *right = b;
	uint64_t left_us = (uint64_t)left->at_us - 1, right_us = (uint64_t)right->at_us - 1;

	if (left_us != right_us)
		return left_us < right_us ? -1 : 1;
	return strcmp(left->cart_id, right->cart_id);
}

static json_t *show_coming(const struct page_asked *asked, const struct coming *coming)
{
	json_t *json = show_next(&coming->foreseen, asked->zone);
	struct cart_line line;

	STATE_GET(asked->state, cart_lines, asked->shop, coming->cart_id, &line);
	json_object_set_new(json, "cart", show_text(coming->cart_id));
	json_object_set_new(json, "address", show_text(line.masked));
	json_object_set_new(json, "total_minor", json_integer((json_int_t)line.total_minor));
	json_object_set_new(json, "currency", show_text(line.currency));
	return json;
}

static void show_agenda(const struct page_asked *asked, json_t *ret)
{
	struct agenda *agenda = memory_new(sizeof(*agenda));
	json_t *next = json_array();

	agenda->asked = asked;
	STATE_EACH_KEY(asked->state, looks_by_due, asked->shop, NULL, note_timer, agenda);
	qsort(agenda->each, (size_t)agenda->count, sizeof(agenda->each[0]), soonest_first);
	for (int i = 0; i < agenda->count && i < TODAY_NEXT; i++)
		json_array_append_new(next, show_coming(asked, &agenda->each[i]));
	json_object_set_new(ret, "next", next);
	json_object_set_new(ret, "next_count", json_integer(agenda->count));
	json_object_set_new(ret, "next_more", json_boolean(agenda->more));
	free(agenda);
}

/* ---- what needs a hand ---- */

struct hands {
	const struct page_asked *asked;
	json_t *list;
};

static bool add_hand(struct hands *hands, const char *kind, json_t *words, const char *link, int64_t at_us)
{
	json_array_append_new(hands->list,
		json_pack("{s:s,s:o,s:o,s:o}", "kind", kind, "words", words, "link", show_word(link), "at_us",
			show_time(at_us)));
	return json_array_size(hands->list) < HANDS_MOST;
}

static bool add_alarm(const char *shop, const char *key, const Alarm *alarm, void *context)
{
	(void)shop, (void)key;
	return add_hand(context, "alarm", show_text(alarm->text), "", alarm->at_us);
}

static bool add_unclear(const char *shop, const char *key, void *context)
{
	struct hands *hands = context;
	char cart_id[LINE_ID_MAX], link[LINE_ID_MAX + 80];
	const char *begin = strchr(key, '/'), *end = strrchr(key, '/');
	int64_t at_us = (int64_t)(UINT64_MAX - strtoull(key, NULL, 16));

	if (at_us < hands->asked->now_us - TODAY_DAYS * US_PER_DAY)
		return false;
	if (!begin || begin == end ||
		!text_copy_bytes(cart_id, sizeof(cart_id), BYTES(begin + 1, (size_t)(end - begin - 1))))
		return true;
	snprintf(link, sizeof(link), "/s/%s/carts/%s", shop, cart_id);
	return add_hand(hands, "unclear", show_text("nobody knows if this mail was sent"), link, at_us);
}

static json_t *show_hands(const struct page_asked *asked)
{
	struct hands hands = { .asked = asked, .list = json_array() };

	STATE_EACH(asked->state, page_alarms, asked->shop, NULL, add_alarm, &hands);
	if (json_array_size(hands.list) < HANDS_MOST)
		STATE_EACH_KEY(asked->state, page_unclear, asked->shop, NULL, add_unclear, &hands);
	return hands.list;
}

/* ---- since when the figures tell something ---- */

static bool first_day(const char *shop, const char *key, void *context)
{
	(void)shop;
	text_copy(context, DAY_MAX, key);
	return false;
}

static json_t *show_since(const struct page_asked *asked)
{
	struct local_time local = { 0 };
	char day[DAY_MAX] = "";
	int64_t us = 0;

	STATE_EACH_KEY(asked->state, days, asked->shop, NULL, first_day, day);
	if (sscanf(day, "%4d-%2d-%2d", &local.year, &local.month, &local.day) != 3 ||
		zone_moment(asked->zone, &local, &us))
		return json_null();
	return show_time(us);
}

void today_show(const struct page_asked *asked, const char *title, json_t *ret)
{
	struct figures figures;

	figures_read(asked, &figures);
	json_object_set_new(ret, "shop", show_text(asked->shop));
	json_object_set_new(ret, "title", show_text(title));
	json_object_set_new(ret, "mode", show_mode(asked));
	json_object_set_new(ret, "won", show_won(&figures));
	json_object_set_new(ret, "figures", show_figures(&figures.now, &figures.before));
	show_agenda(asked, ret);
	json_object_set_new(ret, "hand", show_hands(asked));
	json_object_set_new(ret, "since_us", show_since(asked));
}
