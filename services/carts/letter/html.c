/*
 * html.c: the HTML part of a reminder, from the same templates as the text
 *
 * Promises:  every value is escaped; pictures and links are https or left out. It sets no background except
 *            those of the button, the pictures and the logo, so that it is readable in light and dark. The
 *            writing direction follows the words.
 * Read next: render.c
 */
#include "services/kit/web/html.h"
#include "bus/base/cleanup.h"
#include "services/carts/letter/render.h"
#include "services/kit/http/url.h"
#include "services/kit/mail/style.h"
#include <stdlib.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#define STYLE_BUTTON                                                                                                   \
	"display:inline-block;padding:12px 24px;border-radius:6px;background-color:%s;color:#ffffff;"                  \
	"font-weight:600;text-decoration:none"
#define STYLE_HIDDEN "display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden"
#define STYLE_LOGO                                                                                                     \
	"display:block;border:0;max-width:100%%;height:auto;border-radius:4px;background-color:#ffffff;color:#202020"

/* The area under a picture until it is loaded, and the tile of an item without a picture. */
#define PICTURE_SIDE "96"
#define STYLE_TILE "border-radius:6px;background-color:#f0f0f0;color:#767676"

enum { PRICE_LETTERS_MOST = 14 }; /* "1.234.567,89 €" */

/*
 * The paragraph that is being written. Text comes in pieces, and only a paragraph's end shows of which kind
 * it is.
 */
struct html {
	const struct mail_words *words;
	struct buffer *out;
	struct buffer paragraph;
	int newlines;       /* seen since the last word */
	bool wordy;         /* the paragraph holds more than a single link */
	const char *button; /* the URL of a link that stands alone so far */
	const char *button_label;
	bool small; /* the footer */
	bool head;  /* the opening line */
	bool bare;  /* the preview, which has no paragraphs */
	struct buffer preview;
};

static void add_button(struct html *html)
{
	buffer_printf(html->out, "<p style=\"margin:24px 0\"><a style=\"" STYLE_BUTTON "\" href=\"",
		accent_of(html->words->reminder->shop->accent));
	html_escape(html->button, html->out);
	buffer_add_text(html->out, "\">");
	html_escape(html->button_label, html->out);
	buffer_add_text(html->out, "</a></p>\n");
}

