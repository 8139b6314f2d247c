/*
 * figures_print.c: a report for people (English, German) and for programs
 *
 * Promises:  same figures, same bytes; a figure is only ever printed from the ledger's count; what shoppers or shops wrote is
 *            escaped; amounts and numbers are in the shop's locale, in CSV and JSON plain.
 * Read next: figures.h
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/figures.h"
#include "services/kit/html.h"
#include "services/kit/money.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unicode/umsg.h>
#include <unicode/unum.h>
#include <unicode/ustring.h>

enum { LABEL_COLUMNS = 46, NUMBER_COLUMNS = 12, AMOUNT_ROOM = 80, SENTENCE_ROOM = 400 };
enum language { ENGLISH, GERMAN, LANGUAGES };

static enum language language_of(const char *locale)
{
	return text_starts(locale, "de") ? GERMAN : ENGLISH;
}

static const struct line {
	const char *key, *label[LANGUAGES];
	size_t offset;
	bool only_when_any;
} lines[] = {
	{ "seen", { "Carts seen", "Warenkörbe gesehen" }, offsetof(struct figures, seen), false },
	{ "mailed", { "Carts reminded", "Warenkörbe erinnert" }, offsetof(struct figures, mailed), false },
	{ "first_reminders", { "First reminders", "Erste Erinnerungen" }, offsetof(struct figures, first), false },
	{ "second_reminders", { "Second reminders", "Zweite Erinnerungen" }, offsetof(struct figures, second), false },
	{ "clicked", { "Carts whose link was followed", "Warenkörbe, deren Link angeklickt wurde" },
		offsetof(struct figures, clicked), false },
	{ "clicked_then_bought", { "Clicked, then bought", "Geklickt, dann gekauft" },
		offsetof(struct figures, orders[ATTRIBUTION_CLICKED]), false },
	{ "mailed_then_bought", { "Mailed, then bought", "Erinnert, dann gekauft" },
		offsetof(struct figures, orders[ATTRIBUTION_MAILED]), false },
	{ "bought_anyway", { "Bought anyway", "Ohnehin gekauft" }, offsetof(struct figures, orders[ATTRIBUTION_ANYWAY]),
		false },
	{ "taken_back", { "Orders cancelled or paid back", "Bestellungen storniert oder erstattet" },
		offsetof(struct figures, taken_back), false },
	{ "gave_up", { "Reminded twice, not bought", "Zweimal erinnert, nicht gekauft" },
		offsetof(struct figures, gave_up), false },
	{ "written_off", { "Written off by you", "Von Ihnen abgeschrieben" }, offsetof(struct figures, written_off),
		false },
	{ "no_address", { "Never gave an address", "Ohne Adresse geblieben" }, offsetof(struct figures, no_address),
		false },
	{ "opted_out", { "Opt-outs", "Abmeldungen" }, offsetof(struct figures, opted_out), false },
	{ "complaints", { "Complaints", "Beschwerden" }, offsetof(struct figures, complaints), false },
	{ "bounces", { "Addresses that do not exist", "Unzustellbare Adressen" }, offsetof(struct figures, bounces),
		false },
	{ "to_owner", { "Mails to you (mode \"mail me\")", "Mails an Sie (Modus „mail me“)" },
		offsetof(struct figures, to_owner), true },
	{ "refused", { "Mails that a server refused", "Von einem Server abgelehnte Mails" },
		offsetof(struct figures, refused), true },
	{ "ambiguous", { "Mails of which it is not known", "Mails mit ungewissem Ausgang" },
		offsetof(struct figures, ambiguous), true },
};

static const struct words {
	const char *title, *before, *won, *of_it_back, *in_it_clicked, *footnote, *html_language;
	const char *seen, *bought, *won_nothing, *won_sum, *opted_out; /* sentences: ICU message patterns */
} all_words[LANGUAGES] = {
	[ENGLISH] = { ": carts in ", "before", "Won back, net", "paid back of it", "of which after a click",
		"\"Mailed, then bought\" means that the order came after the mail, not that the mail was the reason. "
		"Refunds and cancellations known by today are taken off.",
		"en",
		"{0,plural,=0{No cart was seen} one{One cart was seen} other{# carts were seen}} and "
		"{1,plural,=0{none} other{#}} got a reminder (before: {2,number} and {3,number}).",
		"{0,plural,=0{Nobody clicked and bought} one{One shopper clicked and bought} other{# shoppers clicked "
		"and bought}}, {1,plural,=0{nobody} one{one} other{#}} bought after a mail, {2,plural,=0{nobody} "
		"one{one} other{#}} without our doing.",
		"No money was won back.", "Won back: ",
		"{0,plural,=0{Nobody opted out} one{One person opted out} other{# people opted out}}, and "
		"{1,plural,=0{nobody} one{one} other{#}} complained." },
	[GERMAN] = { ": Warenkörbe, ", "davor", "Zurückgewonnen, netto", "davon erstattet", "davon nach einem Klick",
		"„Erinnert, dann gekauft“ heißt: Die Bestellung kam nach der Mail, nicht unbedingt wegen ihr. "
		"Bis heute bekannte Erstattungen und Stornierungen sind abgezogen.",
		"de",
		"{0,plural,=0{Kein Warenkorb wurde gesehen} one{Ein Warenkorb wurde gesehen} other{# Warenkörbe wurden "
		"gesehen}}, erinnert wurde an {1,plural,=0{keinen} one{einen} other{#}} (davor: {2,number} und "
		"{3,number}).",
		"{0,plural,=0{Niemand hat geklickt und gekauft} one{Eine Person hat geklickt und gekauft} other{# "
		"Personen haben geklickt und gekauft}}, nach einer Mail {1,plural,=0{niemand} one{eine} other{#}}, "
		"ohne unser Zutun {2,plural,=0{niemand} one{eine} other{#}}.",
		"Geld wurde nicht zurückgewonnen.", "Zurückgewonnen: ",
		"{0,plural,=0{Niemand hat sich abgemeldet} one{Eine Person hat sich abgemeldet} other{# Personen haben "
		"sich abgemeldet}}, beschwert {1,plural,=0{hat sich niemand} one{hat sich eine} other{haben sich "
		"#}}." },
};

