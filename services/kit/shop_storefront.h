/* shop_storefront.h: the section of shop.conf that says which API may be asked; inside shop.c only */
#ifndef KIT_SHOP_STOREFRONT_H
#define KIT_SHOP_STOREFRONT_H

#include "services/kit/shop.h"

/* -EINVAL: *ret_key is the key that is wrong, ret_expected what it should be. */
int shop_read_storefront(
	const struct config *config, struct shop_storefront *ret, const char **ret_key, char ret_expected[160]);

#endif
