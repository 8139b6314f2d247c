/*
 * event.h: what a storefront's webhook means
 *
 * Three readers, one per platform, all pure: authentic body in, event out. What they give is what the bus hears.
 *
 * Read next: shopify.c, woocommerce.c, generic.c, payload_parts.h
 */
#ifndef KIT_STOREFRONT_EVENT_H
#define KIT_STOREFRONT_EVENT_H

#include "bus/base/bytes.h"
#include "proto/platform_topics.h"
#include <jansson.h>

enum reading {
	READ_CHANGED,   /* event.changed */
	READ_CHECKOUT,  /* event.checkout */
	READ_PRIVACY,   /* event.privacy */
	READ_NOTHING,   /* authentic, understood, and of no interest; why says so */
	READ_TASK,      /* event.task: only ids came; the rest has to be fetched */
	READ_UNREADABLE /* authentic, and it will never be readable; why says so, without quoting the body */
};

struct event_source {
	const char *shop;
	const char *topic;        /* the platform's: "checkouts/update"; "" where it has none */
	const char *webhook_id;   /* of this delivery; "": not given */
	const char *domain;       /* the platform's name of this shop, as name.myshopify.com; NULL or "": not known */
	struct bytes address_key; /* kit/mail/address.h */
	int64_t heard_us;         /* ours */
	int64_t triggered_us;     /* the platform's, when the body does not say; 0: not given */
};

struct event {
	CartChanged changed;
	CartCheckout checkout;
	PrivacyRequest privacy;
	StorefrontTask task;
	char webhook_id[72]; /* the generic one carries it in the body */
	char why[200];
	const char *
		doubt; /* of READ_CHANGED: what was taken for a no because it cannot be read, as a constant; NULL: nothing */
};

enum reading shopify_read(const struct event_source *source, struct bytes body, struct event *ret);
enum reading woocommerce_read(const struct event_source *source, struct bytes body, struct event *ret);
enum reading generic_read(const struct event_source *source, struct bytes body, struct event *ret);

/* The topics that every app of Shopify must hear (customers/redact, shop/redact, customers/data_request). */
bool shopify_is_privacy(const char *topic);
enum reading shopify_read_privacy(const struct event_source *source, struct bytes body, struct event *ret);
/* One order as WooCommerce's API lists it, and as its webhook carries it. */
enum reading woocommerce_read_order(const struct event_source *source, const json_t *order, struct event *ret);
/* The same of Shopify's REST API: source.topic says whether it is a checkout or an order. */
enum reading shopify_read_resource(const struct event_source *source, const json_t *body, struct event *ret);

/*
 * Of what is READ_UNREADABLE, or too large to be said: did the shopper say no to mail in it, and of which cart? Then `changed` is left with that
 * alone, so that it may be said.
 */
bool event_keep_no(struct event *event);

/* The message's key: the first token that the storefront gave. "": it names no cart at all. */
const char *event_key(const CartIds *ids);

/* ---- what BigCommerce's API says about carts (v3) and orders (v2) ---- */

/* false: no order yet, or none that can be named. Fills everything but heard_us and webhook_id; ids: order_id, cart_token, customer_id. */
bool bigcommerce_read_order(const json_t *order, CartCheckout *ret);
/* `body` is the whole answer, with include=redirect_urls. READ_CHANGED, or READ_UNREADABLE. */
enum reading bigcommerce_read_cart(const struct event_source *source, const json_t *body, struct event *ret);
/* A webhook: ids alone. A sale and the end of a cart are said at once, all else is a task. */
enum reading bigcommerce_read(const struct event_source *source, struct bytes body, struct event *ret);

#endif
