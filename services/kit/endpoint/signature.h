/*
 * signature.h: is this webhook from the shop it claims to be from?
 *
 * HMAC-SHA256 over the raw body, before anything parses it. During a rotation the secrets before hold as well.
 * Sources: the platforms' webhook pages (Shopify: X-Shopify-Hmac-Sha256 or Shopify-Hmac-Sha256, WooCommerce: X-WC-Webhook-Signature, both base64).
 */
#ifndef KIT_ENDPOINT_SIGNATURE_H
#define KIT_ENDPOINT_SIGNATURE_H

#include "bus/base/bytes.h"
#include <stdint.h>

static const int64_t signature_tolerance_us = 300 * 1000000LL; /* of our own, whose signature covers its timestamp */

struct secrets_pair {
	struct buffer current;
	struct buffer previous; /* kit/storefront/secret_lines.h; empty: none */
};

enum signature {
	SIGNATURE_CURRENT,
	SIGNATURE_PREVIOUS, /* right, with a secret that is being rotated out */
	SIGNATURE_MISSING,
	SIGNATURE_MALFORMED, /* neither base64 nor, where that is allowed, hex of 32 bytes */
	SIGNATURE_WRONG,
	SIGNATURE_STALE /* the timestamp is not a number, or more than the tolerance away */
};

/* `given` is the header's value, NULL: there was none. */
enum signature signature_check_body(const struct secrets_pair *secrets, struct bytes body, const char *given);
/* Ours: over "<timestamp>.<body>", hex or base64. `now_us` is wall time. */
enum signature signature_check_stamped(const struct secrets_pair *secrets, struct bytes body, const char *timestamp,
	const char *given, int64_t now_us);
/* The same two as far as a head tells: SIGNATURE_CURRENT: it could be right. */
enum signature signature_look(const char *given);
enum signature signature_look_stamped(const char *timestamp, const char *given, int64_t now_us);
/* A word that the platform sends with each webhook because it was told to: it signs nothing. Is it the secret? */
enum signature signature_check_word(const struct secrets_pair *secrets, const char *given);
const char *signature_words(enum signature signature); /* for the answer and the log */

#endif
