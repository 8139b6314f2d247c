/* page.c: the unsubscribe page (RFC 8058, and a button for people) */
#include "services/gateway/page.h"
#include "bus/base/text.h"
#include "services/kit/html.h"
#include <strings.h>

static const char head[] = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			   "<meta name=\"robots\" content=\"noindex\">\n<title>Cart reminders</title>\n<style>\n"
			   "body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto 0; "
			   "padding: 0 1.5rem; color: #222; background: #fff }\n"
			   "h1 { font-size: 1.4rem }\n"
			   "button { font: inherit; padding: .6rem 1.4rem; border: 0; border-radius: .4rem; "
			   "background: #1c5d99; color: #fff; cursor: pointer }\n"
			   "button:focus-visible { outline: 3px solid #f0a500; outline-offset: 2px }\n"
			   "@media (prefers-color-scheme: dark) { body { color: #eee; background: #16181b } }\n"
			   "</style>\n</head>\n<body>\n<main>\n";
static const char foot[] = "</main>\n</body>\n</html>\n";

static void write_ask(const char *shop, struct buffer *ret)
{
	buffer_add_text(ret, "<h1>No more cart reminders?</h1>\n<p>");
	html_escape(shop, ret);
	buffer_add_text(ret,
		" will no longer write to you about a cart you left behind.</p>\n"
		"<form method=\"post\">\n<input type=\"hidden\" name=\"unsubscribe\" value=\"yes\">\n"
		"<button type=\"submit\">Unsubscribe</button>\n</form>\n");
}

static void write_done(const char *shop, struct buffer *ret)
{
	buffer_add_text(ret, "<h1>You are unsubscribed</h1>\n<p>");
	html_escape(shop, ret);
	buffer_add_text(ret, " will not send you any more cart reminders.</p>\n");
}

static void write_not_now(struct buffer *ret)
{
	buffer_add_text(ret,
		"<h1>Please try again in a minute</h1>\n"
		"<p>We could not record your wish just now, so nothing has changed yet.</p>\n"
		"<form method=\"post\">\n<input type=\"hidden\" name=\"unsubscribe\" value=\"yes\">\n"
		"<button type=\"submit\">Try again</button>\n</form>\n");
}

static void write_bad_link(struct buffer *ret)
{
	buffer_add_text(ret,
		"<h1>This link does not work</h1>\n<p>It may have been cut off on its way. Please use the "
		"link from the mail again, or answer the mail and say that you want no more of them.</p>\n");
}

static void write_bad_return(struct buffer *ret)
{
	buffer_add_text(ret,
		"<h1>This link does not work</h1>\n<p>It may have been cut off on its way. Please use the "
		"link from the mail again, or go to the shop's own page: your basket may still be there.</p>\n");
}

void page_write(enum page page, const char *shop, struct buffer *ret)
{
	buffer_add_text(ret, head);
	switch (page) {
	case PAGE_ASK:
		write_ask(shop, ret);
		break;
	case PAGE_DONE:
		write_done(shop, ret);
		break;
	case PAGE_NOT_NOW:
		write_not_now(ret);
		break;
	case PAGE_BAD_LINK:
		write_bad_link(ret);
		break;
	case PAGE_BAD_RETURN:
		write_bad_return(ret);
		break;
	}
	buffer_add_text(ret, foot);
}

/* One pair of a urlencoded form, whatever else is in it. */
static bool has_pair(struct bytes body, const char *pair)
{
	const char *at = body.data, *end = at + body.len;
	size_t len = strlen(pair);

	while (at < end) {
		const char *next = memchr(at, '&', (size_t)(end - at));
		size_t this = (size_t)((next ? next : end) - at);

		while (this > 0 && (at[this - 1] == '\r' || at[this - 1] == '\n'))
			this --;
		if (this == len && strncasecmp(at, pair, len) == 0)
			return true;
		if (!next)
			break;
		at = next + 1;
	}
	return false;
}

/* RFC 8058 section 3.2 allows multipart/form-data. The part's head and its value; anything between is other headers. */
static bool has_part(struct bytes body)
{
	static const char name[] = "name=\"List-Unsubscribe\"", value[] = "\r\n\r\nOne-Click\r\n";
	const char *part = memmem(body.data, body.len, name, strlen(name));

	return part && memmem(part, body.len - (size_t)(part - (const char *)body.data), value, strlen(value));
}

enum page_post page_posted(const char *content_type, struct bytes body)
{
	if (body.len == 0)
		return POST_NOTHING;
	if (content_type && strncasecmp(content_type, "multipart/form-data", strlen("multipart/form-data")) == 0)
		return has_part(body) ? POST_ONE_CLICK : POST_NOTHING;
	if (has_pair(body, "List-Unsubscribe=One-Click"))
		return POST_ONE_CLICK;
	return has_pair(body, "unsubscribe=yes") ? POST_BUTTON : POST_NOTHING;
}
