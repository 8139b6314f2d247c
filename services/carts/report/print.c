/*
 * print.c: writes a report for people: sentences, lines, and all of it as text
 *
 * Promises:  the same figures give the same bytes. Every printed figure comes from the report fold. ICU
 *            formats amounts, numbers, days and plural forms, in the language of the words and with the
 *            habits of the shop's locale.
 * Read next: words/en.txt (the words), html.c, data.c (for programs)
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/carts/report/report.h"
#include "services/kit/money/money.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unicode/uchar.h>
#include <unicode/ulistformatter.h>
#include <unicode/umsg.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

enum {
	LABEL_COLUMNS = 46,
	NUMBER_COLUMNS = 12,
	GAP_COLUMNS = 2,
	AMOUNT_ROOM = 80,
	SENTENCE_ROOM = 1200,
	NUMBER_ROOM = 40
};

static const struct line {
	const char *key;
	size_t offset;
	bool only_when_any, opens_group;
} lines[REPORT_LINES] = {
	[LINE_SEEN] = { "seen", offsetof(struct report_figures, seen), false, true },
	[LINE_MAILED] = { "mailed", offsetof(struct report_figures, mailed), false, false },
	[LINE_FIRST] = { "first_reminders", offsetof(struct report_figures, first), false, false },
	[LINE_SECOND] = { "second_reminders", offsetof(struct report_figures, second), false, false },
	[LINE_CLICKED] = { "clicked", offsetof(struct report_figures, clicked), false, false },
	[LINE_CLICKED_BOUGHT] = { "clicked_then_bought", offsetof(struct report_figures, orders[ATTRIBUTION_CLICKED]),
		false, true },
	[LINE_MAILED_BOUGHT] = { "mailed_then_bought", offsetof(struct report_figures, orders[ATTRIBUTION_MAILED]),
		false, false },
	[LINE_BOUGHT_ANYWAY] = { "bought_anyway", offsetof(struct report_figures, orders[ATTRIBUTION_ANYWAY]), false,
		false },
	[LINE_TAKEN_BACK] = { "taken_back", offsetof(struct report_figures, taken_back), false, false },
	[LINE_GAVE_UP] = { "gave_up", offsetof(struct report_figures, gave_up), false, true },
	[LINE_WRITTEN_OFF] = { "written_off", offsetof(struct report_figures, written_off), false, false },
	[LINE_NO_ADDRESS] = { "no_address", offsetof(struct report_figures, no_address), false, false },
	[LINE_OPTED_OUT] = { "opted_out", offsetof(struct report_figures, opted_out), false, true },
	[LINE_COMPLAINTS] = { "complaints", offsetof(struct report_figures, complaints), false, false },
	[LINE_BOUNCES] = { "bounces", offsetof(struct report_figures, bounces), false, false },
	[LINE_TO_OWNER] = { "to_owner", offsetof(struct report_figures, to_owner), true, false },
	[LINE_REFUSED] = { "refused", offsetof(struct report_figures, refused), true, false },
	[LINE_AMBIGUOUS] = { "ambiguous", offsetof(struct report_figures, ambiguous), true, false },
};

static uint32_t count_of(const struct report_figures *figures, const struct line *line)
{
	uint32_t count;

	memcpy(&count, (const char *)figures + line->offset, sizeof(count));
	return count;
}

void report_figures_each(const struct report_figures *now, const struct report_figures *before,
	const struct report_words *words, report_figures_fn *each, void *context)
{
	for (int i = 0; i < REPORT_LINES; i++) {
		const struct report_count count = { .key = lines[i].key,
			.label = words->labels[i],
			.now = count_of(now, &lines[i]),
			.before = count_of(before, &lines[i]),
			.opens_group = lines[i].opens_group };

		if (!lines[i].only_when_any || count.now || count.before)
			each(&count, context);
	}
}

bool report_make(const struct state *state, const struct shop *shop, const struct period *period, struct report *ret)
{
	*ret = (struct report){ .shop = shop, .period = *period };
	ret->words = report_words_for(shop->locale, ret->locale);
	if (period_before(shop->zone, period, &ret->before) < 0)
		return false;
	report_figures_count(state, shop, &ret->period, &ret->now);
	report_figures_count(state, shop, &ret->before, &ret->then);
	return true;
}

/* ---- sentences ---- */

