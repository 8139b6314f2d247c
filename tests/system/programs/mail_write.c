/*
 * mail_write.c: a reminder's mail from any cart, by the functions that the sender calls
 *
 * `cartbus-test-mail SHOP.CONF STEP [VOICE LANGUAGE]` reads an encoded CartState from stdin and writes the mail; without a voice
 * the built-in one of the cart's language. With exit 1 it says on stderr why no mail can be made of it.
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/carts/letter/reminder.h"
#include <pb_decode.h>

enum { CART_BYTES_MAX = 1 << 20 };

static struct voice *written;

static const struct voice *find_written(void *context, const char *kind)
{
	(void)context;
	return strcmp(kind, "voice") == 0 ? written : NULL;
}

static void read_shop(const char *path, struct shop *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error = { "" };

	if (file_read(path, CART_BYTES_MAX, &text) < 0 || shop_parse(buffer_text(&text), "demo", path, ret, &error) < 0)
		die("%s: %s", path, error.text);
}

static void read_voice(const char *path)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct text_error error = { 0 };

	if (file_read(path, CART_BYTES_MAX, &text) < 0 || voice_parse(buffer_text(&text), &written, &error) < 0)
		die("%s: %s", path, error.text);
}

static void read_cart(CartState *ret)
{
	static uint8_t bytes[CART_BYTES_MAX];
	pb_istream_t stream = pb_istream_from_buffer(bytes, fread(bytes, 1, sizeof(bytes), stdin));

	if (!pb_decode(&stream, CartState_fields, ret))
		die("no cart: %s", PB_GET_ERROR(&stream));
}

int main(int argc, char **argv)
{
	static CartState cart;
	struct shop shop;
	struct speech speech;
	struct mail *mail = NULL;
	char why[160];

	if (argc != 3 && argc != 5)
		die("expected SHOP.CONF STEP [VOICE LANGUAGE]");
	read_shop(argv[1], &shop);
	if (argc == 5) {
		read_voice(argv[3]);
		TEXT_COPY(shop.locale, argv[4]);
	}
	read_cart(&cart);
	voice_choose(cart.locale, shop.locale, find_written, NULL, &speech);
	if (mail_reminder(&(struct reminder){ .shop = &shop,
				  .speech = speech,
				  .cart = &cart,
				  .step = argv[2][0] - '0',
				  .now_us = cart.abandoned_us,
				  .unsubscribe_url = "https://carts.example/u/AbC-123_x",
				  .to = cart.ids.email },
		    &mail, why) < 0) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	fwrite(mail->mime.data, 1, mail->mime.len, stdout);
	mail_free(mail);
	voice_free(written);
	return 0;
}
