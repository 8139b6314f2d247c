/*
 * signed_link.h: links in mails that nobody can forge
 *
 * A link is signed with HMAC-SHA256 over version, key id, purpose, shop, address hash, cart id and step. It
 * has one purpose and never expires. The token is base64url, at most 300 characters, and has all signed
 * fields, so no lookup is needed.
 */
#ifndef KIT_WEB_SIGNED_LINK_H
#define KIT_WEB_SIGNED_LINK_H

#include "services/kit/keys/keyring.h"

enum link_purpose { LINK_UNSUBSCRIBE = 1, LINK_RETURN = 2 };

struct signed_link {
	enum link_purpose purpose;
	char shop[64];
	char address_hash[40];
	char cart_id[72];
	int step;
};

int signed_link_make(struct bytes key, const struct signed_link *link, char ret[400]);
/* -EBADMSG: it is no token. -EKEYREJECTED: we did not sign it. Compares in constant time. */
int signed_link_read(struct bytes key, const char *token, enum link_purpose expected, struct signed_link *ret);
/* The same with each key that may verify at `now_us` (wall time), until one does. */
int signed_link_read_with(const struct keyring *keys, int64_t now_us, const char *token, enum link_purpose expected,
	struct signed_link *ret);

/*
 * The way back to the basket through the gateway, so that the report can count the clicks
 *
 *     https://<public-url>/r/<token>?to=<the storefront's own recovery URL, percent-encoded>
 *
 * The token is a signed_link of purpose LINK_RETURN that also covers the URL (its digest takes the place of
 * the address's hash). So the gateway redirects only to URLs that we signed. No lookup is needed, and it
 * never expires.
 */

/*
 * `of`: shop, cart_id and step. Appends to `ret`. -EINVAL: `url` is no clean https address in ASCII, or
 * public_url is not https, so that the detour would be less safe.
 */
int return_link_make(
	struct bytes key, const char *public_url, const struct signed_link *of, const char *url, struct buffer *ret);
/* `url` as it came after `to=`, decoded. -EBADMSG, -EKEYREJECTED as signed_link_read, also when it is another URL. */
int return_link_read(struct bytes key, const char *token, const char *url, struct signed_link *ret);
int return_link_read_with(
	const struct keyring *keys, int64_t now_us, const char *token, const char *url, struct signed_link *ret);

#endif
