/*
 * mail_render.c: from a cart and a voice to the words of a mail
 *
 * Owns:      the values of a mail, and its plain text part.
 * Promises:  what a storefront or shopper wrote is data: controls become blanks, marks that reverse the writing direction are
 *            dropped, links are https. Same reminder, same words.
 * Fails by:  -EINVAL and why: a cart that one cannot return to, or a header that would break.
 * Read next: mail_html.c (the other part), mail_compose.c (MIME), template.c
 */
#include "services/kit/mail_render.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/mail_compose.h"
#include "services/kit/money.h"
#include <errno.h>
#include <openssl/sha.h>

/* U+200E/F marks, U+202A-E embeddings and overrides, U+2066-9 isolates: a title could turn the line it stands in around. */
static bool is_direction_mark(const unsigned char *at)
{
	if (at[0] != 0xe2)
		return false;
	if (at[1] == 0x80)
		return at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xaa && at[2] <= 0xae);
	return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9;
}

static void clean(char *text)
{
	unsigned char *to = (unsigned char *)text;
	for (const unsigned char *at = to; *at; at++) {
		if (is_direction_mark(at)) {
			at += 2;
			continue;
		}
		*to++ = *at < ' ' || *at == 0x7f ? ' ' : *at;
	}
	*to = 0;
}

bool mail_url_safe(const char *url)
{
	if (!text_starts(url, "https://") || strlen(url) == strlen("https://"))
		return false;
	for (; *url; url++)
		if ((unsigned char)*url <= ' ' || *url == 0x7f || strchr("\"'<>\\`", *url))
			return false;
	return true;
}

void mail_item_title(const Item *item, char ret[320])
{
	const char *title = item->title[0] ? item->title : item->sku[0] ? item->sku : "?";
	if (item->variant_title[0])
		snprintf(ret, 320, "%s, %s", title, item->variant_title);
	else
		snprintf(ret, 320, "%s", title);
	clean(ret);
}

void mail_item_price(const struct mail_words *words, const Item *item, char ret[MAIL_ITEM_PRICE_ROOM])
{
	int64_t all;
	if (__builtin_mul_overflow(item->price_minor, (int64_t)item->quantity, &all))
		all = item->price_minor;
	money_format(all, words->reminder->cart->currency, words->locale, ret, MAIL_ITEM_PRICE_ROOM);
}

bool mail_words_has(const struct mail_words *words, enum value value)
{
	switch (value) {
	case VALUE_FIRST_NAME:
		return words->first_name[0];
	case VALUE_ITEMS:
	case VALUE_ITEM_COUNT:
		return words->reminder->cart->items_count > 0;
	case VALUE_DISCOUNT_CODE:
		return words->discount_code[0];
	case VALUE_POSTAL_ADDRESS:
		return words->postal_address[0];
	case VALUE_SHOP:
	case VALUE_TOTAL:
	case VALUE_RETURN_LINK:
	case VALUE_UNSUBSCRIBE_LINK:
	case VALUE_COUNT:
		break;
	}
	return true;
}

const char *mail_words_value(const struct mail_words *words, enum value value, const char *label)
{
	const char *const plain[VALUE_COUNT] = { [VALUE_SHOP] = words->shop,
		[VALUE_FIRST_NAME] = words->first_name,
		[VALUE_ITEM_COUNT] = words->count,
		[VALUE_TOTAL] = words->total,
		[VALUE_DISCOUNT_CODE] = words->discount_code,
		[VALUE_POSTAL_ADDRESS] = words->postal_address };
	const char *text = plain[value] ? plain[value] : "";
	return *text || !label ? text : label;
}

const char *mail_words_link(const struct mail_words *words, enum value value)
{
	if (value == VALUE_RETURN_LINK)
		return words->reminder->return_url ? words->reminder->return_url : words->reminder->cart->recovery_url;
	return words->reminder->to_owner || !words->reminder->unsubscribe_url ? "" : words->reminder->unsubscribe_url;
}

/* ---- the plain text part, and the subject ---- */

struct text_sink {
	const struct mail_words *words;
	struct buffer *out;
};

static bool text_has(void *context, enum value value)
{
	return mail_words_has(((struct text_sink *)context)->words, value);
}

static void text_text(void *context, const char *text)
{
	buffer_add_text(((struct text_sink *)context)->out, text);
}

static void text_items(const struct mail_words *words, struct buffer *out)
{
	const CartState *cart = words->reminder->cart;
	for (pb_size_t i = 0; i < cart->items_count; i++) {
		char title[320], price[MAIL_ITEM_PRICE_ROOM];
		mail_item_title(&cart->items[i], title);
		mail_item_price(words, &cart->items[i], price);
		buffer_printf(out, "%s- %u × %s: %s", i ? "\n" : "", cart->items[i].quantity, title, price);
	}
	if (cart->items_left_out)
		buffer_printf(out, "\n- … +%u", cart->items_left_out);
}

static void text_link(const struct text_sink *sink, enum value value, const char *label)
{
	const char *url = mail_words_link(sink->words, value);
	buffer_printf(sink->out, "%s%s%s", label ? label : "", label && *url ? ": " : "", url);
}

