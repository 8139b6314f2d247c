#include "bus/base/keyed_hash.h"
#include "bus/base/log.h"
#include <endian.h>
#include <errno.h>
#include <sys/random.h>

struct hash_key hash_key_new(void)
{
	struct hash_key key;

	if (getrandom(&key, sizeof(key), 0) != (ssize_t)sizeof(key))
		die("the kernel gives no random bytes: %s", strerror(errno));
	return key;
}

static uint64_t turn_left(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[4], int rounds)
{
	for (; rounds > 0; rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = turn_left(v[1], 13) ^ v[0];
		v[3] = turn_left(v[3], 16) ^ v[2];
		v[0] = turn_left(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = turn_left(v[1], 17) ^ v[2];
		v[3] = turn_left(v[3], 21) ^ v[0];
		v[2] = turn_left(v[2], 32);
	}
}

static void take_in(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix(v, 2);
	v[0] ^= word;
}

uint64_t keyed_hash(const struct hash_key *key, struct bytes bytes)
{
	uint64_t v[4] = { key->words[0] ^ UINT64_C(0x736f6d6570736575), key->words[1] ^ UINT64_C(0x646f72616e646f6d),
		key->words[0] ^ UINT64_C(0x6c7967656e657261), key->words[1] ^ UINT64_C(0x7465646279746573) };
	const uint8_t *in = bytes.data;
	size_t left = bytes.len;
	uint64_t word;

	for (; left >= sizeof(word); left -= sizeof(word), in += sizeof(word)) {
		memcpy(&word, in, sizeof(word));
		take_in(v, le64toh(word));
	}
	word = (uint64_t)bytes.len << 56;
	for (size_t i = 0; i < left; i++)
		word |= (uint64_t)in[i] << 8 * i;
	take_in(v, word);
	v[2] ^= 0xff;
	mix(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
