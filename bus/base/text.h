/*
 * text.h: safe copies and checks of text, a hash that strangers cannot make collide, and the nearest of
 * several names
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "bus/base/bytes.h"

/*
 * Copies as much as fits, always terminates, never cuts a UTF-8 sequence in two. true: the whole text fitted.
 * `room` is the size of `to` in bytes.
 */
bool text_copy(char *to, size_t room, const char *from);
#define TEXT_COPY(array, from) text_copy((array), sizeof(array), (from))
bool text_copy_bytes(char *to, size_t room, struct bytes from);

bool text_is_utf8(struct bytes text);
bool text_has_control(const char *text); /* true for CR, LF, any other C0 character except tab, and DEL */
bool text_starts(const char *text, const char *with);
/*
 * The length in bytes of the control character at the beginning of `text`: of C0, DEL, or C1, which terminals
 * obey in UTF-8 as well; 0: none. With `marks` also characters that end a line or change its direction:
 * U+2028, U+2029, embeddings, overrides and isolates.
 */
size_t text_control(struct bytes text, bool marks);
/*
 * Changes the text in place: control characters and such marks become spaces; bytes that are no UTF-8 become
 * question marks.
 */
void text_make_plain(char *text);
void text_hide_addresses(char *text);                    /* words with an @ in them become stars, in place */
void text_hex(const void *data, size_t len, char *to);   /* 2 * len + 1 bytes */
bool text_unhex(const char *text, void *to, size_t len); /* false: not 2 * len hex digits */
int text_hex_digit(char c);                              /* 0 to 15, in either case; -1: none */
/* 64 bits, not cryptographic; its value is stored, so it never changes */
uint64_t text_hash(struct bytes bytes);
uint32_t text_crc(struct bytes bytes); /* CRC-32, as zlib's */
void text_random_name(char to[33]);    /* 128 bits from getrandom(2), hex */

/*
 * A hash for bytes that strangers choose: they cannot make values collide
 *
 * SipHash-2-4 (Aumasson and Bernstein, 2012). text_hash is only for our own names, because anybody can
 * compute bytes with the same value.
 */

struct hash_key {
	uint64_t words[2];
};

struct hash_key hash_key_new(void); /* random; die()s if the kernel gives no random bytes */
uint64_t keyed_hash(const struct hash_key *key, struct bytes bytes);

/* Finds the name that is nearest to a mistyped one. */
struct nearest {
	const char *typed, *name; /* `name`: the nearest name so far; NULL: none is near */
	int slips;
};

struct nearest nearest_begin(const char *typed); /* borrowed */
void nearest_try(struct nearest *nearest, const char *name);

#endif