/* Fills in an ICU message pattern; its arguments are doubles, or strings as UChar. "" if ICU fails. */
static void fill_in(char *ret, int room, const char *locale, const char *pattern, ...)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar wide[SENTENCE_ROOM], text[SENTENCE_ROOM];
	va_list arguments;

	u_strFromUTF8(wide, SENTENCE_ROOM, NULL, pattern, -1, &error);
	va_start(arguments, pattern);
	u_vformatMessage(locale, wide, -1, text, SENTENCE_ROOM, arguments, &error);
	va_end(arguments);
	u_strToUTF8(ret, room, NULL, text, -1, &error);
	if (U_FAILURE(error) || error == U_STRING_NOT_TERMINATED_WARNING)
		*ret = '\0';
}

static void widen(const char *text, UChar ret[SENTENCE_ROOM])
{
	UErrorCode error = U_ZERO_ERROR;

	u_strFromUTF8WithSub(ret, SENTENCE_ROOM, NULL, text, -1, 0xfffd, NULL, &error);
	if (U_FAILURE(error))
		ret[0] = 0;
}

static void add_sentence(const struct report *report, const char *sentence, struct buffer *ret)
{
	buffer_printf(ret, "%s%s", ret->len ? report->words->between : "", sentence);
}

/* "20,00 €", "20,00 € und 5,00 $" */
static bool list_amounts(const struct report *report, UChar ret[SENTENCE_ROOM])
{
	UChar amounts[REPORT_CURRENCIES_MAX][REPORT_AMOUNT_ROOM];
	const UChar *each[REPORT_CURRENCIES_MAX];
	struct report_figures_sum won[REPORT_CURRENCIES_MAX];
	int32_t lengths[REPORT_CURRENCIES_MAX];
	UErrorCode error = U_ZERO_ERROR;
	int count = report_figures_won(&report->now, won);

	for (int i = 0; i < count; i++) {
		char amount[REPORT_AMOUNT_ROOM];

		money_format(won[i].total_minor - won[i].back_minor, won[i].currency, report->locale, amount,
			sizeof(amount));
		u_strFromUTF8(amounts[i], REPORT_AMOUNT_ROOM, &lengths[i], amount, -1, &error);
		each[i] = amounts[i];
	}
	UListFormatter *list = ulistfmt_open(report->locale, &error);
	ulistfmt_format(list, each, lengths, count, ret, SENTENCE_ROOM, &error);
	ulistfmt_close(list);
	return count > 0 && U_SUCCESS(error) && error != U_STRING_NOT_TERMINATED_WARNING;
}

void report_paragraph(const struct report *report, struct buffer *ret)
{
	const struct report_words *words = report->words;
	const struct report_figures *now = &report->now, *then = &report->then;
	char sentence[SENTENCE_ROOM];
	UChar amounts[SENTENCE_ROOM];

	fill_in(sentence, sizeof(sentence), report->locale, words->seen, (double)now->seen, (double)now->mailed,
		(double)then->seen, (double)then->mailed);
	add_sentence(report, sentence, ret);
	fill_in(sentence, sizeof(sentence), report->locale, words->bought, (double)now->orders[ATTRIBUTION_CLICKED],
		(double)now->orders[ATTRIBUTION_MAILED], (double)now->orders[ATTRIBUTION_ANYWAY]);
	add_sentence(report, sentence, ret);
	if (list_amounts(report, amounts))
		fill_in(sentence, sizeof(sentence), report->locale, words->won_sum, amounts);
	else
		TEXT_COPY(sentence, words->won_nothing);
	add_sentence(report, sentence, ret);
	fill_in(sentence, sizeof(sentence), report->locale, words->opted_out, (double)now->opted_out,
		(double)now->complaints);
	add_sentence(report, sentence, ret);
}

void report_subject(const struct report *report, char ret[160])
{
	char period[AMOUNT_ROOM];
	UChar title[SENTENCE_ROOM], of[SENTENCE_ROOM];

	period_print(report->shop->zone, &report->period, report->locale, period, sizeof(period));
	widen(report->shop->title, title);
	widen(period, of);
	fill_in(ret, 160, report->locale, report->words->title, title, of);
	if (!*ret)
		snprintf(ret, 160, "%s %s", report->shop->title, report->period.name);
}

/* ---- lines ---- */

struct telling {
	const struct report *report;
	report_line_fn *each;
	void *context;
};

static void tell_count(const struct report_count *count, void *context)
{
	const struct telling *telling = context;
	char now[NUMBER_ROOM], before[NUMBER_ROOM];

	locale_number(count->now, telling->report->locale, now, sizeof(now));
	locale_number(count->before, telling->report->locale, before, sizeof(before));
	telling->each(
		&(struct report_line){
			.label = count->label, .now = now, .before = before, .opens_group = count->opens_group },
		telling->context);
}

