/*
 * webhook.c: `cartbus webhook send`: a signed sample, as a storefront would post it
 *
 * Promises:  the sample is marked as a test, so no shopper is ever mailed for it; the secret is read from its file and goes
 *            nowhere but into the signature.
 * Read next: services/kit/endpoint/signature.h, services/kit/storefront/generic.c
 */
#include "services/cartbus/core/post.h"
#include "services/cartbus/shops/subcommands.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/keys/hmac.h"
#include <errno.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_BYTES_MAX = 1 << 20 };

struct sample {
	const struct command *command;
	const char *shop, *platform, *topic, *email, *file;
	struct shop conf;
	char id[33], own_email[64]; /* of this sample alone: an order stops what was left by the same address */
	struct buffer body, secret, headers;
};

/* "2026-11-20T14:05:03Z" */
static void moment(const struct sample *sample, char ret[32])
{
	time_t now = (time_t)(clock_wall_us(&sample->command->clock) / US_PER_S);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* A number as the platforms use for ids, of this sample alone: carts that share one are the same cart. */
static unsigned long long sample_number(const struct sample *sample)
{
	char digits[12];

	TEXT_COPY(digits, sample->id);
	return strtoull(digits, NULL, 16);
}

static void write_shopify(struct sample *sample, const char *now)
{
	buffer_printf(&sample->body,
		"{\"id\":%llu,\"token\":\"sample-%s\",\"cart_token\":\"sample-cart-%s\",\"email\":\"%s\","
		"\"created_at\":\"%s\",\"updated_at\":\"%s\",\"completed_at\":null,\"currency\":\"%s\","
		"\"presentment_currency\":\"%s\",\"customer_locale\":\"%s\",\"buyer_accepts_marketing\":true,"
		"\"test\":true,\"abandoned_checkout_url\":\"%s/recover?key=sample\",\"discount_codes\":[],"
		"\"note_attributes\":[],\"shipping_address\":null,\"customer\":null,\"total_price\":\"64\","
		"\"line_items\":[{\"title\":\"Sample\",\"variant_title\":null,\"sku\":\"SAMPLE\",\"product_id\":1,"
		"\"variant_id\":2,\"quantity\":2,\"price\":\"32\",\"line_price\":\"64\"}]}",
		sample_number(sample), sample->id, sample->id, sample->email, now, now, sample->conf.currency,
		sample->conf.currency, sample->conf.locale, sample->conf.url);
}

static void write_woocommerce(struct sample *sample, const char *now)
{
	buffer_printf(&sample->body,
		"{\"id\":%llu,\"status\":\"processing\",\"currency\":\"%s\",\"total\":\"29\",\"customer_id\":0,"
		"\"date_created_gmt\":\"%.19s\",\"date_paid_gmt\":\"%.19s\",\"billing\":{\"email\":\"%s\"},"
		"\"meta_data\":[{\"id\":1,\"key\":\"_cartbus_cart\",\"value\":\"sample-%s\"}],\"line_items\":[]}",
		sample_number(sample), sample->conf.currency, now, now, sample->email, sample->id);
}

static void write_generic(struct sample *sample, const char *now)
{
	buffer_printf(&sample->body,
		"{\"id\":\"%s\",\"event\":\"changed\",\"cart\":\"sample-%s\",\"at\":\"%s\",\"email\":\"%s\",\"locale\":"
		"\"%s\",\"consent\":true,\"currency\":\"%s\",\"total\":\"64\",\"recovery_url\":\"%s/cart\","
		"\"items\":[{\"title\":\"Sample\",\"sku\":\"SAMPLE\",\"quantity\":2,\"price\":\"32\"}],\"test\":true}",
		sample->id, sample->id, now, sample->email, sample->conf.locale, sample->conf.currency,
		sample->conf.url);
}

static void sign(const struct sample *sample, const char *stamp, bool hex, char ret[80])
{
	_cleanup_(buffer_free) struct buffer covered = { 0 };
	uint8_t mac[HMAC_LEN];

	if (stamp)
		buffer_printf(&covered, "%s.", stamp);
	buffer_add(&covered, sample->body.data, sample->body.len);
	hmac_sha256(buffer_bytes(&sample->secret), buffer_bytes(&covered), mac);
	if (hex)
		text_hex(mac, HMAC_LEN, ret);
	else
		EVP_EncodeBlock((unsigned char *)ret, mac, HMAC_LEN);
}

static void prepare_shopify(struct sample *sample, const char *now)
{
	char signature[80];

	if (!sample->body.len)
		write_shopify(sample, now);
	sign(sample, NULL, false, signature);
	buffer_printf(&sample->headers,
		"X-Shopify-Topic: %s\r\nX-Shopify-Hmac-Sha256: %s\r\nX-Shopify-Shop-Domain: sample.myshopify.com\r\n"
		"X-Shopify-Webhook-Id: %s\r\nX-Shopify-Event-Id: %s\r\nX-Shopify-Triggered-At: %s\r\n",
		sample->topic ? sample->topic : "checkouts/update", signature, sample->id, sample->id, now);
}

static void prepare_woocommerce(struct sample *sample, const char *now)
{
	const char *topic = sample->topic ? sample->topic : "order.created";
	char signature[80];

	if (!sample->body.len)
		write_woocommerce(sample, now);
	sign(sample, NULL, false, signature);
	buffer_printf(&sample->headers,
		"X-WC-Webhook-Topic: %s\r\nX-WC-Webhook-Signature: %s\r\nX-WC-Webhook-ID: 1\r\nX-WC-Webhook-Resource: "
		"order\r\nX-WC-Webhook-Delivery-ID: %s\r\nX-WC-Webhook-Source: https://sample.example/\r\n",
		topic, signature, sample->id);
}

static void prepare_generic(struct sample *sample, const char *now)
{
	char signature[80], stamp[24];

	if (!sample->body.len)
		write_generic(sample, now);
	snprintf(stamp, sizeof(stamp), "%lld", (long long)(clock_wall_us(&sample->command->clock) / US_PER_S));
	sign(sample, stamp, true, signature);
	buffer_printf(&sample->headers, "X-Cartbus-Timestamp: %s\r\nX-Cartbus-Signature: %s\r\n", stamp, signature);
}

static int read_secret(struct sample *sample)
{
	char name[80], path[PATH_ROOM];
	int failed;

	snprintf(name, sizeof(name), "webhook/%s", sample->shop);
	command_secret_path(sample->command, name, path);
	failed = file_read_secret(path, &sample->secret);
	if (!failed)
		return EXIT_FINE;
	complain(sample->command, "cannot read the secret %s: %s", path, strerror(-failed));
	return EXIT_NO;
}

static int read_body(struct sample *sample, const char *file)
{
	int failed = file ? file_read(file, BODY_BYTES_MAX, &sample->body) : 0;

	if (!failed)
		return EXIT_FINE;
	complain(sample->command, "%s: %s", file, strerror(-failed));
	return EXIT_NO;
}

/* A webhook that was refused, or that means nothing, is answered 200 as well: to repeat it would not help. */
static bool was_accepted(int status, const struct buffer *answer)
{
	json_t *said = json_loadb(answer->data ? (const char *)answer->data : "", answer->len, 0, NULL);
	bool accepted = status == 200 && !json_object_get(said, "error") && !json_object_get(said, "ignored");

	json_decref(said);
	return accepted;
}

static int print_answer(const struct sample *sample, int status, const struct buffer *answer)
{
	const struct command *command = sample->command;

	if (status < 0) {
		complain(command, "the gateway at %s:%s does not answer: %s; is `cartbus up` running?",
			config_get(command->config, "gateway", NULL, "listen"),
			config_get(command->config, "gateway", NULL, "port"), strerror(-status));
		return EXIT_AWAY;
	}
	bool accepted = was_accepted(status, answer);
	if (command->json)
		printf("{\"status\":%d,\"accepted\":%s,\"id\":\"%s\",\"cart\":\"sample-%s\"}\n", status,
			accepted ? "true" : "false", sample->id, sample->id);
	else
		printf("%d %.*s\n", status, (int)answer->len, answer->len ? (const char *)answer->data : "");
	if (!command->json && accepted && !sample->file)
		printf("see it with: cartbus trace %s sample-%s\n", sample->shop, sample->id);
	return accepted ? EXIT_FINE : EXIT_NO;
}

static int send_sample(struct sample *sample, const char *platform)
{
	_cleanup_(buffer_free) struct buffer answer = { 0 };
	const char *listen = config_get(sample->command->config, "gateway", NULL, "listen");
	char path[128], now[32];

	moment(sample, now);
	text_random_name(sample->id);
	if (!sample->email) {
		snprintf(sample->own_email, sizeof(sample->own_email), "sample-%s@example.com", sample->id);
		sample->email = sample->own_email;
	}
	if (strcmp(platform, "shopify") == 0)
		prepare_shopify(sample, now);
	else if (strcmp(platform, "woocommerce") == 0)
		prepare_woocommerce(sample, now);
	else
		prepare_generic(sample, now);
	buffer_add_text(&sample->headers, "Content-Type: application/json\r\n");
	snprintf(path, sizeof(path), "/hooks/%s/%s", sample->shop, platform);
	return print_answer(sample,
		post_send(&(struct post){ .host = strcmp(listen, "0.0.0.0") == 0 ? "127.0.0.1" : listen,
				  .port = config_get(sample->command->config, "gateway", NULL, "port"),
				  .path = path,
				  .headers = buffer_text(&sample->headers),
				  .body = buffer_bytes(&sample->body) },
			&answer),
		&answer);
}

int command_webhook_send(struct command *command, int argc, char **argv)
{
	const char *platform = "cart";
	struct sample sample = { .command = command };
	const struct take takes[] = { { "as", "PLATFORM", "shopify, woocommerce or cart (cart)", &platform, NULL },
		{ "topic", "TOPIC", "the platform's topic", &sample.topic, NULL },
		{ "email", "ADDRESS", "the sample shopper; one of its own if not given", &sample.email, NULL },
		{ "file", "FILE", "a body of your own instead of the sample", &sample.file, NULL }, { 0 } };
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP",
			.words = &sample.shop,
			.words_least = 1,
			.words_most = 1,
			.help = "Posts a webhook to the gateway of this machine, signed with the shop's secret. The "
				"sample is marked as "
				"a test: nobody is mailed for it.\v"
				"Examples:\n  cartbus webhook send demo --as shopify\n"
				"  cartbus webhook send demo --as shopify --topic orders/create --file order.json" });
	if (strcmp(platform, "shopify") != 0 && strcmp(platform, "woocommerce") != 0 && strcmp(platform, "cart") != 0) {
		complain(command, "--as takes shopify, woocommerce or cart; not \"%s\"", platform);
		return EXIT_USAGE;
	}
	ended = command_shop(command, sample.shop, &sample.conf);
	ended = ended ? ended : read_secret(&sample);
	ended = ended ? ended : read_body(&sample, sample.file);
	ended = ended ? ended : send_sample(&sample, platform);
	buffer_free(&sample.body);
	buffer_free(&sample.headers);
	if (sample.secret.data)
		OPENSSL_cleanse(sample.secret.data, sample.secret.len);
	buffer_free(&sample.secret);
	return ended;
}
