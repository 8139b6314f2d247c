/*
 * text.h: small certainties about text, a hash that strangers cannot make collide, and the nearest of several names
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "bus/base/bytes.h"

/* Copies as much as fits, always terminates, never cuts a UTF-8 sequence in two. true: all of it fitted. */
bool text_copy(char *to, size_t room, const char *from);
#define TEXT_COPY(array, from) text_copy((array), sizeof(array), (from))
bool text_copy_bytes(char *to, size_t room, struct bytes from);

bool text_is_utf8(struct bytes text);
bool text_has_control(const char *text); /* CR, LF, NUL, or any other C0 but tab, or DEL */
bool text_starts(const char *text, const char *with);
/*
 * How many bytes a control character takes that stands at the beginning: of C0, DEL, or C1, which terminals obey in UTF-8 as well; 0: none
 * does. With `marks` also what ends a line or turns it around: U+2028, U+2029, embeddings, overrides and isolates.
 */
size_t text_control(struct bytes text, bool marks);
/* In place: control characters and such marks become spaces, what is no UTF-8 question marks. */
void text_make_plain(char *text);
void text_hide_addresses(char *text);                    /* words with an @ in them become stars, in place */
void text_hex(const void *data, size_t len, char *to);   /* 2 * len + 1 bytes */
bool text_unhex(const char *text, void *to, size_t len); /* false: not 2 * len hex digits */
uint64_t text_hash(struct bytes bytes);                  /* 64 bit, not cryptographic, stable for ever (it is stored) */
uint32_t text_crc(struct bytes bytes);                   /* CRC-32, as zlib's */
void text_random_name(char to[33]);                      /* 128 bits from getrandom(2), hex */

/*
 * A hash of bytes that strangers choose, which they cannot make collide
 *
 * SipHash-2-4 (Aumasson and Bernstein, 2012). text_hash is for names of our own: anybody can compute which bytes share its value.
 */

struct hash_key {
	uint64_t words[2];
};

struct hash_key hash_key_new(void); /* random; die()s where the kernel gives no random bytes */
uint64_t keyed_hash(const struct hash_key *key, struct bytes bytes);

/* Which of the names that there are somebody may have meant. */
struct nearest {
	const char *typed, *name; /* name: the one that is nearest so far; NULL: none is near */
	int slips;
};

struct nearest nearest_begin(const char *typed); /* borrowed */
void nearest_try(struct nearest *nearest, const char *name);

#endif
