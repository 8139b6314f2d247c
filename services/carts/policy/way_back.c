/*
 * way_back.c: finds out where a mail about a cart would lead its shopper
 *
 * Promises:  pure. Only the host of a URL decides, so the stored part of the URL gives the same answer as the
 *            whole URL (shop_owns_url).
 * Read next: shop/shop.c, url.c, letter/render.c (refuses to write a mail that leads elsewhere)
 */
#include "services/carts/policy/way_back.h"
#include "services/kit/http/url.h"
#include <string.h>

void way_back_of(const CartState *cart, struct way_back *ret)
{
	const char *url = cart->recovery_url;

	memset(ret, 0, sizeof(*ret)); /* rows are compared as bytes */
	ret->platform = (uint32_t)cart->platform;
	ret->kind = !*url ? WAY_BACK_MISSING : url_is_clean(url) ? WAY_BACK_LEADS : WAY_BACK_UNCLEAN;
	if (ret->kind == WAY_BACK_LEADS)
		url_host(url, ret->host);
}

const char *way_back_fault(const struct shop *shop, const struct way_back *way)
{
	switch ((enum way_back_kind)way->kind) {
	case WAY_BACK_MISSING:
		return "the storefront gave no recovery URL: there is nothing to return to";
	case WAY_BACK_UNCLEAN:
		return "the cart's recovery URL is not a clean https address";
	case WAY_BACK_LEADS:
		break;
	}
	if (*way->host && shop_owns_host(shop, (Platform)way->platform, way->host))
		return NULL;
	return "the cart's recovery URL leads to a host that is not the shop's: if it is, name it as host in [shop] "
	       "of shop.conf";
}
