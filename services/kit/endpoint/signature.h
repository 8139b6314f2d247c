/*
 * signature.h: is this webhook from the shop it claims to be from?
 *
 * It checks an HMAC-SHA256 over the raw body before the body is parsed. During a rotation the earlier secrets
 * are valid too.
 * Sources: the platforms' webhook pages (Shopify: X-Shopify-Hmac-Sha256 or Shopify-Hmac-Sha256, WooCommerce: X-WC-Webhook-Signature, both base64).
 */
#ifndef KIT_ENDPOINT_SIGNATURE_H
#define KIT_ENDPOINT_SIGNATURE_H

#include "bus/base/bytes.h"
#include <stdint.h>

/* for our own webhooks, whose signature covers a timestamp */
static const int64_t signature_tolerance_us = 300 * 1000000LL;

struct secrets_pair {
	struct buffer current;
	struct buffer previous; /* kit/storefront/secret_lines.h; empty: none */
};

enum signature {
	SIGNATURE_CURRENT,
	SIGNATURE_PREVIOUS, /* right, with an earlier secret during a rotation */
	SIGNATURE_MISSING,
	SIGNATURE_MALFORMED, /* neither base64 nor, where allowed, hex of 32 bytes */
	SIGNATURE_WRONG,
	SIGNATURE_STALE /* the timestamp is not a number, or more than the tolerance away */
};

/* `given` is the header's value, NULL: there was none. */
enum signature signature_check_body(const struct secrets_pair *secrets, struct bytes body, const char *given);
/*
 * Checks a webhook of our own kind: the signature is over "<timestamp>.<body>", in hex or base64. `now_us` is
 * wall time.
 */
enum signature signature_check_stamped(const struct secrets_pair *secrets, struct bytes body, const char *timestamp,
	const char *given, int64_t now_us);
/* The same two checks with the head alone. SIGNATURE_CURRENT: the signature may be right. */
enum signature signature_look(const char *given);
enum signature signature_look_stamped(const char *timestamp, const char *given, int64_t now_us);
/* Checks a word that the platform was told to send with each webhook. It signs nothing: is it the secret? */
enum signature signature_check_word(const struct secrets_pair *secrets, const char *given);
const char *signature_words(enum signature signature); /* for the answer and the log */

#endif
