/*
 * summary_write.c: a month's summary with figures of its own, for somebody to look at
 *
 * `cartbus-test-summary SHOP.CONF CURRENCY usual|huge|none html|text`
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/carts/report/report.h"
#include <stdio.h>

enum { CONF_BYTES_MAX = 1 << 16 };

static void read_shop(const char *path, struct shop *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error = { "" };

	if (file_read(path, CONF_BYTES_MAX, &text) < 0 || shop_parse(buffer_text(&text), "demo", path, ret, &error) < 0)
		die("%s: %s", path, error.text);
}

static void set_sum(
	struct report_figures *figures, enum attribution class, const char *currency, int64_t total, int64_t back)
{
	struct report_figures_sum *sum = &figures->sums[class][0];

	if (sum->currency[0] && strcmp(sum->currency, currency) != 0)
		sum++;
	TEXT_COPY(sum->currency, currency);
	sum->total_minor = total;
	sum->back_minor = back;
}

static struct report_figures figures_of(const char *currency, int64_t times)
{
	struct report_figures figures = { .seen = (uint32_t)(1234 * times),
		.mailed = (uint32_t)(811 * times),
		.first = (uint32_t)(811 * times),
		.second = (uint32_t)(402 * times),
		.clicked = (uint32_t)(97 * times),
		.orders = { [ATTRIBUTION_CLICKED] = (uint32_t)(61 * times),
			[ATTRIBUTION_MAILED] = (uint32_t)(24 * times),
			[ATTRIBUTION_ANYWAY] = (uint32_t)(212 * times) },
		.taken_back = 3,
		.gave_up = (uint32_t)(318 * times),
		.opted_out = 2,
		.ambiguous = times > 1 };

	set_sum(&figures, ATTRIBUTION_CLICKED, currency, 482150 * times * times, 0);
	set_sum(&figures, ATTRIBUTION_MAILED, currency, 192000 * times * times, 12000 * times);
	if (times > 1)
		set_sum(&figures, ATTRIBUTION_MAILED, "VND", 192000 * times * times, 0);
	return figures;
}

int main(int argc, char **argv)
{
	_cleanup_(buffer_free) struct buffer out = { 0 };
	struct shop shop;
	struct report report = { .shop = &shop };

	if (argc != 5)
		die("expected SHOP.CONF CURRENCY usual|huge|none html|text");
	read_shop(argv[1], &shop);
	report.words = report_words_for(shop.locale, report.locale);
	if (period_month(shop.zone, "2026-10", &report.period) < 0 ||
		period_before(shop.zone, &report.period, &report.before) < 0)
		die("%s: no such zone", shop.zone);
	if (strcmp(argv[3], "none") != 0) {
		int64_t times = strcmp(argv[3], "huge") == 0 ? 1200 : 1;

		report.now = figures_of(argv[2], times);
		report.then = figures_of(argv[2], times);
		report.then.seen -= 132;
		set_sum(&report.then, ATTRIBUTION_CLICKED, argv[2], 399000 * times * times, 0);
	}
	if (strcmp(argv[4], "html") == 0)
		report_html(&report, &out);
	else
		report_text(&report, &out);
	fputs(buffer_text(&out), stdout);
	return 0;
}
