/*
 * sns.c: checks which addresses of Amazon SNS may be fetched, and which certificates hold
 *
 * Promises:  libcurl, which fetches the address, also parses it here, so that both see the same host. A
 *            certificate whose times cannot be read does not hold.
 * Read next: services/platform/gateway/sns.c (gets them from SNS), services/platform/mailin/mailin.c (fetches
 *            them)
 */
#include "services/kit/http/sns.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>

enum { KEY_BITS_LEAST = 2048 };

struct parts {
	char *scheme, *user, *password, *host, *port, *path, *query, *fragment;
};

static void parts_free(struct parts *parts)
{
	curl_free(parts->scheme);
	curl_free(parts->user);
	curl_free(parts->password);
	curl_free(parts->host);
	curl_free(parts->port);
	curl_free(parts->path);
	curl_free(parts->query);
	curl_free(parts->fragment);
}

static bool take_apart(const char *url, struct parts *ret)
{
	CURLU *curl = strlen(url) <= SNS_URL_MAX ? curl_url() : NULL;
	*ret = (struct parts){ 0 };
	bool good = curl && curl_url_set(curl, CURLUPART_URL, url, CURLU_DISALLOW_USER) == CURLUE_OK;
	if (good) {
		curl_url_get(curl, CURLUPART_SCHEME, &ret->scheme, 0);
		curl_url_get(curl, CURLUPART_USER, &ret->user, 0);
		curl_url_get(curl, CURLUPART_PASSWORD, &ret->password, 0);
		curl_url_get(curl, CURLUPART_HOST, &ret->host, 0);
		curl_url_get(curl, CURLUPART_PORT, &ret->port, 0);
		curl_url_get(curl, CURLUPART_PATH, &ret->path, 0);
		curl_url_get(curl, CURLUPART_QUERY, &ret->query, 0);
		curl_url_get(curl, CURLUPART_FRAGMENT, &ret->fragment, 0);
	}
	curl_url_cleanup(curl);
	return good && ret->scheme && ret->host && ret->path;
}

/* "eu-central-1" of "arn:aws:sns:eu-central-1:123456789012:name" */
static bool region_of(const char *topic_arn, char ret[32])
{
	const char *at = topic_arn;
	for (int colons = 0; colons < 3; colons++) {
		at = strchr(at, ':');
		if (!at)
			return false;
		at++;
	}
	size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-");
	return len > 0 && at[len] == ':' && text_copy_bytes(ret, 32, BYTES(at, len));
}

static bool host_is_sns(const char *host, const char *topic_arn)
{
	char region[32], expected[80];
	if (!region_of(topic_arn, region))
		return false;
	snprintf(expected, sizeof(expected), "sns.%s.amazonaws.com%s", region,
		text_starts(topic_arn, "arn:aws-cn:") ? ".cn" : "");
	return strcmp(host, expected) == 0;
}

static bool is_sns(const struct parts *parts, const char *topic_arn)
{
	return strcmp(parts->scheme, "https") == 0 && !parts->user && !parts->password && !parts->port &&
		!parts->fragment && host_is_sns(parts->host, topic_arn);
}

static bool is_pem(const char *path)
{
	size_t len = strlen(path);
	return len > strlen("/.pem") && strcmp(path + len - strlen(".pem"), ".pem") == 0 && !strpbrk(path, "%\\");
}

bool sns_certificate_url_valid(const char *url, const char *topic_arn)
{
	struct parts parts;
	bool good = take_apart(url, &parts) && is_sns(&parts, topic_arn) && !parts.query && is_pem(parts.path);
	parts_free(&parts);
	return good;
}

/* Does the first field `name` of the query have this value, escaped or not? */
static bool query_has(const char *query, const char *name, const char *value)
{
	size_t len = strlen(name);
	for (const char *at = query; at; at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL) {
		if (strncmp(at, name, len) != 0 || at[len] != '=')
			continue;
		int plain_len;
		char *plain = curl_easy_unescape(NULL, at + len + 1, (int)strcspn(at + len + 1, "&"), &plain_len);
		bool same = plain && (size_t)plain_len == strlen(value) && strcmp(plain, value) == 0;
		curl_free(plain);
		return same; /* only the first of that name counts */
	}
	return false;
}

bool sns_subscribe_url_valid(const char *url, const char *topic_arn)
{
	struct parts parts;
	bool good = take_apart(url, &parts) && is_sns(&parts, topic_arn) && strcmp(parts.path, "/") == 0 &&
		parts.query && query_has(parts.query, "Action", "ConfirmSubscription") &&
		query_has(parts.query, "TopicArn", topic_arn);
	parts_free(&parts);
	return good;
}

/* ---- certificates ---- */

static X509 *read_certificate(const char *pem)
{
	BIO *bio = BIO_new_mem_buf(pem, -1);
	X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
	BIO_free(bio);
	return certificate;
}

/* X509_cmp_time returns 0 for a time that it cannot read. */
static bool holds(const X509 *certificate, int64_t now_us)
{
	time_t now = (time_t)(now_us / US_PER_S);
	return X509_cmp_time(X509_get0_notBefore(certificate), &now) < 0 &&
		X509_cmp_time(X509_get0_notAfter(certificate), &now) > 0;
}

const char *sns_certificate_key(const char *pem, int64_t now_us, EVP_PKEY **ret_key)
{
	X509 *certificate = read_certificate(pem);
	EVP_PKEY *key = certificate ? X509_get0_pubkey(certificate) : NULL;
	const char *trouble = NULL;

	if (!certificate)
		trouble = "what came is no certificate";
	else if (!key || EVP_PKEY_base_id(key) != EVP_PKEY_RSA || EVP_PKEY_bits(key) < KEY_BITS_LEAST)
		trouble = "the certificate's key is no RSA key of 2048 bits or more";
	else if (!holds(certificate, now_us))
		trouble = "the certificate does not hold now";
	else if (EVP_PKEY_up_ref(key) == 1)
		*ret_key = key;
	else
		trouble = "the certificate's key cannot be kept";
	X509_free(certificate);
	return trouble;
}
