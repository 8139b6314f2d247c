/*
 * reminder_mail.c: makes a reminder for a command that shows or tries it, and takes it apart again
 *
 * Promises:  the mail is made by the function that the sender calls, from the cart as the log has it (or a sample) and the shop's
 *            files as they are now. Words are chosen as the services do (voice_choose), from the same files that the mirror reads.
 * Read next: preview.c, send_test.c (who wants it), services/kit/mail/message.h
 */
#include "services/cartbus/texts/reminder_mail.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/selection.h"
#include "services/carts/letter/reminder.h"
#include "services/carts/letter/voice.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/keys/keyring.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/mail/bounce_tag.h"
#include "services/kit/money/money.h"
#include "services/kit/web/signed_link.h"
#include <errno.h>
#include <gmime/gmime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the words of a mail as the owner's files have them now ---- */

struct wording {
	struct speech speech;
	struct voice *parsed; /* what the speech borrows from; NULL: built in */
};

struct choosing {
	const struct command *command;
	const struct shop *shop;
	struct wording *wording;
	int failed;
};

/* EXIT_NO: it complained. Not there, or not the owner's own: nothing is read. */
static int read_own(const struct command *command, const struct shop *shop, const char *path, struct voice **ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct text_error error = { 0 };
	char why[OWNER_TEXT_WHY];

	int failed = owner_text_read(path, voice_document.bytes_max, &text, why);
	if (failed && failed != -ENOENT)
		complain(command, "%s %s", path, why);
	if (failed)
		return failed == -ENOENT ? EXIT_FINE : EXIT_NO;
	if (!voice_is_own(buffer_text(&text)) ||
		(voice_parse(buffer_text(&text), ret, &error) == 0 && voice_check_links(*ret, shop, &error) == 0))
		return EXIT_FINE;
	complain(command, "%s: %s", path, error.text);
	return EXIT_NO;
}

static const struct voice *find_voice(void *context, const char *kind)
{
	struct choosing *choosing = context;
	char file[VOICE_KIND_ROOM + 8], path[PATH_ROOM];

	snprintf(file, sizeof(file), "%s.txt", kind);
	command_shop_path(choosing->command, choosing->shop->name, file, path);
	if (choosing->failed == EXIT_FINE)
		choosing->failed = read_own(choosing->command, choosing->shop, path, &choosing->wording->parsed);
	return choosing->wording->parsed;
}

/* The language of a draft: its name's, else the one asked for, else the shop's. */
static void draft_language(const char *path, const char *locale, const struct shop *shop, char ret[LOCALE_ROOM])
{
	const char *name = strrchr(path, '/');
	char kind[VOICE_KIND_ROOM], why[160];

	if (voice_kind_of_file(name ? name + 1 : path, kind) && strcmp(kind, "voice") != 0 &&
		voice_kind_valid(kind, why)) {
		text_copy(ret, LOCALE_ROOM, kind + strlen("voice."));
		return;
	}
	locale_canonical(locale, ret);
	if (!ret[0])
		text_copy(ret, LOCALE_ROOM, shop->locale);
}

static int use_draft(const struct command *command, const struct shop *shop, const char *locale, const char *path,
	struct wording *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct text_error error = { 0 };
	char why[OWNER_TEXT_WHY];

	if (owner_text_read(path, voice_document.bytes_max, &text, why)) {
		complain(command, "%s %s", path, why);
		return EXIT_NO;
	}
	if (voice_parse(buffer_text(&text), &ret->parsed, &error) || voice_check_links(ret->parsed, shop, &error)) {
		complain(command, "%s: %s", path, error.text);
		return EXIT_NO;
	}
	ret->speech.voice = ret->parsed;
	draft_language(path, locale, shop, ret->speech.language);
	TEXT_COPY(ret->speech.kind, "draft");
	return EXIT_FINE;
}

/* As a shopper with this locale ("": unknown) would get them. `file`: a voice that is not published, instead; or NULL. Complains. */
static int wording_choose(const struct command *command, const struct shop *shop, const char *locale, const char *file,
	struct wording *ret)
{
	struct choosing choosing = { .command = command, .shop = shop, .wording = ret };

