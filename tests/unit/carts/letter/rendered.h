/*
 * rendered.h: a shop, a cart of two items, and its reminder's mail as text that one can search
 */
#ifndef LETTER_RENDERED_H
#define LETTER_RENDERED_H

#include "bus/base/text.h"
#include "services/carts/letter/reminder.h"
#include "services/kit/mail/compose.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>

static struct shop shop = { .name = "demo",
	.zone = "Europe/Berlin",
	.currency = "EUR",
	.locale = "de-DE",
	.title = "Blumen Hüber",
	.url = "https://shop.example",
	.from = "Blumen Hüber <shop@shop.example>",
	.from_address = "shop@shop.example",
	.reply_to = "help@shop.example",
	.bounce = "bounce@shop.example",
	.owner = "owner@shop.example",
	.postal_address = "Blumen Hüber, Marktplatz 1, 80331 München" };

static CartState cart;

static inline void fill_cart(const char *currency, const char *locale, int64_t unit)
{
	cart = (CartState){ .items_count = 2, .total_minor = 3 * unit, .revision = 1 };
	TEXT_COPY(cart.ids.cart_id, "c1");
	TEXT_COPY(cart.ids.email, "anna@mail.example");
	TEXT_COPY(cart.currency, currency);
	TEXT_COPY(cart.locale, locale);
	cart.abandoned_us = INT64_C(1795130000000000);
	TEXT_COPY(cart.first_name, "Anna");
	TEXT_COPY(cart.recovery_url, "https://shop.example/cart/r?token=abc&key=1");
	TEXT_COPY(cart.items[0].title, "Vase");
	TEXT_COPY(cart.items[0].variant_title, "blue");
	TEXT_COPY(cart.items[0].picture, "https://cdn.example/vase.jpg");
	TEXT_COPY(cart.items[0].link, "https://shop.example/vase");
	cart.items[0].quantity = 2;
	cart.items[0].price_minor = unit;
	TEXT_COPY(cart.items[1].title, "Tulips & <b>roses</b>");
	cart.items[1].quantity = 1;
	cart.items[1].price_minor = unit;
}

static inline const struct voice *find_nothing(void *context, const char *kind)
{
	(void)context;
	(void)kind;
	return NULL;
}

static inline struct reminder reminder_of(int step)
{
	struct speech speech;
	voice_choose(cart.locale, shop.locale, find_nothing, NULL, &speech);
	return (struct reminder){ .shop = &shop,
		.speech = speech,
		.cart = &cart,
		.step = step,
		.now_us = INT64_C(1795230000000000),
		.unsubscribe_url = "https://bus.example/u/AbC-123_x",
		.to = "anna@mail.example" };
}

static inline struct mail *render(const struct reminder *reminder)
{
	struct mail *mail = NULL;
	char why[160] = "";
	if (mail_reminder(reminder, &mail, why) < 0)
		fail_msg("%s", why);
	return mail;
}

/* Quoted-printable undone over the whole message: headers survive it, and one can search for words. */
static inline char *decoded(const struct mail *mail)
{
	char *text = calloc(1, mail->mime.len + 1), *to = text;
	for (size_t i = 0; i < mail->mime.len; i++) {
		const char *at = (const char *)mail->mime.data + i;
		unsigned int byte;
		if (*at == '=' && at[1] == '\r') {
			i += 2;
		} else if (*at == '=' && strspn(at + 1, "0123456789ABCDEF") >= 2 && sscanf(at + 1, "%2X", &byte) == 1) {
			*to++ = (char)byte;
			i += 2;
		} else {
			*to++ = *at;
		}
	}
	return text;
}

static inline int occurrences(const char *text, const char *word)
{
	int count = 0;
	for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
		count++;
	return count;
}

#endif
