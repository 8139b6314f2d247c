/*
 * keyed_hash.h: a hash of bytes that strangers choose, which they cannot make collide
 *
 * SipHash-2-4 (Aumasson and Bernstein, 2012). text_hash is for names of our own: anybody can compute which bytes share its value.
 */
#ifndef BASE_KEYED_HASH_H
#define BASE_KEYED_HASH_H

#include "bus/base/bytes.h"

struct hash_key {
	uint64_t words[2];
};

struct hash_key hash_key_new(void); /* random; die()s where the kernel gives no random bytes */
uint64_t keyed_hash(const struct hash_key *key, struct bytes bytes);

#endif
