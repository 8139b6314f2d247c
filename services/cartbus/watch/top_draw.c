/*
 * top_draw.c: `cartbus top` as a picture: is all well, what goes on, the queues, the processes
 *
 * Promises:  pure. The narrower the picture, the fewer columns, the less important ones go first; the lower, the fewer reasons and
 *            quiet queues. What is not well is in colour, and says so without colour too.
 * Read next: top_tables.c, picture.c
 */
#include "services/cartbus/watch/top_draw.h"
#include "bus/base/clock.h"
#include "services/cartbus/core/humane.h"
#include "services/cartbus/watch/top_tables.h"
#include <limits.h>
#include <string.h>
#include <time.h>

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

static int draw_state(struct picture *picture, const struct top_figures *figures, const struct top_banner *banner)
{
	if (banner->away)
		return picture_put(picture, 0, 13, STYLE_ALARM, " BROKER AWAY ");
	return picture_put(
		picture, 0, 13, figures->is_red ? STYLE_ALARM : STYLE_WELL, figures->is_red ? " RED " : " GREEN ");
}

void top_draw_frame(
	struct picture *picture, const struct top_figures *figures, const struct top_banner *banner, const char *keys)
{
	char at[32], right[60];
	int column;

	picture_fill(picture, 0, STYLE_BAR);
	picture_put(picture, 0, 1, STYLE_BAR, "cartbus top");
	column = draw_state(picture, figures, banner);
	snprintf(right, sizeof(right), "%s%s ", banner->is_frozen ? "frozen  " : "",
		figures ? clock_words(figures->wall_us, at) : "");
	if (column + (int)strlen(right) < picture->width)
		picture_put_right(picture, 0, picture->width, picture->width, STYLE_BAR, right);
	if (!keys)
		return;
	picture_fill(picture, picture->height - 1, STYLE_BAR);
	picture_put(picture, picture->height - 1, 1, STYLE_BAR, keys);
}

/* ---- is all well ---- */

static int draw_away(
	struct picture *picture, int row, const struct top_figures *figures, const struct top_banner *banner)
{
	char age[HUMANE_ROOM], at[32];

	picture_fill(picture, row, STYLE_BAD);
	picture_print(picture, row++, 1, STYLE_BAD, "The broker has not answered for %s: %s",
		humane_age(banner->since_us, age), banner->away);
	if (figures)
		picture_print(picture, row++, 1, STYLE_FAINT,
			"What is below is how it was at %s. It comes back by itself.",
			clock_words(figures->wall_us, at));
	return row;
}

static int draw_words(
	struct picture *picture, int row, const json_t *words, int most, enum style style, const char *mark)
{
	int count = (int)json_array_size(words), shown = count > most ? most - 1 : count;

	for (int i = 0; i < shown; i++) {
		int column = picture_put(picture, row, 1, style, mark);

		picture_put(picture, row++, column, STYLE_PLAIN, json_string_value(json_array_get(words, (size_t)i)));
	}
	if (shown < count)
		picture_print(picture, row++, 1, STYLE_FAINT, "  and %d more: cartbus status", count - shown);
	return row;
}

static int draw_reasons(struct picture *picture, int row, const struct top_figures *figures, bool is_whole)
{
	int most = is_whole ? INT_MAX : picture->height >= HIGH ? REASONS_HIGH : REASONS_LOW;

	row = draw_words(picture, row, figures->health->red, most, STYLE_BAD, "! ");
	return draw_words(picture, row, figures->health->stopped, most, STYLE_DOUBTFUL, "- ");
}

/* ---- what goes on ---- */

struct fact {
	const char *label;
	char value[HUMANE_ROOM + 8];
	enum style style;
};

enum { FACTS = 12 };

static struct fact count_fact(const char *label, double number, enum style style_above_0)
{
	struct fact fact = { .label = label, .style = number > 0 ? style_above_0 : STYLE_STRONG };

	if (number < 0)
		snprintf(fact.value, sizeof(fact.value), "-");
	else
		humane_count(number, fact.value);
	return fact;
}

static struct fact rate_fact(const char *label, double per_second)
{
	struct fact fact = { .label = label, .style = STYLE_STRONG };

	humane_rate(per_second, fact.value);
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
		humane_age(left_us, fact.value);
	return fact;
}