static uint32_t count_of(const struct figures *figures, const struct line *line)
{
	uint32_t count;

	memcpy(&count, (const char *)figures + line->offset, sizeof(count));
	return count;
}

void figures_each(
	const struct figures *now, const struct figures *before, const char *locale, figures_fn *each, void *context)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		uint32_t count = count_of(now, &lines[i]), then = count_of(before, &lines[i]);

		if (!lines[i].only_when_any || count || then)
			each(lines[i].key, lines[i].label[language_of(locale)], count, then, context);
	}
}

bool report_make(const struct state *state, const struct shop *shop, const struct period *period, struct report *ret)
{
	*ret = (struct report){ .shop = shop, .period = *period };
	if (period_before(shop->zone, period, &ret->before) < 0)
		return false;
	figures_count(state, shop, &ret->period, &ret->now);
	figures_count(state, shop, &ret->before, &ret->then);
	return true;
}

/* ---- words ---- */

static void print_number(uint32_t number, const char *locale, char *ret, int room)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar text[40];
	UNumberFormat *format = unum_open(UNUM_DECIMAL, NULL, 0, locale, NULL, &error);

	unum_formatInt64(format, number, text, 40, NULL, &error);
	u_strToUTF8(ret, room, NULL, text, -1, &error);
	unum_close(format);
	if (U_FAILURE(error))
		snprintf(ret, (size_t)room, "%u", (unsigned)number);
}

/* One sentence of an ICU message pattern; its arguments are doubles. */
static void add_sentence(struct buffer *ret, const char *locale, const char *pattern, ...)
{
	UErrorCode error = U_ZERO_ERROR;
	UChar wide[SENTENCE_ROOM], text[SENTENCE_ROOM];
	char narrow[2 * SENTENCE_ROOM];
	va_list arguments;

	u_strFromUTF8(wide, SENTENCE_ROOM, NULL, pattern, -1, &error);
	va_start(arguments, pattern);
	u_vformatMessage(locale, wide, -1, text, SENTENCE_ROOM, arguments, &error);
	va_end(arguments);
	u_strToUTF8(narrow, sizeof(narrow), NULL, text, -1, &error);
	if (U_SUCCESS(error))
		buffer_printf(ret, "%s ", narrow);
}

