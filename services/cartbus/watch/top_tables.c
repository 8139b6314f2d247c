/*
 * top_tables.c: the queues and the processes
 *
 * Owns:      which columns there are, and from which width on.
 * Promises:  pure. Where there is no room for all queues, those in which nothing is are named in one line.
 */
#include "services/cartbus/watch/top_tables.h"
#include "services/cartbus/core/humane.h"
#include <math.h>
#include <string.h>

enum { NAME_WIDTH = 14, VALUE_ROOM = 40 };

/* What stands in a cell; its style. */
struct value {
	char text[VALUE_ROOM];
	enum style style;
};

struct column {
	const char *title;
	int width, least; /* of it; of the picture in which it is shown */
	void (*value)(const void *row, struct value *ret);
};

static void count_value(double number, enum style above_0, struct value *ret)
{
	humane_count(number, ret->text);
	ret->style = number > 0 ? above_0 : STYLE_FAINT;
}

static void rate_value(double per_second, struct value *ret)
{
	humane_rate(per_second, ret->text);
	ret->style = per_second > 0 ? STYLE_STRONG : STYLE_FAINT;
}

/* ---- queues ---- */

#define QUEUE_COUNT(field, above_0)                                                                                    \
	static void queue_##field(const void *row, struct value *ret)                                                  \
	{                                                                                                              \
		count_value(((const struct top_queue *)row)->field, above_0, ret);                                     \
	}
QUEUE_COUNT(ready, STYLE_STRONG)
QUEUE_COUNT(leased, STYLE_STRONG)
QUEUE_COUNT(delayed, STYLE_DOUBTFUL)
QUEUE_COUNT(unread, STYLE_STRONG)
QUEUE_COUNT(failures, STYLE_DOUBTFUL)
QUEUE_COUNT(dead, STYLE_BAD)

static void queue_oldest(const void *row, struct value *ret)
{
	const struct top_queue *queue = row;

	ret->style = queue->oldest_us ? STYLE_STRONG : STYLE_FAINT;
	if (queue->oldest_us)
		humane_age(queue->oldest_us, ret->text);
	else
		snprintf(ret->text, sizeof(ret->text), "-");
}

static const struct column queue_columns[] = {
	{ "READY", 8, 0, queue_ready },
	{ "LEASED", 8, 60, queue_leased },
	{ "DELAYED", 9, 60, queue_delayed },
	{ "OLDEST", 8, 40, queue_oldest },
	{ "FAILED", 8, 60, queue_failures },
	{ "DEAD", 7, 0, queue_dead },
	{ "UNREAD", 9, 100, queue_unread },
	{ NULL, 0, 0, NULL },
};

static bool is_quiet(const struct top_queue *queue)
{
	return !queue->is_paused && queue->ready + queue->leased + queue->delayed + queue->dead <= 0;
}

/* ---- processes ---- */

#define PROCESS_COUNT(field, above_0)                                                                                  \
	static void process_##field(const void *row, struct value *ret)                                                \
	{                                                                                                              \
		count_value(((const struct top_process *)row)->field, above_0, ret);                                   \
	}
PROCESS_COUNT(in_flight, STYLE_STRONG)
PROCESS_COUNT(failures, STYLE_DOUBTFUL)
PROCESS_COUNT(timeouts, STYLE_DOUBTFUL)
PROCESS_COUNT(throttles, STYLE_DOUBTFUL)
PROCESS_COUNT(lag, STYLE_STRONG)

static void process_turns(const void *row, struct value *ret)
{
	rate_value(((const struct top_process *)row)->turns_s, ret);
}

static void process_effects(const void *row, struct value *ret)
{
	rate_value(((const struct top_process *)row)->effects_s, ret);
}

static void process_p99(const void *row, struct value *ret)
{
	double us = ((const struct top_process *)row)->p99_us;

	ret->style = us >= 1e6 ? STYLE_DOUBTFUL : us > 0 ? STYLE_STRONG : STYLE_FAINT;
	if (isinf(us))
		snprintf(ret->text, sizeof(ret->text), ">10s");
	else if (us >= 1e6)
		snprintf(ret->text, sizeof(ret->text), "<%.0fs", us / 1e6);
	else if (us > 0)
		snprintf(ret->text, sizeof(ret->text), "<%.0fms", us / 1e3);
	else
		snprintf(ret->text, sizeof(ret->text), "-");
}

static void process_memory(const void *row, struct value *ret)
{
	double bytes = ((const struct top_process *)row)->memory_bytes;

	ret->style = STYLE_PLAIN;
	if (bytes > 0)
		humane_bytes(bytes, ret->text);
	else
		snprintf(ret->text, sizeof(ret->text), "-");
}

static void process_host(const void *row, struct value *ret)
{
	ret->style = STYLE_FAINT;
	snprintf(ret->text, sizeof(ret->text), "%s", ((const struct top_process *)row)->host);
}