static void facts_of(const struct top_figures *figures, struct fact facts[FACTS])
{
	struct fact uptime = { .label = "broker up", .style = STYLE_STRONG };
	struct fact disk = { .label = "disk free", .style = STYLE_STRONG };
	int i = 0;

	humane_age((int64_t)figures->uptime_us, uptime.value);
	humane_bytes(figures->disk_free_bytes, disk.value);
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

static int draw_facts(struct picture *picture, int row, const struct top_figures *figures)
{
	struct fact facts[FACTS];
	int in_a_row = facts_in_a_row(picture->width), high = (FACTS + in_a_row - 1) / in_a_row;

	facts_of(figures, facts);
	for (int i = 0; i < FACTS; i++) {
		int at = i / high * (picture->width / in_a_row);

		picture_put(picture, row + i % high, at + 1, STYLE_FAINT, facts[i].label);
		picture_put_right(
			picture, row + i % high, at + FACT_WIDTH - 1, FACT_WIDTH - 2, facts[i].style, facts[i].value);
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

/* A terminal that knows no such characters gets others. */
static wchar_t spark(double share)
{
	static const wchar_t blocks[] = L"▁▂▃▄▅▆▇█", letters[] = L"_.:-=+*#";
	int level = (int)(share * 7.999);

	return wcwidth(blocks[0]) == 1 ? blocks[level] : letters[level];
}

static int draw_sparks(struct picture *picture, int row, const struct looks *looks)
{
	double most = most_of(looks);
	char number[HUMANE_ROOM];
	int column = picture_put(picture, row, 1, STYLE_FAINT, "the last minute, messages/s  ");

	for (int i = 1; i < looks->count; i++) {
		double now = looks_messages_s(looks, i);

		picture_character(picture, row, column++, STYLE_GOOD, now < 0 || most <= 0 ? L' ' : spark(now / most));
	}
	picture_print(picture, row, column + 1, STYLE_FAINT, " %s at most", humane_rate(most, number));
	return row + 1;
}

/* ---- all of it ---- */

static bool has_sparks(const struct picture *picture, const struct looks *looks)
{
	return picture->height >= HIGH && picture->width >= SPARKS_LEAST + LOOKS_MAX && looks->count > 2;
}

static int draw_head(struct picture *picture, int row, const struct top_figures *figures)
{
	row = draw_facts(picture, row, figures);
	return has_sparks(picture, figures->looks) ? draw_sparks(picture, row, figures->looks) : row;
}

static const char *keys_of(const struct picture *picture, const struct top_banner *banner, char ret[160])
{
	if (picture->width < 70)
		snprintf(ret, 160, "q quit  d dead letters  ? help");
	else
		snprintf(ret, 160, "q quit   s by %s   d dead letters   space %s   +/- every %gs   ? help",
			top_order_names[banner->order], banner->is_frozen ? "go on" : "freeze", banner->interval_s);
	return ret;
}

void top_draw(struct picture *picture, const struct top_figures *figures, const struct top_banner *banner)
{
	char keys[160];
	int row = 1, last = picture->height - (banner->interval_s > 0);

	top_draw_frame(picture, figures, banner, banner->interval_s > 0 ? keys_of(picture, banner, keys) : NULL);
	if (banner->away)
		row = draw_away(picture, row, figures, banner);
	if (!figures)
		return;
	if (!banner->away)
		row = draw_reasons(picture, row, figures, banner->interval_s <= 0);
	row = draw_head(picture, row, figures);
	top_draw_tables(picture, row, last, figures, banner->first_process);
	if (banner->interval_s > 0) /* a low picture: what did not fit went over it */
		top_draw_frame(picture, figures, banner, keys);
}

int top_draw_height(const struct top_figures *figures, int width)
{
	int in_a_row = facts_in_a_row(width), facts = (FACTS + in_a_row - 1) / in_a_row;
	int reasons = (int)json_array_size(figures->health->red) + (int)json_array_size(figures->health->stopped);

	return 1 + reasons + facts + top_tables_height(figures);
}

void top_draw_help(struct picture *picture)
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
		picture_put(picture, (int)i + 2, 2, STYLE_PLAIN, lines[i]);
}
