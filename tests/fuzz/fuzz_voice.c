/*
 * fuzz_voice.c: any text is a voice or is refused with its place; what is a voice makes a mail of a cart that was made to break it
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/carts/letter/reminder.h"
#include "services/kit/mail/compose.h"
#include "tests/fuzz/fuzz.h"

#define HTML_PART "\r\nContent-Type: text/html; charset=utf-8" /* no body has it: its "=" is "=3D" */

static struct shop shop = { .name = "demo",
	.zone = "Europe/Berlin",
	.currency = "EUR",
	.locale = "de-DE",
	.title = "A & <b>",
	.url = "https://shop.example",
	.from = "a@shop.example",
	.from_address = "a@shop.example",
	.reply_to = "a@shop.example",
	.bounce = "a@shop.example" };

static void fill_cart(CartState *cart)
{
	*cart = (CartState){ .items_count = 1, .total_minor = 1234, .abandoned_us = 1795130000000000 };
	TEXT_COPY(cart->ids.cart_id, "c1");
	TEXT_COPY(cart->ids.email, "ada@mail.example");
	TEXT_COPY(cart->currency, "EUR");
	TEXT_COPY(cart->recovery_url, "https://shop.example/cart");
	TEXT_COPY(cart->items[0].title, "\r\n.\r\n{items} \xff\xfe<script>");
	cart->items[0].quantity = 3;
	cart->items[0].price_minor = 411;
}

static void make_mail(const struct voice *voice, const char *language, int step)
{
	static CartState cart;
	struct mail *mail = NULL;
	char why[160];
	struct reminder reminder = { .shop = &shop,
		.speech = { .voice = voice },
		.cart = &cart,
		.step = step,
		.unsubscribe_url = "https://bus.example/u/x",
		.to = "ada@mail.example" };

	fill_cart(&cart);
	TEXT_COPY(cart.locale, language);
	TEXT_COPY(reminder.speech.language, language);
	if (mail_reminder(&reminder, &mail, why) == 0) {
		const char *mime = buffer_text(&mail->mime), *html = strstr(mime, HTML_PART);
		MUST(mail_lines_valid(buffer_bytes(&mail->mime)));
		MUST(html && !strstr(html, "href=3D\"http:") && !strstr(html, "<script"));
	}
	mail_free(mail);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_free_ char *text = memory_copy(BYTES(data, len));
	struct voice *voice = NULL;
	struct text_error error = { 0 };
	if (voice_parse(text, &voice, &error)) {
		MUST(error.line >= 1 && error.column >= 1 && *error.text);
		return 0;
	}
	if (voice_check_links(voice, &shop, &error))
		MUST(error.line >= 1 && error.column >= 1 && *error.text);
	for (int step = 1; step <= 2; step++) {
		MUST(voice_mail(voice, step) && voice_mail(voice, step)->subject && voice_mail(voice, step)->body);
		make_mail(voice, "de", step);
		make_mail(voice, "ar-EG", step);
	}
	voice_free(voice);
	return 0;
}
