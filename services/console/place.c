/* place.c: takes [console] public-url apart */
#include "services/console/place.h"
#include "bus/base/text.h"
#include "services/kit/http/url.h"
#include "services/kit/web/network.h"
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>

/* A cookie knows no port and a path is no wall, so the name tells installations of one host apart. */
static void name_cookie(const char *url, struct console_place *place)
{
	unsigned char digest[EVP_MAX_MD_SIZE] = { 0 };
	char hex[9];

	EVP_Digest(url, strlen(url), digest, NULL, EVP_sha256(), NULL);
	text_hex(digest, 4, hex);
	snprintf(place->cookie, sizeof(place->cookie), "%scartbus-%s",
		!place->is_secure        ? ""
			: *place->prefix ? "__Secure-"
					 : "__Host-",
		hex);
}

static bool is_loopback(const char *host)
{
	return strcmp(host, "localhost") == 0 || page_reach_of(host) == PAGE_HERE;
}

int console_place_read(const char *public_url, struct console_place *ret)
{
	char host[URL_HOST_ROOM];
	const char *rest = strstr(public_url, "://"), *path;
	size_t len;

	*ret = (struct console_place){ 0 };
	if (!rest || !url_host(public_url, host))
		return -EINVAL;
	path = rest + 3 + strcspn(rest + 3, "/");
	len = strlen(path);
	while (len > 0 && path[len - 1] == '/')
		len--;
	if (strpbrk(path, "?#%\"'<>&; ") || !text_copy_bytes(ret->prefix, sizeof(ret->prefix), BYTES(path, len)) ||
		!text_copy_bytes(ret->origin, sizeof(ret->origin), BYTES(public_url, (size_t)(path - public_url))))
		return -EINVAL;
	ret->is_secure = text_starts(public_url, "https:") || is_loopback(host);
	ret->is_local = !text_starts(public_url, "https:") && is_loopback(host);
	name_cookie(public_url, ret);
	return 0;
}
