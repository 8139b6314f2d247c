/*
 * chart.h: bars by day and sparklines, as SVG
 *
 * The data of a chart is
 *
 *   {"unit": "EUR", "series": [{"class": "clicked", "name": "by click"}], "points": [{"day": "2026-11-24", "values": [1250]}]}
 *
 * unit    null or missing: a number; an ISO 4217 code: minor units of it; "percent": fractions, 1 is 100 %; "bytes"
 * series  one to three, more are left out. `class` is a class of the style sheet (small letters, digits, "-"; else it is "series-N");
 *         `name` is for people, and needed only if the page does not name the series
 * points  `day` is a day of the shop, "2026-11-24", written as the reader writes it; or `label` is a text. `values` has one number for
 *         each series; null or missing: unknown, so there is no bar. The last CHART_POINTS_MAX are drawn.
 *
 * A sparkline also takes a plain list of numbers. Scales begin at zero; a negative number has no height, but is in the text.
 *
 * Classes: figure.chart, ul.chart-legend, svg.chart-bars, svg.chart-spark, .chart-axis, .chart-label, .chart-bar, .chart-line,
 * .chart-empty, and that of the series beside .chart-bar and in the legend. There are no style attributes and no ids.
 */
#ifndef KIT_CONSOLE_CHART_H
#define KIT_CONSOLE_CHART_H

#include "bus/base/bytes.h"
#include "services/kit/console/format.h"
#include <jansson.h>

enum { CHART_SERIES_MAX = 3, CHART_POINTS_MAX = 400 };

/* All texts are borrowed plain text. */
struct chart_reader {
	struct format_reader format;
	const char *language;
	const char *title;                   /* "": none */
	const char *names[CHART_SERIES_MAX]; /* NULL: the name that the data has */
};

/* Appends a <figure> with the bars, a legend if there are several series, and the same numbers as a table in a <details>. */
void chart_bars(const json_t *chart, const struct chart_reader *reader, struct buffer *ret);
/* Appends a line of the first series that fits into a line of text; its title tells the least, the most and the last number. */
void chart_spark(const json_t *chart, const struct chart_reader *reader, struct buffer *ret);

/* The words of the charts themselves: chart_words/LANGUAGE.txt */
struct chart_words {
	const char *language;
	const char *day, *table, *nothing, *least, *most, *last;
};
extern const struct chart_words chart_words[];

#endif