static void print_money(const struct report *report, const struct figures_sum *sum, char ret[AMOUNT_ROOM])
{
	money_format(sum->total_minor - sum->back_minor, sum->currency, report->shop->locale, ret, AMOUNT_ROOM);
}

static void add_won(const struct report *report, const struct words *words, struct buffer *ret)
{
	struct figures_sum won[FIGURES_CURRENCIES_MAX];
	_cleanup_(buffer_free) struct buffer amounts = { 0 };
	int count = figures_won(&report->now, won);

	for (int i = 0; i < count; i++) {
		char amount[AMOUNT_ROOM];

		print_money(report, &won[i], amount);
		buffer_printf(&amounts, "%s%s", i ? ", " : "", amount);
	}
	if (count)
		buffer_printf(ret, "%s%s. ", words->won_sum, buffer_text(&amounts));
	else
		buffer_printf(ret, "%s ", words->won_nothing);
}

void report_paragraph(const struct report *report, struct buffer *ret)
{
	const char *locale = report->shop->locale;
	const struct words *words = &all_words[language_of(locale)];
	const struct figures *now = &report->now, *then = &report->then;

	add_sentence(ret, locale, words->seen, (double)now->seen, (double)now->mailed, (double)then->seen,
		(double)then->mailed);
	add_sentence(ret, locale, words->bought, (double)now->orders[ATTRIBUTION_CLICKED],
		(double)now->orders[ATTRIBUTION_MAILED], (double)now->orders[ATTRIBUTION_ANYWAY]);
	add_won(report, words, ret);
	add_sentence(ret, locale, words->opted_out, (double)now->opted_out, (double)now->complaints);
	if (ret->len && ((char *)ret->data)[ret->len - 1] == ' ')
		ret->len--;
	buffer_add_text(ret, "\n");
}

void report_subject(const struct report *report, char ret[160])
{
	char period[AMOUNT_ROOM];

	period_print(report->shop->zone, &report->period, report->shop->locale, period, sizeof(period));
	snprintf(ret, 160, "%s%s%s", report->shop->title, all_words[language_of(report->shop->locale)].title, period);
}

/* ---- as lines of (label, now, before), for text and HTML alike ---- */

struct rows {
	const struct report *report;
	const struct words *words;
	struct buffer *ret;
	void (*add)(struct rows *rows, const char *label, const char *now, const char *before, bool indented);
};

static void add_count(const char *key, const char *label, uint32_t now, uint32_t before, void *context)
{
	struct rows *rows = context;
	char now_text[40], before_text[40];

	(void)key;
	print_number(now, rows->report->shop->locale, now_text, sizeof(now_text));
	print_number(before, rows->report->shop->locale, before_text, sizeof(before_text));
	rows->add(rows, label, now_text, before_text, false);
}

static const struct figures_sum *find_sum(const struct figures_sum *list, const char *currency)
{
	static const struct figures_sum nothing;

	for (int i = 0; i < FIGURES_CURRENCIES_MAX && list[i].currency[0]; i++)
		if (strcmp(list[i].currency, currency) == 0)
			return &list[i];
	return &nothing;
}

static void add_amounts(
	struct rows *rows, const char *label, const char *currency, int64_t now, int64_t before, bool indented)
{
	char now_text[AMOUNT_ROOM], before_text[AMOUNT_ROOM];

	money_format(now, currency, rows->report->shop->locale, now_text, sizeof(now_text));
	money_format(before, currency, rows->report->shop->locale, before_text, sizeof(before_text));
	rows->add(rows, label, now_text, before_text, indented);
}

static void add_currency(struct rows *rows, const char *currency, const struct figures_sum won[2])
{
	const struct figures_sum *clicked[] = {
		find_sum(rows->report->now.sums[ATTRIBUTION_CLICKED], currency),
		find_sum(rows->report->then.sums[ATTRIBUTION_CLICKED], currency),
	};

	add_amounts(rows, rows->words->won, currency, won[0].total_minor - won[0].back_minor,
		won[1].total_minor - won[1].back_minor, false);
	add_amounts(rows, rows->words->in_it_clicked, currency, clicked[0]->total_minor - clicked[0]->back_minor,
		clicked[1]->total_minor - clicked[1]->back_minor, true);
	if (won[0].back_minor || won[1].back_minor)
		add_amounts(rows, rows->words->of_it_back, currency, won[0].back_minor, won[1].back_minor, true);
}

