/*
 * data.c: writes a report for programs: JSON and CSV, with plain numbers and keys that stay
 *
 * Read next: print.c
 */
#include "services/carts/report/data.h"
#include "services/kit/money/money.h"

static const char *const classes[] = { [ATTRIBUTION_CLICKED] = "clicked_then_bought",
	[ATTRIBUTION_MAILED] = "mailed_then_bought",
	[ATTRIBUTION_ANYWAY] = "bought_anyway" };

/* ---- CSV ---- */

static void add_csv_count(const struct report_count *count, void *context)
{
	buffer_printf(context, "%s,,%u,%u\r\n", count->key, (unsigned)count->now, (unsigned)count->before);
}

static void add_csv_sum(struct buffer *ret, const char *class, const struct report_figures_sum *now,
	const struct report_figures_sum *before)
{
	const char *currency = now->currency[0] ? now->currency : before->currency;
	char plain[4][40];

	money_plain(now->total_minor - now->back_minor, currency, plain[0], sizeof(plain[0]));
	money_plain(before->total_minor - before->back_minor, currency, plain[1], sizeof(plain[1]));
	money_plain(now->back_minor, currency, plain[2], sizeof(plain[2]));
	money_plain(before->back_minor, currency, plain[3], sizeof(plain[3]));
	buffer_printf(ret, "%s_net,%s,%s,%s\r\n%s_paid_back,%s,%s,%s\r\n", class, currency, plain[0], plain[1], class,
		currency, plain[2], plain[3]);
}

void report_csv(const struct report *report, struct buffer *ret)
{
	buffer_printf(ret, "figure,currency,%s,%s\r\n", report->period.name, report->before.name);
	report_figures_each(&report->now, &report->then, report->words, add_csv_count, ret);
	for (int class = 0; class < ATTRIBUTION_CLASSES; class ++) {
		const struct report_figures_sum *now = report->now.sums[class], *then = report->then.sums[class];

		for (int i = 0; i < REPORT_CURRENCIES_MAX && now[i].currency[0]; i++)
			add_csv_sum(ret, classes[class], &now[i], report_figures_sum_in(then, now[i].currency));
		for (int i = 0; i < REPORT_CURRENCIES_MAX && then[i].currency[0]; i++)
			if (!report_figures_sum_in(now, then[i].currency)->currency[0])
				add_csv_sum(ret, classes[class], report_figures_sum_in(now, ""), &then[i]);
	}
}

/* ---- JSON ---- */

struct both {
	json_t *now, *before;
};

static void add_json_count(const struct report_count *count, void *context)
{
	const struct both *both = context;

	json_object_set_new(both->now, count->key, json_integer(count->now));
	json_object_set_new(both->before, count->key, json_integer(count->before));
}

static json_t *money_json(const struct report_figures *figures)
{
	json_t *list = json_array();

	for (int class = 0; class < ATTRIBUTION_CLASSES; class ++)
		for (int i = 0; i < REPORT_CURRENCIES_MAX && figures->sums[class][i].currency[0]; i++) {
			const struct report_figures_sum *sum = &figures->sums[class][i];

			json_array_append_new(list,
				json_pack("{s:s,s:s,s:I,s:I,s:I}", "class", classes[class], "currency", sum->currency,
					"total_minor", (json_int_t)sum->total_minor, "paid_back_minor",
					(json_int_t)sum->back_minor, "net_minor",
					(json_int_t)(sum->total_minor - sum->back_minor)));
		}
	return list;
}

static json_t *period_json(const struct period *period, json_t *counts, const struct report_figures *figures)
{
	return json_pack("{s:s,s:I,s:I,s:o,s:o,s:I}", "period", period->name, "from_us", (json_int_t)period->from_us,
		"to_us", (json_int_t)period->to_us, "counts", counts, "money", money_json(figures), "sums_left_out",
		(json_int_t)figures->sums_left_out);
}

json_t *report_json(const struct report *report)
{
	struct both both = { .now = json_object(), .before = json_object() };

	report_figures_each(&report->now, &report->then, report->words, add_json_count, &both);
	return json_pack("{s:s,s:I,s:I,s:o,s:o}", "shop", report->shop->name, "clicked_within_us",
		(json_int_t)report->shop->windows.clicked_us, "mailed_within_us",
		(json_int_t)report->shop->windows.mailed_us, "now",
		period_json(&report->period, both.now, &report->now), "before",
		period_json(&report->before, both.before, &report->then));
}