void report_counts(const struct report *report, report_line_fn *each, void *context)
{
	report_figures_each(&report->now, &report->then, report->words, tell_count,
		&(struct telling){ .report = report, .each = each, .context = context });
}

static void tell_amounts(const struct telling *telling, const char *label, const char *currency, int64_t now,
	int64_t before, bool indented)
{
	char now_text[REPORT_AMOUNT_ROOM], before_text[REPORT_AMOUNT_ROOM];

	money_format(now, currency, telling->report->locale, now_text, sizeof(now_text));
	money_format(before, currency, telling->report->locale, before_text, sizeof(before_text));
	telling->each(&(struct report_line){ .label = label,
			      .now = now_text,
			      .before = before_text,
			      .indented = indented,
			      .opens_group = !indented },
		telling->context);
}

static void tell_currency(const struct telling *telling, const char *currency, const struct report_figures_sum won[2])
{
	const struct report_words *words = telling->report->words;
	const struct report_figures_sum *clicked[] = {
		report_figures_sum_in(telling->report->now.sums[ATTRIBUTION_CLICKED], currency),
		report_figures_sum_in(telling->report->then.sums[ATTRIBUTION_CLICKED], currency),
	};

	tell_amounts(telling, words->won, currency, won[0].total_minor - won[0].back_minor,
		won[1].total_minor - won[1].back_minor, false);
	tell_amounts(telling, words->in_it_clicked, currency, clicked[0]->total_minor - clicked[0]->back_minor,
		clicked[1]->total_minor - clicked[1]->back_minor, true);
	if (won[0].back_minor || won[1].back_minor)
		tell_amounts(telling, words->of_it_back, currency, won[0].back_minor, won[1].back_minor, true);
}

void report_money(const struct report *report, report_line_fn *each, void *context)
{
	const struct telling telling = { .report = report, .each = each, .context = context };
	struct report_figures_sum now[REPORT_CURRENCIES_MAX], then[REPORT_CURRENCIES_MAX];
	int now_count = report_figures_won(&report->now, now), then_count = report_figures_won(&report->then, then);

	for (int i = 0; i < now_count; i++)
		tell_currency(&telling, now[i].currency,
			(struct report_figures_sum[]){ now[i], *report_figures_sum_in(then, now[i].currency) });
	for (int i = 0; i < then_count; i++)
		if (!report_figures_sum_in(now, then[i].currency)->currency[0])
			tell_currency(&telling, then[i].currency,
				(struct report_figures_sum[]){ *report_figures_sum_in(now, ""), then[i] });
}

/* ---- text ---- */

static int width_of(UChar32 c)
{
	int type = u_charType(c), width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);

	if (type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK || type == U_FORMAT_CHAR)
		return 0;
	return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

/* The columns that a text has on a terminal. */
static int columns_of(const char *text)
{
	int columns = 0;

	for (int at = 0; text[at];) {
		UChar32 c;

		U8_NEXT(text, at, -1, c);
		columns += c < 0 ? 1 : width_of(c);
	}
	return columns;
}

static void add_padding(struct buffer *ret, int columns, int least)
{
	for (; columns > 0 || least > 0; columns--, least--)
		buffer_add_text(ret, " ");
}

static void add_text_line(const struct report_line *line, void *context)
{
	struct buffer *ret = context;
	int indented = line->indented ? 2 : 0;

	add_padding(ret, indented, 0);
	buffer_add_text(ret, line->label);
	add_padding(ret, LABEL_COLUMNS - columns_of(line->label) - indented + NUMBER_COLUMNS - columns_of(line->now),
		GAP_COLUMNS);
	buffer_add_text(ret, line->now);
	add_padding(ret, NUMBER_COLUMNS + 2 - columns_of(line->before), GAP_COLUMNS);
	buffer_printf(ret, "%s\n", line->before);
}

void report_text(const struct report *report, struct buffer *ret)
{
	char subject[160];
	_cleanup_(buffer_free) struct buffer paragraph = { 0 };

	report_subject(report, subject);
	if (!report->paragraph)
		report_paragraph(report, &paragraph);
	buffer_printf(ret, "%s\n\n%s\n\n", subject, report->paragraph ? report->paragraph : buffer_text(&paragraph));
	add_text_line(
		&(struct report_line){ .label = "", .now = report->period.name, .before = report->words->before }, ret);
	report_counts(report, add_text_line, ret);
	report_money(report, add_text_line, ret);
	buffer_printf(ret, "\n%s\n", report->words->footnote);
}