static void add_money(struct rows *rows)
{
	struct figures_sum now[FIGURES_CURRENCIES_MAX], then[FIGURES_CURRENCIES_MAX];
	int now_count = figures_won(&rows->report->now, now), then_count = figures_won(&rows->report->then, then);

	for (int i = 0; i < now_count; i++)
		add_currency(rows, now[i].currency, (struct figures_sum[]){ now[i], *find_sum(then, now[i].currency) });
	for (int i = 0; i < then_count; i++)
		if (!find_sum(now, then[i].currency)->currency[0])
			add_currency(rows, then[i].currency, (struct figures_sum[]){ *find_sum(now, ""), then[i] });
}

static void add_rows(struct rows *rows)
{
	figures_each(&rows->report->now, &rows->report->then, rows->report->shop->locale, add_count, rows);
	add_money(rows);
}

/* ---- text ---- */

static int columns_of(const char *text)
{
	int columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80; /* code points: nobody's label has wide ones */
	return columns;
}

static void add_padding(struct buffer *ret, int columns)
{
	for (; columns > 0; columns--)
		buffer_add_text(ret, " ");
}

static void add_text_row(struct rows *rows, const char *label, const char *now, const char *before, bool indented)
{
	buffer_printf(rows->ret, "%s%s", indented ? "  " : "", label);
	add_padding(
		rows->ret, LABEL_COLUMNS - columns_of(label) - (indented ? 2 : 0) + NUMBER_COLUMNS - columns_of(now));
	buffer_printf(rows->ret, "%s", now);
	add_padding(rows->ret, NUMBER_COLUMNS + 2 - columns_of(before));
	buffer_printf(rows->ret, "%s\n", before);
}

void report_text(const struct report *report, struct buffer *ret)
{
	const struct words *words = &all_words[language_of(report->shop->locale)];
	struct rows rows = { .report = report, .words = words, .ret = ret, .add = add_text_row };
	char subject[160];

	report_subject(report, subject);
	buffer_printf(ret, "%s\n\n", subject);
	report_paragraph(report, ret);
	buffer_add_text(ret, "\n");
	add_text_row(&rows, "", report->period.name, words->before, false);
	add_rows(&rows);
	buffer_printf(ret, "\n%s\n", words->footnote);
}

/* ---- HTML ---- */

static void add_html_row(struct rows *rows, const char *label, const char *now, const char *before, bool indented)
{
	buffer_printf(rows->ret, "<tr><td style=\"padding:3px 16px 3px %dpx\">", indented ? 18 : 0);
	html_escape(label, rows->ret);
	buffer_add_text(rows->ret, "</td><td align=\"right\" style=\"padding:3px 0\"><b>");
	html_escape(now, rows->ret);
	buffer_add_text(rows->ret, "</b></td><td align=\"right\" style=\"padding:3px 0 3px 16px;opacity:.65\">");
	html_escape(before, rows->ret);
	buffer_add_text(rows->ret, "</td></tr>\n");
}

void report_html(const struct report *report, struct buffer *ret)
{
	const struct words *words = &all_words[language_of(report->shop->locale)];
	struct rows rows = { .report = report, .words = words, .ret = ret, .add = add_html_row };
	_cleanup_(buffer_free) struct buffer paragraph = { 0 };
	char subject[160];

	report_subject(report, subject);
	report_paragraph(report, &paragraph);
	buffer_printf(ret,
		"<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\"><title>",
		words->html_language);
	html_escape(subject, ret);
	buffer_add_text(ret,
		"</title></head>\n<body style=\"font-family:sans-serif;max-width:640px;margin:16px auto;"
		"padding:0 12px\">\n<h1 style=\"font-size:20px\">");
	html_escape(subject, ret);
	buffer_add_text(ret, "</h1>\n<p>");
	html_escape(buffer_text(&paragraph), ret);
	buffer_add_text(ret, "</p>\n<table cellspacing=\"0\" style=\"border-collapse:collapse;font-size:15px\">\n");
	add_html_row(&rows, "", report->period.name, words->before, false);
	add_rows(&rows);
	buffer_add_text(ret, "</table>\n<p style=\"font-size:13px;opacity:.65\">");
	html_escape(words->footnote, ret);
	buffer_add_text(ret, "</p>\n</body></html>\n");
}
