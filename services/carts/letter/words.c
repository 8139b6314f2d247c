/*
 * words.c: the values of a mail: the texts for {total}, {first name} and the others
 *
 * Promises:  the texts of storefronts and shoppers are only data: controls become blanks, marks that reverse
 *            the writing direction are dropped, bytes that are not UTF-8 become "?", links are https. The
 *            same reminder gives the same words.
 * Read next: render.c, html.c (the two parts of a mail), locale.h, money.h
 */
#include "bus/base/text.h"
#include "services/carts/letter/render.h"
#include "services/carts/letter/shopper_text.h"
#include "services/kit/http/url.h"
#include "services/kit/locale/locale.h"
#include "services/kit/money/money.h"
#include <stdio.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

/* Works in place, because the text only gets shorter. */
static void clean(char *text)
{
	int32_t length = (int32_t)strlen(text), at = 0;
	char *to = text;

	while (at < length) {
		int32_t from = at;
		UChar32 c;
		U8_NEXT(text, at, length, c);
		if (c < 0) {
			*to++ = '?';
		} else if (text_is_control(c)) {
			*to++ = ' ';
		} else if (!text_is_direction_mark(c)) {
			memmove(to, text + from, (size_t)(at - from));
			to += at - from;
		}
	}
	*to = 0;
}

void mail_item_title(const Item *item, char ret[320])
{
	const char *title = item->title[0] ? item->title : item->sku[0] ? item->sku : "?";
	if (item->variant_title[0])
		snprintf(ret, 320, "%s – %s", title, item->variant_title);
	else
		snprintf(ret, 320, "%s", title);
	clean(ret);
}

void mail_item_count(const struct mail_words *words, const Item *item, char ret[40])
{
	locale_number(item->quantity, words->locale, ret, 40);
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
	case VALUE_DATE:
		return words->date[0];
	case VALUE_WEEKDAY:
		return words->weekday[0];
	case VALUE_TOTAL:
		return words->total[0];
	case VALUE_SHOP:
	case VALUE_RETURN_LINK:
	case VALUE_SHOP_LINK:
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
		[VALUE_POSTAL_ADDRESS] = words->postal_address,
		[VALUE_DATE] = words->date,
		[VALUE_WEEKDAY] = words->weekday };
	const char *text = plain[value] ? plain[value] : "";
	return *text || !label ? text : label;
}

const char *mail_words_plural(const struct mail_words *words, enum value value)
{
	return value == VALUE_ITEM_COUNT ? locale_plural(words->pieces, words->reminder->speech.language) : "other";
}

const char *mail_words_link(const struct mail_words *words, enum value value)
{
	const struct reminder *reminder = words->reminder;
	if (value == VALUE_RETURN_LINK)
		return reminder->return_url ? reminder->return_url : reminder->cart->recovery_url;
	if (value == VALUE_SHOP_LINK)
		return url_is_clean(reminder->shop->url) ? reminder->shop->url : "";
	return reminder->to_owner || reminder->test_id || !reminder->unsubscribe_url ? "" : reminder->unsubscribe_url;
}

bool mail_words_may_link(const struct mail_words *words, const char *url)
{
	return url_is_clean(url) && shop_owns_url(words->reminder->shop, PLATFORM_UNKNOWN, url);
}

void mail_words_note(const struct mail_words *words, char ret[500])
{
	const struct reminder *reminder = words->reminder;
	ret[0] = '\0';
	if (reminder->test_id)
		snprintf(ret, 500, "This is a test of %s: no shopper got it, and its unsubscribe link was left out.",
			reminder->shop->name);
	else if (reminder->to_owner)
		snprintf(ret, 500, "%s is in mode \"mail me\": this went to you, and nothing to %s.",
			reminder->shop->name, reminder->cart->ids.email);
}

static bool mentions(const struct mail_words *words, enum value value)
{
	const struct voice_mail *voice = words->voice;
	return template_mentions(voice->subject, value) || template_mentions(voice->preview, value) ||
		template_mentions(voice->opening, value) || template_mentions(voice->body, value) ||
		template_mentions(words->footer, value);
}

