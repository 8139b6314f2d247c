/*
 * key.c: reads the key file of a service account and signs with it
 *
 * Promises:  the key is kept only while it signs: what our code and jansson have of it is cleansed before it is
 *            freed. No message about the file quotes any of it.
 * Fails by:  -errno of the file; -EBADMSG and the missing part, if it is not such a key file.
 * Read next: google.c. Source: developers.google.com, "Using OAuth 2.0 for Server to Server Applications"; RFC 7515, RFC 7523.
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/google/google.h"
#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>

enum { RSA_BITS_MIN = 2048, JWT_LASTS_S = 3600, KEY_FILE_ROOM = 96 * 1024 };

DEFINE_CLEANUP(EVP_PKEY *, EVP_PKEY_free)
DEFINE_CLEANUP(EVP_MD_CTX *, EVP_MD_CTX_free)
DEFINE_CLEANUP(BIO *, BIO_free_all)

static void cleanse(struct buffer *secret)
{
	if (secret->data)
		OPENSSL_cleanse(secret->data, secret->room);
	buffer_free(secret);
}

static void cleanse_and_free(void *memory)
{
	if (memory)
		OPENSSL_cleanse(memory, malloc_usable_size(memory));
	free(memory);
}

/* base64url without padding (RFC 7515, 2) */
static void add_base64url(struct buffer *to, struct bytes raw)
{
	char *out = buffer_grow(to, 4 * (raw.len + 2) / 3 + 1);
	size_t len = (size_t)EVP_EncodeBlock((unsigned char *)out, raw.data, (int)raw.len);

	while (len > 0 && out[len - 1] == '=')
		len--;
	for (size_t i = 0; i < len; i++)
		out[i] = (char)(out[i] == '+' ? '-' : out[i] == '/' ? '_' : out[i]);
	to->len += len;
}

static void add_json(struct buffer *to, const json_t *object)
{
	_cleanup_free_ char *text = json_dumps(object, JSON_COMPACT);

	add_base64url(to, bytes_of(text ? text : ""));
}

/* Refuses an encrypted key instead of asking for its password. */
static int no_password(char *to, int room, int writing, void *context)
{
	(void)to, (void)room, (void)writing, (void)context;
	return -1;
}

static int add_signature(struct buffer *jwt, const char *pem, char ret_why[200])
{
	_cleanup_(BIO_free_allp) BIO *bio = BIO_new_mem_buf(pem, -1);
	_cleanup_(EVP_PKEY_freep) EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
	_cleanup_(EVP_MD_CTX_freep) EVP_MD_CTX *context = EVP_MD_CTX_new();
	unsigned char signature[1024];
	size_t len = sizeof(signature);

	if (!key || !EVP_PKEY_is_a(key, "RSA") || EVP_PKEY_get_bits(key) < RSA_BITS_MIN) {
		snprintf(ret_why, 200, "its private_key is no RSA key of %d bits or more in PEM", RSA_BITS_MIN);
		return -EBADMSG;
	}
	if (!context || EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) <= 0 ||
		EVP_DigestSign(context, signature, &len, jwt->data, jwt->len) <= 0) {
		snprintf(ret_why, 200, "OpenSSL cannot sign with its private_key");
		return -EBADMSG;
	}
	buffer_add_text(jwt, ".");
	add_base64url(jwt, BYTES(signature, len));
	return 0;
}

struct account {
	const char *type, *email, *key, *key_id, *uri;
};

static const char *word(const json_t *file, const char *name)
{
	const char *text = json_string_value(json_object_get(file, name));

	return text ? text : "";
}

static int read_account(const json_t *file, struct account *ret, char ret_why[200])
{
	const char *missing = NULL;

	*ret = (struct account){ word(file, "type"), word(file, "client_email"), word(file, "private_key"),
		word(file, "private_key_id"), word(file, "token_uri") };
	if (strcmp(ret->type, "service_account") != 0)
		missing = "\"type\": \"service_account\"; a key of another kind is of no use here";
	else if (!strchr(ret->email, '@') || text_has_control(ret->email))
		missing = "a client_email";
	else if (!*ret->key)
		missing = "a private_key";
	else if (!text_starts(ret->uri, "http") || strlen(ret->uri) > 255)
		missing = "a token_uri";
	if (!missing)
		return 0;
	snprintf(ret_why, 200, "it has not %s", missing);
	return -EBADMSG;
}

static int sign(
	const struct account *account, const char *scope, int64_t issued_s, struct buffer *ret_jwt, char ret_why[200])
{
	_cleanup_(json_decrefp) json_t *header = json_pack("{s:s,s:s}", "alg", "RS256", "typ", "JWT");
	_cleanup_(json_decrefp) json_t *claims = json_pack("{s:s,s:s,s:s,s:I,s:I}", "iss", account->email, "scope",
		scope, "aud", account->uri, "iat", (json_int_t)issued_s, "exp", (json_int_t)(issued_s + JWT_LASTS_S));

	if (*account->key_id)
		json_object_set_new(header, "kid", json_string(account->key_id));
	add_json(ret_jwt, header);
	buffer_add_text(ret_jwt, ".");
	add_json(ret_jwt, claims);
	return add_signature(ret_jwt, account->key, ret_why);
}

static int sign_with_file(struct bytes text, const char *scope, int64_t issued_s, struct buffer *ret_jwt,
	char ret_uri[256], char ret_why[200])
{
	_cleanup_(json_decrefp) json_t *file = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
	struct account account;

	if (!json_is_object(file)) {
		snprintf(ret_why, 200, "it is not a JSON object");
		return -EBADMSG;
	}
	int r = read_account(file, &account, ret_why);
	if (r < 0)
		return r;
	text_copy(ret_uri, 256, account.uri);
	return sign(&account, scope, issued_s, ret_jwt, ret_why);
}

int google_key_sign(const char *path, const char *scope, int64_t issued_s, struct buffer *ret_jwt, char ret_uri[256],
	char ret_why[200])
{
	_cleanup_(cleanse) struct buffer text = { 0 };

	buffer_grow(&text, KEY_FILE_ROOM); /* for any secret: a buffer that moves would leave a copy behind */
	int r = file_read_secret(path, &text);
	if (r < 0 && r != -ENODATA) { /* an empty file exists, and fails below as no JSON */
		snprintf(ret_why, 200, "%s", strerror(-r));
		return r;
	}
	json_set_alloc_funcs(malloc, cleanse_and_free);
	r = sign_with_file(BYTES(buffer_text(&text), text.len), scope, issued_s, ret_jwt, ret_uri, ret_why);
	json_set_alloc_funcs(malloc, free);
	return r;
}
