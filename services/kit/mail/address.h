/*
 * address.h: a shopper's mail address in one spelling, and a keyed hash that names it
 *
 * The hash is HMAC-SHA256 under the installation's address key over shop, NUL, normalised address; its first
 * 16 bytes in hex. Only the gateway, `cartbus` and the importer have the key; all other processes get hashes
 * in messages.
 */
#ifndef KIT_MAIL_ADDRESS_H
#define KIT_MAIL_ADDRESS_H

#include "bus/base/bytes.h"

enum { ADDRESS_MAX = 254, ADDRESS_HASH_LEN = 32 };

/*
 * Trims, lower-cases, turns an IDN domain into its ASCII form (ICU), checks syntax (RFC 5321 dot-atom local
 * part, at most 64; domain with at least one dot; 254 in all; no control characters). -EINVAL: we would not
 * mail this address.
 */
int address_normalise(const char *from, char ret[ADDRESS_MAX + 1]);
const char *address_domain(const char *address);
void address_hash(struct bytes key, const char *shop, const char *normalised, char ret[ADDRESS_HASH_LEN + 1]);

#endif
