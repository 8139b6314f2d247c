/*
 * signature.c: checks whether a webhook comes from the shop that it names
 *
 * Promises:  compares in constant time. For an HMAC it always tries all secrets, the current and the previous
 *            ones. It decodes only the exact length and the characters of the encoding.
 * Fails by:  the name of the failed check; never a hint how close the signature was.
 */
#include "services/kit/endpoint/signature.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/keys/hmac.h"
#include "services/kit/storefront/secret_lines.h"
#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

enum { BASE64_LEN = 44 };

static bool decode_base64(const char *text, uint8_t ret[HMAC_LEN])
{
	uint8_t decoded[HMAC_LEN + 1];

	if (strlen(text) != BASE64_LEN || text[BASE64_LEN - 1] != '=')
		return false;
	for (int i = 0; i < BASE64_LEN - 1; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '+' && text[i] != '/')
			return false;
	if (EVP_DecodeBlock(decoded, (const unsigned char *)text, BASE64_LEN) != HMAC_LEN + 1)
		return false;
	memcpy(ret, decoded, HMAC_LEN);
	return true;
}

static bool matches(struct bytes secret, struct bytes text, const uint8_t given[HMAC_LEN])
{
	uint8_t ours[HMAC_LEN];
	bool same;

	hmac_sha256(secret, text, ours);
	same = CRYPTO_memcmp(ours, given, HMAC_LEN) == 0;
	return same && secret.len >= WEBHOOK_SECRET_LEAST;
}

static enum signature compare(const struct secrets_pair *secrets, struct bytes text, const uint8_t given[HMAC_LEN])
{
	bool current = matches(buffer_bytes(&secrets->current), text, given), previous = false;
	struct secret_lines lines = secret_lines_of(buffer_bytes(&secrets->previous));
	struct bytes secret;

	while (secret_lines_next(&lines, &secret))
		previous |= matches(secret, text, given);
	if (current)
		return SIGNATURE_CURRENT;
	return previous ? SIGNATURE_PREVIOUS : SIGNATURE_WRONG;
}

enum signature signature_check_body(const struct secrets_pair *secrets, struct bytes body, const char *given)
{
	uint8_t decoded[HMAC_LEN];

	if (!given || !*given)
		return SIGNATURE_MISSING;
	if (!decode_base64(given, decoded))
		return SIGNATURE_MALFORMED;
	return compare(secrets, body, decoded);
}

enum signature signature_look(const char *given)
{
	uint8_t decoded[HMAC_LEN];

	if (!given || !*given)
		return SIGNATURE_MISSING;
	return decode_base64(given, decoded) ? SIGNATURE_CURRENT : SIGNATURE_MALFORMED;
}

/* Reads whole seconds since 1970, digits only. */
static bool read_timestamp(const char *text, int64_t *ret_us)
{
	int64_t seconds = 0;
	size_t len = strlen(text);

	if (len == 0 || len > 11)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		seconds = seconds * 10 + (text[i] - '0');
	}
	*ret_us = seconds * US_PER_S;
	return true;
}

static bool is_stale(const char *timestamp, int64_t now_us)
{
	int64_t at_us;

	return !read_timestamp(timestamp, &at_us) || at_us < now_us - signature_tolerance_us ||
		at_us > now_us + signature_tolerance_us;
}

enum signature signature_look_stamped(const char *timestamp, const char *given, int64_t now_us)
{
	uint8_t decoded[HMAC_LEN];

	if (!given || !*given || !timestamp)
		return SIGNATURE_MISSING;
	if (!text_unhex(given, decoded, HMAC_LEN) && !decode_base64(given, decoded))
		return SIGNATURE_MALFORMED;
	return is_stale(timestamp, now_us) ? SIGNATURE_STALE : SIGNATURE_CURRENT;
}

enum signature signature_check_stamped(
	const struct secrets_pair *secrets, struct bytes body, const char *timestamp, const char *given, int64_t now_us)
{
	struct buffer text = { 0 };
	uint8_t decoded[HMAC_LEN];
	enum signature signature;

	if (!given || !*given || !timestamp)
		return SIGNATURE_MISSING;
	if (!text_unhex(given, decoded, HMAC_LEN) && !decode_base64(given, decoded))
		return SIGNATURE_MALFORMED;
	buffer_printf(&text, "%s.", timestamp);
	buffer_add(&text, body.data, body.len);
	signature = compare(secrets, buffer_bytes(&text), decoded);
	buffer_free(&text);
	if (signature == SIGNATURE_WRONG)
		return signature;
	return is_stale(timestamp, now_us) ? SIGNATURE_STALE : signature;
}

static bool is_word(struct bytes secret, const char *given)
{
	return secret.len >= WEBHOOK_SECRET_LEAST && secret.len == strlen(given) &&
		CRYPTO_memcmp(secret.data, given, secret.len) == 0;
}

enum signature signature_check_word(const struct secrets_pair *secrets, const char *given)
{
	struct secret_lines lines = secret_lines_of(buffer_bytes(&secrets->previous));
	struct bytes secret;
	bool previous = false;

	if (!given || !*given)
		return SIGNATURE_MISSING;
	if (is_word(buffer_bytes(&secrets->current), given))
		return SIGNATURE_CURRENT;
	while (secret_lines_next(&lines, &secret))
		previous |= is_word(secret, given);
	return previous ? SIGNATURE_PREVIOUS : SIGNATURE_WRONG;
}

const char *signature_words(enum signature signature)
{
	switch (signature) {
	case SIGNATURE_CURRENT:
		return "right";
	case SIGNATURE_PREVIOUS:
		return "right, with the previous secret";
	case SIGNATURE_MISSING:
		return "the signature is missing";
	case SIGNATURE_MALFORMED:
		return "the signature is not an encoded HMAC-SHA256";
	case SIGNATURE_WRONG:
		return "the signature does not fit the body and the shop's secret";
	case SIGNATURE_STALE:
		return "the timestamp is not within 300 seconds of now";
	}
	return "";
}
