/* hmac.h: HMAC-SHA256 (RFC 2104), for everything that is signed with our keys or a storefront's */
#ifndef KIT_KEYS_HMAC_H
#define KIT_KEYS_HMAC_H

#include "bus/base/bytes.h"

enum { HMAC_LEN = 32 };

/* Key and text may be empty. */
void hmac_sha256(struct bytes key, struct bytes text, uint8_t ret[HMAC_LEN]);

#endif
