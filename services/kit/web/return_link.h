/*
 * return_link.h: the way back to the basket by way of the gateway, so that the report can count who took it
 *
 *     https://<public-url>/r/<token>?to=<the storefront's own recovery URL, percent-encoded>
 *
 * The token is a signed_link of purpose LINK_RETURN that covers the URL as well (its digest stands where other purposes have the
 * address's hash), so the gateway leads nowhere that we did not write; nothing is looked up to honour it. It never expires.
 */
#ifndef KIT_WEB_RETURN_LINK_H
#define KIT_WEB_RETURN_LINK_H

#include "services/kit/web/signed_link.h"

/* `of`: shop, cart_id and step. Appends to `ret`. -EINVAL: `url` is no clean https address in ASCII, or public_url is not
 * https, so that the detour would be the worse way back. */
int return_link_make(
	struct bytes key, const char *public_url, const struct signed_link *of, const char *url, struct buffer *ret);
/* `url` as it came after `to=`, decoded. -EBADMSG, -EKEYREJECTED as signed_link_read, also when it is another URL. */
int return_link_read(struct bytes key, const char *token, const char *url, struct signed_link *ret);
int return_link_read_with(
	const struct keyring *keys, int64_t now_us, const char *token, const char *url, struct signed_link *ret);

#endif