static const struct column process_columns[] = {
	{ "HOST", 11, 76, process_host },
	{ "TURNS/S", 8, 0, process_turns },
	{ "P99", 7, 40, process_p99 },
	{ "FLIGHT", 7, 60, process_in_flight },
	{ "EFFECTS/S", 10, 100, process_effects },
	{ "ERRORS", 7, 36, process_failures },
	{ "TIMEOUTS", 9, 100, process_timeouts },
	{ "THROTTLES", 10, 66, process_throttles },
	{ "LAG", 7, 60, process_lag },
	{ "MEMORY", 8, 80, process_memory },
	{ NULL, 0, 0, NULL },
};

/* ---- tables ---- */

/* By how much each column is wider than it has to be: the rest of a wide picture is shared out between them. */
static int stretch(const struct picture *picture, const struct column *columns)
{
	enum { MOST = 5 };
	int used = NAME_WIDTH + 1, count = 1, more;

	for (const struct column *one = columns; one->title; one++) {
		used += picture->width >= one->least ? one->width : 0;
		count += picture->width >= one->least;
	}
	more = (picture->width - used) / count;
	return more < 0 ? 0 : more > MOST ? MOST : more;
}

static void draw_titles(struct picture *picture, int row, const char *name, const struct column *columns)
{
	int more = stretch(picture, columns), at = 1 + NAME_WIDTH + more;

	picture_fill(picture, row, STYLE_TITLE);
	picture_put(picture, row, 1, STYLE_TITLE, name);
	for (; columns->title; columns++) {
		if (picture->width < columns->least)
			continue;
		at += columns->width + more;
		picture_put_right(picture, row, at, columns->width, STYLE_TITLE, columns->title);
	}
}

static int draw_row(struct picture *picture, int row, const char *name, enum style style, const struct column *columns,
	const void *of)
{
	int more = stretch(picture, columns), at = 1 + NAME_WIDTH + more;

	picture_put_within(picture, row, 1, at - 2, style, name);
	for (; columns->title; columns++) {
		struct value value = { .style = STYLE_PLAIN };

		if (picture->width < columns->least)
			continue;
		columns->value(of, &value);
		at += columns->width + more;
		picture_put_right(picture, row, at, columns->width - 1, value.style, value.text);
	}
	return at;
}

static int draw_quiet(struct picture *picture, int row, const struct top_figures *figures)
{
	int column = picture_put(picture, row, 1, STYLE_FAINT, "quiet:");

	for (int i = 0; i < figures->queue_count; i++) {
		if (is_quiet(&figures->queues[i]))
			column = picture_put(picture, row, column + 1, STYLE_FAINT, figures->queues[i].name);
	}
	return row + 1;
}

static void draw_queue(struct picture *picture, int row, const struct top_queue *queue)
{
	enum style style = queue->is_paused || queue->dead > 0 ? STYLE_BAD : STYLE_PLAIN;
	int at = draw_row(picture, row, queue->name, style, queue_columns, queue);

	if (queue->is_paused) {
		at = picture_put(picture, row, at + 1, STYLE_BAD, "paused: ");
		picture_put(picture, row, at, STYLE_PLAIN, queue->outage);
	}
}

static int draw_queues(struct picture *picture, int row, int last, const struct top_figures *figures, bool all)
{
	bool some_quiet = false;

	draw_titles(picture, row++, "QUEUE", queue_columns);
	for (int i = 0; i < figures->queue_count && row < last; i++) {
		bool quiet = is_quiet(&figures->queues[i]);

		some_quiet |= quiet;
		if (all || !quiet)
			draw_queue(picture, row++, &figures->queues[i]);
	}
	return !all && some_quiet && row < last ? draw_quiet(picture, row, figures) : row;
}

static enum style process_style(const struct top_process *process)
{
	return process->failures + process->timeouts + process->throttles > 0 ? STYLE_DOUBTFUL : STYLE_PLAIN;
}

static void draw_processes(struct picture *picture, int row, int last, const struct top_figures *figures, int first)
{
	int room = last - row - 1, left = figures->process_count - room;

	if (first > left)
		first = left > 0 ? left : 0;
	if (row < last)
		draw_titles(picture, row++, "PROCESS", process_columns);
	for (int i = first; i < figures->process_count && row < last; i++) {
		const struct top_process *one = &figures->processes[i];

		draw_row(picture, row++, one->instance, process_style(one), process_columns, one);
	}
}

static int count_quiet(const struct top_figures *figures)
{
	int count = 0;

	for (int i = 0; i < figures->queue_count; i++)
		count += is_quiet(&figures->queues[i]);
	return count;
}

/* With their titles, without a blank row. */
static int height_of(const struct top_figures *figures, bool all)
{
	int quiet = count_quiet(figures), queues = figures->queue_count - (all ? 0 : quiet) + (!all && quiet > 0);

	return 1 + queues + 1 + figures->process_count;
}

/* Blank rows where there is room for them. */
void top_draw_tables(struct picture *picture, int row, int last, const struct top_figures *figures, int first_process)
{
	bool all = last - row >= height_of(figures, true) + 1;
	int spare = last - row - height_of(figures, all);

	row = draw_queues(picture, spare > 1 ? row + 1 : row, last, figures, all);
	draw_processes(picture, spare > 0 ? row + 1 : row, last, figures, first_process);
}

int top_tables_height(const struct top_figures *figures)
{
	return height_of(figures, true) + 2;
}
