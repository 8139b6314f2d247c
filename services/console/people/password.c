/*
 * password.c: argon2id by libsodium over HMAC-SHA256, and which passwords are refused
 *
 * Promises:  the hash of an unknown person costs what a known one's costs. Neither the password nor its keyed hash stays in
 *            memory of this file.
 * Fails by:  a negative errno, or not matching.
 */
#include "services/console/people/password.h"

#include "bus/base/text.h"
#include "services/kit/keys/hmac.h"
#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>

/* OWASP's cheat sheet on storing passwords: 19 MiB, two passes, one lane. libsodium has one lane always. */
enum { PASSES = 2, MEMORY = 19456 * 1024 };
_Static_assert(crypto_pwhash_STRBYTES <= PERSON_HASH_ROOM, "a hash fits into a person");

/* Of a password that nobody has: its own random bytes were thrown away. */
static const char HASH_OF_NOBODY[] =
	"$argon2id$v=19$m=19456,t=2,p=1$6ImjVIJxUsy0SrJIVT1l1Q$LGrnqUcQNVR8j2ZRMr9ACycHwOlNnoeWKBTZu6N8PGk";

int password_start(void)
{
	return sodium_init() < 0 ? -EIO : 0;
}

int password_hash(struct bytes key, struct bytes password, char ret[PERSON_HASH_ROOM])
{
	uint8_t keyed[HMAC_LEN];
	int r;

	hmac_sha256(key, password, keyed);
	r = crypto_pwhash_str_alg(
		ret, (const char *)keyed, sizeof(keyed), PASSES, MEMORY, crypto_pwhash_ALG_ARGON2ID13);
	sodium_memzero(keyed, sizeof(keyed));
	return r < 0 ? -ENOMEM : 0;
}

static bool is_hash(const char *hash)
{
	return hash && text_starts(hash, crypto_pwhash_argon2id_STRPREFIX);
}

bool password_matches(struct bytes key, struct bytes password, const char *hash)
{
	char stored[crypto_pwhash_STRBYTES] = { 0 }; /* libsodium reads no further than this */
	uint8_t keyed[HMAC_LEN];
	bool is_somebody = is_hash(hash) && password.len <= PASSWORD_MOST;
	bool matches;

	if (password.len > PASSWORD_MOST)
		password.len = PASSWORD_MOST;
	TEXT_COPY(stored, is_somebody ? hash : HASH_OF_NOBODY);
	hmac_sha256(key, password, keyed);
	matches = crypto_pwhash_str_verify(stored, (const char *)keyed, sizeof(keyed)) == 0;
	sodium_memzero(keyed, sizeof(keyed));
	return matches && is_somebody;
}

bool password_needs_rehash(const char *hash)
{
	char stored[crypto_pwhash_STRBYTES] = { 0 };

	TEXT_COPY(stored, hash);
	return crypto_pwhash_str_needs_rehash(stored, PASSES, MEMORY) != 0;
}

/* ---- which passwords are refused ---- */

/* What people put around a word so that it counts as a password: "Password2026!!" is "password". */
static void strip(struct bytes password, char ret[PASSWORD_MOST + 1])
{
	static const char trimmings[] = "0123456789 !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
	const char *text = password.data;
	size_t from = 0, to = password.len;

	while (from < to && strchr(trimmings, text[from]))
		from++;
	while (to > from && strchr(trimmings, text[to - 1]))
		to--;
	text_copy_bytes(ret, PASSWORD_MOST + 1, BYTES(text + from, to - from));
	for (char *at = ret; *at; at++)
		*at = (char)tolower((unsigned char)*at);
}

static void lower(struct bytes password, char ret[PASSWORD_MOST + 1])
{
	text_copy_bytes(ret, PASSWORD_MOST + 1, password);
	for (char *at = ret; *at; at++)
		*at = (char)tolower((unsigned char)*at);
}

/* "passwordpassword": one word, some times over. */
static bool repeats(const char *text, const char *word)
{
	size_t len = strlen(word);

	if (len == 0 || !*text)
		return false;
	while (strncmp(text, word, len) == 0)
		text += len;
	return !*text;
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; words && *words; words++)
		if (repeats(text, *words))
			return true;
	return false;
}

/* At most three different characters: "aaaaaaaaaaaa", "121212121212". */
static bool is_monotonous(struct bytes password)
{
	const uint8_t *text = password.data;
	bool seen[256] = { false };
	int kinds = 0;

	for (size_t i = 0; i < password.len; i++) {
		kinds += !seen[text[i]];
		seen[text[i]] = true;
	}
	return kinds <= 3;
}

/* "123456789012", "abcdefghijkl", "qwertyuiop[]": each character follows the one before it. */
static bool is_a_run(const char *text)
{
	static const char *const rows[] = { "01234567890123456789", "98765432109876543210",
		"abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba", "qwertyuiopasdfghjklzxcvbnm",
		"qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn", "1234567890qwertyuiop",
		"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik", NULL };

	for (const char *const *row = rows; *row; row++)
		if (strstr(*row, text))
			return true;
	return false;
}

static bool is_common(struct bytes password, const char *name, const char *const *words)
{
	static const char *const product[] = { "cartbus", "console", "cartbusconsole", "cart", "abandonedcart",
		"reminder", "operator", "owner", "viewer", "approver", NULL };
	const char *const names[] = { name && *name ? name : NULL, NULL };
	char whole[PASSWORD_MOST + 1], bare[PASSWORD_MOST + 1];

	lower(password, whole);
	strip(password, bare);
	if (is_monotonous(password) || is_a_run(whole))
		return true;
	return is_one_of(whole, passwords_common) || is_one_of(bare, passwords_common) || is_one_of(bare, product) ||
		is_one_of(bare, words) || is_one_of(bare, names);
}

static bool is_typed_text(struct bytes password)
{
	return text_is_utf8(password) && !memchr(password.data, '\0', password.len) &&
		!memchr(password.data, '\n', password.len) && !memchr(password.data, '\r', password.len);
}

enum password_fault password_judge(struct bytes password, const char *name, const char *const *words)
{
	if (password.len < PASSWORD_LEAST)
		return PASSWORD_SHORT;
	if (password.len > PASSWORD_MOST)
		return PASSWORD_LONG;
	if (!is_typed_text(password))
		return PASSWORD_NO_TEXT;
	return is_common(password, name, words) ? PASSWORD_COMMON : PASSWORD_FINE;
}

const char *password_fault_words(enum password_fault fault)
{
	static const char *const words[] = {
		[PASSWORD_FINE] = "it can be used",
		[PASSWORD_SHORT] = "it is too short: 12 characters at least",
		[PASSWORD_LONG] = "it is too long: 256 bytes at most",
		[PASSWORD_COMMON] = "it is too easy to guess: it is one of the passwords that are tried first",
		[PASSWORD_NO_TEXT] = "it has characters that cannot be typed",
	};

	return words[fault];
}
