/*
 * admin_link.c: links by which the owner acts on one cart or one shopper
 *
 * Fields of the token: version, key id (4), verb, expiry (8, big endian), then shop, cart id and address
 * hash.
 * Promises:  a link does one thing to one target of one shop. A link in a shopper's mail is never valid as an
 *            admin link, or the other way round, because key and purpose differ.
 * Fails by:  -EINVAL if there is no valid target, -EMSGSIZE if the URL is too long; reading: -EBADMSG,
 *            -EKEYREJECTED, without a reason.
 * Read next: signed_token.c, services/platform/gateway/action.c (carries out the link)
 */
#include "services/kit/web/admin_link.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>

enum { LINK_VERSION = 1, AT_VERB = 1 + SIGNED_TOKEN_KEY_ID, AT_EXPIRY = AT_VERB + 1, HEAD_LEN = AT_EXPIRY + 8 };

static const char signing[] = "cartbus admin link";

static bool target_fits(const struct admin_link *link)
{
	switch (link->verb) {
	case ADMIN_SUPPRESS_CART:
	case ADMIN_WRITE_OFF:
		return link->cart_id[0];
	case ADMIN_UNSUBSCRIBE:
	case ADMIN_LIFT_SUPPRESSION:
		return link->address_hash[0];
	case ADMIN_OVERRIDE_WAIT:
	case ADMIN_TAKE_BACK:
	case ADMIN_SETTLE_PRIVACY:
	case ADMIN_RETIME:
		return false;
	}
	return false;
}

static void add_head(struct buffer *fields, struct bytes key, const struct admin_link *link)
{
	uint8_t id[SIGNED_TOKEN_KEY_ID], version = LINK_VERSION, verb = (uint8_t)link->verb;

	signed_token_key_id(key, "cartbus admin link key id", id);
	buffer_add(fields, &version, 1);
	buffer_add(fields, id, sizeof(id));
	buffer_add(fields, &verb, 1);
	buffer_add_be64(fields, (uint64_t)link->expires_us);
}

int admin_link_make(struct bytes key, const struct admin_link *link, char ret[SIGNED_TOKEN_MAX + 1])
{
	_cleanup_(buffer_free) struct buffer fields = { 0 };

	ret[0] = '\0';
	if (!link->shop[0] || !target_fits(link) || link->expires_us <= 0 || key.len == 0)
		return -EINVAL;
	add_head(&fields, key, link);
	signed_token_add_text(&fields, link->shop);
	signed_token_add_text(&fields, link->cart_id);
	signed_token_add_text(&fields, link->address_hash);
	return signed_token_make(key, signing, buffer_bytes(&fields), ret);
}

int admin_link_url(
	struct bytes key, const char *public_url, const struct admin_link *link, char ret[ADMIN_LINK_URL_MAX + 1])
{
	char token[SIGNED_TOKEN_MAX + 1];
	size_t len = strlen(public_url);
	int r = admin_link_make(key, link, token);

	ret[0] = '\0';
	if (r < 0)
		return r;
	len -= len > 0 && public_url[len - 1] == '/';
	if (snprintf(ret, ADMIN_LINK_URL_MAX + 1, "%.*s/a/%s", (int)len, public_url, token) > ADMIN_LINK_URL_MAX) {
		ret[0] = '\0';
		return -EMSGSIZE;
	}
	return 0;
}

static int read_fields(struct bytes fields, struct admin_link *ret)
{
	const uint8_t *head = fields.data;
	struct bytes rest = BYTES(head + HEAD_LEN, fields.len - HEAD_LEN);

	ret->verb = (AdminVerb)head[AT_VERB];
	ret->expires_us = (int64_t)get_be64(head + AT_EXPIRY);
	if (signed_token_take_text(&rest, ret->shop, sizeof(ret->shop)) < 0 ||
		signed_token_take_text(&rest, ret->cart_id, sizeof(ret->cart_id)) < 0 ||
		signed_token_take_text(&rest, ret->address_hash, sizeof(ret->address_hash)) < 0 || rest.len != 0)
		return -EBADMSG;
	return target_fits(ret) ? 0 : -EBADMSG;
}

static void name_link(struct bytes fields, char ret_id[ADMIN_LINK_ID + 1])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	SHA256(fields.data, fields.len, digest);
	text_hex(digest, ADMIN_LINK_ID / 2, ret_id);
}

int admin_link_read(struct bytes key, const char *token, struct admin_link *ret, char ret_id[ADMIN_LINK_ID + 1])
{
	_cleanup_(buffer_free) struct buffer fields = { 0 };
	int r = signed_token_read(key, signing, token, &fields);

	memset(ret, 0, sizeof(*ret));
	ret_id[0] = '\0';
	if (r == 0 && (fields.len < HEAD_LEN || fields.data[0] != LINK_VERSION))
		r = -EBADMSG;
	if (r == 0)
		r = read_fields(buffer_bytes(&fields), ret);
	if (r < 0) {
		memset(ret, 0, sizeof(*ret));
		return r;
	}
	name_link(buffer_bytes(&fields), ret_id);
	return 0;
}

bool admin_link_expired(const struct admin_link *link, int64_t now_us)
{
	return now_us >= link->expires_us;
}
