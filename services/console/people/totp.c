/*
 * totp.c: codes by time (RFC 6238) over HMAC-SHA-1 by OpenSSL
 *
 * Fails by:  die(), when OpenSSL has no HMAC-SHA-1 or the kernel no random bytes.
 */
#include "services/console/people/totp.h"

#include "bus/base/clock.h"
#include "bus/base/log.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { SHA1_LEN = 20, CODE_ROOM = 9 };

void totp_secret_new(uint8_t ret[PERSON_TOTP_LEN])
{
	if (getrandom(ret, PERSON_TOTP_LEN, 0) != PERSON_TOTP_LEN)
		die("the kernel gives no random numbers");
}

void totp_base32(const uint8_t secret[PERSON_TOTP_LEN], char ret[TOTP_BASE32_ROOM])
{
	for (int i = 0; i < TOTP_BASE32_ROOM - 1; i++) {
		int bit = i * 5, byte = bit / 8;
		unsigned pair = (unsigned)secret[byte] << 8 | (byte + 1 < PERSON_TOTP_LEN ? secret[byte + 1] : 0U);

		ret[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[pair >> (11 - bit % 8) & 31];
	}
	ret[TOTP_BASE32_ROOM - 1] = '\0';
}

/* RFC 3986: everything but the unreserved characters is percent-encoded. */
static void add_encoded(struct buffer *to, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

	for (; *text; text++) {
		if (strchr(plain, *text))
			buffer_add(to, text, 1);
		else
			buffer_printf(to, "%%%02X", (unsigned char)*text);
	}
}

void totp_uri(const uint8_t secret[PERSON_TOTP_LEN], const char *host, const char *name, char ret[TOTP_URI_ROOM])
{
	struct buffer label = { 0 }, who = { 0 };
	char base32[TOTP_BASE32_ROOM];

	totp_base32(secret, base32);
	add_encoded(&label, "cartbus ");
	add_encoded(&label, host);
	add_encoded(&who, name);
	snprintf(ret, TOTP_URI_ROOM, "otpauth://totp/%s:%s?secret=%s&issuer=%s", buffer_text(&label), buffer_text(&who),
		base32, buffer_text(&label));
	OPENSSL_cleanse(base32, sizeof(base32));
	buffer_free(&label);
	buffer_free(&who);
}

uint64_t totp_counter(int64_t wall_us)
{
	return wall_us > 0 ? (uint64_t)wall_us / (TOTP_STEP_S * (uint64_t)US_PER_S) : 0;
}

/* RFC 4226 section 5.3: 31 bits at a place that the last four bits name. */
static uint32_t truncate_digest(const uint8_t digest[SHA1_LEN])
{
	const uint8_t *at = digest + (digest[SHA1_LEN - 1] & 15);

	return (uint32_t)(at[0] & 0x7f) << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

uint32_t totp_code(const uint8_t secret[PERSON_TOTP_LEN], uint64_t counter, int digits)
{
	uint8_t text[8], digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	uint32_t most = 1;

	put_be64(text, counter);
	if (!HMAC(EVP_sha1(), secret, PERSON_TOTP_LEN, text, sizeof(text), digest, &len) || len != SHA1_LEN)
		die("HMAC-SHA-1 is not available from OpenSSL: check the installation of libssl3 and openssl.cnf");
	while (digits-- > 0)
		most *= 10;
	return truncate_digest(digest) % most;
}

/* false: it is not six digits, with blanks anywhere. */
static bool read_digits(const char *code, char ret[CODE_ROOM])
{
	int len = 0;

	for (; *code; code++) {
		if (*code == ' ')
			continue;
		if (*code < '0' || *code > '9' || len == TOTP_DIGITS)
			return false;
		ret[len++] = *code;
	}
	ret[len] = '\0';
	return len == TOTP_DIGITS;
}

static bool is_code_of(const uint8_t secret[PERSON_TOTP_LEN], uint64_t counter, const char *code)
{
	char right[CODE_ROOM + 4];

	snprintf(right, sizeof(right), "%06u", totp_code(secret, counter, TOTP_DIGITS));
	return CRYPTO_memcmp(right, code, TOTP_DIGITS) == 0;
}

/* It computes both codes always, so that its time tells nothing. */
bool totp_accepts(const uint8_t secret[PERSON_TOTP_LEN], const char *code, int64_t wall_us, uint64_t last_counter,
	uint64_t *ret_counter)
{
	uint64_t now = totp_counter(wall_us), before = now > 0 ? now - 1 : 0;
	char digits[CODE_ROOM];
	bool is_now, is_before;

	if (!read_digits(code, digits))
		return false;
	is_now = is_code_of(secret, now, digits);
	is_before = is_code_of(secret, before, digits);
	*ret_counter = is_now ? now : before;
	return (is_now || is_before) && *ret_counter > last_counter;
}
