/*
 * chart.c: draws bars by day and sparklines as SVG
 *
 * Promises:  scales begin at zero; what cannot be drawn (no number, none yet, a negative one) leaves a gap and never a broken drawing.
 * Read next: format.h (how a reader writes days and numbers)
 */
#include "services/kit/console/chart.h"
#include "bus/base/text.h"
#include "services/kit/console/escape.h"
#include "services/kit/money/money.h"
#include <math.h>
#include <stdio.h>

enum {
	WIDTH = 640,
	HEIGHT = 180,
	LEFT = 72, /* of the plot: the labels of the scale are beside it */
	RIGHT = 616,
	TOP = 10,
	BOTTOM = 156,
	LABELS_MOST = 6, /* days below the plot */
	SPARK_WIDTH = 100,
	SPARK_HEIGHT = 24,
	SPARK_EDGE = 2
};
static const double bar_share = 0.8; /* of the room of a day; the rest is the gap to the next */

struct chart {
	const json_t *points, *series;
	const char *unit; /* "": none */
	const struct chart_reader *reader;
	const struct chart_words *words;
	size_t series_count, first, count; /* points [first, first + count) are drawn */
	double top;                        /* of the scale */
	struct buffer *out;
};

static const struct chart_words *words_of(const char *language)
{
	const struct chart_words *row = chart_words;

	while (row->language && strcmp(row->language, language) != 0)
		row++;
	return row->language ? row : chart_words;
}

static const char *text_of(const json_t *value)
{
	return json_is_string(value) ? json_string_value(value) : "";
}

/* --- the data --- */

/* NAN: unknown. */
static double value_of(const struct chart *chart, size_t point, size_t series)
{
	const json_t *row = json_array_get(chart->points, chart->first + point);
	const json_t *values = json_object_get(row, "values");
	const json_t *value = json_is_array(values) ? json_array_get(values, series) : row;

	return json_is_number(value) && isfinite(json_number_value(value)) ? json_number_value(value) : (double)NAN;
}

/* 1, 2 or 5 times a power of ten, at least `most`; 1 for nothing. */
static double round_up(double most)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double power;

	if (!(most > 0))
		return 1;
	power = pow(10, floor(log10(most)));
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i] * power >= most)
			return steps[i] * power;
	return 10 * power;
}

static double most_of(const struct chart *chart)
{
	double most = 0;

	for (size_t point = 0; point < chart->count; point++)
		for (size_t series = 0; series < chart->series_count; series++)
			most = fmax(most, value_of(chart, point, series)); /* fmax passes over NAN */
	return most;
}

static struct chart chart_of(const json_t *data, const struct chart_reader *reader, struct buffer *out)
{
	struct chart chart = { .points = json_is_array(data) ? data : json_object_get(data, "points"),
		.series = json_object_get(data, "series"),
		.unit = text_of(json_object_get(data, "unit")),
		.reader = reader,
		.words = words_of(reader->language),
		.out = out };
	size_t points = json_array_size(chart.points), series = json_array_size(chart.series);

	chart.count = points < CHART_POINTS_MAX ? points : CHART_POINTS_MAX;
	chart.first = points - chart.count;
	chart.series_count = series < 1 ? 1 : series < CHART_SERIES_MAX ? series : CHART_SERIES_MAX;
	chart.top = round_up(most_of(&chart));
	return chart;
}

/* --- texts --- */

static void add(const struct chart *chart, const char *html)
{
	buffer_add_text(chart->out, html);
}

static void add_text(const struct chart *chart, const char *text)
{
	escape_html(bytes_of(text), chart->out);
}

/* With one digit after the point, whatever the process's locale is. */
static void add_length(const struct chart *chart, const char *name, double length)
{
	long tenths = lround(length * 10);

	buffer_printf(chart->out, " %s=\"%ld.%ld\"", name, tenths / 10, tenths % 10);
}

static void number_words(const struct chart *chart, double value, char ret[FORMAT_ROOM])
{
	const char *locale = chart->reader->format.locale;
	bool is_whole = fabs(value) < 9e15 && value == floor(value);

	ret[0] = '\0';
	if (isnan(value))
		return;
	if (strcmp(chart->unit, "percent") == 0)
		locale_percent(value, locale, ret, FORMAT_ROOM);
	else if (is_whole && strcmp(chart->unit, "bytes") == 0)
		locale_bytes((int64_t)value, locale, ret, FORMAT_ROOM);
	else if (is_whole && *chart->unit)
		money_format((int64_t)value, chart->unit, locale, ret, FORMAT_ROOM);
	else if (is_whole)
		locale_integer((int64_t)value, locale, ret, FORMAT_ROOM);
	else
		locale_decimal(value, locale, ret, FORMAT_ROOM);
}

static void add_number(const struct chart *chart, double value)
{
	char shown[FORMAT_ROOM];

	number_words(chart, value, shown);
	add_text(chart, shown);
}

