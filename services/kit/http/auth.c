/*
 * auth.c: adds the credentials of a request
 *
 * Promises:  reads a secret from its file for each request, so that a new one counts at once; gives it to
 *            libcurl and to no other code.
 * Fails by:  -EINVAL; ret_why names the secret and what is wrong with it.
 * Read next: call.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/http/http_inside.h"
#include "services/kit/keys/secrets.h"
#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>

DEFINE_CLEANUP(CURLU *, curl_url_cleanup)
DEFINE_CLEANUP(char *, curl_free)

static int read_secret(const struct http_call *call, struct buffer *ret, char ret_why[160])
{
	const struct http_auth *auth = &call->request->auth;
	char path[256];
	if (auth->value) {
		buffer_add_text(ret, auth->value);
	} else {
		secret_in(call->client->secrets, auth->secret, path);
		int r = file_read_secret(path, ret);
		if (r < 0) {
			snprintf(ret_why, 160, "the secret %.90s: %s", auth->secret, strerror(-r));
			return -EINVAL;
		}
	}
	if (!ret->len || text_has_control(buffer_text(ret)) || memchr(ret->data, 0, ret->len)) {
		snprintf(ret_why, 160, "the secret %.90s is empty, or not one line of text",
			auth->value ? "in memory" : auth->secret);
		return -EINVAL;
	}
	return 0;
}

static int add_secret_header(struct http_call *call, const char *before, struct buffer *secret)
{
	_cleanup_(buffer_free_secret) struct buffer line = { 0 };
	buffer_printf(&line, "%s%s", before, buffer_text(secret));
	http_call_add_header(call, buffer_text(&line));
	return 0;
}

/* ---- AWS ---- */

/*
 * Adds the path as AWS signs it: each segment is encoded once more than in the request (libcurl 7.88 signs
 * the path of the URL unchanged).
 */
static void add_path_signed(struct buffer *to, CURL *easy, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");
		_cleanup_(curl_freep) char *segment = len ? curl_easy_escape(easy, path, (int)len) : NULL;
		if (segment)
			buffer_add_text(to, segment);
		path += len;
		if (*path == '/')
			buffer_add(to, path++, 1);
	}
}

static int sign_path(struct http_call *call, char ret_why[160])
{
	_cleanup_(curl_url_cleanupp) CURLU *url = curl_url();
	_cleanup_(curl_freep) char *path = NULL;
	_cleanup_(curl_freep) char *query = NULL;
	_cleanup_(curl_freep) char *whole = NULL;
	_cleanup_(buffer_free) struct buffer is_signed = { 0 };
	curl_url_set(url, CURLUPART_URL, call->request->url, CURLU_PATH_AS_IS);
	curl_url_get(url, CURLUPART_PATH, &path, 0);
	if (curl_url_get(url, CURLUPART_QUERY, &query, 0) == CURLUE_OK || !path) {
		snprintf(ret_why, 160, "a request to AWS with a query is not signed");
		return -EINVAL;
	}
	add_path_signed(&is_signed, call->easy, path);
	curl_url_set(url, CURLUPART_PATH, buffer_text(&is_signed), CURLU_PATH_AS_IS);
	if (curl_url_get(url, CURLUPART_URL, &whole, 0) != CURLUE_OK)
		return -EINVAL;
	curl_easy_setopt(call->easy, CURLOPT_URL, whole);
	curl_easy_setopt(call->easy, CURLOPT_REQUEST_TARGET, path);
	return 0;
}

/* libcurl hashes a body only if it has the whole body before the request, so the hash is computed here. */
static void add_body_hash(struct http_call *call)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	char hex[2 * SHA256_DIGEST_LENGTH + 1], line[120];
	const struct buffer *body = &call->request->body;
	SHA256(body->data ? body->data : (const uint8_t *)"", body->len, digest);
	text_hex(digest, sizeof(digest), hex);
	snprintf(line, sizeof(line), "x-amz-content-sha256: %s", hex);
	http_call_add_header(call, line);
}

/* "access key id:secret key[:session token]" */
static int sign(struct http_call *call, struct buffer *secret, char ret_why[160])
{
	const struct http_auth *auth = &call->request->auth;
	_cleanup_(buffer_free_secret) struct buffer token = { 0 };
	char provider[100], *key = (char *)buffer_text(secret), *second = strchr(key, ':');
	char *third = second ? strchr(second + 1, ':') : NULL;
	if (!second || second == key || !second[1]) {
		snprintf(ret_why, 160, "the secret %.60s is not \"access key id:secret key\"",
			auth->value ? "in memory" : auth->secret);
		return -EINVAL;
	}
	if (third) {
		*third = 0;
		buffer_add_text(&token, third + 1);
		add_secret_header(call, "x-amz-security-token: ", &token);
	}
	add_body_hash(call);
	snprintf(provider, sizeof(provider), "aws:amz:%s:%s", auth->region, auth->service);
	curl_easy_setopt(call->easy, CURLOPT_AWS_SIGV4, provider);
	curl_easy_setopt(call->easy, CURLOPT_USERPWD, key);
	return sign_path(call, ret_why);
}

int http_auth_apply(struct http_call *call, char ret_why[160])
{
	const struct http_auth *auth = &call->request->auth;
	_cleanup_(buffer_free_secret) struct buffer secret = { 0 };
	char before[sizeof(auth->name) + 2];
	if (auth->kind == HTTP_AUTH_NONE)
		return 0;
	int r = read_secret(call, &secret, ret_why);
	if (r < 0)
		return r;
	switch (auth->kind) {
	case HTTP_AUTH_NONE:
		break;
	case HTTP_AUTH_BEARER:
		return add_secret_header(call, "Authorization: Bearer ", &secret);
	case HTTP_AUTH_HEADER:
		snprintf(before, sizeof(before), "%s: ", auth->name);
		return add_secret_header(call, before, &secret);
	case HTTP_AUTH_BASIC:
		curl_easy_setopt(
			call->easy, CURLOPT_USERPWD, buffer_text(&secret)); /* libcurl uses "Basic" by default */
		return 0;
	case HTTP_AUTH_SIGV4:
		return sign(call, &secret, ret_why);
	}
	return 0;
}
