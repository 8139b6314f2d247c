/*
 * preview.c: `cartbus preview`: the mail that a cart would get
 *
 * Promises:  the mail is made by the function that the sender calls, from the cart as the log has it and the shop's files as they
 *            are now; nothing is sent and nothing is said.
 * Read next: services/kit/mail.h, mime.c (taking the mail apart again)
 */
#include "services/cartbus/mime.h"
#include "services/cartbus/print.h"
#include "services/cartbus/selection.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "services/kit/mail.h"
#include "services/kit/signed_link.h"
#include "services/kit/voice.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct previewing {
	const struct command *command;
	struct shop shop;
	struct voice *voice;
	int step;
	bool html;
};

static int read_voice(struct previewing *previewing)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct voice_error error = { 0 };
	char path[PATH_ROOM];

	command_shop_path(previewing->command, previewing->shop.name, "voice.txt", path);
	if (file_read(path, 1 << 20, &text))
		return EXIT_FINE; /* the built-in voice */
	if (voice_parse(buffer_text(&text), &previewing->voice, &error) == 0)
		return EXIT_FINE;
	complain(previewing->command, "%s: %s", path, error.text);
	return EXIT_NO;
}

static int make_link(const struct previewing *previewing, const CartState *cart, char ret[700])
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	struct signed_link link = { .purpose = LINK_UNSUBSCRIBE, .step = previewing->step };
	char path[PATH_ROOM], token[400];
	int failed;

	snprintf(link.shop, sizeof(link.shop), "%s", previewing->shop.name);
	snprintf(link.address_hash, sizeof(link.address_hash), "%s", cart->ids.email_hash);
	snprintf(link.cart_id, sizeof(link.cart_id), "%s", cart->ids.cart_id);
	command_secret_path(previewing->command, "link.key", path);
	failed = file_read_secret(path, &key);
	failed = failed ? failed : signed_link_make(buffer_bytes(&key), &link, token);
	if (failed) {
		complain(previewing->command, "no unsubscribe link can be made with %s: %s", path, strerror(-failed));
		return EXIT_NO;
	}
	snprintf(ret, 700, "%s/u/%s", config_get(previewing->command->config, "gateway", NULL, "public-url"), token);
	return EXIT_FINE;
}

static void print_mail(const struct previewing *previewing, const struct mail *mail)
{
	_cleanup_(buffer_free) struct buffer part = { 0 };
	struct bytes mime = buffer_bytes(&mail->mime);
	char subject[600];

	if (mime_part(mime, previewing->html ? "text/html" : "text/plain", &part))
		buffer_add_text(&part, "(the mail has no such part)\n");
	if (!previewing->html && mime_header(mime, "Subject", subject, sizeof(subject)) == 0)
		printf("Subject: %s\n\n", subject);
	fwrite(part.data, 1, part.len, stdout);
}

static void print_json(const struct mail *mail)
{
	_cleanup_(buffer_free) struct buffer text = { 0 }, html = { 0 };
	char subject[600] = "";
	struct bytes mime = buffer_bytes(&mail->mime);
	json_t *whole;

	mime_header(mime, "Subject", subject, sizeof(subject));
	mime_part(mime, "text/plain", &text);
	mime_part(mime, "text/html", &html);
	whole = json_pack("{s:s,s:s,s:s,s:s}", "message_id", mail->message_id, "subject", subject, "text",
		buffer_text(&text), "html", buffer_text(&html));
	json_print(whole);
	json_decref(whole);
}

static int render(const struct previewing *previewing, const CartState *cart)
{
	struct reminder reminder = { .shop = &previewing->shop,
		.voice = previewing->voice ? previewing->voice : voice_builtin(),
		.cart = cart,
		.step = previewing->step,
		.now_us = clock_wall_us(&previewing->command->clock),
		.to = cart->ids.email };
	struct mail *mail = NULL;
	char link[700], why[160];
	int failed;

	if (!cart->ids.email[0]) {
		complain(previewing->command, "the cart has no address yet: nobody to mail");
		return EXIT_NO;
	}
	failed = make_link(previewing, cart, link);
	if (failed)
		return failed;
	reminder.unsubscribe_url = link;
	if (mail_reminder(&reminder, &mail, why)) {
		complain(previewing->command, "no mail can be made: %s", why);
		return EXIT_NO;
	}
	if (previewing->command->json)
		print_json(mail);
	else
		print_mail(previewing, mail);
	mail_free(mail);
	return EXIT_FINE;
}

static int preview(struct previewing *previewing, const char *cart)
{
	struct client *client = command_connect(previewing->command);
	struct selection *selection = selection_find(previewing->command, client, previewing->shop.name, cart);
	int ended = EXIT_NO;

	if (selection && selection_cart(selection))
		ended = render(previewing, selection_cart(selection));
	else if (selection)
		complain(previewing->command, "intake has not made a cart of \"%s\" yet", cart);
	selection_free(selection);
	client_free(client);
	return ended;
}

int command_preview(struct command *command, int argc, char **argv)
{
	const char *words[2], *step = "1";
	struct previewing previewing = { .command = command };
	const struct take takes[] = { { "step", "1|2", "which reminder (1)", &step, NULL },
		{ "html", NULL, "the HTML part instead of the text", NULL, &previewing.html }, { 0 } };
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP CART",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Prints the mail that a cart would get now. CART is as for cartbus trace.\v"
				"Examples:\n  cartbus preview demo 9f2c41\n  cartbus preview demo 9f2c41 --step 2 "
				"--html > mail.html" });
	if (strcmp(step, "1") != 0 && strcmp(step, "2") != 0) {
		complain(command, "there are two reminders: --step 1 or --step 2");
		return EXIT_USAGE;
	}
	previewing.step = step[0] - '0';
	failed = command_shop(command, words[0], &previewing.shop);
	failed = failed ? failed : read_voice(&previewing);
	failed = failed ? failed : preview(&previewing, words[1]);
	voice_free(previewing.voice);
	return failed;
}
