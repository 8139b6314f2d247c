/*
 * signed_token.c: makes and reads tokens: a few fields with a MAC, as one word for a URL
 *
 * Promises:  a set of fields has one token. The caller gets no field before the MAC is verified.
 * Fails by:  -EBADMSG, -EKEYREJECTED; it logs and returns no other reason.
 */
#include "services/kit/keys/signed_token.h"
#include "bus/base/cleanup.h"
#include "services/kit/keys/hmac.h"
#include <errno.h>
#include <openssl/crypto.h>

enum { RAW_MAX = SIGNED_TOKEN_MAX * 3 / 4 - 1 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void mac_of(struct bytes key, const char *purpose, struct bytes over, uint8_t ret[HMAC_LEN])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };

	buffer_add(&text, purpose, strlen(purpose) + 1);
	buffer_add(&text, over.data, over.len);
	hmac_sha256(key, buffer_bytes(&text), ret);
}

void signed_token_key_id(struct bytes key, const char *purpose, uint8_t ret[SIGNED_TOKEN_KEY_ID])
{
	uint8_t mac[HMAC_LEN];

	mac_of(key, purpose, BYTES("", 0), mac);
	memcpy(ret, mac, SIGNED_TOKEN_KEY_ID);
}

void signed_token_add_text(struct buffer *fields, const char *text)
{
	uint8_t len = (uint8_t)strnlen(text, UINT8_MAX);

	buffer_add(fields, &len, 1);
	buffer_add(fields, text, len);
}

int signed_token_take_text(struct bytes *rest, char *to, size_t room)
{
	const uint8_t *at = rest->data;

	if (rest->len < 1 || at[0] > rest->len - 1 || at[0] >= room || memchr(at + 1, '\0', at[0]))
		return -EBADMSG;
	memcpy(to, at + 1, at[0]);
	to[at[0]] = '\0';
	*rest = BYTES(at + 1 + at[0], rest->len - 1 - at[0]);
	return 0;
}

static void encode(struct bytes raw, char *to)
{
	const uint8_t *in = raw.data;
	uint32_t bits = 0;
	int held = 0;

	for (size_t i = 0; i < raw.len; i++) {
		bits = bits << 8 | in[i];
		for (held += 8; held >= 6; held -= 6)
			*to++ = alphabet[bits >> (held - 6) & 63];
	}
	if (held)
		*to++ = alphabet[bits << (6 - held) & 63];
	*to = '\0';
}

static int decode(const char *token, struct buffer *ret)
{
	uint32_t bits = 0;
	int held = 0;

	for (; *token; token++) {
		const char *at = strchr(alphabet, *token);
		if (!at)
			return -EBADMSG;
		bits = bits << 6 | (uint32_t)(at - alphabet);
		held += 6;
		if (held >= 8) {
			uint8_t byte = (uint8_t)(bits >> (held -= 8));
			buffer_add(ret, &byte, 1);
		}
	}
	return held >= 6 || (bits & ((1u << held) - 1)) ? -EBADMSG : 0;
}

int signed_token_make(struct bytes key, const char *purpose, struct bytes fields, char ret[SIGNED_TOKEN_MAX + 1])
{
	_cleanup_(buffer_free) struct buffer raw = { 0 };
	uint8_t mac[HMAC_LEN];

	ret[0] = '\0';
	mac_of(key, purpose, fields, mac);
	buffer_add(&raw, fields.data, fields.len);
	buffer_add(&raw, mac, HMAC_LEN);
	if (raw.len > RAW_MAX)
		return -EMSGSIZE;
	encode(buffer_bytes(&raw), ret);
	return 0;
}

int signed_token_read(struct bytes key, const char *purpose, const char *token, struct buffer *ret_fields)
{
	uint8_t mac[HMAC_LEN];

	buffer_clear(ret_fields);
	if (strnlen(token, SIGNED_TOKEN_MAX + 1) > SIGNED_TOKEN_MAX || decode(token, ret_fields) < 0 ||
		ret_fields->len < HMAC_LEN) {
		buffer_clear(ret_fields);
		return -EBADMSG;
	}
	ret_fields->len -= HMAC_LEN;
	mac_of(key, purpose, buffer_bytes(ret_fields), mac);
	if (CRYPTO_memcmp(mac, ret_fields->data + ret_fields->len, HMAC_LEN) == 0)
		return 0;
	buffer_clear(ret_fields);
	return -EKEYREJECTED;
}
