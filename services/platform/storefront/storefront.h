/*
 * storefront.h: the service that fetches from storefronts what their webhooks did not say
 */
#ifndef PLATFORM_STOREFRONT_STOREFRONT_H
#define PLATFORM_STOREFRONT_STOREFRONT_H

#include "bus/actor/service.h"

extern const struct service storefront;

void storefront_set_up(
	struct bytes address_key); /* once, before the first turn: what names shoppers (kit/mail/address.h) */

#endif
