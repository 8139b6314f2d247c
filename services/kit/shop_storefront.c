/* shop_storefront.c: the section of shop.conf that says which API may be asked */
#include "services/kit/shop_storefront.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/http_guard.h"
#include "services/kit/span.h"
#include <errno.h>
#include <stdio.h>

#define DEADLINE_MOST_US (30 * US_PER_S)

static int wrong(const char *key, const char *expected, const char **ret_key, char ret_expected[160])
{
	*ret_key = key;
	snprintf(ret_expected, 160, "%s", expected);
	return -EINVAL;
}

static const char *value_of(const struct config *config, const char *key)
{
	const char *value = config_get(config, "storefront", NULL, key);
	return value ? value : "";
}

/* Whether it may be on this machine, and without TLS, is cartbus.conf's to say. */
static bool take_api(const char *api, char *to, size_t room)
{
	size_t len = strlen(api);
	bool is_plain;
	char why[160];
	if (http_url_allowed(HTTP_REACH_ADMIN, api, &is_plain, why) < 0 || strpbrk(api, "?#"))
		return false;
	if (len > 0 && api[len - 1] == '/')
		len--;
	return text_copy_bytes(to, room, BYTES(api, len));
}

static bool take_version(const char *version, char *to, size_t room)
{
	return *version && !version[strspn(version, "0123456789-abcdefghijklmnopqrstuvwxyz")] &&
		text_copy(to, room, version);
}

int shop_read_storefront(
	const struct config *config, struct shop_storefront *ret, const char **ret_key, char ret_expected[160])
{
	static const char *const names[] = { "", "shopify", "woocommerce", "bigcommerce" };
	const char *platform = value_of(config, "platform");
	int i = 0;
	while (i < 4 && strcmp(platform, names[i]) != 0)
		i++;
	if (i == 4)
		return wrong("platform", "shopify, woocommerce or bigcommerce", ret_key, ret_expected);
	ret->platform = (enum storefront_platform)i;
	if (ret->platform == STOREFRONT_NONE)
		return 0;
	if (!take_api(value_of(config, "api"), ret->api, sizeof(ret->api)))
		return wrong("api", "the URL of the storefront's API, at most 199 bytes", ret_key, ret_expected);
	if (!take_version(value_of(config, "api-version"), ret->api_version, sizeof(ret->api_version)))
		return wrong("api-version", "a version as 2026-07", ret_key, ret_expected);
	if (span_parse(value_of(config, "api-deadline"), DEADLINE_MOST_US, &ret->deadline_us) < 0)
		return wrong("api-deadline", "a time from 1s to 30s", ret_key, ret_expected);
	return 0;
}
