/*
 * address_hash.c: the keyed hash that names a mail address
 *
 * It is apart from address.c, because most services read addresses but have no key, and so need no OpenSSL.
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/kit/keys/hmac.h"
#include "services/kit/mail/address.h"

void address_hash(struct bytes key, const char *shop, const char *normalised, char ret[ADDRESS_HASH_LEN + 1])
{
	_cleanup_(buffer_free) struct buffer named = { 0 };
	uint8_t mac[HMAC_LEN];

	buffer_add(&named, shop, strlen(shop) + 1);
	buffer_add_text(&named, normalised);
	hmac_sha256(key, buffer_bytes(&named), mac);
	text_hex(mac, ADDRESS_HASH_LEN / 2, ret);
}
