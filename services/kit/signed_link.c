/*
 * signed_link.c: a token that carries all it signs
 *
 * Layout before base64url: version, key id (4), purpose, step, then shop, address hash and cart id, each with its length in one
 * byte, then HMAC-SHA256 (32) over everything before it.
 * Promises:  reading refuses every token that making would not have made, spelling included: one link, one token.
 * Fails by:  -EBADMSG, -EKEYREJECTED; says nothing of why, to nobody.
 */
#include "services/kit/signed_link.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { LINK_VERSION = 1, KEY_ID_LEN = 4, MAC_LEN = 32, TOKEN_MAX = 300, RAW_MAX = 224 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void mac_of(struct bytes key, const char *purpose, struct bytes over, uint8_t ret[MAC_LEN])
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	unsigned int len = MAC_LEN;

	buffer_add(&text, purpose, strlen(purpose) + 1);
	buffer_add(&text, over.data, over.len);
	if (!HMAC(EVP_sha256(), key.data, (int)key.len, text.data, text.len, ret, &len))
		die("OpenSSL cannot compute HMAC-SHA256; check the installation of libssl3");
}

static void add_text(struct buffer *raw, const char *text)
{
	uint8_t len = (uint8_t)strlen(text);

	buffer_add(raw, &len, 1);
	buffer_add(raw, text, len);
}

static void add_head(struct buffer *raw, struct bytes key, const struct signed_link *link)
{
	uint8_t id[MAC_LEN], version = LINK_VERSION, purpose = (uint8_t)link->purpose, step = (uint8_t)link->step;

	mac_of(key, "cartbus link key id", BYTES("", 0), id);
	buffer_add(raw, &version, 1);
	buffer_add(raw, id, KEY_ID_LEN);
	buffer_add(raw, &purpose, 1);
	buffer_add(raw, &step, 1);
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

int signed_link_make(struct bytes key, const struct signed_link *link, char ret[400])
{
	_cleanup_(buffer_free) struct buffer raw = { 0 };
	uint8_t mac[MAC_LEN];

	ret[0] = '\0';
	if (!link->shop[0] || link->step < 0 || link->step > UINT8_MAX || key.len == 0)
		return -EINVAL;
	add_head(&raw, key, link);
	add_text(&raw, link->shop);
	add_text(&raw, link->address_hash);
	add_text(&raw, link->cart_id);
	mac_of(key, "cartbus link", buffer_bytes(&raw), mac);
	buffer_add(&raw, mac, MAC_LEN);
	if (raw.len > RAW_MAX)
		return -EMSGSIZE;
	encode(buffer_bytes(&raw), ret);
	return 0;
}

static int take_text(struct bytes *rest, char *to, size_t room)
{
	const uint8_t *at = rest->data;

	if (rest->len < 1 || at[0] > rest->len - 1 || at[0] >= room || memchr(at + 1, '\0', at[0]))
		return -EBADMSG;
	memcpy(to, at + 1, at[0]);
	to[at[0]] = '\0';
	*rest = BYTES(at + 1 + at[0], rest->len - 1 - at[0]);
	return 0;
}

static int read_body(struct bytes raw, struct signed_link *ret)
{
	const uint8_t *head = raw.data;
	struct bytes rest = BYTES(head + KEY_ID_LEN + 3, raw.len - MAC_LEN - KEY_ID_LEN - 3);

	*ret = (struct signed_link){ .purpose = (enum link_purpose)head[KEY_ID_LEN + 1], .step = head[KEY_ID_LEN + 2] };
	if (take_text(&rest, ret->shop, sizeof(ret->shop)) < 0 ||
		take_text(&rest, ret->address_hash, sizeof(ret->address_hash)) < 0 ||
		take_text(&rest, ret->cart_id, sizeof(ret->cart_id)) < 0 || rest.len != 0)
		return -EBADMSG;
	return 0;
}

int signed_link_read(struct bytes key, const char *token, enum link_purpose expected, struct signed_link *ret)
{
	_cleanup_(buffer_free) struct buffer raw = { 0 };
	uint8_t mac[MAC_LEN];

	memset(ret, 0, sizeof(*ret));
	if (strnlen(token, TOKEN_MAX + 1) > TOKEN_MAX || decode(token, &raw) < 0)
		return -EBADMSG;
	if (raw.len < KEY_ID_LEN + 3 + MAC_LEN || raw.data[0] != LINK_VERSION)
		return -EBADMSG;

	size_t signed_len = raw.len - MAC_LEN;
	mac_of(key, "cartbus link", BYTES(raw.data, signed_len), mac);
	if (CRYPTO_memcmp(mac, raw.data + signed_len, MAC_LEN) != 0 || raw.data[KEY_ID_LEN + 1] != (uint8_t)expected)
		return -EKEYREJECTED;
	return read_body(buffer_bytes(&raw), ret);
}
