/*
 * admin_link.h: links by which the owner acts on one cart or one shopper, from the nightly export
 *
 * A link is scoped to a shop, a verb and a target, and ends by itself; <public-url>/a/<token>. The gateway shows on a GET what it
 * will do and does it on a POST, once: the link's id is the message's idempotency key, and is in it (AdminAction.link_id).
 * Signed with a key of its own, the secret file `admin.key` (`cartbus up` makes it): only the gateway and who writes the export
 * may read it. Another key ends all links that are out.
 *
 * To write a link, outside of a decision (in a driver):
 *
 *     struct admin_link link = { .verb = ADMIN_SUPPRESS_CART, .expires_us = day_end_us + ADMIN_LINK_LASTS_US };
 *     TEXT_COPY(link.shop, shop); TEXT_COPY(link.cart_id, row.ids.cart_id);
 *     if (admin_link_url(key, public_url, &link, url) == 0) ...
 *
 * Same fields, same link: `expires_us` from the export's own day and not from the clock, so that an export that is repeated
 * after a crash gives the same links. ADMIN_SUPPRESS_CART and ADMIN_WRITE_OFF take a cart_id; ADMIN_UNSUBSCRIBE and
 * ADMIN_LIFT_SUPPRESSION (the undo; its page asks for the reason) an address_hash.
 */
#ifndef KIT_WEB_ADMIN_LINK_H
#define KIT_WEB_ADMIN_LINK_H

#include "bus/base/clock.h"
#include "proto/platform_topics.h"
#include "services/kit/keys/signed_token.h"

#define ADMIN_LINK_LASTS_US (14 * US_PER_DAY)
#define ADMIN_LINK_KEY "admin.key" /* the secret file */
enum { ADMIN_LINK_URL_MAX = 256 + 3 + SIGNED_TOKEN_MAX, ADMIN_LINK_ID = 32 };

struct admin_link {
	AdminVerb verb;
	char shop[64];
	char cart_id[72];
	char address_hash[40];
	int64_t expires_us;
};

/* -EINVAL: no shop, no such verb, or not the target that it takes; -EMSGSIZE. */
int admin_link_make(struct bytes key, const struct admin_link *link, char ret[SIGNED_TOKEN_MAX + 1]);
/* The same as a whole address; a slash at the end of `public_url` is left out. */
int admin_link_url(
	struct bytes key, const char *public_url, const struct admin_link *link, char ret[ADMIN_LINK_URL_MAX + 1]);

/*
 * -EBADMSG: not a token; -EKEYREJECTED: not ours. Whether it has expired is the caller's question: a link that has is told from
 * one that was forged. `ret_id` names the link, and does not let anybody make it.
 */
int admin_link_read(struct bytes key, const char *token, struct admin_link *ret, char ret_id[ADMIN_LINK_ID + 1]);
bool admin_link_expired(const struct admin_link *link, int64_t now_us);

#endif
