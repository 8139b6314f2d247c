/* page.c: the unsubscribe page (RFC 8058, and a button for people) */
#include "services/kit/endpoint/page.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/locale/locale.h"
#include "services/kit/shop/accent.h"
#include "services/kit/shop/shop.h"
#include "services/kit/web/form.h"
#include "services/kit/web/html.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { SHOP_CONF_MOST = 64 * 1024 };

static const char style[] = "body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto 0; "
			    "padding: 0 1.5rem; color: #222; background: #fff; overflow-wrap: anywhere }\n"
			    ".shop { font-weight: 600; margin: 0 0 1.5rem; padding-bottom: .75rem; border-bottom: "
			    "1px solid #8888 }\nh1 { font-size: 1.4rem; line-height: 1.3 }\n"
			    "input[type=text] { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem }\n"
			    "button { font: inherit; padding: .6rem 1.4rem; border: 0; border-radius: .4rem; "
			    "background: var(--accent); color: #fff; font-weight: 600; cursor: pointer }\n"
			    "button.quiet { background: none; color: inherit; border: 1px solid currentColor }\n"
			    "button:focus-visible { outline: 3px solid #f0a500; outline-offset: 2px }\n"
			    "@media (prefers-color-scheme: dark) { body { color: #eee; background: #16181b } }\n"
			    "</style>\n";

const struct page_texts *page_texts_for(const char *accept, const char *locale)
{
	return language_row(page_texts, sizeof(*page_texts), accept, locale);
}

void page_begin(const char *language, const char *title, const char *accent, struct buffer *ret)
{
	buffer_printf(ret,
		"<!doctype html>\n<html lang=\"%s\" dir=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"robots\" content=\"noindex\">\n<title>",
		language, locale_is_rtl(language) ? "rtl" : "ltr");
	html_escape(title, ret);
	buffer_printf(ret, "</title>\n<style>\n:root { color-scheme: light dark; --accent: %s }\n",
		accent_of(accent ? accent : ""));
	buffer_add_text(ret, style);
	buffer_add_text(ret, "</head>\n<body>\n<main>\n");
}

void page_end(struct buffer *ret)
{
	buffer_add_text(ret, "</main>\n</body>\n</html>\n");
}

static void write_head(const char *text, struct buffer *ret)
{
	buffer_add_text(ret, "<h1>");
	html_escape(text, ret);
	buffer_add_text(ret, "</h1>\n");
}

/* Puts the shop's name into <bdi>, because its direction may differ from that of the sentence. */
static void write_text(const char *text, const char *shop, struct buffer *ret)
{
	static const char place[] = "{shop}";
	const char *at = strstr(text, place);

	buffer_add_text(ret, "<p>");
	html_escape_bytes(BYTES(text, at ? (size_t)(at - text) : strlen(text)), ret);
	if (at) {
		buffer_add_text(ret, "<bdi>");
		html_escape(shop, ret);
		buffer_add_text(ret, "</bdi>");
		html_escape(at + strlen(place), ret);
	}
	buffer_add_text(ret, "</p>\n");
}

/* Writes the shop's name; it is not known if the link cannot be read. */
static void write_shop(const char *shop, struct buffer *ret)
{
	if (!shop || !*shop)
		return;
	buffer_add_text(ret, "<p class=\"shop\"><bdi>");
	html_escape(shop, ret);
	buffer_add_text(ret, "</bdi></p>\n");
}

static void write_form(int64_t undo_us, const char *button, bool quiet, struct buffer *ret)
{
	buffer_add_text(ret, "<form method=\"post\">\n<input type=\"hidden\" ");
	if (undo_us > 0)
		buffer_printf(ret, "name=\"undo\" value=\"%" PRId64 "\"", undo_us);
	else
		buffer_add_text(ret, "name=\"unsubscribe\" value=\"yes\"");
	buffer_printf(ret, ">\n<button type=\"submit\"%s>", quiet ? " class=\"quiet\"" : "");
	html_escape(button, ret);
	buffer_add_text(ret, "</button>\n</form>\n");
}

static void write_done(const struct page_view *view, struct buffer *ret)
{
	const struct page_texts *texts = view->texts;

	write_head(texts->done_head, ret);
	write_text(texts->done, view->shop, ret);
	if (view->undo_us <= 0)
		return;
	write_text(texts->undo, view->shop, ret);
	write_form(view->undo_us, texts->undo_button, true, ret);
}

