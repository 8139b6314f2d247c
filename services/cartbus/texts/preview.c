/*
 * preview.c: `cartbus preview`: the mail that a cart would get
 *
 * Promises:  nothing is sent and nothing is said. Without a cart the broker is not asked for anything.
 * Read next: reminder_mail.c (the mail, made and taken apart again)
 */
#include "services/cartbus/core/print.h"
#include "services/cartbus/texts/reminder_mail.h"
#include "services/cartbus/texts/subcommands.h"

#include "bus/base/cleanup.h"
#include <stdio.h>
#include <unistd.h>

static void print_header(struct bytes mime, const char *name)
{
	char value[600];

	if (mime_header(mime, name, value, sizeof(value)) == 0)
		printf("%s: %s\n", name, value);
}

static void print_mail(const struct command *command, const struct mail *mail, const char *words, bool html)
{
	_cleanup_(buffer_free) struct buffer part = { 0 };
	struct bytes mime = buffer_bytes(&mail->mime);

	if (mime_part(mime, html ? "text/html" : "text/plain", &part))
		buffer_add_text(&part, "(the mail has no such part)\n");
	if (!html) {
		print_header(mime, "Subject");
		print_header(mime, "From");
		print_header(mime, "Reply-To");
		printf("Words: %s\n\n", words);
	}
	fwrite(part.data, 1, part.len, stdout);
	if (html && isatty(STDOUT_FILENO))
		complain(command, "this is for a browser: write it to a file (--html > mail.html) and open that");
}

static void print_json(const struct mail *mail, const char *words)
{
	_cleanup_(buffer_free) struct buffer text = { 0 }, html = { 0 };
	char subject[600] = "", from[600] = "";
	struct bytes mime = buffer_bytes(&mail->mime);
	json_t *whole;

	mime_header(mime, "Subject", subject, sizeof(subject));
	mime_header(mime, "From", from, sizeof(from));
	mime_part(mime, "text/plain", &text);
	mime_part(mime, "text/html", &html);
	whole = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "message_id", mail->message_id, "subject", subject, "from", from,
		"words", words, "text", buffer_text(&text), "html", buffer_text(&html));
	json_print(whole);
	json_decref(whole);
}

static int preview(const struct command *command, const struct mail_options *options, bool html, bool eml)
{
	struct client *client = options->cart ? command_connect(command) : NULL;
	struct mail *mail = NULL;
	char words[MAIL_WORDS_ROOM];

	int failed = reminder_mail_make(command, client, options, &mail, words);
	client_free(client);
	if (failed)
		return failed;
	if (command->json)
		print_json(mail, words);
	else if (eml)
		fwrite(mail->mime.data, 1, mail->mime.len, stdout);
	else
		print_mail(command, mail, words, html);
	mail_free(mail);
	return EXIT_FINE;
}

int command_preview(struct command *command, int argc, char **argv)
{
	const char *words[2] = { NULL, NULL };
	struct mail_options options = { .step = "1" };
	bool html = false, eml = false;
	const struct take takes[] = { { "step", "1|2", "which reminder (1)", &options.step, NULL },
		{ "locale", "LOCALE", "as a shopper of this language would get it (the cart's)", &options.locale,
			NULL },
		{ "voice", "FILE", "with these words, which need not be published", &options.voice, NULL },
		{ "html", NULL, "the HTML part instead of the text", NULL, &html },
		{ "eml", NULL, "the whole mail as it would be sent", NULL, &eml }, { 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP [CART]",
			.words = words,
			.words_least = 1,
			.words_most = 2,
			.help = "Prints the mail that a cart would get now, and whose words it has; without CART, "
				"that of a sample cart. CART is as for cartbus trace.\v"
				"Examples:\n  cartbus preview demo 9f2c41\n  cartbus preview demo 9f2c41 --step 2 "
				"--html > mail.html\n  cartbus preview demo --locale pt-BR\n  cartbus preview demo "
				"--voice draft.txt" });
	options.shop = words[0];
	options.cart = words[1];
	int failed = mail_options_check(command, &options);
	return failed ? failed : preview(command, &options, html, eml);
}
