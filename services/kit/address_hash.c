/*
 * address_hash.c: a name for a mail address that is not the address
 *
 * Apart from address.c: most services read addresses and hold no key, and do without OpenSSL.
 */
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/kit/address.h"
#include <openssl/evp.h>
#include <openssl/hmac.h>

void address_hash(struct bytes key, const char *shop, const char *normalised, char ret[ADDRESS_HASH_LEN + 1])
{
	_cleanup_(buffer_free) struct buffer named = { 0 };
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	buffer_add(&named, shop, strlen(shop) + 1);
	buffer_add_text(&named, normalised);
	if (!HMAC(EVP_sha256(), key.data, (int)key.len, named.data, named.len, mac, &len))
		die("OpenSSL cannot compute HMAC-SHA256; check the installation of libssl3");
	text_hex(mac, ADDRESS_HASH_LEN / 2, ret);
}
