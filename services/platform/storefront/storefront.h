/* storefront.h: the service that fetches data from storefronts that their webhooks do not have */
#ifndef PLATFORM_STOREFRONT_STOREFRONT_H
#define PLATFORM_STOREFRONT_STOREFRONT_H

#include "bus/actor/service.h"

extern const struct service storefront;

struct storefront {
	uint8_t address_key[128]; /* the key that makes shoppers' hashes (kit/mail/address.h) */
	size_t address_key_len;
};
SERVICE_CONTEXT(storefront, struct storefront);

struct storefront storefront_of(struct bytes address_key); /* the key is copied, and cut if it is too long */

#endif
