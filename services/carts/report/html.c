/*
 * html.c: writes a report as an HTML mail: the amounts won, a paragraph, every count beside the period before
 *
 * Promises:  it shows the figures of the text report. Texts of shoppers and shops are escaped. The writing
 *            direction is that of the words. Amounts stand on lines of their own, so that the longest fits on
 *            a telephone.
 * Read next: print.c, mail/style.h
 */
#include "services/kit/web/html.h"
#include "bus/base/cleanup.h"
#include "services/carts/report/report.h"
#include "services/kit/mail/style.h"

enum { PIXELS_BIG = 34, PIXELS_LONG = 24, LETTERS_LONG = 16 }; /* of an amount; a long one is smaller */

struct page {
	const struct report *report;
	struct buffer *out;
	const char *start, *end; /* "left" and "right", or the other way round */
};

static bool is_long(const char *amount)
{
	int letters = 0;

	for (; *amount; amount++)
		letters += ((unsigned char)*amount & 0xc0) != 0x80;
	return letters >= LETTERS_LONG;
}

static void add_amount(const struct page *page, const char *amount)
{
	buffer_add_text(page->out, "<bdi>");
	html_escape(amount, page->out);
	buffer_add_text(page->out, "</bdi>");
}

static void add_before(const struct page *page, const char *amount)
{
	html_escape(page->report->words->before, page->out);
	buffer_add_text(page->out, ": ");
	add_amount(page, amount);
}

static void add_won(const struct page *page, const struct report_line *line)
{
	buffer_printf(page->out, "<div style=\"padding-%s:14px;border-%s:4px solid %s;margin:20px 0 8px\">\n",
		page->start, page->start, accent_of(page->report->shop->accent));
	buffer_add_text(page->out, "<div class=\"quiet\" style=\"" STYLE_SMALL "\">");
	html_escape(line->label, page->out);
	buffer_printf(page->out, "</div>\n<div style=\"font-size:%dpx;line-height:1.2;font-weight:700\">",
		is_long(line->now) ? PIXELS_LONG : PIXELS_BIG);
	add_amount(page, line->now);
	buffer_add_text(page->out, "</div>\n<div class=\"quiet\" style=\"" STYLE_SMALL "\">");
	add_before(page, line->before);
	buffer_add_text(page->out, "</div>\n</div>\n");
}

static void add_money(const struct report_line *line, void *context)
{
	const struct page *page = context;

	if (!line->indented) {
		add_won(page, line);
		return;
	}
	buffer_printf(page->out, "<div style=\"padding-%s:18px;font-size:14px;line-height:1.5\">", page->start);
	html_escape(line->label, page->out);
	buffer_add_text(page->out, ": <b>");
	add_amount(page, line->now);
	buffer_add_text(page->out, "</b> <span class=\"quiet\" style=\"color:#767676\">(");
	add_before(page, line->before);
	buffer_add_text(page->out, ")</span></div>\n");
}

static void add_number(const struct page *page, const struct report_line *line, bool quiet)
{
	buffer_printf(page->out, "<td class=\"%s%s\" align=\"%s\" style=\"padding:5px %s;white-space:nowrap;%s%s\">",
		quiet ? "quiet " : "", line->opens_group ? "rule" : "", page->end, quiet ? "0" : "12px",
		quiet ? "color:#767676" : "font-weight:600", line->opens_group ? ";" STYLE_RULE : "");
	html_escape(quiet ? line->before : line->now, page->out);
	buffer_add_text(page->out, "</td>");
}

static void add_count(const struct report_line *line, void *context)
{
	const struct page *page = context;

	buffer_printf(page->out, "<tr><td%s style=\"padding:5px 0%s\">", line->opens_group ? " class=\"rule\"" : "",
		line->opens_group ? ";" STYLE_RULE : "");
	html_escape(line->label, page->out);
	buffer_add_text(page->out, "</td>");
	add_number(page, line, false);
	add_number(page, line, true);
	buffer_add_text(page->out, "</tr>\n");
}

static void add_counts(const struct page *page)
{
	buffer_add_text(page->out,
		"<table role=\"presentation\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" "
		"style=\"margin:24px 0 8px;" STYLE_TEXT ";font-size:15px\">\n");
	buffer_printf(page->out,
		"<tr><td></td><td></td><td class=\"quiet\" align=\"%s\" style=\"padding:0 0 4px;" STYLE_SMALL "\">",
		page->end);
	html_escape(page->report->words->before, page->out);
	buffer_add_text(page->out, "</td></tr>\n");
	report_counts(page->report, add_count, (void *)page);
	buffer_add_text(page->out, "</table>\n");
}

static void add_head(const struct page *page, const char *subject, bool rtl)
{
	buffer_printf(page->out, "<!DOCTYPE html>\n<html lang=\"%s\" dir=\"%s\">\n<head>\n" STYLE_META "<title>",
		page->report->words->language, rtl ? "rtl" : "ltr");
	html_escape(subject, page->out);
	buffer_add_text(
		page->out, "</title>\n<style>" STYLE_SHEET "</style>\n</head>\n<body style=\"margin:0;padding:0\">\n");
	buffer_printf(page->out,
		"<table role=\"presentation\" width=\"100%%\" cellpadding=\"0\" cellspacing=\"0\"><tr>"
		"<td align=\"center\" style=\"padding:24px 16px\">\n"
		"<table role=\"presentation\" width=\"100%%\" cellpadding=\"0\" cellspacing=\"0\" "
		"style=\"max-width:560px;" STYLE_TEXT "\"><tr><td style=\"text-align:%s\">\n"
		"<h1 style=\"margin:0 0 8px;font-size:22px;line-height:1.3\">",
		page->start);
	html_escape(subject, page->out);
	buffer_add_text(page->out, "</h1>\n");
}

void report_html(const struct report *report, struct buffer *ret)
{
	bool rtl = locale_is_rtl(report->words->language);
	const struct page page = {
		.report = report, .out = ret, .start = rtl ? "right" : "left", .end = rtl ? "left" : "right"
	};
	_cleanup_(buffer_free) struct buffer paragraph = { 0 };
	char subject[160];

	report_subject(report, subject);
	if (!report->paragraph)
		report_paragraph(report, &paragraph);
	add_head(&page, subject, rtl);
	report_money(report, add_money, (void *)&page);
	buffer_add_text(ret, "<p style=\"margin:20px 0\">");
	html_escape(report->paragraph ? report->paragraph : buffer_text(&paragraph), ret);
	buffer_add_text(ret, "</p>\n");
	add_counts(&page);
	buffer_add_text(ret, "<p class=\"quiet\" style=\"margin:16px 0 0;" STYLE_SMALL "\">");
	html_escape(report->words->footnote, ret);
	buffer_add_text(ret, "</p>\n</td></tr></table>\n</td></tr></table>\n</body>\n</html>\n");
}