/*
 * A day is written only if a text names it: few do, and ICU takes as long for a day as all other values take.
 */
static void fill_day(const struct mail_words *words, enum value value, enum locale_day form, char ret[80])
{
	const struct reminder *reminder = words->reminder;
	char locale[LOCALE_ROOM];
	if (reminder->cart->abandoned_us <= 0 || !mentions(words, value))
		return;
	locale_blend(reminder->speech.language, words->locale, locale);
	locale_day(reminder->cart->abandoned_us, reminder->shop->zone, locale, form, ret, 80);
}

/* 0 means that the storefront gave no amount; an amount without a currency means nothing. */
static void fill_amount(const CartState *cart, int64_t minor, const char *locale, char ret[80])
{
	ret[0] = 0;
	if (minor && cart->currency[0])
		money_format(minor, cart->currency, locale, ret, 80);
}

static void fill_prices(const CartState *cart, struct mail_words *ret)
{
	for (pb_size_t i = 0; i < cart->items_count; i++) {
		const Item *item = &cart->items[i];
		int64_t all;
		if (__builtin_mul_overflow(item->price_minor, (int64_t)item->quantity, &all))
			all = item->price_minor;
		fill_amount(cart, all, ret->locale, ret->prices[i]);
	}
}

void mail_words_fill(const struct reminder *reminder, struct mail_words *ret)
{
	const CartState *cart = reminder->cart;
	*ret = (struct mail_words){ .reminder = reminder,
		.voice = voice_mail(reminder->speech.voice, reminder->step),
		.rtl = locale_is_rtl(reminder->speech.language),
		.pieces = cart->items_left_out };
	const struct voice *plain = voice_builtin(reminder->speech.language);
	ret->footer = ret->voice->footer ? ret->voice->footer
					 : voice_mail(plain ? plain : voice_builtin("en"), reminder->step)->footer;
	locale_canonical(cart->locale, ret->locale);
	if (!ret->locale[0])
		TEXT_COPY(ret->locale, reminder->shop->locale);
	for (pb_size_t i = 0; i < cart->items_count; i++)
		ret->pieces += cart->items[i].quantity;
	locale_number(ret->pieces, ret->locale, ret->count, sizeof(ret->count));
	fill_amount(cart, cart->total_minor, ret->locale, ret->total);
	TEXT_COPY(ret->shop, reminder->shop->title);
	if (shopper_name_may_be_mailed(cart->first_name))
		TEXT_COPY(ret->first_name, cart->first_name);
	TEXT_COPY(ret->postal_address, reminder->shop->postal_address);
	if (cart->discount_codes_count && shopper_code_may_be_mailed(cart->discount_codes[0]))
		TEXT_COPY(ret->discount_code, cart->discount_codes[0]);
	clean(ret->first_name);
	clean(ret->discount_code);
	fill_prices(cart, ret);
	fill_day(ret, VALUE_DATE, LOCALE_DATE, ret->date);
	fill_day(ret, VALUE_WEEKDAY, LOCALE_WEEKDAY, ret->weekday);
}

/* true: a letter or Arabic digit of the text runs from right to left. */
static bool has_rtl(const char *text)
{
	int32_t length = (int32_t)strlen(text), at = 0;
	while (at < length) {
		UChar32 c;
		U8_NEXT(text, at, length, c);
		UCharDirection direction = c < 0x80 ? U_LEFT_TO_RIGHT : u_charDirection(c);
		if (direction == U_RIGHT_TO_LEFT || direction == U_RIGHT_TO_LEFT_ARABIC || direction == U_ARABIC_NUMBER)
			return true;
	}
	return false;
}

void mail_words_isolate(const struct mail_words *words, const char *value, struct buffer *ret)
{
	bool other_way = *value && (words->rtl || has_rtl(value));
	buffer_add_text(ret, other_way ? "\u2068" : "");
	buffer_add_text(ret, value);
	buffer_add_text(ret, other_way ? "\u2069" : "");
}
