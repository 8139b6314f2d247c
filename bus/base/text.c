/*
 * text.c: copies and checks of text, two hashes, and the nearest of several names
 *
 * Promises:  a copied text is terminated and whole UTF-8; a hash is the same for ever.
 * Fails by:  answering false; die() when the kernel gives no random bytes.
 */
#include "bus/base/text.h"
#include "bus/base/log.h"
#include <endian.h>
#include <errno.h>
#include <libdeflate.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

static bool is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

bool text_copy_bytes(char *to, size_t room, struct bytes from)
{
	const char *text = from.data;
	size_t len = from.len ? strnlen(text, from.len) : 0;
	bool fits = len < room && len == from.len;
	if (len >= room) {
		len = room - 1;
		while (len > 0 && is_continuation((uint8_t)text[len]))
			len--;
	}
	if (len)
		memcpy(to, text, len);
	to[len] = '\0';
	return fits;
}

bool text_copy(char *to, size_t room, const char *from)
{
	return text_copy_bytes(to, room, bytes_of(from));
}

/*
 * The length of the sequence at `at`, 0 if it is none. RFC 3629: no overlong forms, no surrogates, nothing
 * past U+10FFFF.
 */
static size_t utf8_sequence(const uint8_t *at, size_t left)
{
	uint8_t first = at[0];
	if (first < 0x80)
		return 1;

	size_t len = first >= 0xc2 && first <= 0xdf ? 2
		: (first & 0xf0) == 0xe0            ? 3
		: first >= 0xf0 && first <= 0xf4    ? 4
						    : 0;
	if (len == 0 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if (!is_continuation(at[i]))
			return 0;

	uint8_t second = at[1];
	bool valid = !(first == 0xe0 && second < 0xa0) && !(first == 0xed && second > 0x9f) &&
		!(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second > 0x8f);
	return valid ? len : 0;
}

/* The number of ASCII bytes that come next, in steps of eight: most text is ASCII. */
static size_t ascii_length(const uint8_t *at, size_t left)
{
	const uint64_t high_bits = UINT64_C(0x8080808080808080);
	uint64_t eight;
	size_t len = 0;
	for (; left - len >= sizeof(eight); len += sizeof(eight)) {
		memcpy(&eight, at + len, sizeof(eight));
		if (eight & high_bits)
			break;
	}
	return len;
}

bool text_is_utf8(struct bytes text)
{
	const uint8_t *at = text.data;
	for (size_t left = text.len; left > 0;) {
		size_t ascii = ascii_length(at, left), len = ascii ? ascii : utf8_sequence(at, left);
		if (!len)
			return false;
		at += len;
		left -= len;
	}
	return true;
}

bool text_has_control(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
			return true;
	return false;
}

bool text_starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_mark(const uint8_t *at)
{
	return (at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) || (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9);
}

size_t text_control(struct bytes text, bool marks)
{
	const uint8_t *at = text.data;

	if (text.len >= 1 && (*at < ' ' || *at == 0x7f))
		return 1;
	if (text.len >= 2 && *at == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f)
		return 2;
	return marks && text.len >= 3 && *at == 0xe2 && is_mark(at) ? 3 : 0;
}

void text_make_plain(char *text)
{
	size_t len = strlen(text);
	bool is_utf8 = text_is_utf8(BYTES(text, len));

	for (size_t i = 0; i < len; i++) {
		size_t control = text_control(BYTES(text + i, len - i), true);

		if (control && (is_utf8 || control == 1)) {
			memset(text + i, ' ', control);
			i += control - 1;
		} else if ((unsigned char)text[i] >= 0x80 && !is_utf8) {
			text[i] = '?';
		}
	}
}

void text_hide_addresses(char *text)
{
	for (char *at = strchr(text, '@'); at; at = strchr(at, '@')) {
		char *end = at;

		while (at > text && at[-1] != ' ')
			at--;
		while (*end && *end != ' ')
			end++;
		memset(at, '*', (size_t)(end - at));
	}
}

void text_hex(const void *data, size_t len, char *to)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *in = data;
	for (size_t i = 0; i < len; i++) {
		*to++ = digits[in[i] >> 4];
		*to++ = digits[in[i] & 15];
	}
	*to = '\0';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int text_hex_digit(char c)
{
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : hex_value(c);
}

bool text_unhex(const char *text, void *to, size_t len)
{
	uint8_t *out = to;

	for (size_t i = 0; i < len; i++) {
		int high = hex_value(text[2 * i]);
		int low = high < 0 ? -1 : hex_value(text[2 * i + 1]);

		if (low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return text[2 * len] == '\0';
}

/*
 * FNV-1a's constants over eight bytes at a time, with a shift that mixes high bits into low ones. Hashes are
 * stored: never change it.
 */
uint64_t text_hash(struct bytes bytes)
{
	const uint64_t prime = UINT64_C(0x100000001b3);
	const uint8_t *in = bytes.data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ bytes.len;
	size_t left = bytes.len;
	for (; left >= 8; left -= 8, in += 8) {
		hash = (hash ^ get_be64(in)) * prime;
		hash ^= hash >> 29;
	}
	for (; left > 0; left--, in++)
		hash = (hash ^ *in) * prime;

	hash ^= hash >> 32; /* the finish of MurmurHash3: every bit of the input reaches every bit of the result */
	hash *= UINT64_C(0xff51afd7ed558ccd);
	hash ^= hash >> 33;
	hash *= UINT64_C(0xc4ceb9fe1a85ec53);
	return hash ^ hash >> 33;
}

uint32_t text_crc(struct bytes bytes)
{
	return libdeflate_crc32(0, bytes.len ? bytes.data : "", bytes.len);
}

void text_random_name(char to[33])
{
	uint8_t bits[16];
	ssize_t got;
	do
		got = getrandom(bits, sizeof(bits), 0);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(bits))
		die("the kernel gives no random numbers (getrandom: %s)", strerror(errno));
	text_hex(bits, sizeof(bits), to);
}

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

/*
 * Finds the known name that is nearest to a mistyped one
 *
 * Slips are letters that are missing, superfluous, wrong, or swapped with their neighbour (optimal string
 * alignment distance).
 */

enum { LEN_MOST = 60, SLIPS_MOST = 3 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

static int slips_between(const char *a, const char *b)
{
	int rows[3][LEN_MOST + 1] = { { 0 } }; /* the last three rows: two letters of a before, one before, this one */
	int a_len = (int)strlen(a), b_len = (int)strlen(b);

	for (int j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (int i = 1; i <= a_len; i++) {
		int *row = rows[i % 3];
		const int *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];

		row[0] = i;
		for (int j = 1; j <= b_len; j++) {
			row[j] = least(before[j - 1] + (a[i - 1] != b[j - 1]), least(before[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_before[j - 2] + 1);
		}
	}
	return rows[a_len % 3][b_len];
}

struct nearest nearest_begin(const char *typed)
{
	int bearable = (int)strlen(typed) / 2;

	return (struct nearest){ .typed = typed, .slips = (bearable < SLIPS_MOST ? bearable : SLIPS_MOST) + 1 };
}

void nearest_try(struct nearest *nearest, const char *name)
{
	int slips;

	if (strlen(nearest->typed) > LEN_MOST || strlen(name) > LEN_MOST)
		return;
	slips = slips_between(nearest->typed, name);
	if (slips < nearest->slips) {
		nearest->slips = slips;
		nearest->name = name;
	}
}
