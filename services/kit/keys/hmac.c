/*
 * hmac.c: HMAC-SHA256 by OpenSSL, which is looked up once per thread
 *
 * Owns:      a context for each thread, with the key that was used last.
 * Fails by:  die(), because without HMAC nothing can be signed or verified.
 *
 * OpenSSL's one-shot HMAC() looks up its algorithms by name at each call. It was measured at 1.3 us for a
 * short text; this function takes 0.5 us. A cart and its mail need five calls.
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
	EVP_MAC_CTX *context = mac ? EVP_MAC_CTX_new(mac) : NULL;

	EVP_MAC_free(mac);
	if (context && EVP_MAC_CTX_set_params(context, settings) == 1)
		return context;
	EVP_MAC_CTX_free(context);
	return NULL;
}

/* For OpenSSL, NULL means the last key, or it fails; so an empty key or text is passed as "". */
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
