/*
 * reminder_mail.c: a reminder that somebody wants to see or try
 *
 * Promises:  the mail is made by the function that the sender calls, from the cart as the log has it (or a sample) and the shop's
 *            files as they are now.
 * Read next: preview.c, send_test.c (who wants it), services/kit/mail/message.h
 */
#include "services/cartbus/texts/reminder_mail.h"
#include "services/cartbus/core/selection.h"
#include "services/cartbus/texts/wording.h"
#include "services/carts/letter/reminder.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/keys/keyring.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/mail/bounce_tag.h"
#include "services/kit/money/money.h"
#include "services/kit/web/signed_link.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_LEFT_US (4 * US_PER_HOUR) /* ago */

struct writing {
	const struct command *command;
	const struct mail_wish *wish;
	struct shop shop;
	CartState cart;
	struct wording wording;
};

/* ---- the cart ---- */

static void add_sample_item(
	CartState *cart, const char *title, const char *variant, uint32_t quantity, int64_t price_minor)
{
	Item *item = &cart->items[cart->items_count++];

	TEXT_COPY(item->title, title);
	TEXT_COPY(item->variant_title, variant);
	item->quantity = quantity;
	item->price_minor = price_minor;
	cart->total_minor += quantity * price_minor;
}

/* A basket as there could be one, in the shop's currency. */
static void fill_sample(const struct writing *writing, CartState *cart)
{
	const struct shop *shop = &writing->shop;
	int64_t unit = 1;

	for (int i = money_digits(shop->currency); i > 0; i--)
		unit *= 10;
	*cart = (CartState){ .has_ids = true, .revision = 1 };
	cart->abandoned_us = clock_wall_us(&writing->command->clock) - SAMPLE_LEFT_US;
	TEXT_COPY(cart->ids.cart_id, "sample");
	TEXT_COPY(cart->ids.email, "ada@shopper.example");
	TEXT_COPY(cart->ids.email_hash, "sample");
	TEXT_COPY(cart->first_name, "Ada");
	TEXT_COPY(cart->currency, shop->currency);
	snprintf(cart->recovery_url, sizeof(cart->recovery_url), "%s/cart",
		text_starts(shop->url, "https://") ? shop->url : "https://shop.example");
	cart->discount_codes_count = 1;
	TEXT_COPY(cart->discount_codes[0], "SAMPLE10");
	add_sample_item(cart, "Sample article", "blue", 2, unit * 25 - unit / 10);
	add_sample_item(cart, "Another one", "", 1, unit * 1250);
}

static int read_cart(struct client *client, struct writing *writing)
{
	const struct mail_wish *wish = writing->wish;
	struct selection *selection = selection_find(writing->command, client, wish->shop, wish->cart);
	const CartState *found = selection ? selection_cart(selection) : NULL;

	if (found)
		writing->cart = *found;
	else if (selection)
		complain(writing->command, "intake has not made a cart of \"%s\" yet", wish->cart);
	selection_free(selection);
	if (found && !writing->cart.ids.email[0] && !wish->to) {
		complain(writing->command,
			writing->cart.ids.email_unusable
				? "the storefront gave this cart an address that is no mail address: nobody to mail"
				: "the cart has no address yet: nobody to mail");
		return EXIT_NO;
	}
	return found ? EXIT_FINE : EXIT_NO;
}

/* ---- the mail ---- */

static int make_link(const struct writing *writing, char ret[700])
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	struct signed_link link = { .purpose = LINK_UNSUBSCRIBE, .step = writing->wish->step[0] - '0' };
	const char *public_url = config_get(writing->command->config, "gateway", NULL, "public-url");
	char path[PATH_ROOM], token[400];

	if (!writing->wish->cart) { /* of nobody */
		snprintf(ret, 700, "%s/u/sample", public_url);
		return EXIT_FINE;
	}
	TEXT_COPY(link.shop, writing->shop.name);
	TEXT_COPY(link.address_hash, writing->cart.ids.email_hash);
	TEXT_COPY(link.cart_id, writing->cart.ids.cart_id);
	command_secret_path(writing->command, "link.key", path);
	int failed = file_read_secret(path, &key);
	failed = failed ? failed : signed_link_make(buffer_bytes(&key), &link, token);
	if (failed) {
		complain(writing->command, "no unsubscribe link can be made with %s: %s", path, strerror(-failed));
		return EXIT_NO;
	}
	snprintf(ret, 700, "%s/u/%s", public_url, token);
	return EXIT_FINE;
}

