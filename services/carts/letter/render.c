/*
 * render.c: renders a mail from a cart and a voice
 *
 * Owns:      the subject and the plain text part of a mail, and how the whole mail is put together.
 * Promises:  the texts of storefronts and shoppers are only data: controls become blanks, marks that reverse
 *            the writing direction are dropped, links are https. The same reminder gives the same words.
 * Fails by:  -EINVAL and the reason: the cart has no usable way back, or a header would break.
 * Read next: words.c (the values), html.c (the HTML part), mail/compose.c (MIME), template.c
 */
#include "services/carts/letter/render.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/carts/policy/way_back.h"
#include "services/kit/mail/compose.h"
#include <errno.h>

/* ---- the plain text part, and the subject ---- */

struct text_sink {
	const struct mail_words *words;
	struct buffer *out;
};

static bool text_has(void *context, int value)
{
	return mail_words_has(((struct text_sink *)context)->words, value);
}

static void text_text(void *context, const char *text)
{
	buffer_add_text(((struct text_sink *)context)->out, text);
}

/*
 * "- 2 × Vase: 12,50 €". In a mail from right to left a mark at the start gives the line its direction,
 * because nothing else in the line does.
 */
static void text_item(const struct mail_words *words, pb_size_t nth, struct buffer *out)
{
	const Item *item = &words->reminder->cart->items[nth];
	char title[320], count[40];
	mail_item_title(item, title);
	mail_item_count(words, item, count);
	buffer_printf(out, "%s- %s × ", words->rtl ? "\u200f" : "", count);
	mail_words_isolate(words, title, out);
	buffer_add_text(out, words->prices[nth][0] ? ": " : "");
	mail_words_isolate(words, words->prices[nth], out);
}

static void text_items(const struct mail_words *words, struct buffer *out)
{
	const CartState *cart = words->reminder->cart;
	for (pb_size_t i = 0; i < cart->items_count; i++) {
		buffer_add_text(out, i ? "\n" : "");
		text_item(words, i, out);
	}
	if (cart->items_left_out)
		buffer_printf(out, "\n- … +%u", cart->items_left_out);
}

static void text_link(const struct text_sink *sink, enum value value, const char *label)
{
	const char *url = mail_words_link(sink->words, value);
	buffer_add_text(sink->out, label ? label : "");
	buffer_add_text(sink->out, label && *url ? ": " : "");
	buffer_add_text(sink->out, url);
}

static void text_value(void *context, int value, const char *label)
{
	const struct text_sink *sink = context;
	if (value == VALUE_ITEMS)
		text_items(sink->words, sink->out);
	else if (value_is_link(value))
		text_link(sink, value, label);
	else
		mail_words_isolate(sink->words, mail_words_value(sink->words, value, label), sink->out);
}

static void text_bold(void *context, bool on)
{
	(void)on;
	buffer_add_text(((struct text_sink *)context)->out, "*");
}

static void text_words_link(void *context, const char *words, const char *url)
{
	const struct text_sink *sink = context;

	buffer_add_text(sink->out, words);
	if (mail_words_may_link(sink->words, url))
		buffer_printf(sink->out, " <%s>", url);
}

static const char *text_plural(void *context, int value)
{
	return mail_words_plural(((struct text_sink *)context)->words, value);
}

static void text_walk(const struct template *template, const struct mail_words *words, struct buffer *ret)
{
	struct text_sink sink = { .words = words, .out = ret };
	template_walk(template,
		&(struct template_sink){ .context = &sink,
			.has = text_has,
			.text = text_text,
			.value = text_value,
			.bold = text_bold,
			.link = text_words_link,
			.plural = text_plural });
}

/* A condition that was not met leaves an empty line. This keeps one blank line between paragraphs. */
static void add_without_gaps(struct buffer *ret, const char *text)
{
	text += strspn(text, "\n");
	while (*text) {
		size_t line = strcspn(text, "\n"), newlines = strspn(text + line, "\n");
		buffer_add(ret, text, line + (newlines < 2 ? newlines : 2));
		text += line + newlines;
	}
	while (ret->len && ret->data[ret->len - 1] == '\n')
		ret->len--;
	buffer_add_text(ret, "\n");
}

