/*
 * eligibility.h: one pure function that decides which carts may get reminders: consent, exclusions, addresses
 * without a person
 *
 * Consent (shop.conf [mail] consent):
 *   marketing  only who agreed to marketing
 *   customers  these, and who has bought at this shop before (soft opt-in)
 *   all        everybody who left a cart
 * An unreadable answer of the storefront counts as a no until a readable one comes, because it may have been
 * a no. A shopper who refused (CONSENT_NO: unsubscribed at the platform, or took a yes back) is never mailed.
 * An unticked box is not a refusal: storefronts report it for everybody who did not touch it, and "all" would
 * then mean "marketing".
 */
#ifndef CARTS_POLICY_ELIGIBILITY_H
#define CARTS_POLICY_ELIGIBILITY_H

#include "bus/actor/state.h"
#include "proto/cart_topics.h"
#include "services/kit/shop/shop.h"

enum eligibility {
	ELIGIBILITY_YES,
	ELIGIBILITY_SAID_NO, /* the shopper refused explicitly */
	/* the storefront's answer is neither yes nor no, so it counts as a no */
	ELIGIBILITY_UNREADABLE_CONSENT,
	ELIGIBILITY_NO_CONSENT,  /* the shop mails only shoppers who agreed to marketing */
	ELIGIBILITY_NO_CUSTOMER, /* ... or who have bought before */
	ELIGIBILITY_NEVER_MAIL,  /* the address is on the owner's never-mail list */
	ELIGIBILITY_STAFF,       /* the address belongs to the shop's staff */
	/* an address such as postmaster@ or noreply@, which no shopper reads */
	ELIGIBILITY_NOBODYS,
	ELIGIBILITY_TEST,   /* a test cart in a live shop */
	ELIGIBILITY_TAG,    /* it has a tag that the owner excludes */
	ELIGIBILITY_PRODUCT /* it holds a product that the owner excludes */
};

struct eligibility_finding {
	enum eligibility eligibility;
	const char *what; /* the tag or pattern, borrowed from the shop; else "" */
};

struct eligibility_finding eligibility_decide(
	const struct state *state, const struct shop *shop, const CartState *cart, ShopMode mode);
const char *eligibility_word(enum eligibility eligibility); /* stable: "no_consent" */
const char *eligibility_text(enum eligibility eligibility); /* in words */

#endif