/* As the sender names the mail. Of a cart that was made up there is nobody to keep it from. */
static int read_id_key(const struct writing *writing, struct keyring *ret)
{
	char path[256];

	if (!writing->wish->cart || writing->wish->test_id)
		return EXIT_FINE;
	int failed = keyring_read_bounce(secrets_folder(writing->command->config), ret, path);
	if (!failed)
		return EXIT_FINE;
	complain(writing->command, "the mail cannot be named with %s: %s", path, strerror(-failed));
	return EXIT_NO;
}

static int write_mail(struct writing *writing, struct mail **ret)
{
	_cleanup_(keyring_clear) struct keyring keys = { 0 };
	const struct mail_wish *wish = writing->wish;
	char link[700], why[160];
	struct reminder reminder = { .shop = &writing->shop,
		.speech = writing->wording.speech,
		.cart = &writing->cart,
		.step = wish->step[0] - '0',
		.now_us = clock_wall_us(&writing->command->clock),
		.to = wish->to ? wish->to : writing->cart.ids.email,
		.test_id = wish->test_id };

	int failed = wish->test_id ? EXIT_FINE : make_link(writing, link);
	failed = failed ? failed : read_id_key(writing, &keys);
	if (failed)
		return failed;
	reminder.id_key = buffer_bytes(&keys.current);
	reminder.unsubscribe_url = wish->test_id ? NULL : link;
	if (mail_reminder(&reminder, ret, why) == 0) {
		bounce_address_plain(writing->shop.bounce, (*ret)->envelope_from);
		return EXIT_FINE;
	}
	complain(writing->command, "no mail can be made: %s", why);
	return EXIT_NO;
}

int mail_wish_check(const struct command *command, const struct mail_wish *wish)
{
	char tag[LOCALE_ROOM];

	if (strcmp(wish->step, "1") != 0 && strcmp(wish->step, "2") != 0) {
		complain(command, "there are two reminders: --step 1 or --step 2");
		return EXIT_USAGE;
	}
	locale_canonical(wish->locale ? wish->locale : "en", tag);
	if (tag[0])
		return EXIT_FINE;
	complain(command, "\"%s\" is no language; they are written like de or pt-BR", wish->locale);
	return EXIT_USAGE;
}

/* "built in, de", "voice.fr.txt, fr", "draft.txt, de" */
static void say_words(const struct writing *writing, char ret[MAIL_WORDS_ROOM])
{
	const struct speech *speech = &writing->wording.speech;

	if (writing->wish->voice)
		snprintf(ret, MAIL_WORDS_ROOM, "%.160s, %s", writing->wish->voice, speech->language);
	else if (speech->kind[0])
		snprintf(ret, MAIL_WORDS_ROOM, "%s.txt, %s", speech->kind, speech->language);
	else
		snprintf(ret, MAIL_WORDS_ROOM, "built in, %s", speech->language);
}

int reminder_mail_make(const struct command *command, struct client *client, const struct mail_wish *wish,
	struct mail **ret, char ret_words[MAIL_WORDS_ROOM])
{
	_cleanup_free_ struct writing *writing = memory_new(sizeof(*writing));

	writing->command = command;
	writing->wish = wish;
	int failed = command_shop(command, wish->shop, &writing->shop);
	if (failed == EXIT_FINE && wish->cart)
		failed = read_cart(client, writing);
	else if (failed == EXIT_FINE)
		fill_sample(writing, &writing->cart);
	if (failed)
		return failed;
	if (wish->locale)
		locale_canonical(wish->locale, writing->cart.locale);
	failed = wording_choose(command, &writing->shop, writing->cart.locale, wish->voice, &writing->wording);
	failed = failed ? failed : write_mail(writing, ret);
	if (!failed && ret_words)
		say_words(writing, ret_words);
	wording_end(&writing->wording);
	return failed;
}