static void write_body(enum page page, const struct page_view *view, struct buffer *ret)
{
	const struct page_texts *texts = view->texts;

	switch (page) {
	case PAGE_ASK:
		write_head(texts->ask_head, ret);
		write_text(texts->ask, view->shop, ret);
		write_form(0, texts->ask_button, false, ret);
		break;
	case PAGE_DONE:
		write_done(view, ret);
		break;
	case PAGE_BACK:
		write_head(texts->back_head, ret);
		write_text(texts->back, view->shop, ret);
		write_form(0, texts->ask_button, true, ret);
		break;
	case PAGE_FIXED:
		write_head(texts->fixed_head, ret);
		write_text(texts->fixed, view->shop, ret);
		break;
	case PAGE_NOT_NOW:
		write_head(texts->later_head, ret);
		write_text(texts->later, view->shop, ret);
		write_form(view->undo_us, texts->later_button, false, ret);
		break;
	case PAGE_BAD_LINK:
	case PAGE_BAD_RETURN:
		write_head(texts->bad_head, ret);
		write_text(page == PAGE_BAD_LINK ? texts->bad_link : texts->bad_return, view->shop, ret);
		break;
	}
}

void page_write(enum page page, const struct page_view *view, struct buffer *ret)
{
	page_begin(view->texts->language, view->texts->title, view->accent, ret);
	write_shop(view->shop, ret);
	write_body(page, view, ret);
	page_end(ret);
}

void page_answer_bad_link(enum page page, const struct request *request, struct answer *answer)
{
	const char *accept = request_header(request, "Accept-Language");

	answer->status = 404;
	answer->content_type = "text/html; charset=utf-8";
	page_write(page, &(struct page_view){ .texts = page_texts_for(accept, NULL), .shop = "" }, &answer->body);
}

void shop_branding_read(const char *shops_folder, const char *shop, struct shop_branding *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	static struct shop parsed; /* large */
	char path[512];

	*ret = (struct shop_branding){ 0 };
	TEXT_COPY(ret->title, shop);
	snprintf(path, sizeof(path), "%s/%s/shop.conf", shops_folder, shop);
	if (!shop_name_valid(shop) || file_read(path, SHOP_CONF_MOST, &text) < 0 ||
		shop_parse(buffer_text(&text), shop, path, &parsed, &error) < 0)
		return;
	if (parsed.title[0])
		TEXT_COPY(ret->title, parsed.title);
	TEXT_COPY(ret->locale, parsed.locale);
	TEXT_COPY(ret->accent, parsed.accent);
	TEXT_COPY(ret->zone, parsed.zone);
}

/* ---- forms ---- */

static bool has_pair(struct bytes body, const char *wanted)
{
	struct bytes pair;

	while (form_next_pair(&body, &pair))
		if (pair.len == strlen(wanted) && strncasecmp(pair.data, wanted, pair.len) == 0)
			return true;
	return false;
}

/* Does a multipart/form-data body (RFC 8058 section 3.2) have name and value? Headers may be between. */
static bool has_part(struct bytes body)
{
	static const char name[] = "name=\"List-Unsubscribe\"", value[] = "\r\n\r\nOne-Click\r\n";
	const char *part = memmem(body.data, body.len, name, strlen(name));

	return part && memmem(part, body.len - (size_t)(part - (const char *)body.data), value, strlen(value));
}

static bool take_undo(struct bytes body, int64_t *ret_us)
{
	char value[24], *end;

	if (!form_find(body, "undo", value, sizeof(value)) || value[0] < '0' || value[0] > '9')
		return false;
	*ret_us = strtoll(value, &end, 10);
	return *end == '\0' && *ret_us > 0;
}

enum page_post page_posted(const char *content_type, struct bytes body, int64_t *ret_undo_us)
{
	*ret_undo_us = 0;
	if (body.len == 0)
		return POST_NOTHING;
	if (content_type && strncasecmp(content_type, "multipart/form-data", strlen("multipart/form-data")) == 0)
		return has_part(body) ? POST_ONE_CLICK : POST_NOTHING;
	if (has_pair(body, "List-Unsubscribe=One-Click"))
		return POST_ONE_CLICK;
	if (has_pair(body, "unsubscribe=yes"))
		return POST_BUTTON;
	return take_undo(body, ret_undo_us) ? POST_UNDO : POST_NOTHING;
}
