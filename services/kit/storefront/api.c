/*
 * api.c: a request to the API of a shop's storefront
 */
#include "services/kit/storefront/api.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void set_auth(const struct shop *shop, struct http_auth *auth)
{
	snprintf(auth->secret, sizeof(auth->secret), "api/%s", shop->name);
	switch (shop->storefront.platform) {
	case STOREFRONT_NONE:
		break;
	case STOREFRONT_SHOPIFY:
		auth->kind = HTTP_AUTH_HEADER;
		TEXT_COPY(auth->name, "X-Shopify-Access-Token");
		break;
	case STOREFRONT_WOOCOMMERCE:
		auth->kind = HTTP_AUTH_BASIC;
		break;
	case STOREFRONT_BIGCOMMERCE:
		auth->kind = HTTP_AUTH_HEADER;
		TEXT_COPY(auth->name, "X-Auth-Token");
		break;
	}
}

int storefront_request(
	const struct shop *shop, const char *method, struct http_request *ret, const char *path_format, ...)
{
	char path[1600];
	va_list args;
	va_start(args, path_format);
	int len = vsnprintf(path, sizeof(path), path_format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(path) ||
		http_request_init(ret, method, "%s%s", shop->storefront.api, path) < 0)
		return -EINVAL;
	set_auth(shop, &ret->auth);
	http_request_header(ret, "Accept", "application/json");
	ret->deadline_us = shop->storefront.deadline_us;
	ret->wanted[0] = "Retry-After";
	return 0;
}

void storefront_time(int64_t us, char ret[STOREFRONT_TIME_MAX])
{
	time_t seconds = (time_t)(us / US_PER_S);
	struct tm utc;
	gmtime_r(&seconds, &utc);
	if (strftime(ret, STOREFRONT_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
		ret[0] = 0;
}

static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c));
}

bool storefront_encode(const char *word, char *ret, size_t room)
{
	size_t len = 0;
	for (; *word; word++) {
		if (len + 4 > room)
			return false;
		if (is_unreserved(*word))
			ret[len++] = *word;
		else
			len += (size_t)snprintf(ret + len, 4, "%%%02X", (unsigned char)*word);
	}
	ret[len] = 0;
	return true;
}
