/*
 * chase.h: whom the shop's policy lets cartbus chase, as one pure function: consent, exclusions, addresses that are nobody's
 *
 * Consent (shop.conf [mail] consent):
 *   marketing  only who agreed to marketing
 *   customers  these, and who has bought at this shop before (soft opt-in)
 *   all        everybody who left a cart
 * An answer of the storefront that cannot be read counts as a no until it gives one that can: it may have been one.
 * Who said no (CONSENT_NO: unsubscribed at the platform, or took a yes back) is mailed under none of them. A box that was left
 * unticked is no "no": storefronts report it for everybody who did not touch it, and "all" would mean "marketing".
 */
#ifndef CARTS_POLICY_CHASE_H
#define CARTS_POLICY_CHASE_H

#include "bus/actor/state.h"
#include "proto/cart_topics.h"
#include "services/kit/shop/shop.h"

enum chase {
	CHASE_YES,
	CHASE_SAID_NO,            /* explicitly */
	CHASE_UNREADABLE_CONSENT, /* the storefront gave an answer that is neither a yes nor a no: in doubt a no */
	CHASE_NO_CONSENT,         /* the shop mails only who agreed to marketing */
	CHASE_NO_CUSTOMER,        /* ... or has bought before */
	CHASE_NEVER_MAIL,         /* the owner's never-mail list */
	CHASE_STAFF,              /* one of the shop's own people */
	CHASE_NOBODYS,            /* postmaster@, noreply@: no shopper reads it */
	CHASE_TEST,               /* a test cart in a live shop */
	CHASE_TAG,                /* it has a tag that the owner excludes */
	CHASE_PRODUCT             /* it holds a product that the owner excludes */
};

struct chase_finding {
	enum chase chase;
	const char *what; /* the tag or pattern; else "". Of the shop's, borrowed */
};

struct chase_finding chase_decide(
	const struct state *state, const struct shop *shop, const CartState *cart, ShopMode mode);
const char *chase_word(enum chase chase); /* stable: "no_consent" */
const char *chase_text(enum chase chase); /* in words */

#endif
