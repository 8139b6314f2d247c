/*
 * hmac.c: OpenSSL's HMAC, looked up once
 *
 * Owns:      a context for each thread, and in it the key that was used last.
 * Fails by:  die(): without it nothing can be signed or believed.
 *
 * OpenSSL's one-shot HMAC() looks its algorithms up by name for each call: measured, 1.3 us for a short text where this takes 0.5; a cart
 * and its mail take five.
 */
#include "services/kit/keys/hmac.h"
#include "bus/base/log.h"
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

static EVP_MAC_CTX *open_context(void)
{
	char digest[] = "SHA256";
	const OSSL_PARAM settings[] = { OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end() };
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);

	EVP_MAC_free(mac);
	if (context && EVP_MAC_CTX_set_params(context, settings) == 1)
		return context;
	EVP_MAC_CTX_free(context);
	return NULL;
}

/* OpenSSL takes a NULL for "go on with the last key" or fails, so nothing is passed as something empty. */
void hmac_sha256(struct bytes key, struct bytes text, uint8_t ret[HMAC_LEN])
{
	static _Thread_local EVP_MAC_CTX *context;
	const void *from = key.len > 0 ? key.data : "", *data = text.len > 0 ? text.data : "";
	size_t len = 0;

	if (!context)
		context = open_context();
	if (!context || EVP_MAC_init(context, from, key.len, NULL) != 1 ||
		EVP_MAC_update(context, data, text.len) != 1 || EVP_MAC_final(context, ret, &len, HMAC_LEN) != 1 ||
		len != HMAC_LEN)
		die("HMAC-SHA256 is not available from OpenSSL: check the installation of libssl3 and openssl.cnf");
}
