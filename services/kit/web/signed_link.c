/*
 * signed_link.c: signed links in mails, which cannot be forged
 *
 * Fields of the token: version, key id (4), purpose, step, then shop, address hash and cart id.
 * Owns:      the last key and its id.
 * Promises:  reading refuses every token that signed_link_make does not make, also another spelling of it: a
 *            link has one token.
 * Fails by:  -EINVAL; reading: -EBADMSG, -EKEYREJECTED, without a reason.
 * Read next: signed_token.c
 */
#include "services/kit/web/signed_link.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/kit/http/url.h"
#include "services/kit/keys/signed_token.h"
#include <curl/curl.h>
#include <errno.h>
#include <openssl/sha.h>

enum { LINK_VERSION = 1, HEAD_LEN = SIGNED_TOKEN_KEY_ID + 3 };

static const char signing[] = "cartbus link";

/*
 * Keeps the id of the last key: a process signs with one key, and its id takes as long to compute as a link's
 * MAC.
 */
static const uint8_t *id_of(struct bytes key)
{
	static struct {
		struct buffer key;
		uint8_t id[SIGNED_TOKEN_KEY_ID];
	} last;

	if (bytes_compare(buffer_bytes(&last.key), key) != 0) {
		signed_token_key_id(key, "cartbus link key id", last.id);
		buffer_clear(&last.key);
		buffer_add(&last.key, key.data, key.len);
	}
	return last.id;
}

static void add_head(struct buffer *fields, struct bytes key, const struct signed_link *link)
{
	uint8_t version = LINK_VERSION, purpose = (uint8_t)link->purpose, step = (uint8_t)link->step;

	buffer_add(fields, &version, 1);
	buffer_add(fields, id_of(key), SIGNED_TOKEN_KEY_ID);
	buffer_add(fields, &purpose, 1);
	buffer_add(fields, &step, 1);
}

int signed_link_make(struct bytes key, const struct signed_link *link, char ret[400])
{
	_cleanup_(buffer_free) struct buffer fields = { 0 };

	ret[0] = '\0';
	if (!link->shop[0] || link->step < 0 || link->step > UINT8_MAX || key.len == 0)
		return -EINVAL;
	add_head(&fields, key, link);
	signed_token_add_text(&fields, link->shop);
	signed_token_add_text(&fields, link->address_hash);
	signed_token_add_text(&fields, link->cart_id);
	return signed_token_make(key, signing, buffer_bytes(&fields), ret);
}

static int read_body(struct bytes fields, struct signed_link *ret)
{
	const uint8_t *head = fields.data;
	struct bytes rest = BYTES(head + HEAD_LEN, fields.len - HEAD_LEN);

	*ret = (struct signed_link){ .purpose = (enum link_purpose)head[HEAD_LEN - 2], .step = head[HEAD_LEN - 1] };
	if (signed_token_take_text(&rest, ret->shop, sizeof(ret->shop)) < 0 ||
		signed_token_take_text(&rest, ret->address_hash, sizeof(ret->address_hash)) < 0 ||
		signed_token_take_text(&rest, ret->cart_id, sizeof(ret->cart_id)) < 0 || rest.len != 0)
		return -EBADMSG;
	return 0;
}

int signed_link_read(struct bytes key, const char *token, enum link_purpose expected, struct signed_link *ret)
{
	_cleanup_(buffer_free) struct buffer fields = { 0 };
	int r = signed_token_read(key, signing, token, &fields);

	memset(ret, 0, sizeof(*ret));
	if (r < 0)
		return r;
	if (fields.len < HEAD_LEN || fields.data[0] != LINK_VERSION)
		return -EBADMSG;
	if (fields.data[HEAD_LEN - 2] != (uint8_t)expected)
		return -EKEYREJECTED;
	return read_body(buffer_bytes(&fields), ret);
}

int signed_link_read_with(const struct keyring *keys, int64_t now_us, const char *token, enum link_purpose expected,
	struct signed_link *ret)
{
	struct bytes key;
	int r = -EKEYREJECTED;

	for (int at = 0; r == -EKEYREJECTED && (key = keyring_next(keys, now_us, &at)).len;)
		r = signed_link_read(key, token, expected, ret);
	return r;
}

/* --- the way back to the basket by way of the gateway --- */

enum { DIGEST_BYTES = 16 }; /* as many as an address hash has */

static void digest_of(const char *url, char ret_hex[2 * DIGEST_BYTES + 1])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	SHA256((const unsigned char *)url, strlen(url), digest);
	text_hex(digest, DIGEST_BYTES, ret_hex);
}

/* The gateway sends the URL in a header, which takes only ASCII. */
static bool is_ascii(const char *url)
{
	for (; *url; url++)
		if ((unsigned char)*url > '~')
			return false;
	return true;
}

int return_link_make(
	struct bytes key, const char *public_url, const struct signed_link *of, const char *url, struct buffer *ret)
{
	struct signed_link link = *of;
	char token[400], *escaped;
	int r;

	if (!text_starts(public_url, "https://") || !url_is_clean(url) || !is_ascii(url))
		return -EINVAL;
	link.purpose = LINK_RETURN;
	digest_of(url, link.address_hash);
	r = signed_link_make(key, &link, token);
	if (r < 0)
		return r;
	escaped = curl_easy_escape(NULL, url, (int)strlen(url));
	if (!escaped)
		die("out of memory");
	buffer_printf(ret, "%s/r/%s?to=%s", public_url, token, escaped);
	curl_free(escaped);
	return 0;
}

static int hold_against(const char *url, const struct signed_link *link)
{
	char digest[2 * DIGEST_BYTES + 1];

	digest_of(url, digest);
	return strcmp(digest, link->address_hash) == 0 ? 0 : -EKEYREJECTED;
}

int return_link_read(struct bytes key, const char *token, const char *url, struct signed_link *ret)
{
	int r = signed_link_read(key, token, LINK_RETURN, ret);

	return r < 0 ? r : hold_against(url, ret);
}

int return_link_read_with(
	const struct keyring *keys, int64_t now_us, const char *token, const char *url, struct signed_link *ret)
{
	int r = signed_link_read_with(keys, now_us, token, LINK_RETURN, ret);

	return r < 0 ? r : hold_against(url, ret);
}
