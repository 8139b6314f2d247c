/* place.c: takes [console] public-url apart */
#include "services/console/place.h"
#include "bus/base/text.h"
#include "services/kit/http/url.h"
#include "services/kit/web/host.h"
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

static int port_of(const char *origin, const struct host *host)
{
	if (host->port > 0)
		return host->port;
	return text_starts(origin, "https:") ? 443 : 80;
}

static bool is_loopback(const char *host)
{
	return strcmp(host, "localhost") == 0 || page_reach_of(host) == PAGE_HERE;
}

int console_place_read(const char *public_url, struct console_place *ret)
{
	const char *rest = strstr(public_url, "://"), *path;
	char name[URL_HOST_ROOM];
	struct host host;
	size_t len;

	*ret = (struct console_place){ 0 };
	if (!rest || !url_host(public_url, name))
		return -EINVAL;
	path = rest + 3 + strcspn(rest + 3, "/");
	len = strlen(path);
	while (len > 0 && path[len - 1] == '/')
		len--;
	if (strpbrk(path, "?#%\"'<>&; ") || !text_copy_bytes(ret->prefix, sizeof(ret->prefix), BYTES(path, len)) ||
		!text_copy_bytes(ret->origin, sizeof(ret->origin), BYTES(public_url, (size_t)(path - public_url))) ||
		!host_read(ret->origin + (rest + 3 - public_url), &host))
		return -EINVAL;
	TEXT_COPY(ret->host, host.name);
	ret->port = port_of(ret->origin, &host);
	ret->is_secure = text_starts(public_url, "https:") || is_loopback(host.name);
	ret->is_local = !text_starts(public_url, "https:") && is_loopback(host.name);
	name_cookie(public_url, ret);
	return 0;
}

unsigned console_place_answers(const struct console_place *place, const struct request *request,
	char ret_origin[CONSOLE_ORIGIN_ROOM], const char **ret_words)
{
	const struct host_rule own = { place->host, place->port, place->port == 443 || place->port == 80 };
	const struct host_rule here[] = { { "localhost", place->port, false }, { "127.0.0.1", place->port, false },
		{ "::1", place->port, false } };
	struct host host;
	unsigned status = request_host(request, &host, ret_words);

	if (status)
		return status;
	text_copy(ret_origin, CONSOLE_ORIGIN_ROOM, place->origin);
	if (host_allowed(&host, &own, 1))
		return 0;
	if (!place->is_local || !host_allowed(&host, here, sizeof(here) / sizeof(here[0]))) {
		*ret_words =
			"this name is not the console's: [console] public-url in cartbus.conf says how it is reached";
		return 421;
	}
	snprintf(ret_origin, CONSOLE_ORIGIN_ROOM, "http://%s%s%s:%d", host.is_bracketed ? "[" : "", host.name,
		host.is_bracketed ? "]" : "", host.port);
	return 0;
}
