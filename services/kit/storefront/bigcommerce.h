/*
 * bigcommerce.h: what BigCommerce's API says about carts (v3) and orders (v2)
 */
#ifndef KIT_STOREFRONT_BIGCOMMERCE_H
#define KIT_STOREFRONT_BIGCOMMERCE_H

#include "services/kit/storefront/event.h"

/* false: no order yet, or none that can be named. Fills everything but heard_us and webhook_id; ids: order_id, cart_token, customer_id. */
bool bigcommerce_read_order(const json_t *order, CartCheckout *ret);
/* `body` is the whole answer, with include=redirect_urls. READ_CHANGED, or READ_UNREADABLE. */
enum reading bigcommerce_read_cart(const struct event_source *source, const json_t *body, struct event *ret);
/* A webhook: ids alone. A sale and the end of a cart are said at once, all else is a task. */
enum reading bigcommerce_read(const struct event_source *source, struct bytes body, struct event *ret);

#endif
