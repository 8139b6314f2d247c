/* return_link.c: the way back to the basket by way of the gateway */
#include "services/kit/web/return_link.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/kit/http/url.h"
#include <curl/curl.h>
#include <errno.h>
#include <openssl/sha.h>

enum { DIGEST_BYTES = 16 }; /* as many as an address hash has */

static void digest_of(const char *url, char ret_hex[2 * DIGEST_BYTES + 1])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	SHA256((const unsigned char *)url, strlen(url), digest);
	text_hex(digest, DIGEST_BYTES, ret_hex);
}

/* A header takes ASCII alone. */
static bool is_ascii(const char *url)
{
	for (; *url; url++)
		if ((unsigned char)*url > '~')
			return false;
	return true;
}

int return_link_make(
	struct bytes key, const char *public_url, const struct signed_link *of, const char *url, struct buffer *ret)
{
	struct signed_link link = *of;
	char token[400], *escaped;
	int r;

	if (!text_starts(public_url, "https://") || !url_is_clean(url) || !is_ascii(url))
		return -EINVAL;
	link.purpose = LINK_RETURN;
	digest_of(url, link.address_hash);
	r = signed_link_make(key, &link, token);
	if (r < 0)
		return r;
	escaped = curl_easy_escape(NULL, url, (int)strlen(url));
	if (!escaped)
		die("out of memory");
	buffer_printf(ret, "%s/r/%s?to=%s", public_url, token, escaped);
	curl_free(escaped);
	return 0;
}

static int hold_against(const char *url, const struct signed_link *link)
{
	char digest[2 * DIGEST_BYTES + 1];

	digest_of(url, digest);
	return strcmp(digest, link->address_hash) == 0 ? 0 : -EKEYREJECTED;
}

int return_link_read(struct bytes key, const char *token, const char *url, struct signed_link *ret)
{
	int r = signed_link_read(key, token, LINK_RETURN, ret);

	return r < 0 ? r : hold_against(url, ret);
}

int return_link_read_with(
	const struct keyring *keys, int64_t now_us, const char *token, const char *url, struct signed_link *ret)
{
	int r = signed_link_read_with(keys, now_us, token, LINK_RETURN, ret);

	return r < 0 ? r : hold_against(url, ret);
}
