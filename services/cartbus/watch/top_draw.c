/*
 * top_draw.c: `cartbus top` as a picture: is all well, what goes on, the queues, the processes
 *
 * Owns:      which columns there are, and from which width on.
 * Promises:  pure. The narrower the picture, the fewer columns, the less important ones go first; the lower, the fewer reasons and
 *            quiet queues: where there is no room for all, those in which nothing is are named in one line. What is not well is in colour,
 *            and says so without colour too.
 * Read next: screen_buffer.c
 */
#include "services/cartbus/watch/top_draw.h"

#include "bus/base/clock.h"
#include "services/cartbus/watch/screen_buffer.h"
#include "services/cartbus/watch/top_figures.h"
#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* ---- the queues and the processes, as tables that fit ---- */

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
	human_format_count(number, ret->text);
	ret->style = number > 0 ? above_0 : STYLE_FAINT;
}

static void rate_value(double per_second, struct value *ret)
{
	human_format_rate(per_second, ret->text);
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
		human_format_age(queue->oldest_us, ret->text);
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
		human_format_bytes(bytes, ret->text);
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
static int stretch(const struct screen_buffer *screen_buffer, const struct column *columns)
{
	enum { MOST = 5 };
	int used = NAME_WIDTH + 1, count = 1, more;

	for (const struct column *one = columns; one->title; one++) {
		used += screen_buffer->width >= one->least ? one->width : 0;
		count += screen_buffer->width >= one->least;
	}
	more = (screen_buffer->width - used) / count;
	return more < 0 ? 0 : more > MOST ? MOST : more;
}

static void draw_titles(struct screen_buffer *screen_buffer, int row, const char *name, const struct column *columns)
{
	int more = stretch(screen_buffer, columns), at = 1 + NAME_WIDTH + more;

	screen_buffer_fill(screen_buffer, row, STYLE_TITLE);
	screen_buffer_put(screen_buffer, row, 1, STYLE_TITLE, name);
	for (; columns->title; columns++) {
		if (screen_buffer->width < columns->least)
			continue;
		at += columns->width + more;
		screen_buffer_put_right(screen_buffer, row, at, columns->width, STYLE_TITLE, columns->title);
	}
}

static int draw_row(struct screen_buffer *screen_buffer, int row, const char *name, enum style style,
	const struct column *columns, const void *of)
{
	int more = stretch(screen_buffer, columns), at = 1 + NAME_WIDTH + more;

	screen_buffer_put_within(screen_buffer, row, 1, at - 2, style, name);
	for (; columns->title; columns++) {
		struct value value = { .style = STYLE_PLAIN };

		if (screen_buffer->width < columns->least)
			continue;
		columns->value(of, &value);
		at += columns->width + more;
		screen_buffer_put_right(screen_buffer, row, at, columns->width - 1, value.style, value.text);
	}
	return at;
}

static int draw_quiet(struct screen_buffer *screen_buffer, int row, const struct top_figures *figures)
{
	int column = screen_buffer_put(screen_buffer, row, 1, STYLE_FAINT, "quiet:");

	for (int i = 0; i < figures->queue_count; i++) {
		if (is_quiet(&figures->queues[i]))
			column =
				screen_buffer_put(screen_buffer, row, column + 1, STYLE_FAINT, figures->queues[i].name);
	}
	return row + 1;
}

static void draw_queue(struct screen_buffer *screen_buffer, int row, const struct top_queue *queue)
{
	enum style style = queue->is_paused || queue->dead > 0 ? STYLE_BAD : STYLE_PLAIN;
	int at = draw_row(screen_buffer, row, queue->name, style, queue_columns, queue);

	if (queue->is_paused) {
		at = screen_buffer_put(screen_buffer, row, at + 1, STYLE_BAD, "paused: ");
		screen_buffer_put(screen_buffer, row, at, STYLE_PLAIN, queue->outage);
	}
}

static int draw_queues(
	struct screen_buffer *screen_buffer, int row, int last, const struct top_figures *figures, bool all)
{
	bool some_quiet = false;

	draw_titles(screen_buffer, row++, "QUEUE", queue_columns);
	for (int i = 0; i < figures->queue_count && row < last; i++) {
		bool quiet = is_quiet(&figures->queues[i]);

		some_quiet |= quiet;
		if (all || !quiet)
			draw_queue(screen_buffer, row++, &figures->queues[i]);
	}
	return !all && some_quiet && row < last ? draw_quiet(screen_buffer, row, figures) : row;
}

static enum style process_style(const struct top_process *process)
{
	return process->failures + process->timeouts + process->throttles > 0 ? STYLE_DOUBTFUL : STYLE_PLAIN;
}

static void draw_processes(
	struct screen_buffer *screen_buffer, int row, int last, const struct top_figures *figures, int first)
{
	int room = last - row - 1, left = figures->process_count - room;

	if (first > left)
		first = left > 0 ? left : 0;
	if (row < last)
		draw_titles(screen_buffer, row++, "PROCESS", process_columns);
	for (int i = first; i < figures->process_count && row < last; i++) {
		const struct top_process *one = &figures->processes[i];

		draw_row(screen_buffer, row++, one->instance, process_style(one), process_columns, one);
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

/*
 * Into the rows from `row` to before `last`. `first_process`: so many are skipped, if they have no room all together.
 * Blank rows where there is room for them.
 */
static void top_draw_tables(
	struct screen_buffer *screen_buffer, int row, int last, const struct top_figures *figures, int first_process)
{
	bool all = last - row >= height_of(figures, true) + 1;
	int spare = last - row - height_of(figures, all);

	row = draw_queues(screen_buffer, spare > 1 ? row + 1 : row, last, figures, all);
	draw_processes(screen_buffer, spare > 0 ? row + 1 : row, last, figures, first_process);
}

/* with everything in them */
static int top_tables_height(const struct top_figures *figures)
{
	return height_of(figures, true) + 2;
}

/* ---- the picture ---- */

enum { FACT_WIDTH = 20, REASONS_LOW = 3, REASONS_HIGH = 8, HIGH = 34, SPARKS_LEAST = 60 };

/* ---- the first and the last line ---- */

static const char *clock_words(int64_t us, char ret[32])
{
	time_t second = (time_t)(us / US_PER_S);
	struct tm local;

	localtime_r(&second, &local);
	strftime(ret, 32, "%a %H:%M:%S", &local);
	return ret;
}

static int draw_state(
	struct screen_buffer *screen_buffer, const struct top_figures *figures, const struct top_banner *banner)
{
	if (banner->away)
		return screen_buffer_put(screen_buffer, 0, 13, STYLE_ALARM, " BROKER AWAY ");
	return screen_buffer_put(screen_buffer, 0, 13, figures->is_red ? STYLE_ALARM : STYLE_WELL,
		figures->is_red ? " RED " : " GREEN ");
}

void top_draw_frame(struct screen_buffer *screen_buffer, const struct top_figures *figures,
	const struct top_banner *banner, const char *keys)
{
	char at[32], right[60];
	int column;

	screen_buffer_fill(screen_buffer, 0, STYLE_BAR);
	screen_buffer_put(screen_buffer, 0, 1, STYLE_BAR, "cartbus top");
	column = draw_state(screen_buffer, figures, banner);
	snprintf(right, sizeof(right), "%s%s ", banner->is_frozen ? "frozen  " : "",
		figures ? clock_words(figures->wall_us, at) : "");
	if (column + (int)strlen(right) < screen_buffer->width)
		screen_buffer_put_right(screen_buffer, 0, screen_buffer->width, screen_buffer->width, STYLE_BAR, right);
	if (!keys)
		return;
	screen_buffer_fill(screen_buffer, screen_buffer->height - 1, STYLE_BAR);
	screen_buffer_put(screen_buffer, screen_buffer->height - 1, 1, STYLE_BAR, keys);
}

/* ---- is all well ---- */

static int draw_away(struct screen_buffer *screen_buffer, int row, const struct top_figures *figures,
	const struct top_banner *banner)
{
	char age[HUMAN_FORMAT_ROOM], at[32];

	screen_buffer_fill(screen_buffer, row, STYLE_BAD);
	screen_buffer_print(screen_buffer, row++, 1, STYLE_BAD, "The broker has not answered for %s: %s",
		human_format_age(banner->since_us, age), banner->away);
	if (figures)
		screen_buffer_print(screen_buffer, row++, 1, STYLE_FAINT,
			"What is below is how it was at %s. It comes back by itself.",
			clock_words(figures->wall_us, at));
	return row;
}

static int draw_words(
	struct screen_buffer *screen_buffer, int row, const json_t *words, int most, enum style style, const char *mark)
{
	int count = (int)json_array_size(words), shown = count > most ? most - 1 : count;

	for (int i = 0; i < shown; i++) {
		int column = screen_buffer_put(screen_buffer, row, 1, style, mark);

		screen_buffer_put(
			screen_buffer, row++, column, STYLE_PLAIN, json_string_value(json_array_get(words, (size_t)i)));
	}
	if (shown < count)
		screen_buffer_print(
			screen_buffer, row++, 1, STYLE_FAINT, "  and %d more: cartbus status", count - shown);
	return row;
}

static int draw_reasons(struct screen_buffer *screen_buffer, int row, const struct top_figures *figures, bool is_whole)
{
	int most = is_whole ? INT_MAX : screen_buffer->height >= HIGH ? REASONS_HIGH : REASONS_LOW;

	row = draw_words(screen_buffer, row, figures->health->red, most, STYLE_BAD, "! ");
	return draw_words(screen_buffer, row, figures->health->stopped, most, STYLE_DOUBTFUL, "- ");
}

/* ---- what goes on ---- */

struct fact {
	const char *label;
	char value[HUMAN_FORMAT_ROOM + 8];
	enum style style;
};

enum { FACTS = 12 };

static struct fact count_fact(const char *label, double number, enum style style_above_0)
{
	struct fact fact = { .label = label, .style = number > 0 ? style_above_0 : STYLE_STRONG };

	if (number < 0)
		snprintf(fact.value, sizeof(fact.value), "-");
	else
		human_format_count(number, fact.value);
	return fact;
}

static struct fact rate_fact(const char *label, double per_second)
{
	struct fact fact = { .label = label, .style = STYLE_STRONG };

	human_format_rate(per_second, fact.value);
	return fact;
}

static struct fact next_fact(const struct top_figures *figures)
{
	struct fact fact = { .label = "next look", .style = STYLE_STRONG };
	int64_t left_us = figures->next_cart_us - figures->wall_us;

	if (!figures->next_cart_us)
		snprintf(fact.value, sizeof(fact.value), "-");
	else if (left_us <= 0)
		snprintf(fact.value, sizeof(fact.value), "now");
	else
		human_format_age(left_us, fact.value);
	return fact;
}

static void facts_of(const struct top_figures *figures, struct fact facts[FACTS])
{
	struct fact uptime = { .label = "broker up", .style = STYLE_STRONG };
	struct fact disk = { .label = "disk free", .style = STYLE_STRONG };
	int i = 0;

	human_format_age((int64_t)figures->uptime_us, uptime.value);
	human_format_bytes(figures->disk_free_bytes, disk.value);
	facts[i++] = rate_fact("messages/s", figures->messages_s);
	facts[i++] = rate_fact("webhooks/s", figures->webhooks_s);
	facts[i++] = next_fact(figures);
	facts[i++] = count_fact("mails 24 h", figures->mails_day, STYLE_STRONG);
	facts[i++] = count_fact("this hour", figures->mails_hour, STYLE_STRONG);
	facts[i++] = count_fact("recovered", figures->recovered_day, STYLE_GOOD);
	facts[i++] = count_fact("alarms", figures->alarms, STYLE_BAD);
	facts[i++] = count_fact("dead letters", figures->dead, STYLE_BAD);
	facts[i++] = count_fact("mails failed", figures->mails_failed_day, STYLE_DOUBTFUL);
	facts[i++] = uptime;
	facts[i++] = count_fact("log", figures->head, STYLE_STRONG);
	facts[i++] = disk;
}

static int facts_in_a_row(int width)
{
	static const int counts[] = { 6, 4, 3, 2, 1 };
	int i = 0;

	while (counts[i] > 1 && width < counts[i] * FACT_WIDTH)
		i++;
	return counts[i];
}

static int draw_facts(struct screen_buffer *screen_buffer, int row, const struct top_figures *figures)
{
	struct fact facts[FACTS];
	int in_a_row = facts_in_a_row(screen_buffer->width), high = (FACTS + in_a_row - 1) / in_a_row;

	facts_of(figures, facts);
	for (int i = 0; i < FACTS; i++) {
		int at = i / high * (screen_buffer->width / in_a_row);

		screen_buffer_put(screen_buffer, row + i % high, at + 1, STYLE_FAINT, facts[i].label);
		screen_buffer_put_right(screen_buffer, row + i % high, at + FACT_WIDTH - 1, FACT_WIDTH - 2,
			facts[i].style, facts[i].value);
	}
	return row + high;
}

/* ---- the last minute ---- */

static double most_of(const struct looks *looks)
{
	double most = 0;

	for (int i = 1; i < looks->count; i++) {
		if (looks_messages_s(looks, i) > most)
			most = looks_messages_s(looks, i);
	}
	return most;
}

/* A terminal that cannot show block characters gets others. */
static wchar_t spark(double share)
{
	static const wchar_t blocks[] = L"▁▂▃▄▅▆▇█", dead_letters[] = L"_.:-=+*#";
	int level = (int)(share * 7.999);

	return wcwidth(blocks[0]) == 1 ? blocks[level] : dead_letters[level];
}

static int draw_sparks(struct screen_buffer *screen_buffer, int row, const struct looks *looks)
{
	double most = most_of(looks);
	char number[HUMAN_FORMAT_ROOM];
	int column = screen_buffer_put(screen_buffer, row, 1, STYLE_FAINT, "the last minute, messages/s  ");

	for (int i = 1; i < looks->count; i++) {
		double now = looks_messages_s(looks, i);

		screen_buffer_character(
			screen_buffer, row, column++, STYLE_GOOD, now < 0 || most <= 0 ? L' ' : spark(now / most));
	}
	screen_buffer_print(
		screen_buffer, row, column + 1, STYLE_FAINT, " %s at most", human_format_rate(most, number));
	return row + 1;
}

/* ---- all of it ---- */

static bool has_sparks(const struct screen_buffer *screen_buffer, const struct looks *looks)
{
	return screen_buffer->height >= HIGH && screen_buffer->width >= SPARKS_LEAST + LOOKS_MAX && looks->count > 2;
}

static int draw_head(struct screen_buffer *screen_buffer, int row, const struct top_figures *figures)
{
	row = draw_facts(screen_buffer, row, figures);
	return has_sparks(screen_buffer, figures->looks) ? draw_sparks(screen_buffer, row, figures->looks) : row;
}

static const char *keys_of(const struct screen_buffer *screen_buffer, const struct top_banner *banner, char ret[160])
{
	if (screen_buffer->width < 70)
		snprintf(ret, 160, "q quit  d dead letters  ? help");
	else
		snprintf(ret, 160, "q quit   s by %s   d dead letters   space %s   +/- every %gs   ? help",
			top_order_names[banner->order], banner->is_frozen ? "go on" : "freeze", banner->interval_s);
	return ret;
}

void top_draw(struct screen_buffer *screen_buffer, const struct top_figures *figures, const struct top_banner *banner)
{
	char keys[160];
	int row = 1, last = screen_buffer->height - (banner->interval_s > 0);

	top_draw_frame(
		screen_buffer, figures, banner, banner->interval_s > 0 ? keys_of(screen_buffer, banner, keys) : NULL);
	if (banner->away)
		row = draw_away(screen_buffer, row, figures, banner);
	if (!figures)
		return;
	if (!banner->away)
		row = draw_reasons(screen_buffer, row, figures, banner->interval_s <= 0);
	row = draw_head(screen_buffer, row, figures);
	top_draw_tables(screen_buffer, row, last, figures, banner->first_process);
	if (banner->interval_s > 0) /* a low picture: what did not fit went over it */
		top_draw_frame(screen_buffer, figures, banner, keys);
}

int top_draw_height(const struct top_figures *figures, int width)
{
	int in_a_row = facts_in_a_row(width), facts = (FACTS + in_a_row - 1) / in_a_row;
	int reasons = (int)json_array_size(figures->health->red) + (int)json_array_size(figures->health->stopped);

	return 1 + reasons + facts + top_tables_height(figures);
}

void top_draw_help(struct screen_buffer *screen_buffer)
{
	static const char *const lines[] = {
		"q          quit",
		"s          sort processes: turns, name, errors, lag, memory",
		"up, down   scroll to the processes that do not fit on the screen",
		"d          dead letters; there: up, down, enter shows one, d or escape goes back",
		"space      freeze the picture; again: go on",
		"+ -        a longer interval, a shorter one",
		"?          this help",
		"",
		"messages/s, webhooks/s, turns/s   of the last five seconds; a turn is one message that a process "
		"decided on",
		"p99        99 of 100 turns of the last minute took at most this long",
		"ready      messages that wait; leased: a process is working on them; delayed: they will be tried "
		"again later",
		"errors     turns that failed, timeouts, and how often another server asked us to slow down "
		"(throttles)",
		"lag        messages of the log that a process has not read yet",
		"recovered  carts that were bought after a reminder, in 24 hours: cartbus report says more",
		"next look  when the next cart is due for a decision; no reminder goes before",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		screen_buffer_put(screen_buffer, (int)i + 2, 2, STYLE_PLAIN, lines[i]);
}
