/*
 * storefront_probe.c: asks a storefront's API once, as the sender does before each mail
 *
 * Promises: the same request, by the same driver, with the same guards and the same secret file: what it says holds for the sender,
 *           as far as that may read what this user may.
 * Read next: services/carts/orders/orders.h
 */
#include "services/cartbus/shops/storefront_probe.h"

#include "bus/base/text.h"
#include "services/carts/orders/orders.h"
#include "services/kit/storefront/alarm.h"
#include <stdio.h>

#define PATIENCE_US (10 * US_PER_S) /* above the request's own deadline */

static const char *const platforms[] = { [STOREFRONT_NONE] = "",
	[STOREFRONT_SHOPIFY] = "shopify",
	[STOREFRONT_WOOCOMMERCE] = "woocommerce",
	[STOREFRONT_BIGCOMMERCE] = "bigcommerce" };

struct probing {
	const struct shop *shop;
	const CartState *cart;
	struct storefront_probed *probed;
};

static void hear(const void *result, void *context)
{
	const struct probing *probing = context;
	struct storefront_probed *probed = probing->probed;
	const struct http_answer *answer = result;
	CartCheckout order;
	char why[200];
	enum storefront_word word = storefront_hear(probing->shop, probing->cart, 0, answer, &order, why);

	probed->answers = word != STOREFRONT_SILENT;
	if (probed->answers)
		TEXT_COPY(probed->words, "answers, and takes our key");
	else if (storefront_refuses(answer))
		snprintf(probed->words, sizeof(probed->words),
			"refuses our key (%s); a new one: cartbus shop secret %s --api --set", why,
			probing->shop->name);
	else
		snprintf(probed->words, sizeof(probed->words), "no answer that can be used: %s", why);
}

void storefront_probe(const struct command *command, const struct shop *shop, struct storefront_probed *ret)
{
	static CartState cart;
	const struct http_settings settings = http_settings_of_storefronts(command->config, &command->clock);
	struct probing probing = { shop, &cart, ret };
	struct http_request request;

	*ret = (struct storefront_probed){ .platform = platforms[shop->storefront.platform] };
	if (shop->storefront.platform == STOREFRONT_NONE)
		return;
	TEXT_COPY(ret->url, shop->storefront.api);
	TEXT_COPY(ret->words, "no answer in time");
	cart = (CartState){ .has_ids = true, .abandoned_us = clock_wall_us(&command->clock) };
	TEXT_COPY(cart.ids.cart_id, "cartbus-check");
	TEXT_COPY(cart.ids.checkout_token, "cartbus-check");
	TEXT_COPY(cart.ids.email, "nobody@cartbus.invalid");
	if (storefront_ask(shop, &cart, 0, &request) < 0) {
		TEXT_COPY(ret->words, "no question can be made for it: is [storefront] api right?");
	} else {
		struct effect_driver *driver = http_driver_new("storefront", &settings);
		effect_run(driver, &request, PATIENCE_US, hear, &probing);
		driver->close(driver->self);
	}
	http_request_clear(&request);
}
