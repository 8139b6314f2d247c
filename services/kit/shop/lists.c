/*
 * lists.c: is this address, topic or host on one of the owner's lists?
 *
 * Read next: shop.c (how they are read), chase.c
 */
#include "bus/base/text.h"
#include "services/kit/http/url.h"
#include "services/kit/shop/shop.h"
#include <string.h>

/* "@rival.example" also means mail.rival.example: an owner who bars a company means all of it. */
static bool domain_covers(const char *entry, const char *domain)
{
	size_t own = strlen(entry), len = strlen(domain);

	return len >= own && strcmp(domain + len - own, entry) == 0 && (len == own || domain[len - own - 1] == '.');
}

static bool list_covers(const char (*list)[ADDRESS_MAX + 1], int count, const char *normalised_address)
{
	for (int i = 0; i < count; i++) {
		const char *entry = list[i];
		if (entry[0] == '@' ? domain_covers(entry + 1, address_domain(normalised_address))
				    : strcmp(entry, normalised_address) == 0)
			return true;
	}
	return false;
}

/* "www.shop.example" stands for all of shop.example. */
static const char *without_www(const char *host)
{
	return text_starts(host, "www.") && strchr(host + 4, '.') ? host + 4 : host;
}

static bool is_platforms_own(Platform platform, const char *host)
{
	switch (platform) {
	case PLATFORM_SHOPIFY:
		return domain_covers("myshopify.com", host);
	case PLATFORM_BIGCOMMERCE:
		return domain_covers("mybigcommerce.com", host);
	case PLATFORM_UNKNOWN:
	case PLATFORM_WOOCOMMERCE:
	case PLATFORM_GENERIC:
		break;
	}
	return false;
}

bool shop_owns_host(const struct shop *shop, Platform platform, const char *host)
{
	char own[URL_HOST_ROOM];

	if (url_host(shop->url, own) && domain_covers(without_www(own), host))
		return true;
	if (url_host(shop->storefront.api, own) && strcmp(own, host) == 0)
		return true;
	for (int i = 0; i < shop->host_count; i++)
		if (domain_covers(shop->hosts[i], host))
			return true;
	return is_platforms_own(platform, host);
}

bool shop_owns_url(const struct shop *shop, Platform platform, const char *url)
{
	char host[URL_HOST_ROOM];

	return url_host(url, host) && text_starts(url, "https://") && shop_owns_host(shop, platform, host);
}

bool shop_trusts_topic(const struct shop *shop, const char *topic_arn)
{
	for (int i = 0; i < shop->sns_topic_count; i++)
		if (strcmp(shop->sns_topics[i], topic_arn) == 0)
			return true;
	return false;
}

bool shop_never_mails(const struct shop *shop, const char *normalised_address)
{
	return list_covers(shop->never, shop->never_count, normalised_address);
}

bool shop_employs(const struct shop *shop, const char *normalised_address)
{
	return list_covers(shop->staff, shop->staff_count, normalised_address);
}
