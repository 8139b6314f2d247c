/*
 * eligibility.h: whom the shop's policy lets cartbus chase, as one pure function: consent, exclusions, addresses that are nobody's
 *
 * Consent (shop.conf [mail] consent):
 *   marketing  only who agreed to marketing
 *   customers  these, and who has bought at this shop before (soft opt-in)
 *   all        everybody who left a cart
 * An answer of the storefront that cannot be read counts as a no until it gives one that can: it may have been one.
 * Who said no (CONSENT_NO: unsubscribed at the platform, or took a yes back) is mailed under none of them. A box that was left
 * unticked is no "no": storefronts report it for everybody who did not touch it, and "all" would mean "marketing".
 */
#ifndef CARTS_POLICY_ELIGIBILITY_H
#define CARTS_POLICY_ELIGIBILITY_H

#include "bus/actor/state.h"
#include "proto/cart_topics.h"
#include "services/kit/shop/shop.h"

enum eligibility {
	ELIGIBILITY_YES,
	ELIGIBILITY_SAID_NO,            /* explicitly */
	ELIGIBILITY_UNREADABLE_CONSENT, /* the storefront gave an answer that is neither a yes nor a no: in doubt a no */
	ELIGIBILITY_NO_CONSENT,         /* the shop mails only who agreed to marketing */
	ELIGIBILITY_NO_CUSTOMER,        /* ... or has bought before */
	ELIGIBILITY_NEVER_MAIL,         /* the owner's never-mail list */
	ELIGIBILITY_STAFF,              /* one of the shop's own people */
	ELIGIBILITY_NOBODYS,            /* postmaster@, noreply@: no shopper reads it */
	ELIGIBILITY_TEST,               /* a test cart in a live shop */
	ELIGIBILITY_TAG,                /* it has a tag that the owner excludes */
	ELIGIBILITY_PRODUCT             /* it holds a product that the owner excludes */
};

struct eligibility_finding {
	enum eligibility eligibility;
	const char *what; /* the tag or pattern; else "". Of the shop's, borrowed */
};

struct eligibility_finding eligibility_decide(
	const struct state *state, const struct shop *shop, const CartState *cart, ShopMode mode);
const char *eligibility_word(enum eligibility eligibility); /* stable: "no_consent" */
const char *eligibility_text(enum eligibility eligibility); /* in words */

#endif