bool mail_render_opening(const struct mail_words *words, struct buffer *ret)
{
	if (!words->voice->opening)
		return false;
	if (words->reminder->opening)
		buffer_add_text(ret, words->reminder->opening);
	else
		text_walk(words->voice->opening, words, ret);
	return true;
}

void mail_render_text(const struct mail_words *words, struct buffer *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char note[500];
	mail_words_note(words, note);
	if (*note)
		buffer_printf(&text, "[%s]\n\n", note);
	if (mail_render_opening(words, &text))
		buffer_add_text(&text, "\n\n");
	text_walk(words->voice->body, words, &text);
	buffer_add_text(&text, "\n\n-- \n");
	text_walk(words->footer, words, &text);
	if (!template_uses(words->footer, VALUE_POSTAL_ADDRESS) && words->postal_address[0])
		buffer_printf(&text, "\n\n%s\n", words->postal_address);
	add_without_gaps(ret, buffer_text(&text));
}

/* ---- the whole ---- */

void mail_reminder_id(struct bytes key, const struct shop *shop, const char *cart_id, int step, char ret[200])
{
	const char *domain = address_domain(shop->from_address);
	char local[MAIL_LOCAL_MAX];
	if (key.len)
		mail_local_sign(key, shop->name, cart_id, step, local);
	else
		mail_local_make(shop->name, cart_id, step, local);
	snprintf(ret, 200, "%s@%.150s", local, domain ? domain : "");
}

const char *mail_return_trouble(const struct shop *shop, const CartState *cart)
{
	struct way_back way;

	way_back_of(cart, &way);
	return way_back_fault(shop, &way);
}

/* The subject tells an owner or tester that the mail did not go to a shopper. */
static void write_subject(const struct mail_words *words, struct buffer *ret)
{
	if (words->reminder->test_id)
		buffer_add_text(ret, "[Test] ");
	else if (words->reminder->to_owner)
		buffer_add_text(ret, "[mail me] ");
	text_walk(words->voice->subject, words, ret);
}

static void write_ids(const struct reminder *reminder, char ret_message_id[200], char ret_list_id[256])
{
	const char *domain = address_domain(reminder->shop->from_address);
	if (reminder->test_id)
		snprintf(ret_message_id, 200, "test.%.40s@%.150s", reminder->test_id, domain ? domain : "");
	else
		mail_reminder_id(
			reminder->id_key, reminder->shop, reminder->cart->ids.cart_id, reminder->step, ret_message_id);
	snprintf(ret_list_id, 256, "reminders.%.40s.%.180s", reminder->shop->name, domain ? domain : "");
}

/*
 * The size of most mails: a buffer with enough room is not moved while it grows, and nothing is printed
 * twice.
 */
enum { TEXT_ROOM = 1024, HTML_ROOM = 4096 };

static int compose(const struct mail_words *words, struct mail **ret, char ret_why[160])
{
	_cleanup_(buffer_free) struct buffer subject = { 0 }, text = { 0 }, html = { 0 };
	const struct reminder *reminder = words->reminder;
	char message_id[200], list_id[256];
	bool to_shopper = !reminder->to_owner && !reminder->test_id;
	write_subject(words, &subject);
	buffer_grow(&text, TEXT_ROOM);
	buffer_grow(&html, HTML_ROOM);
	mail_render_text(words, &text);
	mail_render_html(words, buffer_text(&subject), &html);
	write_ids(reminder, message_id, list_id);
	return mail_compose(&(struct mail_parts){ .from = reminder->shop->from,
				    .to = reminder->to,
				    .reply_to = reminder->shop->reply_to,
				    .bounce = reminder->shop->bounce,
				    .subject = buffer_text(&subject),
				    .message_id = message_id,
				    .list_unsubscribe = to_shopper ? reminder->unsubscribe_url : NULL,
				    .list_id = to_shopper ? list_id : NULL,
				    .text = buffer_text(&text),
				    .html = buffer_text(&html),
				    .now_us = reminder->now_us },
		ret, ret_why);
}

int mail_reminder(const struct reminder *reminder, struct mail **ret, char ret_why[160])
{
	struct mail_words words;
	const char *trouble = mail_return_trouble(reminder->shop, reminder->cart);
	if (trouble) {
		snprintf(ret_why, 160, "%s", trouble);
		return -EINVAL;
	}
	mail_words_fill(reminder, &words);
	return compose(&words, ret, ret_why);
}