static void add_point_name(const struct chart *chart, size_t point, enum locale_day form)
{
	const json_t *row = json_array_get(chart->points, chart->first + point);
	const char *day = text_of(json_object_get(row, "day"));
	char shown[FORMAT_ROOM];

	if (*day) {
		format_date(&chart->reader->format, day, form, shown);
		add_text(chart, shown);
		return;
	}
	add_text(chart, text_of(json_object_get(row, "label")));
}

static const char *series_name(const struct chart *chart, size_t series)
{
	const char *given = chart->reader->names[series];

	return given ? given : text_of(json_object_get(json_array_get(chart->series, series), "name"));
}

static void add_series_class(const struct chart *chart, size_t series)
{
	const char *given = text_of(json_object_get(json_array_get(chart->series, series), "class"));

	if (*given && strspn(given, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(given))
		add(chart, given);
	else
		buffer_printf(chart->out, "series-%zu", series + 1);
}

/* --- bars --- */

static double height_of(const struct chart *chart, double value)
{
	return value > 0 ? (BOTTOM - TOP) * fmin(value / chart->top, 1) : 0; /* in this order, or it is infinite */
}

static void add_tick(const struct chart *chart, double value)
{
	double y = BOTTOM - height_of(chart, value);

	add(chart, "<line class=\"chart-axis\"");
	add_length(chart, "x1", LEFT);
	add_length(chart, "x2", RIGHT);
	add_length(chart, "y1", y);
	add_length(chart, "y2", y);
	add(chart, "/><text class=\"chart-label\" text-anchor=\"end\"");
	add_length(chart, "x", LEFT - 6);
	add_length(chart, "y", y + 4);
	add(chart, ">");
	add_number(chart, value);
	add(chart, "</text>");
}

static void add_scale(const struct chart *chart)
{
	bool has_half = strcmp(chart->unit, "percent") == 0 || fmod(chart->top, 2) == 0;

	add_tick(chart, 0);
	if (has_half)
		add_tick(chart, chart->top / 2);
	add_tick(chart, chart->top);
}

static void add_bar(const struct chart *chart, size_t point, size_t series)
{
	double room = (double)(RIGHT - LEFT) / (double)chart->count, value = value_of(chart, point, series);
	double width = room * bar_share / (double)chart->series_count, height = height_of(chart, value);

	if (isnan(value))
		return;
	add(chart, "<rect class=\"chart-bar ");
	add_series_class(chart, series);
	add(chart, "\"");
	add_length(chart, "x", LEFT + room * ((double)point + (1 - bar_share) / 2) + width * (double)series);
	add_length(chart, "y", BOTTOM - height);
	add_length(chart, "width", fmax(width, 0.1));
	add_length(chart, "height", height);
	add(chart, "><title>");
	add_point_name(chart, point, LOCALE_DAY);
	add(chart, ": ");
	add_number(chart, value);
	if (*series_name(chart, series)) {
		add(chart, " ");
		add_text(chart, series_name(chart, series));
	}
	add(chart, "</title></rect>");
}

static void add_labels(const struct chart *chart)
{
	double room = (double)(RIGHT - LEFT) / (double)chart->count;
	size_t step = (chart->count + LABELS_MOST - 1) / LABELS_MOST;

	for (size_t point = 0; point < chart->count; point += step) {
		add(chart, "<text class=\"chart-label\" text-anchor=\"middle\"");
		add_length(chart, "x", LEFT + room * ((double)point + 0.5));
		add_length(chart, "y", BOTTOM + 16);
		add(chart, ">");
		add_point_name(chart, point, LOCALE_DAY_OF_MONTH);
		add(chart, "</text>");
	}
}

static void add_highest(const struct chart *chart)
{
	double most = most_of(chart);

	for (size_t point = 0; point < chart->count; point++)
		for (size_t series = 0; series < chart->series_count; series++) {
			if (value_of(chart, point, series) != most)
				continue;
			buffer_printf(chart->out, "%s: ", chart->words->most);
			add_number(chart, most);
			add(chart, ", ");
			add_point_name(chart, point, LOCALE_DAY);
			return;
		}
}

static void add_drawing(const struct chart *chart)
{
	buffer_printf(chart->out,
		"<svg class=\"chart-bars\" role=\"img\" direction=\"ltr\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\"><title>",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	add_text(chart, chart->reader->title);
	add(chart, "</title><desc>");
	add_highest(chart);
	add(chart, "</desc>");
	add_scale(chart);
	for (size_t point = 0; point < chart->count; point++)
		for (size_t series = 0; series < chart->series_count; series++)
			add_bar(chart, point, series);
	add_labels(chart);
	add(chart, "</svg>");
}

static void add_legend(const struct chart *chart)
{
	if (chart->series_count < 2)
		return;
	add(chart, "<ul class=\"chart-legend\">");
	for (size_t series = 0; series < chart->series_count; series++) {
		add(chart, "<li class=\"");
		add_series_class(chart, series);
		add(chart, "\">");
		add_text(chart, series_name(chart, series));
		add(chart, "</li>");
	}
	add(chart, "</ul>");
}

static void add_table(const struct chart *chart)
{
	buffer_printf(chart->out, "<details><summary>%s</summary><table><caption>", chart->words->table);
	add_text(chart, chart->reader->title);
	buffer_printf(chart->out, "</caption><thead><tr><th scope=\"col\">%s</th>", chart->words->day);
	for (size_t series = 0; series < chart->series_count; series++) {
		const char *name = series_name(chart, series);

		add(chart, "<th scope=\"col\">");
		add_text(chart, *name ? name : chart->reader->title);
		add(chart, "</th>");
	}
	add(chart, "</tr></thead><tbody>");
	for (size_t point = 0; point < chart->count; point++) {
		add(chart, "<tr><th scope=\"row\">");
		add_point_name(chart, point, LOCALE_DAY);
		add(chart, "</th>");
		for (size_t series = 0; series < chart->series_count; series++) {
			add(chart, "<td>");
			add_number(chart, value_of(chart, point, series));
			add(chart, "</td>");
		}
		add(chart, "</tr>");
	}
	add(chart, "</tbody></table></details>");
}

void chart_bars(const json_t *data, const struct chart_reader *reader, struct buffer *ret)
{
	const struct chart chart = chart_of(data, reader, ret);

	add(&chart, "<figure class=\"chart\">");
	if (*reader->title) {
		add(&chart, "<figcaption>");
		add_text(&chart, reader->title);
		add(&chart, "</figcaption>");
	}
	if (chart.count == 0) {
		buffer_printf(ret, "<p class=\"chart-empty\">%s</p></figure>", chart.words->nothing);
		return;
	}
	add_drawing(&chart);
	add_legend(&chart);
	add_table(&chart);
	add(&chart, "</figure>");
}

/* --- sparklines --- */

struct range {
	double least, most, last;
	size_t known; /* points that have a number */
};

static struct range range_of(const struct chart *chart)
{
	struct range range = { .least = (double)NAN, .most = (double)NAN };

	for (size_t point = 0; point < chart->count; point++) {
		double value = value_of(chart, point, 0);

		if (isnan(value))
			continue;
		range.known++;
		range.last = value;
		range.least = fmin(range.least, value);
		range.most = fmax(range.most, value);
	}
	return range;
}

static void add_range(const struct chart *chart, const struct range *range)
{
	if (*chart->reader->title) {
		add_text(chart, chart->reader->title);
		add(chart, ": ");
	}
	buffer_printf(chart->out, "%s ", chart->words->least);
	add_number(chart, range->least);
	buffer_printf(chart->out, ", %s ", chart->words->most);
	add_number(chart, range->most);
	buffer_printf(chart->out, ", %s ", chart->words->last);
	add_number(chart, range->last);
}

static void add_line(const struct chart *chart)
{
	double room = SPARK_WIDTH - 2 * SPARK_EDGE, height = SPARK_HEIGHT - 2 * SPARK_EDGE;
	double step = chart->count > 1 ? room / (double)(chart->count - 1) : 0;

	add(chart, "<path class=\"chart-line\" fill=\"none\" d=\"");
	for (size_t point = 0; point < chart->count; point++) {
		double value = value_of(chart, point, 0);
		bool begins = point == 0 || isnan(value_of(chart, point - 1, 0));

		if (isnan(value))
			continue;
		long x = lround((SPARK_EDGE + step * (double)point) * 10);
		long y = lround((SPARK_HEIGHT - SPARK_EDGE - height * fmax(value, 0) / chart->top) * 10);
		buffer_printf(chart->out, "%s%ld.%ld %ld.%ld", begins ? "M" : "L", x / 10, x % 10, y / 10, y % 10);
		if (begins)
			add(chart, "h0.1"); /* so that a number between two gaps is seen */
	}
	add(chart, "\"/>");
}

void chart_spark(const json_t *data, const struct chart_reader *reader, struct buffer *ret)
{
	struct chart chart = chart_of(data, reader, ret);
	struct range range;

	chart.series_count = 1;
	chart.top = most_of(&chart) > 0 ? most_of(&chart) : 1;
	range = range_of(&chart);
	if (range.known == 0) {
		buffer_printf(ret, "<span class=\"chart-empty\">%s</span>", chart.words->nothing);
		return;
	}
	buffer_printf(ret,
		"<svg class=\"chart-spark\" role=\"img\" direction=\"ltr\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\"><title>",
		SPARK_WIDTH, SPARK_HEIGHT, SPARK_WIDTH, SPARK_HEIGHT);
	add_range(&chart, &range);
	add(&chart, "</title>");
	add_line(&chart);
	add(&chart, "</svg>");
}
