/*
 * storefront.h: the service that fetches from storefronts what their webhooks did not say
 */
#ifndef PLATFORM_STOREFRONT_STOREFRONT_H
#define PLATFORM_STOREFRONT_STOREFRONT_H

#include "bus/actor/service.h"

extern const struct service storefront;

struct storefront {
	uint8_t address_key[128]; /* what names shoppers (kit/mail/address.h) */
	size_t address_key_len;
};
SERVICE_CONTEXT(storefront, struct storefront);

struct storefront storefront_of(struct bytes address_key); /* copied, and cut to its room */

#endif
