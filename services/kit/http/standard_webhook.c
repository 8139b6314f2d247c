/*
 * standard_webhook.c: signs the requests that we post to a webhook
 *
 * Promises:  the same id, time, body and keys give the same headers; a repeated delivery has the same id.
 */
#include "services/kit/http/standard_webhook.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/keys/hmac.h"
#include "services/kit/keys/secrets.h"
#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>

enum { KEY_LEAST = 24, KEY_MOST = 128, MAC_BASE64 = 45 };

static struct bytes without_line_end(struct bytes text)
{
	const char *at = text.data;

	while (text.len > 0 && strchr("\r\n \t", at[text.len - 1]))
		text.len--;
	return text;
}

static int decode(struct bytes base64, uint8_t ret[KEY_MOST], size_t *ret_len)
{
	uint8_t decoded[KEY_MOST + 2]; /* with the zeros that padding stands for */
	const char *at = base64.data;
	size_t padding = 0;

	if (base64.len == 0 || base64.len % 4 != 0 || base64.len / 4 * 3 > sizeof(decoded))
		return -EINVAL;
	while (padding < 2 && at[base64.len - 1 - padding] == '=')
		padding++;
	int len = EVP_DecodeBlock(decoded, base64.data, (int)base64.len);
	if (len < 0 || (size_t)len - padding > KEY_MOST)
		return -EINVAL;
	*ret_len = (size_t)len - padding;
	memcpy(ret, decoded, *ret_len);
	OPENSSL_cleanse(decoded, sizeof(decoded));
	return 0;
}

int standard_webhook_key(struct bytes text, uint8_t ret[128], size_t *ret_len)
{
	static const char prefix[] = "whsec_";
	const size_t skip = sizeof(prefix) - 1;

	text = without_line_end(text);
	if (text.len > skip && memcmp(text.data, prefix, skip) == 0) {
		int r = decode(BYTES((const char *)text.data + skip, text.len - skip), ret, ret_len);
		return r < 0 || *ret_len < KEY_LEAST ? -EINVAL : 0;
	}
	if (text.len < KEY_LEAST || text.len > KEY_MOST)
		return -EINVAL;
	memcpy(ret, text.data, text.len);
	*ret_len = text.len;
	return 0;
}

static int read_key(
	const struct config *config, const char *name, int nth, struct standard_webhook_keys *keys, char ret_why[300])
{
	_cleanup_(buffer_free_secret) struct buffer text = { 0 };
	char path[256];

	secret_path(config, name, path);
	int r = file_read_secret(path, &text);
	if ((r == -ENOENT || r == -ENODATA) && nth > 0)
		return 0;
	if (r == 0)
		r = standard_webhook_key(buffer_bytes(&text), keys->key[nth], &keys->len[nth]);
	if (r < 0)
		snprintf(ret_why, 300,
			"%s: %s: [monitor] webhook is signed with it: a file of mode 0600 with whsec_ and base64 of 24 "
			"bytes or more, and the same at the receiver; `cartbus up` makes one",
			path, strerror(-r));
	return r;
}

int standard_webhook_keys_of(const struct config *config, struct standard_webhook_keys *ret, char ret_why[300])
{
	int r = read_key(config, "alarm.webhook", 0, ret, ret_why);

	return r < 0 ? r : read_key(config, "alarm.webhook.previous", 1, ret, ret_why);
}

static void add_signature(struct buffer *ret, const uint8_t *key, size_t key_len, struct bytes signed_text)
{
	uint8_t mac[HMAC_LEN];
	char base64[MAC_BASE64];

	hmac_sha256(BYTES(key, key_len), signed_text, mac);
	EVP_EncodeBlock((unsigned char *)base64, mac, HMAC_LEN);
	buffer_printf(ret, "%sv1,%s", ret->len ? " " : "", base64);
}

int standard_webhook(struct http_request *request, const struct standard_webhook_keys *keys, const char *url,
	const char *id, int64_t now_us, struct bytes body)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	_cleanup_(buffer_free) struct buffer signatures = { 0 };
	char timestamp[24];

	snprintf(timestamp, sizeof(timestamp), "%" PRId64, now_us / US_PER_S);
	buffer_printf(&text, "%s.%s.", id, timestamp);
	buffer_add(&text, body.data, body.len);
	for (int i = 0; i < 2; i++)
		if (keys->len[i])
			add_signature(&signatures, keys->key[i], keys->len[i], buffer_bytes(&text));
	int r = http_request_init(request, "POST", "%s", url);
	if (r == 0)
		r = http_request_header(request, "Content-Type", "application/json");
	if (r == 0)
		r = http_request_header(request, "webhook-id", id);
	if (r == 0)
		r = http_request_header(request, "webhook-timestamp", timestamp);
	if (r == 0 && signatures.len)
		r = http_request_header(request, "webhook-signature", buffer_text(&signatures));
	buffer_add(&request->body, body.data, body.len);
	return r;
}
