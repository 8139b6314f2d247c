/*
 * mail_html.c: the HTML part of a reminder, from the same templates as the text
 *
 * Promises:  every value is escaped; pictures and links are https or left out; it reads well in light and dark, because it sets
 *            no background but the button's; the writing direction follows the words.
 * Read next: mail_render.c
 */
#include "bus/base/cleanup.h"
#include "services/kit/html.h"
#include "services/kit/mail_render.h"
#include <stdlib.h>
#include <unicode/uloc.h>

#define STYLE_TEXT                                                                                                     \
	"font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:16px;line-height:1.5"
#define STYLE_BUTTON                                                                                                   \
	"display:inline-block;padding:12px 24px;border-radius:6px;background-color:#1c5fb8;color:#ffffff;"             \
	"font-weight:600;text-decoration:none"
#define STYLE_SMALL "font-size:13px;line-height:1.5;color:#767676"
#define STYLE_RULE "border-top:1px solid #b4b4b4"

/* Paragraphs as they grow: text comes in pieces, and only at its end does one know what a paragraph was. */
struct html {
	const struct mail_words *words;
	struct buffer *out;
	struct buffer paragraph;
	int newlines;       /* seen since the last word */
	bool wordy;         /* the paragraph holds more than one link */
	const char *button; /* the URL of a link that stands alone so far */
	const char *button_label;
	bool small; /* the footer */
};

static void add_button(struct html *html)
{
	buffer_add_text(html->out, "<p style=\"margin:24px 0\"><a style=\"" STYLE_BUTTON "\" href=\"");
	html_escape(html->button, html->out);
	buffer_add_text(html->out, "\">");
	html_escape(html->button_label, html->out);
	buffer_add_text(html->out, "</a></p>\n");
}

static void flush(struct html *html)
{
	if (html->button && !html->wordy && !html->small) {
		add_button(html);
	} else if (html->paragraph.len) {
		buffer_printf(html->out, "<p dir=\"auto\" style=\"%s\">",
			html->small ? "margin:8px 0;" STYLE_SMALL : "margin:16px 0");
		buffer_add(html->out, html->paragraph.data, html->paragraph.len);
		buffer_add_text(html->out, "</p>\n");
	}
	buffer_clear(&html->paragraph);
	html->wordy = false;
	html->button = NULL;
	html->newlines = 0;
}

static void line_breaks(struct html *html)
{
	if (html->newlines >= 2)
		flush(html);
	else if (html->newlines == 1 && html->paragraph.len)
		buffer_add_text(&html->paragraph, "<br>\n");
	html->newlines = 0;
}

static bool html_has(void *context, enum value value)
{
	return mail_words_has(((struct html *)context)->words, value);
}

static void html_text(void *context, const char *text)
{
	struct html *html = context;
	while (*text) {
		if (html->newlines || !html->paragraph.len)
			text += strspn(text, " ");
		size_t len = strcspn(text, "\n");
		if (len) {
			line_breaks(html);
			html_escape_bytes(BYTES(text, len), &html->paragraph);
			html->wordy |= strspn(text, " ") < len;
		}
		text += len;
		for (; *text == '\n'; text++)
			html->newlines++;
	}
}

static void add_picture(struct buffer *out, const char *url)
{
	if (!mail_url_safe(url))
		return;
	buffer_add_text(out,
		"<img width=\"64\" height=\"64\" alt=\"\" style=\"display:block;border-radius:4px;"
		"object-fit:cover\" src=\"");
	html_escape(url, out);
	buffer_add_text(out, "\">");
}

static void add_title(struct buffer *out, const Item *item)
{
	char title[320];
	bool link = mail_url_safe(item->link);
	mail_item_title(item, title);
	if (link) {
		buffer_add_text(out, "<a style=\"color:inherit\" href=\"");
		html_escape(item->link, out);
		buffer_add_text(out, "\">");
	}
	buffer_add_text(out, "<bdi>");
	html_escape(title, out);
	buffer_printf(out, "</bdi>%s", link ? "</a>" : "");
}

static void add_item(const struct html *html, const Item *item, bool pictures)
{
	char price[MAIL_ITEM_PRICE_ROOM];
	struct buffer *out = html->out;
	mail_item_price(html->words, item, price);
	buffer_add_text(out, "<tr>");
	if (pictures) {
		buffer_add_text(out, "<td width=\"64\" valign=\"top\" style=\"padding:12px 0;" STYLE_RULE "\">");
		add_picture(out, item->picture);
		buffer_add_text(out, "</td>");
	}
	buffer_printf(out, "<td valign=\"top\" style=\"padding:12px %s;word-break:break-word;" STYLE_RULE "\">",
		pictures ? "12px" : "12px 12px 0");
	add_title(out, item);
	buffer_printf(out, "<br><span style=\"color:#767676\">× %u</span></td>", item->quantity);
	buffer_add_text(out,
		"<td valign=\"top\" style=\"padding:12px 0;text-align:end;white-space:nowrap;" STYLE_RULE "\"><bdi>");
	html_escape(price, out);
	buffer_add_text(out, "</bdi></td></tr>\n");
}

