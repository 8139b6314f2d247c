/*
 * signed_link.h: links in mails that nobody can forge
 *
 * HMAC-SHA256 over version, key id, purpose, shop, address hash, cart id and step; one purpose per link; never expires.
 * The token is base64url, at most 300 characters, and carries all it signs: no lookup is needed to honour it.
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
/* -EBADMSG: not a token; -EKEYREJECTED: not ours. Compares in constant time. */
int signed_link_read(struct bytes key, const char *token, enum link_purpose expected, struct signed_link *ret);
/* The same with each key that may verify at `now_us`, until one does. */
int signed_link_read_with(const struct keyring *keys, int64_t now_us, const char *token, enum link_purpose expected,
	struct signed_link *ret);

#endif