	*ret = (struct wording){ 0 };
	if (file)
		return use_draft(command, shop, locale, file, ret);
	voice_choose(locale, shop->locale, find_voice, &choosing, &ret->speech);
	return choosing.failed;
}

static void wording_end(struct wording *wording)
{
	voice_free(wording->parsed);
	wording->parsed = NULL;
}

/* ---- the mail ---- */

#define SAMPLE_LEFT_US (4 * US_PER_HOUR) /* ago */

struct writing {
	const struct command *command;
	const struct mail_options *options;
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
	const struct mail_options *options = writing->options;
	struct selection *selection = selection_find(writing->command, client, options->shop, options->cart);
	const CartState *found = selection ? selection_cart(selection) : NULL;

	if (found)
		writing->cart = *found;
	else if (selection)
		complain(writing->command, "intake has not made a cart of \"%s\" yet", options->cart);
	selection_free(selection);
	if (found && !writing->cart.ids.email[0] && !options->to) {
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
	struct signed_link link = { .purpose = LINK_UNSUBSCRIBE, .step = writing->options->step[0] - '0' };
	const char *public_url = config_get(writing->command->config, "gateway", NULL, "public-url");
	char path[PATH_ROOM], token[400];

	if (!writing->options->cart) { /* of nobody */
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

/* Reads the key by which the sender names the mail. The id of a made-up cart need not be kept from anyone. */
static int read_id_key(const struct writing *writing, struct keyring *ret)
{
	char path[256];

	if (!writing->options->cart || writing->options->test_id)
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
	const struct mail_options *options = writing->options;
	char link[700], why[160];
	struct reminder reminder = { .shop = &writing->shop,
		.speech = writing->wording.speech,
		.cart = &writing->cart,
		.step = options->step[0] - '0',
		.now_us = clock_wall_us(&writing->command->clock),
		.to = options->to ? options->to : writing->cart.ids.email,
		.test_id = options->test_id };

	int failed = options->test_id ? EXIT_FINE : make_link(writing, link);
	failed = failed ? failed : read_id_key(writing, &keys);
	if (failed)
		return failed;
	reminder.id_key = buffer_bytes(&keys.current);
	reminder.unsubscribe_url = options->test_id ? NULL : link;
	if (mail_reminder(&reminder, ret, why) == 0) {
		bounce_address_plain(writing->shop.bounce, (*ret)->envelope_from);
		return EXIT_FINE;
	}
	complain(writing->command, "no mail can be made: %s", why);
	return EXIT_NO;
}

int mail_options_check(const struct command *command, const struct mail_options *options)
{
	char tag[LOCALE_ROOM];

	if (strcmp(options->step, "1") != 0 && strcmp(options->step, "2") != 0) {
		complain(command, "there are two reminders: --step 1 or --step 2");
		return EXIT_USAGE;
	}
	locale_canonical(options->locale ? options->locale : "en", tag);
	if (tag[0])
		return EXIT_FINE;
	complain(command, "\"%s\" is no language; they are written like de or pt-BR", options->locale);
	return EXIT_USAGE;
}

/* "built in, de", "voice.fr.txt, fr", "draft.txt, de" */
static void say_words(const struct writing *writing, char ret[MAIL_WORDS_ROOM])
{
	const struct speech *speech = &writing->wording.speech;

	if (writing->options->voice)
		snprintf(ret, MAIL_WORDS_ROOM, "%.160s, %s", writing->options->voice, speech->language);
	else if (speech->kind[0])
		snprintf(ret, MAIL_WORDS_ROOM, "%s.txt, %s", speech->kind, speech->language);
	else
		snprintf(ret, MAIL_WORDS_ROOM, "built in, %s", speech->language);
}

int reminder_mail_make(const struct command *command, struct client *client, const struct mail_options *options,
	struct mail **ret, char ret_words[MAIL_WORDS_ROOM])
{
	_cleanup_free_ struct writing *writing = memory_new(sizeof(*writing));

	writing->command = command;
	writing->options = options;
	int failed = command_shop(command, options->shop, &writing->shop);
	if (failed == EXIT_FINE && options->cart)
		failed = read_cart(client, writing);
	else if (failed == EXIT_FINE)
		fill_sample(writing, &writing->cart);
	if (failed)
		return failed;
	if (options->locale)
		locale_canonical(options->locale, writing->cart.locale);
	failed = wording_choose(command, &writing->shop, writing->cart.locale, options->voice, &writing->wording);
	failed = failed ? failed : write_mail(writing, ret);
	if (!failed && ret_words)
		say_words(writing, ret_words);
	wording_end(&writing->wording);
	return failed;
}

/* ---- takes a mail of ours apart again ---- */

/* NULL: it is no mail. */
static GMimeMessage *message_of(struct bytes mime)
{
	GMimeStream *stream;
	GMimeParser *parser;
	GMimeMessage *message;

	g_mime_init(); /* it counts its calls, and does something at the first */
	stream = g_mime_stream_mem_new_with_buffer(mime.data, mime.len);
	parser = g_mime_parser_new_with_stream(stream);
	message = g_mime_parser_construct_message(parser, NULL);
	g_object_unref(parser);
	g_object_unref(stream);
	return message;
}

/* A mail's lines end with CRLF, a reader's with LF. */
static void add_content(GMimePart *part, struct buffer *ret)
{
	GMimeStream *decoded = g_mime_stream_mem_new(), *lines = g_mime_stream_filter_new(decoded);
	GMimeFilter *ends = g_mime_filter_dos2unix_new(false);
	const GByteArray *bytes;

	g_mime_stream_filter_add(GMIME_STREAM_FILTER(lines), ends);
	g_mime_data_wrapper_write_to_stream(g_mime_part_get_content(part), lines);
	g_mime_stream_flush(lines);
	bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(decoded));
	buffer_add(ret, bytes->data, bytes->len);
	g_object_unref(ends);
	g_object_unref(lines);
	g_object_unref(decoded);
}

static int add_part(GMimeMessage *message, const char *type, struct buffer *ret)
{
	GMimePartIter *parts = g_mime_part_iter_new(GMIME_OBJECT(message));
	int found = -ENOENT;

	for (bool more = g_mime_part_iter_is_valid(parts); more && found; more = g_mime_part_iter_next(parts)) {
		GMimeObject *part = g_mime_part_iter_get_current(parts);
		char *its = g_mime_content_type_get_mime_type(g_mime_object_get_content_type(part));

		if (GMIME_IS_PART(part) && g_mime_part_get_content(GMIME_PART(part)) &&
			g_ascii_strcasecmp(its, type) == 0) {
			add_content(GMIME_PART(part), ret);
			found = 0;
		}
		g_free(its);
	}
	g_mime_part_iter_free(parts);
	return found;
}

int mime_part(struct bytes mime, const char *type, struct buffer *ret)
{
	GMimeMessage *message = message_of(mime);
	int found = message ? add_part(message, type, ret) : -ENOENT;

	if (message)
		g_object_unref(message);
	return found;
}

static void print_decoded(const char *raw, char *ret, size_t room)
{
	char *unfolded = g_mime_utils_header_unfold(raw);
	char *decoded = g_mime_utils_header_decode_text(NULL, unfolded);

	snprintf(ret, room, "%s", decoded + strspn(decoded, " "));
	g_free(decoded);
	g_free(unfolded);
}

int mime_header(struct bytes mime, const char *name, char *ret, size_t room)
{
	GMimeMessage *message = message_of(mime);
	GMimeHeader *header = message
		? g_mime_header_list_get_header(g_mime_object_get_header_list(GMIME_OBJECT(message)), name)
		: NULL;

	if (header)
		print_decoded(g_mime_header_get_raw_value(header), ret, room);
	if (message)
		g_object_unref(message);
	return header ? 0 : -ENOENT;
}
