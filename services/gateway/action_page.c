/* action_page.c: what the owner sees behind a link of the export */
#include "services/gateway/action_page.h"
#include "services/gateway/page.h"
#include "services/kit/html.h"
#include <stdio.h>
#include <time.h>

enum { SHOPPER_SHOWN = 8 }; /* of the keyed hash: enough to tell two apart, as the export shows it */

struct words {
	const char *ask, *button, *done;
};

static struct words words_of(AdminVerb verb)
{
	switch (verb) {
	case ADMIN_SUPPRESS_CART:
		return (struct words){ "No mail will be sent about this cart, whatever happens to it. The shopper's "
				       "other carts are not touched.",
			"Suppress this cart", "No mail will be sent about this cart." };
	case ADMIN_WRITE_OFF:
		return (struct words){ "The chase of this cart ends: it is written off.", "Write this cart off",
			"This cart is written off." };
	case ADMIN_UNSUBSCRIBE:
		return (struct words){ "This shopper will get no more reminders of this shop.",
			"Unsubscribe this shopper", "This shopper gets no more reminders." };
	case ADMIN_LIFT_SUPPRESSION:
		return (struct words){ "This shopper is taken off the list of those who get no reminders. Do this only "
				       "when the shopper asked for it.",
			"Take off the list", "This shopper may get reminders again." };
	case ADMIN_OVERRIDE_WAIT:
	case ADMIN_TAKE_BACK:
	case ADMIN_SETTLE_PRIVACY:
	case ADMIN_RETIME:
		break;
	}
	return (struct words){ "Nothing.", "Nothing", "Nothing was done." };
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

static void write_target(const struct action_view *view, struct buffer *ret)
{
	const struct admin_link *link = view->link;
	char target[160];

	if (link->cart_id[0])
		snprintf(target, sizeof(target), "cart %s", link->cart_id);
	else
		snprintf(target, sizeof(target), "shopper %.*s", SHOPPER_SHOWN, link->address_hash);
	buffer_add_text(ret, "<p><bdi>");
	html_escape(view->shop, ret);
	buffer_add_text(ret, "</bdi>: <strong>");
	html_escape(target, ret);
	buffer_add_text(ret, "</strong></p>\n");
}

static void write_moment(const char *before, int64_t us, struct buffer *ret)
{
	time_t s = (time_t)(us / US_PER_S);
	char moment[40] = "", line[120];
	struct tm utc;

	if (us <= 0 || !gmtime_r(&s, &utc))
		return;
	strftime(moment, sizeof(moment), "%Y-%m-%d %H:%M UTC", &utc);
	snprintf(line, sizeof(line), "%s %s.", before, moment);
	write_paragraph(line, ret);
}

static void write_form(const struct admin_link *link, struct buffer *ret)
{
	buffer_add_text(ret, "<form method=\"post\">\n<input type=\"hidden\" name=\"act\" value=\"yes\">\n");
	if (link->verb == ADMIN_LIFT_SUPPRESSION)
		buffer_printf(ret,
			"<p><label>Why? It is kept on record, so leave addresses out.<br>\n"
			"<input type=\"text\" name=\"reason\" required maxlength=\"%d\"></label></p>\n",
			ACTION_REASON_MAX - 1);
	buffer_add_text(ret, "<button type=\"submit\">");
	html_escape(words_of(link->verb).button, ret);
	buffer_add_text(ret, "</button>\n</form>\n");
}

static void write_ask(enum action_page page, const struct action_view *view, struct buffer *ret)
{
	write_head(words_of(view->link->verb).button, ret);
	write_target(view, ret);
	write_paragraph(words_of(view->link->verb).ask, ret);
	if (page == ACTION_ASK_REASON)
		write_paragraph("Nothing was done yet: it needs a reason, of one line and without an address.", ret);
	write_form(view->link, ret);
	write_moment("This link works once, until", view->link->expires_us, ret);
}

static void write_past(const char *head, const struct action_view *view, const char *text, struct buffer *ret)
{
	write_head(head, ret);
	write_target(view, ret);
	write_paragraph(text, ret);
}

static void write_body(enum action_page page, const struct action_view *view, struct buffer *ret)
{
	switch (page) {
	case ACTION_ASK:
	case ACTION_ASK_REASON:
		write_ask(page, view, ret);
		break;
	case ACTION_DONE:
		write_past("Done", view, words_of(view->link->verb).done, ret);
		break;
	case ACTION_USED:
		write_past("This link was used already", view, words_of(view->link->verb).done, ret);
		write_moment("That was at", view->used_us, ret);
		break;
	case ACTION_EXPIRED:
		write_past("This link has expired", view, "Nothing was done. Use a link of a newer export.", ret);
		write_moment("It worked until", view->link->expires_us, ret);
		break;
	case ACTION_BAD_LINK:
		write_head("This link does not work", ret);
		write_paragraph(
			"Nothing was done. It may have been cut off on its way: copy it from the export again.", ret);
		break;
	case ACTION_NOT_NOW:
		write_head("Please try again in a minute", ret);
		write_paragraph("Nothing was done: it could not be recorded just now.", ret);
		break;
	}
}

void action_page_write(enum action_page page, const struct action_view *view, struct buffer *ret)
{
	page_begin("en", false, "cartbus", ret);
	write_body(page, view, ret);
	page_end(ret);
}