static void text_value(void *context, enum value value, const char *label)
{
	const struct text_sink *sink = context;
	if (value == VALUE_ITEMS)
		text_items(sink->words, sink->out);
	else if (value == VALUE_RETURN_LINK || value == VALUE_UNSUBSCRIBE_LINK)
		text_link(sink, value, label);
	else
		buffer_add_text(sink->out, mail_words_value(sink->words, value, label));
}

static void text_walk(const struct template *template, const struct mail_words *words, struct buffer *ret)
{
	struct text_sink sink = { .words = words, .out = ret };
	template_walk(template,
		&(struct template_sink){ .context = &sink, .has = text_has, .text = text_text, .value = text_value });
}

/* A condition that was not met leaves its empty line behind: one blank line between paragraphs is enough. */
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

static void owner_note(const struct reminder *reminder, struct buffer *ret)
{
	if (reminder->to_owner)
		buffer_printf(ret, "[%s is in mode \"mail me\": this went to you, and nothing to %s.]\n\n",
			reminder->shop->name, reminder->cart->ids.email);
}

void mail_render_text(const struct mail_words *words, struct buffer *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	owner_note(words->reminder, &text);
	if (words->voice->opening) {
		text_walk(words->voice->opening, words, &text);
		buffer_add_text(&text, "\n\n");
	}
	text_walk(words->voice->body, words, &text);
	buffer_add_text(&text, "\n\n-- \n");
	text_walk(words->voice->footer, words, &text);
	if (!template_uses(words->voice->footer, VALUE_POSTAL_ADDRESS) && words->postal_address[0])
		buffer_printf(&text, "\n\n%s\n", words->postal_address);
	add_without_gaps(ret, buffer_text(&text));
}

/* ---- the whole ---- */

static void fill_words(const struct reminder *reminder, struct mail_words *ret)
{
	const CartState *cart = reminder->cart;
	uint64_t count = cart->items_left_out;
	*ret = (struct mail_words){ .reminder = reminder, .voice = voice_mail(reminder->voice, reminder->step) };
	ret->locale = cart->locale[0] ? cart->locale : reminder->shop->locale;
	for (pb_size_t i = 0; i < cart->items_count; i++)
		count += cart->items[i].quantity;
	snprintf(ret->count, sizeof(ret->count), "%llu", (unsigned long long)count);
	money_format(cart->total_minor, cart->currency, ret->locale, ret->total, sizeof(ret->total));
	TEXT_COPY(ret->shop, reminder->shop->title);
	TEXT_COPY(ret->first_name, cart->first_name);
	TEXT_COPY(ret->postal_address, reminder->shop->postal_address);
	if (cart->discount_codes_count)
		TEXT_COPY(ret->discount_code, cart->discount_codes[0]);
	clean(ret->first_name);
	clean(ret->discount_code);
}

void mail_reminder_id(const struct shop *shop, const char *cart_id, int step, char ret[200])
{
	_cleanup_(buffer_free) struct buffer name = { 0 };
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char hex[33];
	buffer_add(&name, shop->name, strlen(shop->name) + 1);
	buffer_add(&name, cart_id, strlen(cart_id) + 1);
	buffer_printf(&name, "%d", step);
	SHA256(name.data, name.len, digest);
	text_hex(digest, 16, hex);
	const char *domain = address_domain(shop->from_address);
	snprintf(ret, 200, "%d.%s@%.150s", step, hex, domain ? domain : "");
}

static int check(const struct reminder *reminder, char ret_why[160])
{
	const char *back = reminder->cart->recovery_url;
	if (text_has_control(reminder->cart->first_name)) {
		snprintf(ret_why, 160, "the shopper's first name contains a line break or control character");
		return -EINVAL;
	}
	if (mail_url_safe(back))
		return 0;
	snprintf(ret_why, 160,
		*back ? "the cart's recovery URL is not a clean https address"
		      : "the storefront gave no recovery URL: there is nothing to return to");
	return -EINVAL;
}

int mail_reminder(const struct reminder *reminder, struct mail **ret, char ret_why[160])
{
	_cleanup_(buffer_free) struct buffer subject = { 0 }, text = { 0 }, html = { 0 };
	struct mail_words words;
	char id[200];
	int r = check(reminder, ret_why);
	if (r < 0)
		return r;
	fill_words(reminder, &words);
	if (reminder->to_owner)
		buffer_add_text(&subject, "[mail me] ");
	text_walk(words.voice->subject, &words, &subject);
	mail_render_text(&words, &text);
	mail_render_html(&words, buffer_text(&subject), &html);
	mail_reminder_id(reminder->shop, reminder->cart->ids.cart_id, reminder->step, id);
	return mail_compose(&(struct mail_parts){ .from = reminder->shop->from,
				    .to = reminder->to,
				    .reply_to = reminder->shop->reply_to,
				    .bounce = reminder->shop->bounce,
				    .subject = buffer_text(&subject),
				    .message_id = id,
				    .list_unsubscribe = reminder->to_owner ? NULL : reminder->unsubscribe_url,
				    .text = buffer_text(&text),
				    .html = buffer_text(&html),
				    .now_us = reminder->now_us },
		ret, ret_why);
}
