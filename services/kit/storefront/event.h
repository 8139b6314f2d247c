/*
 * event.h: the meaning of a storefront's webhook
 *
 * Each platform has a pure reader: authentic body in, event out. The events are published on the bus.
 *
 * Read next: shopify.c, woocommerce.c, generic.c, payload_parts.h
 */
#ifndef KIT_STOREFRONT_EVENT_H
#define KIT_STOREFRONT_EVENT_H

#include "bus/base/bytes.h"
#include "proto/platform_topics.h"
#include <jansson.h>

enum reading {
	READ_CHANGED,  /* event.changed */
	READ_CHECKOUT, /* event.checkout */
	READ_PRIVACY,  /* event.privacy */
	READ_NOTHING,  /* authentic, understood, and of no interest; `why` gives the reason */
	READ_TASK,     /* event.task: the body has only ids; the rest must be fetched */
	/* authentic, but it can never be read; `why` gives the reason without quoting the body */
	READ_UNREADABLE
};

struct event_source {
	const char *shop;
	const char *topic;        /* the platform's topic: "checkouts/update"; "" if it has none */
	const char *webhook_id;   /* of this delivery; "": not given */
	const char *domain;       /* the platform's name of this shop, as name.myshopify.com; NULL or "": not known */
	struct bytes address_key; /* kit/mail/address.h */
	int64_t heard_us;         /* wall time at which we received it */
	int64_t triggered_us;     /* the platform's time, if the body has none; 0: not given */
};

struct event {
	CartChanged changed;
	CartCheckout checkout;
	PrivacyRequest privacy;
	StorefrontTask task;
	char webhook_id[72]; /* the generic reader finds it in the body */
	char why[200];
	/* of READ_CHANGED: the unreadable consent that counts as a no, a constant; NULL: none */
	const char *doubt;
};

enum reading shopify_read(const struct event_source *source, struct bytes body, struct event *ret);
enum reading woocommerce_read(const struct event_source *source, struct bytes body, struct event *ret);
enum reading generic_read(const struct event_source *source, struct bytes body, struct event *ret);

/*
 * Is it a topic that every app of Shopify must accept (customers/redact, shop/redact,
 * customers/data_request).
 */
bool shopify_is_privacy(const char *topic);
enum reading shopify_read_privacy(const struct event_source *source, struct bytes body, struct event *ret);
/* One order as WooCommerce's API lists it, and as its webhook carries it. */
enum reading woocommerce_read_order(const struct event_source *source, const json_t *order, struct event *ret);
/* The same for Shopify's REST API: source.topic tells whether it is a checkout or an order. */
enum reading shopify_read_resource(const struct event_source *source, const json_t *body, struct event *ret);

/*
 * For an event that is READ_UNREADABLE or too large: did the shopper refuse mail, and for which cart? true:
 * `changed` has only that, so that it can be published.
 */
bool event_keep_no(struct event *event);

/* The message's key: the first token from the storefront. "": it names no cart. */
const char *event_key(const CartIds *ids);

/* ---- carts (v3) and orders (v2) of BigCommerce's API ---- */

/*
 * false: it is no order yet, or has no id. Fills everything except heard_us and webhook_id; ids: order_id,
 * cart_token, customer_id.
 */
bool bigcommerce_read_order(const json_t *order, CartCheckout *ret);
/* `body` is the whole answer, with include=redirect_urls. READ_CHANGED, or READ_UNREADABLE. */
enum reading bigcommerce_read_cart(const struct event_source *source, const json_t *body, struct event *ret);
/*
 * Reads a webhook, which has only ids. A sale and the end of a cart are events at once; everything else is a
 * task.
 */
enum reading bigcommerce_read(const struct event_source *source, struct bytes body, struct event *ret);

#endif