static void add_items(struct html *html)
{
	const CartState *cart = html->words->reminder->cart;
	bool pictures = false;
	flush(html);
	for (pb_size_t i = 0; i < cart->items_count; i++)
		pictures |= mail_url_safe(cart->items[i].picture);
	buffer_add_text(html->out,
		"<table role=\"presentation\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" "
		"style=\"margin:16px 0;border-bottom:1px solid #b4b4b4;" STYLE_TEXT "\">\n");
	for (pb_size_t i = 0; i < cart->items_count; i++)
		add_item(html, &cart->items[i], pictures);
	if (cart->items_left_out)
		buffer_printf(html->out,
			"<tr><td colspan=\"3\" style=\"padding:12px 0;" STYLE_RULE "\">… +%u</td></tr>\n",
			cart->items_left_out);
	buffer_add_text(html->out, "</table>\n");
}

static void add_link(struct html *html, enum value value, const char *label)
{
	const char *url = mail_words_link(html->words, value);
	line_breaks(html);
	if (!*url) {
		html_text(html, label ? label : "");
		return;
	}
	html->wordy |= html->button != NULL;
	html->button = url;
	html->button_label = label ? label : url;
	buffer_add_text(&html->paragraph, "<a style=\"color:inherit\" href=\"");
	html_escape(url, &html->paragraph);
	buffer_add_text(&html->paragraph, "\">");
	html_escape(html->button_label, &html->paragraph);
	buffer_add_text(&html->paragraph, "</a>");
}

static void html_value(void *context, enum value value, const char *label)
{
	struct html *html = context;
	if (value == VALUE_ITEMS) {
		add_items(html);
	} else if (value == VALUE_RETURN_LINK || value == VALUE_UNSUBSCRIBE_LINK) {
		add_link(html, value, label);
	} else if (value == VALUE_TOTAL || value == VALUE_FIRST_NAME) {
		line_breaks(html); /* may run the other way than the sentence: isolate it */
		buffer_add_text(&html->paragraph, "<bdi>");
		html_escape(mail_words_value(html->words, value, label), &html->paragraph);
		buffer_add_text(&html->paragraph, "</bdi>");
		html->wordy = true;
	} else {
		html_text(html, mail_words_value(html->words, value, label));
	}
}

static void walk(struct html *html, const struct template *template)
{
	if (template)
		template_walk(template,
			&(struct template_sink){
				.context = html, .has = html_has, .text = html_text, .value = html_value });
	flush(html);
}

static void add_head(const struct mail_words *words, const char *subject, struct buffer *ret)
{
	const char *locale = words->reminder->shop->locale;
	buffer_add_text(ret, "<!DOCTYPE html>\n<html lang=\"");
	html_escape(locale, ret);
	buffer_printf(
		ret, "\" dir=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n", uloc_isRightToLeft(locale) ? "rtl" : "ltr");
	buffer_add_text(ret,
		"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<meta name=\"supported-color-schemes\" content=\"light dark\">\n<title>");
	html_escape(subject, ret);
	buffer_add_text(ret,
		"</title>\n<style>:root{color-scheme:light dark}</style>\n</head>\n"
		"<body style=\"margin:0;padding:0\">\n"
		"<table role=\"presentation\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\"><tr>"
		"<td align=\"center\" style=\"padding:24px 16px\">\n"
		"<table role=\"presentation\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" "
		"style=\"max-width:560px;" STYLE_TEXT "\"><tr><td style=\"text-align:start\">\n"
		"<p style=\"margin:0 0 24px;font-size:18px;font-weight:600\"><bdi>");
	html_escape(words->shop, ret);
	buffer_add_text(ret, "</bdi></p>\n");
}

static void add_owner_note(struct html *html)
{
	const struct reminder *reminder = html->words->reminder;
	if (!reminder->to_owner)
		return;
	html->small = true;
	html_text(html, reminder->shop->name);
	html_text(html, " is in mode \"mail me\": this went to you, and nothing to ");
	html_text(html, reminder->cart->ids.email);
	html_text(html, ".");
	flush(html);
	html->small = false;
}

void mail_render_html(const struct mail_words *words, const char *subject, struct buffer *ret)
{
	struct html html = { .words = words, .out = ret };
	add_head(words, subject, ret);
	add_owner_note(&html);
	walk(&html, words->voice->opening);
	walk(&html, words->voice->body);
	buffer_add_text(ret, "<div style=\"margin-top:32px;padding-top:8px;" STYLE_RULE "\">\n");
	html.small = true;
	walk(&html, words->voice->footer);
	if (!template_uses(words->voice->footer, VALUE_POSTAL_ADDRESS)) {
		html_text(&html, words->postal_address);
		flush(&html);
	}
	buffer_add_text(ret, "</div>\n</td></tr></table>\n</td></tr></table>\n</body>\n</html>\n");
	buffer_free(&html.paragraph);
}
