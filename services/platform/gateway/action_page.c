/* action_page.c: writes the page that the owner sees behind a link of the export */
#include "services/platform/gateway/action_page.h"
#include "services/kit/endpoint/page.h"
#include "services/kit/locale/locale.h"
#include "services/kit/time/zone.h"
#include "services/kit/web/html.h"
#include <stdio.h>
#include <string.h>

enum { SHOPPER_SHOWN = 8 }; /* characters of the keyed hash, as the export shows them */

static const struct action_words *words_of(const struct action_texts *texts, AdminVerb verb)
{
	static const struct action_words none = { "", "", "" };

	switch (verb) {
	case ADMIN_SUPPRESS_CART:
		return &texts->suppress;
	case ADMIN_WRITE_OFF:
		return &texts->write_off;
	case ADMIN_UNSUBSCRIBE:
		return &texts->unsubscribe;
	case ADMIN_LIFT_SUPPRESSION:
		return &texts->lift;
	case ADMIN_OVERRIDE_WAIT:
	case ADMIN_TAKE_BACK:
	case ADMIN_SETTLE_PRIVACY:
	case ADMIN_RETIME:
		break;
	}
	return &none; /* no link has these verbs */
}

static void write_paragraph(const char *text, struct buffer *ret)
{
	buffer_add_text(ret, "<p>");
	html_escape(text, ret);
	buffer_add_text(ret, "</p>\n");
}

static void write_head(const char *text, struct buffer *ret)
{
	buffer_add_text(ret, "<h1>");
	html_escape(text, ret);
	buffer_add_text(ret, "</h1>\n");
}

static void write_target(const struct action_view *view, const struct action_texts *texts, struct buffer *ret)
{
	const struct admin_link *link = view->link;
	char target[160];

	if (link->cart_id[0])
		snprintf(target, sizeof(target), "%s %s", texts->cart, link->cart_id);
	else
		snprintf(target, sizeof(target), "%s %.*s", texts->shopper, SHOPPER_SHOWN, link->address_hash);
	buffer_add_text(ret, "<p><bdi>");
	html_escape(view->shop, ret);
	buffer_add_text(ret, "</bdi>: <strong>");
	html_escape(target, ret);
	buffer_add_text(ret, "</strong></p>\n");
}

/* Writes `text` with its {moment} in the shop's time zone and the page's language. */
static void write_moment(
	const char *text, const char *language, const struct action_view *view, int64_t us, struct buffer *ret)
{
	static const char hole[] = "{moment}";
	const char *at = strstr(text, hole), *zone = *view->zone ? view->zone : "UTC";
	char tag[LOCALE_ROOM], moment[160], line[480];

	if (us <= 0 || !at)
		return;
	locale_blend(language, view->locale ? view->locale : "", tag);
	locale_day(us, zone, tag, LOCALE_MOMENT, moment, sizeof(moment));
	if (!*moment)
		zone_print(zone, us, moment, sizeof(moment));
	snprintf(line, sizeof(line), "%.*s%s%s", (int)(at - text), text, moment, at + strlen(hole));
	write_paragraph(line, ret);
}

static void write_form(const struct admin_link *link, const struct action_texts *texts, struct buffer *ret)
{
	buffer_add_text(ret, "<form method=\"post\">\n<input type=\"hidden\" name=\"act\" value=\"yes\">\n");
	if (link->verb == ADMIN_LIFT_SUPPRESSION) {
		buffer_add_text(ret, "<p><label>");
		html_escape(texts->why, ret);
		buffer_printf(ret,
			"<br>\n<input type=\"text\" name=\"reason\" required maxlength=\"%d\"></label></p>\n",
			ACTION_REASON_MAX - 1);
	}
	buffer_add_text(ret, "<button type=\"submit\">");
	html_escape(words_of(texts, link->verb)->button, ret);
	buffer_add_text(ret, "</button>\n</form>\n");
}

static void write_ask(
	enum action_page page, const struct action_view *view, const struct action_texts *texts, struct buffer *ret)
{
	write_head(words_of(texts, view->link->verb)->button, ret);
	write_target(view, texts, ret);
	write_paragraph(words_of(texts, view->link->verb)->ask, ret);
	if (page == ACTION_ASK_REASON)
		write_paragraph(texts->reason_missing, ret);
	write_form(view->link, texts, ret);
	write_moment(texts->until, texts->language, view, view->link->expires_us, ret);
}

static void write_body(
	enum action_page page, const struct action_view *view, const struct action_texts *texts, struct buffer *ret)
{
	switch (page) {
	case ACTION_ASK:
	case ACTION_ASK_REASON:
		write_ask(page, view, texts, ret);
		break;
	case ACTION_DONE:
		write_head(texts->done_head, ret);
		write_target(view, texts, ret);
		write_paragraph(words_of(texts, view->link->verb)->done, ret);
		break;
	case ACTION_USED:
		write_head(texts->used_head, ret);
		write_target(view, texts, ret);
		write_paragraph(words_of(texts, view->link->verb)->done, ret);
		write_moment(texts->used_at, texts->language, view, view->used_us, ret);
		break;
	case ACTION_EXPIRED:
		write_head(texts->expired_head, ret);
		write_target(view, texts, ret);
		write_paragraph(texts->expired, ret);
		write_moment(texts->expired_at, texts->language, view, view->link->expires_us, ret);
		break;
	case ACTION_BAD_LINK:
		write_head(texts->bad_head, ret);
		write_paragraph(texts->bad, ret);
		break;
	case ACTION_NOT_NOW:
		write_head(texts->later_head, ret);
		write_paragraph(texts->later, ret);
		break;
	}
}

const struct action_texts *action_texts_for(const char *locale)
{
	return language_row(action_texts, sizeof(*action_texts), NULL, locale);
}

void action_page_write(enum action_page page, const struct action_view *view, struct buffer *ret)
{
	const struct action_texts *texts = action_texts_for(view->locale ? view->locale : "");

	page_begin(texts->language, "cartbus", view->accent, ret);
	write_body(page, view, texts, ret);
	page_end(ret);
}