static void flush(struct html *html)
{
	if (html->bare) {
		buffer_add(&html->preview, html->paragraph.data, html->paragraph.len);
	} else if (html->button && !html->wordy && !html->small) {
		add_button(html);
	} else if (html->paragraph.len) {
		buffer_printf(html->out, "<p dir=\"auto\" %s\">",
			html->small          ? "class=\"quiet\" style=\"margin:8px 0;" STYLE_SMALL
				: html->head ? "style=\"margin:16px 0;" STYLE_HEAD
					     : "style=\"margin:16px 0");
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

static bool html_has(void *context, int value)
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

/* The first letter or digit of a title; empty if it has none. */
static struct bytes initial_of(const char *title)
{
	int32_t length = (int32_t)strlen(title), at = 0;

	while (at < length) {
		int32_t from = at;
		UChar32 c;
		U8_NEXT(title, at, length, c);
		if (c > 0 && u_isalnum(c))
			return BYTES(title + from, (size_t)(at - from));
	}
	return BYTES("", 0);
}

static void add_picture(struct buffer *out, const Item *item)
{
	char title[320];

	if (url_is_clean(item->picture)) {
		buffer_add_text(out,
			"<img class=\"tile\" width=\"" PICTURE_SIDE "\" height=\"" PICTURE_SIDE
			"\" alt=\"\" style=\"display:block;object-fit:cover;" STYLE_TILE "\" src=\"");
		html_escape(item->picture, out);
		buffer_add_text(out, "\">");
		return;
	}
	mail_item_title(item, title);
	buffer_add_text(out,
		"<div class=\"tile\" aria-hidden=\"true\" style=\"width:" PICTURE_SIDE "px;height:" PICTURE_SIDE
		"px;line-height:" PICTURE_SIDE "px;font-size:36px;text-align:center;" STYLE_TILE "\">");
	html_escape_bytes(initial_of(title), out);
	buffer_add_text(out, "</div>");
}

static void add_title(struct buffer *out, const Item *item)
{
	char title[320];
	bool link = url_is_clean(item->link);
	mail_item_title(item, title);
	if (link) {
		buffer_add_text(out, "<a style=\"color:inherit;text-decoration:none\" href=\"");
		html_escape(item->link, out);
		buffer_add_text(out, "\">");
	}
	buffer_add_text(out, "<bdi>");
	html_escape(title, out);
	buffer_printf(out, "</bdi>%s", link ? "</a>" : "");
}

/* The layout of a mail's items: the same for all, so it suits the item that needs the most room. */
struct rows {
	bool pictures;
	bool stacked; /* prices stand below the titles, because one is too long for a line on a telephone */
};

static int letters_of(const char *text)
{
	int letters = 0;

	for (; *text; text++)
		letters += ((unsigned char)*text & 0xc0) != 0x80;
	return letters;
}

static struct rows rows_of(const struct html *html, const CartState *cart)
{
	struct rows rows = { false, false };

	for (pb_size_t i = 0; i < cart->items_count; i++) {
		rows.pictures |= url_is_clean(cart->items[i].picture);
		rows.stacked |= letters_of(html->words->prices[i]) > PRICE_LETTERS_MOST;
	}
	return rows;
}

static void add_price(const struct html *html, const char *price, const struct rows *rows)
{
	if (rows->stacked)
		buffer_add_text(html->out, "<br><bdi>");
	else
		buffer_printf(html->out,
			"</td><td class=\"rule\" valign=\"top\" style=\"padding:12px "
			"0;text-align:%s;white-space:nowrap;" STYLE_RULE "\"><bdi>",
			html->words->rtl ? "left" : "right");
	html_escape(price, html->out);
	buffer_add_text(html->out, "</bdi></td></tr>\n");
}

static void add_item(const struct html *html, pb_size_t nth, const struct rows *rows)
{
	const Item *item = &html->words->reminder->cart->items[nth];
	struct buffer *out = html->out;
	char count[40];

	mail_item_count(html->words, item, count);
	buffer_add_text(out, "<tr>");
	if (rows->pictures) {
		buffer_add_text(out,
			"<td class=\"rule\" width=\"" PICTURE_SIDE
			"\" valign=\"top\" style=\"padding:12px 0;" STYLE_RULE "\">");
		add_picture(out, item);
		buffer_add_text(out, "</td>");
	}
	buffer_printf(out,
		"<td class=\"rule\" valign=\"top\" style=\"padding:12px "
		"%s;word-break:break-word;hyphens:auto;" STYLE_RULE "\">",
		rows->pictures             ? "12px"
			: html->words->rtl ? "0 12px 12px"
					   : "12px 12px 0");
	add_title(out, item);
	buffer_printf(out, "<br><span class=\"quiet\" style=\"color:#767676\">× %s</span>", count);
	add_price(html, html->words->prices[nth], rows);
}

static void add_items(struct html *html)
{
	const CartState *cart = html->words->reminder->cart;
	const struct rows rows = rows_of(html, cart);
	flush(html);
	buffer_add_text(html->out,
		"<table class=\"rule\" role=\"presentation\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" "
		"style=\"margin:16px 0;border-bottom:1px solid #b4b4b4;" STYLE_TEXT "\">\n");
	for (pb_size_t i = 0; i < cart->items_count; i++)
		add_item(html, i, &rows);
	if (cart->items_left_out)
		buffer_printf(html->out,
			"<tr><td class=\"rule\" colspan=\"3\" style=\"padding:12px 0;" STYLE_RULE
			"\">… +%u</td></tr>\n",
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

static void html_value(void *context, int value, const char *label)
{
	struct html *html = context;
	if (value == VALUE_ITEMS) {
		add_items(html);
	} else if (value_is_link(value)) {
		add_link(html, value, label);
	} else if (value == VALUE_TOTAL || value == VALUE_FIRST_NAME || value == VALUE_SHOP ||
		value == VALUE_DISCOUNT_CODE) {
		line_breaks(html); /* isolated, because its direction may differ from the sentence's */
		buffer_add_text(&html->paragraph,
			value == VALUE_TOTAL && !html->bare ? "<bdi style=\"font-weight:600\">" : "<bdi>");
		html_escape(mail_words_value(html->words, value, label), &html->paragraph);
		buffer_add_text(&html->paragraph, "</bdi>");
		html->wordy = true;
	} else {
		html_text(html, mail_words_value(html->words, value, label));
	}
}

static void html_bold(void *context, bool on)
{
	struct html *html = context;

	if (on)
		line_breaks(html);
	buffer_add_text(&html->paragraph, on ? "<b>" : "</b>");
}

static void html_link(void *context, const char *words, const char *url)
{
	struct html *html = context;

	if (!mail_words_may_link(html->words, url)) {
		html_text(html, words);
		return;
	}
	line_breaks(html);
	buffer_add_text(&html->paragraph, "<a style=\"color:inherit\" href=\"");
	html_escape(url, &html->paragraph);
	buffer_add_text(&html->paragraph, "\">");
	html_escape(words, &html->paragraph);
	buffer_add_text(&html->paragraph, "</a>");
	html->wordy = true;
}

static const char *html_plural(void *context, int value)
{
	return mail_words_plural(((struct html *)context)->words, value);
}

static void walk(struct html *html, const struct template *template)
{
	if (template)
		template_walk(template,
			&(struct template_sink){ .context = html,
				.has = html_has,
				.text = html_text,
				.value = html_value,
				.bold = html_bold,
				.link = html_link,
				.plural = html_plural });
	flush(html);
}

/* The text that a mailbox shows beside the subject; it is hidden in the mail itself. */
static void add_preview(struct html *html)
{
	if (!html->words->voice->preview)
		return;
	html->bare = true;
	walk(html, html->words->voice->preview);
	html->bare = false;
	if (html->preview.len == 0)
		return;
	buffer_add_text(html->out, "<div style=\"" STYLE_HIDDEN "\">");
	buffer_add(html->out, html->preview.data, html->preview.len);
	buffer_add_text(html->out, "</div>\n");
}

static void add_head(const struct mail_words *words, const char *subject, struct buffer *ret)
{
	buffer_add_text(ret, "<!DOCTYPE html>\n<html lang=\"");
	html_escape(words->reminder->speech.language, ret);
	buffer_printf(ret, "\" dir=\"%s\">\n<head>\n" STYLE_META "<title>", words->rtl ? "rtl" : "ltr");
	html_escape(subject, ret);
	buffer_add_text(ret,
		"</title>\n<style>" STYLE_SHEET "</style>\n</head>\n"
		"<body style=\"margin:0;padding:0\">\n");
}

/*
 * The logo has a white background: most logos are drawn for white paper, and a dark mail would swallow them.
 */
static void add_logo(const struct mail_words *words, struct buffer *ret)
{
	const struct shop *shop = words->reminder->shop;
	bool link = url_is_clean(shop->url);
	if (link) {
		buffer_add_text(ret, "<a style=\"color:inherit;text-decoration:none\" href=\"");
		html_escape(shop->url, ret);
		buffer_add_text(ret, "\">");
	}
	if (url_is_clean(shop->logo)) {
		buffer_printf(ret, "<img width=\"%d\" style=\"" STYLE_LOGO "\" src=\"", shop->logo_width);
		html_escape(shop->logo, ret);
		buffer_add_text(ret, "\" alt=\"");
		html_escape(words->shop, ret);
		buffer_add_text(ret, "\">");
	} else {
		buffer_add_text(ret, "<bdi>");
		html_escape(words->shop, ret);
		buffer_add_text(ret, "</bdi>");
	}
	buffer_add_text(ret, link ? "</a>" : "");
}

static void add_frame(const struct mail_words *words, struct buffer *ret)
{
	buffer_printf(ret,
		"<table role=\"presentation\" width=\"100%%\" cellpadding=\"0\" cellspacing=\"0\"><tr>"
		"<td align=\"center\" style=\"padding:24px 16px\">\n"
		"<table role=\"presentation\" width=\"100%%\" cellpadding=\"0\" cellspacing=\"0\" "
		"style=\"max-width:560px;" STYLE_TEXT "\"><tr><td style=\"text-align:%s\">\n"
		"<p style=\"margin:0 0 24px;font-size:18px;font-weight:600\">",
		words->rtl ? "right" : "left");
	add_logo(words, ret);
	buffer_add_text(ret, "</p>\n");
}

static void add_note(struct html *html)
{
	char note[500];
	mail_words_note(html->words, note);
	html->small = true;
	html_text(html, note);
	flush(html);
	html->small = false;
}

static void add_opening(struct html *html)
{
	const struct mail_words *words = html->words;
	html->head = true;
	if (words->voice->opening && words->reminder->opening) {
		html_text(html, words->reminder->opening);
		flush(html);
	} else {
		walk(html, words->voice->opening);
	}
	html->head = false;
}

void mail_render_html(const struct mail_words *words, const char *subject, struct buffer *ret)
{
	struct html html = { .words = words, .out = ret };
	add_head(words, subject, ret);
	add_preview(&html);
	add_frame(words, ret);
	add_note(&html);
	add_opening(&html);
	walk(&html, words->voice->body);
	buffer_add_text(ret, "<div class=\"rule\" style=\"margin-top:32px;padding-top:8px;" STYLE_RULE "\">\n");
	html.small = true;
	walk(&html, words->footer);
	if (!template_uses(words->footer, VALUE_POSTAL_ADDRESS)) {
		html_text(&html, words->postal_address);
		flush(&html);
	}
	buffer_add_text(ret, "</div>\n</td></tr></table>\n</td></tr></table>\n</body>\n</html>\n");
	buffer_free(&html.paragraph);
	buffer_free(&html.preview);
}
